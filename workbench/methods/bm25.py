"""BM25, by the bm25s library: passages ranked by the words that they share with the question."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict
from inspect import getsource

import numpy as np

from workbench.encoding.similarity import top
from workbench.index.store import Arrays, cached_arrays
from workbench.methods.base import Method
from workbench.records import Evidence, ranked
from workbench.settings import NonNegative, Share, validated
from workbench.source import hash_of
from workbench.text import search_terms, text_hash
from workbench.trace import Trace

_CSC = ("data", "indices", "indptr")


class BM25(Method):
    """BM25; returns only passages that share a word with the question. Words are case-folded runs of letters and
    digits; han and kana count alone and with their neighbour, as in Lucene's analyser for Chinese and Japanese."""

    name = "bm25"
    paper = "Robertson et al., Okapi at TREC-3 (1994); variant of Lucene (Kamphuis et al., 2020)"
    scale = "bm25"
    encodes = False

    @validated
    class Settings:
        k1: NonNegative = 1.5
        b: Share = 0.75

    def prepare(self) -> None:
        self._passages = self.index.passages.passages
        layer, store = self.index.manifest["layers"]["passages"]["key"], self.index.store
        made_by = {"words": hash_of(search_terms), "matrix": text_hash(getsource(BM25._indexed))}
        arrays = cached_arrays(store.derived(self.name, layer, **asdict(self.settings), **made_by), self._indexed)
        self._words = arrays["words"].tobytes().decode().split("\n")
        self._matrix = tuple(arrays[name] for name in _CSC)

    def _indexed(self) -> Arrays:
        """What bm25s makes of the passages: what each word adds to the score of each passage, a matrix in compressed
        columns (`data`, `indices`, `indptr`), one for each of the sorted words."""
        import bm25s

        words = [search_terms(passage.content) for passage in self._passages]
        column_of, scores = {}, dict.fromkeys(_CSC, np.zeros(0, dtype=np.float32))
        if any(words):
            made = bm25s.BM25(k1=self.settings.k1, b=self.settings.b, method="lucene")
            made.index(words, show_progress=False)
            column_of, scores = made.vocab_dict, made.scores
        # bm25s orders words by their hashes, which differ between processes
        vocabulary = sorted(filter(None, column_of))
        spans = [slice(*scores["indptr"][column_of[word] :][:2]) for word in vocabulary]
        joined = {
            name: np.concatenate([scores[name][:0], *(scores[name][span] for span in spans)]) for name in _CSC[:2]
        }
        return {
            "words": np.frombuffer("\n".join(vocabulary).encode(), dtype=np.uint8),
            **joined,
            "indptr": np.cumsum([0, *(span.stop - span.start for span in spans)], dtype=np.int64),
        }

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        words = [word for word in search_terms(question) if self._column(word) is not None]
        with trace.span("RETRIEVER", "match words", question=question) as span:
            span.set(words=words)
            scores = self._scores(words)
            best = [row for row in top(scores, k) if scores[row] > 0]
        return Evidence(question, self.label, self.scale, ranked([self._passages[row] for row in best], scores[best]))

    def _column(self, word: str) -> int | None:
        at = bisect_left(self._words, word)
        return at if at < len(self._words) and self._words[at] == word else None

    def _scores(self, words: list[str]) -> np.ndarray:
        """The score of each passage, float32 (n,): bm25s's own sums, without the seconds that it takes to load."""
        data, indices, indptr = self._matrix
        scores = np.zeros(len(self._passages), dtype=np.float32)
        for word in words:
            column = self._column(word)
            span = slice(indptr[column], indptr[column + 1])
            scores[indices[span]] += data[span]
        return scores
