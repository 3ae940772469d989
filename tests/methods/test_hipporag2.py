"""HippoRAG 2: a question worked out by hand on the tiny index, the filter's ways, and the official code's rankings."""

import numpy as np
import pytest
from scripted import Scripted
from small import index_of

import workbench as wb
from workbench.methods.hipporag2 import Linked
from workbench.trace import Trace

QUESTION = "Which lake does the River Aldra flow into?"


def dense_solution(weights: np.ndarray, reset: np.ndarray, damping: float) -> np.ndarray:
    """p from the definition, by solving the linear system; dangling mass goes back to the reset."""
    r = reset / reset.sum()
    strength = weights.sum(axis=1)
    transition = np.divide(weights, strength[:, None], out=np.zeros_like(weights), where=strength[:, None] > 0)
    transition[strength == 0] = r
    return np.linalg.solve(np.eye(len(r)) - damping * transition.T, (1 - damping) * r)


@pytest.mark.parametrize("profile", ["released", "paper"])
def test_equals_the_definition_computed_densely(tiny_index, profile):
    """The query stages of the released code, written out with dense matrices and plain loops."""
    facts, graph = tiny_index.facts, tiny_index.graph
    query = tiny_index.encode_query(QUESTION, "facts")
    raw = facts.fact_vectors @ query
    scaled = (raw - raw.min()) / (raw.max() - raw.min())
    best = sorted(range(len(raw)), key=lambda row: (-raw[row], row))[:5]
    weight: dict[int, list[float]] = {}
    for fact in best:
        for phrase in (facts.subjects[fact], facts.objects[fact]):
            divisor = graph.passages_of[phrase] if profile == "released" else 1
            weight.setdefault(int(phrase), []).append(scaled[fact] / divisor)
    means = {phrase: np.mean(values) for phrase, values in weight.items()}
    seeds = sorted(means, key=lambda phrase: (-means[phrase], phrase))[:5]
    cosines = tiny_index.passages.vectors @ query
    reset = np.zeros(graph.nodes)
    reset[graph.phrases :] = 0.05 * (cosines - cosines.min()) / (cosines.max() - cosines.min())
    for phrase in seeds:
        reset[phrase] = means[phrase]
    counted = tiny_index.graph_of_spellings if profile == "released" else graph
    weights = counted.weights("overwrite" if profile == "released" else "sum").toarray()
    p = dense_solution(weights, reset, 0.5)[graph.phrases :]

    found = wb.method(f"hipporag2[profile={profile},filter=identity,tolerance=1e-14]", tiny_index).retrieve(
        QUESTION, k=8
    )
    expected = {passage.id: p[row] for row, passage in enumerate(tiny_index.passages.passages)}
    assert dict(found.ranking) == pytest.approx(expected, abs=1e-7)
    assert found.nodes == [facts.phrases[phrase] for phrase in seeds]
    assert [triple.members for triple, _ in found.facts] == [facts.facts[row] for row in best]


@pytest.mark.parametrize("kept", [1, 5])
def test_a_filter_that_keeps_facts_leads_to_a_walk(tiny_index, kept):
    linked = wb.method("hipporag2", tiny_index).link_facts(QUESTION, Trace("off"))
    assert linked.scores[0] == pytest.approx(1) and 0 < linked.scores[1] < 1, "scaled over all facts"
    facts = [tiny_index.facts.facts[row] for row in linked.rows[:kept]]
    engine = Scripted(fact_filter={"facts": [list(fact) for fact in facts]})
    method = wb.method("hipporag2", tiny_index, engine)
    found = method.retrieve(QUESTION, k=8)
    (asked,) = engine.inputs("fact_filter")[:1]
    assert asked.question == QUESTION and len(asked.facts) == 5
    assert list(asked.similarities) == sorted(asked.similarities, reverse=True)
    assert (found.fallback, found.scale) == (None, "ppr") and found.nodes
    assert [triple.members for triple, _ in found.facts] == facts
    walk = method.walk_distribution(QUESTION)
    assert [row for row, _ in walk.facts] == linked.rows[:kept] and sum(walk.pagerank.p) == pytest.approx(1)


