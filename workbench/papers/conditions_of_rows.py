"""What the rows of a run show: how deep its ranking goes, which questions count, and which of them were not answered as
the method and its models would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.papers.condition import ALL, SILENT, Condition, Terms, asked_of, held, parts_of

if TYPE_CHECKING:
    from workbench.papers.tables import Measured


def ranking(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """How deep the ranking goes."""
    config, rows = one.run.config, one.every
    at = re.search(r"@(\d+)", measure)
    depth = max(int(at[1]) if at else 0, asked_of(terms, measure).get("k", 0), terms.get("k", 0), _returned(one, terms))
    deep = f"k: {config['k']} passages ranked, there at least {depth}" * (config["k"] < depth)
    yield Condition("passages ranked", f"at least {depth}" if depth else "any number", f"{config['k']}", deep)
    budget = "none" if config["budget"] is None else f"{config['budget']:,} tokens of passages"
    yield held("budget", "none", budget, budget == "none")
    if one.place.name in terms.get("whole", ()):
        yield _final_set(rows, config["k"])
    if terms.get("returns", {}).get(one.place.name) == ALL:
        cut = sum(len(row.get("ranking", ())) >= config["k"] for row in rows)
        ours = f"cut to the {config['k']} passages ranked for {cut:,} questions" if cut else ALL
        yield held("passages returned", ALL, ours, not cut)


def answered(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Which questions count."""
    config = one.run.config
    counted, scored = len({row["question_id"] for row in one.counted(measure)}), len(one.scores(measure))
    undefined = f"{measure}: undefined for {counted - scored:,} of {counted:,} questions" * (scored < counted)
    yield Condition("the measure is defined for", "all questions", f"{scored:,} of {counted:,}", undefined)
    done, whole = len(one.run.rows), config["questions"]["n"] * len(one.run.methods)
    unfinished = f"unfinished: {done:,} of {whole:,} questions asked" * (done < whole)
    if not unfinished and (found := one.run.asked(one.label)) < one.run.repeats:
        unfinished = f"unfinished: every question was asked {found} times, {one.run.repeats} repeats are asked for"
    yield Condition("asked", "all questions", f"{done:,} of {whole:,}" if unfinished else "all questions", unfinished)


def flawed(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Of how many questions the number is not what the method and its models made."""
    rows = one.every
    parts, fell_back = parts_of(one, terms, measure), terms.get("falls_back", ())
    others = {"reader": one.reading, "judge": one.run.config.get("judging") or {}}
    apart = {step for name, part in others.items() if name not in parts for step in part.get("prompts", ())}
    yield _none("failures", sum(row["failure"] is not None for row in rows), "broke and count as 0")
    asked = [{step: used for step, used in row["usage"].items() if step not in apart} for row in rows]
    failed = sum(any(used.get("failed") for used in steps.values()) for steps in asked)
    yield _none("failed requests", failed, "have a request without a usable reply")
    mixed = sum(bool(row.get("mixed")) for row in rows)
    yield _none("mixed scales", mixed, "merge scores of different scales, put on one")
    if not {one.place.name, one.place.under[0] if one.place.under else ""} & {*fell_back}:
        said = [row["fallback"] for row in rows if row.get("fallback")]
        more = f"were answered by a fallback, which is ours ({said[0]})" if said else ""
        yield _none("fallbacks", len(said), more)
    if "reader" in parts:
        cut = sum(row.get("cut_to") is not None for row in rows)
        yield _none("contexts cut", cut, "have a context cut to the engine's window")
    for name, part in parts.items():
        for setting, tokens in part.get("window", {}).items():
            said = f"{tokens:,} tokens, which is all that the engine's window holds"
            yield held(f"{name}'s {setting}", "its own limit", said, False)


def _none(what: str, n: int, why: str) -> Condition:
    """Of how many questions something holds that should hold of none."""
    return Condition(what, "none", f"{n:,} questions" if n else "none", f"{what}: {n:,} questions {why}" * bool(n))


def _returned(one: Measured, terms: Terms) -> int:
    """How many passages the method returns at most, which the depth of the ranking must not cut; 0 if no setting says
    it."""
    setting = terms.get("returns", {}).get(one.place.name)
    return one.described["settings"].get(setting) or 0


def _final_set(rows: Sequence[Mapping[str, Any]], k: int) -> Condition:
    """A method whose final set has a size of its own must not be cut to k."""
    what = "size of the final set"
    if any(row.get("selected") is None for row in rows):
        return Condition(what, "whole", "", f"{what}: {SILENT}")
    cut = sum(row["selected"] >= k for row in rows)
    ours = f"cut to the {k} passages ranked for {cut:,} questions" if cut else "whole"
    return held(what, "whole", ours, not cut)
