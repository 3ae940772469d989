"""The nodes retrieved from a graph, by the number of hops of the questions (DotRAG, Table 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.analyses.base import Analysis, cautions, known_methods, mean_of, measured
from workbench.evaluation.run import Run
from workbench.measures import NODES

if TYPE_CHECKING:
    from workbench.views.figures import Picture


def by_hops(run: Run, methods: Iterable[str] | None = None) -> Analysis:
    """Means over the questions of 1, 2, 3 … hops. Compare precision only at similar `node_count`.

    Rows: hops, method, n (questions), the means of the run's measures of nodes, passages (mean number returned),
    failures."""
    names = measured(run, list(NODES))
    rows = []
    for hops in hops_of(run):
        for method in known_methods(run, methods):
            mine = [row for row in run.rows if row["method"] == method and row.get("hops") == hops]
            rows.append(
                {
                    "hops": hops,
                    "method": method,
                    "n": sum(row["scores"][names[0]] is not None for row in mine),
                    **{name: mean_of(row["scores"][name] for row in mine) for name in names},
                    "passages": mean_of(len(row["ranking"]) for row in mine),
                    "failures": sum(row["failure"] is not None for row in mine),
                }
            )
    return Analysis("Nodes found, by hops", tuple(rows), tuple(cautions(run)), draw=figure)


def hops_of(run: Run) -> list[int]:
    """The numbers of hops of its questions; empty if neither the run nor the data state them."""
    return sorted({row.get("hops") for row in run.rows} - {None})


def figure(found: Analysis) -> Picture:
    """A panel per measure of the headline, a line per method."""
    from workbench.views import charts

    frame = found.frame()
    measures = [name for name in ("node_recall", "node_precision", "node_f1") if name in frame] or ["failures"]
    canvas = charts.Figure(figsize=(2.9 * len(measures) + 0.6, 3.2), layout="constrained", dpi=110)
    panels = canvas.subplots(1, len(measures), squeeze=False)[0]
    for axes, measure in zip(panels, measures):
        charts.bare(axes)
        charts.over_hops(axes, found.rows, measure)
    panels[0].legend(frameon=False, fontsize=7)
    return charts.picture(canvas, found.title)
