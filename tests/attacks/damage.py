"""Damage to what is on disk: every file of an index, a run, a grid, a recording and a bundle.

A file is cut, has bits flipped, is removed, emptied, filled with something else, replaced by a folder, or says that it
is of a later format. Then everything that reads it is tried. What comes is what came before the damage, or an error of
ours that names a path and says what to do; and after the command of that error the same bytes are made again.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tally import Tally

import workbench as wb
from workbench.check import check
from workbench.data import Dataset
from workbench.errors import WorkbenchError
from workbench.experiments import Grid, Run, evaluate, grid
from workbench.index import Index
from workbench.index.index import LAYERS
from workbench.llm.call import Reply, Request
from workbench.llm.engine import RulesEngine
from workbench.llm.record import Recording, recording
from workbench.methods import METHODS
from workbench.records import Question
from workbench.testing.contract import OVER_HASHES
from workbench.testing.data import TINY, HashEncoder
from workbench.views.bundle import bundle

WHOLE = 600
QUESTIONS = (
    Question("q1", "Which lake does the river at Orsby flow into?", ("Lake Mira",), "bridge", 2, ("p1", "p2")),
    Question("q2", "Where was the founder of Orsby born?", ("Orsby",), "bridge", 2, ("p1", "p4")),
)
SETTINGS = {"summaries": {"reduction": "pca"}, "communities": {"min_members": 2}}
RULES = RulesEngine()
_NOT_READ = ("usage.jsonl", "usage.json", "table.csv", ".lock", "bundle.json", ".part", ".tmp")
_GIVEN = ("ranking",)  # a method over a file of rankings


@dataclass(frozen=True)
class Target:
    """Something on disk, all that reads it (name → what it gives, as text), and how it is made, or made again."""

    name: str
    place: Path
    read: Callable[[Path], Iterator[tuple[str, Callable[[], str]]]]
    make: Callable[[Path], Any]


# -- what is damaged --------------------------------------------------------------------------------------------------


def _data() -> Dataset:
    return Dataset("tiny", TINY, QUESTIONS)


def _build(folder: Path) -> Index:
    return Index.build(
        _data(), RULES, folder, encoder=HashEncoder(), layers=list(LAYERS), settings=SETTINGS, progress=False
    )


def methods(index: Index) -> Iterator[tuple[str, Any]]:
    """Every registered method over an index."""
    for name in METHODS:
        if name not in _GIVEN:
            yield name, wb.method(OVER_HASHES.get(name, name), index, RULES)


def _read_index(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "open and describe", lambda: f"{Index.open(folder).counts()} {Index.open(folder).manifest}"
    yield "data", lambda: str(Index.open(folder).data.passages)
    yield "hashes", lambda: str([Index.open(folder).layer(kind).hash for kind in Index.open(folder).manifest["layers"]])
    yield "retrieve", lambda: _retrieved(folder)
    yield "build", lambda: str([_build(folder).counts(), Index.open(folder).manifest])


def _retrieved(folder: Path) -> str:
    index = Index.open(folder)
    found = ((name, method.retrieve(QUESTIONS[0].question, k=4)) for name, method in methods(index))
    return json.dumps([(name, evidence.ranking, evidence.fallback) for name, evidence in found])


def _evaluate(folder: Path) -> Run:
    index = _index()
    chosen = [wb.method(name, index, RULES) for name in ("dense", "hipporag2")]
    return evaluate(QUESTIONS, chosen, wb.reader("direct", RULES), folder, progress=False)


def _read_run(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    def rows() -> str:
        run = Run(folder)
        return f"{run.table().to_csv()}{run.rows}{run.questions}{run.config}{run._repr_html_()}"

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
    yield "texts", texts
    yield "traces", traces
    yield "seconds", seconds
    yield "between", lambda: repr(wb.between(Run(folder), Run(folder)).differing)
    yield "diagnose", lambda: repr(wb.diagnose(Run(folder)))
    yield "evaluate", lambda: f"{_evaluate(folder).table().to_csv()}{Run(folder).rows}"


def _grid(folder: Path) -> Grid:
    chosen = [wb.method(name, _index(), RULES) for name in ("dense", "hipporag2")]
    return grid(QUESTIONS, chosen, ["direct", "direct[k=2]"], folder, progress=False)


def _read_grid(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "table", lambda: Grid(folder).table().to_csv()
    yield "rows", lambda: str([run.rows for run in Grid(folder).runs.values()])
    yield "another reader", lambda: _another_reader(folder)


def _another_reader(folder: Path) -> str:
    chosen = [wb.method(name, _index(), RULES) for name in ("dense", "hipporag2")]
    grown = grid(QUESTIONS, chosen, ["direct", "direct[k=2]", "direct[k=1]"], folder, progress=False)
    return f"{grown.table().to_csv()}{[run.rows for run in grown.runs.values()]}"


def _requests() -> list[Request]:
    return [
        Request(step, "openai:one", ({"role": "user", "content": f"{step} {number}"},), None, 0.0, 64)
        for step in ("triples", "answer", "judge")
        for number in range(12)
    ]


def _answer(request: Request) -> Reply:
    said = request.messages[0]["content"]
    return Reply(f"answer to {said}", prompt_tokens=len(said), completion_tokens=7)


def _record(path: Path) -> None:
    with closing(Recording(path)) as store:
        ask = recording(_answer, store)
        for request in _requests():
            ask(request)
        store.keep_window("openai:one", 8192)


def _read_recording(path: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    def replayed() -> str:
        with closing(Recording(path, create=False)) as store:
            found = [store.get(request, bad=True) for request in _requests()]
            if any(reply is None for reply in found):  # a replay stops at it, and shows the nearest
                raise RecordedNo(f"{path} has no answer; ask again")
            return str([replace(reply, recorded=False) for reply in found])

    def asked() -> str:
        with closing(Recording(path)) as store:
            ask = recording(_answer, store)
            return str([replace(ask(request), recorded=False) for request in _requests()])

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
    return _build(_home() / "index")


@cache
def _run() -> Run:
    return _evaluate(_home() / "run")


@cache
def targets() -> tuple[Target, ...]:
    """One of each kind, whole."""
    home = _home()
    _index(), _run(), _grid(home / "grid"), _record(home / "recording.sqlite"), _bundle(home / "bundle")
    return (
        Target("index", home / "index", _read_index, _build),
        Target("run", home / "run", _read_run, _evaluate),
        Target("grid", home / "grid", _read_grid, _grid),
        Target("recording", home / "recording.sqlite", _read_recording, _record),
        Target("bundle", home / "bundle", _read_bundle, _bundle),
    )


@cache
def _whole(target: Target) -> dict[str, str]:
    """What every reader gives of a whole one. Each gets a copy, because some write."""
    found = {}
    for name, _ in target.read(target.place):
        with tempfile.TemporaryDirectory() as folder:
            copy = _copied(target, Path(folder))
            found[name] = dict(target.read(copy))[name]().replace(str(copy), "PLACE")
    return found


def _copied(target: Target, folder: Path) -> Path:
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
    del lines[chance.randrange(len(lines)) if lines else 0 :][:1]
    path.write_bytes(b"".join(lines[:-1]))


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
    """`count` damaged files, over the kinds in turn, their files and the ways to damage them by chance."""
    tally, chance = Tally("damage"), random.Random(seed)
    files = {target: chance.sample(files_of(target), len(files_of(target))) for target in targets()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            target = targets()[number % len(targets())]
            turn = number // len(targets())
            name = files[target][turn % len(files[target])]
            _try(tally, target, name, chance.choice(DAMAGES), random.Random(f"{seed} {number}"), folder)
    return tally


def _try(tally: Tally, target: Target, name: str, damage: Callable, chance: random.Random, folder: Path) -> None:
    """One damaged file, before each that reads it."""
    what = f"{target.name}: {name or target.place.name} {damage.__name__.strip('_')}"
    wrong = []
    state = chance.getstate()
    for reader in _whole(target):
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            copy = _copied(target, Path(inside))
            chance.setstate(state)
            damage(copy / name if name else copy, chance)
            if (said := _outcome(target, reader, copy)) is not None:
                wrong.append((said[0], f"{what}: {reader}: {said[1]}"))
    if wrong:
        tally.failed(*wrong[0])
    else:
        tally.withstood()


def _outcome(target: Target, reader: str, copy: Path) -> tuple[str, str] | None:
    """What is wrong with what a reader does of a damaged copy; None if nothing is."""
    try:
        found = dict(target.read(copy))[reader]().replace(str(copy), "PLACE")
    except WorkbenchError as error:
        said = str(error)
        return None if str(copy) in said and len(said) > len(str(copy)) + 20 else ("lost", f"says only: {said}")
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {error}"
    return None if found == _whole(target)[reader] else ("lost", "another result, without a word")


# -- mended -----------------------------------------------------------------------------------------------------------


def mended(target: Target, name: str, damage: Callable, chance: random.Random, folder: Path) -> str | None:
    """Damage, `workbench check --mend`, and the command that made it: what is not as before, in words."""
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        copy = _copied(target, Path(inside))
        damage(copy / name if name else copy, chance)
        check(copy, mend=True)
        target.make(copy)
        for reader, whole in _whole(target).items():
            if dict(target.read(copy))[reader]().replace(str(copy), "PLACE") != whole:
                return f"{target.name}: {name} {damage.__name__}: {reader} gives something else after it was mended"
        left = check(copy)
        return None if left.good else f"{left!r}"
