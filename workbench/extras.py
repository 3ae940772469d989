"""Packages that only some features need: the extras of the distribution, and what is said where one is missing."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

from workbench.errors import WorkbenchError


class Extra(NamedTuple):
    """The `package` of an extra as it is installed, its `module` as it is imported, and the feature that needs it."""

    package: str
    module: str
    feature: str


EXTRAS = {  # those of pyproject.toml
    "raptor": Extra("umap-learn", "umap", "a tree of RAPTOR's clusters"),
    "chroma": Extra("chromadb", "chromadb", "a Chroma store"),
    "scale": Extra("faiss-cpu", "faiss", "comparing so many phrases"),
    "cluster": Extra("distributed", "distributed", "a cluster"),
    "local": Extra("xllamacpp", "xllamacpp", "a local model"),
    "pdf": Extra("pypdf", "pypdf", "a PDF"),
}


def is_there(extra: str) -> bool:
    """Whether the package of an extra is installed; it is not imported."""
    return find_spec(EXTRAS[extra].module) is not None


def require(extra: str, fault: type[WorkbenchError], instead: str = "") -> None:
    """Raise `fault` where the package of an extra is not installed; its message names the feature, the command that
    installs the package, and what to do `instead`."""
    if not is_there(extra):
        raise fault("; or ".join(filter(None, (lacking(extra), instead))))


def lacking(extra: str) -> str:
    """That a feature needs a package, and how to have it."""
    return f"{EXTRAS[extra].feature} needs {EXTRAS[extra].package}, which is not installed: {install(extra)}"


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "hopscope[{extra}]"'
