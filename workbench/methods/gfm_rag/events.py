"""What GFM-RAG writes into the trace: the entities of the question, the entities and documents that it ranks."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.methods.events import TraceEvent


@dataclass(frozen=True, slots=True, repr=False)
class LinkedEntities(TraceEvent):
    """The entities `named` in the question, the phrases that each is `linked` to, as (entity, phrase, cosine), and the
    phrases that the messages start from, with their weights w_e."""

    kind, step, scores = "RETRIEVER", "link entities", "starts"

    named: tuple[str, ...] = ()
    linked: tuple[tuple[str, str, float], ...] = ()
    starts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class PassedLayer(TraceEvent):
    """What the question changed after a layer of messages, 0 for its start: how many entities it `reached`, those whose
    state it changed most (Euclidean norm of the change), and the message that brought most to each of these, as
    (source, relation, entity, norm); the name of an inverse relation begins with `inverse_`."""

    step, scores = "pass layer", "entities"
    inputs = ("layer",)

    layer: int
    reached: int = 0
    messages: tuple[tuple[str, str, str, float], ...] = ()
    entities: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RankedEntities(TraceEvent):
    """The best entities with their logits, and of how many."""

    kind, step, scores = "RERANKER", "pass messages", "entities"

    checkpoint: str = ""
    of: int = 0
    entities: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RankedDocuments(TraceEvent):
    """The documents, with what each got of which entity: (id, entity, share of the sum). `ties`: how many have a score
    that another one has; `tie_rule`: what then decides."""

    kind, step, scores = "RERANKER", "rank documents", "documents"

    ranker: str = ""
    ties: int = 0
    tie_rule: str = ""
    given: tuple[tuple[str, str, float], ...] = ()
    documents: tuple[tuple[str, float], ...] = ()
