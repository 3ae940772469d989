"""Neighbourhoods, worked out by hand on the tiny index; on random indexes what must hold for any."""

from __future__ import annotations

import itertools
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import index_of, stated

import workbench as wb
from workbench.errors import SettingError
from workbench.operators.neighbourhood import KINDS, Subgraph, among, row_of

CLOSE = 5 / 35**0.5  # cosine of `a b c d` and `b c d`


def by_hop(subgraph: Subgraph) -> dict[int, list[str]]:
    hops = itertools.groupby(subgraph.nodes, key=lambda node: node.hop)
    return {hop: [node.name for node in nodes] for hop, nodes in hops}


def edges(subgraph: Subgraph, kind: str) -> dict[frozenset[str], float]:
    names = [node.name for node in subgraph.nodes]
    found = [(frozenset((names[edge.source], names[edge.target])), edge) for edge in subgraph.edges]
    return {pair: edge.weight for pair, edge in found if edge.kind == kind}


# -- by hand --------------------------------------------------------------------------------------------------------


def test_neighbours_by_hop_the_strongest_ties_first(tiny_index):
    found = wb.neighbourhood(tiny_index, "lake mira", hops=2)
    # Two passages join the lake and the river; all else is tied once and goes by row, phrases before passages.
    assert by_hop(found)[1] == ["river aldra", "quell town hall", "p2", "p3"]
    # p3 is tied to the river and the hall, orsby to the river twice; the hall is near "the quell town hall".
    assert by_hop(found)[2] == ["orsby", "p1", "p5", "the quell town hall"]
    assert found.name == "Lake Mira" and found.left_out == 0
    assert found.nodes[0].label == "Lake Mira" and found.nodes[1].label == "River Aldra"
    assert [node.degree for node in found.nodes[:3]] == [4, 6, 3]
    assert {node.value for node in found.nodes} == {None}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("relation", {("quell town hall", "lake mira"): 1}),
        ("synonym", {("quell town hall", "the quell town hall"): CLOSE}),
        ("context", {("quell town hall", "p3"): 1}),
    ],
)
def test_each_kind_of_edge_by_itself(tiny_index, kind, expected):
    found = wb.neighbourhood(tiny_index, "quell town hall", kinds=[kind])
    expected = {frozenset(pair): weight for pair, weight in expected.items()}
    assert edges(found, kind) == pytest.approx(expected)
    assert len(found.edges) == len(expected)


def test_an_edge_says_what_is_stated_and_by_which_facts(tiny_index):
    found = wb.neighbourhood(tiny_index, "river aldra", kinds=["relation"])
    said = {found.nodes[edge.target].name: (edge.says, edge.facts, edge.weight) for edge in found.edges}
    assert said == {
        "lake mira": ("is fed by · flows into", (0, 7), 2.0),  # one passage each
        "orsby": ("lies on", (3,), 2.0),  # one fact, stated by two
    }


def test_facts_and_synonyms_below_the_threshold_are_no_edges(tiny_index):
    found = wb.neighbourhood(tiny_index, "orsby", kinds=["relation"], facts=2)
    assert by_hop(found)[1] == ["nora whitlock", "river aldra"]  # 東京 by one only
    assert len(wb.neighbourhood(tiny_index, "orsby", kinds=["relation"], facts=3)) == 1
    for similarity, expected in ((CLOSE - 1e-4, 2), (CLOSE + 1e-4, 1)):
        found = wb.neighbourhood(tiny_index, "quell town hall", kinds=["synonym"], similarity=similarity)
        assert len(found) == expected


