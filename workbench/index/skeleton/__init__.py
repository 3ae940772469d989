"""Layer `skeleton`: a graph of entities, extracted from the most central pieces of the corpus alone (KET-RAG).
`building.py` has its stages, and `layer.py` puts it on disk."""

from workbench.index.skeleton.layer import Settings, SkeletonLayer

__all__ = ["Settings", "SkeletonLayer"]
