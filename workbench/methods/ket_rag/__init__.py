"""KET-RAG: a graph of the core of a corpus and keywords of all of it, under one budget of tokens."""

from workbench.methods.ket_rag.method import KETRAG

__all__ = ["KETRAG"]
