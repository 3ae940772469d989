"""Damage to what is on disk: every file of an index, a run, a grid, a recording and a bundle.

A file is cut, has bits flipped, is removed, emptied, filled with something else, replaced by a folder, or says that it
is of a later format. Then everything that reads it is tried. What comes is what came before the damage, or an error of
ours that names a path and says what to do; and after the command of that error the same bytes are made again.
"""

from __future__ import annotations

import errno
import json
import random
import resource
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import on_disk
from tally import Tally

import workbench as wb
from workbench.cli.check import Damage, check
from workbench.errors import WorkbenchError
from workbench.evaluation import Grid, Run
from workbench.index import Index
from workbench.llm.record import Recording, recording
from workbench.views.bundle import bundle

WHOLE = 600
_NOT_READ = ("usage.jsonl", "usage.json", "table.csv", ".lock", "bundle.json", ".part", ".tmp")


@dataclass(frozen=True)
class Target:
    """Something on disk, all that reads it (name → what it gives, as text), and how it is made, or made again."""

    name: str
    place: Path
    read: Callable[[Path], Iterator[tuple[str, Callable[[], str]]]]
    make: Callable[[Path], Any]


# -- what is damaged --------------------------------------------------------------------------------------------------


def _read_index(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "open and describe", lambda: f"{Index.open(folder).counts()} {Index.open(folder).manifest}"
    yield "data", lambda: str(Index.open(folder).data.passages)
    yield "hashes", lambda: str([Index.open(folder).layer(kind).hash for kind in Index.open(folder).manifest["layers"]])
    yield "retrieve", lambda: json.dumps(on_disk.rankings(folder))
    yield "build", lambda: str([on_disk.build(folder).counts(), Index.open(folder).manifest])


def _evaluate(folder: Path) -> Run:
    return on_disk.run(folder, _index())


def _read_run(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    def rows() -> str:
        run = Run(folder)
        return f"{run.table().to_csv()}{run.rows}{run.questions}{run.config}"

    def texts() -> str:
        run = Run(folder)
        return "".join(f"{run.context(row)}{run.context(row, retrieved=True)}" for row in run.rows)

    def traces() -> str:
        run = Run(folder)
        return "".join(run.trace(row["question_id"], row["method"]).frame().to_csv() for row in run.rows)

    def seconds() -> str:
        run = Run(folder)
        return f"{run.seconds().to_csv()}{run.table(seconds=True).to_csv()}"

    yield "rows", rows
    yield "display", lambda: Run(folder)._repr_html_()
    yield "texts", texts
    yield "traces", traces
    yield "seconds", seconds
    yield "between", lambda: repr(wb.between(Run(folder), Run(folder)).differing)
    yield "diagnose", lambda: repr(wb.diagnose(Run(folder)))
    yield "evaluate", lambda: f"{_evaluate(folder).table().to_csv()}{Run(folder).rows}"


def _grid(folder: Path) -> Grid:
    return on_disk.grown(folder, _index(), "direct", "direct[k=2]")


def _read_grid(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "table", lambda: Grid(folder).table().to_csv()
    yield "rows", lambda: str([run.rows for run in Grid(folder).runs.values()])
    yield "another reader", lambda: _another_reader(folder)


def _another_reader(folder: Path) -> str:
    grown = on_disk.grown(folder, _index(), "direct", "direct[k=2]", "direct[k=1]")
    return f"{grown.table().to_csv()}{[run.rows for run in grown.runs.values()]}"


def _read_recording(path: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    def replayed() -> str:
        with closing(Recording(path, create=False)) as store:
            found = [store.get(request, bad=True) for request in on_disk.requests()]
            if any(reply is None for reply in found):  # a replay stops at it, and shows the nearest
                raise RecordedNo(f"{path} has no answer; ask again")
            return str([replace(reply, recorded=False) for reply in found])

    def asked() -> str:
        with closing(Recording(path)) as store:
            ask = recording(on_disk.answered, store)
            return str([replace(ask(request), recorded=False) for request in on_disk.requests()])

    yield "replay", replayed
    yield "record", asked


class RecordedNo(WorkbenchError):
    """Stands for the miss of a replay."""


def _bundle(folder: Path) -> Path:
    return bundle(_run(), out=folder, index=_index(), progress=False)


def _read_bundle(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    def checked() -> str:
        found = check(folder)
        if found.damage:
            raise RecordedNo(f"{found.damage[0].file} {found.damage[0].what}; {found.damage[0].remedy}")
        return f"{found.files}"

    yield "check", checked


@cache
def _home() -> Path:
    return Path(tempfile.mkdtemp(prefix="hopscope-damage-"))


@cache
def _index() -> Index:
    return on_disk.build(_home() / "index")


@cache
def _run() -> Run:
    return _evaluate(_home() / "run")


@cache
def targets() -> tuple[Target, ...]:
    """One of each kind, whole."""
    home = _home()
    _index(), _run(), _grid(home / "grid"), on_disk.record(home / "recording.sqlite"), _bundle(home / "bundle")
    return (
        Target("index", home / "index", _read_index, on_disk.build),
        Target("run", home / "run", _read_run, _evaluate),
        Target("grid", home / "grid", _read_grid, _grid),
        Target("recording", home / "recording.sqlite", _read_recording, on_disk.record),
        Target("bundle", home / "bundle", _read_bundle, _bundle),
    )


@cache
def _whole(target: Target) -> dict[str, str]:
    """What every reader gives of a whole one. Each gets a copy, because some write."""
    found = {}
    for name, _ in target.read(target.place):
        with tempfile.TemporaryDirectory() as folder:
            copy = copied(target, Path(folder))
            found[name] = dict(target.read(copy))[name]().replace(str(copy), "PLACE")
    return found


def copied(target: Target, folder: Path) -> Path:
    place = folder / target.place.name
    if target.place.is_dir():
        shutil.copytree(target.place, place)
    else:
        shutil.copyfile(target.place, place)
    return place


def files_of(target: Target) -> list[str]:
    """The files that something reads, by their place below the target; a recording is one file."""
    if target.place.is_file():
        return [""]
    found = (path for path in sorted(target.place.rglob("*")) if path.is_file())
    return [str(path.relative_to(target.place)) for path in found if not path.name.endswith(_NOT_READ)]


# -- the damage -------------------------------------------------------------------------------------------------------


def _cut(path: Path, chance: random.Random) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: chance.randrange(len(raw))] if raw else b"x")


def _flipped(path: Path, chance: random.Random) -> None:
    raw = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 4))):
        at = chance.randrange(len(raw)) if raw else 0
        raw[at : at + 1] = bytes([raw[at] ^ (1 << chance.randrange(8))]) if raw else b"x"
    path.write_bytes(bytes(raw))


