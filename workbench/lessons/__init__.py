"""One module per notebook: what it opens (`wb.lessons.Lab(data, engine)`), checks and concludes."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("Lab", "Absent"):
        return getattr(import_module("workbench.notebooks.lab"), name)
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"there is no lesson {name!r}") from None
