"""The overhead per question of an iterative method, as a multiple of its backbone's time for the same queries.

    python benchmarks/iterative.py INDEX QUESTIONS [--method bdtr …] [--rounds 5] [--limit 50]

The overhead is everything except Steps and encoder, with the trace on. A first pass runs the Steps by rules and encodes
the queries; the timed passes answer both from memory. One thread. Median over questions of the best of `--rounds`
rounds.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.data.folder import read_questions
from workbench.llm.engine import RulesEngine, note


class Remembering(RulesEngine):
    """Runs the rules once for each input, and remembers the outputs."""

    def __init__(self):
        super().__init__()
        self._said = {}

    def run(self, step, inputs, *, trace=None):
        key = (step.name, repr(inputs))
        if key not in self._said:
            self._said[key] = super().run(step, inputs)
        note(trace, self.name, step, self._said[key])
        return self._said[key]


class Heard:
    """A backbone that records its queries."""

    def __init__(self, backbone):
        self.queries, self._retrieve = [], backbone.retrieve

    def __call__(self, query, k, **settings):
        self.queries.append((query, k))
        return self._retrieve(query, k, **settings)


def best(rounds: int, method, queries: list[tuple[str, int]]) -> float:
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        for query, k in queries:
            method.retrieve(query, k, trace="full")
        taken.append(time.perf_counter() - started)
    return min(taken)


def measure(folder: Path, spec: str, questions: list[str], rounds: int) -> dict:
    index = wb.Index.open(folder)
    engine = Remembering()
    method = wb.method(spec, index, engine)
    own, backbone = [], []
    for question in questions:
        heard = Heard(method.backbone)
        method.backbone.retrieve = heard
        method.retrieve(question, 20)
        del method.backbone.retrieve
        own.append(best(rounds, method, [(question, 20)]))
        backbone.append(best(rounds, method.backbone, heard.queries))
    return {
        "index": str(folder), "method": method.label, "questions": len(questions), "rounds": rounds,
        "ms per question, median": 1e3 * float(np.median(own)), "ms, slowest": 1e3 * max(own),
        "ms of its backbone for the same queries": 1e3 * float(np.median(backbone)),
        "ratio": float(np.median(np.array(own) / np.array(backbone))),
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--method", default="bdtr")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=50)
    arguments = parser.parse_args()
    asked = [question.question for question in read_questions(arguments.questions)][: arguments.limit]
    print(json.dumps(measure(arguments.index, arguments.method, asked, arguments.rounds), indent=1))
