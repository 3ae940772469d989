"""The folder that articles and descriptions are written into: what they are made of, and what to say if it is full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.errors import IndexFault
from workbench.index.store import write_atomically


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Explains a full or write-protected disk, and that nothing paid for is lost."""
    try:
        yield
    except OSError as error:
        raise IndexFault(
            f"{folder} could not be written or read ({error.strerror or error}); what is done is kept: make room, or "
            "make it writable, and give the same command again"
        ) from error


def same_work(folder: Path, made_of: Mapping[str, Any]) -> None:
    """Record what the texts in a folder are made of. Texts made of something else are refused, not continued."""
    path = folder / "made_of.json"
    wanted = json.loads(json.dumps(made_of))
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        if different := [name for name in wanted if found.get(name) != wanted[name]]:
            name = different[0]
            raise IndexFault(
                f"{folder} holds texts with another {name!r} ({found.get(name)!r}, not {wanted[name]!r}); "
                "choose another folder, or delete this one first"
            )
    else:
        write_atomically(path, json.dumps(wanted, indent=1) + "\n")