def _swapped(path: Path, chance: random.Random) -> None:
    """A number becomes another: it parses, and nothing looks wrong."""
    raw = bytearray(path.read_bytes())
    digits = [at for at, one in enumerate(raw) if chr(one) in "123456789"]
    for at in chance.sample(digits, min(len(digits), 2)):
        raw[at] = ord(chance.choice([one for one in "123456789" if ord(one) != raw[at]]))
    path.write_bytes(bytes(raw))


def _removed(path: Path, _: random.Random) -> None:
    path.unlink()


def _emptied(path: Path, _: random.Random) -> None:
    path.write_bytes(b"")


def _zeros(path: Path, _: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _line_lost(path: Path, chance: random.Random) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    at = chance.randrange(len(lines)) if lines else 0
    path.write_bytes(b"".join([*lines[:at], *lines[at + 1 :]]))


def _folder(path: Path, _: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _newer(path: Path, chance: random.Random) -> None:
    """Of a later format, where the file says which; else something else than it should be."""
    try:
        said = json.loads(path.read_text("utf-8"))
        name = next(one for one in ("format", "bundle", "trace") if one in said)
        path.write_text(json.dumps({**said, name: 99}))
    except (ValueError, StopIteration, TypeError):
        if path.read_bytes().startswith(b"SQLite"):
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA user_version = 99")
        else:
            path.write_bytes(b'{"format": 99}\n')


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (
    _flipped, _cut, _swapped, _removed, _emptied, _zeros, _line_lost, _folder, _newer,
)  # fmt: skip


def attack(count: int, seed: int, folder: Path) -> Tally:
    """`count` damaged files, over the kinds in turn, their files and the ways to damage them by chance; and for every
    twentieth a full disk, and two processes at once."""
    import two_processes  # which damages nothing, and takes the targets from here

    tally, chance = Tally("damage"), random.Random(seed)
    files = {target: chance.sample(files_of(target), len(files_of(target))) for target in targets()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            target = targets()[number % len(targets())]
            turn = number // len(targets())
            name = files[target][turn % len(files[target])]
            _try(tally, target, name, chance.choice(DAMAGES), random.Random(f"{seed} {number}"), folder)
        return tally + full_disk(count // 20, seed, folder) + two_processes.attack(count // 20, seed, folder)


def _try(tally: Tally, target: Target, name: str, damage: Callable, chance: random.Random, folder: Path) -> None:
    """One damaged file, before each that reads it."""
    what = f"{target.name}: {name or target.place.name} {damage.__name__.strip('_')}"
    wrong = []
    state = chance.getstate()
    for reader in _whole(target):
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            copy = copied(target, Path(inside))
            chance.setstate(state)
            damage(copy / name if name else copy, chance)
            if (said := _outcome(target, name, reader, copy)) is not None:
                wrong.append((said[0], f"{what}: {reader}: {said[1]}"))
    if wrong:
        tally.failed(*wrong[0])
    else:
        tally.withstood()


def _outcome(target: Target, name: str, reader: str, copy: Path) -> tuple[str, str] | None:
    """What is wrong with what a reader does of a damaged copy; None if nothing is."""
    try:
        found = dict(target.read(copy))[reader]().replace(str(copy), "PLACE")
    except WorkbenchError as error:
        said = str(error)
        return None if str(copy) in said and len(said) > len(str(copy)) + 20 else ("lost", f"says only: {said}")
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {error}"
    if found == _whole(target)[reader] or (reader in _TIMED and name.endswith(_UNNOTED)):
        return None
    return "lost", "another result, without a word"


# -- a full disk ------------------------------------------------------------------------------------------------------


def full_disk(count: int, seed: int, folder: Path) -> Tally:
    """Each of the things on disk made where a file cannot grow beyond some size, and then with room: what comes is what
    comes of an undisturbed one."""
    tally, chance = Tally("damage"), random.Random(seed)
    for number in range(count):
        target = targets()[number % len(targets())]
        largest = max(path.stat().st_size for path in [target.place, *target.place.rglob("*")] if path.is_file())
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            _fill(tally, target, Path(inside) / target.place.name, int(largest * chance.random() ** 2))
    return tally


def _fill(tally: Tally, target: Target, place: Path, room: int) -> None:
    what = f"{target.name} on a disk with {room:,} bytes of room"
    try:
        with _room(room):
            target.make(place)
    except WorkbenchError:
        pass
    except OSError as error:  # which the command line prints, with the word that what was finished is kept
        if error.errno not in (errno.EFBIG, errno.ENOSPC) and "large" not in str(error):
            tally.failed("crashed", f"{what}: {error!r}")
            return
    except Exception as error:
        tally.failed("crashed", f"{what}: {type(error).__name__}: {error}")
        return
    target.make(place)
    if bytes_of(place) != bytes_of(target.place):
        tally.failed("lost", f"{what}: another result once there was room")
    else:
        tally.withstood()


@contextmanager
def _room(size: int) -> Iterator[None]:
    """Within the block no file of this process grows beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def bytes_of(place: Path) -> dict[str, bytes]:
    """What is in files that equal makings have equal; of a recording, its rows."""
    if place.is_file():
        with closing(sqlite3.connect(place)) as connection:
            rows = connection.execute("SELECT key, request, reply, good, sum FROM replies ORDER BY key").fetchall()
            return {"": repr(rows).encode()}
    differ = ("usage.jsonl", "timings.jsonl", ".lock", ".seconds")
    found = (path for path in place.rglob("*") if path.is_file() and not path.name.endswith(differ))
    return {str(path.relative_to(place)): path.read_bytes() for path in found}


_TIMED = ("seconds", "display")  # which differ between equal runs
_UNNOTED = ("timings.jsonl", ".seconds")  # whose numbers no checksum vouches for: they decide no result


# -- made again -------------------------------------------------------------------------------------------------------


def made_again(target: Target, name: str, damage: Callable, chance: random.Random, folder: Path) -> str | None:
    """Damage, what `workbench check` says to delete deleted, and the command that made it: what is not as before, in
    words."""
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        copy = copied(target, Path(inside))
        damage(copy / name if name else copy, chance)
        for one in check(copy).damage:
            remove(one)
        target.make(copy)
        for reader, whole in _whole(target).items():
            if reader not in _TIMED and dict(target.read(copy))[reader]().replace(str(copy), "PLACE") != whole:
                return f"{target.name}: {name} {damage.__name__}: {reader} gives something else after it was made again"
        left = check(copy)
        return None if left.good else f"{left!r}"


def remove(damage: Damage) -> None:
    """Do what the remedy of a damaged file says; for what cannot be deleted alone, nothing."""
    file = Path(damage.file)
    place = file.parent if damage.remedy.startswith("delete its folder") else file
    if damage.remedy.startswith("delete") and place.exists():
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    elif "DELETE" in damage.remedy:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(damage.remedy.partition('"')[2].removesuffix('"'))
    elif damage.remedy == "record into another file":
        file.unlink()
