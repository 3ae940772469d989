"""DotRAG on a graph of twelve nodes, worked out by hand, with an engine that says what it is told."""

from functools import partial

import numpy as np
import pytest
from scripted import Scripted
from typed_graphs import GraphIndex, TypedGraph, verdict

import workbench as wb
from workbench.methods.dotrag.aggregation import union
from workbench.methods.dotrag.dots import dots
from workbench.methods.dotrag.events import JudgedPath
from workbench.methods.dotrag.search import normal, without_prefixes
from workbench.steps import judge_paths

QUESTION = "In which languages are the films by the director of Kestrel?"
TYPES = {
    "Kestrel": "film", "Owl Night": "film", "Red Moor": "film", "Far Shore": "film", "Nora Hale": "person",
    "Ivo Brand": "person", "French": "language", "Dutch": "language", "1984": "year", "Drama": "genre", "moor": "tag",
    "Redact": "unknown",
}  # fmt: skip
TRIPLES = [
    ("Kestrel", "directed by", "Nora Hale"), ("Kestrel", "written by", "Nora Hale"),
    ("Kestrel", "starred", "Ivo Brand"), ("Kestrel", "in language", "Dutch"), ("Kestrel", "released in", "1984"),
    ("Kestrel", "has genre", "Drama"), ("Kestrel", "tied to", "Redact"),
    ("Owl Night", "directed by", "Nora Hale"), ("Owl Night", "in language", "French"),
    ("Owl Night", "has genre", "Drama"),
    ("Red Moor", "starred", "Ivo Brand"), ("Red Moor", "in language", "French"), ("Red Moor", "released in", "1984"),
    ("Red Moor", "has tag", "moor"),
    ("Far Shore", "directed by", "Ivo Brand"), ("Far Shore", "in language", "Dutch"),
]  # fmt: skip
GOLD = ("Kestrel", "Nora Hale", "Owl Night", "French")
ASTRAY = ("Kestrel", "Ivo Brand", "Red Moor", "French")


class Names:
    """A text is the names in it: its cosine with an entity is 1 if it names that one alone, 0 if it does not."""

    dimension = len(TYPES) + 1

    def encode(self, texts):
        counts = np.array([[text.count(name) for name in TYPES] + [0] for text in texts], dtype=np.float32)
        counts = counts.reshape(-1, self.dimension)
        counts[~counts.any(axis=1), -1] = 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def index():
    return GraphIndex(TypedGraph(TYPES, TRIPLES, Names()), Names())


def regions(*spans, topics=("languages",), routing=1):
    return {
        "anchors": [{"span": span, "description": "", "type": None} for span in spans], "topics": list(topics),
        "routing": routing,
    }  # fmt: skip


def rules(query, types=("film", "person", "language")):
    return {
        "query_constraints": "languages", "intermediate_rules": ["names the director"],
        "terminal_rules": ["states a language"], "allowed_types": list(types), "initial_query": query,
    }  # fmt: skip


def judge(said):
    """A judge that knows paths by their nodes, (label, next question, confidence); all others are irrelevant."""
    return lambda value: {"verdicts": [verdict(path, *said.get(path.nodes, ("irrelevant",))) for path in value.paths]}


def engine(judged=None, queries=(), **steps):
    """Scripted what leads to the answer in two iterations, unless told otherwise."""
    left = list(queries)
    judged = {
        ("Kestrel", "Nora Hale"): ("partial", "French films", 0.7), GOLD: ("complete", "", 0.9),
    } if judged is None else judged  # fmt: skip
    told = {
        "select_regions": lambda value: regions("Kestrel"),
        "dot_rules": lambda value: rules("Nora Hale"),
        "judge_paths": judge(judged),
        "fallback_query": lambda value: {"query": left.pop(0)} if left else ValueError("no idea"),
    }
    return Scripted(**told | steps)


def search(index, told, k=10, trace="full", **settings):
    """One candidate per query, by its own vector alone, so that it can be worked out which."""
    settings = {"candidates": 1, "relation_boost": False, **settings}
    return wb.method("dotrag", index, told, **settings).retrieve(QUESTION, k, trace=trace)


