"""Evidence to context text to answer. A new reader is a file in this folder and a line in `READERS`."""

from __future__ import annotations

from typing import Any

from workbench.errors import SettingError
from workbench.llm.engine import Engine
from workbench.reading.base import Reader
from workbench.reading.direct import Direct
from workbench.reading.render import render
from workbench.spec import parse_spec

READERS: dict[str, type[Reader]] = {reader.name: reader for reader in (Direct,)}

__all__ = ["READERS", "Direct", "Reader", "reader", "render"]


def reader(spec: str = "direct", engine: Engine | None = None, **settings: Any) -> Reader:
    """The reader of this SPEC: `direct`, `direct[k=3]`."""
    name, given = parse_spec(spec)
    if name not in READERS:
        raise SettingError(f"no reader is called {name!r}; there are {', '.join(READERS)}")
    return READERS[name](engine, **{**given, **settings})
