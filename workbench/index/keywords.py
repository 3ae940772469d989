"""Layer `keywords`: the words of the pieces, which pieces hold each, and a vector for each (KET-RAG).

A keyword is a word as it is written, `The` and `the` being two; stop words in lower case and strings of punctuation are
none. Its vector is the mean over its occurrences of the vector of the sentence that holds it, and is not normalised: it
is the shorter, the more diverse the sentences are.

The source splits text by NLTK, whose data has to be downloaded; here spaCy's rules for English do it (sentencizer,
tokenizer and stop words), without a model. They split most languages with spaces as well. Of han and kana, a sentence
ends at its full stop, and a word is every two neighbours (`text.terms`).
"""

from __future__ import annotations

import re
import string
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from workbench.display import tqdm
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.pieces import PiecesLayer
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.vectors import encode_to
from workbench.text import terms

PART = 8000  # words of a sentence that are encoded together
PUNCTUATION = string.punctuation + "、，。！？；：…“”‘’（）「」『』【】《》"  # the source has the first part
BLOCK = 4096  # keywords whose vectors are computed together


class KeywordsLayer(Layer):
    """words    list[str] (w), sorted
    vectors  float32 (w, d), means of unit vectors: not normalised
    held     float32 (w, pieces), csr: 1 where the piece holds the word
    """

    kind = "keywords"
    inputs = ("pieces",)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: KeywordsLayer | None) -> dict:
        pieces: PiecesLayer = build.layers["pieces"]
        occurrences = Occurrences()
        for row, parts in enumerate(tqdm(
            sentence_parts([piece.text for piece in pieces.pieces]), total=len(pieces.pieces), desc="keywords",
            unit="piece", disable=not build.progress,
        )):  # fmt: skip
            for part in parts:
                occurrences.add(row, part)
        texts = list(occurrences.sentences)
        encode_to(folder / "sentences.npy", texts, build, "sentences")
        words, counts, held = occurrences.tables(len(pieces.pieces))
        _write_means(folder / "vectors.npy", counts, map_vectors(folder / "sentences.npy"))
        write_table(folder / "words.parquet", word=np.array(words, dtype=object))
        write_table(folder / "sentences.parquet", text=np.array(texts, dtype=object))
        sp.save_npz(folder / "held.npz", held)
        return {"keywords": len(words), "sentences": len(texts), "edges": held.nnz}

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.words: list[str] = read_table(folder / "words.parquet", strings=("word",))["word"]
        self.vectors = map_vectors(folder / "vectors.npy")
        self.incidence = sp.csr_array(sp.load_npz(folder / "held.npz"))

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        texts = read_table(self.folder / "sentences.parquet", strings=("text",))["text"]
        yield texts, map_vectors(self.folder / "sentences.npy")


_UNSPACED_STOP = re.compile(r"[。！？][”’）」』】》]*(?=\S)")


@cache
def splitter():
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 2**31
    return pipeline


@cache
def stop_words() -> frozenset[str]:
    """spaCy's English stop words, but for clitics such as `'s`, which are none in the source."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(filter(str.isalpha, STOP_WORDS))


def sentences(texts: Sequence[str]) -> Iterator[list[list[str]]]:
    """The sentences of each text, as lists of words and marks in the letters in which they are written."""
    for doc in splitter().pipe(map(_with_gaps, texts)):
        split = ([token.text for token in sentence if not token.is_space] for sentence in doc.sents)
        yield [words for words in split if words]


def _with_gaps(text: str) -> str:
    """A space after each full stop of han and kana, since these have none."""
    return text if text.isascii() else _UNSPACED_STOP.sub(r"\g<0> ", text)


def is_keyword(token: str) -> bool:
    """`''` and `--` are keywords, as in the source: only what occurs in the string of all punctuation marks is not.

    >>> [is_keyword(token) for token in ("The", "the", "1889", "'s", ",", "--", "''")]
    [True, False, True, True, False, True, True]
    """
    return token not in stop_words() and token not in PUNCTUATION


def sentence_parts(texts: list[str]) -> Iterator[list[list[str]]]:
    """Per text the words and marks of each sentence, cut where it is very long."""
    for split in sentences(texts):
        yield [words[start : start + PART] for words in split for start in range(0, len(words), PART)]


class Occurrences:
    """Where keywords occur: how often in which sentence, and in which piece. Equal sentences are one."""

    def __init__(self):
        self.words: dict[str, int] = {}
        self.sentences: dict[str, int] = {}
        self._at = array("q")  # word, sentence, piece, word, …

    def add(self, piece: int, part: list[str]) -> None:
        keywords = [word for token in part for word in terms(token) if is_keyword(word)]
        if not keywords:  # the sentence would be encoded for nothing
            return
        sentence = self.sentences.setdefault(" ".join(part), len(self.sentences))
        for word in keywords:
            self._at.extend((self.words.setdefault(word, len(self.words)), sentence, piece))

    def tables(self, pieces: int) -> tuple[list[str], sp.csr_array, sp.csr_array]:
        """The words, sorted; how often each occurs in each sentence, (w, sentences); 1 where a piece holds it."""
        words = sorted(self.words)
        place = np.empty(len(words), dtype=np.int64)
        place[[self.words[word] for word in words]] = np.arange(len(words))
        word, sentence, piece = np.array(self._at).reshape(-1, 3).T
        counts = _counted(place[word], sentence, (len(words), len(self.sentences)))
        held = _counted(place[word], piece, (len(words), pieces))
        held.data[:] = 1.0
        return words, counts, held


def _counted(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    counts = sp.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    counts.sort_indices()
    return counts


def _write_means(path: Path, counts: sp.csr_array, sentences: np.ndarray) -> None:
    """The mean over the occurrences of each word, block by block, so that never all vectors are in memory."""
    shape = (counts.shape[0], sentences.shape[1])
    if not shape[0]:
        np.save(path, np.zeros(shape, dtype=np.float32))
        return
    means = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    for start in range(0, shape[0], BLOCK):
        block = counts[start : start + BLOCK]
        means[start : start + BLOCK] = (block @ sentences) / block.sum(axis=1)[:, np.newaxis]
    means.flush()
