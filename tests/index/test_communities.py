"""The layer of communities: the hierarchy, and what reports are written from."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted
from small import index_of
from tiny import TinyEncoder, tiny_dataset

from workbench import tokens
from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index, leiden
from workbench.index.communities import EntityGraph, entity_text
from workbench.text import text_hash


def reporter() -> Scripted:
    """A model whose reports are about the first entity."""

    def report(value):
        title = f"About {value.entities[0][0]}"
        return {"title": title, "summary": f"{title}.", "rating": 5.0, "rating_explanation": "so", "findings": []}

    return Scripted(community_report=report)


def contexts_of(engine: Scripted) -> list[str]:
    return [value.context for value in engine.inputs("community_report")]


def ring(triangles: int, relation: str = "knows") -> list[tuple[str, str, str]]:
    """Triangles in a ring, of which a community holds several: so it has parts."""
    facts = []
    for at in range(triangles):
        one, two, three = (f"t{at} {corner}" for corner in "abc")
        facts += [(one, relation, two), (two, relation, three), (three, relation, one)]
        facts.append((three, "next", f"t{(at + 1) % triangles} a"))
    return facts


def built(folder, stated, engine=None, **settings) -> Index:
    index_of(folder, stated)
    return reported(folder, engine, **settings)


def reported(folder, engine=None, **settings) -> Index:
    """The index in a folder, with communities of these settings."""
    index = Index.open(folder, TinyEncoder())
    return Index.build(
        replace(index.data, extractions=tuple(index.extractions.records)), engine, folder, layers=["communities"],
        encoder=TinyEncoder(), settings={"communities": settings}, progress=False,
    )  # fmt: skip


# -- the hierarchy ---------------------------------------------------------------------------------------------------


def graph_of(edges) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(sorted({(min(e), max(e)) for e in edges if e[0] != e[1]}), dtype=np.int64).reshape(-1, 2)
    return pairs, np.ones(len(pairs))


edge_lists = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=150)


@given(edges=edge_lists, max_size=st.integers(1, 12), use_lcc=st.booleans())
def test_every_level_splits_what_is_too_large_above(edges, max_size, use_lcc):
    found = leiden.hierarchy(40, *graph_of(edges), max_size=max_size, use_lcc=use_lcc)
    assert [cluster.id for cluster in found] == list(range(len(found)))
    top = [node for cluster in found if cluster.level == 0 for node in cluster.members]
    assert len(top) == len(set(top)) and (use_lcc or sorted(top) == list(range(40)))
    for cluster in found:
        parts = [part for part in found if part.parent == cluster.id]
        assert list(cluster.members) == sorted(cluster.members)
        assert cluster.whole == (len(cluster.members) > max_size and not parts)
        if parts:
            assert len(parts) > 1 and {part.level for part in parts} == {cluster.level + 1}
            assert sorted(node for part in parts for node in part.members) == list(cluster.members)
            assert len(cluster.members) > max_size


def tangled(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    draw = random.Random(5)
    return graph_of([(draw.randrange(n), draw.randrange(n)) for _ in range(2 * n)])


def same(left, right) -> bool:
    return [(*c[:3], c.members.tolist()) for c in left] == [(*c[:3], c.members.tolist()) for c in right]


def test_the_seed_decides_and_nothing_else_does():
    graph = tangled()
    found = leiden.hierarchy(300, *graph, seed=1)
    random.seed(99)
    assert same(found, leiden.hierarchy(300, *graph, seed=1))
    assert any(not same(found, leiden.hierarchy(300, *graph, seed=seed)) for seed in range(2, 6))


# -- the graph -------------------------------------------------------------------------------------------------------


def test_an_edge_weighs_the_passages_that_state_it(tmp_path):
    index = index_of(tmp_path, {"one": [("a", "likes", "b"), ("b", "knows", "a"), ("a", "is", "A")],
                                "two": [("a", "likes", "b"), ("c", "likes", "b")]})  # fmt: skip
    graph = EntityGraph.of(index.facts)
    assert graph.pairs.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [3.0, 1.0]  # "a likes b" twice, "b knows a" once
    assert graph.degrees.tolist() == [1, 2, 1] and graph.ranks.tolist() == [3, 3]
    assert [graph.of_fact[row] for row, fact in enumerate(index.facts.facts) if fact == ("a", "is", "a")] == [-1]


def profiled(weights) -> Dataset:
    relations = tuple(RelationProfile("Orsby", "River Aldra", f"Way {w}.", (), w, ("p1",)) for w in weights)
    entities = (EntityProfile("ORSBY", "town", "A town | on\nthe Aldra.", ("p1",)),)
    return replace(tiny_dataset(), profiles=Profiles(entities, relations))


@pytest.mark.parametrize(
    ("weights", "weight"), [((2.0, 5.5), 7.5), ((None, 4.0), 4.0), ((None,), 2.0), ((-1.0, float("nan")), 2.0)]
)
def test_strengths_of_profiles_come_before_counts(tmp_path, weights, weight):
    index = Index.build(profiled(weights), None, tmp_path, encoder=TinyEncoder(), progress=False)
    graph = EntityGraph.of(index.facts, index.phrased)
    pair = [index.facts.phrase_row["orsby"], index.facts.phrase_row["river aldra"]]
    assert graph.weights[graph.pairs.tolist().index(pair)] == weight


# -- the layer -------------------------------------------------------------------------------------------------------


def test_the_tiny_corpus(tiny_index):
    layer = tiny_index.ensure(["communities"], progress=False).communities
    assert [entity.name for entity in layer.entities] == tiny_index.facts.phrases
    assert layer.metadata["made_by"] == ["rules (community_report v1)"]
    assert layer.metadata["reports"] == len(layer.reports) == len(layer.report_vectors) > 0
    assert sorted(row for c in layer.communities if c.level == 0 for row in c.members) == list(range(10))
    assert all(len(layer.communities[id].members) >= 3 for id in layer.reports)
    assert "communities" in repr(layer) and "communities" in layer._repr_html_()


def test_every_entity_is_in_one_community_per_level_and_once_when_rolled_up(tmp_path):
    layer = built(tmp_path, {"p": ring(40)}).communities
    assert layer.levels > 1
    for level in range(layer.levels + 1):
        rows = [row for id in layer.rolled_up(level) for row in layer.communities[id].members]
        assert sorted(rows) == list(range(len(layer.entities)))
    for row, ids in layer.of_phrase.items():
        assert [layer.communities[id].level for id in ids] == list(range(len(ids)))
        assert [layer.communities[id].parent for id in ids] == [-1, *ids[:-1]]
    assert min(layer.heights) == 1 and max(layer.heights) == layer.levels


def test_descriptions_come_from_profiles_else_from_facts(tmp_path):
    def texts(**settings):
        index = Index.build(profiled((2.0,)), None, tmp_path, encoder=TinyEncoder(), layers=["communities"],
                            settings={"communities": settings}, progress=False)  # fmt: skip
        return {entity.name: entity_text(entity) for entity in index.communities.entities}, index

    found, index = texts()
    assert found["ORSBY"] == "ORSBY: A town | on\nthe Aldra."
    assert found["quell"] == "quell: the quell town hall stands in quell; quell is quell"
    contexts = [row for row in index.communities.written if row.report is not None]
    assert contexts
    found, _ = texts(descriptions="facts", described_by=1)
    assert found["ORSBY"] == "ORSBY: orsby lies on river aldra"  # of the better connected neighbour
    found, _ = texts(descriptions="none")
    assert found["ORSBY"] == "ORSBY"


# -- what a report is written from ------------------------------------------------------------------------------------


def test_the_context_has_the_best_connected_first_and_their_ends_before_them(tmp_path):
    built(tmp_path, {"p": [("hub", "likes", leaf) for leaf in "abc"] + [("a", "knows", "b")]}, engine := reporter(),
          descriptions="none", resolution=0.1)  # fmt: skip
    (context,) = contexts_of(engine)
    assert context == (
        "-----Entities-----\nid|entity|description\n1|a|\n2|hub|\n3|b|\n4|c|\n\n"
        "-----Relationships-----\nid|source|target|description\n1|a|hub|hub likes a\n2|b|hub|hub likes b\n"
        "3|a|b|a knows b\n4|c|hub|hub likes c"
    )


def test_no_context_exceeds_its_tokens(tmp_path):
    budget = 2200
    built(tmp_path, {"p": ring(40, "word " * 180)}, engine := reporter(), report_tokens=budget, descriptions="none")
    lengths = [tokens.count(context) for context in contexts_of(engine)]
    assert budget - 700 < max(lengths) <= budget


def test_reports_on_the_largest_parts_stand_in_where_it_does_not_fit(tmp_path):
    settings = {"report_tokens": 2500, "descriptions": "none", "max_size": 9}
    layer = built(tmp_path, {"p": ring(40, "word " * 180)}, engine := reporter(), **settings).communities
    large = next(c for c in layer.communities if c.level == 0 and len(c.members) > 9)
    parts = [c for c in layer.communities if c.parent == large.id]
    ids = {row.context: row.id for row in layer.written}
    context = next(c for c in contexts_of(engine) if ids.get(text_hash(c)) == large.id)
    stood_in = [part for part in parts if layer.reports[part.id].title in context]
    assert context.startswith("-----Reports-----") and stood_in == parts[: len(stood_in)]
    for part in stood_in:  # what is inside it is told by its report
        inside = {layer.entities[row].name for row in part.members}
        lines = context.partition("-----Relationships-----")[2].splitlines()[2:]
        assert not any(set(line.split("|")[1:3]) <= inside for line in lines)
