"""Think-on-Graph on a graph whose walk is worked out by hand, with an engine that says what it is told."""

import pytest
from scripted import Scripted
from small import index_of

import workbench as wb
from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.methods.think_on_graph import Direction, directions, other_end
from workbench.steps import exploring
from workbench.steps.exploring import Choice

QUESTION = "Where was the founder of Kestrel born?"
STATED = {
    "founding": [("Kestrel", "founded by", "Nora")],
    "birth": [("Nora", "born in", "Orsby"), ("Nora", "born in", "Quell")],
    "taste": [("Nora", "likes", "Tea")],
    "owning": [("Vale", "owns", "Kestrel")],
    "nothing": [],
}


def relations(*pairs):
    return {"choices": [Choice(number=number, score=score) for number, score in pairs]}


YES, NO = {"enough": True}, {"enough": False}


def reads(chosen, **said) -> Scripted:
    """Chooses relations by their names, whatever number they stand under."""
    left = list(chosen)

    def choose(value):
        named = {name: at for at, (name, _) in enumerate(value.relations, 1)}
        return relations(*((named[name], score) for name, score in left.pop(0).items()))

    return Scripted(choose_relations=choose, **said)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return index_of(tmp_path_factory.mktemp("walk"), STATED)


def walk(index, engine, k=10, **settings):
    return wb.method("think_on_graph", index, engine, **settings).retrieve(QUESTION, k)


def test_the_beam_s_paths_and_scores_are_those_worked_out_by_hand(index):
    """Depth 1: founded by .8, owns .2. Depth 2 from Nora: born in .7 to Orsby .9 and Quell .1, likes .3; Vale has
    nothing new. So Orsby .8·.7·.9 = .504, Tea .8·.3 = .24, Quell .8·.7·.1 = .056."""
    engine = reads(
        [{"founded by": 0.8, "owns": 0.2}, {"born in": 0.7, "likes": 0.3}],
        choose_entities=[{"scores": [0.9, 0.1]}], enough=[NO, YES],
    )  # fmt: skip
    found = walk(index, engine)
    assert [(path.nodes, path.relations, path.passages, round(score, 6)) for path, score in found.paths] == [
        (("kestrel", "nora", "orsby"), ("founded by", "born in"), ("founding", "birth"), 0.504),
        (("kestrel", "nora", "tea"), ("founded by", "likes"), ("founding", "taste"), 0.24),
        (("kestrel", "vale"), ("owns⁻¹",), ("owning",), 0.2),
        (("kestrel", "nora", "quell"), ("founded by", "born in"), ("founding", "birth"), 0.056),
    ]
    assert [(i, round(s, 6)) for i, s in found.ranking[:4]] == [
        ("founding", 0.8), ("birth", 0.504), ("taste", 0.24), ("owning", 0.2),
    ]  # fmt: skip
    assert [(entity.name, round(score, 6)) for entity, score in found.entities] == [
        ("kestrel", 1.0), ("nora", 0.8), ("orsby", 0.504), ("tea", 0.24), ("vale", 0.2), ("quell", 0.056),
    ]  # fmt: skip
    assert found.facts[1].item.members == ("nora", "born in", "orsby")
    assert (found.scale, found.fallback) == ("path", None)
    tail = found.ranking[4:]
    assert [name for name, _ in tail] == ["nothing"] and tail[0][1] <= 0
    (event,) = found.trace.find("rank passages")
    assert (event.inputs["end"], event.outputs["by_paths"], event.outputs["of"]) == ("the facts are enough", 4, 5)
    chosen = [{"founded by": 0.8, "owns": 0.2}, {"born in": 0.7, "likes": 0.3}]
    narrow = walk(index, reads(chosen, choose_entities=[{"scores": [0.9, 0.1]}], enough=[NO, YES]), width=2)
    assert {path.nodes[-1] for path, _ in narrow.paths} == {"orsby", "tea", "vale"}, "of three ways on two are kept"


