"""Where a data set came from and how its passages were made. It travels with the data set, in `origin.json`."""

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
    """A file that was read. `checked` says what its hash was compared with, and is empty where nothing is known."""

    name: str
    sha256: str
    checked: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Origin(Record):
    """`source` names where the data come from, `settings` what made the passages, `skipped` holds (file, reason)."""

    source: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    files: tuple[SourceFile, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def write_origin(origin: Origin, path: Path) -> None:
    path.write_text(storable(json.dumps(asdict(origin), ensure_ascii=False, indent=1)) + "\n", "utf-8")


def read_origin(path: Path) -> Origin:
    """Raises :class:`DataError` where the file is not what `write_origin` writes."""
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
