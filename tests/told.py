"""An encoder and a tagger that are told what they say, so that graphs and cosines can be worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest

from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.index import mentions as layer
from workbench.language.mentions import Mention
from workbench.records import Passage

Facts = Mapping[str, Sequence[tuple[str, str, str]]]
QUESTION = (1.0, 0.0, 0.0)


class ToldEncoder:
    """Texts whose cosine with a question is told; that of all others is 0."""

    name, dimension, stored = "told", 3, False

    def __init__(self, cosines: Mapping[str, float] = {}):
        self.cosines = cosines

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        cosines = np.array([self.cosines.get(text, 0.0) for text in texts], dtype=np.float32)
        return np.stack([cosines, np.sqrt(1 - cosines**2), np.zeros_like(cosines)], axis=1)

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return np.array(QUESTION, dtype=np.float32)


def mentions(texts: Sequence[str]) -> Iterator[list[tuple[str, list[Mention]]]]:
    """A sentence ends at a full stop; capitals are named entities, small letters that stand alone are nouns."""
    for text in texts:
        sentences = [part.strip() for part in text.split(".") if part.strip()]
        yield [(one, [Mention(n.lower(), n.isupper()) for n in re.findall(r"\b\w\b", one)]) for one in sentences]


def mentioned(text: str) -> list[Mention]:
    return list(dict.fromkeys(one for (sentence,) in [[*mentions([text])]] for _, held in sentence for one in held))


def tagged(monkeypatch: pytest.MonkeyPatch, *methods: object) -> None:
    """Let the layer, and these modules of methods, read mentions as told."""
    monkeypatch.setattr(layer, "mentions", mentions)
    for module in methods:
        monkeypatch.setattr(module, "mentioned", mentioned)


def index_of(
    folder, cosines: Mapping[str, float], layers: Sequence[str], settings=None, facts: Facts | None = None, **texts: str
) -> Index:
    """Of passages by id with these texts, or of passages that state these facts and have their ids for texts."""
    found = tuple(Extraction(name, (), tuple(some), "by hand") for name, some in (facts or {}).items())
    texts = texts or {name: name for name in facts}
    data = Dataset("told", tuple(Passage(name, "", text) for name, text in texts.items()), extractions=found or None)
    how = {"layers": layers, "settings": settings or {}, "progress": False}
    return Index.build(data, None, folder, encoder=ToldEncoder(cosines), **how)
