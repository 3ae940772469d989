"""The files of a run: their checksums when it was closed (`checksums.json`), and readers that check them.

Rows are noted as one file. Seconds differ between equal runs, so `timings.jsonl` is not noted, nor are tables and
counts that follow from the rows: every evaluation writes them anew."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import DataError, FileDamaged, FileMissing
from workbench.index.store import cut_torn_line, write_atomically
from workbench.integrity import Note, flaw, note, seal, unseal
from workbench.llm.wording import current
from workbench.places import is_locked
from workbench.records import Question, record_of

FORMAT = 4  # of run.json and of the rows
FILE, ROWS, TIMINGS = "checksums.json", "results.jsonl", "timings.jsonl"
NAMED = ("run.json", "sources.json", "questions.jsonl", ROWS)
PLACES = ("contexts", "traces")
Cell = tuple[str, str, int]  # question id, method, number of the repeat


def noted(folder: Path) -> Mapping[str, Note]:
    """Name → size and checksum of the files of a run; empty where it was not closed, or by a version that did not note
    them. Raises :class:`FileDamaged` where the notes are damaged themselves."""
    path = folder / FILE
    try:
        stat = path.stat()
    except FileNotFoundError:
        return {}
    return _read(path, stat.st_ino, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, _inode: int, _changed: int, _size: int) -> Mapping[str, Note]:
    try:
        return dict(unseal(json.loads(path.read_bytes()))["files"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
        raise FileDamaged(
            f"{path} is damaged ({error}), so that nothing says whether the other files are; restore it, or delete it "
            "to trust them"
        ) from None


def write(folder: Path, notes: Mapping[str, Note], written: Collection[str]) -> None:
    """Write the checksums of a run. Files not `written` since keep their earlier `notes`, because only these tell later
    whether they changed."""
    names = [name for name in NAMED if (folder / name).exists()]
    held = [f"{place}/{path.name}" for place in PLACES for path in sorted((folder / place).glob("*"))]
    unchanged = {name: notes[name] for name in held if name in notes and name not in written}
    files = note(folder, names) | {**note(folder, set(held) - unchanged.keys()), **unchanged}
    write_new(folder / FILE, json.dumps(seal({"files": dict(sorted(files.items()))})) + "\n")


def same_text(path: Path, text: str) -> bool:
    """Whether a file holds this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def write_new(path: Path, text: str) -> None:
    """Write a file if its content changes, so that a run without new rows modifies nothing."""
    if path.is_dir():
        raise DataError(f"{path} is a folder where a file should be; move it away, and give the same command again")
    if not same_text(path, text):
        write_atomically(path, text)


def damaged(path: Path, what: str, remedy: str = "delete it, and the same evaluation makes it again") -> FileDamaged:
    """What to say of a file of a run."""
    folder = path.parent if path.parent.name not in PLACES else path.parent.parent
    if is_locked(folder):
        return FileDamaged(f"another process is writing the run {folder} ({path} {what}); wait until it has finished")
    return FileDamaged(f"{path} {what}; {remedy}")


def content(folder: Path, name: str) -> bytes:
    """The content of a file of a run. Raises :class:`FileMissing`, and :class:`FileDamaged` if it differs from what was
    written."""
    path, note_before = folder / name, noted(folder).get(name)
    if not path.exists():
        raise FileMissing(path, f"{path} is missing; bring it along, or evaluate into the same folder again")
    if note_before and (what := flaw(path, note_before)):
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


def read_sources(folder: Path) -> dict[str, dict[str, str]]:
    """The code behind a run, as `book.RunState.sources`."""
    return read_object(folder, "sources.json")


def read_lines(folder: Path, name: str, *, growing: bool = False) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file of a run; a last line that a killed process left unfinished is ignored. A file
    that was noted and is gone is an error, but for who asks for its rows again (`growing`)."""
    path = folder / name
    raw = content(folder, name) if path.exists() or (name in noted(folder) and not growing) else b""
    for number, line in enumerate(raw[: raw.rfind(b"\n") + 1].splitlines(), 1):
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"{type(row).__name__}, not a JSON object")
        except (ValueError, RecursionError) as error:
            what = f"is damaged: line {number} is no row ({error})"
            raise damaged(path, what, "delete this line, and the same evaluation makes it again") from None
        yield row


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a run. Raises :class:`DataError` where it is damaged, or of another format."""
    config = read_object(folder, "run.json")
    format = config.get("format")
    if not isinstance(format, int) or "methods" not in config:
        raise damaged(folder / "run.json", "is no configuration of a run")
    if format > FORMAT:
        raise DataError(f"{folder} has run format {format}; this version reads up to {FORMAT}: upgrade hopscope")
    if format < FORMAT:
        raise DataError(f"{folder} has run format {format}; this version reads {FORMAT}: evaluate into another folder")
    if config.get("prompts"):
        config["prompts"] = {name: current(wording) for name, wording in config["prompts"].items()}
    return config


def read_context(folder: Path, name: str) -> str:
    """A context on disk: the text that a reader saw, or the one before compression."""
    try:
        return content(folder, f"contexts/{name}").decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(folder / "contexts" / name, f"is damaged ({error})") from None


def read_questions_of(folder: Path, *, growing: bool = False) -> tuple[Question, ...]:
    """The questions that a run stores, if any."""
    try:
        return tuple(record_of(Question, row) for row in read_rows(folder / "questions.jsonl", growing=growing))
    except (TypeError, KeyError) as error:
        raise damaged(folder / "questions.jsonl", f"is damaged: a line is no question ({error})") from None


def read_rows(path: Path, *, mend: bool = False, growing: bool = False) -> list[dict]:
    """The rows of a JSON Lines file of a run. `mend` removes the torn last line of a killed process; whoever computes
    missing rows reads a file that is `growing`."""
    if mend and path.is_file():
        cut_torn_line(path)
    return list(read_lines(path.parent, path.name, growing=growing or mend))


def cell_of(row: Mapping[str, Any]) -> Cell:
    """The key of a row; the first repeat has no number."""
    return row["question_id"], row["method"], row.get("repeat", 0)


def by_cell(path: Path, *, growing: bool = False) -> dict[Cell, dict]:
    """Key → the last such row of a JSON Lines file."""
    try:
        return {cell_of(row): row for row in read_rows(path, growing=growing)}
    except KeyError as error:
        raise damaged(path, f"is damaged: a line has no {error}") from None
