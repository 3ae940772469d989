"""Youtu-GraphRAG's agent on a graph worked out by hand: routes, type filter, fusion, reflection, malformed replies."""

from __future__ import annotations

import json
import random
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from knowledge_trees import Scripted, TreeIndex, WordEncoder

from workbench.layouts import youtu as layout
from workbench.methods.youtu import Youtu, fusion
from workbench.methods.youtu.routed import Route, routed
from workbench.methods.youtu.routes import Tree
from workbench.records import Passage

TYPES = {"dune": "film", "lind": "person", "oslo": "place", "norway": "place", "fog": "film", "ben": "person"}
STATED = {
    ("dune", "directed", "lind"): ["p1"],
    ("lind", "born", "oslo"): ["p2"],
    ("oslo", "inside", "norway"): ["p3"],
    ("fog", "directed", "ben"): ["p4"],
}
ATTRIBUTES = {("lind", "date", "1951"): ["p2", "p5"], ("fog", "length", "1951"): ["p4"]}
COMMUNITIES = [
    ("cinema", "makers of pictures", ["dune", "lind", "fog", "ben"], ["lind"]),
    ("north", "cold towns", ["oslo", "norway"], ["oslo"]),
]
PASSAGES = [
    Passage("p1", "dune", "a picture"), Passage("p2", "lind", "a life"), Passage("p3", "oslo", "a town"),
    Passage("p4", "fog", "mist"), Passage("p5", "weather", "rain"), Passage("p6", "", "nothing at all"),
]  # fmt: skip
QUESTION = "who directed dune"


@pytest.fixture(scope="module")
def index():
    return TreeIndex(TYPES, STATED, ATTRIBUTES, COMMUNITIES, PASSAGES, WordEncoder())


def asking(*sub_questions: str, **types) -> str:
    return json.dumps({"sub_questions": list(sub_questions), "involved_types": types})


def taken(index, query: str = QUESTION, types: dict | None = None, **given) -> dict[str, Route]:
    """Route → its event, of one sub-question."""
    engine = Scripted(sub_questions=[asking(query, **(types or {}))])
    evidence = Youtu(index, engine, agent=False, **given).retrieve(query)
    events = [event for event in evidence.trace if event.step.endswith(" route")]
    return {event.inputs["route"]: Route.read(event) for event in events}


def facts(route: Route) -> list[tuple]:
    return [tuple(one[:3]) for one in route.triples]


# -- the routes -------------------------------------------------------------------------------------------------------


def test_the_triple_route_has_the_closest_triples_of_both_levels(index):
    found = taken(index, top_k=3)["triple"].triples
    assert [one[:3] for one in found] == [
        ("dune", "directed", "lind"), ("fog", "directed", "ben"), ("lind", "born", "oslo"),
    ]  # fmt: skip
    assert [one[3] for one in found] == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-6)
    born = taken(index, "date 1951", top_k=2)["triple"]
    assert born.triples[0][:3] == ("lind", "has_attribute", "date: 1951")
    assert born.triples[0][3] == pytest.approx(2 / sqrt(2 * 4))


def test_an_entity_is_the_mean_of_its_triples(index):
    route = taken(index, top_k=2)["entity"]
    means = Tree(index, Youtu.Settings()).triples.means()
    expected = means @ index.encode_query(QUESTION) / np.linalg.norm(means, axis=1)
    best = np.argsort(-expected, kind="stable")[:2]
    assert [name for name, _ in route.through] == [index.schema_graph.names[row] for row in best]
    assert [score for _, score in route.through] == pytest.approx(expected[best].tolist(), abs=1e-6)
    assert route.through[0] == ("dune", pytest.approx(2 / 3, abs=1e-6)), "dune has one triple, and so is that triple"
    assert facts(route)[0] == ("dune", "directed", "lind"), "the triples of these entities, by their own cosines"


