"""The origin of a data set and of its passages, stored with the data set in `origin.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

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
    try:
        row = json.loads(path.read_text("utf-8-sig"))
        return Origin(
            source=str(row["source"]),
            settings=dict(row["settings"]),
            files=tuple(SourceFile(**file) for file in row["files"]),
            skipped=tuple((str(name), str(reason)) for name, reason in row["skipped"]),
            notes=tuple(map(str, row["notes"])),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path} is not the origin of a data set ({type(error).__name__}: {error}); "
            "delete it, or write the data set again with write_folder"
        ) from None
