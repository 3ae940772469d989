"""Layer `relations`: the names of the relations between phrases, and of their inverses, each with a vector (GFM-RAG).

The relation that joins synonyms, `equivalent`, is one of them. Entities have no vectors here: a model that passes
messages knows an entity by its place in the graph alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from workbench.index.facts import FactsLayer
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.vectors import encode_to

SYNONYM = "equivalent"
INVERSE = "inverse_"  # the prefix of release 1.0; published weights know an inverse relation by the vector of this name
_PARTS = {"relations": "", "inverse": INVERSE}  # file → prefix of the names


def relation_name(names: Sequence[str], row: int) -> str:
    """The name of a relation, or of the inverse that stands len(names) rows further on."""
    return names[row] if row < len(names) else INVERSE + names[row - len(names)]


class RelationsLayer(Layer):
    """Rows of `names` are sorted: the distinct relations of the facts, and `equivalent`.

    names              list[str], R
    vectors            float32 (R, d); `inverse_vectors` float32 (R, d): of "inverse_" + name
    """

    kind = "relations"
    inputs = ("facts",)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: RelationsLayer | None) -> dict:
        facts: FactsLayer = build.layers["facts"]
        names = sorted({relation for _, relation, _ in facts.facts} | {SYNONYM})
        for label, prefix in _PARTS.items():
            encode_to(folder / f"{label}.npy", [prefix + name for name in names], build, label)
        write_table(folder / "names.parquet", name=names)
        return {"relations": len(names)}

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.names: list[str] = read_table(folder / "names.parquet", strings=("name",))["name"]
        self.vectors = map_vectors(folder / "relations.npy")
        self.inverse_vectors = map_vectors(folder / "inverse.npy")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        for prefix, vectors in zip(_PARTS.values(), (self.vectors, self.inverse_vectors)):
            yield [prefix + name for name in self.names], vectors

    @cached_property
    def row(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    @property
    def features(self) -> np.ndarray:
        """The features of the relations, then those of their inverses in the same order: float32 (2R, d)."""
        return np.concatenate([self.vectors, self.inverse_vectors])
