"""Read JSON and JSON Lines; each error begins with the file and the line and ends with the remedy."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from workbench.errors import DataError
from workbench.places import page
from workbench.text import storable

T = TypeVar("T")
SHOWN = 200  # characters of a value in a message
SOME = 12  # fields that a message lists
DEEPEST = 50  # levels of lists and objects within a field
_KINDS = {str: "a string", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


def rows(path: Path) -> Iterator[tuple[str, dict]]:
    """(place, row) for each line of a JSON Lines file; blank lines are skipped."""
    if not path.exists():
        raise DataError(f"{path} is missing; see {page('data.md')} for what a data folder holds")
    name = str(path)
    with opened(path) as lines:
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


def regular(path: Path) -> Path:
    """The path of a file, a folder, or of nothing. Raises :class:`DataError` for a pipe, which would be waited for, and
    for a device, which may not end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise _irregular(path)
    return path


def opened(path: Path) -> BinaryIO:
    if not path.is_file():
        raise _irregular(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); fix its permissions") from None


def _irregular(path: Path) -> DataError:
    return DataError(f"{path} is not a regular file (but a folder, a pipe or a device); put the file itself there")


def read_text(path: Path) -> str:
    """The text in a file, which must be UTF-8."""
    try:
        return regular(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); give the folder that holds it") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save the file as UTF-8") from None


def read_json(path: Path, *kinds: type) -> Any:
    """The JSON value in a file, which must be of one of these kinds."""
    text = read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON ({error}); correct it, or fetch or copy it again") from None
    if not isinstance(content, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise DataError(f"{path} is a JSON {type(content).__name__}, not a {wanted}; is the file of another format?")
    return content


def read_object(path: Path) -> dict:
    """The JSON object in a file of a data folder."""
    if not path.exists():
        raise DataError(f"{path} is missing; see {page('data.md')} for what a data folder holds")
    return read_json(path, dict)


def value(row: dict, name: str, where: str, kind: type, default: Any = None) -> Any:
    content = row.get(name)
    if content is None:
        return default
    if type(content) is not kind:
        raise DataError(f"{where}: {name!r} is {short(content)}; it should be {_KINDS[kind]}")
    return storable(content) if kind is str else content


def finite(row: dict, name: str, where: str) -> float | None:
    """A number, or None without one."""
    number = row.get(name)
    if number is None:
        return None
    try:
        if not isinstance(number, bool) and math.isfinite(number):
            return number
    except (TypeError, OverflowError):  # text; a whole number that no float holds
        pass
    raise DataError(f"{where}: {name!r} is {short(number)}; it should be a finite number")


def string(row: dict, name: str, where: str, default: str | None = None) -> str:
    text = value(row, name, where, str, default)
    if text is None:
        there = list(row)[:SOME]
        raise DataError(
            f"{where}: {name!r} is missing; the line has {', '.join(field[:SHOWN] for field in there) or 'no fields'}"
        )
    return text


def strings(row: dict, name: str, where: str) -> tuple[str, ...]:
    values = row.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{where}: {name!r} is {short(values)}; it should be a list of strings")
    return tuple(map(storable, values))


def record(kind: type[T], row: dict, where: str) -> T:
    """The dataclass that a row states: texts, tuples of texts, whole numbers and finite numbers under the names of its
    fields. A text without a default must be there."""
    fields_read = {}
    for field in fields(kind):
        if field.type == "str":
            fields_read[field.name] = string(
                row, field.name, where, None if field.default is MISSING else field.default
            )
        elif field.type == "tuple[str, ...]":
            fields_read[field.name] = strings(row, field.name, where)
        elif field.type == "float | None":
            fields_read[field.name] = finite(row, field.name, where)
        else:
            fields_read[field.name] = value(row, field.name, where, {"str | None": str, "int | None": int}[field.type])
    return kind(**fields_read)


def objects(row: dict, name: str, where: str) -> tuple[dict, ...]:
    values = value(row, name, where, list, [])
    if not all(isinstance(value, dict) for value in values):
        raise DataError(f"{where}: {name!r} is {short(values)}; it should be a list of objects")
    return tuple(_stored(value, name, where) for value in values)


def mapping(row: dict, name: str, where: str) -> dict:
    return _stored(value(row, name, where, dict, {}), name, where)


def _stored(value: Any, name: str, where: str, depth: int = 1) -> Any:
    """A value of JSON, with every text of it fit for a file."""
    if depth > DEEPEST:
        raise DataError(f"{where}: {name!r} is nested more than {DEEPEST} deep; make it flatter")
    if isinstance(value, dict):
        return {storable(key): _stored(item, name, where, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_stored(item, name, where, depth + 1) for item in value]
    return storable(value) if isinstance(value, str) else value


def short(value: Any) -> str:
    """A value as a message quotes it."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def once(seen: dict[Any, str], identifier: str | tuple[str, ...], what: str, where: str, key: str = "id") -> None:
    """Record where a name, or several together, first occurs; a second occurrence is an error."""
    if identifier in seen:
        called = f"{what} {key}".strip()
        text = identifier if isinstance(identifier, str) else json.dumps(identifier, ensure_ascii=False)
        raise DataError(
            f"{where}: the {called} {short(text)} is already in {seen[identifier]}; "
            f"{f'{key}s' if key else 'they'} must be unique"
        )
    seen[identifier] = where
