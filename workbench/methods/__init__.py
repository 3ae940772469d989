"""The methods, by name. A new one is a file in this folder and a line in `_PLACES`, or a package with an entry
point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.registry import Registry, exporting
from workbench.settings import parse_spec

if TYPE_CHECKING:
    from workbench.index import Index
    from workbench.llm.engine import Engine
    from workbench.methods.base import Method
    from workbench.methods.bdtr import BDTR
    from workbench.methods.bm25 import BM25
    from workbench.methods.dense import Dense
    from workbench.methods.hipporag2 import HippoRAG2
    from workbench.methods.raptor import RAPTOR

# Each is imported when it is looked up, so that no method pays for another's dependencies.
_PLACES = {
    "dense": "workbench.methods.dense:Dense",
    "bm25": "workbench.methods.bm25:BM25",
    "rrf": "workbench.methods.rrf:RRF",
    "rerank": "workbench.methods.rerank:Rerank",
    "none": "workbench.methods.baselines:NoRetrieval",
    "long_context": "workbench.methods.baselines:LongContext",
    "hipporag1": "workbench.methods.hipporag1:HippoRAG1",
    "hipporag2": "workbench.methods.hipporag2:HippoRAG2",
    "raptor": "workbench.methods.raptor:RAPTOR",
    "graphrag": "workbench.methods.graphrag:GraphRAG",
    "think_on_graph": "workbench.methods.think_on_graph:ThinkOnGraph",
    "graph_cot": "workbench.methods.graph_cot:GraphCoT",
    "ircot": "workbench.methods.ircot:IRCoT",
    "irgs": "workbench.methods.irgs:IRGS",
    "gcot": "workbench.methods.gcot:GCoT",
    "tog": "workbench.methods.tog:ToG",
    "agentic": "workbench.methods.agentic:Agentic",
    "bdtr": "workbench.methods.bdtr:BDTR",
    "lightrag": "workbench.methods.lightrag:LightRAG",
    "pathrag": "workbench.methods.pathrag:PathRAG",
    "dotrag": "workbench.methods.dotrag:DotRAG",
    "ball": "workbench.methods.ball:Ball",
    "ket_rag": "workbench.methods.ket_rag:KETRAG",
    "catrag": "workbench.methods.catrag:CatRAG",
    "youtu": "workbench.methods.youtu:Youtu",
    "gfm_rag": "workbench.methods.gfm_rag:GFMRAG",
    "linearrag": "workbench.methods.linearrag:LinearRAG",
    "e2graphrag": "workbench.methods.e2graphrag:E2GraphRAG",
    "g_retriever": "workbench.methods.g_retriever:GRetriever",
}
METHODS: Registry[type[Method]] = Registry(
    "methods", _PLACES, needs=("name", "paper", "scale", "layers", "steps", "Settings", "search")
)

__all__ = ["BDTR", "BM25", "METHODS", "RAPTOR", "Dense", "HippoRAG2", "Method", "method"]

if not TYPE_CHECKING:  # with it, type checkers accept any name
    __getattr__ = exporting(__name__, [*_PLACES.values(), "workbench.methods.base:Method"])


def method(spec: str, index: Index, engine: Engine | str | None = None, **settings: Any) -> Method:
    """The method that a SPEC names: `hipporag2`, `hipporag2[profile=paper,damping=0.6]`; `settings` override the
    SPEC's. `engine` may be a SPEC, too."""
    name, given = parse_spec(spec)
    if isinstance(engine, str):
        from workbench.llm.engine import engine as known_engine

        engine = known_engine(engine)
    return METHODS.look_up(name)(index, engine, **{**given, **settings})
