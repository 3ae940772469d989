"""An index names its encoder, and vectors of another one never come beside its own."""

from __future__ import annotations

import numpy as np
import pytest
from tiny import CountingEncoder, TinyEncoder, TinyEngine

from workbench.encoding import ENCODERS, encoder
from workbench.errors import IndexFault
from workbench.index import Index
from workbench.records import Passage
from workbench.registry import register


class Wide(TinyEncoder):
    """Another model under the name of the first, with vectors of 65 dimensions."""

    dimension = 65


def test_settings_that_change_vectors_are_part_of_the_name_and_no_others():
    local = ("a/b", *(f"a/b[{one}]" for one in ("max_tokens=9", "pooling=cls", "dtype=bfloat16", "instruction=e5")))
    asked = ("openai:m", "openai:m[dimensions=3]", "openai:m[max_tokens=3]", "openai:m[instruction=e5]")
    assert len({encoder(spec).name for spec in (*local, "a/b[passage=e5]", *asked)}) == 10
    same = ("a/b[device=cuda]", "a/b[batch_tokens=9]", "a/b[remote_code=true]", "a/b[offline=true]")
    assert {encoder(spec).name for spec in same} == {encoder("a/b").name}
    same = ("@http://127.0.0.1:1/v1", "[batch_size=1]", "[batch_tokens=9]", "[concurrency=1]", "[timeout=1]")
    assert {encoder(f"openai:m{more}").name for more in same} == {"openai:m"}


def test_another_dimension_under_the_same_name_is_refused_when_a_question_is_asked(tiny_index):
    opened = Index.open(tiny_index.folder, Wide())
    with pytest.raises(IndexFault, match=r"'tiny' gives vectors of 65 dimensions, and those of .* have 64"):
        opened.encode_query("Which lake?")
    with pytest.raises(IndexFault, match="65 dimensions"):
        opened.encode(["Which lake?"])
    assert Index.open(tiny_index.folder, TinyEncoder()).encode_query("Which lake?").shape == (64,)


class Exchanged(TinyEncoder):
    """Another model under the name of the first, with vectors as long as its."""

    def encode(self, texts):
        return np.roll(super().encode(texts), 7, axis=1)


def test_other_vectors_under_the_same_name_are_refused(tiny_index):
    opened, before = Index.open(tiny_index.folder, Exchanged()), dict(tiny_index.manifest)
    with pytest.raises(IndexFault, match="'tiny' computes another vector for a text than the index holds"):
        opened.encode_query("Which lake?")
    with pytest.raises(IndexFault, match="two models have the same name"):
        opened.insert([Passage("p9", "New", "New.")], TinyEngine(), progress=False)
    assert Index.open(tiny_index.folder).manifest == before


def test_a_stopped_build_of_another_dimension_begins_anew(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.index.vectors.BLOCK_CHARACTERS", 50)
    with pytest.raises(RuntimeError):
        Index.build(tiny, None, tmp_path / "index", encoder=CountingEncoder(3), layers=["passages"], progress=False)
    index = Index.build(tiny, None, tmp_path / "index", encoder=Wide(), layers=["passages"], progress=False)
    assert index.passages.vectors.shape == (8, 65) and np.isfinite(index.passages.vectors).all()
    assert np.array_equal(index.passages.vectors, Wide().encode([one.content for one in tiny.passages]))


def test_an_encoder_that_is_loaded_by_name_and_is_another_by_now_is_refused(tiny, tmp_path, registries):
    class Renamed(TinyEncoder):
        name = "town"
        settings = {"spec": "town"}

    register(Renamed)
    index = Index.build(tiny, None, tmp_path / "index", encoder="town", layers=["passages"], progress=False)
    assert type(Index.open(index.folder).encoder) is Renamed
    del ENCODERS["town"]
    register(type("Later", (Renamed,), {"name": "town v2"}), name="town")
    with pytest.raises(IndexFault, match="was encoded by 'town', not by 'town v2'"):
        Index.open(index.folder).encode_query("Which lake?")
