"""Whether files hold what was written. Checksums (CRC-32, two gigabytes a second) find what disks, copies and editors
damage; they are no protection against forgery.

An object on disk is *sealed*: its last member, `sum`, is the checksum of the others. A folder is *noted*: an object
that is written after its files has their sizes and checksums. What was written before there were checksums has none,
and is read without this check.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SUM = "sum"
Note = list  # [bytes, checksum] of a file
_BLOCK = 1 << 20
_seen: dict[tuple[int, int, int, int], str] = {}  # a file that did not change since → its checksum


def checksum(content: bytes) -> str:
    """8 hex digits.

    >>> checksum(b"fog")
    '82a8ed13'
    """
    return f"{zlib.crc32(content):08x}"


def checksum_of(path: Path) -> str:
    """That of a file, read once per process as long as neither its size nor its time changes; links to one file share
    it."""
    stat = path.stat()
    key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if key not in _seen:
        found = 0
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                found = zlib.crc32(block, found)
        _seen[key] = f"{found:08x}"
    return _seen[key]


def seal(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object, sealed; one that has a seal gets another.

    >>> seal({"lake": "Mira"})
    {'lake': 'Mira', 'sum': '3369ee30'}
    """
    content = _without_seal(value)
    return {**content, SUM: checksum(json.dumps(content).encode())}


def unseal(value: Any) -> dict[str, Any]:
    """The object without its seal. Raises ValueError if it is no object, or another than was sealed."""
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}, not a JSON object")
    content = _without_seal(value)
    if SUM in value and value[SUM] != checksum(json.dumps(content).encode()):
        raise ValueError("it does not hold what was written: its checksum is another")
    return content


def _without_seal(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != SUM}


def note(folder: Path, names: Iterable[str]) -> dict[str, Note]:
    """Name → size and checksum, of files of a folder."""
    return {name: [(folder / name).stat().st_size, checksum_of(folder / name)] for name in sorted(names)}


def files_of(folder: Path) -> list[str]:
    """The names of the files of a folder, which may be in folders of it; those that a lock or a stopped process left
    do not count."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".lock", ".tmp", ".part"))
    return sorted(path.relative_to(folder).as_posix() for path in found if path.name != ".lock")


def flaw(path: Path, noted: Note) -> str | None:
    """What is wrong with a file, in words; None if it is as it was noted."""
    size, sum_ = noted
    if not path.exists():
        return "is missing"
    if not path.is_file():
        return "is no file"
    if (here := path.stat().st_size) != size:
        return f"has {here:,} bytes, and {size:,} were written"
    return None if checksum_of(path) == sum_ else "does not hold what was written: its checksum is another"


def flaws(folder: Path, noted: Mapping[str, Note]) -> dict[str, str]:
    """Name → what is wrong with it, of the files that are not as they were noted."""
    return {name: said for name, one in noted.items() if (said := flaw(folder / name, one))}
