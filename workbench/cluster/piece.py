"""One piece of work in a worker's process: its result, and the requests that it made of engines."""

from __future__ import annotations

import os
import pickle
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench import source, threads
from workbench.errors import ClusterFault
from workbench.index.building import versions
from workbench.llm.call import CallFailed, Reply, Request
from workbench.llm.meter import Budget, Meter, collect, note_answer
from workbench.llm.record import Recording, Row, checked, row_of
from workbench.llm.step import Usage

T = TypeVar("T")
THREADS = "threads"
KEPT = 8  # objects that a worker keeps for further pieces: work, engines, indexes


class Packed(NamedTuple):
    """Work as it travels: a pickle in which engines, encoders, indexes and methods stand by what they are made of
    (`hands.py`), and the `conditions` under which it has the same results."""

    content: bytes
    conditions: Mapping[str, str]


@dataclass
class EngineReport:
    """What a piece asked of one engine: its usage by Step, the configurations of servers, what requests were sent
    without, and the rows for its recording."""

    steps: dict[str, Usage] = field(default_factory=dict)
    fingerprints: dict[str, set[str]] = field(default_factory=dict)
    sent: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)


class Outcome(NamedTuple):
    """The value of a piece, or its error; what it asked of engines, by their keys; what it spent of each budget
    (money, tokens, calls); recording → keys of the requests that it answered."""

    value: Any
    error: Exception | None
    reports: dict[str, EngineReport]
    spent: tuple[tuple[float, int, int], ...]
    answers: Mapping[Path, set[str]]


class _Doing:
    """The piece under way in a thread, and in the threads that it starts."""

    def __init__(self, budgets: Sequence[Budget], answered: Mapping[str, Sequence[Row]]):
        self.budgets, self._lock = budgets, threading.Lock()
        self.meters: dict[str, Meter] = {}
        self.answered = {engine: {row.key: row for row in rows} for engine, rows in answered.items()}
        self.rows: dict[str, dict[str, Row]] = {}

    def meter(self, engine: str) -> Meter:
        with self._lock:
            return self.meters.setdefault(engine, Meter(apart=True))

    def keep(self, engine: str, rows: Sequence[Row]) -> None:
        """Keep rows for the recording; a bad row never replaces a good one."""
        with self._lock:
            mine = self.rows.setdefault(engine, {})
            mine.update({row.key: row for row in rows if row.key not in mine or row.good})

    def row(self, engine: str, key: str) -> Row | None:
        """The answer to a request of this piece, from this attempt or an earlier one."""
        with self._lock:
            return self.rows.get(engine, {}).get(key) or self.answered.get(engine, {}).get(key)

    def reports(self) -> dict[str, EngineReport]:
        made = {}
        for key in {**self.meters, **self.rows}:
            meter = self.meters.get(key, Meter(apart=True))
            sent = tuple(getattr(_made.get(key), "sent", ()))
            made[key] = EngineReport(dict(meter.steps), meter.fingerprints, sent, list(self.rows.get(key, {}).values()))
        return made


_doing: ContextVar[_Doing | None] = ContextVar("doing", default=None)


def run(
    packed: Packed,
    piece: Any,
    side: int = 1,
    shares: Sequence[Mapping[str, Any]] = (),
    answered: Mapping[str, Sequence[Row]] = {},
) -> Outcome:
    """Do one piece, when fewer than `side` others are under way in this process. `shares` are the limits of its part of
    each budget; `answered` are the answers of an earlier attempt (engine → rows of its recording)."""
    mark = object()
    _begun.add(mark)
    try:
        with _place(side):
            return _done(packed, piece, shares, answered)
    finally:
        _begun.discard(mark)


_begun: set[object] = set()


def under_way() -> int:
    """How many pieces this process has taken, including those that wait for a place."""
    return len(_begun)


@cache
def _place(side: int) -> threading.Semaphore:
    return threading.Semaphore(side)


def _done(packed: Packed, piece: Any, shares: Sequence[Mapping], answered: Mapping[str, Sequence[Row]]) -> Outcome:
    doing = _Doing([Budget(**share) for share in shares], answered)
    token = _doing.set(doing)
    value, error, usage = None, None, Meter(apart=True)
    try:
        check(packed.conditions)
        work = reused(f"work {hash(packed.content)}", lambda: pickle.loads(packed.content))
        with collect(usage):
            value = work(piece)
    except Exception as raised:
        error = _portable(raised)
    finally:
        _doing.reset(token)
    spent = tuple((budget.money, budget.tokens, budget.calls) for budget in doing.budgets)
    return Outcome(value, error, doing.reports(), spent, usage.answers)


