"""The index on disk: layers, the graph assembled from them, Chroma derived from them."""

from workbench.index.graph import Graph
from workbench.index.index import Index

__all__ = ["Graph", "Index"]
