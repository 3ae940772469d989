"""Arrays that a method computes from a layer alone, kept in the folder of the index: `derived/NAME-KEY.npz`.

They are no layer: nothing names them, they may be deleted at any time, and who cannot write there computes them anew. A
name holds the key of its layer, and `Store.prune` removes those of layers that are gone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

Arrays = dict[str, np.ndarray]


def kept(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of a file; where it is missing or damaged (the members of a ZIP file have checksums), `make()`, which
    is then kept."""
    with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile), np.load(path, allow_pickle=False) as file:
        return dict(file)
    made = make()
    part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")  # others may be writing the same
    with suppress(OSError):  # a folder that may only be read, a full disk: the next process computes them again
        path.parent.mkdir(exist_ok=True)
        try:
            with part.open("wb") as file:
                np.savez(file, **made)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    return made
