"""Layer `skeleton`: a graph of entities, extracted from the most central pieces of the corpus alone (KET-RAG).
One file per stage: `knn.py` joins the pieces, `likely.py` where they are too many to compare all pairs, `core.py`
chooses among them and makes chunks of them, `writing.py` has the engine read these, `merging.py` makes one graph of it,
`layer.py` puts it on disk."""

from workbench.index.skeleton.layer import Settings, SkeletonLayer

__all__ = ["Settings", "SkeletonLayer"]
