"""Close pairs among many vectors: exact products against FAISS (inverted lists) and usearch (HNSW).

    python benchmarks/neighbours.py [--names 100000] [--dimension 384]

Invented vectors stand for names: unrelated ones are random, and a third of the names have one to five variants nearby
(cosine .7 to 1). Each index is asked for the 102 nearest neighbours of every vector, as the layer `synonyms` asks, with
more and more effort, until it finds .99 of the pairs of cosine .8 or more that exact products find for 2,000 of them.
Printed: seconds of building and of searching, and the share found. One thread, so that the figures are of one core."""

from __future__ import annotations

import argparse
import time

import numpy as np

THRESHOLD, NEAREST, SAMPLE = 0.8, 102, 2000


def names(count: int, dimension: int, seed: int = 7) -> np.ndarray:
    """Unit rows, float32, shape (count, dimension)."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dimension), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    originals = rng.choice(count, count // 4, replace=False)
    variants = rng.choice(np.setdiff1d(np.arange(count), originals), count // 3, replace=False)
    cosines = rng.uniform(0.7, 1, len(variants)).astype(np.float32)[:, None]
    of = rng.choice(originals, len(variants))
    away = vectors[variants] - (vectors[variants] * vectors[of]).sum(axis=1, keepdims=True) * vectors[of]
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    vectors[variants] = cosines * vectors[of] + np.sqrt(1 - cosines**2) * away
    return vectors


def share(found: np.ndarray, truth: list[set[int]]) -> float:
    """Of the true neighbours of the sampled rows, the share among those found."""
    return sum(len(true & set(row.tolist())) for row, true in zip(found, truth)) / sum(map(len, truth))


def faiss_lists(vectors: np.ndarray, sample: np.ndarray, truth: list[set[int]]) -> None:
    import faiss

    faiss.omp_set_num_threads(1)
    start = time.perf_counter()
    lists = int(4 * len(vectors) ** 0.5)
    quantizer = faiss.IndexFlatIP(vectors.shape[1])
    index = faiss.IndexIVFFlat(quantizer, vectors.shape[1], lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = 10
    index.train(vectors)
    index.add(vectors)
    built = time.perf_counter() - start
    for probes in (4, 8, 16, 32, 64, 128, 256):
        index.nprobe = min(probes, lists)
        recall = share(index.search(vectors[sample], NEAREST)[1], truth)
        if recall >= 0.99:
            break
    start = time.perf_counter()
    index.search(vectors, NEAREST)
    print(
        f"FAISS   {lists} lists, {index.nprobe} probed: build {built:6.1f} s, search "
        f"{time.perf_counter() - start:6.1f} s, found {recall:.4f}"
    )


def usearch_graph(vectors: np.ndarray, sample: np.ndarray, truth: list[set[int]]) -> None:
    from usearch.index import Index

    start = time.perf_counter()
    index = Index(ndim=vectors.shape[1], metric="ip", dtype="f32")
    index.add(np.arange(len(vectors)), vectors, threads=1)
    built = time.perf_counter() - start
    for effort in (102, 200, 400, 800, 1600):
        index.expansion_search = effort
        recall = share(index.search(vectors[sample], NEAREST, threads=1).keys, truth)
        if recall >= 0.99:
            break
    start = time.perf_counter()
    index.search(vectors[: len(vectors) // 10], NEAREST, threads=1)
    searched = 10 * (time.perf_counter() - start)
    print(
        f"usearch expansion {effort}: build {built:6.1f} s, search {searched:6.1f} s (ten times a tenth), "
        f"found {recall:.4f}"
    )


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    vectors = names(asked.names, asked.dimension)
    sample = np.random.default_rng(1).choice(len(vectors), min(SAMPLE, len(vectors)), replace=False)
    start = time.perf_counter()
    products = (torch.from_numpy(vectors[sample]) @ torch.from_numpy(vectors).T).numpy()
    truth = [set(np.flatnonzero(row >= THRESHOLD).tolist()) for row in products]
    exact = (time.perf_counter() - start) * len(vectors) / len(sample) / 2
    print(f"exact   half of all products: {exact:6.1f} s (from {len(sample):,} rows)")
    faiss_lists(vectors, sample, truth)
    usearch_graph(vectors, sample, truth)


if __name__ == "__main__":
    main()
