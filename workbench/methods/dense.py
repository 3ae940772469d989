"""Dense retrieval: passages ranked by the cosine of their vector and the question's. The baseline of every paper
here."""

from __future__ import annotations

import numpy as np

from workbench.methods.base import Method
from workbench.ranking.similarity import top
from workbench.records import Evidence, ranked
from workbench.trace import Trace


class Dense(Method):
    """Exact cosine over all passages."""

    name = "dense"
    paper = "none: the encoder alone"
    scale = "cosine"

    def prepare(self) -> None:
        self._passages = self.index.passages
        self._vectors = np.asarray(self._passages.vectors)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "passages")
        cosines = self._vectors @ vector
        best = top(cosines, k)
        return Evidence(
            question, self.label, self.scale, ranked([self._passages.passages[row] for row in best], cosines[best])
        )
