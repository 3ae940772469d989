"""What was found in a graph, by the number of hops of the questions (DotRAG, Table 2; spec 9.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.experiments.analyses.base import Analysis, cautions, known_methods, mean_of, measured
from workbench.experiments.run import Run
from workbench.measures import NODES


@dataclass(frozen=True, slots=True, repr=False)
class ByHops(Analysis):
    """Rows: hops, method, n (questions), the means of the run's measures of nodes, passages (how many were
    returned, mean), failures."""


def by_hops(run: Run, methods: Iterable[str] | None = None) -> ByHops:
    """Means over the questions of 1, 2, 3 … hops. Precision is compared at like `node_count`."""
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
    return ByHops("Nodes found, by hops", tuple(rows), tuple(cautions(run)))


def hops_of(run: Run) -> list[int]:
    """The numbers of hops of its questions; none where the run or the data do not say."""
    return sorted({row.get("hops") for row in run.rows} - {None})
