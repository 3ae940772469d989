"""Texts to vectors: a vector belongs to its text, whatever stands beside it in a batch."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.encoding import SentenceEncoder, encoder
from workbench.encoding.models import _packaged_minilm, batches
from workbench.errors import SettingError

TEXTS = [passage.content for passage in wb.load("meridian").passages[:12]]
SCRIPTS = ["Râul Drava", "東京は日本の首都", "नदी", "نهر", "Двина", "🏳\ufe0f\u200d🌈"]


@pytest.fixture(scope="module")
def minilm() -> SentenceEncoder:
    return encoder()


@pytest.fixture(scope="module")
def vectors(minilm) -> np.ndarray:
    return minilm.encode(TEXTS)


def test_order_is_kept_and_a_vector_does_not_depend_on_its_batch(minilm, vectors):
    shuffled = random.Random(1).sample(range(len(TEXTS)), len(TEXTS))
    assert np.allclose(minilm.encode([TEXTS[row] for row in shuffled]), vectors[shuffled], atol=1e-5)
    assert np.allclose(minilm.encode(TEXTS[3:4]), vectors[3:4], atol=1e-5)
    assert np.allclose(minilm.encode([*SCRIPTS, *TEXTS[:2]])[-2:], vectors[:2], atol=1e-5)


def test_a_repeated_text_is_encoded_once(minilm, monkeypatch):
    seen: list[str] = []
    tokenise = minilm._token_ids
    monkeypatch.setattr(minilm, "_token_ids", lambda texts: seen.extend(texts) or tokenise(texts))
    found = minilm.encode(["b", "a", "b", "b"])
    assert seen == ["b", "a"]
    assert np.array_equal(found[0], found[2]) and np.array_equal(found[0], found[3])
    assert not np.allclose(found[0], found[1])


def test_a_very_long_text_is_cut_at_max_tokens(minilm):
    beginning = "river " * 254  # with the two special tokens that makes 256
    long, cut = minilm.encode([beginning + "lake mountain " * 20_000, beginning])
    assert np.allclose(long, cut, atol=1e-5)
    short = encoder(max_tokens=16).encode(["river " * 14 + "lake", "river " * 14])
    assert np.allclose(short[0], short[1], atol=1e-5)


def test_the_packaged_model_has_the_bits_of_sentence_transformers(minilm):
    """With and without padding, on one thread and on more; ids of tokens and places of parts as well."""
    from workbench.encoding import models

    library = SentenceEncoder("minilm")
    library.__dict__["_transformer"] = models.load(
        "minilm", str(_packaged_minilm()), device="cpu", dtype="float32", max_tokens=library.max_tokens, pooling=None,
        remote_code=False, offline=True,
    )  # fmt: skip
    odd = ["", " ", "[SEP] [MASK] x [PAD]", "沙湖桥 1889年 Über naïve", "\x00\x01 tab\t\n", "क्षत्रिय", "word " * 600]
    texts = [*TEXTS, *odd]
    assert minilm._token_ids(texts) == library._token_ids(texts) and minilm.dimension == library.dimension
    assert np.array_equal(minilm.encode(texts), library.encode(texts))
    for text in texts:
        assert np.array_equal(minilm.encode([text]), library.encode([text]))
        parts = [(0, 4), (3, 9), (5_000, 5_001)]
        assert np.array_equal(minilm.encode_parts(text, parts), library.encode_parts(text, parts))


def test_a_spec_names_an_encoder_which_is_loaded_once():
    assert encoder("minilm") is encoder()
    assert encoder("minilm[dtype=bfloat16]") is encoder(dtype="bfloat16")
    with pytest.raises(SettingError, match="dtype, max_tokens, instruction"):
        encoder("minilm[size=3]")


def test_an_instruction_is_put_before_queries_alone(minilm, vectors):
    asking = encoder(instruction="Instruct: {task}\nQuery: {query}")
    asking.__dict__["_transformer"] = minilm._transformer  # the same model need not be loaded twice
    assert np.allclose(asking.encode(TEXTS[:1]), vectors[:1], atol=1e-5)
    query = asking.encode_query("Which {river}?", "find facts")
    assert np.allclose(query, minilm.encode(["Instruct: find facts\nQuery: Which {river}?"])[0], atol=1e-5)
    plain = minilm.encode_query("Which {river}?", "find facts")
    assert np.allclose(plain, minilm.encode(["Which {river}?"])[0], atol=1e-5)


def test_what_cannot_be_loaded_says_what_can():
    with pytest.raises(SettingError, match="float32, bfloat16"):
        SentenceEncoder(dtype="float16")
    with pytest.raises(SettingError, match=r"'/no/such/model' could not be loaded.*'minilm', which comes with"):
        SentenceEncoder("/no/such/model").encode(["x"])


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 1000))
def test_batches_hold_every_row_once_within_the_budget(lengths, budget):
    made = batches(lengths, budget)
    assert sorted(row for batch in made for row in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= budget
    order = [lengths[row] for batch in made for row in batch]
    assert order == sorted(order, reverse=True)


def test_a_part_of_a_text_is_understood_where_it_stands(minilm):
    house = [
        minilm.encode_parts(text, [(text.index("house"), text.index("house") + 5)])[0]
        for text in ("the opera house where she sang", "the house of lords voted", "an opera was given at the house")
    ]
    assert house[0] @ house[2] > house[0] @ house[1]


def test_parts_are_unit_vectors_and_those_that_are_not_read_are_0(minilm):
    text = "word " * 1000
    vectors = minilm.encode_parts(text, [(0, 4), (3, 3), (4_990, 4_994)])
    assert vectors.shape == (3, minilm.dimension) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0], abs=1e-5)
    assert minilm.encode_parts(text, []).shape == (0, minilm.dimension)
