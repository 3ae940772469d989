"""What is known of the batches of a folder: `batch.json`, replaced whole at each change, which holds neither requests
nor keys; and `pending.sqlite`, the requests that wait for a reply. A row holds all that a recording says of a request,
so a result needs no more than its key; and why it has no answer. Replies go into the recording, and their requests out
of the folder."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from workbench.errors import DataError, SettingError
from workbench.llm.call import REASONING, CallFailed, Reply, Request
from workbench.llm.negotiation import Dialect, Negotiation
from workbench.llm.record import Recording, row_of
from workbench.places import answers, locked, write_atomically

FILE, FORMAT = "batch.json", 1
PENDING = "pending.sqlite"
ENDED = ("completed", "failed", "expired", "cancelled")  # statuses of batches that have ended
_TABLE = """CREATE TABLE IF NOT EXISTS asked (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, engine TEXT NOT NULL, request TEXT NOT NULL, round INTEGER NOT NULL)"""
_FAILURE = "ALTER TABLE asked ADD COLUMN failure TEXT NOT NULL DEFAULT ''"  # earlier versions had no such column
_ORDER = "CREATE INDEX IF NOT EXISTS asked_in_order ON asked (round, engine, step, key)"
_ASK = """INSERT INTO asked (key, step, engine, request, round) VALUES (?,?,?,?,?)
    ON CONFLICT(key) DO UPDATE SET round = excluded.round, failure = '' WHERE round != excluded.round"""
_SOME = 500  # rows of one transaction
_EARLIER = 0  # the round of requests that no round asks any more


@dataclass
class File:
    """A file of requests to one engine, and what became of it: `upload` and `batch` are the endpoint's names, `begun`
    that its batch may exist although it has no name here, `fetched` that its results are here."""

    round: int
    name: str
    engine: str
    requests: int
    bytes: int
    upload: str = ""
    begun: bool = False
    batch: str = ""
    endpoint: str = ""
    status: str = ""
    completed: int = 0
    failed: int = 0
    outputs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    fetched: bool = False

    @property
    def under_way(self) -> bool:
        return (self.begun or bool(self.batch)) and not self.fetched


@dataclass
class Asking:
    """How an engine is asked: `structured` and `reasoning` as in `openai_engine`, and the dialect that its endpoint
    accepts."""

    structured: str = "auto"
    reasoning: int = REASONING
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def negotiation(self) -> Negotiation:
        return Negotiation(self.structured, self.dialect)


class State(BaseModel):
    """`round` is the last that was written, and `read` the last whose results were read."""

    folder: Path = Field(exclude=True)
    format: int = FORMAT
    recording: str
    round: int = 0
    read: int = 0
    asking: dict[str, Asking] = {}
    files: list[File] = []

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> State:
        """Raises :class:`DataError` for a folder without, or with a damaged `batch.json`."""
        folder = Path(folder)
        path = folder / FILE
        if not path.exists():
            if create:
                return cls(folder=folder, recording=os.path.relpath(answers(), folder))
            raise DataError(f"{folder} holds no batch; write one with `workbench batch export {folder} VERB …`")
        try:
            state = cls(folder=folder, **json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{path} is damaged ({type(error).__name__}: {error}); restore it, or export into another folder "
                "with the same --record: no answer is lost"
            ) from None
        if state.format > FORMAT:
            raise DataError(f"{path} has format {state.format}; this version reads {FORMAT}: upgrade hopscope")
        return state

    @property
    def store(self) -> Path:
        """The recording: by default that of the working folder (`workbench.places.answers`)."""
        return self.folder / self.recording

    @property
    def of_round(self) -> list[File]:
        """The files of the last round."""
        return [file for file in self.files if file.round == self.round]

    def round_folder(self, round: int) -> Path:
        return self.folder / f"round-{round}"

    def results(self, round: int) -> Path:
        return self.round_folder(round) / "results"

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / FILE, self.model_dump_json(indent=1) + "\n")


def held(folder: str | Path) -> AbstractContextManager[None]:
    """The lock of a folder of batches."""
    return locked(Path(folder), SettingError(f"another process is at work in {folder}; wait until it has ended"))


# -- requests that wait ------------------------------------------------------------------------------------------------


def request_of(content: dict[str, Any]) -> Request:
    """The request that `Request.content` describes."""
    return Request(**{**content, "messages": tuple(content["messages"])})


class Pending:
    """The requests that wait. `begin` the collection of a round and `add` to it, from several threads if need be; one
    that is stopped leaves the requests of earlier rounds known. Of a request without an answer it is known why it
    `failed`."""

    def __init__(self, folder: Path, store: Recording):
        self.store, self._file = store, Recording(folder / PENDING)
        self._new, self._lock = list[tuple](), threading.Lock()
        self._do(_TABLE)
        self._do(_ORDER)
        if "failure" not in {column[1] for column in self._do("PRAGMA table_info(asked)")}:
            self._do(_FAILURE)

    def _do(self, query: str, *values: Any) -> list[tuple]:
        with self._file.transaction() as connection:
            return connection.execute(query, values).fetchall()

    def begin(self, round: int) -> None:
        self.round = round
        self._do("UPDATE asked SET round = ? WHERE round = ?", _EARLIER, round)

    def add(self, request: Request) -> None:
        row = (request.key, request.step, request.engine, json.dumps(request.content()), self.round)
        with self._lock:
            self._new.append(row)
        if len(self._new) >= _SOME:
            self.flush()

    def flush(self) -> None:
        """Write the added requests."""
        with self._lock, self._file.transaction() as connection:
            connection.executemany(_ASK, self._new)
            self._new = []

    def engines(self, round: int) -> list[str]:
        return [name for (name,) in self._do("SELECT DISTINCT engine FROM asked WHERE round = ? ORDER BY 1", round)]

    def of(self, round: int, engine: str) -> Iterator[tuple[str, Request]]:
        """Key and request of each of a round for an engine, grouped by Step, whatever the order they came in."""
        query = "SELECT key, request FROM asked WHERE round = ? AND engine = ? ORDER BY step, key"
        with self._file.transaction() as connection:
            for key, content in connection.execute(query, (round, engine)):
                yield key, request_of(json.loads(content))

    def find(self, keys: Collection[str]) -> dict[str, Request]:
        """Key → request, for pending requests."""
        rows = self._do(f"SELECT key, request FROM asked WHERE key IN ({','.join('?' * len(keys))})", *keys)
        return {key: request_of(json.loads(content)) for key, content in rows}

    def answer(self, outcomes: Mapping[str, tuple[Reply | CallFailed, bool]]) -> None:
        """Make outcomes, by key and with whether they are good, answers of the recording: all of them, or none."""
        waiting = self.find(outcomes)
        self.store.keep([row_of(request, *outcomes[key]) for key, request in waiting.items()])
        with self._file.transaction() as connection:
            connection.executemany("DELETE FROM asked WHERE key = ?", [(key,) for key in waiting])

    def fail(self, failures: Mapping[str, str]) -> None:
        """Note why requests have no answer, by key."""
        with self._file.transaction() as connection:
            connection.executemany("UPDATE asked SET failure = ? WHERE key = ?", [(w, k) for k, w in failures.items()])

    def failed(self, round: int) -> list[tuple[str, str]]:
        """Key and failure of each request of a round that has no answer; the failure is empty where there was no
        result."""
        return self._do("SELECT key, failure FROM asked WHERE round = ? ORDER BY key", round)

    def close(self) -> None:
        self._file.close()