def test_what_is_asked(index):
    engine = reads(
        [{"founded by": 1.0}, {"born in": 1.0}], choose_entities=[{"scores": [1, 0]}], enough=[NO, YES]
    )  # fmt: skip
    walk(index, engine)
    assert engine.names == [
        "choose_relations", "enough", "choose_relations", "choose_entities", "enough",
    ]  # fmt: skip
    first, second = engine.inputs("choose_relations")
    assert (first.entity, first.path, set(first.relations)) == ("kestrel", (), {("founded by", True), ("owns", False)})
    # The way back to Kestrel is not offered.
    assert (second.entity, second.path) == ("nora", (("kestrel", "founded by", "nora"),))
    assert set(second.relations) == {("born in", True), ("likes", True)}
    (entities,) = engine.inputs("choose_entities")
    assert (entities.pattern, entities.entities) == (("nora", "born in", "?"), ("orsby", "quell"))
    # All facts so far, not those of the last depth alone; an entity of score 0 is not among them.
    assert engine.inputs("enough")[1].facts == (("kestrel", "founded by", "nora"), ("nora", "born in", "orsby"))


@pytest.mark.parametrize(("settings", "expected"), [({}, 0.4), ({"temperature": 0}, 0)])
def test_it_explores_warm_and_judges_cold(index, settings, expected):
    engine = reads(
        [{"founded by": 1.0}, {"born in": 1.0}], choose_entities=[{"scores": [1, 0]}], enough=[NO, YES]
    )  # fmt: skip
    walk(index, engine, **settings)
    temperatures = {step.name: step.temperature for step in engine.steps}
    assert temperatures == {"choose_relations": expected, "choose_entities": expected, "enough": 0}


# -- ends -------------------------------------------------------------------------------------------------------------


def end(found):
    return found.trace.find("rank passages")[0].inputs["end"]


def test_where_no_candidate_is_left_what_was_found_is_ranked(index):
    found = walk(index, reads([{"owns": 1.0}, {}], enough=[NO]))
    assert (end(found), found.ranking[0], found.fallback) == ("no candidate is left", ("owning", 1.0), None)


def test_the_depth_is_the_last_and_then_it_answers_without_the_graph(index):
    told = [{"founded by": 1.0}, {"likes": 1.0}]
    found = walk(index, engine := reads(told, enough=[NO, NO]), depth=2)
    assert len(engine.inputs("enough")) == 2
    assert end(found) == "the depth is reached"
    assert "without the graph" in found.fallback and found.scale == "cosine"
    assert found.ranking == wb.method("dense", index).retrieve(QUESTION).ranking
    assert [path.nodes for path, _ in found.paths] == [("kestrel", "nora", "tea")]  # what was found is still told
    kept = walk(index, reads(told, enough=[NO, NO]), depth=2, unfinished="keep")
    assert (kept.fallback, [name for name, _ in kept.ranking[:2]]) == (None, ["founding", "taste"])


def test_a_question_about_nothing_in_the_graph_asks_nothing(index):
    engine = Scripted()
    found = wb.method("think_on_graph", index, engine).retrieve("Who is Zzyzx Qwrty?")
    assert "no name of the question" in found.fallback and engine.asked == []


# -- format errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [ValueError("no JSON"), *(relations(pair) for pair in [(0, 1), (3, 1), (-1, 1), (1, 0), (1, -1)])]
)
def test_relations_that_cannot_be_read_were_not_offered_or_are_worth_nothing_are_none(index, said):
    found = walk(index, Scripted(choose_relations=[said]))
    assert found.fallback == "dense ranking, because no relation was followed"
    assert found.ranking == wb.method("dense", index).retrieve(QUESTION).ranking
    assert found.paths == () and [entity.name for entity, _ in found.entities] == ["kestrel"]