def found(evidence):
    return [(path.nodes, score) for path, score in evidence.paths]


# -- the whole way ----------------------------------------------------------------------------------------------------


def test_two_hops_worked_out_by_hand(index):
    """Iteration 1 finds the director (partial), 2 the language by a film of hers (complete), 3 a search that leads to
    nothing. Ways by the year and the genre are not in the region."""
    told = engine(queries=["Dutch"])
    evidence = search(index, told)
    assert found(evidence) == [(GOLD, 0.9)]
    ((path, _),) = evidence.paths
    assert path.relations == ("directed by / written by", "directed by⁻¹", "in language")
    assert path.passages == ("p:Kestrel", "p:Owl Night")
    assert [(entity.name, entity.type, score) for entity, score in evidence.entities] == [
        ("Kestrel", "film", 0.9), ("Nora Hale", "person", 0.9), ("Owl Night", "film", 0.9), ("French", "language", 0.9),
    ]  # fmt: skip
    assert [(fact.members, fact.passages) for fact, _ in evidence.facts] == [
        (("Kestrel", "directed by", "Nora Hale"), ("p:Kestrel",)),
        (("Kestrel", "written by", "Nora Hale"), ("p:Kestrel",)),
        (("Owl Night", "directed by", "Nora Hale"), ("p:Owl Night",)),
        (("Owl Night", "in language", "French"), ("p:Owl Night",)),
    ]
    # The question names Kestrel alone; the others are as far from it and come in the order of the corpus.
    assert evidence.ranking == [
        ("p:Kestrel", 1.0), ("p:French", 0.0), ("p:Nora Hale", 0.0), ("p:Owl Night", 0.0),
    ]  # fmt: skip
    assert (evidence.scale, evidence.fallback, evidence.selected) == ("cosine", None, 4)
    assert [name for name, _ in told.asked] == [
        "select_regions", "dot_rules", "judge_paths", "judge_paths", "fallback_query", "judge_paths",
    ]  # fmt: skip


def test_what_the_steps_are_asked(index):
    told = engine(queries=["Dutch"])
    search(index, told)
    (chosen,) = told.inputs("select_regions")
    assert chosen.about == "A small graph." and chosen.named == (("Kestrel", "film"),)
    assert ("film", "a film", 4) in chosen.types
    assert ("in language", ("film",), ("language",), "") in chosen.relations
    (ruled,) = told.inputs("dot_rules")
    assert (ruled.concept, ruled.anchors, ruled.hops) == (
        "Kestrel", (("Kestrel", "film", "Kestrel is a film."),), 3,
    )  # fmt: skip
    first, second, third = told.inputs("judge_paths")
    # The question names Kestrel. A relation of two names has the cosine 1/√2 with it if Kestrel is one, else 0.
    assert first.paths[0].similarity == pytest.approx(1 / np.sqrt(2))
    assert second.paths[1].similarity == pytest.approx(1 / np.sqrt(2) / 3), (
        "the mean over the hops of the best relation"
    )
    assert [path.nodes for path in first.paths] == [("Kestrel", "Nora Hale")]
    (path,) = first.paths
    assert path.passage == (
        "Kestrel → Nora Hale: Kestrel directed by Nora Hale. Kestrel written by Nora Hale."
    )  # both relations, by label
    assert path.relations == ((("directed by", True), ("written by", True)),)
    assert path.types == ("film", "person") and path.id == "0.1.1"
    # Both ways of three hops, in the order of their nodes.
    assert [path.nodes for path in second.paths] == [ASTRAY, GOLD]
    assert second.paths[1].relations[1:] == ((("directed by", False),), (("in language", True),))
    assert (first.history, second.history) == (("Nora Hale",), ("Nora Hale", "French films"))
    assert first.rules.terminal_rules == ["states a language"]
    (other,) = told.inputs("fallback_query")
    assert (other.history, other.tries) == (("Nora Hale", "French films"), 1)
    assert other.kept == (second.paths[1].passage,)
    assert [path.nodes for path in third.paths] == [
        ("Kestrel", "Dutch"),
        ("Kestrel", "Ivo Brand", "Far Shore", "Dutch"),
    ]


