"""KET-RAG: both channels by hand, the budget under every split, what the profiles do differently."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench import tokens
from workbench.errors import SettingError
from workbench.index import Index
from workbench.layouts import ket_rag as layout
from workbench.methods.ket_rag import channels
from workbench.methods.ket_rag.channels import Bridges, Rows, head_tokens
from workbench.records import ContextEntity, ContextRelation, Passage, Unit

LAYERS = ("pieces", "keywords", "skeleton")
QUESTIONS = (
    "Which lake does the river at Orsby flow into?",
    "Who designed the bridge over the river at Vennick?",
    "東京",
    "x" * 5000,
)
PROFILES = ("workbench", "released", "thesis")


# -- the keyword channel by hand --------------------------------------------------------------------------------------


def standin(held, vectors, sizes):
    """Keywords that hold pieces, and pieces of so many tokens."""
    matrix = sp.csr_array(np.array(held, dtype=np.float32))
    return SimpleNamespace(vectors=np.array(vectors, np.float32), incidence=matrix), SimpleNamespace(
        tokens=np.array(sizes)
    )


# Products with (1, 0): "far" 0.2, "near" 0.9, "mid" 0.5. As cosines, "mid" would be 1 and the closest.
HELD = [[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]]
VECTORS = [[0.2, 0.1], [0.9, 0.4], [0.5, 0.0]]
COSINES = np.array([0.3, 0.6, 0.8, 0.9])


def pooled(cap, *, candidates=1000, duplicates_end_it=False, sizes=(10, 10, 10, 10)):
    layers = standin(HELD, VECTORS, sizes)
    return channels.pool(
        *layers, np.array([1.0, 0.0]), COSINES, candidates=candidates, cap=cap, duplicates_end_it=duplicates_end_it
    )


def test_pieces_come_keyword_by_keyword_and_stand_by_their_own_closeness():
    found = pooled(1000)
    assert found.brought == {1: 1, 0: 1, 2: 2, 3: 0}  # near: 1, 0; mid: 2; far: 3
    assert list(found.brought) == [1, 0, 2, 3]
    assert found.by_cosine(COSINES) == [3, 2, 1, 0]
    assert (found.keywords, found.tokens, found.ended) == (3, 40, "no keyword is left")


def test_the_pool_ends_at_the_first_piece_that_does_not_fit():
    assert list(pooled(30).brought) == [1, 0, 2]
    assert list(pooled(29).brought) == [1, 0] and pooled(29).ended == "full"
    assert list(pooled(25, sizes=(10, 10, 30, 1)).brought) == [1, 0]  # a smaller one further on is not looked for


def test_a_piece_that_is_there_ends_it_in_the_released_code_alone():
    # After near (1, 0) 20 tokens are used; the next keyword's first piece is 2, then 1 again, which would be 40 of 30.
    assert list(pooled(30, duplicates_end_it=True).brought) == [1, 0, 2]
    assert list(pooled(45, duplicates_end_it=True, sizes=(10, 20, 10, 5)).brought) == [1, 0, 2]
    assert list(pooled(45, sizes=(10, 20, 10, 5)).brought) == [1, 0, 2, 3]


def test_no_more_keywords_are_looked_at_than_asked_for():
    assert list(pooled(1000, candidates=1).brought) == [1, 0]


# -- bridges by hand --------------------------------------------------------------------------------------------------

NAMES = ["LAKE MIRA", "ORSBY", "QUELL", "O'NEIL"]
TEXTS = [
    "Orsby lies on the Aldra.",
    "The Aldra feeds LAKE\nMira at Orsby.",
    "Quell, near Lake Mira",
    "Lake of Mira",
    "",
]


def test_a_piece_names_an_entity_that_stands_in_it_word_by_word():
    named = Bridges(NAMES, TEXTS).named.toarray()
    assert named.tolist() == [[0, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]


def test_what_an_entity_has_is_shared_by_the_pieces_that_name_it():
    # Shown: piece 1 (1), then piece 0 (1/2). Matched: QUELL. So LAKE MIRA has 1, ORSBY 1 + 1/2, QUELL 1.
    scores, held = Bridges(NAMES, TEXTS).scores([2], [1, 0])
    assert held.tolist() == [1.0, 1.5, 1.0, 0.0]
    assert scores.tolist() == [0.75, 0.5 + 0.75, 0.5 + 1.0, 0.0, 0.0]


def test_why_a_piece_is_there():
    bridges = Bridges(NAMES, TEXTS)
    _, held = bridges.scores([], [1, 0])
    assert bridges.best(2, held) == 0 and bridges.first(0, [1, 0]) == 1
    assert bridges.best(3, held) is None and bridges.first(2, [1, 0]) is None


def test_bridges_of_nothing():
    scores, held = Bridges([], ["a"]).scores([], [0])
    assert scores.tolist() == [0.0] and len(held) == 0
    assert len(Bridges(["A"], []).scores([0], [])[0]) == 0


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=30), max_size=4))
def test_any_names_in_any_texts(names, texts):
    scores, held = Bridges(names, texts).scores(range(len(names)), range(len(texts)))
    assert len(scores) == len(texts) and len(held) == len(names) and (scores >= 0).all()


# -- the entity channel by hand ---------------------------------------------------------------------------------------

#  A – B, A – C, B – C, A – D, B – D, C – E and D – E; degrees A 3, B 3, C 3, D 3, E 2
ENDS = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 4), (3, 4)]
DEGREES = [3, 3, 3, 3, 2]


def layer() -> SimpleNamespace:
    names = "ABCDE"
    relations = [
        ContextRelation(names[a], names[b], f"{names[a]} and {names[b]}.", 1.0, at, DEGREES[a] + DEGREES[b])
        for at, (a, b) in enumerate(ENDS)
    ]
    units = [Unit("0_0", "First."), Unit("0_1", "Second."), Unit("1_0", "Third.")]
    return SimpleNamespace(
        ends=np.array(ENDS),
        relations=relations,
        ranks=np.array([relation.rank for relation in relations]),
        entities=[ContextEntity(name, f"About {name}.", at, DEGREES[at]) for at, name in enumerate(names)],
        units=units,
        unit_chunk=np.array([0, 0, 1]),
        entity_units=sp.csr_array(np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1]])),
        relation_units=sp.csr_array(np.array([[0, 0, 1], [0, 0, 1], *[[1, 1, 0]] * 5])),
    )


def rows(skeleton) -> Rows:
    return Rows(SimpleNamespace(pieces=[Unit("0", "Text.", "Title")]), skeleton, titles=True)


def test_relationships_among_entities_stand_before_those_with_others():
    related = channels.Skeleton(layer()).related
    # D is joined to A and to B, C too; of these A – C and B – C have the rank 6, as A – D and B – D.
    assert related([0, 1], 10) == [(0, None), (1, 2), (2, 2), (3, 2), (4, 2)]
    # of C and D: both ends of 1 to 4 but for A and B (2 links each), E (2 links, a lower rank)
    assert related([2, 3], 10) == [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2)]
    assert related([2, 3], 3) == [(1, 2), (2, 2), (3, 2)]
    assert related([0, 1, 2], 1) == [(0, None), (1, None), (2, None), (3, 2)]


def test_the_other_end_with_more_links_is_first_and_then_the_higher_rank():
    # E with A: B and C and D have one link each; of the same rank 6. E's own neighbours have rank 5.
    assert channels.Skeleton(layer()).related([0, 4], 10) == [(1, 2), (3, 2), (5, 2), (6, 2), (0, 1)]


def test_units_of_an_entity_by_its_relationships_in_them():
    # A: relationships 0 and 1 are in unit 2, 3 in units 0 and 1.
    assert channels.Skeleton(layer()).units(0) == [2, 0, 1]
    assert channels.Skeleton(layer()).units(3) == []


def test_tables_grow_entity_by_entity_until_they_do_not_fit():
    skeleton = layer()
    graph, counted = channels.Skeleton(skeleton), rows(skeleton)

    def whole(many):
        related = graph.related(list(range(many)), 10 * many)
        names = related[0][1] is not None
        sizes = sum(counted.relation_tokens(row, links if names else None) for row, links in related)
        return head_tokens("relations", names) + sizes

    entities = head_tokens("entities") + sum(map(counted.entity_tokens, range(5)))
    for many in (1, 3):
        cap = entities + whole(many)
        found = channels.tables(graph, counted, range(5), cap, 10)
        assert found.entities == [0, 1, 2, 3, 4]
        assert len(found.relations) == len(graph.related(list(range(many)), 99))
        assert found.tokens == cap
    assert channels.tables(graph, counted, range(5), entities + whole(1) - 1, 10).relations == []
    assert channels.tables(graph, counted, range(5), head_tokens("entities"), 10) == ([], [], 0)


def test_links_are_a_column_where_the_first_relationship_has_them():
    skeleton = layer()
    graph, counted = channels.Skeleton(skeleton), rows(skeleton)
    assert channels.tables(graph, counted, [0], 999, 10).relations == [(0, 1), (1, 1), (3, 1)]
    assert {links for _, links in channels.tables(graph, counted, [0, 1], 999, 10).relations} == {None}


def test_leading_items_and_what_a_table_without_rows_costs():
    assert tokens.leading("abc", lambda _, place: place, 13, 10) == (["a", "b"], 13)
    assert tokens.leading("abc", lambda _, place: place, 10, 10) == ([], 0)


# -- the whole --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Index:
    """The tiny corpus, with a passage of several pieces."""
    data = tiny_dataset()
    long = Passage("p9", "Aldra Valley", "The valley of the River Aldra has many mills near Orsby. " * 30)
    folder = tmp_path_factory.mktemp("indexes") / "tiny"
    data = replace(data, passages=(*data.passages, long), extractions=None)
    return Index.build(data, None, folder, encoder=TinyEncoder(), layers=LAYERS, progress=False)


@pytest.fixture(scope="module")
def meridian(meridian_profiles) -> Index:
    return meridian_profiles


def meridian_questions() -> list[str]:
    return [question.question for question in wb.load("meridian").questions[:20]]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("strategy", ["keyword", "text", "skeleton", "three"])
@pytest.mark.parametrize("theta", [0, 0.25, 0.5, 0.75, 1])
def test_the_context_as_it_is_written_fits(meridian, index, profile, strategy, theta):
    larger = [(meridian, (2000,))] if strategy == "keyword" else []
    for over, budgets in [*larger, (index, (100, 333, 1000))]:
        for budget in budgets:
            method = wb.method("ket_rag", over, profile=profile, strategy=strategy, theta=theta, tokens=budget)
            for question in QUESTIONS:
                context = method.retrieve(question).context
                text = method.write(context)
                assert tokens.count(text) <= budget
                assert layout.write(layout.parse(text), empty_reports=text.startswith("[]")) == text
                assert text.startswith("[]") == (profile == "released" and theta > 0)
                assert theta or not (context.entities or context.relations or context.sources)
                assert context.chunks or theta == 1 or strategy == "skeleton" or budget < 1000
                assert (layout.STUB in text) == (not context.chunks)


def test_most_of_the_budget_is_used(meridian):
    for profile in PROFILES:
        method = wb.method("ket_rag", meridian, profile=profile, tokens=2000)
        assert tokens.count(method.write(method.retrieve(QUESTIONS[1]).context)) > 0.8 * 2000


def test_a_context_of_default_size(meridian):
    method = wb.method("ket_rag", meridian)
    assert tokens.count(method.write(method.retrieve(QUESTIONS[1]).context)) <= 12_000


def test_the_entity_channel_has_what_the_keywords_leave(index):
    """The corpus has fewer tokens than the keyword channel may have, so that more than half is left."""
    method = wb.method("ket_rag[tokens=3000,theta=0.2]", index)
    skeleton = method.retrieve(QUESTIONS[0]).trace.find("skeleton")[0]
    chunks = method.retrieve(QUESTIONS[0]).context.chunks
    used = head_tokens("chunks") + sum(tokens.count(layout.unit_row(unit, unit.id)) for unit in chunks)
    assert skeleton.inputs["budget"] == int((3000 - used) * 0.25) > 150


def test_the_trace_says_where_the_tokens_go(meridian):
    evidence = wb.method("ket_rag[tokens=2000]", meridian).retrieve(QUESTIONS[1])
    said = evidence.trace.find("budget")[0].outputs
    text = wb.method("ket_rag[tokens=2000]", meridian).write(evidence.context)
    assert said["chunks"] + said["left"] == 2000 and said["chunks"] <= 1000
    assert 0 <= said["chunks"] + said["tables"] + said["sources"] - tokens.count(text) <= 4


@pytest.mark.parametrize("profile", PROFILES)
def test_passages_are_those_behind_the_units_and_k_cuts_them_alone(meridian, profile):
    method = wb.method("ket_rag", meridian, profile=profile, tokens=3000)
    few, many = method.retrieve(QUESTIONS[1], k=3), method.retrieve(QUESTIONS[1], k=1000)
    behind = {passage for unit in (*many.context.chunks, *many.context.sources) for passage in unit.passages}
    assert {passage.id for passage, _ in many.passages} == behind
    assert few.passages == many.passages[:3] and few.context == many.context
    first = many.context.chunks[0].passages[0]
    assert many.passages[0].item.id == first and many.passages[0].score == 1.0


@pytest.mark.parametrize("budget", [1, 60, 400])
def test_a_budget_cuts_the_context_as_well(meridian, budget):
    method = wb.method("ket_rag[tokens=3000]", meridian)
    found, whole = method.retrieve(QUESTIONS[1], budget=budget), method.retrieve(QUESTIONS[1]).context
    assert set(found.context.chunks) < set(whole.chunks) and set(found.context.sources) < set(whole.sources)
    empty = tokens.count(layout.write(type(whole)()))
    assert tokens.count(layout.write(found.context)) <= max(budget, empty)


def test_bridged_sources_repeat_no_chunk_and_say_why_they_are_there(meridian):
    evidence = wb.method("ket_rag[tokens=3000]", meridian).retrieve(QUESTIONS[1])
    chunks, sources = evidence.context.chunks, evidence.context.sources
    assert sources and not {unit.text for unit in chunks} & {unit.text for unit in sources}
    assert len({unit.id for unit in sources}) == len(sources)
    told = evidence.trace.find("sources")[0].outputs["sources"]
    assert [why["source"] for why in told] == [unit.id for unit in sources]
    scores = [why["score"] for why in told]
    assert scores == sorted(scores, reverse=True) and min(scores) > 0
    for why, unit in zip(told, sources):
        assert (
            " ".join(why["entity"].casefold().split()) in " ".join(unit.text.casefold().split()) or "-" in why["entity"]
        )
        if why["from"] != "question":
            assert why["from"] in {chunk.id for chunk in chunks}


def test_the_trace_says_which_keyword_brought_a_chunk(meridian):
    evidence = wb.method("ket_rag[tokens=3000]", meridian).retrieve(QUESTIONS[1])
    (event,) = evidence.trace.find("keyword channel")
    assert list(event.outputs["brought"]) == [unit.id for unit in evidence.context.chunks]
    for unit in evidence.context.chunks:
        assert event.outputs["brought"][unit.id] in unit.text
    assert [score for _, score in event.scores] == sorted((score for _, score in event.scores), reverse=True)


def test_the_released_code_repeats_sources_and_writes_empty_reports(meridian):
    released = wb.method("ket_rag[profile=released]", meridian)
    mended = wb.method("ket_rag[profile=released,repeat_sources=false]", meridian)
    repeats = 0
    for question in meridian_questions():
        contexts = [method.retrieve(question).context for method in (released, mended)]
        repeated, once = ([unit.text for unit in context.sources] for context in contexts)
        unique = list(dict.fromkeys(repeated))
        assert len(set(once)) == len(once) and once[: len(unique)] == unique
        repeats += len(repeated) - len(unique)
    assert repeats
    assert released.write(contexts[0]).startswith("[]\n\n-----Entities-----\n")
    assert mended.write(contexts[0]).startswith("[]") and not wb.method("ket_rag", meridian).write(
        contexts[0]
    ).startswith("[]")


def test_three_channels_show_every_piece_once(meridian):
    evidence = wb.method("ket_rag[profile=thesis,tokens=3000]", meridian).retrieve(QUESTIONS[1])
    ids = [unit.text for unit in evidence.context.chunks]
    assert len(set(ids)) == len(ids)
    keyword_channel, text = (evidence.trace.find(name)[0] for name in ("keyword channel", "text channel"))
    assert keyword_channel.inputs["budget"] == 750 and text.inputs["budget"] == 1500


def test_the_text_strategy_is_dense_retrieval_of_pieces(meridian):
    method = wb.method("ket_rag[strategy=text,theta=0]", meridian)
    evidence = method.retrieve(QUESTIONS[1])
    cosines = np.asarray(meridian.pieces.vectors) @ meridian.encode_query(QUESTIONS[1], "passages")
    pieces = method.index.pieces.pieces
    best = [pieces[row].text for row in np.argsort(-cosines, kind="stable")]
    assert [unit.text for unit in evidence.context.chunks] == best[: len(evidence.context.chunks)]


def test_a_piece_from_inside_a_passage_has_its_title_but_in_the_released_code(index):
    for spec, titled in (("ket_rag", True), ("ket_rag[profile=released]", False)):
        method = wb.method(spec, index)
        inner = [unit for unit in method.retrieve(QUESTIONS[0]).context.chunks if unit.passages == ("p9",)]
        assert len(inner) > 1 and {unit.title for unit in inner[1:]} >= ({"Aldra Valley"} if titled else {""})
        assert (
            "|Aldra Valley\n" in method.write(method.retrieve(QUESTIONS[0]).context).split("chunk_2|", 1)[1]
        ) or not titled


def test_neither_an_engine_nor_a_second_encoding_is_asked_for(index):
    class Silent:
        name, meter = "silent", None

        def run(self, *_, **__):
            raise AssertionError("the engine was asked")

    class Once(TinyEncoder):
        asked = 0

        def encode_query(self, text, task=""):
            Once.asked += 1
            return super().encode_query(text, task)

    method = wb.method("ket_rag", Index.open(index.folder, Once()), Silent())
    method.retrieve(QUESTIONS[0])
    assert Once.asked == 1


def test_a_corpus_without_entities_still_has_chunks(tmp_path):
    data = replace(tiny_dataset(), passages=(Passage("p", "", "and or but"),), extractions=None, questions=())
    index = Index.build(data, None, tmp_path / "bare", encoder=TinyEncoder(), layers=LAYERS, progress=False)
    evidence = wb.method("ket_rag", index).retrieve("but?")
    assert evidence.context.entities == ()
    assert evidence.fallback and "no entity" in evidence.fallback


@pytest.mark.parametrize(
    "setting",
    [
        "theta=2",
        "theta=x",
        "tokens=5",
        "tokens=1.5",
        "strategy=x",
        "sources=x",
        "entities=0",
        "pool=0.5",
        "keywords=no",
    ],
)
def test_a_senseless_setting_is_refused(index, setting):
    with pytest.raises(SettingError, match=setting.partition("=")[0]):
        wb.method(f"ket_rag[{setting}]", index)
