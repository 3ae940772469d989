"""Checks that an index, a run, a grid, a recording or a bundle on disk is as it was written.

workbench.cli.check.check("indexes/meridian")     what is damaged, and what makes it again; nothing is changed"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

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
    with _alone(kind, path):
        files, damage = _CHECKS[kind](path)
    return Checked(str(place), kind, files, tuple(damage))


@contextmanager
def _alone(kind: str, path: Path) -> Iterator[None]:
    """Nobody writes it meanwhile. Who may only read it takes no lock."""
    locks = {"index": lambda: Store(path).lock(), "run": lambda: locked(path), "grid": lambda: locked(path)}
    with ExitStack() as held:
        with suppress(OSError):
            held.enter_context(locks.get(kind, nullcontext)())
        yield


def kind_of(path: Path) -> str:
    """The kind of what a path holds."""
    kinds = {"manifest.json": "index", "run.json": "run", "grid.json": "grid", "bundle.json": "bundle"}
    if path.is_file():
        return "recording"
    kind_found = next((kind for name, kind in kinds.items() if (path / name).exists()), None)
    kind_found = kind_found or ("run" if (path / sums.FILE).exists() else None)
    kind_found = kind_found or ("index" if any(path.glob("passages-*")) else None)
    if kind_found is None:
        raise SettingError(
            f"{path} is not an index, a run, a grid, a recording or a bundle; give the path of what is to be checked"
        )
    return kind_found


def _index(path: Path) -> tuple[int, list[Damage]]:
    store, again = Store(path), "and the command that built the index makes it again"
    damage, files = list[Damage](), 1
    try:
        layers = store.read_manifest()["layers"]
    except WorkbenchError as error:
        layers = {}
        damage.append(Damage(str(store.manifest_path), f"is damaged ({error})", f"delete it, {again}"))
    for kind, named in layers.items():
        folder = store.path(kind, named["key"])
        try:
            description = unseal(json.loads((folder / DESCRIPTION).read_text("utf-8")))
            noted = description.pop(FILES, {})
            flawed = flaws(folder, noted)
            if {"key": named["key"], **description} != named:
                flawed |= {DESCRIPTION: "is not what the manifest names"}
        except (OSError, ValueError) as error:
            noted, flawed = {}, {DESCRIPTION: f"is damaged ({error})"}
        files += 1 + len(noted)
        damage += [Damage(str(folder / name), what, f"delete its folder, {again}") for name, what in flawed.items()]
    if not damage:
        _try(lambda: Index.open(path), path, "do what it says", damage)
    return files, damage


def _try(look: Callable[[], object], path: Path, remedy: str, damage: list[Damage]) -> None:
    try:
        look()
    except WorkbenchError as error:
        damage.append(Damage(str(path), f"cannot be read ({error})", remedy))


def _run(path: Path) -> tuple[int, list[Damage]]:
    again = "delete it, and the same evaluation makes it again"
    files, damage = 0, list[Damage]()
    try:
        noted = sums.noted(path)
    except WorkbenchError as error:
        damage.append(Damage(str(path / sums.FILE), f"cannot be read ({error})", again))
    else:
        flawed = flaws(path, noted)
        files += len(noted) + 2
        damage += [Damage(str(path / name), what, again) for name, what in flawed.items()]
        for name in {sums.ROWS, sums.TIMINGS} - flawed.keys():
            _try(lambda name=name: list(sums.read_lines(path, name)), path / name, again, damage)
    if not damage:
        _try(lambda: (Run(path).rows, Run(path).timed), path, "do what it says", damage)
    return files, damage


def _grid(path: Path) -> tuple[int, list[Damage]]:
    evidence = sorted({file.with_suffix("") for file in (path / EVIDENCE).glob("*.json*")})
    damage, files = list[Damage](), 1 + 3 * len(evidence)
    for file in evidence:
        again = "delete it, and the same command retrieves it again"
        _try(lambda file=file: read_evidence(file), file.with_suffix(".json"), again, damage)
    again = "delete it, and the same command writes it again: its runs stay"
    _try(lambda: Grid(path), path / "grid.json", again, damage)
    for folder in sorted({file.parent for name in ("run.json", sums.FILE) for file in path.glob(f"*/{name}")}):
        more, flawed = _run(folder)
        files, damage = files + more, [*damage, *flawed]
    return files, damage


def _recording(path: Path) -> tuple[int, list[Damage]]:
    try:
        with closing(Recording(path, create=False)) as store:
            keys = store.damaged()
    except EngineError as error:
        return 1, [Damage(str(path), f"cannot be read ({error})", "record into another file")]
    what = "holds a reply that is not what was recorded"
    remedy = "take it out, and it is asked for again: "
    return 1, [Damage(str(path), what, f"{remedy}{taken_out(path, key)}") for key in keys]


def _bundle(path: Path) -> tuple[int, list[Damage]]:
    again, file = "write the bundle again: workbench bundle RUN", path / "bundle.json"
    try:
        raw = file.read_bytes()
        hashes = json.loads(raw)["files"]
        assert isinstance(hashes, dict)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        return 1, [Damage(str(file), f"is damaged ({error})", again)]
    damage = []
    for name, wanted in hashes.items():
        target = path / name
        if not target.is_file():
            damage.append(Damage(str(target), "is missing", again))
        elif hashlib.sha256(target.read_bytes()).hexdigest() != wanted:
            damage.append(Damage(str(target), "does not hold what was written", again))
    if damage and _content(file) != raw:  # replaced meanwhile
        return _bundle(path)
    return 1 + len(hashes), damage


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


_CHECKS: dict[str, Callable[[Path], tuple[int, list[Damage]]]] = {
    "index": _index, "run": _run, "grid": _grid, "recording": _recording, "bundle": _bundle,
}  # fmt: skip
