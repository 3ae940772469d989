"""Recordings: an sqlite3 file of requests and replies, so that a run can be resumed, replayed and shared.

A reply is stored as good only if the request accepts it (it parsed); a bad one is stored too, to be looked at, and
never answers anything. Nothing of the key or the server's address is in the file.
"""

from __future__ import annotations

import difflib
import json
import sqlite3
import threading
from dataclasses import asdict, replace
from pathlib import Path

from workbench.errors import EngineError, RecordingMiss
from workbench.llm.call import Call, Reply, Request

_SETTINGS = ("model", "temperature", "max_tokens", "seed")
_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL,
    good INTEGER NOT NULL)"""


class Recording:
    """The file. Every write is a transaction of its own, so a killed process loses at most the reply in flight."""

    def __init__(self, path: str | Path, *, create: bool = True):
        self.path = Path(path)
        if not create and not self.path.exists():
            raise EngineError(
                f"the recording {self.path} does not exist; make one with wb.engine('openai:…', record={str(path)!r})"
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._connection.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            raise EngineError(f"{self.path} is not a recording ({error})") from None

    def get(self, request: Request) -> Reply | None:
        """The good reply to this request, if there is one."""
        with self._lock:
            row = self._connection.execute(
                "SELECT reply FROM replies WHERE key = ? AND good = 1", (request.key,)
            ).fetchone()
        return Reply(**json.loads(row[0]), recorded=True) if row else None

    def put(self, request: Request, reply: Reply, good: bool) -> None:
        stored = {name: value for name, value in asdict(reply).items() if name not in ("recorded", "seconds")}
        row = (request.key, request.step, request.model, json.dumps(request.content()), json.dumps(stored), int(good))
        with self._lock:  # a good reply is never replaced by a bad one
            self._connection.execute(
                "INSERT INTO replies VALUES (?,?,?,?,?,?) ON CONFLICT(key) "
                "DO UPDATE SET reply=excluded.reply, good=excluded.good WHERE replies.good = 0",
                row,
            )

    def requests(self, step: str | None = None, good: bool = True, limit: int = 2000) -> list[dict]:
        where, values = ("good = ? AND step = ?", [int(good), step]) if step else ("good = ?", [int(good)])
        query = f"SELECT request FROM replies WHERE {where} ORDER BY key LIMIT ?"
        with self._lock:
            return [json.loads(row[0]) for row in self._connection.execute(query, [*values, limit])]

    def models(self) -> list[str]:
        with self._lock:
            return [row[0] for row in self._connection.execute("SELECT DISTINCT model FROM replies ORDER BY model")]

    def __len__(self) -> int:
        with self._lock:
            return self._connection.execute("SELECT COUNT(*) FROM replies WHERE good = 1").fetchone()[0]

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def recording(call: Call, store: Recording) -> Call:
    """Answer from the recording what it holds, ask for the rest and record it."""

    def wrapped(request: Request) -> Reply:
        reply = store.get(request)
        if reply is None:
            reply = call(request)
            store.put(request, reply, good=request.accept(reply))
            kept = store.get(request) or reply  # another thread's answer to the same may be the one that a replay reads
            reply = replace(kept, seconds=reply.seconds, recorded=False)
        return reply

    return wrapped


def replaying(store: Recording) -> Call:
    """Answer from the recording only; a miss is an error that shows the nearest recording."""

    def wrapped(request: Request) -> Reply:
        reply = store.get(request)
        if reply is None:
            raise RecordingMiss(f"{store.path} has no answer to this {request.step!r} call. {_nearest(store, request)}")
        return reply

    return wrapped


def _nearest(store: Recording, request: Request) -> str:
    if request.content() in store.requests(request.step, good=False):
        return "The answer that it holds could not be read, so it was not kept as good."
    recorded = store.requests(request.step)
    if not recorded:
        return f"It holds no good answer of this Step at all ({len(store)} of others)."
    asked = request.messages[-1]["content"]

    def likeness(other: dict) -> float:
        return difflib.SequenceMatcher(None, asked, other["messages"][-1]["content"], autojunk=False).quick_ratio()

    nearest, content = max(recorded, key=likeness), request.content()
    differing = [name for name in _SETTINGS if nearest[name] != content[name]]
    if differing:
        said = "; ".join(f"{name} {nearest[name]!r}, asked {content[name]!r}" for name in differing)
        return f"The nearest differs in {said}"
    if nearest["schema"] != content["schema"]:
        return "The nearest differs in the schema of its answer: it was recorded with another version of the Step"
    told, wanted = ("\n".join(m["content"] for m in said["messages"]) for said in (nearest, content))
    at = next((i for i, (a, b) in enumerate(zip(told, wanted)) if a != b), min(len(told), len(wanted)))
    told, wanted = told[at : at + 80], wanted[at : at + 80]
    return f"The nearest differs from character {at} on: recorded {told!r}, asked {wanted!r}"
