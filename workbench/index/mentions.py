"""Layer `mentions`: the sentences of the passages, and what each mentions: named entities and other nouns (LinearRAG,
E²GraphRAG).

spaCy's small English pipeline splits and names; no model is asked. The title of a passage is a sentence of its own. A
name is a normalised string, as a phrase of the facts is; a word that is a named entity anywhere counts as one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from workbench.display import tqdm
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.store import read_table, write_table
from workbench.language.mentions import mentions


class MentionsLayer(Layer):
    """sentences  list[str] (s), in the order of the corpus; `passage` int (s), the row of each one's passage
    names      list[str] (t), sorted; `named` bool (t): those that are named entities
    counts     float32 (s, t), csr: how often a sentence mentions a name
    """

    kind = "mentions"
    inputs = ("passages",)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: MentionsLayer | None) -> dict:
        passages = build.layers["passages"].passages
        parsed = mentions([text for passage in passages for text in (passage.title, passage.text)])
        texts, passage, held = [], [], []
        for row in tqdm(range(len(passages)), "mentions", unit="passage", disable=not build.progress):
            for text, in_sentence in next(parsed) + next(parsed):
                held += [(len(texts), mention) for mention in in_sentence]
                texts.append(text)
                passage.append(row)
        names = sorted({mention.name for _, mention in held})
        named = {mention.name for _, mention in held if mention.named}
        column = {name: at for at, name in enumerate(names)}
        at = [sentence for sentence, _ in held], [column[mention.name] for _, mention in held]
        counts = sp.coo_array((np.ones(len(held), np.float32), at), shape=(len(texts), len(names))).tocsr()
        counts.sort_indices()
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
