"""KET-RAG: a context from two channels under one token budget. Keywords lead to pieces of the whole corpus; entities
close to the question lead to relationships of a skeleton, which was extracted from the most central pieces, and to
their source texts.

Follows "KET-RAG: A Cost-Efficient Multi-Granular Indexing Framework for Graph-RAG" (arXiv 2502.09304) as its code does
(waetr/KET-RAG, February 2025, a fork of Microsoft GraphRAG 0.4.1; profile `released`), as the thesis "The Reasoning
Bottleneck in Graph-RAG" describes it (`thesis`), and with its traps fixed (`workbench`). docs/ketrag.md states the
differences, their reasons and their effects.

Not included: community reports, which have no share of the context in the released code. The source ranks no passages;
here they are ordered by their first place among chunks or sources, whichever is earlier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.layouts import ket_rag as layout
from workbench.methods.base import Method
from workbench.methods.ket_rag import channels
from workbench.methods.ket_rag.channels import Bridges, Rows, head_tokens, reports_tokens, stub_tokens
from workbench.records import ContextGraph, Entity, Evidence, Passage, Scored, Triple, Unit, ranked
from workbench.settings import Natural, Number, Positive, Share, Tokens, validated
from workbench.tokens import leading
from workbench.trace import Trace

CLOSEST = 1000  # pieces of a text channel
TRACED = 10  # keywords that the trace lists


class Chunks(NamedTuple):
    """Rows of pieces in the order of the table, and its tokens."""

    pieces: list[int]
    tokens: int


class Sources(NamedTuple):
    """Units in the order of the table, what brought each, and the tokens of the table."""

    units: list[Unit]
    brought: list[dict]
    tokens: int


class KETRAG(Method):
    """Pieces selected by keywords, and the part of the skeleton around the entities of the question."""

    name = "ket_rag"
    paper = "KET-RAG (arXiv 2502.09304)"
    layers = ("passages", "pieces", "keywords", "skeleton")
    scale = "1/rank"
    profiles = {
        "workbench": {},
        "released": {
            "sources": "units",
            "text_share": 0.5,
            "duplicates_end_pool": True,
            "repeat_sources": True,
            "titles": False,
            "empty_reports": True,
        },
        "thesis": {"sources": "units", "text_share": 0.5, "strategy": "three", "titles": False},
    }

    @validated
    class Settings:
        """tokens, theta   λ, cl100k tokens of the context, and θ, the share of the entity channel, which also gets the
                        tokens that the other channels leave
        strategy        the channel next to the entity channel: `keyword`; `text`: the pieces closest to the question;
                        `skeleton`: none; `three`: keyword and text, each with half of the share
        entities        number of matched entities; at most `per_entity` times as many relationships with others
        text_share      share of the entity channel for sources
        sources         `bridges`: pieces that the skeleton connects to the text (`channels.py`); `units`: parts of the
                        chunks from which the skeleton was extracted, those of the first entity first
        keywords, pool  number of keywords to examine; size of their pool, in multiples of the channel's tokens
        duplicates_end_pool, repeat_sources, empty_reports   behaviour of the released code, see docs/ketrag.md
        titles          whether a piece from inside a passage has the title of the passage"""

        profile: str = "workbench"
        tokens: Tokens = 12_000
        theta: Share = 0.5
        strategy: Literal["keyword", "text", "skeleton", "three"] = "keyword"
        entities: Positive = 20
        per_entity: Natural = 10
        text_share: Share = 0.75
        sources: Literal["bridges", "units"] = "bridges"
        keywords: Positive = 1000
        pool: Annotated[Number, Field(ge=1, title="multiple of a budget")] = 2.0
        duplicates_end_pool: bool = False
        repeat_sources: bool = False
        titles: bool = True
        empty_reports: bool = False

        def __post_init__(self):
            if self.tokens < (least := stub_tokens() + reports_tokens()):
                raise SettingError(f"tokens={self.tokens}; it should be at least {least}")

    def prepare(self) -> None:
        self._pieces, self._keywords, self._skeleton = self.index.pieces, self.index.keywords, self.index.skeleton
        self._piece_vectors = np.asarray(self._pieces.vectors)
        self._entity_vectors = np.asarray(self._skeleton.entity_vectors)
        self._empty_reports = self.settings.empty_reports and self.settings.theta > 0
        self._rows = Rows(self._pieces, self._skeleton, self.settings.titles)
        self._graph = channels.Skeleton(self._skeleton)
        if self.settings.sources == "bridges":
            names = [entity.name for entity in self._skeleton.entities]
            self._bridges = Bridges(names, [piece.text for piece in self._pieces.pieces])

    def write(self, context: ContextGraph) -> str:
        """A context as this profile writes it; `tokens` limits its length."""
        return layout.write(context, empty_reports=self._empty_reports)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        chosen = self.settings
        with trace.span("EMBEDDING", "encode question", text=question):
            query = self.index.encode_query(question, "passages")
        chunks = self.chunks(query, trace)
        left = chosen.tokens - chunks.tokens - reports_tokens() * self._empty_reports
        matched, cosines = self.match(query, trace)
        tables = self.tables(matched, int(left * (1 - chosen.text_share)), trace)
        sources = self.sources(matched, chunks.pieces, int(left * chosen.text_share), trace)
        with trace.span("CHAIN", "budget", tokens=chosen.tokens, theta=chosen.theta) as span:
            span.set(chunks=chunks.tokens, left=left, tables=tables.tokens, sources=sources.tokens)
        context = ContextGraph(
            tuple(self._rows.entity(row) for row in tables.entities),
            tuple(self._rows.relation(*row) for row in tables.relations),
            tuple(sources.units),
            tuple(self._rows.chunk(row, rank) for rank, row in enumerate(chunks.pieces, 1)),
        )
        facts = [Triple(row.source, row.description, row.target, row.passages) for row in context.relations]
        return Evidence(
            question,
            self.label,
            self.scale,
            self.passages(context)[:k],
            entities=ranked([self._entity(row) for row in matched], cosines),
            facts=ranked(facts, 1 / np.arange(1, len(facts) + 1)),
            context=context,
            fallback=self.fallback(context),
        )

    # -- the channels -------------------------------------------------------------------------------------------------

    def chunks(self, query: np.ndarray, trace: Trace) -> Chunks:
        """The chunks next to the entity channel, under (1 - θ) λ tokens."""
        chosen = self.settings
        cap = int(chosen.tokens * (1 - chosen.theta))
        if cap == 0 or chosen.strategy == "skeleton":
            return Chunks([], stub_tokens())
        cosines = self._piece_vectors @ query
        rows_found: list[int] = []
        if chosen.strategy in ("keyword", "three"):
            share = cap if chosen.strategy == "keyword" else cap // 2
            rows_found = self.by_keywords(query, cosines, share, trace)
        if chosen.strategy in ("text", "three"):
            with trace.span("RETRIEVER", "text channel", budget=cap) as span:
                present = set(rows_found)
                rows_found += [row for row in top(cosines, CLOSEST).tolist() if row not in present]
                span.score((self._pieces.pieces[row].id, cosines[row]) for row in rows_found[:TRACED])
        fitting, used = leading(rows_found, self._rows.chunk_tokens, cap, head_tokens("chunks"))
        return Chunks(fitting, used or stub_tokens())

    def by_keywords(self, query: np.ndarray, cosines: np.ndarray, cap: int, trace: Trace) -> list[int]:
        """The keyword channel: pieces that fit under a cap, the closest to the question first."""
        chosen = self.settings
        with trace.span("RETRIEVER", "keyword channel", budget=cap) as span:
            pool = channels.pool(
                self._keywords, self._pieces, query, cosines, candidates=chosen.keywords, cap=int(chosen.pool * cap),
                duplicates_end_it=chosen.duplicates_end_pool,
            )  # fmt: skip
            fitting, used = leading(pool.by_cosine(cosines), self._rows.chunk_tokens, cap, head_tokens("chunks"))
            words = self._keywords.words
            span.set(
                keywords=pool.keywords,
                pool=len(pool.brought),
                pool_tokens=pool.tokens,
                ended=pool.ended,
                shown=len(fitting),
                tokens=used,
                brought={f"chunk_{rank}": words[pool.brought[row]] for rank, row in enumerate(fitting, 1)},
            )
            span.score((self._pieces.pieces[row].id, cosines[row]) for row in fitting)
        return fitting

    def match(self, query: np.ndarray, trace: Trace) -> tuple[list[int], np.ndarray]:
        """Rows of the entities closest to the question, best first, and their cosines; none where θ = 0."""
        with trace.span("RETRIEVER", "match entities") as span:
            cosines = self._entity_vectors @ query
            rows = top(cosines, self.settings.entities) if self.settings.theta else np.zeros(0, dtype=np.int64)
            span.score((self._skeleton.entities[row].name, cosines[row]) for row in rows.tolist())
        return rows.tolist(), cosines[rows]

    def tables(self, entities: Sequence[int], cap: int, trace: Trace) -> channels.Tables:
        """Entities and relationships, under a cap."""
        with trace.span("CHAIN", "skeleton", budget=cap) as span:
            chosen = channels.tables(self._graph, self._rows, entities, cap, self.settings.per_entity)
            relations = [self._skeleton.relations[row] for row, _ in chosen.relations]
            span.set(
                entities=len(chosen.entities),
                relations=[f"{row.source} – {row.target}" for row in relations],
                tokens=chosen.tokens,
            )
        return chosen

    def sources(self, entities: Sequence[int], chunks: Sequence[int], cap: int, trace: Trace) -> Sources:
        """Texts of the entity channel, under a cap."""
        with trace.span("RETRIEVER", "sources", budget=cap) as span:
            if not self.settings.theta:
                chosen = Sources([], [], 0)
            elif self.settings.sources == "units":
                chosen = self._units(entities, cap)
            else:
                chosen = self._bridged(entities, chunks, cap)
            traced = [{"source": unit.id, **why} for unit, why in zip(chosen.units, chosen.brought)]
            span.set(sources=traced, tokens=chosen.tokens)
        return chosen

    def _units(self, entities: Sequence[int], cap: int) -> Sources:
        pairs = [(unit, row) for row in entities for unit in self._graph.units(row)]
        if not self.settings.repeat_sources:
            first: dict[int, int] = {}
            for unit, row in pairs:
                first.setdefault(unit, row)
            pairs = list(first.items())
        fitting, used = leading(pairs, lambda pair, _: self._rows.unit_tokens(pair[0]), cap, head_tokens("sources"))
        brought = [{"entity": self._skeleton.entities[row].name} for _, row in fitting]
        return Sources([self._rows.unit(unit) for unit, _ in fitting], brought, used)

    def _bridged(self, entities: Sequence[int], chunks: Sequence[int], cap: int) -> Sources:
        scores, amounts = self._bridges.scores(entities, chunks)
        scores[list(chunks)] = 0.0  # they are shown already
        tied = np.flatnonzero(scores)
        order = tied[np.argsort(-scores[tied], kind="stable")].tolist()
        fitting, used = leading(order, lambda row, _: self._rows.piece_tokens(row), cap, head_tokens("sources"))
        brought = [{**self._bridge(row, amounts, chunks), "score": float(scores[row])} for row in fitting]
        return Sources([self._rows.piece(row) for row in fitting], brought, used)

    def _bridge(self, piece: int, amounts: np.ndarray, chunks: Sequence[int]) -> dict:
        """The entity that brings most to a piece, and the first chunk that names it."""
        best = self._bridges.best(piece, amounts)
        first = self._bridges.first(best, chunks)
        return {"entity": self._skeleton.entities[best].name, "from": f"chunk_{first}" if first else "question"}

    # -- what the evidence says ---------------------------------------------------------------------------------------

    def _entity(self, row: int) -> Entity:
        entity = self._skeleton.entities[row]
        return Entity(entity.name, self._skeleton.types[row], entity.description)

    def passages(self, context: ContextGraph) -> tuple[Scored[Passage], ...]:
        """The passages of chunks and sources, by the earlier place of either; on a tie, the chunk's first."""
        rank: dict[str, int] = {}
        for units in (context.chunks, context.sources):
            for place, unit in enumerate(units, 1):
                for passage in unit.passages:
                    rank[passage] = min(place, rank.get(passage, place))
        best = sorted(rank, key=rank.get)
        layer = self.index.passages
        return ranked([layer.passages[layer.row[id]] for id in best], [1 / rank[id] for id in best])

    def fallback(self, context: ContextGraph) -> str | None:
        if self.settings.theta and not self._skeleton.entities:
            return "the entity channel is empty, because the skeleton holds no entity"
        if not context.chunks and not context.sources:
            return f"tokens={self.settings.tokens} are too few for a text"
        return None
