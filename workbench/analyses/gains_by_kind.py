"""What one reader gains over another, by type of question and number of hops ("The Reasoning Bottleneck in Graph-RAG",
Tables 5.9 and 5.10), over the same questions and evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench.analyses.base import Analysis, Runs, cautions_of, known_methods, runs_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import compared, holm

EVERY = "all"


def gains_by_kind(
    runs: Runs,
    against: str | Mapping[str, str] | None = None,
    methods: Iterable[str] | None = None,
    *,
    measures: Iterable[str] = ("accuracy:thesis", "accuracy", "em", "f1"),
) -> Analysis:
    """Paired differences between the readers of a grid, or of several runs (label → run) of the same questions.
    `against` is the baseline of all (by default the first), or reader → its baseline, for those that are compared:
    `{"sparql+gw": "sparql", "brief+gw": "brief"}` is Table 5.10. Measures missing from a run are omitted.

    Rows: reader, against, method, measure, by (`all`, type, hops), kind, n, value, baseline, difference, low, high
    (95 %, paired bootstrap over the questions of the kind), p (paired randomisation test), mcnemar (its exact p, if all
    values are 0 or 1), p_holm (p corrected over the whole table)."""
    known, measures = runs_of(runs), tuple(measures)
    pairs = _pairs(known, against)
    methods = None if methods is None else list(methods)
    rows = [
        {"reader": ours, "against": base, "method": method, "measure": measure, **row}
        for ours, base in pairs
        for method in _methods(known[ours], known[base], methods)
        for measure in measures
        if measure in known[ours].measures and measure in known[base].measures
        for row in _rows(known[ours], known[base], method, measure)
    ]
    if not rows:
        raise SettingError(
            f"the runs of {', '.join(known)} have none of {', '.join(measures)} together; measure their answers by "
            "the same measures, or pass measures=…"
        )
    corrected = holm([row["p"] for row in rows])
    title = f"Gains by kind of question, against {', '.join(dict.fromkeys(base for _, base in pairs))}"
    rows = tuple({**row, "p_holm": p} for row, p in zip(rows, corrected))
    return Analysis(title, rows, cautions_of(known), draw="gains_by_kind")


def _pairs(known: Mapping[str, Run], against: str | Mapping[str, str] | None) -> list[tuple[str, str]]:
    """(reader, its baseline); raises :class:`SettingError` unless both are known and were asked the same questions."""
    if against is None:
        against = next(iter(known), "")
    named = against if isinstance(against, Mapping) else {one: against for one in known if one != against}
    if unknown := [one for pair in named.items() for one in pair if one not in known]:
        raise SettingError(f"there is no reader {unknown[0]!r}; there are {', '.join(known)}")
    if not named:
        raise SettingError("one reader has nothing to be compared with; pass the runs of two, or a grid")
    for ours, base in named.items():
        if known[ours].config["questions"] != known[base].config["questions"]:
            raise SettingError(f"the runs of {ours} and {base} were asked different questions, so they are not paired")
    return list(named.items())


def _methods(ours: Run, base: Run, methods: list[str] | None) -> list[str]:
    if methods is None:
        return [name for name in ours.methods if name in base.methods]
    return [name for name in known_methods(ours, methods) if known_methods(base, [name])]


def _rows(ours: Run, base: Run, method: str, measure: str) -> Iterator[dict]:
    values, others = ours.scores(measure, method), base.scores(measure, method)
    asked = [row for row in ours.rows if row["method"] == method]
    kinds = [(EVERY, EVERY, {row["question_id"] for row in asked})]
    for by in ("type", "hops"):
        for kind in sorted({row[by] for row in asked} - {None}):
            kinds.append((by, str(kind), {row["question_id"] for row in asked if row[by] == kind}))
    for by, kind, ids in kinds:
        mine = {one: value for one, value in values.items() if one in ids}
        if found := compared(mine, others):
            yield {"by": by, "kind": kind, **found}
