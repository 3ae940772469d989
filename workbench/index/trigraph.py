"""Layer `trigraph`: entities, sentences and passages without relations (LinearRAG): which sentence mentions which
entity, which passage contains it, and a vector for each entity and for each sentence that mentions one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.mentions import MentionsLayer
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.vectors import encode_to

_TEXTS, _MATRICES = ("entities", "sentences"), ("mention", "contain")


class TriGraphLayer(Layer):
    """entities   list[str] (e), sorted; `entity_vectors` float32 (e, d)
    sentences  list[str] (s), those that mention an entity; `sentence_vectors` float32 (s, d)
    mention    float32 (s, e), csr: M, 1 where the sentence mentions the entity
    contain    float32 (p, e), csr: how often the passage mentions the entity; C is where it does
    """

    kind = "trigraph"
    inputs = ("passages", "mentions")

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: TriGraphLayer | None) -> dict:
        mentions: MentionsLayer = build.layers["mentions"]
        contain = mentions.of_passages(len(build.layers["passages"].passages))[:, mentions.named]
        mention = mentions.counts[:, mentions.named]
        mentioning = np.diff(mention.indptr) > 0
        mention = mention[mentioning]
        mention.data[:] = 1.0
        entities = [mentions.names[row] for row in np.flatnonzero(mentions.named)]
        sentences = [mentions.sentences[row] for row in np.flatnonzero(mentioning)]
        for name, texts in zip(_TEXTS, (entities, sentences)):
            write_table(folder / f"{name}.parquet", text=np.array(texts, dtype=object))
            encode_to(folder / f"{name}.npy", texts, build, name)
        for name, matrix in zip(_MATRICES, (mention, contain)):
            sp.save_npz(folder / f"{name}.npz", matrix)
        return {"entities": len(entities), "sentences": len(sentences), "mentions": mention.nnz}

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.entities, self.sentences = (
            read_table(folder / f"{name}.parquet", strings=("text",))["text"] for name in _TEXTS
        )
        self.entity_vectors, self.sentence_vectors = (map_vectors(folder / f"{name}.npy") for name in _TEXTS)
        self.mention, self.contain = (sp.csr_array(sp.load_npz(folder / f"{name}.npz")) for name in _MATRICES)

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield self.entities, self.entity_vectors
        yield self.sentences, self.sentence_vectors
