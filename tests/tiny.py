"""A corpus small enough to be worked out by hand, an encoder and an engine without a model, ways to compare indexes."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.llm.meter import Meter
from workbench.llm.step import Result, Step, Usage
from workbench.records import Passage, Question
from workbench.trace import Trace


class TinyEncoder:
    """Words and pairs of neighbours, hashed into 64 counts: equal texts get equal bits, shared words bring closer."""

    name = "tiny"
    dimension = 64
    stored = False

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        counts = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for gram in _grams(text):
                counts[row, _bucket(gram)] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([text])[0]


class CountingEncoder(TinyEncoder):
    """A TinyEncoder that stands for one that costs: its vectors are stored. It remembers every text it was given, and
    may be told to fail at one of its calls."""

    stored = True

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
    # The same fact twice in one passage, in other letters: it counts once.
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


class TinyEngine:
    """Names are the capitalised words of a text, and each is followed by the next; every call is remembered.

    It may be told to break off at one of its calls, or to give no result for passages of some titles.
    """

    name = "tiny"

    def __init__(
        self, fail_at: int | None = None, error: type[BaseException] = RuntimeError, fails_on: Sequence[str] = ()
    ):
        self.meter = Meter()
        self.calls: list[tuple[str, list[str]]] = []  # (step, titles)
        self.fail_at, self.error, self.fails_on = fail_at, error, fails_on

    @property
    def asked(self) -> list[str]:
        """Titles of the passages whose triples were asked for."""
        return [title for step, titles in self.calls if step == "triples" for title in titles]

    def run(self, step: Step, inputs: Sequence, *, trace: Trace | None = None) -> list[Result]:
        if len(self.calls) == self.fail_at:
            raise self.error("injected")
        self.calls.append((step.name, [value.title for value in inputs]))
        return [self._answer(step, value) for value in inputs]

    def _answer(self, step: Step, value) -> Result:
        if value.title in self.fails_on:
            return Result(None, failure="told to fail")
        if step.name == "named_entities":
            return Result(step.output(named_entities=re.findall(r"[A-Z]\w+(?: [A-Z]\w+)*", value.text)))
        return Result(step.output(triples=[[a, "is followed by", b] for a, b in itertools.pairwise(value.entities)]))


class PaidEngine(TinyEngine):
    """A model: every request has 100 tokens, every answer 10, takes half a second and costs a cent."""

    def __init__(self, name: str = "openai:one", **settings):
        super().__init__(**settings)
        self.name = name

    def run(self, step: Step, inputs: Sequence, *, trace: Trace | None = None) -> list[Result]:
        found = super().run(step, inputs, trace=trace)
        for _ in found:
            self.meter.add(step.name, Usage(1, 100, 10, seconds=0.5, money=0.01))
        return found


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its relative path, but for the bill of an index, which has seconds
    (`tests/index/test_index_usage.py`)."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if Path(name).name != "usage.jsonl"}


def same_content(left: Index, right: Index) -> bool:
    """Whether two indexes hold the same, row by row, whatever the way they were made."""
    return (
        left.passages.passages == right.passages.passages
        and left.extractions.records == right.extractions.records
        and (left.facts.phrases, left.facts.facts) == (right.facts.phrases, right.facts.facts)
        and all(map(np.array_equal, left.facts.stated, right.facts.stated))
        and np.array_equal(left.synonyms.sources, right.synonyms.sources)
        and np.array_equal(left.synonyms.targets, right.synonyms.targets)
        and all(
            np.allclose(a, b, atol=1e-6)
            for a, b in (
                (left.passages.vectors, right.passages.vectors),
                (left.facts.phrase_vectors, right.facts.phrase_vectors),
                (left.facts.fact_vectors, right.facts.fact_vectors),
                (left.synonyms.similarities, right.synonyms.similarities),
            )
        )
    )
