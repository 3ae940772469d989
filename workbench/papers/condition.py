"""One condition of a published number and of ours, and what papers and runs say of conditions: the words in which
`conditions` and the modules of its groups speak."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.steps import judge_pair

if TYPE_CHECKING:
    from workbench.papers.tables import Measured

Terms = Mapping[str, Any]
UNSAID, SILENT = "there it is not said", "the run does not say"
SOURCES = "the source's"  # prompts
EMPTY = "(empty)"
ALL = "all"  # that a method finds, however many
SAME, DIFFERS, UNKNOWN = "same", "differs", "unknown"


class Condition(NamedTuple):
    """A condition on both sides, in words; "" where a side does not say it. `why`: the sentence for a number that is
    not comparable because of it, "" if both sides agree. `open`: a side says only a part of it."""

    name: str
    theirs: str
    ours: str
    why: str = ""
    open: bool = False

    @property
    def state(self) -> str:
        if not self.why:
            return SAME
        return UNKNOWN if self.open or not (self.theirs and self.ours) else DIFFERS


def model_of(name: str) -> str:
    """The model in the name of an engine or an encoder, without provider, server, publisher and release date. Settings
    stay, because another length or an instruction makes other vectors.

    >>> model_of("openai:gpt-4o-mini-2024-07-18"), model_of("local:meta-llama/Llama-3.3-70B-Instruct@http://here:8000/v1")
    ('gpt-4o-mini', 'llama-3.3-70b-instruct')
    >>> model_of("facebook/contriever[max_tokens=256]"), model_of("gpt-4o-mini-audio")
    ('contriever[max_tokens=256]', 'gpt-4o-mini-audio')
    """
    model, bracket, settings = name.partition("[")
    model = model.partition(":")[2] or model
    model = model.partition("@")[0].rpartition("/")[2].casefold()
    return re.sub(r"-20\d\d-\d\d-\d\d$", "", model) + bracket + settings


def named(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names of one thing, of which a file may give one or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def same(ours: Any, theirs: Any) -> bool:
    """Whether a setting of a run is one of a TOML file, which spells `None` as "none".

    >>> same(True, True), same(5, 5.0), same(None, "none"), same("paper", "released")
    (True, True, True, False)
    """
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return ours == theirs
    return str(ours).lower() == str(theirs).lower()


def of_data(terms: Any, data: str) -> Any:
    """A condition that is the same for all data sets, or a table of theirs; None where it is not given.

    >>> of_data(1000, "hover"), of_data({"hover": 500}, "hover"), of_data({}, "hover")
    (1000, 500, None)
    """
    return terms.get(data) if isinstance(terms, Mapping) else terms


def held(name: str, theirs: str, ours: str, equal: bool, says: str = "", what: str = "") -> Condition:
    """A condition with the usual sentence; `says` is what the sentence has for ours, `what` for the name."""
    there = f"there {theirs}" if theirs else UNSAID
    return Condition(name, theirs, ours, "" if equal else f"{what or name}: {says or ours or SILENT}, {there}")


def expected_of(row: Sequence[str], terms: Terms, part: str) -> tuple[str, ...]:
    """Names of the model of the index, the method, the reader or the judge; empty where the paper does not say it.
    `row`: those of the row's own model."""
    names = named(terms["engines"].get(part, ()))
    return tuple(row) if names == ("row",) else names


def first_of(names: Sequence[str]) -> str:
    """The first of the names of one model; "" where the paper does not say it."""
    return names[0] if names else ""


def parts_of(one: Measured, terms: Terms, measure: str) -> dict[str, Mapping[str, Any]]:
    """What a run says of the parts on which the number of a measure depends: method, reader, judge."""
    parts, reader = {"method": one.described}, terms["reader"]
    if measure in reader["of"]:
        parts["reader"] = one.reading
    if measure in reader.get("judged", ()):
        parts["judge"] = one.run.config.get("judging") or {}
    if compares(terms, measure):
        parts["judge"] = {"engine": one.judgements[0], "prompts": {judge_pair.STEP.name: judge_pair.STEP.wording}}
    return parts


def asked_of(terms: Terms, measure: str) -> Mapping[str, Any]:
    """Settings of the reader that the name of a measure stands for."""
    return terms.get("measured", {}).get(measure, {}).get("asked", {})


def compares(terms: Terms, measure: str) -> bool:
    """Whether a measure is a share of pairs that a judge compared."""
    return measure in terms["reader"].get("compared", ())
