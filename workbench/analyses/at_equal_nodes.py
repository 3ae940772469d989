"""Recall and precision of answers among the same number of nodes for every method (the measures of DotRAG, Table 2).
Precision rewards a short list of nodes, so methods are compared at the length of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.analyses.base import Analysis, asked, cautions, known_methods, mean_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.measures.nodes import node_f1, node_precision, node_recall
from workbench.records import Question

if TYPE_CHECKING:
    from workbench.views.figures import Picture


def at_equal_nodes(
    run: Run, questions: Iterable[Question], reference: str | None = None, *, methods: Iterable[str] | None = None
) -> Analysis:
    """For each question the first n nodes of every method, n being how many `reference` returned (by default the first
    method of the run that is a `dotrag`). Passages do not count, so methods without nodes of their own are left out.

    Rows: hops, method, n (questions), and means: nodes (how many were compared), recall, precision, f1 (of the
    answers)."""
    reference = reference or next((name for name in run.methods if name.partition("[")[0] == "dotrag"), None)
    if reference is None:
        raise SettingError(f"the run {run.folder} has no dotrag; name the method whose nodes are counted: reference=…")
    known_methods(run, [reference])
    gold = {one: asked_ for one, asked_ in asked(run, questions).items() if asked_.answer_set and asked_.answers}
    found = {(row["question_id"], row["method"]): list(dict.fromkeys(row["nodes"])) for row in run.rows}
    chosen = [name for name in known_methods(run, methods) if any(found.get((one, name)) for one in gold)]
    rows = []
    for hops in sorted({question.hops for question in gold.values()}, key=lambda hops: (hops is None, hops)):
        for name in chosen:
            pairs = [
                (found[one, name][: len(found[one, reference])], question.answers)
                for one, question in gold.items()
                if question.hops == hops and (one, name) in found and (one, reference) in found
            ]
            rows.append(
                {
                    "hops": hops,
                    "method": name,
                    "n": len(pairs),
                    "nodes": mean_of(len(nodes) for nodes, _ in pairs),
                    "recall": mean_of(node_recall(*pair) for pair in pairs),
                    "precision": mean_of(node_precision(*pair) for pair in pairs),
                    "f1": mean_of(node_f1(*pair) for pair in pairs),
                }
            )
    notes = [f"Of each question as many nodes as {reference} returned."]
    if without := [name for name in known_methods(run, methods) if name not in chosen]:
        notes.append(f"Without nodes of their own: {', '.join(without)}.")
    title = f"Answers among as many nodes as {reference} has"
    return Analysis(title, tuple(rows), (*cautions(run), *notes), draw=figure)


def figure(found: Analysis) -> Picture:
    from workbench.views import charts

    canvas, axes = charts.canvas(5.6, 3.4)
    charts.over_hops(axes, found.rows, "recall")
    charts.titled(axes, found.title, [row["method"] for row in found.rows])
    return charts.picture(canvas, found.title)
