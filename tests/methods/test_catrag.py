"""CatRAG: its three mechanisms by hand and against the definition, neutral settings, requests that fail, the official
code's rankings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import index_of, stated

import workbench as wb
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.methods.catrag.rating import phi
from workbench.steps import named_entities, rate_neighbours
from workbench.text import unicode_phrase

QUESTION = "Which lake does the river at Orsby flow into?"
SCORES = (10, 3, 7, 5, 9, 0, 4, 8)  # by the length of a name, so that any neighbour has one
EXACT = "filter=identity,tolerance=1e-14"


class Scripted(RulesEngine):
    """Names `entities`, rates by `score(name)`; None for a neighbour that the reply leaves out."""

    workers = 4

    def __init__(self, entities=("Nora Whitlock", "Quell"), score=lambda name: SCORES[len(name) % 8], failure=None):
        super().__init__()
        self.entities, self.score, self.failure, self.requests = list(entities), score, failure, []

    def run(self, step, inputs, *, trace=None):
        if step.name == "question_entities":
            return [Result(named_entities.Output(named_entities=self.entities)) for _ in inputs]
        if step.name != "rate_neighbours":
            return super().run(step, inputs, trace=trace)
        self.requests += inputs
        return [Result(None, self.failure) if self.failure else Result(self._rated(value)) for value in inputs]

    def _rated(self, value) -> rate_neighbours.Output:
        names = ((number, one.name, self.score(one.name)) for number, one in enumerate(value.neighbours, 1))
        rated = [
            rate_neighbours.Rating(number=number, name=name, score=score) for number, name, score in names
            if score is not None
        ]  # fmt: skip
        return rate_neighbours.Output(ratings=rated)


def catrag(index, engine=None, **settings):
    return wb.method(f"catrag[{EXACT}]", index, engine or Scripted(), **settings)


# -- against the definition -------------------------------------------------------------------------------------------


def definition(index, question: str, entities, score, released: bool) -> dict[str, float]:
    """Passage id → probability, with dense matrices and plain loops, from the paper's equations (`released`: from the
    description of the released code)."""
    facts, graph = index.facts, index.graph
    n, names = graph.phrases, facts.phrases
    raw = facts.fact_vectors @ index.encode_query(question, "facts")
    s = (raw - raw.min()) / (raw.max() - raw.min())
    kept = sorted(range(len(raw)), key=lambda row: (-raw[row], row))[:5]
    ends = [(int(facts.subjects[f]), int(facts.objects[f])) for f in range(len(raw))]
    shares: dict[int, list[float]] = {}
    for f in kept:
        for e in ends[f]:
            shares.setdefault(e, []).append(s[f] / graph.passages_of[e])
    seeds = sorted(((e, float(np.mean(all))) for e, all in shares.items()), key=lambda one: (-one[1], one[0]))[:5]

    relation, synonym = np.zeros((n, n)), np.zeros((n, n))
    for p, f in zip(*index.facts.stated):
        a, b = ends[f]
        raw_triples = {tuple(triple) for triple in index.extractions.records[p].triples}
        spelled = sum(tuple(map(unicode_phrase, triple)) == facts.facts[f] for triple in raw_triples)
        if a != b:
            relation[a, b] += (2 if released else 1) * spelled
            relation[b, a] += (0 if released else 1) * spelled
    for a, b, cosine in zip(index.synonyms.sources, index.synonyms.targets, index.synonyms.similarities):
        synonym[a, b], relation[a, b] = cosine * (3 if released else 1), 0
    parallel = (relation > 0).astype(int) + (synonym > 0)
    relation, synonym, parallel = relation + relation.T, synonym + synonym.T, parallel + parallel.T
    context = graph.context.T.toarray().copy()

    for e in shares:  # key facts
        passages = {p for f in kept if e in ends[f] for p in facts.stating(f).tolist()}
        total = context[e].sum()
        context[e, sorted(passages)] *= 2.5 if released else 3.5
        if released:
            context[e] *= total / context[e].sum()

    weights, left_over = dict(seeds), ends[kept[-1]][1]  # anchors
    linked = [int(np.argmax(facts.phrase_vectors @ index.encode([one.lower()])[0])) for one in entities]
    for a in {one for one in linked} if released else dict.fromkeys(linked):
        if not weights.get(a):
            weights[a] = 0.2 / graph.passages_of[left_over if released else a]
            left_over = a

    scored = sorted(weights, key=lambda e: (-weights[e], e))[:5]  # dynamic weights
    factors, skips = {}, set()
    for u in scored:
        joined = sorted({v for pair in ends if u in pair for v in pair if v != u})
        places = [v for v in joined for _ in range(parallel[u, v] if released else 1)]
        if len(places) > 2:
            best = {v: max(raw[f] for f in range(len(raw)) if set(ends[f]) == {u, v}) for v in joined}
            places.sort(key=lambda v: -best[v])
        for v in places[:2]:
            factors[u, v] = phi(score(names[v]))
        skips |= {(u, v) for v in places[2:]} - factors.keys()
    for u in scored:
        for v in range(n):
            if released:
                of_target = [factor for (_, target), factor in factors.items() if target == v]
                skipped = any(target == v for _, target in skips)
                factor = 2 * max(of_target) if of_target else 0.3 if skipped else 1
                relation[u, v] *= factor
                synonym[u, v] *= factor
            else:
                relation[u, v] *= factors.get((u, v), 0.2 if (u, v) in skips else 1)

    cosines = index.passages.vectors @ index.encode_query(question, "passages")
    reset = np.zeros(graph.nodes)
    reset[n:] = 0.05 * (cosines - cosines.min()) / (cosines.max() - cosines.min())
    for e, weight in weights.items():
        reset[e] = weight
    matrix = np.block([[relation + synonym, context], [graph.context.toarray(), np.zeros((graph.passages,) * 2)]])
    r, strength = reset / reset.sum(), matrix.sum(axis=1, keepdims=True)
    transition = np.where(strength > 0, np.divide(matrix, strength, where=strength > 0, out=np.zeros_like(matrix)), r)
    p = np.linalg.solve(np.eye(len(r)) - 0.5 * transition.T, 0.5 * r)
    return {passage.id: p[n + row] for row, passage in enumerate(index.passages.passages)}


@pytest.mark.parametrize("profile", ["paper", "released"])
@pytest.mark.parametrize("question", [QUESTION, "Where was the founder of Orsby born?"])
def test_equals_the_definition_computed_densely(tiny_index, profile, question):
    engine = Scripted()
    found = catrag(tiny_index, engine, profile=profile, k_edge=2).retrieve(question, k=8)
    expected = definition(tiny_index, question, engine.entities, engine.score, profile == "released")
    assert dict(found.ranking) == pytest.approx(expected, abs=1e-7)
    assert engine.requests and all(len(value.neighbours) <= 2 for value in engine.requests)


# -- each mechanism ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A station with a founder, of whom three passages tell, and eight programmes, of each of which one tells."""
    programmes = {f"programme {at}": [("kestrel", "broadcasts", f"show {at}")] for at in range(8)}
    founder = {f"founder {at}": [("ilse", "founded", "kestrel")] for at in range(2)}
    return index_of(tmp_path_factory.mktemp("hub"), {**founder, "born": [("ilse", "born in", "tarn")], **programmes})


