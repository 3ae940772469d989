"""The time of the shortest simple paths, compared with networkx and igraph on the same graphs.

    python benchmarks/simple_paths.py [--rounds 5]

There are 20 targets within 3 edges of the start, and the 3 shortest paths to each; ours are also limited to 3 edges, an
option that the others do not have. Graphs of 2,000 and 10,000 nodes, three edges for each node, most of them at ten
hubs. Best of `--rounds` rounds, in milliseconds; ours with a fresh object in each round.
"""

import argparse
import json
import time
from itertools import islice

import igraph
import networkx as nx
import numpy as np
import scipy.sparse as sp

from workbench.methods.dotrag.paths import SimplePaths

TARGETS, K, LONGEST = 20, 3, 3


def graph(n: int, seed: int = 0) -> sp.csr_array:
    draw = np.random.default_rng(seed)
    ends = draw.integers(0, n, (3 * n, 2))
    ends[: 3 * n // 5, 1] = draw.integers(0, 10, 3 * n // 5)
    ends = ends[ends[:, 0] != ends[:, 1]]
    made = sp.coo_array((np.ones(len(ends)), ends.T), shape=(n, n)).tocsr()
    made = (made + made.T).tocsr()
    made.data[:] = 1
    made.sort_indices()
    return made


def best(call, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return round(1000 * min(times), 2)


def measure(n: int, rounds: int) -> dict:
    made = graph(n)
    start = n // 2  # not a hub
    distances = nx.single_source_shortest_path_length(known := nx.from_scipy_sparse_array(made), start, LONGEST)
    near = sorted(node for node, distance in distances.items() if distance > 0)
    targets = np.random.default_rng(1).choice(near, TARGETS, replace=False).tolist()
    upper = sp.triu(made).tocoo()
    other = igraph.Graph(n=n, edges=list(zip(upper.row.tolist(), upper.col.tolist())))
    ours = [SimplePaths(made).shortest(start, end, K, LONGEST) for end in targets]
    theirs = [list(islice(nx.shortest_simple_paths(known, start, end), K)) for end in targets]
    lengths = [[len(path) for path in paths if len(path) <= LONGEST + 1] for paths in theirs]
    assert [[len(path) for path in paths] for paths in ours] == lengths

    def search():
        paths = SimplePaths(made)
        return [paths.shortest(start, end, K, LONGEST) for end in targets]

    return {
        "nodes": n,
        "edges": made.nnz // 2,
        "milliseconds": {
            "ours": best(search, rounds),
            "networkx": best(
                lambda: [list(islice(nx.shortest_simple_paths(known, start, e), K)) for e in targets], rounds
            ),
            "igraph": best(lambda: [other.get_k_shortest_paths(start, e, K) for e in targets], rounds),
        },
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(json.dumps([measure(n, options.rounds) for n in (2_000, 10_000)], indent=1))