def test_the_trace_tells_all(index):
    evidence = search(index, engine(queries=["Dutch"]))
    trace = evidence.trace
    (chosen,), (dot,), (anchors,) = (trace.find(step) for step in ("select regions", "dot", "anchors"))
    assert chosen.outputs["accepted"] == [["low", "Kestrel"]] and chosen.outputs["named"] == [["Kestrel", "film"]]
    assert dict(dot.inputs) == {"dot": 0, "concept": "Kestrel", "level": "low"}
    assert dict(anchors.outputs) == {"weak": False, "exact": ["Kestrel"], "types": {"Kestrel": "film"}}
    (region,) = trace.find("region")
    assert dict(region.outputs) == {
        "hops": [1, 4, 3, 1], "nodes": 9, "edges": 10, "pruned": {"genre": 1, "tag": 1, "year": 1},
        "filter_relaxed": False, "truncated": False,
    }  # fmt: skip
    assert [dict(event.inputs) for event in trace.find("iteration")] == [
        {"iteration": 1, "queries": [["initial", "Nora Hale"]], "dropped": []},
        {"iteration": 2, "queries": [["partial:0.1.1", "French films"]], "dropped": []},
        {"iteration": 3, "queries": [["fallback", "Dutch"]], "dropped": []},
    ]
    _, second, third = trace.find("candidates")
    assert dict(second.outputs) == {"types": {"French": "language"}, "query": {"French": 0}, "excluded": 1}
    assert third.outputs["excluded"] == 2
    drawn, judged = trace.find("paths")[1].outputs, trace.find("judge")[1].outputs
    assert drawn["paths"]["0.2.2"]["nodes"] == list(GOLD) and (drawn["cut"], drawn["without"]) == ([], [])
    assert judged["unjudged"] == [] and set(judged["passages"]) == set(judged["verdicts"]) == {"0.2.1", "0.2.2"}
    assert [dict(event.outputs) for event in trace.find("keep")] == [
        {"kept": ["0.1.1"], "dropped": {}},
        {"kept": ["0.2.2"], "dropped": {"0.2.1": "irrelevant", "0.1.1": "superseded"}},
        {"kept": ["0.2.2"], "dropped": {"0.3.1": "irrelevant", "0.3.2": "irrelevant"}},
    ]
    (ended,) = trace.find("aggregate")
    assert ended.outputs["no_paths"] is False and list(ended.scores) == evidence.ranking


# -- stage 1 ----------------------------------------------------------------------------------------------------------


def anchored(index, chosen, question=QUESTION, **settings):
    """Per DOT: concept, level, anchors, weak."""
    told = engine(select_regions=lambda value: chosen, judge_paths=judge({}))
    evidence = wb.method("dotrag", index, told, t_max=1, **settings).retrieve(question)
    return [(dot.concept, dot.level, [anchor.name for anchor in dot.anchors], dot.weak) for dot in dots(evidence).dots]


KESTREL, FRENCH = ("Kestrel", "low", ["Kestrel"], False), ("French", "high", ["French"], False)
WEAK = ("languages", "low", ["1984"], True)  # all nodes are equally far from this name: the first


@pytest.mark.parametrize(
    ("chosen", "settings", "expected"),
    [
        (regions("Kestrel", "languages", topics=["French"]), {}, [KESTREL, WEAK]),  # specific: no topics
        (regions("Kestrel", topics=["French"], routing=0), {}, [KESTREL, FRENCH]),
        (regions("Kestrel", topics=["French"], routing=0), {"broad": "high"}, [FRENCH]),
        (regions("Nora Hale", topics=["French"]), {}, [FRENCH]),  # a name that the question does not have
        (regions(topics=[]), {}, [(QUESTION, "high", ["Kestrel"], False)]),
        (regions("Kestrel", "languages", "films"), {"max_concepts": 2}, [KESTREL, WEAK]),
    ],
)
def test_names_and_topics_of_the_question_have_dots(index, chosen, settings, expected):
    assert anchored(index, chosen, k_high=1, **settings) == expected


