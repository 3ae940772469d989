"""What the files of a run held when it was closed, in its `checksums.json`, and the same files read and compared.

Rows are noted line by line: a run that grew, and was stopped meanwhile, is still known by the rows that it had, and
damage costs one row. Seconds differ between equal runs, so each line of `timings.jsonl` is sealed instead, and only
their number is noted. Tables and counts that follow from the rows are not noted: every evaluation writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import DataError, FileDamaged, FileMissing
from workbench.index.store import write_atomically
from workbench.integrity import Note, checksum, flaw, note, seal, unseal
from workbench.places import is_locked

FILE, ROWS, TIMINGS = "checksums.json", "results.jsonl", "timings.jsonl"
NAMED = ("run.json", "sources.json", "questions.jsonl")
PLACES = ("contexts", "traces")


@dataclass(frozen=True)
class Sums:
    """`files`: name → size and checksum; `rows`: the checksum of each line of results.jsonl; `timings`: how many lines
    that file has. All empty where a run was not closed, or by a version that did not note them."""

    files: Mapping[str, Note] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    timings: int = 0

    @classmethod
    def of(cls, folder: Path) -> Sums:
        """Raises :class:`DataError` where they are damaged themselves."""
        path = folder / FILE
        try:
            stat = path.stat()
        except FileNotFoundError:
            return cls()
        return _read(path, stat.st_ino, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, _inode: int, _changed: int, _size: int) -> Sums:
    try:
        said = unseal(json.loads(path.read_bytes()))
        return Sums(said["files"], tuple(said["rows"]), said["timings"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
        raise FileDamaged(
            f"{path} is damaged ({error}), so that nothing says whether the other files are; restore it, or delete it "
            "to trust them"
        ) from None


def write(folder: Path, kept: Mapping[str, Note], written: Collection[str]) -> None:
    """Note what a run holds: files that were not `written` since as they were noted (`kept`), because only this tells
    later whether they still hold it."""
    names = [name for name in NAMED if (folder / name).exists()]
    held = [f"{place}/{path.name}" for place in PLACES for path in sorted((folder / place).glob("*"))]
    known = {name: kept[name] for name in held if name in kept and name not in written}
    files = note(folder, names) | {**note(folder, set(held) - known.keys()), **known}
    rows, timings = ((folder / name).read_bytes().splitlines() for name in (ROWS, TIMINGS))
    said = {"files": dict(sorted(files.items())), "rows": [checksum(row) for row in rows], "timings": len(timings)}
    write_new(folder / FILE, json.dumps(seal(said)) + "\n")


def same_text(path: Path, text: str) -> bool:
    """Whether a file holds this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def write_new(path: Path, text: str) -> None:
    """Write a file if its content changes, so that a run without new rows modifies nothing."""
    if path.is_dir():
        raise DataError(f"{path} is a folder where a file should be; move it away, and give the same command again")
    if not same_text(path, text):
        write_atomically(path, text)


def damaged(path: Path, what: str) -> FileDamaged:
    """What to say of a file of a run."""
    folder = path.parent if path.parent.name not in PLACES else path.parent.parent
    if is_locked(folder):
        return FileDamaged(f"another process is writing the run {folder} ({path} {what}); wait until it has finished")
    said = (
        f"{path} {what}; `workbench check {folder} --mend` puts aside what is damaged, and the same evaluation then "
        "computes it again"
    )
    return FileDamaged(said)


def content(folder: Path, name: str) -> bytes:
    """The content of a file of a run. Raises :class:`FileMissing`, and :class:`DataError` where it is not what was
    written."""
    path, noted = folder / name, Sums.of(folder).files.get(name)
    if not path.exists():
        raise FileMissing(path, f"{path} is missing; bring it along, or evaluate into the same folder again")
    if noted and (what := flaw(path, noted)):
        raise damaged(path, what)
    try:
        return path.read_bytes()
    except OSError as error:
        raise damaged(path, f"cannot be read ({error})") from None


def read_object(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of a run."""
    try:
        value = json.loads(content(folder, name))
        if not isinstance(value, dict):
            raise ValueError(f"{type(value).__name__}, not a JSON object")
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise damaged(folder / name, f"is damaged ({error})") from None
    return value


def read_lines(folder: Path, name: str, *, growing: bool = False) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file of a run; a last line that a killed process left unfinished is ignored. Rows
    that were noted and are gone at the end are an error, but for who asks for them again (`growing`)."""
    path, sums = folder / name, Sums.of(folder)
    noted, least = (sums.rows, len(sums.rows)) if name == ROWS else ((), sums.timings if name == TIMINGS else 0)
    raw = content(folder, name) if path.exists() or name in sums.files else b""
    whole = raw[: raw.rfind(b"\n") + 1].splitlines()
    if len(whole) < least and not growing:
        raise damaged(path, f"has {len(whole):,} lines, and {least:,} were written")
    yield from _parsed(path, whole, noted)


def _parsed(path: Path, lines: Iterable[bytes], noted: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if number <= len(noted) and checksum(line) != noted[number - 1]:
            raise damaged(path, f"is damaged: line {number} does not hold what was written")
        try:
            yield unseal(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise damaged(path, f"is damaged: line {number} is no row ({error})") from None
