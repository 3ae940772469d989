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
from workbench import layouts, tokens
from workbench.reading.compression import COMPRESSORS, GraphWalk


@pytest.fixture
def films(tmp_path):
    return film_index(tmp_path, COSINES)


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


def test_each_mode_of_lightrag_shows_what_it_searches(films):
    naive = shown(lightrag(films, mode="naive"))
    assert naive.startswith("Document Chunks") and len(lines(naive)) == 1
    local, broad = (lines(shown(lightrag(films, mode=mode))) for mode in ("local", "global"))
    assert [row["entity"] for row in local[0]] == ["Dune Fever", "Bo Dahl"]
    assert [row["entity"] for row in broad[0]] == ["Ada Lind", "Salt", "Drama", "Rust", "Dune Fever"]
    assert lines(shown(lightrag(films, mode="mix")))[0] == lines(shown(lightrag(films, mode="hybrid")))[0]


def test_the_early_lightrag_shows_tables(films):
    entities, relations, sources = rows(shown(lightrag(films, profile="early")))
    assert entities[:2] == [["id", "entity", "type", "description", "rank"],
                            ["1", "Ada Lind", "person", "about Ada Lind", "2"]]  # fmt: skip
    assert relations[0] == ["id", "source", "target", "description", "keywords", "weight", "rank"]
    both = ["Ada Lind", "Dune Fever", "Dune Fever directed_by Ada Lind<SEP>Dune Fever written_by Ada Lind",
            "directed_by, written_by", "3.0", "4"]  # fmt: skip
    assert both in [row[1:] for row in relations]
    assert sources[1][0] == "1" and len(sources) > 3


@pytest.mark.parametrize("profile", ["current", "released", "early"])
def test_without_keywords_the_context_is_empty_and_still_its_own(films, profile):
    evidence = lightrag(films, high=(), low=(), profile=profile, mode="hybrid")
    assert evidence.fallback and evidence.context is not None and shown(evidence) == ""


def test_the_tables_of_lightrag_keep_to_their_budgets(films):
    whole = lines(shown(lightrag(films, mode="hybrid")))
    sizes = [[tokens.count(json.dumps(row, ensure_ascii=False) + "\n") for row in table] for table in whole]
    caps = {"entity_tokens": sum(sizes[0][:2]), "relation_tokens": sum(sizes[1][:3])}
    entities, relations, _ = lines(shown(lightrag(films, mode="hybrid", **caps)))
    assert entities == whole[0][:2] and relations == whole[1][:3]
    assert "Document Chunks" not in shown(lightrag(films, mode="hybrid", total_tokens=1300))  # 1,200 are the prompt's


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


def test_paths_are_shown_as_far_as_their_budget_goes(tmp_path):
    index = film_index(tmp_path, PATH_COSINES)
    told = [row[1] for row in rows(shown(pathrag(index)))[4][1:]]
    first = rows(shown(pathrag(index, local_tokens=tokens.count(told[-1]))))[-1]
    assert [row[1] for row in first[1:]] == told[-1:]


def test_without_a_hit_of_the_high_level_there_is_the_low_one_alone(tmp_path):
    text = shown(pathrag(film_index(tmp_path, PATH_COSINES | {"directed_by": 0.1, "Salt directed_by Ada Lind": 0.1,
                                                              "Rust has_genre Drama": 0.1})))  # fmt: skip
    assert "high level" not in text and "Relationships" not in text and "Entities of the low level" in text


def test_compression_walks_the_hops_of_paths(tmp_path):
    evidence = pathrag(film_index(tmp_path, PATH_COSINES))
    found = GraphWalk().compress("who wrote the film of Bo Dahl", evidence.context)
    ends = [(row.source, row.target) for row in found.before.relations]
    assert ends.count(("Bo Dahl", "Salt")) == 1 and ("Ada Lind", "Salt") in ends
    assert len(found.before.entities) == len({row.name for row in found.before.entities})
    assert dict(found.hops)["Salt"] == 1


