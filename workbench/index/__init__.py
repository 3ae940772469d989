"""The index on disk: one file per layer, the graph assembled from the layers, Chroma collections derived from them."""

from typing import TYPE_CHECKING

from workbench.registry import exporting

if TYPE_CHECKING:
    from workbench.index.graph import Graph
    from workbench.index.index import Index

__all__ = ["Graph", "Index"]

if not TYPE_CHECKING:  # with it, type checkers accept any name
    __getattr__ = exporting(__name__, ["workbench.index.graph:Graph", "workbench.index.index:Index"])
