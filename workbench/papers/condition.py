"""Conditions of a published number and of ours: two flat mappings, key → value, and one function that compares them.

`Stated` is what a paper states of a key, with its place in `published/<paper>.toml`; a run has a plain value.
`COMPARED` says how the two are held against each other, and every difference is said in one sentence:

    <key>: <the run's value>, there <the paper's value> [<place>]"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from workbench.llm import fingerprints
from workbench.llm.engine import no_model

Terms = Mapping[str, Any]
UNSAID, SILENT = "it is not said", "the run does not say"
SOURCES = "the source's"  # prompts
EMPTY = "(empty)"
ALL = "all"  # that a method finds, however many
ANY = "every number"  # the place of what no paper has to state: a question that broke was not answered
NOTHING = object()  # of a key that a run does not report
SAME, DIFFERS, UNKNOWN = "same", "differs", "unknown"
OTHERS = "other settings"  # of the method, a layer or a compressor, that the paper does not state: named together


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


class Stated(NamedTuple):
    """What a paper states of a key: its value, None where it does not say it, and the place in its TOML file where it
    does or would. `how`: a key of `COMPARED`, or `OTHERS`. `needed`: whether a run that does not say it cannot be
    compared."""

    value: Any
    place: str
    how: str = "equal"
    needed: bool = True


def compare(theirs: Mapping[str, Stated], ours: Mapping[str, Any]) -> Iterator[Condition]:
    """Every key side by side."""
    others: dict[tuple[str, str], list[str]] = {}  # (prefix of a setting, where the paper would state it) → what it is
    for key, (value, place, how, needed) in theirs.items():
        if how == OTHERS:
            prefix, name = re.fullmatch(r"(.*?)(\w+)", key).groups()
            others.setdefault((prefix, place), []).append(f"{name}={ours[key]}")
        elif key in ours or needed:
            yield _condition(key, *COMPARED[how](value, ours.get(key, NOTHING)), place)
    for (prefix, place), settings in others.items():
        yield _condition(f"{prefix}{OTHERS}", False, "", ", ".join(settings), place)


def _condition(key: str, equal: bool | None, theirs: str, ours: str, place: str) -> Condition:
    why = f"{key}: {ours or SILENT}, there {theirs or UNSAID} [{place}]"
    return Condition(key, theirs, ours, "" if equal else why, equal is None)


def _text(value: Any) -> str:
    if value is NOTHING:
        return ""
    return f"{value:,}" if type(value) is int else str(value) or EMPTY


# -- how two values are compared --------------------------------------------------------------------------------------

Compared = tuple[bool | None, str, str]  # whether they are equal, None if a side states only a part; both in words


def _equal(theirs: Any, ours: Any) -> Compared:
    """None is a value of ours, as of a setting."""
    equal = theirs is not None and ours is not NOTHING and same(ours, theirs)
    return equal, "" if theirs is None else _text(theirs), _text(ours)


def _named(theirs: Sequence[str], ours: Any) -> Compared:
    """Models and encoders, all of which must have one of the names that the paper gives; a name of theirs without
    settings leaves those of ours open."""
    names = () if ours is NOTHING else ours
    without = [by for name in names if (by := no_model(name))]
    models = [model_of(name) for name in names]
    equal: bool | None = bool(names) and not without and all(model in theirs for model in models)
    if names and not without and not equal and all(model.partition("[")[0] in theirs for model in models):
        equal = None
    there = theirs[0] if theirs else "a model" if without else ""
    return equal, there, ", ".join(no_model(name) or name for name in names)


def _wording(source: Sequence[str], ours: Any) -> Compared:
    """Whose wording the Steps (name, wording) that were asked have, by the fingerprints of the source's prompts and by
    what a user says. Only a wording of which a fingerprint cannot say which of two like prompts it is stays open."""
    groups: dict[tuple[bool | None, str], list[str]] = {}  # (whether it is the source's, whose) → Steps
    for step, wording in () if ours is NOTHING else ours:
        steps = groups.setdefault(_whose(wording, source), [])
        steps += [] if step in steps else [step]
    verdicts = {verdict for verdict, _ in groups}
    equal = False if not verdicts or False in verdicts else None if None in verdicts else True
    return equal, SOURCES, "; ".join(f"{whose} ({', '.join(sorted(steps))})" for (_, whose), steps in groups.items())


def _whose(wording: str, source: Sequence[str]) -> tuple[bool | None, str]:
    """(whether it is the source's, whose it is) of a wording as a run names it. `source` has the ids of the source's
    printed prompts, and wordings that a user calls its own."""
    proper, verdict = fingerprints.read(wording)
    if proper in source:
        return True, f"{SOURCES}, as is said"
    if verdict is None or verdict.id not in source:
        return False, "ours"
    if verdict.theirs:
        return True, f"{SOURCES} prompt (fingerprint)"
    unsure = verdict.label == "unsure"
    return None if unsure else False, f"{verdict.share:.0%} of {SOURCES}{', as of another of its prompts' * unsure}"


COMPARED: Mapping[str, Callable[[Any, Any], Compared]] = {"equal": _equal, "named": _named, "wording": _wording}


# -- names ------------------------------------------------------------------------------------------------------------


def named(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names of one thing; a file may state one or several."""
    return (names,) if isinstance(names, str) else tuple(names)


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


def same(ours: Any, theirs: Any) -> bool:
    """Whether a setting of a run equals one in a TOML file, where `None` is written "none".

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


def expected_of(row: Sequence[str], terms: Terms, part: str) -> tuple[str, ...]:
    """Names of the model of the index, the method, the reader or the judge; empty where the paper does not say it.
    `row`: those of the row's own model."""
    names = named(terms["engines"].get(part, ()))
    return tuple(row) if names == ("row",) else names
