"""The ball around the entities of a question."""

from __future__ import annotations

import pytest
from films import ENTITIES, RELATIONS, film_index

import workbench as wb

COSINES = {
    **{f"text of p{at}": 0.1 * at for at in range(1, 8)},
    "directed_by": 0.0, "written_by": 0.0, "has_genre": 0.0, "remake_of": 0.0,
    "about Dune Fever": 0.3,
    "about Bo Dahl": 0.5,
    "about Salt": 0.7,
    "about Rust": 0.8,
    "about Ada Lind": 0.1,
    "about Drama": 0.2,
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return film_index(tmp_path_factory.mktemp("films"), COSINES)


def found(index, question="Who wrote it with Ada Lind?", k=9, **settings):
    return wb.method("ball", index, **settings).retrieve(question, k=k)


def test_nearest_first_then_the_most_similar(index):
    evidence = found(index)
    assert evidence.nodes == ["Ada Lind", "Salt", "Dune Fever", "Bo Dahl", "Drama"]  # Rust is three edges away
    assert found(index, hops=0).nodes == ["Ada Lind"]
    (event,) = found(index, most=2).trace.find("neighbourhood")  # a cap keeps the nearest and is reported
    assert event.outputs["sizes"] == [1, 2, 2] and (event.outputs["kept"], event.outputs["left_out"]) == (2, 3)
    assert found(index, hops=1).nodes == ["Ada Lind", "Salt", "Dune Fever"]
    assert found(index, hops=3).nodes[-1] == "Rust"
    assert found(index, "Rust, Ada Lind", hops=0).nodes == ["Rust", "Ada Lind"], "all names are linked"


def test_passages_are_those_of_its_entities_by_similarity(index):
    evidence = found(index, hops=1)
    assert evidence.ranking == [("p5", pytest.approx(0.5)), ("p4", pytest.approx(0.4)), ("p2", pytest.approx(0.2)),
                                ("p1", pytest.approx(0.1))]  # fmt: skip
    assert evidence.scale == "cosine" and evidence.fallback is None


def test_without_a_name_the_similar_are_linked(index):
    question = "which film is the best?"
    assert found(index, question, hops=0).nodes == ["Rust", "Salt"]
    assert found(index, question, hops=0, sources=1).nodes == ["Rust"]
    assert found(index, question, hops=0).fallback is None
    alone = found(index, question, hops=0, tau=0.9)
    assert alone.nodes == ["Rust"] and "nearest" in alone.fallback


def test_a_word_that_asks_is_no_name(tmp_path):
    entities = (*ENTITIES, ("movie", "genre", ("p3",)))
    index = film_index(tmp_path, COSINES, entities, (*RELATIONS, ("Rust", "has_genre", "movie", ("p3",), 1.0)))
    assert found(index, "which movie did Ada Lind direct", hops=0).nodes == ["Ada Lind"]
    assert found(index, "which movie", hops=0).nodes == ["movie"]