# -- DotRAG -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dots():
    from test_dotrag import TRIPLES, TYPES, Names

    return GraphIndex(TypedGraph(TYPES, TRIPLES, Names()), Names())


def test_dotrag_shows_paths_and_the_chunks_of_their_entities(dots):
    evidence = search(dots, engine(queries=["Dutch"]))
    context = wb.reader("direct").context(evidence)
    paths, sources = context.text.split("\n\n-----Sources-----\n")
    assert paths.startswith("-----Paths-----\n1. ") and "\n2. " not in paths and "-----Entities" not in paths
    assert all(name in paths for name in GOLD)
    assert sources.split("\n\n") == [passage.content for passage, _ in evidence.passages]
    assert context.ends == (GOLD[-1],)


def test_dotrag_without_a_path_shows_its_anchors(dots):
    evidence = search(dots, engine(judged={}))
    assert evidence.fallback and not evidence.paths
    assert shown(evidence).startswith("-----Entities-----\nKestrel (film): Kestrel is a film.\n\n-----Sources-----\n")


def test_the_chunks_of_dotrag_keep_to_their_budget(dots):
    whole = search(dots, engine(queries=["Dutch"]))
    size = sum(tokens.count(passage.content + "\n\n") for passage, _ in whole.passages[:2])
    cut = search(dots, engine(queries=["Dutch"]), chunk_tokens=size)
    assert [unit.id for unit in cut.context.chunks] == [passage.id for passage, _ in whole.passages[:2]]


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


@pytest.mark.parametrize("budget", [40, 200, 1000, 12_000])
def test_the_shares_of_graphrag_hold(meridian_communities, budget):
    evidence = wb.method("graphrag", meridian_communities, tokens=budget).retrieve("Who founded Kestrel FM?", k=5)
    text = shown(evidence)
    assert tokens.count(text) <= budget
    parts = text.split("-----")[1:]
    sizes = {name: tokens.count(f"-----{name}-----{body}") for name, body in zip(parts[::2], parts[1::2])}
    assert sizes.get("Reports", 0) <= 0.15 * budget and sizes.get("Sources", 0) <= 0.5 * budget
    assert sizes.get("Entities", 0) + sizes.get("Relationships", 0) <= 0.35 * budget
    assert budget < 12_000 or len(sizes) == 4


# -- all --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix"])
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


def test_a_budget_cuts_a_context_in_its_own_layout(films):
    method = wb.method("lightrag", films, Saying(("h",), ("l",)), mode="hybrid")
    for budget in (30, 200, 500):
        assert tokens.count(layouts.write(method.retrieve(QUESTION, budget=budget).context)) <= budget


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_compressor_reads_the_context_of_every_method(tmp_path, dots, name):
    films = film_index(tmp_path, PATH_COSINES)
    for evidence in (lightrag(films), pathrag(films), search(dots, engine(queries=["Dutch"]))):
        context = wb.reader("direct", compress=f"{name}[budget=80]").contexts(evidence)
        assert context.shown.tokens <= 80 < context.retrieved.tokens
        assert context.shown.compressed.tokens_before == context.retrieved.tokens


@pytest.mark.parametrize("profile", ["released", "thesis"])
def test_the_published_walk_reads_a_record_of_lightrag_as_it_reads_its_text(films, profile):
    """In capitals, without a stop list, chunks by their references; and it is shorter."""
    evidence = lightrag(films, mode="hybrid")
    walk = GraphWalk(profile=profile, budget=30)
    found, text = (walk.compress(QUESTION, one) for one in (evidence.context, layouts.write(evidence.context)))
    assert (found.text, found.hops, found.tokens_before) == (text.text, text.hops, text.tokens_before)
    assert found.seeds == ("DUNE FEVER", "DRAMA") and found.tokens < found.tokens_before
    assert {unit.passages for unit in found.before.chunks} == {(f"p{at}",) for at in range(1, 8)}
