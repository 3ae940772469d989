"""Layer `synonyms`: pairs of phrases whose vectors are close (HippoRAG 2).

Exact cosine neighbours, block by block, each pair computed once; above `exact_up_to` phrases, those that an approximate
search finds (`approximate.py`). On a rebuild, a phrase that was there before keeps its
list: what was deleted is taken out, new phrases are merged in; only a list that had reached the cap and lost a member
is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench import threads
from workbench.index import approximate
from workbench.index.facts import FactsLayer
from workbench.index.layer import Build, Layer
from workbench.index.store import read_columns, read_table, write_table
from workbench.settings import Natural, Number, Positive, validated
from workbench.spread import spread
from workbench.text import neighbours

BLOCK = 512  # rows of one matrix product


@validated
class Settings:
    """The released code's defaults: neighbours of cosine `threshold` or more among the `k` nearest (itself counted), at
    most `cap`; a phrase of fewer than `min_characters` letters and digits starts no edge, but may end one. Of
    han and kana, two characters are as many as three letters: most names of people and places have no more.

    All pairs are compared where they are no more than those of `exact_up_to` phrases. Of more, FAISS finds the pairs,
    and the manifest says with which recall."""

    threshold: Number = 0.8
    k: Positive = 2047
    cap: Natural = 101
    min_characters: Natural = 3
    exact_up_to: Natural = 200_000

    @property
    def limit(self) -> int:
        return min(self.k - 1, self.cap)


class SynonymsLayer(Layer):
    """Directed entries: `sources`, `targets` (phrase rows) and `similarities`, sorted by source, then best first."""

    kind = "synonyms"
    inputs = ("facts",)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: SynonymsLayer | None) -> dict:
        facts: FactsLayer = build.layers["facts"]
        same_settings = old is not None and old.metadata["settings"] == asdict(settings)
        reused = _reused(old if same_settings else None, facts, settings)
        new = np.flatnonzero(~reused.whole)
        if len(new) * len(facts.phrases) <= settings.exact_up_to**2:
            pairs, metadata = close_pairs(facts.phrase_vectors, new, settings.threshold, progress=build.progress), {}
        else:
            pairs, metadata = approximate.close_pairs(
                facts.phrase_vectors, new, settings.threshold, settings.limit, progress=build.progress
            )
            metadata = {"approximate": metadata}
        pairs = pairs[:, _holds(pairs[0], facts, lambda phrase: _starts(phrase, settings))]
        pairs = pairs[:, _holds(pairs[1], facts, bool)]
        sources, targets, similarities = np.concatenate([reused.pairs, pairs], axis=1)
        sources, targets = sources.astype(np.int64), targets.astype(np.int64)
        similarities = similarities.astype(np.float32)
        order = np.lexsort((targets, -similarities, sources))
        sources, targets, similarities = sources[order], targets[order], similarities[order]
        first = rank_in_group(sources) < settings.limit
        write_table(
            folder / "table.parquet",
            source=sources[first].astype(np.int32),
            target=targets[first].astype(np.int32),
            similarity=similarities[first],
        )
        write_table(folder / "phrases.parquet", phrase=facts.phrase_column)
        return {"entries": int(first.sum()), "compared": len(new), **metadata}

    def __init__(self, folder: Path):
        super().__init__(folder)
        table = read_table(folder / "table.parquet")
        self.sources, self.targets, self.similarities = table["source"], table["target"], table["similarity"]
        # Arrow's, which is compact: the phrases that the rows meant when this layer was built.
        self.phrase_column = read_columns(folder / "phrases.parquet")["phrase"]

    def phrases(self) -> list[str]:
        return self.phrase_column.to_pylist()


def close_pairs(vectors: np.ndarray, queries: np.ndarray, threshold: float, *, progress: bool = False) -> np.ndarray:
    """All (source, target, cosine) of at least `threshold` in which source or target is one of the rows `queries`.

    float64, shape (3, n); both directions of a pair are there, a row with itself is not. Work: |queries| x n products,
    half of that when all rows are queries. The blocks are always whole: a thin product has other last bits than a large
    one, and on a rebuild these would decide anew between equals and at the threshold.
    """
    from workbench.display import tqdm

    starts, parts = range(0, len(queries), BLOCK), [np.zeros((3, 0))]
    products = _Products(vectors, None if len(queries) == len(vectors) else queries, threshold)
    with tqdm(total=len(queries), desc="synonyms", unit="phrase", disable=not progress or not len(queries)) as bar:
        for start, pairs in zip(starts, spread(starts, products)):
            parts += [pairs, pairs[[1, 0, 2]]]
            bar.update(min(BLOCK, len(queries) - start))
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class _Products:
    """Called with the start of a block of queries, it gives the close pairs of the block with what stands behind it.
    `queries` are None if all rows are."""

    vectors: np.ndarray
    queries: np.ndarray | None
    threshold: float

    def __getstate__(self) -> dict:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # the copy of the vectors stays here

    @cached_property
    def _columns(self) -> np.ndarray:
        """Queries first: each block of them is compared with the rows after it, so that no pair occurs twice."""
        if self.queries is None:
            return np.arange(len(self.vectors))
        others = np.ones(len(self.vectors), dtype=bool)
        others[self.queries] = False
        return np.concatenate([self.queries, np.flatnonzero(others)])

    @cached_property
    def _keys(self):
        import torch

        threads.settle_torch()
        keys = torch.zeros((-(-len(self._columns) // BLOCK) * BLOCK, self.vectors.shape[1]))
        keys[: len(self._columns)] = torch.from_numpy(self.vectors[self._columns])
        return keys

    def __call__(self, start: int) -> np.ndarray:
        import torch

        keys, columns, threshold = self._keys, self._columns, self.threshold
        rows_asked = len(columns if self.queries is None else self.queries)
        products = keys[start : start + BLOCK] @ keys[start:].T
        row, column = (index.numpy() for index in torch.nonzero(products >= threshold, as_tuple=True))
        values = products[row, column].numpy().astype(np.float64)
        above = column > row  # the part before the diagonal repeats pairs of this block
        above &= (row < rows_asked - start) & (column < len(columns) - start)
        return np.stack([columns[start + row[above]], columns[start + column[above]], values[above]])


@dataclass
class _Reused:
    pairs: np.ndarray  # (3, n): entries of the old layer in new rows
    whole: np.ndarray  # bool per phrase: its list among the old phrases is complete


def _reused(old: SynonymsLayer | None, facts: FactsLayer, settings: Settings) -> _Reused:
    import pyarrow.compute as pc

    if old is None:
        return _Reused(np.zeros((3, 0)), np.zeros(len(facts.phrases), dtype=bool))
    before, now = (column.cast(pa.string()) for column in (old.phrase_column, facts.phrase_column))  # null where empty
    row = pc.fill_null(pc.index_in(before, now), -1).to_numpy().astype(np.int64)
    sources, targets = row[old.sources], row[old.targets]
    alive = (sources >= 0) & (targets >= 0)
    reached_cap = np.bincount(old.sources, minlength=len(row)) >= settings.limit
    lost = np.zeros(len(row), dtype=bool)
    lost[old.sources[targets < 0]] = True
    whole = np.zeros(len(facts.phrases), dtype=bool)
    whole[row[(row >= 0) & ~(reached_cap & lost)]] = True
    alive[alive] = whole[sources[alive]] & whole[targets[alive]]  # pairs of the others are searched again
    return _Reused(np.stack([sources[alive], targets[alive], old.similarities[alive].astype(np.float64)]), whole)


def _holds(rows: np.ndarray, facts: FactsLayer, test: Callable[[str], bool]) -> np.ndarray:
    """Whether the phrase of each row passes the test, bool."""
    rows, place = np.unique(rows.astype(np.int64), return_inverse=True)
    passed = np.array([test(facts.phrases[row]) for row in rows.tolist()], dtype=bool)
    return passed[place]


def _starts(phrase: str, settings: Settings) -> bool:
    return sum(map(str.isalnum, phrase)) + len(neighbours(phrase)) >= settings.min_characters


def rank_in_group(groups: Sequence[int] | np.ndarray) -> np.ndarray:
    """Position of each element within its run of equal values; `groups` is sorted."""
    groups = np.asarray(groups)
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    return np.arange(len(groups)) - np.repeat(begins, np.diff(np.r_[begins, len(groups)]))
