"""The one-line definition and source of each measure; `docs/measures.md` lists the traps. A new measure needs a line
in `definitions.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Definition(NamedTuple):
    says: str
    source: str = ""


DEFINITIONS: dict[str, Definition] = {
    name: Definition(*row)
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def definition(name: str, measure: Callable) -> Definition:
    """What a measure says; one that is registered says the first paragraph of its docstring."""
    sentence = " ".join((measure.__doc__ or "").partition("\n\n")[0].split())
    return DEFINITIONS.get(name) or Definition(sentence or "a registered measure")
