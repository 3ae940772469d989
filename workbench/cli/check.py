"""Checks that an index, a run, a grid, a recording or a bundle on disk is as it was written.

workbench.cli.check.check("indexes/meridian")     what is damaged, and what makes it again; nothing is changed"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from workbench.errors import EngineError, SettingError, WorkbenchError
from workbench.evaluation import sums
from workbench.evaluation.book import locked
from workbench.evaluation.grid import Grid
from workbench.evaluation.retrieved import read as read_evidence
from workbench.evaluation.run import Run
from workbench.index.index import Index
from workbench.index.layer import DESCRIPTION, FILES
from workbench.index.store import Store
from workbench.integrity import flaws, unseal
from workbench.llm.record import Recording, taken_out
from workbench.records import Record

T = TypeVar("T")
EVIDENCE = "retrieved"  # the folder of a grid with its evidence


@dataclass(frozen=True, repr=False)
class Damage(Record):
    """A file that differs from what was written: what is wrong, and the `remedy`, a command or an instruction."""

    file: str
    what: str
    remedy: str


@dataclass(frozen=True, repr=False)
class Checked(Record):
    """What was looked at (`kind`: index, run, grid, recording or bundle), how many files, and the damage."""

    place: str
    kind: str
    files: int
    damage: tuple[Damage, ...]

    @property
    def good(self) -> bool:
        return not self.damage

    def __repr__(self) -> str:
        verdict = f"{len(self.damage):,} damaged" if self.damage else "sound"
        lines = (f"  {flaw.file} {flaw.what}; {flaw.remedy}" for flaw in self.damage)
        return "\n".join([f"{self.kind} {self.place}: {self.files:,} files, {verdict}", *lines])


def check(place: str | Path) -> Checked:
    """Read all files of an index, run, grid, recording or bundle, and compare them with what was noted when they were
    written. Raises :class:`SettingError` for anything else, and an error that says so while another process writes
    there."""
    path = Path(place)
    kind = kind_of(path)
    locks = {"index": Store(path).lock, "run": partial(locked, path), "grid": partial(locked, path)}
    report = _Report()
    with ExitStack() as held:
        with suppress(OSError):  # who may only read it takes no lock
            held.enter_context(locks.get(kind, nullcontext)())
        _CHECKS[kind](path, report)
    return Checked(str(place), kind, report.files, tuple(report.damage))


def kind_of(path: Path) -> str:
    """The kind of what a path holds."""
    if path.is_file():
        return "recording"
    holds = {"manifest.json": "index", "run.json": "run", "grid.json": "grid", "bundle.json": "bundle",
             sums.FILE: "run", "passages-*": "index"}  # fmt: skip
    for name, kind in holds.items():
        if any(path.glob(name)):
            return kind
    raise SettingError(
        f"{path} is not an index, a run, a grid, a recording or a bundle; give the path of what is to be checked"
    )


class _Report:
    """The files that were looked at, and the damage."""

    def __init__(self) -> None:
        self.files, self.damage = 0, list[Damage]()

    def note(self, file: Path, what: str, remedy: str) -> None:
        self.damage.append(Damage(str(file), what, remedy))

    def read(self, file: Path, remedy: str, look: Callable[..., T], *given: Any) -> T | None:
        """What is read of a file; None with a note where it is damaged."""
        try:
            return look(*given)
        except WorkbenchError as error:
            self.note(file, f"cannot be read ({error})", remedy)
            return None


def _index(path: Path, report: _Report) -> None:
    store, again = Store(path), "and the command that built the index makes it again"
    manifest = report.read(Store(path).manifest_path, f"delete it, {again}", store.read_manifest)
    report.files += 1
    for kind, named in (manifest or {"layers": {}})["layers"].items():
        folder = store.path(kind, named["key"])
        try:
            description = unseal(json.loads((folder / DESCRIPTION).read_text("utf-8")))
            files = description.pop(FILES, {})
            flawed = flaws(folder, files)
            if {"key": named["key"], **description} != named:
                flawed |= {DESCRIPTION: "is not what the manifest names"}
        except (OSError, ValueError) as error:
            files, flawed = {}, {DESCRIPTION: f"is damaged ({error})"}
        report.files += 1 + len(files)
        for name, what in flawed.items():
            report.note(folder / name, what, f"delete its folder, {again}")
    if not report.damage:
        report.read(path, "do what it says", Index.open, path)


def _run(path: Path, report: _Report) -> None:
    again, before = "delete it, and the same evaluation makes it again", len(report.damage)
    files = report.read(path / sums.FILE, again, sums.noted, path)
    if files is not None:
        report.files += len(files) + 2
        flawed = flaws(path, files)
        for name, what in flawed.items():
            report.note(path / name, what, again)
        for name in {sums.ROWS, sums.TIMINGS} - flawed.keys():
            report.read(path / name, again, lambda name=name: list(sums.read_lines(path, name)))
    if len(report.damage) == before:
        report.read(path, "do what it says", lambda: (Run(path).rows, Run(path).timed))


def _grid(path: Path, report: _Report) -> None:
    evidence = sorted({file.with_suffix("") for file in (path / EVIDENCE).glob("*.json*")})
    report.files += 1 + 3 * len(evidence)
    for file in evidence:
        again = "delete it, and the same command retrieves it again"
        report.read(file.with_suffix(".json"), again, read_evidence, file)
    report.read(path / "grid.json", "delete it, and the same command writes it again: its runs stay", Grid, path)
    for folder in sorted({file.parent for name in ("run.json", sums.FILE) for file in path.glob(f"*/{name}")}):
        _run(folder, report)


def _recording(path: Path, report: _Report) -> None:
    report.files = 1
    try:
        with closing(Recording(path, create=False)) as store:
            keys = store.damaged()
    except EngineError as error:
        keys = ()
        report.note(path, f"cannot be read ({error})", "record into another file")
    for key in keys:
        remedy = f"take it out, and it is asked for again: {taken_out(path, key)}"
        report.note(path, "holds a reply that is not what was recorded", remedy)


def _bundle(path: Path, report: _Report) -> None:
    again, file = "write the bundle again: workbench bundle RUN", path / "bundle.json"
    try:
        raw = file.read_bytes()
        hashes = dict(json.loads(raw)["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raw, hashes = None, {}
        report.note(file, f"is damaged ({error})", again)
    report.files = 1 + len(hashes)
    for name, wanted in hashes.items():
        target = path / name
        if not target.is_file():
            report.note(target, "is missing", again)
        elif hashlib.sha256(target.read_bytes()).hexdigest() != wanted:
            report.note(target, "does not hold what was written", again)
    if raw and report.damage and not (file.exists() and file.read_bytes() == raw):  # replaced meanwhile
        report.damage.clear()
        _bundle(path, report)


_CHECKS = {"index": _index, "run": _run, "grid": _grid, "recording": _recording, "bundle": _bundle}
