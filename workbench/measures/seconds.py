"""seconds: wall-clock time from the question to its answer, retrieval and reading, without the judge.

It is read from `timings.jsonl` and never stored in a row, because it differs between runs: it is a column of
`Run.table(seconds=True)` and of a displayed run, not of `table.csv`. With several workers, questions share the machine,
and the seconds of each include its waiting time.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.measures.tokens import MEASURING


def seconds(stages: Mapping[str, float]) -> float:
    """`stages`: path in the trace → seconds. The outermost ones are added; the others are parts of them.

    >>> seconds({"dense": 0.5, "dense / rank": 0.25, "direct": 1.0, "direct / answer": 1.0, "judge": 9.0})
    1.5
    """
    return float(sum(taken for stage, taken in stages.items() if " / " not in stage and stage not in MEASURING))
