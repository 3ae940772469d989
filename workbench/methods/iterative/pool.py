"""The pool of an iterative method: the union of several rankings, in which a passage keeps its best score.

"Beyond Static Retrieval" (BDTR), Eq. 4. One retriever's scores are comparable between its queries as long as they are
on one scale; HippoRAG 2 returns PageRank mass or, if no fact passes its filter, scaled cosines. Rankings on different
scales are therefore min-max scaled, each separately, before the maximum is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.encoding.similarity import minmax
from workbench.errors import SettingError
from workbench.records import Evidence, Passage, Scored

SCALES = ("none", "minmax", "rank")


class Entry(NamedTuple):
    """A passage of the pool. `query` gave it its score; `round` and `rank` are those of its first retrieval."""

    passage: Passage
    score: float
    query: str
    round: int
    rank: int

    @property
    def order(self) -> tuple:
        """Best first; among equal scores the earlier round, then the better rank in it, then the id."""
        return (-self.score, self.round, self.rank, self.passage.id)


class Pool:
    """Merging is monotone, commutative within a round, and idempotent. A passage that a query does not return has no
    score under it.

    `scale` is applied to the scores of each ranking before they are merged: `none` (unchanged, but `minmax` if the
    scales differ), `minmax`, or `rank` (1 for the first, decreasing linearly)."""

    def __init__(self, scale: str = "none"):
        if scale not in SCALES:
            raise SettingError(f"scale={scale!r} is unknown; choose one of {', '.join(SCALES)}")
        self._given_scale = scale
        self._merged: list[tuple[Evidence, int]] = []
        self._entries: dict[str, Entry] = {}
        self._ranked: list[Entry] | None = None

    def merge(self, evidence: Evidence, round: int) -> None:
        """Merge one ranking. Queries of one round may be merged in any order."""
        before, self._ranked = self._rescaling, None
        self._merged.append((evidence, round))
        if self._rescaling == before:
            self._add(evidence, round)
        else:  # the first ranking of another scale: all scores are rescaled
            self._entries = {}
            for merged in self._merged:
                self._add(*merged)

    def ranked(self) -> list[Entry]:
        """All of the pool, best first."""
        if self._ranked is None:
            self._ranked = sorted(self._entries.values(), key=lambda entry: entry.order)
        return list(self._ranked)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def mixed(self) -> bool:
        """Whether the pool merges rankings on different scales."""
        return len({evidence.scale for evidence, _ in self._merged if evidence.passages}) > 1

    @property
    def scale(self) -> str:
        """The scale of the pool's scores, by name."""
        names = dict.fromkeys(evidence.scale for evidence, _ in self._merged if evidence.passages)
        return named(", ".join(sorted(names)), self._rescaling)

    @property
    def _rescaling(self) -> str:
        return "minmax" if self._given_scale == "none" and self.mixed else self._given_scale

    def _add(self, evidence: Evidence, round: int) -> None:
        scores = _scaled([score for _, score in evidence.passages], self._rescaling)
        for rank, ((passage, _), score) in enumerate(zip(evidence.passages, scores), 1):
            old = self._entries.get(passage.id)
            if old is None:
                self._entries[passage.id] = Entry(passage, score, evidence.question, round, rank)
                continue
            first = min((round, rank), (old.round, old.rank))
            # If two queries give the same score, the alphabetically first is named, whichever was merged first.
            best = min((-score, evidence.question), (-old.score, old.query))
            self._entries[passage.id] = Entry(passage, -best[0], best[1], *first)


def _scaled(scores: Sequence[float], how: str) -> list[float]:
    if how == "minmax":
        return minmax(np.asarray(scores)).tolist()
    if how == "rank":
        return [1 - rank / len(scores) for rank in range(len(scores))]
    return list(scores)


def named(scale: str, how: str) -> str:
    """The name of a scale after the transformation."""
    return {"none": scale, "minmax": f"minmax({scale})", "rank": "rank"}[how]


def scored(entries: Sequence[Entry]) -> tuple[Scored[Passage], ...]:
    """The passages of entries with their scores."""
    return tuple(Scored(entry.passage, entry.score) for entry in entries)
