"""Two processes at once over one index, run, grid, recording or bundle: both write, or one reads what the other writes.

Each does its work, or is refused in words that name the place and the other process. What is read is what somebody had
finished writing, and once both are done, everything is as if one had worked after the other."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import damage
import on_disk
from tally import Tally

import workbench as wb
from workbench.cli.check import check
from workbench.errors import WorkbenchError
from workbench.evaluation import Run
from workbench.index import Index
from workbench.index.store import DERIVED
from workbench.llm.record import Recording
from workbench.testing.data import TINY
from workbench.views.bundle import bundle

READINGS = 40  # of one process while the other writes
REFUSALS = ("another process", "was changed", "no passage has the id", "exists already")
NOT_YET = ("is empty", "no run.json", "no grid.json", "does not exist", "is not an index, a run, a grid")

Deed = Callable[[Path], str]  # what it gives, as text; empty for what only writes


# -- what a process does ----------------------------------------------------------------------------------------------


def build_index(place: Path) -> str:
    on_disk.build(place)
    return ""


def change_index(place: Path) -> str:
    """A passage leaves and comes back."""
    Index.open(place).delete([TINY[-1].id], on_disk.RULES, progress=False)
    Index.open(place).insert([TINY[-1]], on_disk.RULES, progress=False)
    return ""


def ask_index(place: Path) -> str:
    index = Index.open(place)
    found = (wb.method(name, index).retrieve(on_disk.QUESTIONS[0].question, k=6) for name in ("dense", "bm25"))
    return json.dumps([one.ranking for one in found])


def evaluate(place: Path) -> str:
    on_disk.run(place, _index())
    return ""


def read_rows(place: Path) -> str:
    """Rows, contexts and traces; of a run that grows there may be fewer."""
    run = Run(place)
    return "\n".join(
        json.dumps([row, run.context(row), run.trace(row["question_id"], row["method"]).frame().to_csv()])
        for row in run.rows
    )


def grow_grid(place: Path) -> str:
    on_disk.grown(place, _index(), "direct", "direct[k=2]")
    return ""


def record(place: Path) -> str:
    on_disk.record(place)
    return ""


def replay(place: Path) -> str:
    with closing(Recording(place, create=False)) as store:
        found = [store.get(request) for request in on_disk.requests()]
    return "\n".join(repr((reply.text, reply.prompt_tokens)) for reply in found if reply is not None)


def write_bundle(place: Path) -> str:
    bundle(on_disk.run(place.with_name("run"), _index()), out=place, index=_index(), progress=False)
    return ""


def look_over(place: Path) -> str:
    """`workbench check` of what somebody writes: it is sound, or it says that it is written."""
    return "".join(f"{one.file} {one.what}" for one in check(place).damage)


@cache
def _index() -> Index:
    return Index.open(_index_folder)


class Pair(NamedTuple):
    """What two processes do to a target, which exists already unless they are to `begin` with nothing."""

    target: str
    one: Deed
    other: Deed
    begin: bool = False


PAIRS = (
    Pair("index", build_index, build_index, begin=True),
    Pair("index", change_index, ask_index),
    Pair("index", change_index, change_index),
    Pair("index", change_index, look_over),
    Pair("run", evaluate, evaluate, begin=True),
    Pair("run", evaluate, read_rows, begin=True),
    Pair("run", evaluate, look_over, begin=True),
    Pair("grid", grow_grid, grow_grid, begin=True),
    Pair("grid", grow_grid, look_over, begin=True),
    Pair("recording", record, record, begin=True),
    Pair("recording", record, replay, begin=True),
    Pair("recording", record, look_over, begin=True),
    Pair("bundle", write_bundle, write_bundle, begin=True),
    Pair("bundle", write_bundle, look_over),
)


# -- side by side -----------------------------------------------------------------------------------------------------


class Came(NamedTuple):
    """Of one go of a deed: `how` is "gave", "refused" or "crashed"."""

    how: str
    what: str


def attack(count: int, seed: int, folder: Path) -> Tally:
    """`count` pairs in turn, begun at once but for a moment by chance."""
    tally, chance = Tally("damage"), random.Random(seed)
    if not count:
        return tally
    with _two() as pool:
        for number in range(count):
            pair = PAIRS[number % len(PAIRS)]
            target = next(one for one in damage.targets() if one.name == pair.target)
            place = folder / f"together-{number}" / target.place.name
            place.parent.mkdir()
            if not pair.begin:
                damage.copied(target, place.parent)
            late = chance.choice((0, 0, chance.random() * 0.3))
            work = [(deed, place, wait, deed is not pair.one) for deed, wait in ((pair.one, 0), (pair.other, late))]
            _judge(tally, pair, target, place, pool.starmap(_worked, work, chunksize=1))
    return tally


def _judge(tally: Tally, pair: Pair, target: damage.Target, place: Path, found: list[list[Came]]) -> None:
    what = f"{pair.target}: {pair.one.__name__} and {pair.other.__name__} at once"
    words = (*REFUSALS, *(NOT_YET if pair.begin or pair.target == "bundle" else ()))  # which is exchanged in two steps
    for deed, came in zip((pair.one, pair.other), found):
        for how, said in came:
            if how == "crashed":
                return tally.failed("crashed", f"{what}: {said}")
            if how == "refused" and not any(word in said for word in words):
                return tally.failed("lost", f"{what}: says {said}")
            if how == "gave" and not _known(deed, target, said):
                return tally.failed("lost", f"{what}: {deed.__name__} gave {said[:300]!r}")
    target.make(place)  # a writer that was refused may have left a passage out
    if _content(place) != _content(target.place):
        return tally.failed("lost", f"{what}: something else is left than of one after the other")
    return tally.withstood()


def _content(place: Path) -> dict[str, bytes]:
    """What is held; of an index not how it came about, nor what a reader derived, which belongs to the state that it
    read and leaves with the next build."""
    apart = ("layer.json", "manifest.json")
    held = damage.bytes_of(place).items()
    return {name: one for name, one in held if not name.endswith(apart) and not name.startswith(f"{DERIVED}/")}


def _known(deed: Deed, target: damage.Target, said: str) -> bool:
    """Whether a reading is of something that somebody had finished."""
    if deed is ask_index:
        return said in _asked()
    if deed is look_over and target.name == "recording":
        return not said or NOT_YET[0] in said
    known = _whole(deed, target).splitlines() if deed in (read_rows, replay) else ()
    return all(line in known for line in said.splitlines())


@cache
def _whole(deed: Deed, target: damage.Target) -> str:
    return deed(target.place)


@cache
def _asked() -> set[str]:
    """What the index answers, with the passage and without."""
    index = next(one for one in damage.targets() if one.name == "index")
    copy = damage.copied(index, index.place.with_name("changed").absolute())
    before = ask_index(copy)
    Index.open(copy).delete([TINY[-1].id], on_disk.RULES, progress=False)
    return {before, ask_index(copy)}


@contextmanager
def _two() -> Iterator[Pool]:
    """Two processes, which have imported what they need."""
    context = multiprocessing.get_context("forkserver")
    index = next(one for one in damage.targets() if one.name == "index").place
    with context.Pool(2, _set_up, (context.Barrier(2), index)) as pool:
        yield pool


_barrier: Barrier
_index_folder: Path


def _set_up(barrier: Barrier, index: Path) -> None:
    global _barrier, _index_folder
    _barrier, _index_folder = barrier, index
    _index()


def _worked(deed: Deed, place: Path, late: float, reads: bool) -> list[Came]:
    """What came of each go; one who reads goes on while the other may be writing."""
    _barrier.wait(120)
    time.sleep(late)
    again = reads and deed in (ask_index, read_rows, replay, look_over)
    return [_went(deed, place) for _ in range(READINGS if again else 1)]


def _went(deed: Deed, place: Path) -> Came:
    try:
        return Came("gave", deed(place))
    except WorkbenchError as error:
        return Came("refused", str(error))
    except Exception as error:
        return Came("crashed", f"{type(error).__name__}: {error}")
