"""HippoRAG 1 against graphs worked by hand, and the case that its paper opens with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.operators.pagerank import personalized_pagerank
from workbench.records import Passage
from workbench.testing.data import HashEncoder


@dataclass
class Naming:
    """A model that names what it is told to, or fails."""

    names: tuple[str, ...] | None
    name = "naming"
    workers = 1

    def __post_init__(self):
        self.meter = Meter()

    def run(self, step, inputs, *, trace=None):
        if self.names is None:
            return [Result(None, failure="no reply")]
        return [Result(step.output(named_entities=list(self.names)))]


def built(folder, **facts: list[tuple[str, str, str]]) -> Index:
    """An index of passages with these facts, without synonyms (no two phrases are alike to a hash)."""
    passages = tuple(Passage(name, name, " ".join(map(" ".join, triples))) for name, triples in facts.items())
    found = tuple(Extraction(name, (), tuple(triples), "by hand") for name, triples in facts.items())
    data = Dataset("by-hand", passages, (), extractions=found)
    return Index.build(data, None, folder, encoder=HashEncoder(), progress=False)


def scores(evidence) -> dict[str, float]:
    return dict(evidence.ranking)


def test_a_walk_over_phrases_by_hand(tmp_path):
    """The path a-b-c: facts a-b in p1, b-c in p2 and p3. From a, which one passage has, d = 1/2."""
    index = built(tmp_path, p1=[("a", "r", "b")], p2=[("b", "r", "c")], p3=[("b", "s", "c")])
    evidence = wb.method("hipporag1", index, Naming(("A",))).retrieve("Who is A?")
    weights = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=float)
    import scipy.sparse as sp

    p = personalized_pagerank(sp.csr_array(weights), np.array([1.0, 0, 0]))
    raw = np.array([p[0] + p[1], p[1] + p[2], p[1] + p[2]])
    by_hand = (raw - raw.min()) / (raw.max() - raw.min())
    assert [scores(evidence)[name] for name in ("p1", "p2", "p3")] == pytest.approx(by_hand.tolist(), abs=1e-5)
    assert [(one.item.name, one.score) for one in evidence.entities] == [("a", 1.0)]


def test_a_common_phrase_is_a_weak_seed(tmp_path):
    """`hub` stands in three passages, `rare` in one: weights 1/3 and 1, or 1 and 1 without specificity."""
    index = built(
        tmp_path, p1=[("hub", "r", "x")], p2=[("hub", "r", "y")], p3=[("hub", "r", "z")], p4=[("rare", "r", "w")]
    )
    engine = Naming(("hub", "rare", "hub"))
    with_it = wb.method("hipporag1", index, engine).retrieve("?x")
    without = wb.method("hipporag1[specificity=false]", index, engine).retrieve("?x")
    assert [one.score for one in with_it.entities] == pytest.approx([1 / 3, 1])
    assert [one.score for one in without.entities] == [1, 1]
    assert with_it.ranking[0][0] == "p4"


def test_a_passage_counts_a_phrase_once_for_each_of_its_facts(tmp_path):
    index = built(tmp_path, p1=[("a", "r", "b"), ("a", "s", "b"), ("c", "is", "c")], p2=[("a", "r", "b")])
    incidence = wb.method("hipporag1", index, Naming(("a",)))._incidence.toarray()
    rows = [index.facts.phrase_row[phrase] for phrase in ("a", "b", "c")]
    assert incidence[:, rows].tolist() == [[2, 2, 1], [1, 1, 0]]


def test_it_finds_the_passage_where_two_names_meet(tmp_path):
    """The case of the paper: many work at the place, many on the matter, and one passage does not say both for the one
    who does."""
    places = {f"place{n}": [(f"person {n}", "works at", "Northgate")] for n in range(8)}
    matters = {f"matter{n}": [(f"person {n}", "studies", "amnesia")] for n in range(7, 15)}
    index = built(tmp_path, **places, **matters)
    found = wb.method("hipporag1", index, Naming(("Northgate", "amnesia"))).retrieve(
        "Who at Northgate studies amnesia?"
    )
    assert {name for name, _ in found.ranking[:2]} == {"place7", "matter7"}


def test_what_it_does_without_a_name(tmp_path):
    index = built(tmp_path, p1=[("a", "r", "b")], p2=[("b", "r", "c")])
    for names, why in (((), "the question names nothing"), (None, "naming failed: no reply")):
        evidence = wb.method("hipporag1", index, Naming(names)).retrieve("What?")
        assert evidence.fallback == f"dense ranking, because {why}" and evidence.scale == "minmax-cosine"
        assert [name for name, _ in evidence.ranking] == [
            name for name, _ in wb.method("dense", index).retrieve("What?").ranking
        ]


def test_an_uncertain_link_mixes_the_dense_ranking_in(tmp_path):
    index = built(tmp_path, p1=[("alpha", "r", "beta")], p2=[("beta", "r", "gamma")])
    plain = wb.method("hipporag1", index, Naming(("delta",))).retrieve("alpha delta?")
    mixed = wb.method("hipporag1[ensemble=true]", index, Naming(("delta",))).retrieve("alpha delta?")
    dense = scores(wb.method("dense", index).retrieve("alpha delta?"))
    low, high = min(dense.values()), max(dense.values())
    for name, score in scores(mixed).items():
        assert score == pytest.approx(scores(plain)[name] / 2 + (dense[name] - low) / (high - low) / 2, abs=1e-5)
    certain = wb.method("hipporag1[ensemble=true]", index, Naming(("alpha",))).retrieve("alpha delta?")
    assert certain.fallback is None and mixed.fallback.startswith("half of the dense ranking")
