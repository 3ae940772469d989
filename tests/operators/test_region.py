"""The region around some entities and its store, on a graph worked out by hand and on random ones."""

import numpy as np
import pytest
from typed_graphs import TypedGraph

from workbench.methods.dotrag.neighbourhood import Store
from workbench.operators.region import region

# Kestrel - Nora Hale - Owl Night - French, the walk that a question about languages takes, and what leads astray.
TYPES = {
    "Kestrel": "film", "Owl Night": "film", "Red Moor": "film", "Nora Hale": "person", "French": "language",
    "1984": "year", "Drama": "genre", "Redact": "unknown", "Far": "film", "Alone": "film",
}  # fmt: skip
TRIPLES = [
    ("Kestrel", "directed by", "Nora Hale"), ("Owl Night", "directed by", "Nora Hale"),
    ("Owl Night", "in language", "French"), ("Kestrel", "released in", "1984"), ("Red Moor", "released in", "1984"),
    ("Red Moor", "has genre", "Drama"), ("Kestrel", "has genre", "Drama"), ("Kestrel", "tied to", "Redact"),
    ("Far", "in language", "French"), ("Kestrel", "written by", "Nora Hale"),
]  # fmt: skip


@pytest.fixture(scope="module")
def typed():
    return TypedGraph(TYPES, TRIPLES)


def around(typed, *anchors, allowed=("film", "person", "language"), **limits):
    return region(typed, [typed.row[name] for name in anchors], allowed, **limits)


def hops(typed, found):
    return {typed.names[row]: hop for row, hop in zip(found.rows.tolist(), found.hops.tolist())}


def test_it_is_reached_through_admitted_entities_only(typed):
    """Red Moor is a film, but there is no way to it other than by a year and a genre."""
    found = around(typed, "Kestrel")
    assert hops(typed, found) == {"Kestrel": 0, "Nora Hale": 1, "Redact": 1, "Owl Night": 2, "French": 3}
    assert found.sizes() == [1, 2, 1, 1]
    assert found.pruned == {"genre": 1, "year": 1}
    assert (found.edges, found.filter_relaxed, found.truncated) == (4, False, False)  # two relations of a pair are one


def test_a_bridge_that_is_filtered_away_is_a_bridge_lost(typed):
    """With the type of the answer alone the search would end at the first hop, so the types are given up."""
    found = around(typed, "Kestrel", allowed=["language"])
    assert found.filter_relaxed
    assert hops(typed, found)["French"] == 3 and hops(typed, found)["Red Moor"] == 2
    assert found.pruned == {}


def test_hops_are_those_inside_the_region_and_anchors_are_never_filtered(typed):
    assert "French" not in hops(typed, around(typed, "Kestrel", h_max=2))
    found = around(typed, "1984", "Drama", allowed=["film"])
    assert hops(typed, found) == {"1984": 0, "Drama": 0, "Kestrel": 1, "Red Moor": 1, "Redact": 2}
    alone, nothing = around(typed, "Alone"), around(typed)
    assert (hops(typed, alone), alone.edges, alone.filter_relaxed) == ({"Alone": 0}, 0, False)
    assert len(nothing.rows) == 0 and nothing.sizes() == [] and nothing.edges == 0


@pytest.mark.parametrize(("most", "names"), [(5, 5), (4, 4), (3, 3), (2, 1)])
def test_it_ends_at_the_last_hop_that_is_small_enough(typed, most, names):
    found = around(typed, "Kestrel", max_region=most)
    assert len(found.rows) == names and found.truncated == (most < 5)


def test_the_store_holds_the_region_alone(typed):
    found = around(typed, "Kestrel")
    store = Store(typed, found)
    queries = typed.entity_vectors[[typed.row["Far"], typed.row["French"]]]
    far, french = store.search(queries, 3)
    assert typed.row["Far"] not in dict(far)
    assert french[0] == (typed.row["French"], pytest.approx(1))
    cosines = typed.entity_vectors[found.rows] @ queries.T
    assert [score for _, score in french] == sorted(cosines[:, 1].tolist(), reverse=True)[:3]
    without = store.search(queries, 9, {typed.row["French"], typed.row["Far"]})
    assert [len(one) for one in without] == [4, 4]
    (nothing,) = store.search(np.zeros((1, 64), np.float32), 9)
    assert [row for row, _ in nothing] == found.rows.tolist(), "equal cosines come in the order of rows"


def found_relations(typed, found):
    inside = set(found.rows.tolist())
    return [row for row, ends in enumerate(zip(typed.sources, typed.targets)) if inside.issuperset(ends)]


def test_a_relation_lifts_both_of_its_ends_if_it_is_inside(typed):
    found = around(typed, "Kestrel")
    query = typed.relation_vectors[[2]]  # Owl Night in language French
    (lifted,) = Store(typed, found, relation_boost=True).search(query, 2)
    assert lifted == [(typed.row["French"], pytest.approx(1)), (typed.row["Owl Night"], pytest.approx(1))]
    (plain,) = Store(typed, found).search(query, 9)
    assert all(score < 0.99 for _, score in plain)
    assert np.array_equal(Store(typed, found).relations.vectors, typed.relation_vectors[found_relations(typed, found)])
    outside = typed.relation_vectors[[8]]  # Far in language French
    (other,) = Store(typed, found, relation_boost=True).search(outside, 1)
    assert other[0][1] < 0.99


@pytest.mark.parametrize("seed", range(10))
def test_on_random_graphs_it_is_what_a_walk_by_hand_finds(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 25))
    types = {f"n{at:02}": f"t{draw.integers(3)}" for at in range(n)}
    ends = draw.integers(0, n, (2 * n, 2))
    typed = TypedGraph(types, [(f"n{a:02}", "r", f"n{b:02}") for a, b in ends])
    allowed = {f"t{t}" for t in range(3) if draw.random() < 0.6}
    anchors = sorted({int(one) for one in draw.integers(0, n, 2)})
    found = region(typed, anchors, allowed, 3)
    if found.filter_relaxed:
        allowed = set(types.values())
    near = {at: {int(b) for a, b in [*ends, *ends[:, ::-1]] if a == at and b != at} for at in range(n)}
    hop, frontier = dict.fromkeys(anchors, 0), set(anchors)
    for distance in (1, 2, 3):
        frontier = {v for u in frontier for v in near[u] if v not in hop and typed.types[v] in allowed}
        hop |= dict.fromkeys(frontier, distance)
    assert dict(zip(found.rows.tolist(), found.hops.tolist())) == hop
    pairs = {(u, v) for u in hop for v in near[u] & hop.keys()}
    inside = found.graph.tocoo()
    assert {(int(found.rows[a]), int(found.rows[b])) for a, b in zip(inside.row, inside.col)} == pairs