def test_the_community_route_has_its_members_triples_at_a_discount(index):
    route = taken(index, "cold towns", top_communities=1)["community"]
    assert route.through == (("north", pytest.approx(2 / sqrt(2 * 3))),)
    assert route.triples == (), "no member's triple has a word of the query"
    route = taken(index, "north inside oslo", top_communities=1, gamma=0.5)["community"]
    assert facts(route) == [("oslo", "inside", "norway"), ("lind", "born", "oslo")]
    assert [one[3] for one in route.triples] == pytest.approx([2 / 3 / 2, 1 / 3 / 2], abs=1e-6)
    assert not taken(index, community=False).keys() & {"community"}


def test_the_path_route_scores_a_triple_by_its_best_path(index):
    route = taken(index, "directed dune born", path_seeds=1, top_k=5)["path"]
    scores = {one[:3]: one[3] for one in route.triples}
    first, second = 2 / 3, 1 / 3
    assert scores["dune", "directed", "lind"] == pytest.approx(first, abs=1e-6)
    assert scores["lind", "born", "oslo"] == pytest.approx((first + second) / 2, abs=1e-6), "more than its own cosine"
    assert route.through[0][0] == "dune → lind", "lind is a keyword, so the path to it comes first"
    assert not any(name.startswith("dune → lind → oslo → norway") for name, _ in taken(index, depth=2)["path"].through)


def test_types_filter_entities(index):
    people = {"entity_types": ["Person"]}
    plain = [name for name, _ in taken(index, "directed", top_k=6)["entity"].through]
    hard = taken(index, "directed", people, type_filter="hard", top_k=6)["entity"]
    assert set(plain) == set(TYPES)
    assert {name for name, _ in hard.through} == {"lind", "ben"} and hard.filtered
    soft = dict(taken(index, "directed", people, top_k=6)["entity"].through)
    unfiltered = dict(taken(index, "directed", people, top_k=6, type_filter="off")["entity"].through)
    assert soft["lind"] == unfiltered["lind"] and soft["dune"] == pytest.approx(0.8 * unfiltered["dune"])
    assert not taken(index, "directed", {"entity_types": ["dragon"]})["entity"].filtered, "no entity has such a type"
    assert not taken(index, "directed", people, schema=False)["entity"].filtered
    untyped = TreeIndex(
        {**TYPES, "dune": "unknown", "fog": ""}, STATED, ATTRIBUTES, COMMUNITIES, PASSAGES, WordEncoder()
    )
    passed = taken(untyped, "directed", people, type_filter="hard", top_k=6)["entity"].through
    assert {name for name, _ in passed} == {"lind", "ben", "dune", "fog"}, "those without a type pass"


# -- fusion -----------------------------------------------------------------------------------------------------------


def test_passages_have_the_best_of_their_own_cosine_and_their_triples(index):
    engine = Scripted(sub_questions=[asking(QUESTION)])
    (search,) = routed(Youtu(index, engine, agent=False, path=False, top_k=2).retrieve(QUESTION)).searches
    assert [name for name, _ in search.passages] == ["p1", "p4"]
    assert [score for _, score in search.passages] == pytest.approx([2 / 3, 1 / 3], abs=1e-6)
    assert [one[:3] for one in search.triples] == [("dune", "directed", "lind"), ("fog", "directed", "ben")]
    evidence = Youtu(index, engine, agent=False, path=False, top_k=2).retrieve("dune at all")
    assert [name for name, _ in evidence.ranking][2:] == ["p6", "p2", "p3", "p5"], "what no query found, by its cosine"
    assert all(score < 0 for _, score in evidence.ranking[2:])
    nine = Scripted(sub_questions=[asking(*(f"dune {at}" for at in range(9)))])
    shown = routed(Youtu(index, nine, agent=False, sub_questions=3, path=False, community=False).retrieve(QUESTION))
    assert [one.query for one in shown.sub_questions] == ["dune 0", "dune 1", "dune 2"]
    assert [one.route for one in shown.sub_questions[0].routes] == ["entity", "triple"]


ROWS = st.dictionaries(st.integers(0, 30), st.floats(-1, 1), max_size=20)


