"""Layer `mentions`: the sentences of the passages, and what each mentions: named entities and other nouns (LinearRAG,
E²GraphRAG).

spaCy's small English pipeline splits and names; no model is asked. The title of a passage is a sentence of its own. A
name is a normalised string, as a phrase of the facts is; a word that is a named entity anywhere counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from workbench.display import tqdm
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.passages import PassagesLayer
from workbench.index.store import read_table, write_table
from workbench.language.mentions import Mention, mentions
from workbench.records import Passage

BLOCK = 64  # passages that are parsed together


class MentionsLayer(Layer):
    """sentences  list[str] (s), in the order of the corpus; `passage` int (s), the row of each one's passage
    names      list[str] (t), sorted; `named` bool (t): those that are named entities
    counts     float32 (s, t), csr: how often a sentence mentions a name
    """

    kind = "mentions"
    inputs = ("passages",)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: MentionsLayer | None) -> dict:
        passages: PassagesLayer = build.layers["passages"]
        texts, passage, held = [], [], []
        for row, sentences in enumerate(_sentences(passages.passages, build.progress)):
            texts += [text for text, _ in sentences]
            held += [in_sentence for _, in_sentence in sentences]
            passage += [row] * len(sentences)
        names = sorted({mention.name for in_sentence in held for mention in in_sentence})
        named = {mention.name for in_sentence in held for mention in in_sentence if mention.named}
        counts = _counted(held, names)
        write_table(folder / "sentences.parquet", text=np.array(texts, dtype=object), passage=np.array(passage, "i4"))
        write_table(
            folder / "names.parquet", name=np.array(names, dtype=object), named=np.array([n in named for n in names])
        )
        sp.save_npz(folder / "counts.npz", counts)
        return {"sentences": len(texts), "entities": len(named), "nouns": len(names) - len(named)}

    def __init__(self, folder: Path):
        super().__init__(folder)
        sentences = read_table(folder / "sentences.parquet", strings=("text",))
        names = read_table(folder / "names.parquet", strings=("name",))
        self.sentences: list[str] = sentences["text"]
        self.passage: np.ndarray = sentences["passage"]
        self.names: list[str] = names["name"]
        self.named: np.ndarray = names["named"].astype(bool)
        self.counts = sp.csr_array(sp.load_npz(folder / "counts.npz"))

    def of_passages(self, passages: int) -> sp.csr_array:
        """How often each passage mentions a name: float32 (passages, t)."""
        ones, sentences = np.ones(len(self.passage), np.float32), np.arange(len(self.passage))
        return sp.csr_array((ones, (self.passage, sentences)), shape=(passages, len(self.passage))) @ self.counts

    def __repr__(self) -> str:
        return f"MentionsLayer({len(self.sentences):,} sentences, {len(self.names):,} names)"


def _sentences(passages: Sequence[Passage], progress: bool) -> Iterator[list[tuple[str, list[Mention]]]]:
    """The sentences of each passage, its title first, with what they mention."""
    starts = range(0, len(passages), BLOCK)
    for start in tqdm(starts, "mentions", unit="block", disable=not progress):
        block = passages[start : start + BLOCK]
        parsed = iter(mentions([text for passage in block for text in (passage.title, passage.text)]))
        yield from (title + text for title, text in zip(parsed, parsed))


def _counted(held: Sequence[Sequence[Mention]], names: Sequence[str]) -> sp.csr_array:
    place = {name: column for column, name in enumerate(names)}
    columns = [place[mention.name] for in_sentence in held for mention in in_sentence]
    rows = np.repeat(np.arange(len(held)), [len(in_sentence) for in_sentence in held])
    counts = sp.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(held), len(names))).tocsr()
    counts.sort_indices()
    return counts
