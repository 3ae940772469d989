"""The methods, by name. A new one is a file in this folder and a line in `METHODS`, or a package with an entry
point."""

from __future__ import annotations

from typing import Any

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods.ball import Ball
from workbench.methods.base import Method
from workbench.methods.bdtr import BDTR
from workbench.methods.bm25 import BM25
from workbench.methods.catrag import CatRAG
from workbench.methods.dense import Dense
from workbench.methods.dotrag import DotRAG
from workbench.methods.gcot import GCoT
from workbench.methods.gfm_rag import GFMRAG
from workbench.methods.graph_cot import GraphCoT
from workbench.methods.graphrag import GraphRAG
from workbench.methods.hipporag2 import HippoRAG2
from workbench.methods.ircot import IRCoT
from workbench.methods.irgs import IRGS
from workbench.methods.ket_rag import KETRAG
from workbench.methods.lightrag import LightRAG
from workbench.methods.pathrag import PathRAG
from workbench.methods.raptor import RAPTOR
from workbench.methods.think_on_graph import ThinkOnGraph
from workbench.methods.tog import ToG
from workbench.methods.youtu import Youtu
from workbench.registry import Registry
from workbench.spec import parse_spec

METHODS: Registry[type[Method]] = Registry(
    "methods",
    (
        Dense, BM25, HippoRAG2, RAPTOR, GraphRAG, ThinkOnGraph, GraphCoT, IRCoT, IRGS, GCoT, ToG, BDTR, LightRAG,
        PathRAG, DotRAG, Ball, KETRAG, CatRAG, Youtu, GFMRAG,
    ),
    needs=("name", "paper", "scale", "layers", "steps", "Settings", "search"),
)  # fmt: skip

__all__ = ["BDTR", "BM25", "METHODS", "RAPTOR", "Dense", "HippoRAG2", "Method", "method"]


def method(spec: str, index: Index, engine: Engine | None = None, **settings: Any) -> Method:
    """The method that a SPEC names: `hipporag2`, `hipporag2[profile=paper,damping=0.6]`; `settings` override the
    SPEC's."""
    name, given = parse_spec(spec)
    return METHODS.look_up(name)(index, engine, **{**given, **settings})