@given(st.lists(ROWS, max_size=4), st.integers(1, 8), st.lists(st.integers(0, 12), min_size=31, max_size=31))
def test_fusion_keeps_at_most_k_and_no_triple_twice(found, k, same):
    kept = fusion.fused(found, np.array(same), k)
    assert len(kept) <= k and len({same[row] for row in kept}) == len(kept)
    best = {}
    for one in found:
        for row, score in one.items():
            best[same[row]] = max(score, best.get(same[row], score))
    assert list(kept.values()) == sorted(best.values(), reverse=True)[:k]


@given(st.lists(ROWS.filter(bool), min_size=1, max_size=4))
def test_each_query_puts_a_passage_at_the_top(found):
    ranked = fusion.joined([fusion.scaled(dict(sorted(one.items(), key=lambda pair: -pair[1]))) for one in found])
    assert ranked.keys() == {row for one in found for row in one}
    assert list(ranked.values()) == sorted(ranked.values(), reverse=True) and all(0 <= s <= 1 for s in ranked.values())
    assert all(ranked[max(one, key=one.get)] == 1 for one in found)


def test_the_context_is_a_layout(index):
    evidence = Youtu(index, top_k=3).retrieve("dune directed", k=2)
    text = layout.write(evidence.context)
    assert text.startswith("### Triples\ndune [film] | directed | lind [person] | ")
    assert "### Communities\n(0) cinema: makers of pictures" in text and "(chunk_1) dune\na picture" in text
    assert len(evidence.context.chunks) == 2 and len(evidence.context.relations) == 3
    assert evidence.reports[0].item.passages == ("p1", "p2", "p4", "p5")
    assert evidence.paths[0].item.passages and evidence.entities[0].item.type == "film"


# -- decomposition ----------------------------------------------------------------------------------------------------


def test_without_the_schema_the_decomposition_does_not_see_it(index):
    for schema in (True, False):
        engine = Scripted(sub_questions=[asking(QUESTION)])
        Youtu(index, engine, agent=False, schema=schema).retrieve(QUESTION)
        ((_, value),) = engine.asked
        assert bool(value.entity_types) == bool(value.relations) == bool(value.attributes) == schema


# -- reflection -------------------------------------------------------------------------------------------------------


def rounds(index, *replies: str, **given):
    engine = Scripted(sub_questions=[asking(QUESTION)], reflect=replies)
    evidence = Youtu(index, engine, **given).retrieve(QUESTION)
    return routed(evidence), evidence, engine


def test_what_a_round_of_reflection_finds_is_ranked(index):
    shown, evidence, _ = rounds(index, "The new query is: weather rain", "So the answer is: x")
    assert [one.query for one in shown.searches] == [QUESTION, "weather rain"] and shown.searches[1].origin == "round 1"
    alone = Youtu(index, Scripted(sub_questions=[asking(QUESTION)]), agent=False).retrieve(QUESTION)
    rank = {id(found): [name for name, _ in found.ranking].index("p5") for found in (evidence, alone)}
    assert rank[id(evidence)] < 2 < rank[id(alone)]


FOGS = [f"The new query is: fog {at}" for at in range(9)]


@pytest.mark.parametrize(
    ("replies", "settings", "stopped", "said"),
    [
        (["It is known. so the answer is: lind", FOGS[0]], {}, ["answered"], ""),
        (["The new query is: fog", "The new query is:  FOG?"], {}, ["", "repeated"], ""),
        ([f"The new query is: {QUESTION}"], {}, ["repeated"], ""),
        (FOGS, {}, ["", "", "", "", "last round"], ""),
        (FOGS, {"max_steps": 1}, ["last round"], ""),
        (["The new query is: fog", " "], {}, ["", "failed"], "round 2 of the reflection failed"),
        (["Look for fog\nand ben", "So the answer is: x"], {}, ["", "answered"], "the reply of round 1 has no marker"),
    ],
)
def test_when_reflection_stops(index, replies, settings, stopped, said):
    shown, evidence, engine = rounds(index, *replies, **settings)
    assert [one.stopped for one in shown.rounds] == stopped and len(shown.searches) == 1 + stopped.count("") + (
        stopped[-1] == "last round"
    )
    assert [name for name, _ in engine.asked] == ["sub_questions", "answer", *["reflect"] * len(stopped)]
    assert said in evidence.fallback if said else not evidence.fallback
    assert engine.meter.total.failed == (stopped[-1] == "failed") == bool(shown.rounds[-1].failure)
    if "no marker" in said:
        assert shown.rounds[0].query == "Look for fog" and not shown.rounds[0].marked


