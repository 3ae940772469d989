"""LightRAG: two levels, their merging, what is cut, which passages are taken, each by hand; and what the early code
did otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from films import ENTITIES, RELATIONS, Pointing, Saying, film_index
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench import tokens
from workbench.methods.lightrag.context import interleaved, picked
from workbench.methods.lightrag.graph import EdgeGraph

QUESTION = "which films of the director of Dune Fever are dramas, and who wrote them"
COSINES = {
    # passages
    **{f"text of p{at}": cosine for at, cosine in enumerate((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), 1)},
    # relations; the entities' names stand in them, so they come first
    "Salt directed_by Ada Lind": 0.9,
    "Rust has_genre Drama": 0.8,
    "Dune Fever written_by Ada Lind": 0.3,
    "Dune Fever directed_by Ada Lind": 0.25,
    "directed_by": 0.1, "written_by": 0.1, "has_genre": 0.1, "remake_of": 1.0,
    "about Dune Fever": 0.9,
    "about Bo Dahl": 0.5,
    "about Salt": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return film_index(tmp_path_factory.mktemp("films"), COSINES)


def found(index, high=("h",), low=("l",), k=20, question=QUESTION, **settings):
    return wb.method("lightrag", index, Saying(high, low), **settings).retrieve(question, k=k)


def ids(evidence) -> list[str]:
    return [name for name, _ in evidence.ranking]


def edges(evidence) -> list[tuple[str, str]]:
    """Pairs of ends in the order of the context."""
    return list(dict.fromkeys((fact.subject, fact.object) for fact, _ in evidence.facts))


def test_an_edge_holds_all_relations_of_its_pair(index):
    graph = EdgeGraph(index)
    assert [graph.name(edge) for edge in range(len(graph.ends))] == [
        "Ada Lind – Dune Fever", "Ada Lind – Salt", "Bo Dahl – Salt", "Drama – Dune Fever", "Drama – Rust",
        "Drama – Salt",
    ]  # fmt: skip
    assert graph.weights.tolist() == [3, 1, 1, 1, 1, 1]
    assert graph.ranks.tolist() == [4, 5, 4, 5, 4, 6]  # degrees: Ada 2, Bo 1, Drama 3, Dune Fever 2, Rust 1, Salt 3
    assert graph.description(0) == "Dune Fever directed_by Ada Lind<SEP>Dune Fever written_by Ada Lind"
    assert [fact.members for fact in graph.triples(0)] == [
        ("Dune Fever", "directed_by", "Ada Lind"),
        ("Dune Fever", "written_by", "Ada Lind"),
    ]
    assert graph.triples(0)[0].passages == ("p1", "p4") and graph.schema[0] == (
        "directed_by",
        ("movie",),
        ("person",),
        "",
    )
    evidence = wb.method("lightrag", index).retrieve("who directed Dune Fever")  # by rules, with the relations' names
    (event,) = evidence.trace.find("keywords")
    assert event.outputs["high_level"] == ["directed by"] and event.outputs["low_level"] == ["Dune Fever"]


def test_local_takes_entities_by_similarity_and_their_edges_by_rank_then_weight(index):
    evidence = found(index, mode="local")
    # Found: Dune Fever and Bo Dahl. Ranks: Drama – Dune Fever 5, then 4 each, where the weight decides.
    assert edges(evidence) == [("Dune Fever", "Drama"), ("Dune Fever", "Ada Lind"), ("Salt", "Bo Dahl")]
    assert evidence.nodes == ["Dune Fever", "Bo Dahl", "Drama", "Ada Lind", "Salt"]  # the ends follow
    assert evidence.scale == "1/rank" and [score for _, score in evidence.entities][:2] == [1, 0.5]
    early = found(index, profile="early", mode="local")
    assert early.nodes == evidence.nodes and ids(early) == ["p1", "p6"]


def test_global_takes_edges_by_their_closest_relation_and_their_ends(index):
    evidence = found(index, mode="global")
    # 0.9, 0.8, and of two parallel relations 0.3, with which the other one comes; self-loops are no edges.
    assert edges(evidence) == [("Salt", "Ada Lind"), ("Rust", "Drama"), ("Dune Fever", "Ada Lind")]
    assert len(evidence.facts) == 4
    assert evidence.nodes == ["Ada Lind", "Salt", "Drama", "Rust", "Dune Fever"]


def test_hybrid_takes_turns_the_low_level_first(index):
    evidence = found(index, mode="hybrid")
    assert edges(evidence) == [
        ("Dune Fever", "Drama"), ("Salt", "Ada Lind"), ("Dune Fever", "Ada Lind"), ("Rust", "Drama"),
        ("Salt", "Bo Dahl"),
    ]  # fmt: skip
    assert evidence.nodes == ["Dune Fever", "Ada Lind", "Bo Dahl", "Salt", "Drama", "Rust"]


def test_top_k_and_the_least_cosine_bound_both_searches(index):
    assert found(index, mode="local", top_k=1).nodes[:2] == ["Dune Fever", "Drama"]
    assert edges(found(index, mode="global", least=0.85)) == [("Salt", "Ada Lind")]
    assert found(index, mode="local", least=0.95).passages == ()


def test_each_level_is_encoded_once_as_one_string(tmp_path):
    encoder = Pointing(COSINES)
    found(film_index(tmp_path, encoder=encoder), high=("director", "film"), low=("Dune Fever", "drama"))
    assert encoder.queries == ["Dune Fever, drama", "director, film", QUESTION]


def test_local_passages_by_similarity(index):
    """Two entities with passages: p1 and p6. Three edges bring p1, p2, p4, p6, p7, less p1 and p6; of these the best
    int(5 · 3 / 2) = 7. Entity first, in turns."""
    assert ids(found(index, mode="local")) == ["p6", "p7", "p1", "p4", "p2"]
    # With related=1: int(1 · 2 / 2) = 1 for the entities, so p1 is left for the edges: int(1 · 3 / 2) = 1.
    assert ids(found(index, mode="local", related=1)) == ["p6", "p7"]


def test_mix_begins_with_the_passages_close_to_the_question_and_naive_has_no_others(index):
    naive = found(index, mode="naive", high=(), low=())
    assert ids(naive) == ["p7", "p6", "p5", "p4", "p3", "p2", "p1"]
    assert naive.entities == naive.facts == () and naive.fallback is None
    assert not [event for event in naive.trace if event.kind == "LLM"]
    # vector: p7 p6 p5 …; entities (all six are shown): the same order, 7 of 7; edges: nothing is left.
    assert ids(found(index, chunk_top_k=3)) == ["p7", "p6", "p5"]
    assert ids(found(index, mode="mix")) == ids(naive)


def test_the_released_code_takes_no_passage_that_is_far_from_the_question(index):
    """p1 has a cosine of 0.1, p2 of 0.2."""
    assert ids(found(index, mode="naive", high=(), low=(), least_passage=0.25)) == ["p7", "p6", "p5", "p4", "p3"]
    assert ids(found(index, mode="naive", high=(), low=(), profile="released"))[-1] == "p2"
    assert ids(found(index, mode="naive", high=(), low=(), profile="early"))[-1] == "p2"
    # In mix, what is far from the question comes by the graph alone: p1 from Dune Fever.
    assert ids(found(index, mode="mix", least_passage=0.65, top_k=1, high=()))[:2] == ["p7", "p1"]


def test_the_released_code_grants_passages_to_edges_that_have_own_ones(tmp_path):
    """Three edges of the same passages, which belong to the first: int(1 · 3 / 2) = 1 of p1, p2 and p3, or, since only
    one edge has passages of its own, int(1 · 1 / 2) = 0, so that it is picked by weight."""
    entities = (("A", "x", ()), ("B", "x", ()), ("C", "x", ()), ("D", "x", ()))
    relations = tuple(("A", "knows", other, ("p1", "p2", "p3"), 1.0) for other in "BCD")
    index = film_index(tmp_path, {"about A": 0.9, "text of p3": 0.9}, entities, relations)
    edges_alone = {"mode": "local", "entity_tokens": 0}
    assert ids(found(index, **edges_alone, related=1)) == ["p3"]
    assert ids(found(index, **edges_alone, related=1, quota="own")) == ["p1"]
    assert ids(found(index, **edges_alone, related=2)) == ["p3", "p1", "p2"]  # 3 of them
    assert ids(found(index, **edges_alone, related=2, profile="released")) == ["p3"]


def test_what_is_cut_brings_no_passage(index):
    graph = EdgeGraph(index)
    first = tokens.count(graph.entity_line(index.typed.row["Dune Fever"]))
    assert found(index, mode="local", entity_tokens=first, relation_tokens=0).nodes == ["Dune Fever"]
    assert ids(found(index, mode="local", entity_tokens=first, relation_tokens=0)) == ["p1"]
    assert found(index, mode="local", entity_tokens=first - 1, relation_tokens=0).passages == ()


def test_passages_fit_beside_everything_else_in_the_prompt(index):
    graph = EdgeGraph(index)
    line = tokens.count(graph.passage_line(6))
    question = tokens.count(QUESTION)
    settings = {"mode": "naive", "prompt_tokens": 100, "total_tokens": 300 + question + line}
    assert ids(found(index, **settings)) == ["p7"]
    assert ids(found(index, **settings | {"prompt_tokens": 101})) == []


def test_without_keywords_a_short_question_is_its_own_and_a_long_one_fails(index):
    short = found(index, high=(), low=(), question="Dune Fever?")
    assert short.nodes[0] == "Dune Fever" and short.fallback is None
    long = found(index, high=(), low=())
    assert (long.passages, long.entities, long.facts) == ((), (), ())
    assert long.fallback == "nothing is retrieved: the question has no keywords for the mode mix"
    assert wb.method("lightrag", index, Saying(failure="no JSON")).retrieve(QUESTION).fallback.endswith("no JSON")


def test_a_level_without_keywords_is_not_searched(index):
    assert edges(found(index, mode="hybrid", low=())) == edges(found(index, mode="global"))
    assert found(index, mode="local", low=()).fallback and not found(index, mode="local", high=()).fallback


# The early code


def test_early_adds_up_the_neighbours_of_all_entities_that_bring_a_passage(tmp_path):
    """A and B are found. Of A's passages p1 is shared by its neighbour C, p2 by its neighbour D; p2 is B's too, whose
    neighbours D and E share it: 1 and 1 + 2."""
    entities = (("A", "x", ("p1", "p2")), ("B", "x", ("p2",)), ("C", "x", ("p1",)), ("D", "x", ("p2",)),
                ("E", "x", ("p2",)))  # fmt: skip
    relations = tuple((one, "knows", other, (), 1.0) for one, other in ("AC", "AD", "BD", "BE"))
    index = film_index(tmp_path, {"about A": 0.9, "about B": 0.8}, entities, relations)
    assert ids(found(index, profile="early", mode="local", counted="first")) == ["p1", "p2"]
    assert ids(found(index, profile="early", mode="local")) == ["p2", "p1"]
    assert ids(wb.method("pathrag", index, Saying(("h",), ("l",))).retrieve(QUESTION)) == ["p2", "p1"]
    assert ids(wb.method("pathrag[counted=first]", index, Saying(("h",), ("l",))).retrieve(QUESTION)) == ["p1", "p2"]


def test_early_hybrid_puts_the_high_level_first_and_global_edges_by_their_ranks(index):
    evidence = found(index, profile="early")  # mode=global
    assert edges(evidence) == [("Salt", "Ada Lind"), ("Dune Fever", "Ada Lind"), ("Rust", "Drama")]
    assert ids(evidence) == ["p2", "p5", "p1", "p4", "p3", "p7"]
    evidence = found(index, profile="early", mode="hybrid")
    assert evidence.nodes == ["Ada Lind", "Salt", "Dune Fever", "Drama", "Rust", "Bo Dahl"]
    assert ids(evidence) == ["p2", "p5", "p1", "p4", "p3", "p7", "p6"]
    one = tokens.count("p2\ntext of p2.")
    assert ids(found(index, profile="early", mode="hybrid", text_tokens=one)) == ["p2", "p1"]  # each side has its cap
    assert edges(found(index, profile="early", relation_tokens=tokens.count("Salt directed_by Ada Lind"))) == [
        ("Salt", "Ada Lind")
    ]


def test_early_needs_keywords_of_every_level_that_is_searched(index):
    assert found(index, profile="early", mode="hybrid", low=()).fallback
    assert found(index, profile="early", mode="global", low=()).fallback is None
    assert found(index, profile="early", mode="local", low=(), question="short").fallback


# Parts


def test_picking_by_weight():
    """Quotas 5, 3, 1; the first uses 2 and leaves 3, which the others take in turns."""
    sources = [[0, 1], [2, 3, 4, 5, 6], [7, 8, 9], []]
    assert picked(sources, np.zeros(10), 5, "weight") == [0, 1, 2, 3, 4, 7, 5, 8, 6]
    assert picked([[3, 1, 2]], np.zeros(4), 2, "weight") == [1, 2]
    # The code gives them to the first that has more.
    assert picked(sources, np.zeros(10), 5, "weight", unused="first") == [0, 1, 2, 3, 4, 7, 5, 6, 8]


def test_an_item_without_own_passages_lowers_no_quota_of_the_released_code():
    """Quotas 3, 2, 1 of three items, of which the second brings nothing new: its two places go on. Without it, 3, 1."""
    sources = [[0, 1, 2, 3], [0, 1], [4, 5, 6]]
    assert picked(sources, np.zeros(7), 3, "weight") == [0, 1, 2, 4, 3, 5]
    assert picked(sources, np.zeros(7), 3, "weight", own=True) == [0, 1, 2, 4]


def test_a_passage_belongs_to_the_first_that_brings_it_and_the_most_mentioned_lead():
    sources = [[0, 1, 2], [2, 3], [2, 0, 3]]
    assert picked(sources, np.zeros(4), 3, "weight") == [2, 0, 1, 3]
    assert picked(sources, np.array([0.1, 0.9, 0.2, 0.8]), 1, "vector") == [1]  # int(1 · 3 / 2)
    assert picked([], np.zeros(0), 5, "vector") == picked([], np.zeros(0), 5, "weight") == []
    assert interleaved([1, 2, 3], [], [4, 1, 5, 6]) == [1, 4, 2, 3, 5, 6]


@given(st.lists(st.lists(st.integers(0, 9), max_size=6)), st.integers(1, 9))
def test_weights_hand_out_whole_quotas(sources, related):
    many = [source for source in sources if source]
    quotas = sum(round(related - (related - 1) * at / max(1, len(many) - 1)) for at in range(len(many)))
    chosen = picked(sources, np.zeros(10), related, "weight")
    assert len(chosen) == len(set(chosen)) == min(quotas, len({row for source in sources for row in source}))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9)), st.integers(0, 40))
def test_the_longest_beginning_that_fits(texts, budget):
    lines = [f"{{{text}}}".replace("\n", " ") for text in texts]
    many = tokens.leading_texts(lines, budget, "\n")
    assert tokens.count("\n".join(lines[:many])) <= budget or many == 0
    if many < len(lines):
        assert tokens.count("\n".join(lines[: many + 1])) > budget


def test_a_graph_without_edges_is_searched_too(tmp_path):
    index = film_index(tmp_path, COSINES, ENTITIES, RELATIONS[-1:])
    assert found(index).nodes == ["Dune Fever", "Bo Dahl"]