def edges_of(found) -> dict[tuple[str, str], tuple[float, float]]:
    (event,) = found.trace.find("edit edges")
    return {(source, target): (before, after) for source, target, _, before, after in event.outputs["edges"]}


def test_an_edge_has_the_factor_of_its_rating_in_one_direction(hub):
    scores = {"ilse": 10, "show 0": 5, "show 1": 0}
    engine = Scripted([], lambda name: scores.get(name, 8))
    edges = edges_of(
        catrag(hub, engine, k_edge=20, n_seed=20, seed_phrases=20, key_facts=False).retrieve("ilse founded kestrel")
    )
    assert edges["kestrel", "ilse"] == (4, 20)  # two passages state it: weight 4; Direct
    assert edges["kestrel", "show 0"] == (2, 0.5) and edges["kestrel", "show 1"] == (2, 0)
    assert edges["ilse", "kestrel"] == (4, 10), "the way back has the rating of its own end"
    one = catrag(hub, engine, n_seed=1, key_facts=False).retrieve("ilse founded kestrel")
    (seed,) = [event.inputs["seed"] for event in one.trace.find("rate neighbours")]
    assert {source for source, _ in edges_of(one)} == {seed}


def test_passages_of_kept_facts_weigh_more(hub):
    question = "ilse founded kestrel"
    found = catrag(hub, Scripted([]), dynamic_weights=False).retrieve(question)
    edges = edges_of(found)
    kept = [triple for triple, _ in found.facts]
    expected = {(end, p) for triple in kept for end in (triple.subject, triple.object) for p in triple.passages}
    assert set(edges) == expected and set(edges.values()) == {(1, 3.5)}
    released = catrag(hub, Scripted([]), dynamic_weights=False, boost="redistribute").retrieve(question)
    kestrel = [after for (source, _), (_, after) in edges_of(released).items() if source == "kestrel"]
    hit, passages = (
        sum(source == "kestrel" for source, _ in edges),
        hub.graph.passages_of[hub.facts.phrase_row["kestrel"]],
    )
    assert max(kestrel) == pytest.approx(2.5 * passages / (passages + 1.5 * hit))
    assert sum(kestrel) == pytest.approx(passages), "the sum over its passages stays"


