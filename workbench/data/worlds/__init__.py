"""Invented worlds of any size, as data folders: `world(to, passages=100_000, seed=7)`. See `docs/worlds.md`."""

from workbench.data.worlds.schema import Dials
from workbench.data.worlds.writing import VERSION, world

__all__ = ["VERSION", "Dials", "world"]
