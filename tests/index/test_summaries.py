"""The tree of summaries: what is clustered, what a summary costs, what is left when one fails or a build is stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import Summariser, planted
from tiny import TinyEncoder

import workbench as wb
from workbench import tokens
from workbench.data import Dataset
from workbench.index import Index, summaries
from workbench.index.summaries import Clustering, sizes, soft_clusters
from workbench.records import Passage

DATA = planted()
QUICK = {"reduction": "pca", "dimension": 3, "components": 6}
DEEP = {"cluster_tokens": 60, "levels": 2, "components": 2}  # about four passages each: many clusters, twice


def build(folder, data=DATA, engine=None, encoder=None, **chosen) -> Index:
    return Index.build(
        data,
        engine or Summariser(),
        folder,
        encoder=encoder or TinyEncoder(),
        layers=["summaries"],
        settings={"summaries": {**QUICK, **chosen}},
        keep_going=True,
        progress=False,
    )


def said(index: Index) -> dict:
    return index.manifest["layers"]["summaries"]


def corpus(*texts: str) -> Dataset:
    return Dataset("texts", tuple(Passage(f"p{row}", "", text) for row, text in enumerate(texts)))


# -- clusters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", [QUICK, {}], ids=["pca", "umap"])
def test_planted_topics_are_found_and_no_passage_is_lost(tmp_path, chosen):
    index = Index.build(
        DATA,
        wb.engine("rules"),
        tmp_path,
        encoder=TinyEncoder(),
        layers=["summaries"],
        settings={"summaries": chosen},
        progress=False,
    )
    first = [cluster for cluster in index.summaries.clusters if cluster.level == 1]
    assert len(first) >= 3
    topics = [{DATA.passages[row].id.split()[0] for row in cluster.children} for cluster in first]
    assert all(len(topic) == 1 for topic in topics), "topics that share no word are not mixed"
    assert {row for cluster in first for row in cluster.children} == set(range(60))
    assert said(index)["made_by"] == ["rules (summarise v1)"]
    assert index.summaries.vectors.shape == (len(index.summaries.nodes), 64)


def test_levels_stand_on_one_another(tmp_path):
    index = build(tmp_path, **DEEP)
    nodes, n = index.summaries.nodes, 60
    assert len(said(index)["levels"]) > 1 and sum(said(index)["levels"]) == len(nodes)
    level = [0] * n + [node.level for node in nodes]
    for row, node in enumerate(nodes):
        assert all(level[child] == node.level - 1 for child in node.children)
        below = set()
        for child in node.children:
            below |= {child} if child < n else set(index.summaries.leaves[[child - n]].indices.tolist())
        assert set(index.summaries.leaves[[row]].indices.tolist()) == below
    assert len({node.id for node in nodes}) == len(nodes)
    assert np.array_equal(index.summaries.vectors, TinyEncoder().encode([node.text for node in nodes]))
    assert len(said(build(tmp_path, **{**DEEP, "levels": 1}))["levels"]) == 1


def test_between_two_groups_one_belongs_to_both():
    """Two clouds and a point in the middle."""
    clouds = np.random.default_rng(0).normal(0, 0.3, (80, 2)) + np.repeat([[-1.0, 0.0], [1.0, 0.0]], 40, axis=0)
    points = np.concatenate([clouds, [[0.0, 0.0]]]).astype(np.float32)
    how = Clustering("pca", dimension=2, components=2)
    memberships = summaries._memberships(points.astype(float), how)
    assert [80 in rows for rows in memberships] == [True, True]
    alone = summaries._memberships(points.astype(float), replace(how, threshold=0.99))
    assert sorted(np.concatenate(alone)) == list(range(81)), "where nothing exceeds the threshold, the likeliest"


@settings(max_examples=20)
@given(st.integers(5, 40), st.integers(1, 3), st.integers(0, 9))
def test_every_row_has_a_cluster_and_no_cluster_comes_twice(n, dimension, seed):
    vectors = np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32).round()
    found = [tuple(rows.tolist()) for rows in soft_clusters(vectors, Clustering("pca", dimension, components=5))]
    assert {row for rows in found for row in rows} == set(range(n))
    assert found == sorted(set(found)) and all(rows == tuple(sorted(set(rows))) for rows in found)


def test_many_vectors_are_searched_coarsely_and_that_is_said(tmp_path, monkeypatch):
    assert sizes(1, 49) == [1] and sizes(3, 49) == [1, 2] and sizes(2000, 49) == list(range(1, 50))
    assert sizes(2001, 49) == [1, 2, 3, 5, 8, 12, 18, 27, 41, 49]
    assert said(build(tmp_path / "all"))["coarse"] == []
    monkeypatch.setattr(summaries, "COARSE_FROM", 59)
    assert said(build(tmp_path / "coarse"))["coarse"] == [1]


# -- long texts -------------------------------------------------------------------------------------------------------


def test_two_long_nodes_are_not_clustered_again(tmp_path):
    """The released RAPTOR requests zero dimensions from UMAP here, and fails."""
    long = ["sea " * 4000, "sail " * 4000]
    index = build(tmp_path, corpus(*long, *(p.text for p in DATA.passages[20:])), levels=1)
    assert [c.children for c in index.summaries.clusters if set(c.children) & {0, 1}] == [(0,), (1,)]


@pytest.mark.parametrize(("budget", "recursions"), [(1, 1), (40, 20), (300, 1)])
def test_texts_of_a_cluster_fit_unless_it_is_one(tmp_path, budget, recursions):
    index = build(tmp_path, cluster_tokens=budget, recursions=recursions, levels=1)
    lengths = [tokens.count(passage.text) for passage in DATA.passages]
    for cluster in index.summaries.clusters:
        assert len(cluster.children) == 1 or sum(lengths[row] for row in cluster.children) <= budget
    assert {row for cluster in index.summaries.clusters for row in cluster.children} == set(range(60))


# -- what the engine says ---------------------------------------------------------------------------------------------


def test_a_failed_summary_is_counted_and_leaves_its_passages_without_that_parent(tmp_path):
    """A failed call is a failure; the released RAPTOR uses the exception as the summary."""
    index = build(tmp_path, engine=Summariser(fails=lambda texts: "harbour" in " ".join(texts)))
    failed = [cluster for cluster in index.summaries.clusters if cluster.summary.failure]
    assert said(index)["failures"] == len(failed) > 0
    assert {cluster.summary.failure for cluster in failed} == {"told to fail"}
    assert {cluster.summary.text for cluster in failed} == {""}
    assert not any("fail" in node.text for node in index.summaries.nodes)
    below = set(index.summaries.leaves.indices.tolist())
    assert below and {DATA.passages[row].id.split()[0] for row in below} <= {"law", "music", "sea"}
    lost = {row for cluster in failed if cluster.level == 1 for row in cluster.children}
    assert below | lost == set(range(60))


# -- what is not asked again ------------------------------------------------------------------------------------------


NEW = [Passage("sea 99", "", "harbour tide harbour tide anchor."), Passage("other", "", "nothing of the kind")]


def test_a_change_asks_for_changed_clusters_alone(tmp_path):
    first, second, fresh = Summariser(), Summariser(), Summariser()
    index = build(tmp_path / "changed", engine=first).insert(NEW, second, progress=False)
    whole = build(tmp_path / "fresh", replace(DATA, passages=(*DATA.passages, *NEW)), fresh)
    assert index.summaries.clusters == whole.summaries.clusters
    assert np.array_equal(index.summaries.vectors, whole.summaries.vectors)
    assert second.asked == [texts for texts in fresh.asked if texts not in set(first.asked)] != fresh.asked
    assert said(index)["asked"] == len(second.asked)


def test_what_umap_compiles_is_kept_for_the_next_process():
    pytest.importorskip("umap")
    soft_clusters(np.random.default_rng(0).normal(size=(30, 16)).astype(np.float32), Clustering())
    from umap.umap_ import smooth_knn_dist

    assert list(Path(smooth_knn_dist.stats.cache_path).glob("umap_.smooth_knn_dist*.nbc"))
