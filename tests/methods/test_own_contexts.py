"""Contexts that methods lay out as their sources do: by hand on small graphs, whatever k is, within their budgets."""

from __future__ import annotations

import csv
import io
import json

import pytest
from films import Saying, film_index
from test_dotrag import GOLD, engine, search
from test_graphrag import COSINES as ENTITY_COSINES
from test_graphrag import FACTS, built
from test_lightrag import COSINES, QUESTION
from test_pathrag import COSINES as PATH_COSINES
from typed_graphs import GraphIndex, TypedGraph

import workbench as wb
from workbench import layouts
from workbench.reading.compression import GraphWalk


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    return film_index(tmp_path_factory.mktemp("films"), COSINES)


def lightrag(index, k=20, high=("h",), low=("l",), **settings):
    return wb.method("lightrag", index, Saying(high, low), **settings).retrieve(QUESTION, k=k)


def pathrag(index, k=20, high=("h",), low=("l",), **settings):
    return wb.method("pathrag", index, Saying(high, low), **settings).retrieve(QUESTION, k=k)


def shown(evidence, reader="direct", **settings) -> str:
    return wb.reader(reader, **settings).context(evidence).text


def fenced(text: str, kind: str) -> list[str]:
    return [part.split("\n```")[0] for part in text.split(f"```{kind}\n")[1:]]


def lines(text: str) -> list[list[dict]]:
    return [[json.loads(line) for line in block.split("\n")] for block in fenced(text, "json")]


def rows(text: str) -> list[list[list[str]]]:
    return [list(csv.reader(io.StringIO(block))) for block in fenced(text, "csv")]


# -- LightRAG ---------------------------------------------------------------------------------------------------------


def test_lightrag_shows_entities_edges_and_passages_in_turns(films):
    """The low level finds Dune Fever, Bo Dahl and Salt is below `least`; the high level finds the edges of Salt and Ada
    Lind, Rust and Drama, and the parallel one of Dune Fever and Ada Lind, which tells both of its relations."""
    evidence = lightrag(films, mode="hybrid")
    entities, relations, chunks = lines(shown(evidence))
    assert entities[0] == {"entity": "Dune Fever", "type": "movie", "description": "about Dune Fever"}
    assert [row["entity"] for row in entities] == ["Dune Fever", "Ada Lind", "Bo Dahl", "Salt", "Drama", "Rust"]
    assert [(row["entity1"], row["entity2"]) for row in relations] == [
        ("Drama", "Dune Fever"), ("Ada Lind", "Salt"), ("Ada Lind", "Dune Fever"), ("Drama", "Rust"),
        ("Bo Dahl", "Salt"),
    ]  # fmt: skip
    assert relations[2]["description"] == "Dune Fever directed_by Ada Lind<SEP>Dune Fever written_by Ada Lind"
    assert [row["content"] for row in chunks] == [passage.content for passage, _ in evidence.passages]
    assert shown(evidence).endswith("Reference Document List:\n\n```\n[1] p7\n[2] p6\n[3] p5\n[4] p4\n[5] p3\n[6] p2\n"
                                    "[7] p1\n```")  # fmt: skip
    assert shown(evidence, layout="passages", k=2) == "p7\ntext of p7.\n\np6\ntext of p6."


# -- PathRAG ----------------------------------------------------------------------------------------------------------


def test_pathrag_shows_the_high_level_the_texts_the_low_level_and_the_best_path_last(tmp_path):
    evidence = pathrag(film_index(tmp_path, PATH_COSINES))
    text = shown(evidence)
    assert [line.strip("-") for line in text.split("\n") if line.startswith("---")] == [
        "Entities of the high level", "Relationships", "Sources", "Entities of the low level", "Paths",
    ]  # fmt: skip
    high, relations, sources, low, paths = rows(text)
    assert [row[1] for row in high[1:]] == ["Ada Lind", "Salt", "Drama", "Rust"]
    assert relations[1:] == [
        ["1", "Ada Lind", "Salt", "Salt directed_by Ada Lind", "directed_by", "1.0", "5"],
        ["2", "Drama", "Rust", "Rust has_genre Drama", "has_genre", "1.0", "4"],
    ]
    assert [row[0] for row in sources[1:]] == ["1", "2", "3", "4", "5", "6"]
    assert low[1:] == [  # also Salt, which the high level has as well
        ["1", "Dune Fever", "movie", "about Dune Fever", "2"], ["2", "Bo Dahl", "person", "about Bo Dahl", "1"],
        ["3", "Salt", "movie", "about Salt", "3"],
    ]  # fmt: skip
    assert [row[0] for row in paths[1:]] == ["5", "4", "3", "2", "1"] and paths[-1][1].startswith("Bo Dahl is a person")


