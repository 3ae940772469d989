"""How messages passed for a question, read from the trace: which entities became active layer by layer, and the
documents' scores.

Nothing is recomputed, so a saved trace suffices, without index or checkpoint. An index adds how the passages spell the
phrases.

What GFM-RAG writes into the trace: the entities of the question, the entities and documents that it ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.index import Index
from workbench.methods.events import TraceEvent, read_as_written, root_of, trace_of
from workbench.operators.neighbourhood import spelled
from workbench.records import Evidence, Record
from workbench.trace import Trace


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


METHOD = "gfm_rag"


@dataclass(frozen=True, slots=True, repr=False)
class Passing(Record):
    """The trace of GFM-RAG for a question, as a record.

    linked     its entities, the phrases they are linked to, and the start weights
    layers     what the question changed: at the start, then after each layer
    entities   with their logits, best first, and `documents` with what each entity gave them; empty where the ranking
               is the dense one, which `fallback` says
    ranking    the passages as they are handed on
    gold       ids of passages to mark, given by the caller; the method does not see them
    engines    answered the Steps
    spelled    entity → how the passages spell it, where an index is at hand
    """

    question: str
    method: str
    linked: LinkedEntities
    layers: tuple[PassedLayer, ...] = ()
    entities: RankedEntities | None = None
    documents: RankedDocuments | None = None
    ranking: tuple[tuple[str, float], ...] = ()
    gold: tuple[str, ...] = ()
    fallback: str | None = None
    failure: str | None = None
    engines: tuple[str, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict, hash=False)

    def called(self, entity: str) -> str:
        """The entity in the passages' spelling, else in the graph's: lower case, without punctuation."""
        return self.spelled.get(entity, entity)

    def given(self, document: str) -> list[tuple[str, float]]:
        """(entity, share of the sum) of a document, largest first."""
        given = self.documents.given if self.documents else ()
        return [(entity, share) for name, entity, share in given if name == document]

    def first_lit(self) -> dict[str, int]:
        """Entity → the first layer among whose strongest it is."""
        first: dict[str, int] = {}
        for layer in self.layers:
            for entity, _ in layer.entities:
                first.setdefault(entity, layer.layer)
        return first


def passing(trace: Trace | Evidence, gold: Sequence[str] = (), index: Index | None = None) -> Passing:
    """The passing of messages in a trace, in memory or opened from a file. With the index that it ran over, its
    entities are spelled as in the passages.

    Raises DataError for the trace of another method, or with events that GFM-RAG does not write."""
    trace = trace_of(trace)
    root = root_of(trace, LinkedEntities.step, "linked entities", "take the trace of gfm_rag")
    with read_as_written(root.step, METHOD):
        parts = trace.children(root.id)
        ranked = next((event for event in parts if event.step == RankedEntities.step), None)
        layers = trace.children(ranked.id) if ranked else ()
        result = Passing(
            root.inputs["question"],
            root.step,
            LinkedEntities.find(parts) or LinkedEntities(),
            tuple(PassedLayer.read(event) for event in layers if event.step == PassedLayer.step),
            RankedEntities.find(parts),
            RankedDocuments.find(parts),
            root.scores,
            tuple(gold),
            root.outputs.get("fallback"),
            root.failure,
            trace.engines,
        )
    return result if index is None else replace(result, spelled=_spelled(result, index))


def _spelled(passing: Passing, index: Index) -> dict[str, str]:
    given = (entity for _, entity, _ in (passing.documents.given if passing.documents else ()))
    ranked = (entity for entity, _ in (passing.entities.entities if passing.entities else ()))
    passed = (end for layer in passing.layers for source, _, to, _ in layer.messages for end in (source, to))
    return spelled(index, [*passing.first_lit(), *given, *ranked, *passed])
