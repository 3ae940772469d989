"""HippoRAG 2: a question worked out by hand on the tiny index, the filter's ways, and the official code's rankings."""

import numpy as np
import pytest

import workbench as wb
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.methods.hipporag2 import Linked
from workbench.steps import fact_filter
from workbench.trace import Trace

QUESTION = "Which lake does the River Aldra flow into?"


class Filter:
    """An engine that answers the fact filter as it is told."""

    name, workers = "told", 1

    def __init__(self, answer=None, failure=None):
        self.answer, self.failure, self.meter = answer, failure, Meter()

    def run(self, step, inputs, *, trace=None):
        self.asked = inputs
        value = None if self.failure else fact_filter.Output(facts=self.answer)
        return [Result(value, self.failure, "strict")]


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


def test_facts_say_which_passages_state_them(tiny_index):
    found = wb.method("hipporag2[filter=identity]", tiny_index).retrieve("Orsby lies on the River Aldra")
    stated = {triple.members: triple.passages for triple, _ in found.facts}
    assert stated[("orsby", "lies on", "river aldra")] == ("p1", "p5")


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (Filter(answer=[]), "kept no fact"),
        (Filter(failure="unreadable: no JSON found"), "failed: unreadable"),
    ],
)
def test_falls_back_to_the_dense_ranking_and_says_why(tiny_index, engine, reason):
    found = wb.method("hipporag2", tiny_index, engine).retrieve(QUESTION, k=8)
    assert reason in found.fallback
    assert found.scale == "minmax-cosine"
    dense = wb.method("dense", tiny_index).retrieve(QUESTION, k=8)
    assert [p for p, _ in found.ranking] == [p for p, _ in dense.ranking]


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_a_filter_that_keeps_facts_leads_to_a_walk(tiny_index, kept):
    candidates = wb.method("hipporag2", tiny_index).link_facts(QUESTION, Trace("off")).rows
    facts = [tiny_index.facts.facts[row] for row in candidates[:kept]]
    method = wb.method("hipporag2", tiny_index, Filter(answer=[list(fact) for fact in facts]))
    found = method.retrieve(QUESTION, k=8)
    assert (found.fallback, found.scale) == (None, "ppr")
    assert [triple.members for triple, _ in found.facts] == facts
    assert found.nodes
    walk = method.walk_distribution(QUESTION)
    assert walk.pagerank is not None and not walk.fallback
    assert [row for row, _ in walk.facts] == candidates[:kept]
    assert sum(walk.pagerank.p) == pytest.approx(1)


@pytest.mark.parametrize(
    "engine", [None, Filter(answer=[]), Filter(failure="no reply"), Filter(answer=[["lake mira", "is", "fed"]])]
)
@pytest.mark.parametrize("spec", ["hipporag2", "hipporag2[profile=paper]", "hipporag2[filter=identity]"])
def test_what_a_spread_says_of_passages_is_what_retrieve_returns(tiny_index, spec, engine):
    method = wb.method(spec, tiny_index, engine)
    walk, found = method.walk_distribution(QUESTION), method.retrieve(QUESTION, k=8)
    scores = walk.dense if walk.pagerank is None else walk.on_passages
    assert dict(found.ranking) == {p.id: scores[row] for row, p in enumerate(tiny_index.passages.passages)}
    assert found.fallback == (f"dense ranking, because {walk.fallback}" if walk.pagerank is None else None)
    assert (walk.pagerank is None) == bool(walk.fallback)
    assert method.rank(walk, 8) == found
    assert [entity.name for entity, _ in found.entities] == (
        [tiny_index.facts.phrases[row] for row, _ in walk.seeds] if walk.pagerank else []
    )


def test_kept_facts_without_weight_and_passages_that_are_no_seeds_leave_nowhere_to_start(tiny_index):
    """The fact least similar to the question has the weight 0, where the released code fails."""
    method = wb.method("hipporag2[linking_top_k=10,passage_weight=0]", tiny_index)
    worst = tiny_index.facts.facts[method.link_facts(QUESTION, Trace("off")).rows[-1]]
    method = wb.method("hipporag2[linking_top_k=10,passage_weight=0]", tiny_index, Filter(answer=[list(worst)]))
    found = method.retrieve(QUESTION, k=8)
    assert "have no weight" in found.fallback and found.scale == "minmax-cosine"
    weak = wb.method("hipporag2[linking_top_k=10]", tiny_index, Filter(answer=[list(worst)]))
    assert weak.retrieve(QUESTION).fallback is None  # the passages alone are seeds then


def test_an_index_without_facts_falls_back(tiny, tiny_encoder, tmp_path):
    from dataclasses import replace

    bare = replace(tiny, extractions=tuple(replace(record, triples=()) for record in tiny.extractions))
    index = wb.Index.build(bare, None, tmp_path / "bare", encoder=tiny_encoder, progress=False)
    assert "holds no fact" in wb.method("hipporag2", index).retrieve(QUESTION).fallback


def test_the_filter_sees_the_candidates_best_first(tiny_index):
    engine = Filter(answer=[])
    wb.method("hipporag2[linking_top_k=3]", tiny_index, engine).retrieve(QUESTION)
    (asked,) = engine.asked
    assert asked.question == QUESTION
    assert len(asked.facts) == 3
    assert list(asked.similarities) == sorted(asked.similarities, reverse=True)


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


def test_scores_are_scaled_over_all_facts_not_over_the_candidates(tiny_index):
    """Scores are scaled over all facts: of up to five, the worst has 0; among many, the fifth candidate does not."""
    method = wb.method("hipporag2[linking_top_k=2]", tiny_index)
    linked = method.link_facts(QUESTION, Trace())
    assert linked.scores[0] == pytest.approx(1)
    assert 0 < linked.scores[1] < 1


def test_a_single_fact_is_no_division_by_zero(tiny, tiny_encoder, tmp_path):
    from dataclasses import replace

    one = replace(
        tiny,
        extractions=tuple(replace(r, triples=r.triples[:1] if r.passage_id == "p4" else ()) for r in tiny.extractions),
    )
    index = wb.Index.build(one, None, tmp_path / "one", encoder=tiny_encoder, progress=False)
    method = wb.method("hipporag2[filter=identity]", index)
    assert method.link_facts(QUESTION, Trace()) == Linked([0], [1.0])
    assert len(method.retrieve(QUESTION, k=8).passages) == 8