def test_a_name_of_a_node_needs_no_similarity_and_is_then_the_only_anchor(index):
    question = "Is Kestrel by Nora Hale?"

    def of(span, **settings):
        chosen = {"anchors": [{"span": span, "description": "Nora Hale", "type": None}], "topics": [], "routing": 1}
        return anchored(index, chosen, question, **settings)[0][2:]

    of = partial(of, tau=0.6)
    # Described as somebody else, whose cosine is 1/√2 as its own.
    assert of("Kestrel") == (["Kestrel"], False)
    assert of("Kestrel", exact_alone=False) == (["Kestrel", "Nora Hale"], False)
    assert of("Kestrel", exact_anchor=False) == (["Kestrel", "Nora Hale"], False)
    assert of("Kestrel", exact_anchor=False, max_sources=1) == (["Kestrel"], False)
    assert of("Kestrel", exact_anchor=False, tau=0.8) == (["Kestrel"], True)


def test_concepts_of_the_same_anchors_share_a_dot(index):
    said = anchored(index, regions("Kestrel", "kestrel"), "Kestrel, or kestrel?")
    assert [dot[:1] + dot[2:3] for dot in said] == [("Kestrel; kestrel", ["Kestrel"])]
    apart = anchored(index, regions("Kestrel", "kestrel", "Kestrel"), "Kestrel, or kestrel?", merge_anchors=False)
    assert [dot[:1] + dot[2:3] for dot in apart] == [("Kestrel", ["Kestrel"]), ("kestrel", ["Kestrel"])]


# -- stage 3 ----------------------------------------------------------------------------------------------------------


def test_the_cap_keeps_the_paths_to_the_most_similar_candidates(index):
    """French is nearer to the query than Owl Night: its two paths of three hops come before the one of two."""

    def capped(**settings):
        queries = ["Red Moor, Owl Night", "Far Shore"]
        told = engine({}, dot_rules=lambda value: rules("French, French, Owl Night"), queries=queries)
        return search(index, told, candidates=2, cap=2, relation_boost=False, **settings)

    first = capped().trace.find("paths")[0].outputs
    assert [path["nodes"][-1] for path in first["paths"].values()] == ["French", "French", "Owl Night"]
    assert first["cut"] == ["0.1.3"]
    assert capped().trace.find("judge")[0].outputs["verdicts"].keys() == {"0.1.1", "0.1.2"}
    # What was cut off was not evaluated, and is found again; unless it counts that it was retrieved.
    assert "Owl Night" in dict(capped().trace.find("candidates")[1].scores)
    assert "Owl Night" not in dict(capped(evaluated="retrieved").trace.find("candidates")[1].scores)


def test_candidates_without_an_admissible_path_are_never_looked_at_again(index):
    told = engine({}, dot_rules=lambda value: rules("French"), queries=["French!", "French films"])
    evidence = search(index, told, path_len_max=2)
    first, second, *_ = evidence.trace.find("paths")
    assert (first.outputs["paths"], first.outputs["without"]) == ({}, ["French"])
    assert "French" not in second.outputs["without"]
    # Nothing to judge, so nobody is asked.
    assert not [e for e in evidence.trace.children(evidence.trace.find("judge")[0].id)]


def test_repeated_searches_are_dropped_and_then_another_direction_is_asked_for(index):
    """The follow-up is the first query in other letters, and so are both fallbacks: the question itself is searched
    once, and then nothing is left."""
    said = {("Kestrel", "Nora Hale"): ("partial", "nora  hale?", 0.7)}
    evidence = search(index, engine(said, queries=["NORA HALE", "Nora-Hale"]), t_max=4)
    assert [dict(event.inputs) for event in evidence.trace.find("iteration")] == [
        {"iteration": 1, "queries": [["initial", "Nora Hale"]], "dropped": []},
        {"iteration": 2, "queries": [["fallback", QUESTION]], "dropped": ["nora  hale?"]},
    ]
    assert evidence.trace.find("dot")[0].outputs["reason"] == "no_query"


