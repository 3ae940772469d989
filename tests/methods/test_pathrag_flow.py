"""Flow-based pruning: the worked example, both forms by hand, a plain reading of the definition on random graphs."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from workbench.methods.pathrag import flow_paths


def graph(n: int, edges) -> sp.csr_array:
    dense = np.zeros((n, n), dtype=np.float32)
    for a, b in edges:
        if a != b:
            dense[a, b] = dense[b, a] = 1.0
    return sp.csr_array(dense)


def naive(adjacency, nodes, alpha, threshold, hops, keep, form):
    """Every path of every pair is listed and scored; written from the definition alone."""
    near = {v: [int(u) for u in np.flatnonzero(row)] for v, row in enumerate(adjacency.toarray())}
    pool, counts = [], [0, 0, 0]
    for s, t in ((s, t) for s in nodes for t in nodes if s != t):
        paths, grown = [], [[s]]
        for _ in range(hops):
            grown = [[*path, v] for path in grown if path[-1] != t for v in near[path[-1]] if v not in path]
            paths += [path for path in grown if path[-1] == t]
        for path in paths:
            counts[len(path) - 2] += 1
        pool += list(zip(scores(paths, s, t, alpha, threshold, form), map(tuple, paths)))
    best, taken = [], []
    for score, path in sorted(pool, key=lambda one: -one[0]):
        if set(path) not in taken:
            taken.append(set(path))
            best.append((path, score))
    return best[: min(keep, sum(count // 2 for count in counts))], tuple(counts)


def scores(paths, s, t, alpha, threshold, form):
    out = defaultdict(set)
    for path in paths:
        for a, b in pairwise(path):
            out[a].add(b)
    if form == "edges":
        w = defaultdict(float)
        for a in sorted(out[s]):
            w[s, a] += 1 / len(out[s])
            if a != t and w[s, a] > threshold:
                for b in sorted(out[a]):
                    w[a, b] += w[s, a] * alpha / len(out[a])
                    if b != t and w[a, b] > threshold:
                        for c in sorted(out[b]):
                            w[b, c] += w[a, b] * alpha / len(out[b])
        return [sum(w[edge] for edge in pairwise(path)) / (len(path) - 1) for path in paths]
    resource, wave = defaultdict(float, {s: 1.0}), {s: 1.0}
    for _ in range(max(map(len, paths), default=1) - 1):
        following = defaultdict(float)
        for v in sorted(wave):
            if v != t and wave[v] / len(out[v]) >= threshold:
                share = wave[v] / len(out[v])
                for u in sorted(out[v]):
                    following[u] += alpha * share
        for v, amount in following.items():
            resource[v] += amount
        wave = following
    return [sum(map(resource.__getitem__, path)) / (len(path) - 1) for path in paths]


def test_the_worked_example():
    """s–t and s–a–t: s has two successors; a passes on 0.5 · 0.8. Of four successors none passes on anything."""
    s, a, t = 0, 1, 2
    found = flow_paths(graph(3, [(s, t), (s, a), (a, t)]), [s, t], keep=15)
    assert found.counts == (2, 2, 0)
    assert found.paths == [(s, t), (s, a, t)] and found.scores == pytest.approx([0.5, 0.45])
    four = flow_paths(graph(5, [(0, 1), *((0, a) for a in (2, 3, 4)), *((a, 1) for a in (2, 3, 4))]), [0, 1])
    assert four.scores == pytest.approx([0.25, 0.125, 0.125, 0.125])
    assert four.paths == [(0, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)]
    assert flow_paths(graph(5, [(0, 1), (0, 2), (2, 1), (0, 3), (3, 1)]), [0, 1], threshold=0.0, limit=1).bounded == 2


def test_the_paper_s_form_by_hand():
    """S(s) = 1, S(a) = 0.8 / 2 = 0.4, S(t) = 0.8 / 2 + 0.8 · 0.4 = 0.72."""
    s, a, t = 0, 1, 2
    found = flow_paths(graph(3, [(s, t), (s, a), (a, t)]), [s, t], form="nodes")
    assert found.paths == [(s, t), (s, a, t)] and found.scores == pytest.approx([1.72, (1 + 0.4 + 0.72) / 2])


def test_half_of_the_paths_are_kept():
    """A path 0–1–2–3 between its ends only: one path of 3 edges each way."""
    line = graph(4, [(0, 1), (1, 2), (2, 3)])
    found = flow_paths(line, [0, 3])
    assert found.counts == (0, 0, 2)
    assert found.paths == [(0, 1, 2, 3)]
    assert found.scores == pytest.approx([(1 + 0.8 + 0.64) / 3])
    assert (
        flow_paths(line, [0, 2, 3], keep=2).paths == [(2, 3), (0, 1, 2)]
        and flow_paths(line, [0, 3], hops=2).paths == []
    )
    for nodes in ([], [1], [0, 2]):
        assert flow_paths(graph(3, []), nodes) == ([], [], (0, 0, 0), 0), "nothing between nothing"


@given(
    n=st.integers(2, 9),
    data=st.data(),
    alpha=st.sampled_from([0.5, 0.8, 1.0]),
    threshold=st.sampled_from([0.0, 0.1, 0.3, 0.5]),
    hops=st.integers(1, 3),
    keep=st.integers(1, 20),
    form=st.sampled_from(["edges", "nodes"]),
)
def test_it_finds_what_a_plain_reading_finds(n, data, alpha, threshold, hops, keep, form):
    edges = data.draw(st.lists(st.sampled_from(list(permutations(range(n), 2))), max_size=3 * n))
    nodes = data.draw(st.lists(st.integers(0, n - 1), max_size=5, unique=True))
    adjacency = graph(n, edges)
    found = flow_paths(adjacency, nodes, alpha=alpha, threshold=threshold, hops=hops, keep=keep, form=form)
    best, counts = naive(adjacency, nodes, alpha, threshold, hops, keep, form)
    assert found.counts == counts and found.bounded == 0
    assert list(zip(found.paths, found.scores)) == best  # the very same bits: nothing hangs on an order
