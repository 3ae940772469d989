"""GraphRAG as a retriever: definitions A and B by hand, the order of local search, what goes into its context."""

from __future__ import annotations

import tempfile
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from small import index_of, stated
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.errors import IndexFault
from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.methods.graphrag import GraphRAG
from workbench.records import Passage
from workbench.rules import rule_for
from workbench.steps import reporting


class Pointing:
    """Every text has a cosine to every question: that of the first name of `cosines` that its first line holds."""

    name, dimension = "pointing", 2

    def __init__(self, cosines):
        self.cosines = cosines

    def encode(self, texts):
        found = [next((c for name, c in self.cosines.items() if name in text.split("\n")[0]), 0.0) for text in texts]
        return np.array([(c, np.sqrt(1 - c * c)) for c in found], dtype=np.float32).reshape(-1, 2)

    def encode_query(self, text, task=""):
        return np.array([1.0, 0.0], dtype=np.float32)


class Rating(RulesEngine):
    """A model that writes reports as the rules do, but rates them as told, by the first entity of the title."""

    name = "openai:rating"

    def __init__(self, ratings):
        super().__init__()
        self.ratings = ratings

    def run(self, step, inputs, *, trace=None):
        if step is not reporting.REPORT:
            return super().run(step, inputs, trace=trace)
        outputs = rule_for(step)(inputs)
        return [Result(o.model_copy(update={"rating": self.ratings[o.title.split(",")[0]]})) for o in outputs]


def built(folder, facts, cosines, engine=None, **settings) -> Index:
    passages = tuple(Passage(name, name, "Text.") for name in facts)
    extractions = tuple(Extraction(name, (), tuple(triples), "by hand") for name, triples in facts.items())
    chosen = {"communities": {"descriptions": "none", **settings}}
    return Index.build(
        Dataset("small", passages, (), extractions), engine, folder, encoder=Pointing(cosines), settings=chosen,
        layers=["communities"], progress=False,
    )  # fmt: skip


FACTS = {
    "p1": [("e2", "r", "e4")],
    "p2": [("e1", "r", "e2"), ("e1", "r", "e3"), ("e3", "again", "e1")],  # two relationships, one told twice
    "p3": [("e1", "r", "e4")],
    "p4": [("e3", "is", "e3")],
    "p5": [],
    "p6": [],
}
COSINES = {"e1": 0.9, "e2": 0.8, "e3": 0.5, "e4": 0.1, "p5": 0.2, "p6": 0.7}


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Index:
    return built(tmp_path_factory.mktemp("facts"), FACTS, COSINES)


def test_definition_a_by_hand(index):
    evidence = wb.method("graphrag", index).retrieve("?", k=6)
    assert [name for name, _ in evidence.ranking] == ["p2", "p3", "p1", "p4", "p6", "p5"]
    assert [score for _, score in evidence.ranking] == pytest.approx(
        [0.9 + 0.01 * 2 / 3, 0.9 + 0.01 / 2, 0.8 + 0.01 / 2, 0.5, 0.5 * 0.7, 0.5 * 0.2]
    )
    assert evidence.scale == "entity-cosine" and evidence.fallback is None
    assert len(wb.method("graphrag[dense_fill=false]", index).retrieve("?", k=6).passages) == 4


def test_epsilon_never_lifts_a_passage_over_one_of_a_better_entity(tmp_path):
    facts = {"p1": [("e2", "r", name) for name in "abcdefgh"], "p2": [("e1", "is", "e1")]}
    index = built(tmp_path, facts, {"e1": 0.801, "e2": 0.8})
    evidence = wb.method("graphrag[epsilon=0.5]", index).retrieve("?", k=2)
    assert [name for name, _ in evidence.ranking] == ["p2", "p1"]
    assert evidence.ranking[1][1] == pytest.approx(0.8 + 0.001 * 8 / 9, abs=1e-6)


def test_scores_stay_between_0_and_1(tmp_path):
    facts = {"p1": [("e1", "r", "e2")], "p2": [("e1", "r", "e2"), ("e1", "r", "e3")], "p3": [("e4", "is", "e4")]}
    index = built(tmp_path, facts, {"e1": 1.0, "e4": -0.9, "p4": -1.0})
    assert wb.method("graphrag", index).retrieve("?", k=3).ranking == [("p2", 1.0), ("p1", 1.0), ("p3", 0.0)]


def official(index: Index, method: GraphRAG) -> list[str]:
    """Local search's text units, as the released Microsoft GraphRAG orders them."""
    facts, layer = index.facts, index.communities
    cosines = np.asarray(layer.entity_vectors) @ index.encode_query("which name knows name3", "entities")
    units, seen = [], set()
    for rank, entity in enumerate(np.argsort(-cosines, kind="stable").tolist()):
        located = defaultdict(set)
        for passage, fact in zip(*map(np.ndarray.tolist, facts.stated)):
            ends = {int(facts.subjects[fact]), int(facts.objects[fact])}
            if entity in ends:
                located[passage] |= ends - {entity}
        for passage, others in located.items():
            if passage not in seen:
                seen.add(passage)
                units.append((rank, -len(others), passage))
    return [index.passages.passages[passage].id for _, _, passage in sorted(units)]