def test_the_most_confident_follow_ups_are_used(index):
    said = {
        ("Kestrel", "Nora Hale"): ("partial", "Owl Night", 0.2),
        ("Kestrel", "Ivo Brand"): ("partial", "Far Shore", 0.8),
        ("Kestrel", "Dutch"): ("partial", "Red Moor", 0.5),
    }
    told = engine(said, dot_rules=lambda value: rules("Nora Hale, Ivo Brand, Dutch"))
    evidence = search(index, told, candidates=3, queries_max=2, t_max=2)
    assert evidence.trace.find("iteration")[1].inputs["queries"] == [
        ["partial:0.1.2", "Far Shore"], ["partial:0.1.1", "Red Moor"],
    ]  # fmt: skip
    assert evidence.trace.find("iteration")[1].inputs["dropped"] == ["Owl Night"]


def test_of_parallel_relations_the_best_one_can_stand_for_all(index):
    told = engine()
    evidence = search(index, told, parallel="best")
    assert told.inputs("judge_paths")[0].paths[0].relations == ((("directed by", True),),)
    assert "written by" not in [fact.relation for fact, _ in evidence.facts]


# -- judging ----------------------------------------------------------------------------------------------------------


def all_of(value, label="complete"):
    return [verdict(path, label) for path in value.paths]


def test_missing_verdicts_are_asked_for_alone_and_others_are_dropped(index):
    """Of two verdicts the first reply has the second, one of an id that does not exist, and one of another batch."""

    def says(value):
        said = all_of(value)
        if len(said) > 1:
            said = [*said[1:], {**said[0], "id": "9.9.9"}, {**said[0], "id": "ex-a"}]
        return {"verdicts": said}

    told = engine(judge_paths=says, dot_rules=lambda value: rules("French"))
    evidence = search(index, told, t_max=1)
    assert [[path.id for path in value.paths] for value in told.inputs("judge_paths")] == [
        ["0.1.1", "0.1.2"],
        ["0.1.1"],
    ]
    assert {nodes for nodes, _ in found(evidence)} == {GOLD, ASTRAY} and evidence.fallback is None


def test_a_path_that_nobody_judges_is_left_out_and_its_end_may_come_again(index):
    told = engine(judge_paths=lambda value: {"verdicts": []}, queries=["Nora Hale, the director", "Nora Hale again"])
    evidence = search(index, told)
    assert [event.outputs["unjudged"] for event in evidence.trace.find("judge")] == [["0.1.1"], ["0.2.1"], ["0.3.1"]]
    assert evidence.trace.find("keep")[0].outputs["dropped"] == {"0.1.1": "unjudged"}
    assert len(told.inputs("judge_paths")) == 9  # asked three times in each iteration
    assert "DOT 0: 1 paths of iteration 1 were not judged (the judge left them out)" in evidence.fallback


def test_a_batch_that_fails_is_asked_again_in_smaller_ones(index):
    def says(value):
        return {"verdicts": all_of(value)} if len(value.paths) == 1 else ValueError("too much")

    told = engine(judge_paths=says, dot_rules=lambda value: rules("French"))
    evidence = search(index, told, t_max=1, judge_batch=2)
    assert [len(value.paths) for value in told.inputs("judge_paths")] == [2, 1, 1]
    assert len(evidence.paths) == 2 and evidence.fallback is None


# -- the prefix rule and the union ------------------------------------------------------------------------------------


def kept(id, nodes, label="complete", confidence=0.5):
    said = judge_paths.Verdict(id=id, label=label, confidence=confidence, justification="", next_question="")
    return JudgedPath(id, "", (), (), (), 0.0, entities=nodes).judged(said)


@pytest.mark.parametrize(
    ("shorter", "longer", "incomplete", "drop"),
    [("partial", "complete", ["a"], ["a"]), ("partial", "partial", ["a"], ["a"]), ("complete", "complete", [], ["a"]),
     ("complete", "partial", [], [])],
)  # fmt: skip
def test_a_path_that_another_one_goes_on_from_is_dropped_unless_it_ends_at_an_answer(shorter, longer, incomplete, drop):
    paths = [kept("a", (1, 2), shorter), kept("b", (1, 2, 3), longer), kept("c", (2, 3))]
    for which, gone in (("incomplete", incomplete), ("drop", drop), ("keep", [])):
        assert list(without_prefixes(paths, which)) == list(without_prefixes(paths[::-1], which)) == gone


