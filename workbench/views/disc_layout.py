"""Where discs and the points in them go: similar ones close to each other, none upon another, and always the same."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

WIDE = 1.8  # width of a map for each unit of its height
GOLDEN = 2.399963229728653  # the golden angle: points placed by it cover a disc evenly (Vogel, 1979)
ROUNDS = 400


def spread(places: np.ndarray) -> np.ndarray:
    """Places in [-1, 1], moved halfway towards equal distances along each axis, so that no part is crowded."""
    reach = np.abs(places - np.median(places, axis=0)).max(axis=0, initial=0.0)
    scaled = (places - np.median(places, axis=0)) / np.where(reach > 0, reach, 1.0)
    ranks = np.argsort(np.argsort(scaled, axis=0, kind="stable"), axis=0, kind="stable")
    return (scaled + 2 * ranks / max(1, len(places) - 1) - 1) / 2


def apart(places: np.ndarray, radii: np.ndarray, gap: float = 0.12) -> np.ndarray:
    """Discs around `places`, float (n, 2) in [-1, 1], in units of `radii`, float (n,): pushed away from each other
    until at least `gap` mean radii lie between any two."""
    if not len(places):
        return np.zeros((0, 2))
    needed = np.asarray(radii, dtype=float) + gap * np.mean(radii) / 2
    side = np.sqrt(np.pi * np.sum(needed**2) / WIDE) / 1.6  # half the height of a map that discs fill by a half
    at = np.asarray(places, dtype=float) * (side * WIDE, side)
    for _ in range(ROUNDS):
        pairs, away, distance, reach = _overlaps(at, needed)
        if not len(pairs):
            break
        share = ((reach - distance) / 2 / distance)[:, None] * away
        np.add.at(at, pairs[:, 0], -share)
        np.add.at(at, pairs[:, 1], share)
        at *= 1.003  # what has no room gets it
    while len(_overlaps(at, needed)[0]):
        at *= 1.02
    return at


def sunflower(count: int, radius: float) -> np.ndarray:
    """Places of so many points that cover a disc evenly, from its middle outwards, float (count, 2)."""
    rank = np.arange(count)
    reach = 0.9 * radius * np.sqrt((rank + 0.5) / max(1, count))
    return np.c_[np.cos(GOLDEN * rank), np.sin(GOLDEN * rank)] * reach[:, None]


def _overlaps(at: np.ndarray, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of discs that are too close, the way from the first to the second, its length, and how long it must be."""
    pairs = cKDTree(at).query_pairs(2 * needed.max(), output_type="ndarray") if len(at) > 1 else np.empty((0, 2), int)
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    away, reach = at[pairs[:, 1]] - at[pairs[:, 0]], needed[pairs].sum(axis=1)
    distance = np.hypot(*away.T)
    same = distance < 1e-9
    turn = GOLDEN * np.arange(len(pairs))
    away[same] = np.c_[np.cos(turn), np.sin(turn)][same] * 1e-6
    distance = np.where(same, 1e-6, distance)
    close = distance < reach * (1 - 1e-6)
    return pairs[close], away[close], distance[close], reach[close]
