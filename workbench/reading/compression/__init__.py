"""Compression of a context before it is read. A new compressor is a file in this folder and a line in `COMPRESSORS`."""

from __future__ import annotations

from typing import Any

from workbench.errors import SettingError
from workbench.reading.compression.base import Compressor, top, truncate
from workbench.reading.compression.graph_walk import GraphWalk
from workbench.reading.compression.similarity import Similarity
from workbench.registry import Registry
from workbench.settings import check_names, defaults, parse_spec

COMPRESSORS: Registry[type[Compressor]] = Registry("compressors", (GraphWalk, Similarity), needs=("name", "paper"))

__all__ = ["COMPRESSORS", "Compressor", "GraphWalk", "Similarity", "compressor", "top", "truncate"]


def compressor(spec: str | Compressor, **settings: Any) -> Compressor:
    """The compressor of this SPEC: `graph-walk`, `graph-walk[budget=2000,profile=released]`, `similarity`; `settings`
    win over the SPEC's. What is a compressor already is returned as it is."""
    if not isinstance(spec, str):
        if callable(getattr(spec, "compress", None)):
            return spec
        raise SettingError(
            f"{spec!r} is not a compressor; give a SPEC such as {', '.join(COMPRESSORS)}, or a compressor object"
        )
    name, given = parse_spec(spec)
    made, given = COMPRESSORS.look_up(name), {**given, **settings}
    check_names(name, defaults(made), given)
    return made(**given)
