"""The origin of a data set and of its passages, stored with the data set in `origin.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.data.lines import mapping, objects, read_object, record, short, string, strings, value
from workbench.errors import DataError
from workbench.records import Record
from workbench.text import storable


@dataclass(frozen=True, slots=True, repr=False)
class SourceFile(Record):
    """A file that was read. `checked` names the reference of its hash, and is empty without one."""

    name: str
    sha256: str
    checked: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Origin(Record):
    """`source` names the source of the data, `settings` produced the passages, `skipped` holds (file, reason)."""

    source: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    files: tuple[SourceFile, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def write_origin(origin: Origin, path: Path) -> None:
    path.write_text(storable(json.dumps(asdict(origin), ensure_ascii=False, indent=1)) + "\n", "utf-8")


def read_origin(path: Path) -> Origin:
    """Raises :class:`DataError` if the file does not have the format of `write_origin`."""
    row, where = read_object(path), str(path)
    files = enumerate(objects(row, "files", where), 1)
    skipped = value(row, "skipped", where, list, [])
    for pair in skipped:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise DataError(f"{where}: {short(pair)} in 'skipped' should be a list of two strings, file and reason")
    return Origin(
        source=string(row, "source", where),
        settings=mapping(row, "settings", where),
        files=tuple(record(SourceFile, file, f"{path}, files {number}") for number, file in files),
        skipped=tuple((storable(name), storable(reason)) for name, reason in skipped),
        notes=strings(row, "notes", where),
    )
