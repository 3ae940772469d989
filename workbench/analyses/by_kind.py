"""Quality by type of question and number of hops, with the difference to a baseline ("Beyond Static Retrieval",
figures 2 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.analyses.base import (
    Analysis,
    asked,
    cautions,
    known_methods,
    mean_of,
    measured,
    paired,
    unreachable,
)
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.records import Question


def by_kind(
    run: Run,
    questions: Iterable[Question],
    baseline: str | None = None,
    *,
    measures: Sequence[str] = ("em", "f1", "recall@5"),
) -> Analysis:
    """Each method against the baseline (the first one), by the questions' `type` and by their `hops`. Measures missing
    from the run are omitted.

    Rows: by (type or hops), kind, method, measure, n, value, baseline, difference, low, high (95 %, paired bootstrap
    over the questions of the kind)."""
    gold = asked(run, questions)
    (baseline,) = known_methods(run, [baseline or run.methods[0]])
    kinds = [
        (by, kind, {one.id for one in gold.values() if getattr(one, by) == kind})
        for by in ("type", "hops")
        for kind in sorted({getattr(one, by) for one in gold.values()} - {None})
    ]
    if not kinds:
        raise SettingError("none of the questions has a type or a number of hops, so there are no kinds of them")
    rows: list[dict] = []
    for measure in measured(run, measures):
        scores = {method: run.scores(measure, method) for method in run.methods}
        for by, kind, ids in kinds:
            rows += _rows(by, kind, ids, measure, scores, baseline)
    notes = (*cautions(run), *unreachable(run, measured(run, measures)))
    return Analysis(f"By kind of question, against {baseline}", tuple(rows), notes, draw="by_kind")


def _rows(
    by: str, kind: str | int, ids: set[str], measure: str, scores: dict[str, dict[str, float]], baseline: str
) -> Iterator[dict]:
    base = {one: value for one, value in scores[baseline].items() if one in ids}
    for method, values in scores.items():
        mine = {one: value for one, value in values.items() if one in ids}
        yield {
            "by": by, "kind": str(kind), "method": method, "measure": measure, "n": len(mine),
            "value": mean_of(mine.values()), "baseline": mean_of(base.values()),
            **(paired(mine, base) if method != baseline else {"difference": None, "low": None, "high": None}),
        }  # fmt: skip