def test_the_limit_keeps_the_strongest_of_each_hop_and_counts_the_others(tiny_index):
    """Four nodes are one hop away and four two hops; what a hop leaves of its share goes to the other."""
    found = wb.neighbourhood(tiny_index, "lake mira", hops=2, limit=3)
    assert by_hop(found) == {0: ["lake mira"], 1: ["river aldra"], 2: ["orsby"]}  # one place for each hop
    one = wb.neighbourhood(tiny_index, "lake mira", hops=1, limit=3)
    assert by_hop(one) == {0: ["lake mira"], 1: ["river aldra", "quell town hall"]} and one.left_out == 2
    for limit, sizes in ((7, [1, 3, 3]), (8, [1, 3, 4])):
        found = by_hop(wb.neighbourhood(tiny_index, "lake mira", hops=2, limit=limit))
        assert [len(found[hop]) for hop in (0, 1, 2)] == sizes


def test_a_passage_as_start(tiny_index):
    found = wb.neighbourhood(tiny_index, "p3")
    assert by_hop(found) == {0: ["p3"], 1: ["lake mira", "quell town hall", "river aldra"]}
    assert found.name == "Lake Mira"  # its title
    assert [(node.kind, node.label) for node in found.nodes[:2]] == [("passage", "Lake Mira"), ("phrase", "Lake Mira")]


def test_several_starts_of_every_sort(tiny_index):
    found = wb.neighbourhood(tiny_index, ["orsby", "p8", np.int64(0), 3], hops=0)
    assert by_hop(found) == {0: ["orsby", "p8", "lake mira"]}  # row 3 is orsby again
    assert found.name == "Orsby, Fog, Lake Mira"
    assert by_hop(wb.neighbourhood(tiny_index, ["orsby", "p8", "quell"], limit=2)) == {0: ["orsby", "p8"]}
    assert len(wb.neighbourhood(tiny_index, [])) == 0