@pytest.mark.parametrize(
    ("failing", "said"),
    [({"sub_questions": ["I cannot"]}, "the decomposition"), ({"answer": ["none"]}, "the initial answer")],
)
def test_a_failed_step_is_told_and_the_question_stands_for_it(index, failing, said):
    engine = Scripted(**{"sub_questions": [asking(QUESTION)], "reflect": ["So the answer is: x"]} | failing)
    evidence = Youtu(index, engine).retrieve(QUESTION)
    shown = routed(evidence)
    assert f"{said} failed" in evidence.fallback and evidence.passages[0].item.id == "p1"
    assert [one.query for one in shown.sub_questions] == [QUESTION] and bool(shown.answer) == ("answer" not in failing)


def test_thoughts_are_handed_on(index):
    engine = Scripted(
        sub_questions=[asking(QUESTION)], answer=["Thought: x\nAnswer: lind"],
        reflect=["The new query is: fog", "So the answer is: x"],
    )  # fmt: skip
    Youtu(index, engine).retrieve(QUESTION)
    first, second = (value for name, value in engine.asked if name == "reflect")
    assert first.thoughts == ("lind",) and second.thoughts == ("lind", "The new query is: fog")
    assert (first.question, first.query, second.question, second.query) == (QUESTION, QUESTION, QUESTION, "fog")
    assert second.searched == (QUESTION, "fog") and "### Triples" in first.context and first.passages[0][0] == "dune"


# -- the released code ------------------------------------------------------------------------------------------------


def released(index, *replies: str, sub=(QUESTION,), types=None, **given):
    engine = Scripted(sub_questions=[asking(*sub, **(types or {}))], reflect=replies or ["So the answer is: x"])
    return routed(Youtu(index, engine, profile="released", **given).retrieve(QUESTION)), engine


def test_released_routes_search_nodes_triples_and_passages(index):
    shown, _ = released(index)
    assert [one.route for one in shown.sub_questions[0].routes] == ["entity", "triple", "chunk"]
    same, _ = released(index, community=False, path=False)
    assert same.searches == shown.searches and same.ranking == shown.ranking, "both routes change nothing there"


def test_released_types_replace_the_nodes_and_switch_passages_off(index):
    shown, _ = released(index, types={"entity_types": ["place"]}, top_k=2)
    entity, triple = shown.sub_questions[0].routes
    assert entity.filtered and {name for name, _ in entity.through} == {"oslo", "norway"}
    assert [one.route for one in (entity, triple)] == ["entity", "triple"]
    assert not released(index, types={"entity_types": ["dragon"]})[0].sub_questions[0].routes[0].filtered
    tree = Youtu(
        index, profile="released", top_k=1
    )._tree  # first edges in the order of the graph, whatever their cosine
    assert tree._first_edges([index.schema_graph.row["lind"]]) == [0]


def test_released_bonus_for_eight_relations():
    stated = {("a", "located", "b"): ["p1"], ("a", "lies", "b"): ["p1"]}
    index = TreeIndex({"a": "x", "b": "x"}, stated, {}, (), [PASSAGES[0]], WordEncoder())
    tree = Youtu(index, profile="released")._tree
    scores = tree._reranked([0, 1], np.array([0.5, 0.55], np.float32))
    assert scores == {0: pytest.approx(0.6), 1: pytest.approx(0.55)}
    assert tree._reranked([0, 1], np.array([-0.1, 0.04], np.float32)) == {}, "0.05 or less is dropped"


