"""What CatRAG writes into the trace: anchors, rated neighbours, edited edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.methods.events import TraceEvent

Edge = tuple[str, str, str, float, float]  # (phrase, phrase or passage id, kind, weight before, weight after)


@dataclass(frozen=True, slots=True, repr=False)
class Anchors(TraceEvent):
    """Symbolic anchoring: the entities that the question names, the phrase that each is `linked` to, as (entity,
    phrase, cosine), and the phrases that became seeds, with their reset weights."""

    kind, step, scores = "RETRIEVER", "anchors", "added"

    entities: tuple[str, ...] = ()
    linked: tuple[tuple[str, str, float], ...] = ()
    added: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RatedNeighbours(TraceEvent):
    """Dynamic edge weighting of one seed: how many neighbours it has, those that were rated with score and reason,
    those that the reply left out (`missing`, which count as Weak) and those that were `skipped` without a request."""

    kind, step, scores = "RERANKER", "rate neighbours", "ratings"
    inputs = ("seed", "weight")

    seed: str
    weight: float
    neighbours: int = 0
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    ratings: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class EditedEdges(TraceEvent):
    """The out-edges of seeds whose weight is another one for this question."""

    step = "edit edges"

    edges: tuple[Edge, ...] = ()
