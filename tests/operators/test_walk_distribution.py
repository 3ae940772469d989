"""Where a walk went, and the part of the graph that it reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import index_of, stated

import workbench as wb
from workbench.errors import SettingError
from workbench.operators.walk_distribution import hub_bias, walk_subgraph

QUESTION = "Which lake does the River Aldra flow into?"


@pytest.fixture
def walk(tiny_index):
    return wb.method("hipporag2[filter=identity,seed_phrases=2]", tiny_index).walk_distribution(QUESTION)


def test_a_walk_has_all_its_probability_on_phrases_and_passages(walk):
    assert (len(walk.on_phrases), len(walk.on_passages)) == (10, 8)
    assert walk.on_phrases.sum() + walk.on_passages.sum() == pytest.approx(1)
    assert walk.hubs == hub_bias(walk.on_phrases, walk.index.graph.strength)


def test_the_seeds_and_the_best_of_both_kinds_are_reached(walk):
    found = walk_subgraph(walk, limit=6)
    seeds = [row for row, _ in walk.seeds]
    phrases = [row for row in np.argsort(-walk.on_phrases, kind="stable").tolist() if row not in seeds][:1]
    passages = (10 + np.argsort(-walk.on_passages, kind="stable")[:3]).tolist()
    assert [node.row for node in found.nodes] == seeds + phrases + passages
    assert [node.hop for node in found.nodes] == [0, 0, 1, 1, 1, 1]
    assert [node.value for node in found.nodes] == pytest.approx([walk.pagerank.p[node.row] for node in found.nodes])
    assert found.name == QUESTION
    assert {edge.kind for edge in found.edges} >= {"relation", "context"}


def test_without_a_walk_nothing_is_reached(tmp_path):
    walk = wb.method("hipporag2", index_of(tmp_path, {"a": []})).walk_distribution(QUESTION)
    assert walk.pagerank is None and walk.fallback == "the index holds no fact"
    assert len(walk.on_phrases) == 0 and walk.on_passages.tolist() == [0.0]
    assert walk.hubs == (0, 0, 0, 0)
    assert len(walk_subgraph(walk)) == 0


@pytest.mark.parametrize("limit", [0, -1, 2.5, "all"])
def test_a_limit_without_a_meaning_is_refused(walk, limit):
    with pytest.raises(SettingError, match="limit="):
        walk_subgraph(walk, limit)


@settings(max_examples=10)
@given(stated.filter(any), st.integers(1, 5))
def test_what_is_reached_has_the_limit_and_only_better_nodes(tmp_path_factory, stated, seeds):
    index = index_of(tmp_path_factory.mktemp("any"), stated)
    walk = wb.method(f"hipporag2[filter=identity,seed_phrases={seeds}]", index).walk_distribution("Who likes name1?")
    for limit in (1, 2, 3, 5, 8, 100):
        found = walk_subgraph(walk, limit)
        assert len(found) <= limit
        assert len({node.row for node in found.nodes}) == len(found)
        for kind, mass in (("phrase", walk.on_phrases), ("passage", walk.on_passages)):
            inside = [node for node in found.nodes if node.kind == kind]
            chosen = [node.value for node in inside if node.hop]
            rows = {node.row % index.graph.phrases if kind == "phrase" else node.row - index.graph.phrases
                    for node in inside}  # fmt: skip
            outside = [value for row, value in enumerate(mass) if row not in rows]
            if walk.pagerank and chosen and outside:
                assert min(chosen) >= max(outside)
