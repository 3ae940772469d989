"""Reciprocal rank fusion: the rankings of several methods in one, by ranks alone.

    s(p) = Σ over methods m:  1 / (c + rank_m(p))        rank from 1; c = 60

The plain hybrid that every method with a graph has to beat: words and vectors fail on different questions."""

from __future__ import annotations

from typing import Any

from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods.base import Method
from workbench.methods.composite import Composite, as_method
from workbench.records import Evidence, Passage, ranked
from workbench.settings import NonNegative, Positive, split_outside, validated
from workbench.trace import Trace


class RRF(Composite):
    """Any methods, joined by `+` in the setting `over`: `rrf[over=bm25+dense]`."""

    name = "rrf"
    paper = "Cormack, Clarke, Büttcher, Reciprocal Rank Fusion (SIGIR 2009)"
    scale = "rrf"

    @validated
    class Settings:
        """`over` are two methods or more, of each of which the first `depth` passages count; the larger `constant` (c),
        the less the first ranks count above the others."""

        over: Any = "bm25+dense"
        constant: NonNegative = 60
        depth: Positive = 100

    def parts_of(self, given: Any, index: Index, engine: Engine | None) -> tuple[Method, ...]:
        parts: list[Method] = []
        for spec in split_outside(given, "+") if isinstance(given, str) else given:
            parts.append(as_method(spec, parts[-1].index if parts else index, engine))
        if len(parts) < 2:
            raise SettingError(f"over={given!r}; it should be two methods or more, such as bm25+dense")
        return tuple(parts)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        all_evidence = [part.retrieve(question, self.settings.depth, trace=trace) for part in self.parts]
        scores: dict[Passage, float] = {}
        with trace.span("RERANKER", "fuse ranks", rankings=len(all_evidence)) as span:
            for evidence in all_evidence:
                for rank, (passage, _) in enumerate(evidence.passages, 1):
                    scores[passage] = scores.get(passage, 0.0) + 1 / (self.settings.constant + rank)
            best = sorted(scores, key=lambda passage: -scores[passage])[:k]  # ties: as the first method has them
            span.score((passage.id, scores[passage]) for passage in best)
        notes = [f"{evidence.method}: {evidence.fallback}" for evidence in all_evidence if evidence.fallback]
        passages = ranked(best, [scores[passage] for passage in best])
        return Evidence(question, self.label, self.scale, passages, fallback="; ".join(notes) or None)
