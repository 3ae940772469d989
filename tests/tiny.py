"""A corpus small enough to be worked out by hand, and an encoder that needs no model."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import numpy as np

from workbench.data import Dataset, Extraction
from workbench.records import Passage, Question


class TinyEncoder:
    """Words and pairs of neighbouring words, hashed into 64 counts: equal texts get equal bits, shared words get close."""

    name = "tiny"
    dimension = 64

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        counts = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for gram in _grams(text):
                counts[row, _bucket(gram)] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([text])[0]


class CountingEncoder(TinyEncoder):
    """A TinyEncoder that remembers every text it was given, and may be told to fail at one of its calls."""

    def __init__(self, fail_at: int | None = None, error: type[BaseException] = RuntimeError):
        self.calls: list[list[str]] = []
        self.fail_at, self.error = fail_at, error

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        if len(self.calls) == self.fail_at:
            raise self.error("injected")
        self.calls.append(list(texts))
        return super().encode(texts)


def _grams(text: str) -> list[str]:
    words = text.lower().split() or [""]
    return words + [f"{left} {right}" for left, right in itertools.pairwise(words)]


def _bucket(gram: str) -> int:
    # With this salt no two of the phrases below share a bucket, so their cosines can be worked out by hand.
    digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8, salt=b"tiny59").digest()
    return int.from_bytes(digest, "big") % TinyEncoder.dimension


PASSAGES = (
    Passage("p1", "Orsby", "Orsby lies on the River Aldra. Nora Whitlock founded the town."),
    Passage("p2", "River Aldra", "The River Aldra flows into Lake Mira."),
    Passage("p3", "Lake Mira", "Lake Mira is fed by the River Aldra. Quell Town Hall overlooks it."),
    Passage("p4", "Nora Whitlock", "Nora Whitlock was born in Orsby."),
    Passage("p5", "Orsby Harbour Pier", "It replaced the Old Orsby Harbour Pier at Orsby on the River Aldra."),
    Passage("p6", "Quell", "The Quell Town Hall stands in Quell."),
    Passage("p7", "東京", "東京 is twinned with Orsby."),
    Passage("p8", "Fog", "Nothing is known of the fog."),
)

# passage id -> (entities, triples), as a model might have written them
EXTRACTIONS = {
    "p1": (["Orsby", "Nora Whitlock"], [("Orsby", "lies on", "River Aldra"), ("Orsby", "founded by", "Nora Whitlock")]),
    # The same fact twice in one passage, in other letters: it counts twice.
    "p2": (["Lake Mira"], [("River Aldra", "flows into", "Lake Mira"), ("river aldra", "flows into", "LAKE MIRA")]),
    "p3": (
        ["Quell Town Hall"],
        [("Lake Mira", "is fed by", "River Aldra"), ("Quell Town Hall", "overlooks", "Lake Mira")],
    ),
    "p4": (["Nora Whitlock"], [("Nora Whitlock", "born in", "Orsby")]),
    # The first fact is also in p1; the second joins two phrases that are near-synonyms.
    "p5": (
        ["Orsby"],
        [("Orsby", "lies on", "River Aldra"), ("Orsby Harbour Pier", "replaced", "Old Orsby Harbour Pier")],
    ),
    # The second triple is a self-loop once normalised.
    "p6": (["Quell"], [("The Quell Town Hall", "stands in", "Quell"), ("Quell", "is", "QUELL!")]),
    # The second subject has neither letter nor digit.
    "p7": (["東京"], [("東京", "is twinned with", "Orsby"), ("…", "is twinned with", "Orsby")]),
    # An entity without a triple is no phrase.
    "p8": (["Fog"], []),
}

QUESTIONS = (
    Question("q1", "Which lake does the river at Orsby flow into?", ("Lake Mira",), "bridge", 2, ("p1", "p2")),
    Question("q2", "Where was the founder of Orsby born?", ("Orsby",), "bridge", 2, ("p1", "p4")),
    Question("q3", "Who painted the fog?", (), "unanswerable", 1, ()),
)


def tiny_dataset() -> Dataset:
    extractions = tuple(
        Extraction(passage_id, tuple(entities), tuple(triples), "by hand")
        for passage_id, (entities, triples) in EXTRACTIONS.items()
    )
    return Dataset("tiny", PASSAGES, QUESTIONS, extractions)
