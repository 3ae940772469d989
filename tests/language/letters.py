"""An encoder without a model for any script: pairs of neighbouring letters, hashed into counts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from workbench.registry import register
from workbench.testing import HashEncoder


class LetterEncoder(HashEncoder):
    """Texts are close that share pairs of letters; as `letters` an index opens it by name."""

    name = "letters"
    dimension = 512
    settings = {"spec": "letters"}

    def grams(self, text: str) -> Iterable[str]:
        return map("".join, pairwise(f" {text.casefold()} "))


register(LetterEncoder)
