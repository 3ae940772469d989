"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_example_of_a_docstring_gives_what_it_says():
    """Of all modules in one process: they cost their imports alone."""
    files = [path for path in sorted((ROOT / "workbench").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]
    found = {name: doctest.testmod(import_module(name)) for name in names}
    assert len(found) > 100 and sum(one.attempted for one in found.values()) > 250
    assert not [name for name, one in found.items() if one.failed]