def test_in_the_paper_a_path_that_begins_one_kept_before_is_dropped_whatever_it_says():
    paths = [kept("a", (1, 2), "complete"), kept("b", (1, 2, 3), "partial")]
    assert without_prefixes(paths, "drop", kept_ids={"b"}) == {"a": "b"}
    assert not without_prefixes(paths, "drop", kept_ids={"a"})  # the paper is silent: the later one extends it
    assert not without_prefixes(paths, "incomplete", kept_ids={"b"})


def test_the_union_has_complete_paths_first_then_by_confidence_then_by_length():
    paths = [
        kept("0.1.1", (1, 2, 3), "partial", 0.9), kept("0.1.2", (1, 4, 5), "complete", 0.4),
        kept("0.1.3", (1, 6), "complete", 0.4), kept("1.1.1", (7, 8), "complete", 0.6),
    ]  # fmt: skip
    assert [path.id for path in union(paths)] == ["1.1.1", "0.1.3", "0.1.2", "0.1.1"]
    assert union(paths[::-1]) == union(paths)


def test_under_the_paper_the_union_is_of_sets_of_paths():
    paths = [
        kept("0.1.1", (1, 2, 3)), kept("1.1.1", (3, 2, 1)), kept("2.1.1", (1, 2, 3)), kept("3.1.1", (1, 2), "partial")
    ]  # fmt: skip
    assert [path.id for path in union(paths)] == ["0.1.1"]
    assert [path.id for path in union(paths, reverses=False)] == ["0.1.1", "1.1.1"]
    assert [path.id for path in union(paths, across=False)] == ["0.1.1", "3.1.1"]
    assert [path.id for path in union(paths, reverses=False, across=False)] == ["0.1.1", "1.1.1", "3.1.1"]


# -- stage 4 ----------------------------------------------------------------------------------------------------------


def test_k_chunks_and_tokens_each_limit_the_passages(index):
    ranking = search(index, engine()).ranking
    assert search(index, engine(), k=3).ranking == search(index, engine(), chunks=3).ranking == ranking[:3]
    # A passage of this graph has ten tokens or so.
    few = search(index, engine(), chunk_tokens=30).ranking
    assert few == ranking[: len(few)] and 1 <= len(few) <= 3


def test_where_no_path_is_kept_the_anchors_passages_stand_for_them(index):
    evidence = search(index, engine({}, queries=["Dutch", "French"]))
    assert evidence.paths == evidence.facts == ()
    assert evidence.nodes == ["Kestrel"] and evidence.ranking == [("p:Kestrel", 1.0)]
    assert evidence.fallback == "no path was kept: the passages of the anchors"
    assert evidence.trace.find("aggregate")[0].outputs["no_paths"] is True
    dense = search(index, engine({}, queries=["Dutch", "French"]), without_paths="dense")
    assert len(dense.passages) == 5 and dense.fallback == "no path was kept: dense ranking"


# -- failures ---------------------------------------------------------------------------------------------------------

FAILS = ValueError("no JSON")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("select_regions", "no region was selected (no JSON)"),
        ("dot_rules", "DOT 0: its rules are general ones (no JSON)"),
        ("judge_paths", "were not judged (no JSON)"),
        ("fallback_query", "no fallback query was found (no JSON)"),
    ],
)
def test_a_failed_step_is_told_and_something_stands_in_its_place(index, step, said):
    evidence = search(index, engine({}, queries=["Dutch", "French"], **{step: lambda value: FAILS}))
    assert said in evidence.fallback and evidence.passages
    (chosen,), (rules, *_), iterations = (
        evidence.trace.find(name) for name in ("select regions", "rules", "iteration")
    )
    if step == "select_regions":
        assert chosen.failure == "no JSON"
        assert chosen.outputs["accepted"] == [["high", QUESTION]] and chosen.outputs["routing"] == 0
    elif step == "dot_rules":
        assert rules.failure == "no JSON" and set(rules.outputs["allowed_types"]) == set(TYPES.values())
        assert rules.outputs["initial_query"] == rules.outputs["query_constraints"] == QUESTION
    elif step == "fallback_query":
        assert iterations[1].inputs["queries"] == [["fallback", QUESTION]] and len(iterations) == 2
        assert evidence.trace.find("dot")[0].outputs["reason"] == "no_query"
    else:
        assert evidence.paths == ()


