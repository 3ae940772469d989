"""LightRAG, and what PathRAG shares with it."""

from workbench.methods.lightrag.method import LightRAG

__all__ = ["LightRAG"]