def test_anchors_are_weak_seeds_by_their_passages(tiny_index):
    plain = catrag(tiny_index, Scripted([])).retrieve(QUESTION)
    seed = plain.nodes[0]
    named = ["Quell Town Hall", seed, "…", "quell town hall!", "Orsby"]
    found = catrag(tiny_index, Scripted(named)).retrieve(QUESTION)
    (event,) = found.trace.find("anchors")
    rows, passages = tiny_index.facts.phrase_row, tiny_index.graph.passages_of
    assert {phrase for _, phrase, _ in event.outputs["linked"]} == {"orsby", "quell town hall", seed}
    assert len(event.outputs["linked"]) == len({phrase for _, phrase, _ in event.outputs["linked"]})
    assert dict(event.scores) == {name: pytest.approx(0.2 / passages[rows[name]]) for name, _ in event.scores}
    assert {"quell town hall", "orsby"} == dict(event.scores).keys(), "a seed stays what it is"
    seeds = [event.inputs["seed"] for event in found.trace.find("rate neighbours")]
    assert len(seeds) <= 5


# -- nothing changed, nothing left behind -----------------------------------------------------------------------------

NEUTRAL = {"epsilon": 0, "beta": 0, "rating_scale": 0.2, "skipped": 1}  # every rating is 10, so that φ = 0.2 · 5 = 1


@given(stated)
def test_neutral_settings_are_hipporag2(tmp_path_factory, triples):
    index = index_of(tmp_path_factory.mktemp("any"), triples)
    ours = catrag(index, Scripted(["name1"], lambda name: 10), **NEUTRAL).retrieve("Who likes name1?", k=20)
    theirs = wb.method(f"hipporag2[{EXACT}]", index, Scripted()).retrieve("Who likes name1?", k=20)
    assert ours.ranking == theirs.ranking
    assert [(one.name, weight) for one, weight in ours.entities] == [(o.name, w) for o, w in theirs.entities]


@given(stated, st.sampled_from(["paper", "released"]))
def test_rows_stay_distributions_and_no_edit_outlives_its_question(tmp_path_factory, triples, profile):
    index = index_of(tmp_path_factory.mktemp("any"), triples)
    method = catrag(index, Scripted(["name1", "name2"]), profile=profile, n_seed=3, k_edge=2)
    graph = method._graph
    before = [getattr(graph, kind).data.copy() for kind in ("relation", "synonym", "context")]
    first = method.walk_distribution("Who likes name1?")
    method.walk_distribution("Who knows name2?")
    again = method.walk_distribution("Who likes name1?")
    if first.pagerank:
        assert first.pagerank.p.sum() == pytest.approx(1) and (first.pagerank.p >= 0).all()
        assert np.array_equal(first.pagerank.p, again.pagerank.p)
    assert all(np.array_equal(one, getattr(graph, kind).data)
               for one, kind in zip(before, ("relation", "synonym", "context")))  # fmt: skip


# -- requests ---------------------------------------------------------------------------------------------------------


def test_a_failed_request_leaves_edges_weak_and_is_told(tiny_index):
    found = catrag(tiny_index, Scripted(failure="out of money")).retrieve(QUESTION)
    assert "requests for ratings failed (out of money)" in found.fallback
    events = found.trace.find("rate neighbours")
    assert events and all(score == 4 for event in events for _, score in event.scores)
    assert all(set(event.outputs["missing"]) == {name for name, _ in event.scores} for event in events)
