"""Communities perceived twice: invariants on random typed graphs, graphs worked out by hand, each setting."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from tiers import FULL

from workbench.errors import SettingError
from workbench.index import dual_perception as dual
from workbench.index.dual_perception import GraphArrays, Perception, detect, k_of, start

PROFILES = ("workbench", "paper", "released")


def arrays(vectors, relations: list[dict[str, int]], edges=()) -> GraphArrays:
    """`relations`: of each entity how many of its triples have which type; `edges`: (source, target)."""
    n, labels = len(vectors), sorted({label for counts in relations for label in counts})
    counts = np.array([[held.get(label, 0) for label in labels] for held in relations]).reshape(n, len(labels))
    joined = np.zeros((n, n), dtype=np.float32)
    for source, target in edges:
        joined[source, target] = 1
    return GraphArrays(np.array(vectors, np.float32), sp.csr_array(counts), sp.csr_array(joined), counts.sum(axis=1))


class Typed(NamedTuple):
    """A random graph: entities of a few types, triples between types, vectors around the mean of their type."""

    graph: GraphArrays
    relations: list[Counter]


def random_graph(seed: int) -> Typed:
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    n, types, dimension = draw.randrange(1, 90), draw.randrange(1, 6), draw.choice([2, 8, 16])
    type_of = [draw.randrange(types) for _ in range(n)]
    centres = numbers.normal(size=(types, dimension))
    vectors = centres[type_of] + draw.choice([0.05, 0.4, 1.5]) * numbers.normal(size=(n, dimension))
    triples = {(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randrange(3 * n))}
    relations = [Counter() for _ in range(n)]
    for source, target in sorted(triples):
        label = f"{type_of[source]} to {type_of[target]}"
        for end in {source, target}:
            relations[end][label] += 1
    return Typed(arrays(vectors, relations, triples), relations)


def similarity(merge: dual.Merge, settings: Perception) -> float:
    relations, embeddings = settings.weights
    return relations * merge.overlap + embeddings * merge.cosine


def partition(found: dual.Communities) -> set[frozenset[int]]:
    return {frozenset(community.members) for community in found.communities}


# -- 200 random graphs -----------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("seed", range(600 if FULL else 12))
def test_what_holds_for_every_graph(seed):
    (graph, relations), draw = random_graph(seed), random.Random(-seed)
    profile = PROFILES[seed % 3]
    settings = Perception.of(
        profile=profile, max_communities=draw.choice([3, 10, 200]), size_cap=draw.choice([4, 12, 100]),
        merge_threshold=draw.choice([0.2, 0.5, 0.8]), epsilon=draw.choice([0.05, 0.5]), max_iter=draw.choice([1, 10]),
        perception=draw.choice(["dual", "dual", "relations", "embeddings"]), pooled=draw.choice(["sum", "mean"]),
    )  # fmt: skip
    n, begun = len(graph.vectors), start(graph, settings)
    found = detect(graph, settings, begun)
    held = [member for community in found.communities for member in community.members]
    assert len(held) == len(set(held)) and set(held) <= set(range(n))
    assert profile == "released" or sorted(held) == list(range(n)), "a partition"
    assert profile != "released" or found.overflow == n - len(held)
    assert len(found.communities) <= settings.max_communities
    assert [community.id for community in found.communities] == list(range(len(found.communities)))
    sizes = [len(community.members) for community in found.communities]
    assert sizes == sorted(sizes, reverse=True)
    _check_representatives(found, relations, settings)
    _check_merges(found, begun, settings)
    assert detect(graph, settings) == found, "the same with or without the start, and again"
    _check_relabelled(graph, settings, found, draw)


def _check_representatives(found, relations, settings) -> None:
    for community in found.communities:
        assert list(community.members) == sorted(community.members)
        assert community.keywords[0] == community.centre and set(community.keywords) <= set(community.members)
        assert len(set(community.keywords)) == len(community.keywords) == min(5, len(community.members))


def _check_merges(found, begun, settings) -> None:
    """Nothing merges below the threshold, above the cap or twice in a round; nobody leaves the cluster."""
    paper = settings.profile != "released"
    clusters = [begun.order[np.concatenate(parts)].tolist() for parts in begun.clusters]
    cluster_of = {member: number for number, members in enumerate(clusters) for member in members}
    for merge in found.merges:
        assert merge.size == len(merge.left) + len(merge.right) and not set(merge.left) & set(merge.right)
        assert {cluster_of[member] for member in (*merge.left, *merge.right)} == {merge.cluster}
        assert 1 <= merge.round <= settings.max_iter and merge.merged == (merge.reason == "merged")
        fits = {
            "dissimilar": round(similarity(merge, settings), 9) >= settings.merge_threshold,
            "difference": merge.difference < settings.epsilon or not paper,
            "size": merge.size <= settings.size_cap,
        }
        assert all(fits.values()) if merge.reason in ("merged", "taken") else not fits[merge.reason]
    merged = Counter((m.cluster, m.round, part) for m in found.merges if m.merged for part in (m.left, m.right))
    assert set(merged.values()) <= {1}
    assert sum(found.considered.values()) >= len(found.merges)
    assert found.considered.get("merged", 0) == sum(m.merged for m in found.merges)
    parts = sum(map(len, begun.clusters))
    if paper and parts - found.considered.get("merged", 0) <= settings.max_communities:
        assert len(found.communities) == parts - found.considered.get("merged", 0) and found.overflow == 0


def _check_relabelled(graph, settings, found, draw) -> None:
    """Entities in another order, and other names of the relation types, give the same communities."""
    n, labels = graph.relations.shape
    entities, types = draw.sample(range(n), n), list(range(labels))
    if settings.perception != "relations":  # where k-means runs on these columns, whose sums end in other bits
        draw.shuffle(types)
    other = detect(
        GraphArrays(
            graph.vectors[entities],
            graph.relations[entities][:, types].tocsr(),
            graph.neighbours[entities][:, entities].tocsr(),
            graph.degrees[entities],
        ),
        settings,
    )
    back = [(tuple(sorted(entities[row] for row in c.members)), entities[c.centre]) for c in other.communities]
    assert back == [(c.members, c.centre) for c in found.communities]
    assert other.considered == found.considered


# -- worked out by hand ----------------------------------------------------------------------------------------------


def test_a_graph_worked_out_by_hand_as_in_the_paper():
    """Two clusters, each of two parts of equal vectors. A member's overlap with its part is its share of the part's
    triples, whose mean is 1/2, and its cosine 1: all parts score 1/2 + 7/3. What decides are the centres, which are the
    members with most triples."""
    graph = arrays(
        [(1, 0), (1, 0), (0.8, 0.6), (0.8, 0.6), (-1, 0), (-1, 0), (-0.6, -0.8), (-0.6, -0.8)],
        [{"a": 2}, {"a": 1}, {"b": 2}, {"c": 1}, {"a": 2, "b": 1}, {"d": 1}, {"a": 1, "c": 1}, {"d": 1}],
    )
    found = detect(graph, Perception())
    one, other = sorted(found.merges, key=lambda merge: merge.reason)
    # Centres 4 and 6: {a:2,b:1} and {a:1,c:1} overlap by 1/4; 0.3/4 + 0.7·0.6 = 0.495, just below the threshold.
    assert {one.left, one.right} == {(4, 5), (6, 7)} and one.reason == "dissimilar" and not one.merged
    assert (one.overlap, one.cosine, one.difference) == pytest.approx((0.25, 0.6, 0))
    # Centres 0 and 2 share no relation; 0.7·0.8 = 0.56 is enough.
    assert {other.left, other.right} == {(0, 1), (2, 3)} and other.merged and other.size == 4
    assert (other.overlap, other.cosine) == pytest.approx((0, 0.8))
    assert found.communities[0].members == (0, 1, 2, 3)
    assert partition(found) == {frozenset({0, 1, 2, 3}), frozenset({4, 5}), frozenset({6, 7})}
    # Merged: triples 2, 1, 2, 1 of 6, and each cosine to the sum (3.6, 1.2) is 3/√10.
    whole = found.communities[0]
    assert whole.cohesion == pytest.approx(1 / 4 + 7 / 3 * 3 / 10**0.5)
    assert set(whole.keywords[:2]) == {0, 2} and set(whole.keywords[2:]) == {1, 3}
    assert next(c.centre for c in found.communities if 4 in c.members) == 4


def test_eq_6_has_the_norms_that_are_printed_or_those_of_a_jaccard_similarity():
    """The relations (2, 0, 1), (0, 1, 0) and (1, 1, 0) against their sum (3, 2, 1)."""
    graph = arrays(np.eye(3), [{"a": 2, "c": 1}, {"b": 1}, {"a": 1, "b": 1}])
    members, found = np.arange(3), {}
    for profile in ("paper", "workbench"):
        view = dual._View(graph, Perception.of(profile=profile), members)
        found[profile] = view._structure(members)
        overlap, _ = view.compared(members)
        assert overlap == pytest.approx(overlap.T) and np.diag(overlap) == pytest.approx(1)
        found[profile, "centres"] = overlap[0]
    assert found["paper"] == pytest.approx([0.598, 0.267, 0.378], abs=5e-4)
    assert found["workbench"] == pytest.approx([1 / 2, 1 / 6, 1 / 3])
    # minima (1, 0, 0) of the first and the third, maxima (2, 1, 1)
    assert found["paper", "centres"] == pytest.approx([1, 0, 1 / 6**0.5])
    assert found["workbench", "centres"] == pytest.approx([1, 0, 1 / 4])


@pytest.mark.parametrize("profile", ["paper", "released"])
def test_the_partition_is_that_of_the_call_that_the_paper_prints(profile):
    points = np.random.default_rng(3).normal(size=(120, 6))
    settings = Perception.of(profile=profile)
    printed = KMeans(k_of(120, settings), n_init=5, random_state=42).fit(points).labels_
    whole = [rows.tolist() for rows in dual._k_means(points, np.arange(120), settings, map)]
    assert {frozenset(rows) for rows in whole} == {frozenset(np.flatnonzero(printed == at)) for at in set(printed)}
    drawn = dual._k_means(points, np.arange(120), Perception(), map)
    assert {frozenset(rows.tolist()) for rows in drawn} != {frozenset(rows) for rows in whole}


def test_a_graph_worked_out_by_hand_as_in_the_released_code():
    """Two clusters, of eight and of four entities, each of two parts of equal vectors."""
    vectors = [(1, 0)] * 6 + [(0.8, 0.6)] * 2 + [(-1, 0), (-1, 0), (-0.7, -(0.51**0.5)), (-0.7, -(0.51**0.5))]
    degrees = [1, 2, 6, 3, 4, 5, 1, 1, 1, 1, 1, 1]
    graph = arrays(vectors, [{"a": degree} for degree in degrees], [(2, 6), (6, 2)])
    found = detect(graph, settings := Perception.of(profile="released"))
    # The part of six is ranked: 0.3·degree/6 + 0.7·1, so entity 2 is its centre; a part of two has its first for one.
    first = int(next(row for row in dual.content_order(graph) if row in (6, 7)))
    (merged,) = (merge for merge in found.merges if merge.merged)
    assert {merged.left, merged.right} == {(0, 1, 2, 3, 4, 5), (6, 7)}
    # Each centre points to the other, so their neighbours have nothing in common: 0.7·0.8 = 0.56.
    assert (merged.overlap, merged.cosine) == pytest.approx((0, 0.8))
    assert merged.difference == pytest.approx(abs((0.3 * 21 / 36 + 0.7) - 1.0))
    # Of the four, 0.7·0.7 = 0.49 makes no candidate.
    assert partition(found) == {frozenset(range(8)), frozenset({8, 9}), frozenset({10, 11})}
    assert found.considered == {"merged": 1} and first in (6, 7)
    # Of the eight, the cosines to (7.6, 1.2) favour (1, 0): 0.3·6/6 + 0.7·0.988 is the most; then 5, 4, 3.
    assert found.communities[0].keywords[:4] == (2, 5, 4, 3) and found.communities[0].centre == 2
    assert settings.max_iter == 1 and settings.max_communities == 100


# -- the rules of the specification ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pooled", ["sum", "mean"])
@pytest.mark.parametrize("seed", range(3))
def test_a_score_is_the_overlap_of_relations_plus_the_cosine_as_often_as_lambda_says(seed, pooled):
    """With the sum, a shortcut is taken: here the Jaccard index is written out."""
    graph, relations = random_graph(seed)
    settings = Perception(pooled=pooled)
    community, *_ = detect(graph, settings).communities
    whole = sum((relations[member] for member in community.members), Counter())
    if pooled == "mean":
        whole = Counter({label: count / len(community.members) for label, count in whole.items()})
    view = dual._View(graph, settings, np.arange(len(graph.vectors)))
    members = list(community.members)
    centroid = graph.vectors[members].sum(axis=0)
    for member, score in zip(members, view.scores(np.array(members))):
        own = relations[member]
        overlap = sum((own & whole).values()) / sum((own | whole).values()) if whole else 0
        vector = graph.vectors[member]
        cosine = vector @ centroid / np.linalg.norm(vector) / np.linalg.norm(centroid)
        assert score == pytest.approx(overlap + 7 / 3 * cosine, abs=1e-5)


def test_equal_relations_with_orthogonal_embeddings_do_not_merge():
    graph = arrays([(1, 0), (1, 0), (0, 1), (0, 1)], [{"a": 1}] * 4)
    found = detect(graph, Perception(beta=4, max_clusters=1))  # one cluster, whose parts are all the same
    assert [len(parts) for parts in start(graph, Perception(max_clusters=1)).clusters] == [1]
    begun = dual.Start(np.arange(4), [[np.array([0, 1]), np.array([2, 3])]])
    (merge,) = detect(graph, Perception(), begun).merges
    assert (merge.overlap, merge.cosine, merge.reason) == (1, 0, "dissimilar")
    assert len(found.communities) == 1 and len(detect(graph, Perception(), begun).communities) == 2
    assert len(detect(graph, Perception(perception="relations"), begun).communities) == 1
    assert len(detect(graph, Perception(perception="embeddings"), begun).communities) == 2


# -- what each setting does ------------------------------------------------------------------------------------------


def grouped(groups: int, size: int, seed: int = 0) -> GraphArrays:
    numbers = np.random.default_rng(seed)
    vectors = np.repeat(np.eye(groups), size, axis=0) + 0.01 * numbers.normal(size=(groups * size, groups))
    return arrays(vectors, [{f"r{at // size}": 1 + at % 3} for at in range(groups * size)])


def test_what_is_beyond_the_most_communities_joins_the_nearest_or_none():
    graph = grouped(6, 12)
    all_of_them = detect(graph, Perception())
    few = detect(graph, Perception(max_communities=2))
    left = detect(graph, Perception.of(profile="released", max_communities=2))
    assert len(all_of_them.communities) > 2 == len(few.communities) == len(left.communities)
    kept = [set(community.members) for community in all_of_them.communities[:2]]
    assert sorted(member for c in few.communities for member in c.members) == list(range(72))
    assert all(any(one <= set(c.members) for c in few.communities) for one in kept)
    assert few.overflow == 72 - sum(map(len, kept)) > 0
    assert left.overflow == (left.communities and 72 - sum(len(c.members) for c in left.communities)) > 0
    assert (left.of_entities(72) == -1).sum() == left.overflow and (few.of_entities(72) >= 0).all()


def test_parts_merge_until_they_would_be_too_large():
    graph = grouped(1, 40)
    assert {len(c.members) for c in detect(graph, Perception()).communities} != {40}  # k of 40 is 4: none merges
    begun = dual.Start(np.arange(40), [[np.arange(at, at + 10) for at in range(0, 40, 10)]])
    settings = Perception(epsilon=5.0)
    assert [len(c.members) for c in detect(graph, settings, begun).communities] == [40]
    assert {m.round for m in detect(graph, settings, begun).merges} == {1, 2}
    capped = detect(graph, Perception(epsilon=5.0, size_cap=25), begun)
    assert [len(c.members) for c in capped.communities] == [20, 20] and capped.considered["size"] == 1
    assert capped.considered["taken"] == 4, "all six pairs are close, two merge"
    once = detect(graph, Perception(epsilon=5.0, max_iter=1), begun)
    assert [len(c.members) for c in once.communities] == [20, 20]
    assert len(detect(graph, Perception(max_iter=0), begun).communities) == 4


def test_the_merges_that_are_told_of_are_bounded_and_counted():
    graph = grouped(1, 60)
    begun = dual.Start(np.arange(60), [[np.arange(at, at + 2) for at in range(0, 60, 2)]])
    found = detect(graph, Perception(max_iter=1), begun)
    refused = [merge for merge in found.merges if not merge.merged]
    assert len(refused) == dual.REFUSED and sum(found.considered.values()) == 30 * 29 // 2


def other_bits(graph: GraphArrays, seed: int) -> GraphArrays:
    """The graph with vectors as another processor might have made them."""
    noise = 1e-7 * np.random.default_rng(seed).normal(size=graph.vectors.shape)
    return graph._replace(vectors=(graph.vectors * (1 + noise)).astype(np.float32))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("seed", range(0, 20, 4))
def test_the_last_bits_of_vectors_decide_nothing(seed, profile):
    graph, settings = random_graph(seed).graph, Perception.of(profile=profile)
    found = detect(graph, settings)
    for noise in range(3):
        other = detect(other_bits(graph, noise), settings)
        assert [one[:4] for one in other.communities] == [one[:4] for one in found.communities]
        assert other.considered == found.considered


def test_bad_input_is_refused_in_words():
    graph = grouped(2, 5)
    with pytest.raises(SettingError, match="vectors has 10 rows and relations has 9"):
        detect(graph._replace(relations=graph.relations[:9]), Perception())
    with pytest.raises(SettingError, match="NaN or infinite"):
        detect(graph._replace(vectors=np.full((10, 2), np.nan, np.float32)), Perception())
    with pytest.raises(SettingError, match="struct_weight=0; it should be a share, above 0 to 1"):
        Perception(struct_weight=0)
    with pytest.raises(SettingError, match="no profile 'official'"):
        Perception.of(profile="official")
