"""Read JSON Lines; each error begins with the file and the line and ends with the remedy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.errors import DataError
from workbench.text import storable

_KINDS = {str: "a string", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


def rows(path: Path) -> Iterator[tuple[str, dict]]:
    """(place, row) for each line of a JSON Lines file; blank lines are skipped."""
    if not path.exists():
        raise DataError(f"{path} is missing; see docs/data.md for what a data folder holds")
    name = str(path)
    with path.open("rb") as lines:
        for line_number, raw in enumerate(lines, 1):
            where = f"{name}, line {line_number}"
            try:
                line = raw.decode("utf-8-sig" if line_number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{where} is not UTF-8 ({error.reason} at byte {error.start}); save the file as UTF-8"
                ) from None
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where} is not JSON ({error}); each line should be one JSON object") from None
            if not isinstance(row, dict):
                raise DataError(f"{where} is a JSON {type(row).__name__}; each line should be one JSON object")
            yield where, row


def value(row: dict, name: str, where: str, kind: type, default: Any = None) -> Any:
    found = row.get(name)
    if found is None:
        return default
    if type(found) is not kind:
        raise DataError(f"{where}: {name!r} is {found!r}; it should be {_KINDS[kind]}")
    return storable(found) if kind is str else found


def string(row: dict, name: str, where: str, default: str | None = None) -> str:
    found = value(row, name, where, str, default)
    if found is None:
        raise DataError(f"{where}: {name!r} is missing; the line has {', '.join(row) or 'no fields'}")
    return found


def strings(row: dict, name: str, where: str) -> tuple[str, ...]:
    values = row.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{where}: {name!r} is {values!r}; it should be a list of strings")
    return tuple(map(storable, values))


def objects(row: dict, name: str, where: str) -> tuple[dict, ...]:
    values = value(row, name, where, list, [])
    if not all(isinstance(value, dict) for value in values):
        raise DataError(f"{where}: {name!r} is {values!r}; it should be a list of objects")
    return tuple(values)


def once(seen: dict[Any, str], identifier: str | tuple[str, ...], what: str, where: str, key: str = "id") -> None:
    """Record where a name, or several together, first occurs; a second occurrence is an error."""
    if identifier in seen:
        called = f"{what} {key}".strip()
        shown = identifier if isinstance(identifier, str) else json.dumps(identifier, ensure_ascii=False)
        raise DataError(
            f"{where}: the {called} {shown!r} stands already in {seen[identifier]}; "
            f"{f'{key}s' if key else 'they'} must be unique"
        )
    seen[identifier] = where
