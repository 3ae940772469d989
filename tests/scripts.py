"""Scripts of the project that are no modules of the package: those of benchmarks/ and docs/."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def loaded(path: Path, name: str) -> ModuleType:
    """The module of a script, which afterwards is known by this name; `sys.path` stays as it was."""
    spec = importlib.util.spec_from_file_location(name, path)
    module, before = importlib.util.module_from_spec(spec), list(sys.path)
    sys.modules[name] = module  # where dataclasses look for the types of a module
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module
