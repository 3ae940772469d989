"""The time of one question with HippoRAG 2, as a ratio to igraph's prpack on the same graph in the same run.

    python benchmarks/question.py INDEX QUESTIONS [--rounds 5]

Question vectors are encoded before the clock starts and the filter is `identity`, so the figures include neither the
encoder nor a Step. One BLAS thread. Median over questions of the best of `--rounds` rounds; prpack gets the same
weights and reset vectors.
"""

import argparse
import json
import time
from pathlib import Path

import igraph
import numpy as np
import scipy.sparse as sp

import workbench as wb
from workbench.data.folder import read_questions
from workbench.trace import Trace


def prpack(weights: sp.csr_array):
    """The official code's solver on our effective weights."""
    upper = sp.triu(weights).tocoo()
    graph = igraph.Graph(n=weights.shape[0], edges=list(zip(upper.row.tolist(), upper.col.tolist())))
    graph.es["weight"] = upper.data.tolist()

    def solve(reset: np.ndarray) -> list[float]:
        return graph.personalized_pagerank(
            damping=0.5, directed=False, weights="weight", reset=reset.tolist(), implementation="prpack"
        )

    return solve


def measure(folder: Path, questions: list[str], rounds: int) -> dict:
    index = wb.Index.open(folder)
    method = wb.method("hipporag2[profile=released,filter=identity]", index)
    for question in questions:
        for task in ("facts", "passages"):
            index.encode_query(question, task)
    solve = prpack(index.graph.weights())
    resets, solved = [], []
    walk = method._walk

    def spy(reset, *args, **kwargs):
        resets.append(reset.copy())
        solved.append(walk(reset, *args, **kwargs))
        return solved[-1]

    method._walk = spy
    spy.n = walk.n
    for question in questions:
        method.retrieve(question, k=200, trace="off")
    method._walk = walk
    times = _best(
        {
            "prpack": lambda i: solve(resets[i]),
            "walk alone": lambda i: walk(resets[i], 0.5),
            "question, trace off": lambda i: method.retrieve(questions[i], k=200, trace="off"),
            "question, trace full": lambda i: method.retrieve(questions[i], k=200, trace=Trace("full")),
        },
        len(questions),
        rounds,
    )
    exact = [np.array(solve(reset)) for reset in resets]
    return {
        "questions": len(questions),
        "nodes": index.graph.nodes,
        "milliseconds": {name: round(1000 * value, 3) for name, value in times.items()},
        "of prpack": {name: round(value / times["prpack"], 3) for name, value in times.items()},
        "iterations": float(np.mean([mass.iterations for mass in solved])),
        "largest difference to prpack": max(float(np.abs(a - b.p).max()) for a, b in zip(exact, solved)),
        "largest L1 difference": max(float(np.abs(a - b.p).sum()) for a, b in zip(exact, solved)),
    }


def _best(calls: dict, n: int, rounds: int) -> dict[str, float]:
    """Median over questions of each call's best round. The calls alternate by round, so a busy machine slows all
    equally, and each runs over the questions one after the other, as in use."""
    best = {name: np.full(n, np.inf) for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            for i in range(n):
                started = time.perf_counter()
                call(i)
                best[name][i] = min(best[name][i], time.perf_counter() - started)
    return {name: float(np.median(values)) for name, values in best.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    asked = [question.question for question in read_questions(options.questions)]
    print(json.dumps(measure(options.index, asked, options.rounds), indent=1))
