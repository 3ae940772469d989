"""Whether what is on disk is what was written: an index, a run, a grid, a recording, a bundle.

    workbench.cli.check.check("indexes/meridian")               a table of what is damaged
    workbench.cli.check.check("runs/first", mend=True)          puts it aside, so that the same command makes it again

Mending never guesses: what is damaged goes into a folder `damaged/` beside it, and what made it makes it again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from workbench.errors import EngineError, SettingError, WorkbenchError
from workbench.evaluation import sums
from workbench.evaluation.book import locked
from workbench.evaluation.grid import Grid
from workbench.evaluation.retrieved import read as read_evidence
from workbench.evaluation.run import REPEATS, Run, trace_name
from workbench.index.index import Index
from workbench.index.layer import DESCRIPTION, FILES
from workbench.index.store import Store, write_atomically
from workbench.integrity import checksum, flaws, unseal
from workbench.llm.record import Recording, sound
from workbench.records import Record

ASIDE = "damaged"  # the folder that damaged files are put into
PATIENCE = 5  # seconds for what another process writes into a recording
EVIDENCE = "retrieved"  # the folder of a grid with its evidence


@dataclass(frozen=True, repr=False)
class Damage(Record):
    """A file that is not what was written: what is wrong with it, and the `remedy`, a command or what to do."""

    file: str
    what: str
    remedy: str


@dataclass(frozen=True, repr=False)
class Checked(Record):
    """What was looked at (`kind`: index, run, grid, recording or bundle), how many files, and the damage; `mended`:
    whether what is damaged was put aside."""

    place: str
    kind: str
    files: int
    damage: tuple[Damage, ...]
    mended: bool = False

    @property
    def good(self) -> bool:
        return not self.damage or self.mended

    def __repr__(self) -> str:
        found = f"{len(self.damage):,} damaged" + (", put aside" if self.mended else "") if self.damage else "sound"
        lines = (f"  {one.file} {one.what}; {one.remedy}" for one in self.damage)
        return "\n".join([f"{self.kind} {self.place}: {self.files:,} files, {found}", *lines])


def check(place: str | Path, *, mend: bool = False) -> Checked:
    """Read all files of an index, run, grid, recording or bundle, and compare them with what was noted when they were
    written. With `mend`, what is damaged is put aside. Raises :class:`SettingError` for anything else, and an error
    that says so while another process writes there."""
    path = Path(place)
    kind = kind_of(path)
    with _alone(kind, path):
        files, damage = _CHECKS[kind](path)
        if mend and damage:
            _MENDS[kind](path, damage)
    return Checked(str(place), kind, files, tuple(damage), mend and bool(damage))


@contextmanager
def _alone(kind: str, path: Path) -> Iterator[None]:
    """Nobody writes it meanwhile. Who may only read it takes no lock."""
    locks = {"index": lambda: Store(path).lock(), "run": lambda: locked(path), "grid": lambda: locked(path)}
    with ExitStack() as held:
        with suppress(OSError):
            held.enter_context(locks.get(kind, nullcontext)())
        yield


def kind_of(path: Path) -> str:
    """What stands at a place."""
    known = {"manifest.json": "index", "run.json": "run", "grid.json": "grid", "bundle.json": "bundle"}
    if path.is_file():
        return "recording"
    found = next((kind for name, kind in known.items() if (path / name).exists()), None)
    found = found or ("run" if (path / sums.FILE).exists() else None)
    found = found or ("index" if any(path.glob("passages-*")) else None)
    if found is None:
        raise SettingError(f"{path} is no index, run, grid, recording or bundle; name the folder, or the file, of one")
    return found


def _index(path: Path) -> tuple[int, list[Damage]]:
    store, again = Store(path), "the command that built the index makes it again"
    damage, files = list[Damage](), 1
    try:
        layers = store.read_manifest()["layers"]
    except WorkbenchError as error:
        layers = {}
        damage.append(Damage(str(store.manifest_path), f"is damaged ({error})", again))
    for kind, named in layers.items():
        folder = store.path(kind, named["key"])
        noted, found = _noted(folder, named)
        files += 1 + len(noted)
        damage += [Damage(str(folder / name), what, again) for name, what in found.items()]
    if not damage:
        _try(lambda: Index.open(path), path, again, damage)
    return files, damage


def _noted(folder: Path, named: Mapping) -> tuple[dict, dict[str, str]]:
    """The files that a layer noted, and what is wrong with them and with its description."""
    try:
        said = unseal(json.loads((folder / DESCRIPTION).read_text("utf-8")))
    except (OSError, ValueError) as error:
        return {}, {DESCRIPTION: f"is damaged ({error})"}
    noted = said.pop(FILES, {})
    if {"key": named["key"], **said} != named:
        return noted, {DESCRIPTION: "is not what the manifest names"}
    return noted, flaws(folder, noted)


def _try(look: Callable[[], object], path: Path, remedy: str, damage: list[Damage]) -> None:
    try:
        look()
    except WorkbenchError as error:
        damage.append(Damage(str(path), str(error), remedy))


def _mend_index(path: Path, damage: Iterable[Damage]) -> None:
    """A layer whose files are damaged becomes a stopped build, which goes on with those that are whole; of one that
    does not say what they should be, none stays."""
    files = [Path(one.file) for one in damage]
    for file in files:
        if file.name == DESCRIPTION:
            _put_aside(path, file.parent)
        elif file != path:
            _put_aside(path, file)
    for layer in {file.parent for file in files if file.parent.parent == path and file.parent.is_dir()}:
        (layer / DESCRIPTION).unlink()
        part = layer.with_name(f"{layer.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        os.replace(layer, part)


def _run(path: Path) -> tuple[int, list[Damage]]:
    again = "the same evaluation computes it again"
    files, damage = 0, list[Damage]()
    for folder in [path, *sorted((path / REPEATS).glob("*/"))]:
        try:
            noted = sums.Sums.of(folder)
        except WorkbenchError as error:
            damage.append(Damage(str(folder / sums.FILE), str(error), again))
            continue
        files += len(noted.files) + 2
        damage += [Damage(str(folder / name), what, again) for name, what in flaws(folder, noted.files).items()]
        for name in (sums.ROWS, sums.TIMINGS):
            _try(lambda name=name, folder=folder: list(sums.read_lines(folder, name)), folder / name, again, damage)
    if not damage:
        _try(lambda: Run(path).rows, path, again, damage)
    return files, damage


def _mend_run(path: Path, damage: Iterable[Damage]) -> None:
    """Damaged files leave the run, with the rows that name them; a row that is damaged leaves alone."""
    damage = list(damage)
    for folder in {_folder_of(Path(one.file)) for one in damage}:
        mine = [Path(one.file) for one in damage if _folder_of(Path(one.file)) == folder]
        _mend_folder(folder, mine)


def _folder_of(file: Path) -> Path:
    return file.parent.parent if file.parent.name in sums.PLACES else file.parent


def _mend_folder(folder: Path, files: list[Path]) -> None:
    try:
        noted = sums.Sums.of(folder)
    except WorkbenchError:
        noted = sums.Sums()
    gone = {file.name for file in files if file.parent.name in sums.PLACES}
    rows = [line for line in _whole(folder, sums.ROWS, noted.rows) if not _names(line, gone)]
    times = _whole(folder, sums.TIMINGS, ())
    for file in files:
        _put_aside(folder, file)
    (folder / sums.FILE).unlink(missing_ok=True)
    if (folder / "run.json").exists():
        for name, lines in ((sums.ROWS, rows), (sums.TIMINGS, times)):
            if (folder / name).is_dir():
                _put_aside(folder, folder / name)
            write_atomically(folder / name, b"".join(line + b"\n" for line in lines))


def _whole(folder: Path, name: str, noted: tuple[str, ...]) -> list[bytes]:
    """The lines of a file that are what was written."""
    try:
        raw = (folder / name).read_bytes()
    except OSError:
        return []
    lines = raw[: raw.rfind(b"\n") + 1].splitlines()
    known = set(noted)
    return [line for line in lines if (not known or checksum(line) in known) and _sound(line)]


def _sound(line: bytes) -> bool:
    try:
        return bool(unseal(json.loads(line)))
    except (ValueError, RecursionError):
        return False


def _names(line: bytes, gone: set[str]) -> bool:
    """Whether a row names one of the files that are gone."""
    row = json.loads(line)
    mine = {trace_name(row.get("question_id", ""), row.get("method", "")), row.get("context"), row.get("retrieved")}
    return bool(mine & gone)


def _grid(path: Path) -> tuple[int, list[Damage]]:
    evidence = sorted({one.with_suffix("") for one in (path / EVIDENCE).glob("*.json*")})
    damage, files = list[Damage](), 1 + 3 * len(evidence)
    for one in evidence:
        again = "the same command retrieves it again"
        _try(lambda one=one: read_evidence(one), one.with_suffix(".json"), again, damage)
    _try(lambda: Grid(path), path / "grid.json", "the same command writes it again: its runs stay", damage)
    for folder in sorted({one.parent for name in ("run.json", sums.FILE) for one in path.glob(f"*/{name}")}):
        more, found = _run(folder)
        files, damage = files + more, [*damage, *found]
    return files, damage


def _mend_grid(path: Path, damage: Iterable[Damage]) -> None:
    damage = list(damage)
    for one in damage:
        file = Path(one.file)
        if file.parent == path / EVIDENCE:
            for end in (".json", ".jsonl", ".seconds"):
                _put_aside(path, file.with_suffix(end))
        elif file == path / "grid.json":
            _put_aside(path, file)
    for folder in {_folder_of(Path(one.file)) for one in damage} - {path, path / EVIDENCE}:
        with locked(folder):
            _mend_run(folder, [one for one in damage if _folder_of(Path(one.file)) == folder])


def _recording(path: Path) -> tuple[int, list[Damage]]:
    try:
        store = Recording(path, create=False)
        keys = store.damaged()
        store.close()
    except EngineError as error:
        return 1, [Damage(str(path), str(error), "what is gone is asked for again")]
    said = f"holds {len(keys):,} replies that are not what was recorded"
    return 1, [Damage(str(path), said, "what is gone is asked for again")] if keys else []


def _mend_recording(path: Path, _: Iterable[Damage]) -> None:
    """A new file with the replies that are whole; the old one is kept beside it. What has the old one open goes on with
    the new one."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with _held(path), closing(Recording(part)) as new:
        new.keep([row for row in _readable(path) if sound(row)])
        os.replace(path, path.with_name(f"{path.name}.{ASIDE}"))
        os.replace(part, path)


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Nobody writes to a recording meanwhile, unless it is so damaged that nobody can."""
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise EngineError(f"another process is writing {path}; mend it when that has finished") from None
        yield


def _readable(path: Path) -> Iterator[tuple]:
    """The rows that can be read: from both ends of the table, up to where it is damaged."""
    for order in ("ASC", "DESC"):
        try:
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            yield from connection.execute(f"SELECT * FROM replies ORDER BY rowid {order}")
            return
        except sqlite3.DatabaseError:
            continue


def _bundle(path: Path) -> tuple[int, list[Damage]]:
    again, file = "write the bundle again: workbench bundle RUN", path / "bundle.json"
    try:
        said = file.read_bytes()
        hashes = json.loads(said)["files"]
        assert isinstance(hashes, dict)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        return 1, [Damage(str(file), f"is damaged ({error})", again)]
    damage = []
    for name, wanted in hashes.items():
        one = path / name
        if not one.is_file():
            damage.append(Damage(str(one), "is missing", again))
        elif hashlib.sha256(one.read_bytes()).hexdigest() != wanted:
            damage.append(Damage(str(one), "does not hold what was written", again))
    if damage and _content(file) != said:  # replaced meanwhile
        return _bundle(path)
    return 1 + len(hashes), damage


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _mend_bundle(path: Path, damage: Iterable[Damage]) -> None:
    raise SettingError(f"a bundle is not mended: write {path} again with `workbench bundle RUN --out {path}`")


def _put_aside(folder: Path, file: Path) -> None:
    """Move a file, or what stands in its place, into the folder of damaged ones, where its name gets a number."""
    if not file.exists():
        return
    place = (folder / ASIDE / file.relative_to(folder)).parent
    place.mkdir(parents=True, exist_ok=True)
    number = next(number for number in count(1) if not (place / f"{file.name}.{number}").exists())
    os.replace(file, place / f"{file.name}.{number}")


_CHECKS: dict[str, Callable[[Path], tuple[int, list[Damage]]]] = {
    "index": _index, "run": _run, "grid": _grid, "recording": _recording, "bundle": _bundle,
}  # fmt: skip
_MENDS: dict[str, Callable[[Path, Iterable[Damage]], None]] = {
    "index": _mend_index, "run": _mend_run, "grid": _mend_grid, "recording": _mend_recording, "bundle": _mend_bundle,
}  # fmt: skip