@pytest.mark.parametrize(
    ("start", "settings", "said"),
    [
        ("Lake", {}, r"'Lake'; near it are 'lake mira', 'p3'; `complete"),
        ("xyz", {}, "no passage is called 'xyz'; `complete"),
        (-1, {}, "row -1; the graph has 18 nodes"), (18, {}, "row 18; the graph has 18 nodes"),
        ("orsby", {"hops": 1.5}, "hops"), ("orsby", {"hops": -1}, "hops"), ("orsby", {"limit": 0}, "limit"),
        ("orsby", {"kinds": ["relation", "likes"]}, "likes"), ("orsby", {"facts": 1.5}, "facts"),
        ("orsby", {"similarity": float("nan")}, "similarity"), ("orsby", {"similarity": "high"}, "similarity"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_there_or_means_nothing_is_refused(tiny_index, start, settings, said):
    with pytest.raises(SettingError, match=said):
        wb.neighbourhood(tiny_index, start, **settings)


def test_a_phrase_goes_before_a_passage_of_the_same_name(tmp_path):
    index = index_of(tmp_path, {"orsby": [("Orsby", "is", "old")]})
    assert row_of(index, "orsby") == index.facts.phrase_row["orsby"]
    assert wb.complete(index, "orsby") == ["orsby"]  # once


def test_among_takes_the_nodes_that_it_is_told(tiny_index):
    found = among(tiny_index, {7: 0, 11: 2}, name="chosen", values=np.arange(18) / 10)
    assert [(node.name, node.hop, node.value) for node in found.nodes] == [("river aldra", 0, 0.7), ("p2", 2, 1.1)]
    assert found.edges == ((0, 1, "context", 1.0, "", (), ()),)
    assert found.name == "chosen"


# -- what was typed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        # Begins with it: orsby has seven neighbours, p5 (whose title begins with it) four, p1 three, the pier two.
        ("orsby", ["orsby", "p5", "p1", "orsby harbour pier", "old orsby harbour pier"]),
        # p5 and the piers hold it as a word.
        (" Harbour ", ["p5", "old orsby harbour pier", "orsby harbour pier"]),
        ("ar", ["p5", "old orsby harbour pier", "orsby harbour pier"]),
        # A word begins with it, before what has it within a word.
        ("al", ["river aldra", "p2", "quell town hall", "the quell town hall"]),
        ("quell", ["quell town hall", "quell", "p6", "the quell town hall"]),
        ("東", ["東京", "p7"]),
        ("", []),
        ("\x00", []),
        ("x" * 100_000, []),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_completion_orders_by_where_it_matches_then_by_degree(tiny_index, typed, expected):
    assert wb.complete(tiny_index, typed) == expected
    assert wb.complete(tiny_index, typed, 1) == expected[:1]


# -- on any index ---------------------------------------------------------------------------------------------------


def joined(index: wb.Index, kind: str) -> dict[tuple[int, int], float]:
    """Weights of the pairs of rows (smaller first), from the layers and not from the graph."""
    facts, n = index.facts, len(index.facts.phrases)
    pairs: dict[tuple[int, int], float] = {}
    if kind == "synonym":
        for one, other, cosine in zip(index.synonyms.sources, index.synonyms.targets, index.synonyms.similarities):
            pair = (int(min(one, other)), int(max(one, other)))
            pairs[pair] = max(pairs.get(pair, 0.0), float(cosine))
        return pairs
    for passage, fact in zip(*facts.stated):
        subject, obj = int(facts.subjects[fact]), int(facts.objects[fact])
        if kind == "context":
            pairs |= {(end, n + int(passage)): 1.0 for end in (subject, obj)}
        elif subject != obj:
            pair = (min(subject, obj), max(subject, obj))
            pairs[pair] = pairs.get(pair, 0.0) + 1
    return pairs


def distances(start: int, pairs) -> dict[int, int]:
    """Plain breadth-first search."""
    neighbours: dict[int, set[int]] = {}
    for one, other in pairs:
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other in sorted(neighbours.get(node, ())):
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found


@given(st.data(), stated)
def test_what_holds_for_any_neighbourhood(tmp_path_factory, data, stated):
    index = index_of(tmp_path_factory.mktemp("any"), stated)
    start = data.draw(st.integers(0, index.graph.nodes - 1))
    hops = data.draw(st.integers(0, 4))
    kinds = data.draw(st.lists(st.sampled_from(KINDS), unique=True))
    least = {"relation": data.draw(st.integers(0, 3)), "synonym": data.draw(st.sampled_from([0.0, 0.9, 1.1]))}
    chosen = {"hops": hops, "kinds": kinds, "facts": least["relation"], "similarity": least["synonym"]}
    pairs = {
        kind: {pair: weight for pair, weight in joined(index, kind).items() if weight >= least.get(kind, 0)}
        for kind in kinds
    }
    expected = {row: hop for row, hop in distances(start, itertools.chain(*pairs.values())).items() if hop <= hops}

    whole = wb.neighbourhood(index, start, limit=10_000, **chosen)
    assert {node.row: node.hop for node in whole.nodes} == expected
    assert whole.left_out == 0
    assert whole == wb.neighbourhood(index, start, limit=10_000, **chosen)
    assert wb.neighbourhood(index, whole.nodes[0].name, limit=10_000, **chosen) == whole

    for limit in range(1, len(whole) + 2):
        part = wb.neighbourhood(index, start, limit=limit, **chosen)
        assert len(part) == min(limit, len(whole))
        assert [node.hop for node in part.nodes] == sorted(node.hop for node in part.nodes)
        rows = [node.row for node in part.nodes]
        assert 0 <= part.left_out <= len(whole) - len(part)
        assert (part.left_out > 0) == (len(part) < len(whole))
        found = [(edge.kind, *sorted((rows[edge.source], rows[edge.target])), edge.weight) for edge in part.edges]
        inside = [
            (kind, one, other, pytest.approx(weight))
            for kind in kinds
            for (one, other), weight in pairs[kind].items()
            if one in rows and other in rows
        ]
        assert sorted(found) == sorted(inside, key=lambda edge: edge[:3])
