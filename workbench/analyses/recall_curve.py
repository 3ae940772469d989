"""recall@k over k, from the rankings that a run keeps ("Beyond Static Retrieval", figures 4a and 4b)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING

from workbench.analyses.base import Analysis, asked, cautions, known_methods, mean_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.measures.ranking import recall
from workbench.records import Question

if TYPE_CHECKING:
    from workbench.views.figures import Picture

KS = (1, 2, 5, 10, 20, 30, 50, 100, 150, 200)


def recall_curve(
    run: Run, questions: Iterable[Question], *, ks: Sequence[int] = KS, methods: Iterable[str] | None = None
) -> Analysis:
    """recall@k of every method. A run ranks 20 passages by default (`evaluate(…, k=200)` ranks more); recall at a
    larger k is unknown, and a note says so.

    Rows: method, k, recall (None where the run did not rank so many passages), n."""
    if not all(isinstance(k, int) and k > 0 for k in ks):
        raise SettingError(f"ks={list(ks)!r}; they should be whole numbers from 1 on")
    gold = {one: set(question.support) for one, question in asked(run, questions).items() if question.support}
    rows, cut = [], False
    for method in known_methods(run, methods):
        mine = [row for row in run.rows if row["method"] == method and row["question_id"] in gold]
        depth = _depth(run, mine)
        for k in sorted(set(ks)):
            found = [recall([one for one, _ in row["ranking"]], gold[row["question_id"]], k) for row in mine]
            rows.append({"method": method, "k": k, "recall": mean_of(found) if k <= depth else None, "n": len(found)})
        cut |= max(ks) > depth
    notes = list(cautions(run))
    if not gold:
        notes.append("No question has gold passages, so recall is not defined.")
    if cut:
        limit = f"k={run.config['k']}" + (f", budget={run.config['budget']}" if run.config["budget"] else "")
        notes.append(f"The run ranked with {limit}; for the rest of the curve evaluate again with k={max(ks)}.")
    return Analysis("recall@k", tuple(rows), tuple(notes), draw=figure)


def _depth(run: Run, rows: Sequence[dict]) -> float:
    """The largest k up to which the rankings are known; infinite if the method had no more to rank."""
    lengths = [len(row["ranking"]) for row in rows if row["failure"] is None]
    if run.config["budget"] is not None:  # a ranking ends where the budget does
        return min(lengths, default=0)
    return inf if all(length < run.config["k"] for length in lengths) else run.config["k"]


def figure(curve: Analysis) -> Picture:
    from workbench.views import charts

    curves: dict[str, dict[int, float]] = {}
    for row in curve.rows:
        if row["recall"] is not None:
            curves.setdefault(row["method"], {})[row["k"]] = row["recall"]
    return charts.recall_figure(curves)