# -- settings ---------------------------------------------------------------------------------------------------------


def test_the_paper_has_no_limits_of_ours(index):
    settings = wb.method("dotrag[profile=paper,h_max=2]", index).settings
    assert (settings.max_sources, settings.queries_max, settings.max_region) == (None, None, None)
    assert not settings.exact_anchor and not settings.relation_boost
    assert (settings.h_max, settings.t_max, settings.max_concepts) == (2, 3, 3)
    assert not settings.merge_anchors and not settings.merge_reversed and not settings.prefixes_across


def test_normal_forms():
    assert normal(" Ｗｈｏ “directed”  it?! ") == "who directed it"
    assert normal("A\u0308") == normal("ä") and normal("?!") == ""


# -- what the graph and its encoder say --------------------------------------------------------------------------------


def test_tau_is_that_at_which_the_index_s_own_names_find_their_nodes(index):
    """`Names` gives a name that is described as its type a cosine of 1 with its node: nothing less is one. A text that
    names it twice and another once has 2/√5."""
    own = wb.method("dotrag", index, engine()).settings
    assert own.tau == 1.0 and wb.method("dotrag[tau=0.6]", index, engine()).settings.tau == 0.6

    class Blurred(Names):
        def encode(self, texts):
            return super().encode([text + (" Redact" if " is a " in text else "") for text in texts])

    graph = TypedGraph(TYPES, TRIPLES, Names(), told=False)
    assert wb.method("dotrag", GraphIndex(graph, Blurred()), engine()).settings.tau == 0.89


def test_the_hops_that_follow_one_another(index):
    typed = index.typed
    directed, played = ("directed by", True), ("starred", False)
    assert (directed, ("directed by", False)) in typed.joins  # Nora Hale directed two films
    assert (directed, played) in typed.joins  # Ivo Brand directs and plays
    assert (("has tag", True), ("has tag", False)) not in typed.joins  # of one film only
    assert (("written by", True), ("written by", False)) not in typed.joins
    assert typed.leaving([typed.row["Nora Hale"]]) == (("directed by", False), ("written by", False))


def test_how_a_search_begins_and_ends_and_which_queries_are_the_same(index):
    stopped = search(index, engine(), stop_on_complete=True).trace
    assert len(stopped.find("iteration")) == 2 and stopped.find("dot")[0].outputs["reason"] == "complete"
    whole = search(index, engine({}, queries=["Dutch", "French"]), candidates=50, cap=100).trace
    assert len(whole.find("iteration")) == 2 and whole.find("dot")[0].outputs["reason"] == "exhausted"
    for told, settings in ((engine(), {"first_query": "question"}), (engine(dot_rules=lambda value: rules("?!")), {})):
        first = search(index, told, **settings).trace.find("iteration")[0]
        assert first.inputs["queries"] == [["initial", QUESTION]]
    told = engine({("Kestrel", "Nora Hale"): ("partial", "Nora Hale and nobody else", 0.7)})
    second = search(index, told, t_max=2, same_query=0.95).trace.find("iteration")[1]
    assert second.inputs["queries"] == [["fallback", QUESTION]], "the same by their vectors"
    assert second.inputs["dropped"] == ["Nora Hale and nobody else"]


def test_long_descriptions_are_cut_and_missing_ones_are_spelt_out(index):
    told = engine()
    search(index, told, description_chars=7)
    assert told.inputs("judge_paths")[0].paths[0].passage == "Kestrel → Nora Hale: Kestrel"
    bare = GraphIndex(TypedGraph(TYPES, TRIPLES, Names(), told=False), Names())
    search(bare, told := engine())
    assert told.inputs("judge_paths")[0].paths[0].passage == (
        "Kestrel → Nora Hale: Kestrel - directed by - Nora Hale Kestrel - written by - Nora Hale"
    )
