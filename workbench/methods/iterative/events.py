"""The events that an iterative method writes into its trace, and that a replay reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.methods.events import TraceEvent

Ranking = tuple[tuple[str, float], ...]  # (passage id, score), best first


@dataclass(frozen=True, slots=True, repr=False)
class RoundEvent(TraceEvent):
    """A round, which holds its thought, its searches and the pool after them. Round 0 has no thought."""

    step = "round {round}"
    inputs = ("round",)

    round: int


@dataclass(frozen=True, slots=True, repr=False)
class ThoughtEvent(TraceEvent):
    """The output of a round's Step: texts by name, and the resulting queries, as (origin, query). `given`: by hand;
    `shortened`: the number of queries that were cut."""

    step = "think"
    inputs = ("round",)

    round: int
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)
    queries: tuple[tuple[str, str], ...] = ()
    done: bool = False
    given: bool = False
    shortened: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Search(TraceEvent):
    """One query and the backbone's results for it. `origin` names the text that it came from, or `question`."""

    step, scores = "search", "ranking"
    inputs = ("origin", "query")

    origin: str
    query: str
    scale: str = ""
    ranking: Ranking = ()
    found: int = 0
    fallback: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class PoolEvent(TraceEvent):
    """The whole pool after a round. `risen`: n (5, 10) → ids that entered the first n ranks in this round; `queries`:
    passage id → the query that gave it its score, for the first five; `mixed`: it merges rankings on different
    scales."""

    step, scores = "pool", "ranking"

    size: int = 0
    scale: str = ""
    mixed: bool = False
    risen: Mapping[int, tuple[str, ...]] = field(default_factory=dict, hash=False)
    queries: Mapping[str, str] = field(default_factory=dict, hash=False)
    ranking: Ranking = ()


@dataclass(frozen=True, slots=True, repr=False)
class Chain(TraceEvent):
    """The reasoning chain: as one text, in steps, and the entities that link two steps."""

    step = "reasoning chain"

    chain: str = ""
    steps: tuple[str, ...] = ()
    bridges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Verification(TraceEvent):
    """The ids of the passages that the verifier read, of those that it chose, and the number of batches that failed."""

    kind, step = "RERANKER", "verify"
    inputs = ("passages",)

    passages: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    failures: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Promotion(TraceEvent):
    """The ranks of the chosen passages before and after promotion, as (id, old, new)."""

    kind, step = "RERANKER", "promote"

    moved: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Cut(TraceEvent):
    """The choice for the reader (BDTR, Eq. 6): `kept` by score or by the verifier, `filled` up to the minimum number,
    each in promoted order. `mu` and `sigma` are the mean and the deviation of the best scores, `threshold` their sum.
    The final set comes first in the `ranking`."""

    kind, step, scores = "RERANKER", "cut", "ranking"

    mu: float
    sigma: float
    threshold: float
    policy: str
    kept: tuple[str, ...]
    filled: tuple[str, ...]
    selected: int = 0
    ranking: Ranking = ()
