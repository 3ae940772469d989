"""Requests that wait for a reply: a table of the recording, which a reply leaves for the answers.

A row holds all that the recording says of a request, so a result needs no more than its key.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from workbench.llm.call import CallFailed, Reply, Request
from workbench.llm.record import KEEP, Recording, sealed, stored

_TABLE = """CREATE TABLE IF NOT EXISTS asked (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, engine TEXT NOT NULL, request TEXT NOT NULL, round INTEGER NOT NULL)"""
_ORDER = "CREATE INDEX IF NOT EXISTS asked_in_order ON asked (round, engine, step, key)"
_ASK = """INSERT INTO asked VALUES (?,?,?,?,?)
    ON CONFLICT(key) DO UPDATE SET round = excluded.round WHERE round != excluded.round"""
_WAITING = "SELECT key, step, engine, request FROM asked WHERE key = ?"
_SOME = 500  # rows of one transaction
_EARLIER, _STAGED = 0, -1  # rounds of requests that no round asks any more, and that are being collected


class Asked(NamedTuple):
    """A request that waits. `content` is what determines its answer (`Request.content`)."""

    key: str
    content: dict[str, Any]

    @property
    def request(self) -> Request:
        content = self.content
        return Request(
            content["step"], content["engine"], tuple(content["messages"]), content["schema"], content["temperature"],
            content["max_tokens"], content["seed"], content.get("effort"),
        )  # fmt: skip


class Pending:
    """The table. `begin` a collection, `add` to it, from several threads if need be, and `finish` it, which makes it a
    round: one that is stopped in between leaves the requests of earlier rounds known."""

    def __init__(self, store: Recording):
        self.store, self._new, self._lock = store, list[tuple](), threading.Lock()
        with store.transaction() as connection:
            connection.execute(_TABLE)
            connection.execute(_ORDER)

    def begin(self) -> None:
        with self.store.transaction() as connection:
            connection.execute("UPDATE asked SET round = ? WHERE round = ?", (_EARLIER, _STAGED))

    def add(self, request: Request) -> None:
        row = (request.key, request.step, request.engine, json.dumps(request.content()), _STAGED)
        with self._lock:
            self._new.append(row)
            if len(self._new) >= _SOME:
                self._write()

    def finish(self, round: int) -> None:
        with self._lock:
            self._write()
        with self.store.transaction() as connection:
            connection.execute("DELETE FROM asked WHERE round = ?", (round,))
            connection.execute("UPDATE asked SET round = ? WHERE round = ?", (round, _STAGED))

    def _write(self) -> None:
        with self.store.transaction() as connection:
            connection.executemany(_ASK, self._new)
        self._new = []

    def engines(self, round: int) -> list[str]:
        with self.store.transaction() as connection:
            found = connection.execute("SELECT DISTINCT engine FROM asked WHERE round = ? ORDER BY engine", (round,))
            return [name for (name,) in found]

    def of(self, round: int, engine: str) -> Iterator[Asked]:
        """The requests of a round for an engine, those of a Step together, whatever order they came in."""
        after = ("", "")
        while rows := self._page(round, engine, after):
            for step, key, request in rows:
                yield Asked(key, json.loads(request))
                after = (step, key)

    def _page(self, round: int, engine: str, after: tuple[str, str]) -> list[tuple]:
        query = """SELECT step, key, request FROM asked WHERE round = ? AND engine = ? AND (step, key) > (?, ?)
            ORDER BY step, key LIMIT ?"""
        with self.store.transaction() as connection:
            return connection.execute(query, (round, engine, *after, _SOME)).fetchall()

    def find(self, keys: Sequence[str]) -> dict[str, Asked]:
        """Key → request, of those that wait."""
        query = f"SELECT key, request FROM asked WHERE key IN ({','.join('?' * len(keys))})"
        with self.store.transaction() as connection:
            return {key: Asked(key, json.loads(request)) for key, request in connection.execute(query, keys)}

    def answered(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that the recording holds an outcome for."""
        query = f"SELECT key FROM replies WHERE key IN ({','.join('?' * len(keys))})"
        with self.store.transaction() as connection:
            return {key for (key,) in connection.execute(query, keys)}

    def keys(self, round: int) -> list[str]:
        query = "SELECT key FROM asked WHERE round = ? ORDER BY key"
        with self.store.transaction() as connection:
            return [key for (key,) in connection.execute(query, (round,))]

    def answer(self, outcomes: Iterable[tuple[str, Reply | CallFailed, bool]]) -> None:
        """Make outcomes, each with its key and whether it is good, answers of the recording: all of them, or none."""
        with self.store.transaction() as connection:
            for key, outcome, good in outcomes:
                if waits := connection.execute(_WAITING, (key,)).fetchone():
                    connection.execute(KEEP, sealed((*waits, json.dumps(stored(outcome)), int(good))))
                    connection.execute("DELETE FROM asked WHERE key = ?", (key,))