def test_an_index_of_one_fact_is_no_division_by_zero(tmp_path):
    method = wb.method("hipporag2[filter=identity]", index_of(tmp_path, {"p": [("A", "is", "B")], "q": []}))
    assert method.link_facts(QUESTION, Trace()) == Linked([0], [1.0]) and len(method.retrieve(QUESTION).passages) == 2


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (None, "kept no fact"),  # by rules
        (Scripted(fact_filter=lambda value: {"facts": [list(value.facts[0])]}), ""),
        (Scripted(fact_filter={"facts": []}), "kept no fact"),
        (Scripted(fact_filter="!unreadable: no JSON found"), "failed: unreadable"),
    ],
)
@pytest.mark.parametrize("spec", ["hipporag2", "hipporag2[profile=paper]"])
def test_a_walk_is_what_retrieve_returns_and_without_one_the_dense_ranking_with_the_reason(
    tiny_index, spec, engine, reason
):
    method = wb.method(spec, tiny_index, engine)
    walk, found = method.walk_distribution(QUESTION), method.retrieve(QUESTION, k=8)
    scores = walk.dense if walk.pagerank is None else walk.on_passages
    assert dict(found.ranking) == {p.id: scores[row] for row, p in enumerate(tiny_index.passages.passages)}
    assert found.fallback == (f"dense ranking, because {walk.fallback}" if reason else None)
    assert reason in (walk.fallback or "") and (walk.pagerank is None) == bool(reason) and method.rank(walk, 8) == found
    assert found.scale == ("minmax-cosine" if reason else "ppr")
    assert [entity.name for entity, _ in found.entities] == (
        [] if reason else [tiny_index.facts.phrases[row] for row, _ in walk.seeds]
    )


def test_kept_facts_without_weight_and_passages_that_are_no_seeds_leave_nowhere_to_start(tiny_index):
    """The fact least similar to the question has the weight 0, where the released code fails."""
    method = wb.method("hipporag2[linking_top_k=10,passage_weight=0]", tiny_index)
    worst = tiny_index.facts.facts[method.link_facts(QUESTION, Trace("off")).rows[-1]]
    method = wb.method(
        "hipporag2[linking_top_k=10,passage_weight=0]", tiny_index, Scripted(fact_filter={"facts": [list(worst)]})
    )
    found = method.retrieve(QUESTION, k=8)
    assert "have no weight" in found.fallback and found.scale == "minmax-cosine"
    weak = wb.method("hipporag2[linking_top_k=10]", tiny_index, Scripted(fact_filter={"facts": [list(worst)]}))
    assert weak.retrieve(QUESTION).fallback is None  # the passages alone are seeds then


FACTS = [("orsby", "lies on", "river aldra"), ("lake mira", "is fed by", "river aldra")]


@pytest.mark.parametrize(
    ("settings", "said", "chosen"),
    [
        ({}, [["Lake Mira", "is fed by", "the River Aldra"]], [1]),  # near enough
        ({}, [["cats", "eat", "mice"]], [0]),  # the released rule makes an invented fact a real one
        ({"filter_floor": 0.6}, [["cats", "eat", "mice"]], []),
        ({"filter_match": "exact"}, [["lake mira", "is fed by", "river aldra"]], [1]),
        ({"filter_match": "exact"}, [["Lake Mira", "is fed by", "river aldra"]], []),
        ({}, [list(FACTS[1]), list(FACTS[0]), list(FACTS[1])], [1, 0]),  # the filter's order, no repetition
        ({}, [], []),
    ],
)
def test_what_the_filter_says_is_mapped_to_candidates(tiny_index, settings, said, chosen):
    assert wb.methods.HippoRAG2(tiny_index, **settings).match(said, FACTS) == chosen
