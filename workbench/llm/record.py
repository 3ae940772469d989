"""Recordings: an sqlite3 file of requests and their outcomes, so that a run can be resumed, replayed and shared.

A reply is good if the request accepts it (it parsed). Failures are stored too: an unreadable reply, or the message of a
failed call. A replay repeats a failure, because it is part of the run; a recording run retries it. The file holds one
outcome per request, the last one, and a good one is never replaced. It contains neither the key nor the server's
address. When an outcome was stored is known, for `forget`, and is no part of its key.

SQLite does not notice a bit that flips in a text, and a file that grows by one reply at a time, in several processes,
has no checksum of the whole: each row has one.
"""

from __future__ import annotations

import difflib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from workbench import places
from workbench.errors import DataError, EngineError, RecordingMiss
from workbench.integrity import SUM, checksum
from workbench.llm.call import EMBEDDING, Call, CallFailed, Reply, Request
from workbench.llm.meter import note_answer
from workbench.spread import by_size
from workbench.text import counted

FORMAT = 3  # `PRAGMA user_version`; 0 in files that do not say it
DAY = 86_400  # seconds
_SOME = 500  # keys of one query
_SETTINGS = ("engine", "temperature", "max_tokens", "seed", "dimensions")
_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, engine TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL,
    good INTEGER NOT NULL, sum TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL DEFAULT 0)"""
_WINDOWS = "CREATE TABLE IF NOT EXISTS windows (engine TEXT PRIMARY KEY, window INTEGER)"
# A good reply is never replaced by a bad one.
_KEEP = """INSERT INTO replies (key, step, engine, request, reply, good, sum, at) VALUES (?,?,?,?,?,?,?,?)
    ON CONFLICT(key) DO UPDATE SET reply = excluded.reply, good = excluded.good, sum = excluded.sum, at = excluded.at
    WHERE replies.good = 0"""
_SUMMARY = """SELECT engine, step, SUM(good) AS answers, SUM(1 - good) AS failures,
    COALESCE(SUM(json_extract(reply, '$.finish') = 'length'), 0) AS cut,
    COALESCE(SUM(json_extract(reply, '$.prompt_tokens')), 0) AS prompt_tokens,
    COALESCE(SUM(json_extract(reply, '$.completion_tokens')), 0) AS completion_tokens, {since} AS since
    FROM replies GROUP BY engine, step ORDER BY engine, step"""


class Row(NamedTuple):
    """A line of the file, without the time; `sum` is the checksum of the other columns, empty in lines that an earlier
    version wrote."""

    key: str
    step: str
    engine: str
    request: str
    reply: str
    good: int
    sum: str = ""

    @property
    def is_sound(self) -> bool:
        return not self.sum or self.sum == checksum(json.dumps(self[:-1]).encode())


class Recording:
    """The file. Every write is a separate transaction, so a killed process loses at most the reply in flight. One that
    is opened `late` is made at the first request."""

    def __init__(self, path: str | Path, *, create: bool = True, late: bool = False):
        self.path = Path(path)
        if not create and not self.path.exists():
            raise EngineError(
                f"the recording {self.path} does not exist; make one with wb.engine('openai:…', record={str(path)!r}) "
                f"or --record {path}"
            )
        self._lock, self._writes = threading.RLock(), create
        if not late:
            self._connection  # noqa: B018 (what cannot be used is an error here)

    @classmethod
    def of(cls, path: str | Path | None) -> Recording:
        """The recording in a file; by default the one of the working folder (`workbench.places.answers`)."""
        return cls(path) if path else cls(places.answers(), late=True)

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        if self.path.is_dir():
            raise EngineError(f"{self.path} is not a recording: it is a folder, and a recording is one file")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if self._writes and version < FORMAT:
                _bring_up_to_date(connection)
            connection.execute("SELECT engine FROM replies LIMIT 0")  # fails if it is another program's file
        except sqlite3.DatabaseError as error:
            if not self.path.stat().st_size:
                raise EngineError(f"{self.path} is empty: nothing is recorded in it yet, or it was cut off") from None
            what = f"{self.path} is not a recording, or it is damaged ({error})"
            raise EngineError(f"{what}. {_advice(self.path)}") from None
        if version > FORMAT:
            raise EngineError(
                f"{self.path} has recording format {version}; this version reads up to {FORMAT}: upgrade hopscope"
            )
        return connection

    @cached_property
    def columns(self) -> str:
        """Those of a `Row`. A file of an earlier version that is only read has no checksums."""
        names = {row[1] for row in self._connection.execute("PRAGMA table_info(replies)")}
        return ", ".join(name if name in names else "''" for name in Row._fields)

    def made(self) -> Path:
        """The path of the file, which is there now."""
        with self._use():
            return self.path

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        """The connection; one thread at a time uses it."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.OperationalError as error:
                if "malformed" not in str(error):  # a locked file, a full disk
                    raise EngineError(f"{self.path} cannot be used: {error}. Its answers are kept; try again") from None
                raise EngineError(f"{self.path} is damaged ({error}). {_advice(self.path)}") from None
            except sqlite3.DatabaseError as error:
                raise EngineError(f"{self.path} is damaged ({error}). {_advice(self.path)}") from None

    def get(self, request: Request, *, bad: bool = False) -> Reply | CallFailed | None:
        """The good reply to this request, if there is one; with `bad` also a bad one, or a failed call."""
        row = next(self.rows([request.key]), None)
        if row is None or not (bad or row.good):
            return None
        note_answer(self.path.absolute(), request.key)
        return checked(self.path, request, row)

    def rows(self, keys: Iterable[str]) -> Iterator[Row]:
        """The rows of the keys with an outcome in the file."""
        keys = list(keys)
        for at in range(0, len(keys), _SOME):
            some = keys[at : at + _SOME]
            with self._use() as connection:
                query = f"SELECT {self.columns} FROM replies WHERE key IN ({','.join('?' * len(some))}) ORDER BY key"
                rows = connection.execute(query, some).fetchall()
            yield from map(Row._make, rows)

    def put(self, request: Request, outcome: Reply | CallFailed, good: bool) -> None:
        self.put_all([(request, outcome)], good)

    def put_all(self, outcomes: Iterable[tuple[Request, Reply | CallFailed]], good: bool) -> None:
        """Write all outcomes, or none, in one transaction."""
        rows = [row_of(request, outcome, good) for request, outcome in outcomes]
        self.keep(rows)
        for row in rows:
            note_answer(self.path.absolute(), row.key)

    def keep(self, rows: Sequence[Row]) -> None:
        """Rows as `row_of` gives them, all or none."""
        now = int(time.time())
        with self.transaction() as connection:
            connection.executemany(_KEEP, [(*row, now) for row in rows])

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection, for changes that are made all or none."""
        with self._use() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def requests(self, step: str, limit: int = 2000) -> list[dict]:
        with self._use() as connection:
            query = f"SELECT {self.columns} FROM replies WHERE step = ? ORDER BY key LIMIT ?"
            rows = connection.execute(query, (step, limit)).fetchall()
        return [json.loads(row.request) for row in map(Row._make, rows) if row.is_sound]

    def engines(self) -> list[str]:
        """The chat models whose answers the file holds; it may hold vectors of encoders as well."""
        query = "SELECT DISTINCT engine FROM replies WHERE step != ? ORDER BY engine"
        with self._use() as connection:
            return [row[0] for row in connection.execute(query, (EMBEDDING,))]

    def window(self, engine: str) -> int | None:
        """The window of a model when it was recorded: contexts were cut to it, so a replay has to do the same."""
        with self._use() as connection:
            row = connection.execute("SELECT window FROM windows WHERE engine = ?", (engine,)).fetchone()
        return row and row[0]

    def keep_window(self, engine: str, window: int | None) -> None:
        with self._use() as connection:
            connection.execute("INSERT OR REPLACE INTO windows VALUES (?, ?)", (engine, window))

    def summary(self) -> list[dict]:
        """The contents of the file: a row per engine and Step; `since` is the day on which the oldest was stored, None
        in a file of an earlier version."""
        with self._use() as connection:
            timed = "''" not in self.columns
            cursor = connection.execute(_SUMMARY.format(since="DATE(MIN(at), 'unixepoch')" if timed else "NULL"))
            return [dict(zip([column[0] for column in cursor.description], row)) for row in cursor]

    def forget(self, engine: str | None = None, *, older: float = 0.0) -> int:
        """Take out what an engine, named as in `summary`, or each was asked, as far as it was stored more than `older`
        days ago; how many requests that were. What an earlier version stored is as old as its first use by this one."""
        with self.transaction() as connection:
            before = time.time() - older * DAY if older else float("inf")
            query = "DELETE FROM replies WHERE at < ? AND engine = COALESCE(?, engine)"
            return connection.execute(query, (before, engine)).rowcount

    def __len__(self) -> int:
        with self._use() as connection:
            return connection.execute("SELECT COUNT(*) FROM replies WHERE good = 1").fetchone()[0]

    def damaged(self) -> list[str]:
        """Keys of the replies that differ from what was recorded. Raises :class:`EngineError` if the file is too
        damaged to list them."""
        with self._use() as connection:
            if (verdict := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                raise EngineError(f"{self.path} is damaged ({' '.join(verdict.split())}). {_advice(self.path)}")
            rows = map(Row._make, connection.execute(f"SELECT {self.columns} FROM replies"))
            return [row.key for row in rows if not row.is_sound]

    def close(self) -> None:
        with self._lock:
            if "_connection" in vars(self):
                self._connection.close()


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    """The tables of this version, in a new file or one of format 2. Its lines get the time of now."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        connection.execute(_TABLE)
    columns = {row[1] for row in connection.execute("PRAGMA table_info(replies)")}
    if columns:  # otherwise another program wrote it
        connection.execute(_WINDOWS)
        for name, kind in (("sum", "TEXT NOT NULL DEFAULT ''"), ("at", f"INTEGER NOT NULL DEFAULT {int(time.time())}")):
            if name not in columns:
                connection.execute(f"ALTER TABLE replies ADD COLUMN {name} {kind}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def recording(call: Call, store: Recording) -> Call:
    """Answer from the recording if possible; otherwise send the request and record its outcome, unless it is of a
    recording itself."""

    def wrapped(request: Request) -> Reply:
        if (reply := store.get(request)) is not None:
            return reply
        try:
            outcome = call(request)
        except CallFailed as error:
            if not error.recorded:
                store.put(request, error, good=False)
            raise
        if outcome.recorded:
            return outcome
        store.put(request, outcome, good=request.accept(outcome))
        stored = store.get(request) or outcome  # a replay may read another thread's answer to the same request
        return replace(stored, seconds=outcome.seconds, recorded=False)

    return wrapped


def recording_each(
    call: Callable[[Sequence[Request]], Sequence[Reply]], store: Recording
) -> Callable[[Sequence[Request]], list[Reply]]:
    """As `recording`, for a call that answers several requests at once, all or none: only requests without a record are
    sent."""

    def wrapped(requests: Sequence[Request]) -> list[Reply]:
        outcomes = {request.key: store.get(request) for request in requests}
        missing = [request for request in requests if outcomes[request.key] is None]
        if missing:
            replies = call(missing)
            store.put_all(zip(missing, replies), good=True)
            for request, reply in zip(missing, replies):
                stored = store.get(request) or reply
                outcomes[request.key] = replace(stored, seconds=reply.seconds, recorded=False)
        return [outcomes[request.key] for request in requests]

    return wrapped


def replaying(store: Recording) -> Call:
    """Answer, or fail, as recorded; a miss is an error that shows the nearest recording."""

    def wrapped(request: Request) -> Reply:
        outcome = store.get(request, bad=True)
        if outcome is None:
            raise RecordingMiss(f"{store.path} has no answer to this {request.step!r} call. {_nearest(store, request)}")
        if isinstance(outcome, CallFailed):
            raise outcome
        return outcome

    return wrapped


def stored(outcome: Reply | CallFailed) -> dict[str, Any]:
    """The stored form of an outcome."""
    if isinstance(outcome, CallFailed):
        return {"failed": str(outcome)}
    of_all = ("text", "finish", "prompt_tokens", "completion_tokens")
    of_some = ("fingerprint", "reasoning", "reasoning_tokens", "sent")
    return {name: value for name in (*of_all, *of_some) if (value := getattr(outcome, name)) or name in of_all}


def row_of(request: Request, outcome: Reply | CallFailed, good: bool) -> Row:
    """The line of the file for a request and its outcome."""
    content, reply = json.dumps(request.content()), json.dumps(stored(outcome))
    row = Row(request.key, request.step, request.engine, content, reply, int(good))
    return row._replace(sum=checksum(json.dumps(row[:-1]).encode()))


def checked(path: Path, request: Request, row: Row) -> Reply | CallFailed:
    """The outcome of a row. Raises :class:`EngineError` if it is not the one recorded for this request."""
    if row.key == request.key and row.is_sound:
        with suppress(ValueError, TypeError, AttributeError):
            content = json.loads(row.reply)
            content.pop(SUM, None)  # of an earlier version
            failed = content.get("failed")
            return CallFailed(failed, recorded=True) if failed is not None else Reply(**content, recorded=True)
    raise EngineError(
        f"{path} is damaged: its reply to a {request.step!r} call is not what was recorded; take it out, and it is "
        f"asked for again: {taken_out(path, request.key)}"
    )


def taken_out(path: Path, key: str) -> str:
    """The command that takes a reply out of a recording."""
    return f"sqlite3 {path} \"DELETE FROM replies WHERE key = '{key}'\""


def _advice(path: Path) -> str:
    return f"Record into another file; `sqlite3 {path} .recover` writes what can still be read as SQL"


def _nearest(store: Recording, request: Request) -> str:
    prompt = request.messages[-1]["content"]

    def likeness(other: dict) -> float:
        return difflib.SequenceMatcher(None, prompt, other["messages"][-1]["content"], autojunk=False).quick_ratio()

    nearest, content = max(store.requests(request.step), key=likeness, default=None), request.content()
    if nearest is None:
        return f"It holds no answer of this Step at all ({len(store)} of others)."
    if differing := [name for name in _SETTINGS if nearest.get(name) != content.get(name)]:
        differences = "; ".join(f"{name} {nearest.get(name)!r}, asked {content.get(name)!r}" for name in differing)
        return f"The nearest differs in {differences}"
    if nearest["schema"] != content["schema"]:
        return "The nearest differs in the schema of its answer: it was recorded with another version of the Step"
    texts = ["\n".join(message["content"] for message in either["messages"]) for either in (nearest, content)]
    at = next((i for i, (a, b) in enumerate(zip(*texts)) if a != b), min(map(len, texts)))
    theirs, wanted = (text[at : at + 80] for text in texts)
    return f"The nearest differs from character {at} on: recorded {theirs!r}, asked {wanted!r}"


# -- what an index or a run used --------------------------------------------------------------------------------------


def noted(answers: Mapping[Path, Collection[str]], folder: Path) -> dict[str, list[str]]:
    """Recording → keys of answers, as a line of a file in `folder` has them; recordings by their place from there."""
    return {_from(folder, path): sorted(keys) for path, keys in sorted(answers.items())}


def used(lines: Iterable[Mapping[str, Any]], folder: Path) -> dict[Path, set[str]]:
    """Recording → keys of the answers that lines of a file in `folder` note, under `answers`."""
    recordings: dict[Path, set[str]] = {}
    try:
        for line in lines:
            for name, keys in line.get("answers", {}).items():
                recordings.setdefault(Path(os.path.normpath(folder / name)), set()).update(keys)
    except (AttributeError, TypeError) as error:
        raise DataError(f"what {folder} says of its answers is damaged ({error}); make it again") from None
    return recordings


def in_a_line(recordings: Mapping[Path, Collection[str]]) -> str:
    """What an index or a run used, in words; empty where that is nothing."""
    return ", ".join(f"{counted(len(keys), 'answer')} of {path.name}" for path, keys in recordings.items())


def export(recordings: Mapping[Path, Collection[str]], into: str | Path) -> int:
    """Copy these answers (recording → keys, as `run.recordings` and `index.recordings` have them) into the recording
    `into`, from which the same can be replayed; how many they are. Raises :class:`EngineError` if some are not there
    any more, and then copies none."""
    with ExitStack() as opened:
        stores = {path: opened.enter_context(closing(Recording(path, create=False))) for path in recordings}
        for path, keys in recordings.items():
            if absent := len(set(keys)) - sum(1 for _ in stores[path].rows(keys)):
                raise EngineError(
                    f"{path} does not hold {absent:,} of the {len(keys):,} answers any more; without them nothing can "
                    "be replayed: make the index or the run again, which asks for them"
                )
        target = opened.enter_context(closing(Recording(into)))
        for path, keys in recordings.items():
            for some in by_size(sorted(keys), _SOME):
                rows = list(stores[path].rows(some))
                target.keep(rows)
                for engine in {row.engine for row in rows}:
                    target.keep_window(engine, stores[path].window(engine))
    return sum(map(len, recordings.values()))


def _from(folder: Path, path: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another disk of Windows
        return str(path)
