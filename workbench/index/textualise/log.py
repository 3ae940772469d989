"""Work that is kept as it is done: JSON Lines that a stopped process leaves behind and the next one goes on from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.data import lines
from workbench.errors import IndexFault
from workbench.index.store import cut_torn_line, write_atomically


class Log:
    """Rows by the value of one field. The last row of a value counts."""

    def __init__(self, path: Path, key: str):
        self.path, self.key = path, key
        self.rows: dict[str, dict[str, Any]] = {}
        if path.exists():
            cut_torn_line(path)
            self.rows = {lines.string(row, key, where): row for where, row in lines.rows(path)}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        rows = [dict(row) for row in rows]
        with self.path.open("a", encoding="ascii") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        self.rows.update((row[self.key], row) for row in rows)


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """A disk that is full or may not be written is said so, with what is kept."""
    try:
        yield
    except OSError as error:
        raise IndexFault(
            f"{folder} could not be written or read ({error.strerror or error}); what is done is kept: make room, or "
            "make it writable, and give the same command again"
        ) from error


def same_work(folder: Path, made_of: Mapping[str, Any]) -> None:
    """Remember what the work in a folder is made of; work that was made of something else is not gone on with."""
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
