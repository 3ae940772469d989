"""BM25, by the bm25s library: passages ranked by the words that they share with the question."""

from __future__ import annotations

import numpy as np

from workbench.methods.base import Method
from workbench.ranking.similarity import top
from workbench.records import Evidence, ranked
from workbench.settings import NonNegative, Share, validated
from workbench.text import neighbours, words
from workbench.trace import Trace


class BM25(Method):
    """BM25; returns only passages that share a word with the question. Words are case-folded runs of letters and
    digits; han and kana count alone and with their neighbour, as in Lucene's analyser for Chinese and Japanese."""

    name = "bm25"
    paper = "Robertson et al., Okapi at TREC-3 (1994); variant of Lucene (Kamphuis et al., 2020)"
    scale = "bm25"

    @validated
    class Settings:
        k1: NonNegative = 1.5
        b: Share = 0.75

    def prepare(self) -> None:
        import bm25s

        self._passages = self.index.passages.passages
        self._bm25 = bm25s.BM25(k1=self.settings.k1, b=self.settings.b, method="lucene")
        words = [_words(passage.content) for passage in self._passages]
        self._known = {word for found in words for word in found}
        if self._known:
            self._bm25.index(words, show_progress=False)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        words = [word for word in _words(question) if word in self._known]
        with trace.span("RETRIEVER", "match words", question=question) as span:
            span.set(words=words)
            scores = self._bm25.get_scores(words) if words else np.zeros(len(self._passages))
            best = [row for row in top(scores, k) if scores[row] > 0]
        return Evidence(question, self.label, self.scale, ranked([self._passages[row] for row in best], scores[best]))


def _words(text: str) -> list[str]:
    """
    >>> _words("Die Brücke"), _words("沙湖，桥")
    (['die', 'brücke'], ['沙', '湖', '桥', '沙湖'])
    """
    return words(text) + neighbours(text)
