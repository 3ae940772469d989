"""How many passages pass the cut of BDTR, how often its lower bound decides, and how often a pool mixes scores on
different scales ("Beyond Static Retrieval", arXiv 2509.25530).

PageRank scores have a heavy tail: so few of them exceed mean plus deviation that the lower bound of five passages
decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.analyses.base import Analysis, cautions, frame_of, mean_of
from workbench.analyses.traces import iterative_methods, replays
from workbench.evaluation.run import Run
from workbench.methods.iterative.replay import Replay


@dataclass(frozen=True, slots=True, repr=False)
class Cuts(Analysis):
    """Rows: method, n, mixed (share of questions with mixed scales), verified and dropped (mean numbers of passages
    that the verifier chose, and of these that the cut removed), read (mean number of passages for the reader), fewest,
    most, filled (share of questions where the bound decided). None for a method without a cut. `sizes`: method, read,
    questions."""

    sizes: tuple[dict[str, Any], ...] = field(default=(), hash=False)

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"": self.frame(), "Passages chosen for the reader": frame_of(self.sizes)}


def cuts(run: Run, methods: Iterable[str] | None = None, *, progress: bool = True) -> Cuts:
    """The cuts of each iterative method, from the traces of the run."""
    rows: list[dict] = []
    sizes: list[dict] = []
    for method in iterative_methods(run, methods):
        found = list(replays(run, method, progress=progress).values())
        rows.append({"method": method, "n": len(found), **_row(found)})
        counted = Counter(_read(one) for one in found if one.cut)
        sizes += [{"method": method, "read": size, "questions": counted[size]} for size in sorted(counted)]
    return Cuts("What the cut lets through", tuple(rows), tuple(cautions(run)), tuple(sizes), draw="cuts")


def _row(found: Sequence[Replay]) -> dict[str, float | int | None]:
    cut = [one for one in found if one.cut]
    read = [_read(one) for one in cut]
    left_out = [set(one.verified) - {*one.cut.kept, *one.cut.filled} for one in cut]
    return {
        "mixed": mean_of(any(each.mixed for each in one.rounds) for one in found),
        "verified": mean_of(len(one.verified) for one in cut),
        "dropped": mean_of(map(len, left_out)),
        "read": mean_of(read),
        "fewest": min(read, default=None),
        "most": max(read, default=None),
        "filled": mean_of(bool(one.cut.filled) for one in cut),
    }


def _read(one: Replay) -> int:
    return len(one.cut.kept) + len(one.cut.filled)
