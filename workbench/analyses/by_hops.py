"""The nodes retrieved from a graph, by the number of hops of the questions (DotRAG, Table 2)."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.analyses.base import Analysis, cautions, known_methods, mean_of, measured
from workbench.evaluation.run import Run
from workbench.measures import NODES


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
    return Analysis("Nodes found, by hops", tuple(rows), tuple(cautions(run)), draw="by_hops")


def hops_of(run: Run) -> list[int]:
    """The numbers of hops of its questions; empty if neither the run nor the data state them."""
    return sorted({row.get("hops") for row in run.rows} - {None})
