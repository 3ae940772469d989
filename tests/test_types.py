"""The public interface is typed: what a type checker is told is what there is, and no signature has a gap. `make types`
checks the code itself, and `tests/typing` as a user's code."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

import workbench as wb
from workbench.encoding import Encoder
from workbench.llm import Engine, Result, Step, Usage
from workbench.methods import Method
from workbench.reading import Reader
from workbench.registry import Registry
from workbench.trace import Event

SOURCE = Path(wb.__file__)
PUBLIC = [value for name in wb.__all__ if not isinstance(value := getattr(wb, name), ModuleType)]
RECORDS = [one for one in vars(wb.records).values() if isinstance(one, type) and one.__module__ == wb.records.__name__]
CLASSES = [Encoder, Engine, Event, Method, Reader, Registry, Result, Step, Usage, *RECORDS]


def told() -> dict[str, str]:
    """Name → module, of what `workbench/__init__.py` re-exports for type checkers alone."""
    (block,) = (
        node for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    )  # fmt: skip
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names if alias.asname == alias.name}


def test_type_checkers_are_told_of_every_name():
    found = told()
    assert wb._MODULE_OF.keys() <= found.keys()
    for name, module in found.items():
        if module == "workbench":
            assert isinstance(getattr(wb, name), ModuleType)
        else:
            assert getattr(import_module(module), name) is getattr(wb, name), name


def gaps(function) -> list[str]:
    """The parameters, and the result, that have no annotation; `self` and `cls` need none."""
    signature = inspect.signature(function)
    open_ones = [one.name for one in signature.parameters.values() if one.annotation is one.empty]
    lacks = [name for name in open_ones if name not in ("self", "cls")]
    return lacks + ["its result"] * (signature.return_annotation is signature.empty)


def methods(cls: type) -> dict:
    """Name → function, of all that is public."""
    methods = {
        name: member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        for name, member in vars(cls).items()
        if not name.startswith("_")
    }
    methods |= {name: one.fget for name, one in methods.items() if isinstance(one, property)}
    methods |= {name: one.func for name, one in methods.items() if hasattr(one, "func")}  # of cached_property
    return {name: one for name, one in methods.items() if inspect.isfunction(one)}


def test_no_public_function_or_method_has_a_gap():
    classes = [*(one for one in PUBLIC if isinstance(one, type)), *CLASSES]
    public = {one.__name__: one for one in PUBLIC if not isinstance(one, type)}
    public |= {f"{cls.__name__}.{name}": one for cls in classes for name, one in methods(cls).items()}
    assert {name: lacks for name, one in public.items() if (lacks := gaps(one))} == {}


def test_the_package_says_that_it_is_typed():
    assert SOURCE.with_name("py.typed").exists()
