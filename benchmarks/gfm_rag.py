"""GFM-RAG: passages found by a checkpoint, by a walk from the same entities, by dense retrieval; its time and memory.

    python benchmarks/gfm_rag.py quality SHARED [--indexes DIR] [--checkpoints NAME …] [--data NAME …] [--limit N]
    python benchmarks/gfm_rag.py time SHARED [--indexes DIR] [--checkpoints NAME …] [--shape WIDTHxLAYERS]

SHARED holds `datasets/`; DIR has an index per data set, whose missing layers rules build. `quality` prints Recall@5
over the questions with gold passages. `walk` is the same method with personalised PageRank over the graph of the index
in place of the logits: same entities, same weights, same rankers. `time` prints, for 2wikimultihopqa-6119, the
seconds of one question beside encoder and Steps, of 32 in one call, of 32 one by one, and without what `Reach` saves,
and the peak memory of the process; `--shape 512x6` takes random weights of the published size.
"""

import argparse
import itertools
import json
import resource
import time
from pathlib import Path

import numpy as np
import torch

import workbench as wb
from workbench.measures.ranking import recall
from workbench.methods.gfm_rag import GFMRAG
from workbench.methods.gfm_rag.network import Network, Shape
from workbench.methods.gfm_rag.reach import Reach, Start
from workbench.operators.pagerank import Walk

DATA = ("hotpotqa-train-100", "musique-train-100", "2wikimultihopqa-6119")
LARGEST = DATA[-1]
BATCH = 32


class PageRank(GFMRAG):
    """The method with the probabilities of a walk from the start entities as its logits."""

    damping = 0.5

    def logits(self, questions, starts):
        if not hasattr(self, "_walk"):
            self._walk = Walk(self.index.graph.weights())
        rows = []
        for one in starts:
            reset = np.zeros(self._walk.n)
            for row, weight in one:
                reset[row] = weight
            rows.append(self._walk(reset, self.damping).p[: len(self._facts.phrases)])
        return np.stack(rows).astype(np.float32)


def quality(method, questions) -> float:
    rankings = [[name for name, _ in method.retrieve(one.question, 5, trace="off").ranking] for one in questions]
    return round(float(np.mean([recall(ids, one.support, k=5) for ids, one in zip(rankings, questions)])), 4)


def compare(index, questions, checkpoints) -> dict[str, float]:
    found = {"dense": quality(wb.method("dense", index), questions)}
    for ranker, damping in itertools.product(("idf_topk", "simple", "idf"), (0.5, 0.85)):
        walk = PageRank(index, checkpoint="untrained", ranker=ranker)
        walk.damping = damping
        found[f"walk, damping {damping}, {ranker}"] = quality(walk, questions)
    for one, ranker in itertools.product(checkpoints, ("idf_topk", "idf_sigmoid")):
        found[f"{Path(one).name}, {ranker}"] = quality(GFMRAG(index, checkpoint=one, ranker=ranker), questions)
    return found


def median(call, over) -> float:
    times = []
    for one in over:
        begin = time.perf_counter()
        call(one)
        times.append(time.perf_counter() - begin)
    return round(float(np.median(times)), 4)


def seconds(method: GFMRAG, questions, shape: Shape | None) -> dict[str, float]:
    """Of the method's own network, or, once, of one with random weights and the `shape`."""
    edges, relations = method.reach.edges, torch.from_numpy(method.index.relations.features)
    network = method.checkpoint.network if shape is None else Network(shape).eval()
    begin = time.perf_counter()
    reach = Reach(network, relations, edges)
    asked = [one.question for one in questions[:BATCH]]
    found = {
        "facts": len(method.index.facts.facts), "edges": len(edges), "shape": str(network.shape),
        "once per index": round(time.perf_counter() - begin, 2),
    }  # fmt: skip
    starts = [Start(*zip(*method.link(one)[0])) for one in asked]
    vectors = torch.from_numpy(np.stack([method.index.encode_query(one) for one in asked]))

    def one(row: int) -> None:
        reach.logits(vectors[row : row + 1], starts[row : row + 1])

    def plain(row: int) -> None:
        start = torch.zeros(edges.nodes, 1)
        start[list(starts[row].rows), 0] = torch.tensor(starts[row].weights)
        with torch.inference_mode():
            network(vectors[row : row + 1], start, relations, edges)

    few = 3 if shape else BATCH
    found["one question"] = median(one, range(few))
    found["one question, all nodes"] = median(plain, range(few))
    if shape is None:
        method.retrieve(asked[0], 5)
        found[f"{BATCH} in one call"] = median(lambda _: reach.logits(vectors, starts), range(3))
        found[f"{BATCH} one by one"] = median(lambda _: [one(row) for row in range(BATCH)], range(3))
        found[f"{BATCH} one by one, all nodes"] = median(lambda _: [plain(row) for row in range(BATCH)], range(1))
        found["whole question, with encoder and rules"] = median(lambda row: method.retrieve(asked[row], 5), range(few))
    return found | {"peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "time"))
    parser.add_argument("shared", type=Path)
    parser.add_argument("--indexes", type=Path, default=Path("indexes"))
    parser.add_argument("--checkpoints", nargs="+", default=["mini"])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--shape")
    given = parser.parse_args()
    for name in given.data if given.what == "quality" else (LARGEST,):
        data = wb.load(given.shared / "datasets" / name)
        engine = wb.engine("rules")
        index = wb.Index.build(data, engine, given.indexes / name, layers=GFMRAG.layers, progress=False)
        questions = [one for one in data.questions if one.support][: given.limit]
        if given.what == "quality":
            found = compare(index, questions, given.checkpoints)
        else:
            size = map(int, given.shape.split("x")) if given.shape else ()
            shape = Shape(index.relations.vectors.shape[1], *size) if given.shape else None
            found = seconds(GFMRAG(index, checkpoint=given.checkpoints[0]), questions, shape)
        print(json.dumps({"data": name, "questions": len(questions), **found}), flush=True)
