"""An encoder without a model for any script: pairs of neighbouring letters, hashed into counts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from workbench.registry import register


class LetterEncoder:
    """Texts are close that share pairs of letters; as `letters` an index opens it by name."""

    name = "letters"
    dimension = 512
    settings = {"spec": "letters"}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        counts = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for pair in map("".join, pairwise(f" {text.casefold()} ")):
                counts[row, _bucket(pair, self.dimension)] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([text])[0]


register(LetterEncoder)


def _bucket(pair: str, buckets: int) -> int:
    return int.from_bytes(hashlib.blake2b(pair.encode(), digest_size=8).digest(), "big") % buckets
