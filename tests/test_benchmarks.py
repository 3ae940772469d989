"""Benchmarks run by hand, so what they take of the package is looked up here: a name that has gone is found at once."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import workbench

FILES = sorted((Path(workbench.__file__).parents[1] / "benchmarks").glob("*.py"))


def imported(module: str, name: str) -> object:
    """What `from module import name` gives."""
    found = getattr(importlib.import_module(module), name, None)
    return importlib.import_module(f"{module}.{name}") if found is None else found


def names_of(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Name in the file → what of the package it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "workbench":
            for alias in node.names:
                yield alias.asname or alias.name, imported(node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "workbench":
                    yield alias.asname or "workbench", importlib.import_module(alias.name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_benchmark_takes_of_the_package_is_there(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = {name: thing for name, thing in names_of(tree) if isinstance(thing, ModuleType)}
    taken = [
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    ]
    assert [f"{module}.{name}" for module, name in taken if not hasattr(modules[module], name)] == []