def test_released_cuts_sub_questions_by_shared_words_and_rounds_not_at_all(index):
    shown, _ = released(
        index, "The new query is: oslo inside norway", "So the answer is: x", sub=("dune", "fog mist"), top_k_filter=1
    )
    first = {name for name, _ in shown.ranking[:1]}
    assert first == {"p1"}, "p1 shares the word dune with the question"
    assert len(shown.triples) > 1 and ("oslo", "inside", "norway") in [one[:3] for one in shown.triples]


def test_released_markers_and_prompt(index):
    shown, engine = released(index, "so the answer is: x", "The new query is: so the answer is: x")
    assert [one.query for one in shown.rounds] == ["so the answer is: x"] * 2
    assert [one.stopped for one in shown.rounds] == ["", "repeated"], "markers have their own case there"
    first, second = (value for name, value in engine.asked if name == "reflect")
    assert (first.question, second.question) == (QUESTION, "so the answer is: x"), "the question disappears"
    assert first.searched == second.searched == ()


# -- replies that are none, other uses --------------------------------------------------------------------------------

PIECES = [
    "", " ", "{", "}", "[", "]", '"sub_questions"', ":", "null", "NaN", '["a"', "```json\n", "So the answer is:",
    "The new query is:", "the NEW query is: fog", '{"sub_questions": [{"x": [', "Answer:", "Thought:", "\x00", "\u202e",
    "名前", "<script>", "1e999", '{"sub_questions": "dune", "involved_types": [[]]}', "true", "\\ud800", "x" * 300,
]  # fmt: skip


def test_no_malformed_reply_stops_a_question_and_all_are_counted(index):
    draw, told, failed = random.Random(7), 0, 0
    methods = [Youtu(index, profile=profile) for profile in ("paper", "released")]
    for number in range(100):
        steps = ("sub_questions", "answer", "reflect")
        engine = Scripted(
            **{step: ["".join(draw.choices(PIECES, k=draw.randint(0, 5))) for _ in range(5)] for step in steps}
        )
        method = methods[number % 2]
        method.engine = engine
        evidence = method.retrieve(QUESTION, k=6)
        shown = routed(evidence)
        assert len(evidence.passages) == 6 and shown.sub_questions
        events = [event for event in evidence.trace if event.kind == "LLM" and event.failure]
        assert len(events) == engine.meter.total.failed
        assert (evidence.fallback or "").count("failed") >= len(events)
        told, failed = told + len(engine.asked), failed + len(events)
    assert told >= 400 and failed > 100


names = st.sampled_from(sorted(TYPES))
GRAPHS = st.dictionaries(
    st.tuples(names, st.sampled_from(["directed", "born"]), names),
    st.lists(st.sampled_from(["p1", "p2", "p3"]), min_size=1, max_size=2, unique=True), max_size=12,
)  # fmt: skip


@given(GRAPHS, st.text("dunelifog borwh", min_size=1, max_size=30).filter(str.strip), st.integers(1, 5), st.booleans())
def test_invariants(stated, question, k, agent):
    index = TreeIndex(TYPES, stated, ATTRIBUTES, COMMUNITIES, PASSAGES, WordEncoder())
    evidence = Youtu(index, agent=agent, top_k=k).retrieve(question, k=6)
    members = [fact.members for fact, _ in evidence.facts]
    assert len(members) <= k and len(set(members)) == len(members) and len(evidence.paths) <= k
    assert len(evidence.context.relations) == len(members) and len(evidence.passages) == 6
    for search in routed(evidence).searches:
        assert len(search.triples) <= k and len(search.passages) <= k
        for route in search.routes:
            scores = [score for *_, score in route.triples]
            assert len(scores) <= k and scores == sorted(scores, reverse=True)
    assert evidence == Youtu(index, agent=agent, top_k=k).retrieve(question, k=6, trace="ids")
