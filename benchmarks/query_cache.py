"""The savings of the cache of encoded texts, and the cost of its batch-independent vectors.

    python benchmarks/query_cache.py [--index FOLDER] [--questions 12] [--methods dotrag,hipporag2,…]

For each method on meridian: median seconds of a new question and of its repetition, with the rules as engine. The rules
keep parses and schemas, so all questions run once beforehand, and then the cache is emptied. For names, questions and
passages: seconds of encoding each text alone, on one thread, as the cache does, against plain batches on all cores, in
alternating rounds; and the share of texts whose vector in a batch has other bits.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.encoding import Encoder, cached

METHODS = ("dense", "hipporag2", "dotrag", "lightrag", "pathrag")
TEXTS = 40  # of each kind
ROUNDS = 3


def repeated(index: wb.Index, spec: str, questions: list[str]) -> dict[str, float]:
    method = wb.method(spec, index, wb.engine("rules"))
    for question in questions:
        method.retrieve(question)
    cached(index.encoder).clear()
    first, again = [], []
    for question in questions:
        for seconds in (first, again):
            started = time.perf_counter()
            method.retrieve(question)
            seconds.append(time.perf_counter() - started)
    seconds = {"first": statistics.median(first), "again": statistics.median(again)}
    return seconds | {"ratio": seconds["first"] / seconds["again"]}


def alone(encoder: Encoder, texts: list[str]) -> dict[str, float]:
    """The best of several rounds, in which both ways alternate."""
    ways = {
        "alone": lambda: np.concatenate([encoder.encode([text]) for text in texts]),
        "batches": lambda: encoder.encode(texts),
    }
    best, vectors = dict.fromkeys(ways, np.inf), {}
    for _ in range(ROUNDS):
        for name, encode in ways.items():
            started = time.perf_counter()
            vectors[name] = encode()
            best[name] = min(best[name], time.perf_counter() - started)
    others = (vectors["alone"] != vectors["batches"]).any(axis=1)
    seconds = {f"{name}, per text": value / len(texts) for name, value in best.items()}
    return seconds | {"ratio": best["alone"] / best["batches"], "other bits in a batch": float(others.mean())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, help="an index of meridian; what it lacks is built")
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    data = wb.load("meridian")
    built = wb.Index.build(data, wb.engine("rules"), options.index, layers=["synonyms", "typed"])
    asked = [question.question for question in data.questions]
    chosen = asked[:: max(1, len(asked) // options.questions)][: options.questions]
    kinds = {"names": built.typed.names, "questions": asked, "passages": [p.content for p in data.passages]}
    result = {
        "seconds of a question": {spec: repeated(built, spec, chosen) for spec in options.methods.split(",")},
        "seconds of encoding": {kind: alone(built.encoder, texts[:TEXTS]) for kind, texts in kinds.items()},
    }
    print(json.dumps(result, indent=1))