# -- DotRAG -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dots():
    from test_dotrag import TRIPLES, TYPES, Names

    return GraphIndex(TypedGraph(TYPES, TRIPLES, Names()), Names())


def test_dotrag_shows_paths_and_the_chunks_of_their_entities_or_its_anchors(dots):
    evidence = search(dots, engine(queries=["Dutch"]))
    context = wb.reader("direct").context(evidence)
    paths, sources = context.text.split("\n\n-----Sources-----\n")
    assert paths.startswith("-----Paths-----\n1. ") and "\n2. " not in paths and "-----Entities" not in paths
    assert all(name in paths for name in GOLD)
    assert sources.split("\n\n") == [passage.content for passage, _ in evidence.passages]
    assert context.ends == (GOLD[-1],)
    without = shown(search(dots, engine(judged={})))
    assert without.startswith("-----Entities-----\nKestrel (film): Kestrel is a film.\n\n-----Sources-----\n")


# -- GraphRAG ---------------------------------------------------------------------------------------------------------


def test_graphrag_shows_its_local_context(tmp_path):
    """Two entities are matched, e1 and e2; p2 and p3 are e1's, by relationships, p1 is e2's; p4 is of e3 alone."""
    index = built(tmp_path, FACTS, ENTITY_COSINES, min_members=2)
    text = shown(wb.method("graphrag[entities=2,entities_max=4]", index).retrieve("?", k=1))
    heads = [line for line in text.split("\n") if line.startswith("---")]
    assert heads == ["-----Reports-----", "-----Entities-----", "-----Relationships-----", "-----Sources-----"]
    entities = text.split("number of relationships\n")[1].split("\n\n")[0].split("\n")
    assert [entity.split("|")[1] for entity in entities] == ["e1", "e2"]
    assert "weight|rank\n0|e1|e2|e1 r e2|1.0|5\n" in text
    assert text.split("-----Sources-----\nid|text\n")[1] == "0|p2\nText.\n1|p3\nText.\n2|p1\nText.\n"


# -- all --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["naive", "hybrid"])
def test_k_neither_of_the_method_nor_of_the_reader_cuts_the_context_of_lightrag(films, mode):
    one, five = lightrag(films, k=1, mode=mode), lightrag(films, k=5, mode=mode)
    assert one.context == five.context and len(one.passages) == 1 < len(five.passages)
    assert shown(one, k=1) == shown(five, k=5) == shown(one, reader="sparql") == shown(one, reader="cot", budget=3)


def test_k_cuts_no_context_of_the_others(tmp_path, dots):
    films = film_index(tmp_path / "films", PATH_COSINES)
    facts = built(tmp_path / "facts", FACTS, ENTITY_COSINES)
    graphrag = wb.method("graphrag[entities=2]", facts)
    for one, five in (
        (pathrag(films, k=1), pathrag(films, k=5)),
        (search(dots, engine(queries=["Dutch"]), k=1), search(dots, engine(queries=["Dutch"]), k=5)),
        (graphrag.retrieve("?", k=1), graphrag.retrieve("?", k=5)),
    ):
        assert one.context == five.context is not None and len(one.passages) == 1 < len(five.passages)
        assert shown(one, k=1) == shown(five, k=5) == layouts.write(one.context)


@pytest.mark.parametrize("profile", ["released", "thesis"])
def test_the_published_walk_reads_a_record_of_lightrag_as_it_reads_its_text(films, profile):
    """In capitals, without a stop list, chunks by their references; and it is shorter."""
    evidence = lightrag(films, mode="hybrid")
    walk = GraphWalk(profile=profile, budget=30)
    found, text = (walk.compress(QUESTION, one) for one in (evidence.context, layouts.write(evidence.context)))
    assert (found.text, found.hops, found.tokens_before) == (text.text, text.hops, text.tokens_before)
    assert found.seeds == ("DUNE FEVER", "DRAMA") and found.tokens < found.tokens_before
    assert {unit.passages for unit in found.before.chunks} == {(f"p{at}",) for at in range(1, 8)}