@given(stated=stated)
def test_the_order_is_that_of_local_search(stated):
    with tempfile.TemporaryDirectory() as folder:
        method = wb.method("graphrag[dense_fill=false]", index_of(folder, stated))
        found = method.retrieve("which name knows name3", k=6)
        if method.index.facts.facts:
            assert [name for name, _ in found.ranking] == official(method.index, method)


def test_entities_are_doubled_until_k_passages_mention_one(index):
    method = wb.method("graphrag[entities=1,entities_max=4]", index)
    assert [len(method.retrieve("?", k=k).entities) for k in (1, 2, 3, 4, 6)] == [1, 1, 2, 4, 4]
    assert method.retrieve("?", k=6).nodes == ["e1", "e2", "e3", "e4"]
    assert len(wb.method("graphrag[entities=1,entities_max=2]", index).retrieve("?", k=6).entities) == 2


# Two triangles that nothing joins; p1 and p2 mention the first, p3 the second.
TRIANGLES = {
    "p1": [("a1", "r", "a2"), ("a2", "r", "a3")],
    "p2": [("a1", "r", "a3")],
    "p3": [("b1", "r", "b2"), ("b2", "r", "b3"), ("b1", "r", "b3")],
}


def test_definition_b_by_hand(tmp_path):
    # Entities are told by "a1" …, reports by their titles, which name all three.
    cosines = {"# a1, a3": 0.2, "# a1, a2": 0.2, "# b1, b": 0.9, "a1": 0.6, "a2": 0.5, "a3": 0.0, "b1": 0.55}
    index = built(tmp_path, TRIANGLES, cosines, Rating({"a1": 10.0, "b1": 8.0}))
    a = dict(wb.method("graphrag", index).retrieve("?", k=3).ranking)
    assert a == pytest.approx({"p1": 0.6 + 0.01 / 2, "p2": 0.6 + 0.01 / 2, "p3": 0.55 + 0.01 * 2 / 3})
    evidence = wb.method("graphrag[community=true]", index).retrieve("?", k=3)
    assert dict(evidence.ranking) == pytest.approx(
        {name: 0.85 * a[name] + 0.15 * (0.9 * 0.8 if name == "p3" else 0.2) for name in a}
    )
    assert evidence.ranking[0][0] == "p3"
    nothing = wb.method("graphrag[community=true,beta=0]", index).retrieve("?", k=3)
    assert dict(nothing.ranking) == pytest.approx(a)
    without = built(tmp_path / "without", FACTS, COSINES, min_members=99)
    with pytest.raises(IndexFault, match="no report on a community"):
        wb.method("graphrag[community=true]", without)


def test_relationships_among_the_matched_come_first_then_the_most_linked(tmp_path):
    facts = {"p": [("e1", "r", "e2"), ("e1", "r", "lone"), ("e1", "r", "both"), ("e2", "r", "both"), ("e2", "is", "e2"),
                   ("hub", "r", "e2"), *[("hub", "r", name) for name in "uvwxyz"], ("far", "r", "away")]}  # fmt: skip
    index = built(tmp_path, facts, {"e1": 0.9, "e2": 0.8})
    found = wb.method("graphrag[entities=2]", index).retrieve("?").facts
    assert [fact.members for fact, _ in found] == [
        ("e1", "r", "e2"),  # both ends matched
        ("e1", "r", "both"), ("e2", "r", "both"),  # both is linked to two of the matched
        ("hub", "r", "e2"), ("e1", "r", "lone"),
    ]  # fmt: skip
    assert [score for _, score in found] == [3 + 3, 3 + 2, 3 + 2, 7 + 3, 3 + 1] and found[0].item.passages == ("p",)


def test_reports_are_of_communities_no_finer_than_the_level(tmp_path):
    ring = [(f"t{at} a", f"t{at} b", f"t{at} c", f"t{(at + 1) % 40} a") for at in range(40)]
    facts = {a: [(a, "r", b), (b, "r", c), (c, "r", a), (c, "r", next_a)] for a, b, c, next_a in ring}
    index = built(tmp_path, facts, {"t7": 0.9})
    layer = index.communities
    assert layer.levels > 1
    found = wb.method("graphrag[level=0]", index).retrieve("?").reports
    assert found and {layer.communities[int(report.id.split("-")[1])].level for report, _ in found} == {0}
    assert found[0].item.level == layer.heights[int(found[0].item.id.split("-")[1])]


def test_profiles_describe_the_entities_of_the_evidence(tmp_path):
    from dataclasses import replace

    from workbench.data.profiles import EntityProfile, Profiles

    data = replace(tiny_dataset(), profiles=Profiles((EntityProfile("Orsby", "town", "On the Aldra.", ("p1",)),)))
    index = Index.build(data, None, tmp_path, encoder=TinyEncoder(), progress=False)
    found = wb.method("graphrag", index).retrieve("Orsby on the Aldra")
    (orsby,) = [entity for entity, _ in found.entities if entity.name == "orsby"]  # the phrase that the graph knows
    assert (orsby.type, orsby.description) == ("town", "On the Aldra.")


def test_without_an_entity_the_dense_ranking_answers(tmp_path):
    index = built(tmp_path, {"p5": [], "p6": []}, COSINES)
    evidence = wb.method("graphrag", index).retrieve("?")
    assert evidence.ranking == [("p6", pytest.approx(0.7)), ("p5", pytest.approx(0.2))]
    assert "no entity" in evidence.fallback and evidence.scale == "cosine"
