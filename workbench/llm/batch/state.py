"""What is known of the batches of a folder: `batch.json`, replaced whole at each change, which holds neither requests
nor keys; and `pending.sqlite`, the requests that wait for a reply. A row holds all that a recording says of a request,
so a result needs no more than its key. Replies go into the recording, and their requests out of the folder."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

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
_ORDER = "CREATE INDEX IF NOT EXISTS asked_in_order ON asked (round, engine, step, key)"
_ASK = """INSERT INTO asked VALUES (?,?,?,?,?)
    ON CONFLICT(key) DO UPDATE SET round = excluded.round WHERE round != excluded.round"""
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

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Asking:
        dialect = plain["dialect"] | {"refused": frozenset(plain["dialect"]["refused"])}
        return cls(**{**plain, "dialect": Dialect(**dialect)})

    def plain(self) -> dict[str, Any]:
        plain = asdict(self)
        plain["dialect"]["refused"] = sorted(self.dialect.refused)
        return plain


@dataclass
class State:
    """`round` is the last that was written, and `read` the last whose results were read."""

    folder: Path
    recording: str
    round: int = 0
    read: int = 0
    asking: dict[str, Asking] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> State:
        """Raises :class:`DataError` for a folder without, or with a damaged `batch.json`."""
        folder = Path(folder)
        path = folder / FILE
        if not path.exists():
            if create:
                return cls(folder, os.path.relpath(answers(), folder))
            raise DataError(f"{folder} holds no batch; write one with `workbench batch export {folder} VERB …`")
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["format"] > FORMAT:
                raise DataError(f"{path} has format {stored['format']}; this version reads {FORMAT}: upgrade hopscope")
            asking = {name: Asking.of_plain(options) for name, options in stored["asking"].items()}
            files = [File(**row) for row in stored["files"]]
            return cls(folder, stored["recording"], stored["round"], stored["read"], asking, files)
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{path} is damaged ({type(error).__name__}: {error}); restore it, or export into another folder "
                "with the same --record: no answer is lost"
            ) from None

    @property
    def store(self) -> Path:
        """The recording: by default that of the working folder (`workbench.places.answers`)."""
        return self.folder / self.recording

    def of_round(self, round: int | None = None) -> list[File]:
        return [file for file in self.files if file.round == (self.round if round is None else round)]

    def round_folder(self, round: int | None = None) -> Path:
        return self.folder / f"round-{self.round if round is None else round}"

    def path(self, file: File) -> Path:
        return self.round_folder(file.round) / file.name

    def results(self, round: int | None = None) -> Path:
        return self.round_folder(round) / "results"

    def save(self) -> None:
        content = {
            "format": FORMAT,
            "recording": self.recording,
            "round": self.round,
            "read": self.read,
            "asking": {name: options.plain() for name, options in self.asking.items()},
            "files": [asdict(file) for file in self.files],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def held(folder: str | Path) -> AbstractContextManager[None]:
    """The lock of a folder of batches."""
    return locked(Path(folder), SettingError(f"another process is at work in {folder}; wait until it has ended"))


# -- requests that wait ------------------------------------------------------------------------------------------------


class PendingRequest(NamedTuple):
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
    """The requests that wait. `begin` the collection of a round and `add` to it, from several threads if need be; one
    that is stopped leaves the requests of earlier rounds known."""

    def __init__(self, folder: Path, store: Recording):
        self.store, self._file = store, Recording(folder / PENDING)
        self._new, self._lock = list[tuple](), threading.Lock()
        with self._file.transaction() as connection:
            connection.execute(_TABLE)
            connection.execute(_ORDER)

    def begin(self, round: int) -> None:
        self.round = round
        with self._file.transaction() as connection:
            connection.execute("UPDATE asked SET round = ? WHERE round = ?", (_EARLIER, round))

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
        return self._column("SELECT DISTINCT engine FROM asked WHERE round = ? ORDER BY engine", [round])

    def of(self, round: int, engine: str) -> Iterator[PendingRequest]:
        """The requests of a round for an engine, grouped by Step, whatever the order they came in."""
        query = "SELECT key, request FROM asked WHERE round = ? AND engine = ? ORDER BY step, key"
        with self._file.transaction() as connection:
            for key, request in connection.execute(query, (round, engine)):
                yield PendingRequest(key, json.loads(request))

    def find(self, keys: Sequence[str]) -> dict[str, PendingRequest]:
        """Key → request, for pending requests."""
        query = f"SELECT key, request FROM asked WHERE key IN ({','.join('?' * len(keys))})"
        with self._file.transaction() as connection:
            return {key: PendingRequest(key, json.loads(request)) for key, request in connection.execute(query, keys)}

    def answered(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that the recording holds an outcome for."""
        return {row.key for row in self.store.rows(keys)}

    def keys(self, round: int) -> list[str]:
        return self._column("SELECT key FROM asked WHERE round = ? ORDER BY key", [round])

    def _column(self, query: str, values: Sequence[Any]) -> list[str]:
        with self._file.transaction() as connection:
            return [value for (value,) in connection.execute(query, values)]

    def answer(self, outcomes: Mapping[str, tuple[Reply | CallFailed, bool]]) -> None:
        """Make outcomes, by key and with whether they are good, answers of the recording: all of them, or none."""
        waiting = self.find(list(outcomes))
        self.store.keep([row_of(pending.request, *outcomes[key]) for key, pending in waiting.items()])
        with self._file.transaction() as connection:
            connection.executemany("DELETE FROM asked WHERE key = ?", [(key,) for key in waiting])

    def close(self) -> None:
        self._file.close()