def _portable(error: Exception) -> Exception:
    """The error itself where it survives the way back, with what caused it left out."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ClusterFault(f"{type(error).__name__}: {error}")
    return error


# -- what a process keeps from piece to piece --------------------------------------------------------------------------

_cache: OrderedDict[str, Any] = OrderedDict()
_made: dict[str, Any] = {}  # key → engine or encoder that is asked in this process
_making = threading.RLock()


def reused(name: str, make: Callable[[], T]) -> T:
    """What was made under this name before, or is made now; the least recently used are dropped."""
    with _making:
        if name not in _cache:
            _cache[name] = make()
        _cache.move_to_end(name)
        while len(_cache) > KEPT:
            _cache.popitem(last=False)
        return _cache[name]


def opened_engine(key: str, make: Callable[[], T], record: Path | None, limited: int | None) -> T:
    """An engine, or an encoder behind an endpoint, of this process. It answers from the recording `record`, to which
    only the process that hands out pieces writes; `limited` is the place of its budget among those of a piece."""
    with _making:
        if key in _made:
            return _made[key]
        engine = make()
        if limited is not None:
            engine.limit(_Share(limited))
        if record is not None or limited is not None:
            engine.keep(Carried(key, record))
        engine.meter = _PieceMeter(key)
        _made[key] = engine
        return engine


class _PieceMeter(Meter):
    """A meter that also counts for the piece under way."""

    def __init__(self, key: str):
        super().__init__()
        self._key = key

    def add(self, step: str, usage: Usage) -> None:
        super().add(step, usage)
        if (doing := _doing.get()) is not None:
            doing.meter(self._key).add(step, usage)

    def served(self, engine: str, fingerprint: str) -> None:
        super().served(engine, fingerprint)
        if (doing := _doing.get()) is not None:
            doing.meter(self._key).served(engine, fingerprint)


class _Share:
    """Stands for the part of a budget that the piece under way may spend."""

    max_money = None  # the price was checked where the budget is

    def __init__(self, place: int):
        self._place = place

    def begin(self) -> None:
        _doing.get().budgets[self._place].begin()

    def spend(self, engine: str, request: Request, reply: Reply) -> None:
        _doing.get().budgets[self._place].spend(engine, request, reply)


class Carried(Recording):
    """In place of a recording: it answers from what the piece was answered, then from a file that is only read. What is
    put into it travels back with the piece."""

    def __init__(self, key: str, file: Path | None):
        self.path, self._key, self._file = file or Path(), key, file and _readable(file)
        self._reading = threading.Lock()

    def get(self, request: Request, *, bad: bool = False) -> Reply | CallFailed | None:
        doing = _doing.get()
        row = (doing and doing.row(self._key, request.key)) or self._of_file(request.key)
        if not row or not (bad or row.good):
            return None
        self._note(request.key)
        return checked(self.path, request, row)

    def _note(self, key: str) -> None:
        if self._file is not None:
            note_answer(self.path, key)

    def put_all(self, outcomes: Any, good: bool) -> None:
        if (doing := _doing.get()) is not None:
            rows = [row_of(request, outcome, good) for request, outcome in outcomes]
            doing.keep(self._key, rows)
            for row in rows:
                self._note(row.key)

    def keep_window(self, engine: str, window: int | None) -> None:
        """The process that hands out pieces keeps it."""

    def close(self) -> None:
        """The file is only read."""

    def _of_file(self, key: str) -> Row | None:
        if self._file is None:
            return None
        with self._reading:
            row = self._file.execute(f"SELECT {', '.join(Row._fields)} FROM replies WHERE key = ?", (key,)).fetchone()
        return row and Row._make(row)


def _readable(file: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, check_same_thread=False, isolation_level=None)
    except sqlite3.Error as error:
        raise ClusterFault(
            f"a worker cannot read the recording {file} ({error}); recordings, indexes and runs must be in folders "
            "that all workers see under the same path"
        ) from None


def conditions() -> dict[str, str]:
    """The code of the package, the versions of what can change a result, and the number of torch's threads."""
    return {**_installed(), THREADS: str(threads.cores())}


def check(wanted: Mapping[str, str]) -> None:
    """Compute with as many threads as the process that asks, because the last bits of vectors depend on them. Raises
    :class:`ClusterFault` if a package has another version here."""
    mine = _installed()
    if differing := [name for name, version in wanted.items() if name != THREADS and mine.get(name) != version]:
        name = differing[0]
        raise ClusterFault(
            f"a worker has another version of {name} ({mine.get(name, 'none')}) than the process that asks "
            f"({wanted[name]}), and its results may differ; install the same on all workers"
        )
    if wanted[THREADS] != str(threads.cores()):
        os.environ["WORKBENCH_THREADS"] = wanted[THREADS]


@cache
def _installed() -> dict[str, str]:
    return {**versions(), "hopscope's code": source.package_hash()}
