"""The vectors of texts, kept: the same bits for a text whatever was asked before and whatever is asked beside it."""

from __future__ import annotations

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import CountingEncoder, TinyEncoder, tiny_dataset

import workbench as wb
from workbench import threads
from workbench.encoding import CachedEncoder, cached, encoder
from workbench.index import Index
from workbench.reading.compression.similarity import Similarity
from workbench.sparql.proof import similarity_of

QUESTIONS = [question.question for question in wb.load("meridian").questions[::11]]
TEXTS = [*QUESTIONS, "Orsby", "the River Aldra", "東京", "", wb.load("meridian").passages[0].content]


class Instructing(CountingEncoder):
    """Puts the task before a query, and can tell."""

    def as_query(self, text: str, task: str = "") -> str:
        return f"{task}: {text}" if task else text

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([self.as_query(text, task)])[0]


class Untold(CountingEncoder):
    """Puts the task before a query, and cannot tell."""

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([f"{task}: {text}"])[0]


@pytest.fixture(scope="module")
def alone() -> dict[str, bytes]:
    """The bits of each text in a cache that was asked for nothing else."""
    return {text: CachedEncoder(encoder()).encode([text]).tobytes() for text in TEXTS}


def test_a_text_has_the_same_bits_in_any_order_any_company_and_again(alone):
    rng, kept = random.Random(0), CachedEncoder(encoder())
    asked = rng.choices(TEXTS, k=2 * len(TEXTS)) + TEXTS
    while asked:
        part, asked = asked[: (size := rng.randint(1, 9))], asked[size:]
        assert [row.tobytes() for row in kept.encode(part)] == [alone[text] for text in part]
        assert kept.encode_query(part[0], rng.choice(["facts", "passages"])).tobytes() == alone[part[0]]


def test_a_text_has_the_same_bits_for_workers_and_with_any_number_of_threads(alone, monkeypatch):
    kept = CachedEncoder(encoder())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: kept.encode_query(text).tobytes(), TEXTS * 2))
    assert found == [alone[text] for text in TEXTS * 2]
    monkeypatch.setenv("WORKBENCH_THREADS", "1")
    threads.lend(1)
    try:
        assert [encoder().encode([text]).tobytes() for text in TEXTS] == list(alone.values())
    finally:
        monkeypatch.undo()
        threads.lend(threads.cores())


def test_queries_are_kept_by_what_is_encoded():
    told = CachedEncoder(inner := Instructing())
    first = told.encode_query("Orsby", "facts")
    told.encode_query("Orsby", "passages"), told.encode_query("Orsby"), told.encode(["facts: Orsby", "Orsby"])
    assert inner.texts == ["facts: Orsby", "passages: Orsby", "Orsby"]
    assert np.array_equal(first, told.encode(["facts: Orsby"])[0])
    untold = CachedEncoder(inner := Untold())
    for _ in range(2):
        untold.encode_query("Orsby", "facts"), untold.encode_query("Orsby", "passages"), untold.encode(["Orsby"])
    assert inner.texts == ["facts: Orsby", "passages: Orsby", "Orsby"]


def test_what_was_not_asked_for_longest_goes_first():
    size = sys.getsizeof("a") + 64 * 4
    kept = CachedEncoder(inner := CountingEncoder(), limit=2 * size)
    kept.encode(["a", "b"]), kept.encode(["a"]), kept.encode(["c"])  # b goes
    kept.encode(["a", "c"])
    assert inner.texts == ["a", "b", "c"]
    kept.encode(["b"])  # a goes
    kept.encode(["a"])
    assert inner.texts == ["a", "b", "c", "b", "a"]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), max_size=9), st.integers(0, 2000))
def test_it_stays_within_its_limit_and_right(requests, limit):
    kept = CachedEncoder(TinyEncoder(), limit=limit)
    for texts in requests:
        assert np.array_equal(kept.encode(texts), TinyEncoder().encode(texts))
        held = sum(sys.getsizeof(text) + vector.nbytes for (text, _), vector in kept._vectors.items())
        assert held == kept._bytes <= limit


def test_what_it_keeps_cannot_be_written_to():
    class Reusing(TinyEncoder):
        array = np.zeros((1, 64), np.float32)

        def encode(self, texts):
            self.array[:] = super().encode(texts)
            return self.array

    kept = CachedEncoder(Reusing())
    first = kept.encode_query("a")
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7
    found = kept.encode(["a", "b"])
    found[:] = 7
    Reusing.array[:] = 7
    assert np.array_equal(kept.encode(["a", "b"]), TinyEncoder().encode(["a", "b"]))
    assert np.array_equal(first, TinyEncoder().encode(["a"])[0])


def test_what_is_kept_is_given_while_another_text_is_encoded():
    begun, go_on = threading.Event(), threading.Event()

    class Slow(TinyEncoder):
        def encode(self, texts):
            if "slow" in texts:
                begun.set()
                assert go_on.wait(10)
            return super().encode(texts)

    kept = CachedEncoder(Slow())
    kept.encode(["quick"])
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.encode, ["slow"])
        assert begun.wait(10)
        kept.encode(["quick"])
        go_on.set()
        assert np.array_equal(waiting.result(), TinyEncoder().encode(["slow"]))


def test_all_that_hold_an_encoder_share_one_cache(tmp_path):
    inner = CountingEncoder()
    one = Index.build(tiny_dataset(), folder=tmp_path / "index", encoder=inner, progress=False)
    other = Index.open(tmp_path / "index", inner)
    compressor = Similarity(encoder=inner)
    other.encode([])  # which first looks whether it is the encoder of the index
    inner.calls.clear()
    one.encode(["Which lake?"])
    other.encode(["Which lake?"]), similarity_of(other).vectors(["Which lake?", "Orsby"])
    compressor._similarities("Why?", ["Which lake?"])
    assert inner.texts == ["Which lake?", "Why?"]  # Orsby is a phrase of the index
    assert cached(cached(inner)) is cached(inner) is not cached(CountingEncoder())