def test_scores_above_one_are_scaled_a_number_counts_once_and_the_best_width_are_kept(index):
    said = [relations((1, 60), (2, 20), (1, 5))]
    assert [score for _, score in walk(index, Scripted(choose_relations=said, enough=[YES])).paths] == [0.75, 0.25]
    assert len(walk(index, Scripted(choose_relations=said, enough=[YES]), width=1).paths) == 1


@pytest.mark.parametrize("scores", [ValueError("no JSON"), {"scores": []}, {"scores": [1]}, {"scores": [1, 0, 0]}])
def test_entities_are_equal_where_their_scores_cannot_be_used(index, scores):
    engine = reads([{"founded by": 1.0}, {"born in": 1.0}], choose_entities=[scores], enough=[NO, YES])
    assert [score for _, score in walk(index, engine).paths] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("step", "reply"),
    [
        (exploring.ENTITIES, '{"scores": [1e999, 0]}'),
        (exploring.RELATIONS, '{"choices": [{"number": 1, "score": 1e999}]}'),
        (exploring.RELATIONS, '{"choices": [{"number": 1.5, "score": 1}]}'),
        (exploring.ENOUGH, '{"enough": "perhaps"}'),
    ],
)
def test_scores_without_end_and_the_like_are_format_errors(step, reply):
    """Infinity divided by infinity would be a score that no order holds for."""
    with pytest.raises(Unreadable):
        parse(step, Reply(reply))


# -- many entities, hostile names, settings ---------------------------------------------------------------------------


def test_of_many_entities_a_sample_is_seen_always_the_same(tmp_path):
    index = index_of(tmp_path, {"p": [("Kestrel", "employs", f"person {n:02}") for n in range(20)]})

    def seen(question):
        engine = reads([{"employs": 1.0}], choose_entities=[{"scores": [1, 0, 0, 0, 0]}], enough=[YES])
        wb.method("think_on_graph", index, engine).retrieve(question)
        return engine.inputs("choose_entities")[0].entities

    first = seen("Whom does Kestrel employ?")
    assert len(set(first)) == 5 and seen("Whom does Kestrel employ?") == first
    assert any(seen(f"Whom does Kestrel employ in {year}?") != first for year in range(1900, 1904))
    few = reads([{"employs": 1.0}], choose_entities=[{"scores": [1] + [0] * 19}], enough=[YES])
    wb.method("think_on_graph", index, few, many=21).retrieve("Whom does Kestrel employ?")
    assert len(few.inputs("choose_entities")[0].entities) == 20


def test_of_a_hub_the_relations_nearest_to_the_question_are_listed(tmp_path):
    index = index_of(tmp_path, {"p": [("Kestrel", f"relation {n}", f"thing {n}") for n in range(30)]})
    engine = Scripted(choose_relations=[relations((1, 1))], enough=[YES])
    wb.method("think_on_graph", index, engine, relations=4).retrieve("Which thing is Kestrel?")
    (value,) = engine.inputs("choose_relations")
    cosines = index.facts.fact_vectors @ index.encode_query("Which thing is Kestrel?")
    assert list(value.similarities) == sorted(cosines.tolist(), reverse=True)[:4]
    named = {relation: cosine for (_, relation, _), cosine in zip(index.facts.facts, cosines)}
    assert [named[relation] for relation, _ in value.relations] == list(value.similarities)


def test_relations_are_grouped_by_name_and_direction(tmp_path):
    stated = [("A", "knows", "B"), ("A", "knows", "C"), ("D", "knows", "A"), ("A", "is", "A"), ("E", "is", "E")]
    index = index_of(tmp_path, {"p": stated})
    row, facts = index.facts.phrase_row, {fact: at for at, fact in enumerate(index.facts.facts)}
    found = directions(index, row["a"])
    assert found == [
        Direction("knows", False, (facts["d", "knows", "a"],)),
        Direction("knows", True, (facts["a", "knows", "b"], facts["a", "knows", "c"])),
    ]
    ends = [other_end(index, fact, row["a"]) for direction in found for fact in direction.facts]
    assert ends == [row["d"], row["b"], row["c"]] and directions(index, row["e"]) == []
