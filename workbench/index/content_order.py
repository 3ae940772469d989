"""An order of entities by content, so that results over a graph depend neither on the order of its entities nor on the
last bits of vectors, in which processors differ: relations decide first, then rounded numbers."""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from workbench.index.dual_perception import GraphArrays

SAME = 1e-6  # between numbers that differ in their last bits alone, or in vectors made on another processor
ROUNDS = 3  # of triples within which entities are told apart by their relations


def content_order(graph: GraphArrays) -> np.ndarray:
    """The rows sorted by their content, int (n,): how they are related, which is exact; of those that are related
    alike, where the vector lies in one direction, then which types of relations they have. Rows whose content is the
    same stay in their order."""
    places, relations = _places(settled(graph.vectors)), graph.relations
    counts = np.asarray(relations.data, dtype=np.int64)
    often, which = [], []
    for begin, end in itertools.pairwise(relations.indptr.tolist()):
        held = counts[begin:end], np.asarray(relations.indices[begin:end], dtype=np.int64)
        inner = np.argsort(held[1])
        often.append(_hash(np.sort(held[0]).tobytes()))
        which.append(_hash(held[1][inner].tobytes() + held[0][inner].tobytes()))
    related = _related(np.array(often, dtype=np.uint64), graph.neighbours)
    return np.lexsort((np.arange(len(which)), np.array(which, dtype=np.uint64), places, related))


def _hash(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")


def _related(own: np.ndarray, neighbours: sp.csr_array) -> np.ndarray:
    """A number for how an entity is related, uint64 (n,): from a number of each entity's `own`, and those of what is
    `ROUNDS` triples away, in and out (the colours of Weisfeiler and Leman)."""
    leads = neighbours.astype(np.uint64).tocsr()
    numbers = own
    for _ in range(ROUNDS):
        there, back = leads @ _mixed(numbers, 1), leads.T @ _mixed(numbers, 2)
        numbers = _mixed(numbers + _mixed(there, 3) + _mixed(back, 4), 5)
    return numbers


def _mixed(numbers: np.ndarray, salt: int) -> np.ndarray:
    """Numbers as others that tell nothing of them, uint64 (the finaliser of SplitMix64)."""
    mixed = numbers + np.uint64(salt * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def settled(vectors: np.ndarray) -> np.ndarray:
    """The vectors, float64, in which values that differ by less than `SAME` are made equal."""
    vectors = np.asarray(vectors, dtype=np.float64)
    if not vectors.size:
        return vectors
    places = _places(vectors)
    order = np.argsort(places, kind="stable")
    same = np.diff(places[order]) <= SAME * vectors.shape[1] ** 0.5
    near = np.flatnonzero(same)
    same[near] = np.abs(vectors[order[near]] - vectors[order[near + 1]]).max(axis=1) <= SAME
    first = np.maximum.accumulate(np.where(np.r_[False, same], 0, np.arange(len(order))))
    settled_vectors = np.empty_like(vectors)
    settled_vectors[order] = vectors[order[first]]
    return settled_vectors


def _places(vectors: np.ndarray) -> np.ndarray:
    """Where vectors lie in a direction that is none of theirs, float64 (n,)."""
    direction = np.random.RandomState(0).standard_normal(vectors.shape[1])
    return (vectors * (direction / max(float(np.linalg.norm(direction)), 1e-12))).sum(axis=1)


def levels(values: np.ndarray) -> np.ndarray:
    """Values as whole numbers, 0 for the highest; one that is the same as the next but for `SAME` has its number."""
    order = np.argsort(-values, kind="stable")
    levels = np.empty(len(values), dtype=np.int64)
    levels[order] = np.cumsum(np.r_[0, -np.diff(values[order]) > SAME][: len(values)])
    return levels
