"""What each notebook opens, `wb.lessons.Lab(data, engine)`, and what it checks and concludes, in a module each."""

import os
from importlib import import_module
from typing import Any

# Bars of progress vanish when they are done; tqdm reads this when it is first imported.
os.environ.setdefault("TQDM_LEAVE", "")


def __getattr__(name: str) -> Any:
    if name in ("Lab", "Absent"):
        return getattr(import_module("workbench.notebooks.lab"), name)
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"there is no lesson {name!r}") from None
