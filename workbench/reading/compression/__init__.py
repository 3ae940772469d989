"""A context made shorter before it is read."""

from workbench.reading.compression.base import Compressor
from workbench.reading.compression.baselines import top, truncate
from workbench.reading.compression.graph_walk import GraphWalk

__all__ = ["Compressor", "GraphWalk", "top", "truncate"]
