"""Where a walk went, and the part of the graph that it reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import index_of, stated

import workbench as wb
from workbench.errors import SettingError
from workbench.graph.hubs import hub_bias
from workbench.graph.walk_distribution import walk_subgraph

QUESTION = "Which lake does the River Aldra flow into?"


@pytest.fixture
def spread(tiny_index):
    return wb.method("hipporag2[filter=identity,seed_phrases=2]", tiny_index).spread(QUESTION)


def test_a_walk_has_all_its_probability_on_phrases_and_passages(spread):
    assert (len(spread.on_phrases), len(spread.on_passages)) == (10, 8)
    assert spread.on_phrases.sum() + spread.on_passages.sum() == pytest.approx(1)
    assert spread.hubs == hub_bias(spread.on_phrases, spread.index.graph.strength)


def test_the_seeds_and_the_best_of_both_kinds_are_reached(spread):
    found = walk_subgraph(spread, limit=6)
    seeds = [row for row, _ in spread.seeds]
    phrases = [row for row in np.argsort(-spread.on_phrases, kind="stable").tolist() if row not in seeds][:1]
    passages = (10 + np.argsort(-spread.on_passages, kind="stable")[:3]).tolist()
    assert [node.row for node in found.nodes] == seeds + phrases + passages
    assert [node.hop for node in found.nodes] == [0, 0, 1, 1, 1, 1]
    assert [node.value for node in found.nodes] == pytest.approx([spread.mass.p[node.row] for node in found.nodes])
    assert found.name == QUESTION
    assert {edge.kind for edge in found.edges} >= {"relation", "context"}


def test_without_a_walk_nothing_is_reached(tmp_path):
    spread = wb.method("hipporag2", index_of(tmp_path, {"a": []})).spread(QUESTION)
    assert spread.mass is None and spread.fallback == "the index holds no fact"
    assert len(spread.on_phrases) == 0 and spread.on_passages.tolist() == [0.0]
    assert spread.hubs == (0, 0, 0, 0)
    assert len(walk_subgraph(spread)) == 0


@pytest.mark.parametrize("limit", [0, -1, 2.5, "all"])
def test_a_limit_without_a_meaning_is_refused(spread, limit):
    with pytest.raises(SettingError, match="limit="):
        walk_subgraph(spread, limit)


@settings(max_examples=10)
@given(stated.filter(any), st.integers(1, 5))
def test_what_is_reached_has_the_limit_and_only_better_nodes(tmp_path_factory, stated, seeds):
    index = index_of(tmp_path_factory.mktemp("any"), stated)
    spread = wb.method(f"hipporag2[filter=identity,seed_phrases={seeds}]", index).spread("Who likes name1?")
    for limit in (1, 2, 3, 5, 8, 100):
        found = walk_subgraph(spread, limit)
        assert len(found) <= limit
        assert len({node.row for node in found.nodes}) == len(found)
        for kind, mass in (("phrase", spread.on_phrases), ("passage", spread.on_passages)):
            inside = [node for node in found.nodes if node.kind == kind]
            chosen = [node.value for node in inside if node.hop]
            rows = {node.row % index.graph.phrases if kind == "phrase" else node.row - index.graph.phrases
                    for node in inside}  # fmt: skip
            outside = [value for row, value in enumerate(mass) if row not in rows]
            if spread.mass and chosen and outside:
                assert min(chosen) >= max(outside)
