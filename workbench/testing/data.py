"""Small data sets, an encoder without a model, and indexes of them: the same bytes on every machine."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from workbench.data import Dataset, load
from workbench.index import Index
from workbench.index.building import LAYERS
from workbench.llm.engine import RulesEngine
from workbench.records import Passage
from workbench.registry import register


class HashEncoder:
    """Words and pairs of neighbours, hashed into counts: equal texts have equal vectors, shared words bring them
    closer. As `hash` it is an encoder that an index opens by name."""

    name = "hash"
    dimension = 256
    settings = {"spec": "hash"}
    stored = False  # quicker to count than to look up

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, shape (len(texts), dimension)."""
        counts = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for gram in self.grams(text):
                counts[row, _bucket(gram, self.dimension)] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def grams(self, text: str) -> Iterable[str]:
        """What is counted of a text; at least one."""
        words = text.lower().split() or [""]
        return (*words, *map(" ".join, pairwise(words)))

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        """One unit vector, float32, shape (dimension,)."""
        return self.encode([text])[0]


register(HashEncoder)


def _bucket(gram: str, buckets: int) -> int:
    digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % buckets


@cache
def small_data() -> Dataset:
    """The first 40 passages of the bundled corpus."""
    meridian = load("meridian")
    return replace(meridian, name="small", passages=meridian.passages[:40], questions=())


TINY = (
    Passage("p1", "Orsby", "Orsby lies on the River Aldra. Nora Whitlock founded the town."),
    Passage("p2", "River Aldra", "The River Aldra flows into Lake Mira."),
    Passage("p3", "Lake Mira", "Lake Mira is fed by the River Aldra. Quell Town Hall overlooks it."),
    Passage("p4", "Nora Whitlock", "Nora Whitlock was born in Orsby."),
    Passage("p5", "東京", "東京 is twinned with Orsby."),
    Passage("p6", "Fog", "Nothing is known of the fog."),
)


@cache
def small_index() -> Index:
    """`small_data` with every layer, by the rules and the HashEncoder; built once per process, in about ten seconds.
    Not to be changed by a test."""
    return _built(small_data())


@cache
def tiny_index() -> Index:
    """Six passages: few facts, one passage without any, a phrase in another script."""
    return _built(Dataset("tiny", TINY))


def _built(data: Dataset) -> Index:
    folder = Path(tempfile.mkdtemp(prefix=f"hopscope-{data.name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = {"summaries": {"reduction": "pca"}, "communities": {"min_members": 2}}  # UMAP compiles for a minute
    return Index.build(
        data, RulesEngine(), folder, encoder=HashEncoder(), layers=list(LAYERS), settings=settings, progress=False
    )
