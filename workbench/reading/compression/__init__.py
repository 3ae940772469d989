"""A context made shorter before it is read. A new compressor is a file in this folder and a line in `COMPRESSORS`."""

from __future__ import annotations

from typing import Any

from workbench.errors import SettingError
from workbench.reading.compression.base import Compressor
from workbench.reading.compression.baselines import top, truncate
from workbench.reading.compression.graph_walk import GraphWalk
from workbench.reading.compression.similarity import Similarity
from workbench.settings import check_names, defaults
from workbench.spec import parse_spec

COMPRESSORS: dict[str, type[Compressor]] = {one.name: one for one in (GraphWalk, Similarity)}

__all__ = ["COMPRESSORS", "Compressor", "GraphWalk", "Similarity", "compressor", "top", "truncate"]


def compressor(spec: str | Compressor, **settings: Any) -> Compressor:
    """The compressor of this SPEC: `graph-walk`, `graph-walk[budget=2000,profile=companion]`, `similarity`; `settings`
    win over the SPEC's. What is a compressor already is returned as it is."""
    if not isinstance(spec, str):
        if callable(getattr(spec, "compress", None)):
            return spec
        raise SettingError(
            f"{spec!r} is no compressor; give a SPEC such as {', '.join(COMPRESSORS)}, or an object of one"
        )
    name, given = parse_spec(spec)
    if name not in COMPRESSORS:
        raise SettingError(f"no compressor is called {name!r}; there are {', '.join(COMPRESSORS)}")
    given = {**given, **settings}
    check_names(name, defaults(COMPRESSORS[name]), given)
    return COMPRESSORS[name](**given)
