"""Export: the requests that work would send next, written as a round of a batch.

The work asks an engine that sends nothing: it answers from a recording, and what the recording does not hold waits. An
input whose reply is unknown raises `Deferred`; its siblings go on (`workbench.llm.deferrals`). So the ordinary build or
evaluation finds out by itself what it would ask next, and does all that can be done without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from workbench.display import tqdm
from workbench.errors import Deferred, SettingError
from workbench.llm.batch.state import Asking, File, Pending, State, held
from workbench.llm.call import REASONING, CallFailed, Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.endpoint import NO_KEY
from workbench.llm.engine import LIMITS, engine, split_spec
from workbench.llm.negotiation import Negotiation
from workbench.llm.record import Recording
from workbench.records import Record
from workbench.text import counted

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000  # of one file, as OpenAI takes it
URL = "/v1/chat/completions"
_OF_SENDING = ("attempts", "concurrency", "record", "timeout", *LIMITS)


class Export(Record):
    """The work of the block, done as far as the recording `record` goes; its next requests become a round.

        with Export("batches/first") as export:
            wb.Index.build("meridian", export.engine("openai:gpt-4o-mini"))
        export.requests     # 0: nothing is left to ask, and the index is built

    `record` is by default the recording of the working folder (`workbench.places.answers`). With `retry`, failures that
    it holds are asked for again. A round that was submitted and is not fetched yet is not written again:
    :class:`SettingError`, unless `again`.
    """

    def __init__(
        self,
        folder: str | Path,
        record: str | Path | None = None,
        *,
        retry: bool = False,
        again: bool = False,
        progress: bool = True,
    ):
        self.folder, self.retry, self.again, self.progress = Path(folder), retry, again, progress
        self._record, self._stack = record, ExitStack()
        self.asks = False  # whether the work has an engine whose requests are exported
        self.files: list[File] = []

    def engine(self, spec: str) -> ChatEngine:
        """An engine with the name of the one that the SPEC names. It answers from the recording, and its other requests
        are exported, one after another, because nothing is waited for. Of its options those count that decide a
        request: seed, effort, window, prompts."""
        bare, options = split_spec(spec)
        if not bare.startswith("openai:"):
            kind = bare.partition(":")[0]
            raise SettingError(f"a batch holds requests to an endpoint, openai:MODEL[@URL]; {kind!r} is none")
        given = {name: value for name, value in options.items() if name not in _OF_SENDING}
        made = cast(ChatEngine, engine(bare, **{"api_key": NO_KEY, **given, "concurrency": 1}))
        made.keep(self._store)
        deferring = Deferring(self._store, self._pending.add, retry=self.retry)
        made.ask_through(deferring, given.get("window") or self._store.window(made.name))
        made.recipe = None  # made again in another process, it would ask
        structured, reasoning = options.get("structured", "auto"), options.get("reasoning", REASONING)
        earlier = self._state.asking.get(made.name)
        if earlier is None or (earlier.structured, earlier.reasoning) != (structured, reasoning):
            self._state.asking[made.name] = Asking(structured, reasoning, Negotiation(structured).dialect)
        self.asks = True
        return made

    @property
    def round(self) -> int:
        return self._state.round

    @property
    def record(self) -> Path:
        return self._state.store

    @property
    def requests(self) -> int:
        """How many the round has; 0 when nothing is left to ask."""
        return sum(file.requests for file in self.files)

    def __enter__(self) -> Export:
        self._stack.enter_context(held(self.folder))
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _open(self) -> None:
        self._state = state = State.open(self.folder, create=True)
        recording = state.recording if self._record is None else os.path.relpath(self._record, self.folder)
        if state.round and recording != state.recording:
            raise SettingError(
                f"{self.folder} goes with the recording {state.store}, not with {self._record}; choose another folder"
            )
        state.recording = recording
        if not self.again and (under_way := [file for file in state.files if file.under_way]):
            raise SettingError(
                f"round {under_way[0].round} of {self.folder} is under way ({counted(len(under_way), 'file')} of it): "
                f"fetch and import it first, or ask all of it anew with --again"
            )
        self._store = Recording(state.store)
        self._stack.callback(self._store.close)
        self._pending = Pending(self.folder, self._store)
        self._stack.callback(self._pending.close)
        self._pending.begin(state.read + 1)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> bool:
        try:
            if error is None or isinstance(error, Deferred):
                self._write()
                return True
        finally:
            self._stack.close()
        return False

    def _write(self) -> None:
        """The round: its files first, then the state that names them; none while they are written."""
        state = self._state
        state.round = state.read + 1
        self._pending.flush()
        state.files = [file for file in state.files if file.round < state.round and not file.under_way]
        state.save()
        folder = state.round_folder(state.round)
        for old in folder.glob("requests-*.jsonl"):
            old.unlink()
        for name in self._pending.engines(state.round):
            folder.mkdir(exist_ok=True)
            waiting = self._pending.of(state.round, name)
            pending = tqdm(waiting, desc="export", unit="request", disable=not self.progress)
            lines = (line(key, request, state.asking[name]) for key, request in pending)
            for path, number, size in split(lines, folder, len(self.files) + 1):
                self.files.append(File(state.round, path.name, name, number, size))
        state.files += self.files
        state.save()

    def rows(self) -> list[dict[str, Any]]:
        """A row per file."""
        folder = self._state.round_folder(self._state.round)
        return [
            {"file": str(folder / file.name), "engine": file.engine, "requests": file.requests, "bytes": file.bytes}
            for file in self.files
        ]

    def __repr__(self) -> str:
        if not hasattr(self, "_state"):
            return f"Export({self.folder})"
        if not self.files:
            return f"Export(round {self.round}: nothing is left to ask)"
        return f"Export(round {self.round}: {counted(self.requests, 'request')} in {counted(len(self.files), 'file')})"


def line(key: str, request: Request, asking: Asking) -> bytes:
    """A request as a line, named by its key in the recording. `asking` states how its engine is asked."""
    dialect = asking.dialect
    body = dialect.arguments(request, dialect.limit(request, asking.reasoning))
    entry: dict[str, Any] = {"custom_id": key, "method": "POST", "url": URL, "body": body}
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def split(
    lines: Iterable[bytes], folder: Path, first: int, most_requests: int = MOST_REQUESTS, most_bytes: int = MOST_BYTES
) -> Iterator[tuple[Path, int, int]]:
    """Write the lines, and give (path, requests, bytes) of each file that is whole. Their numbers begin at `first`."""
    lines = iter(lines)
    following = next(lines, b"")
    for number in count(first):
        if not following:
            return
        path, requests, size = folder / f"requests-{number:03d}.jsonl", 0, 0
        with path.open("wb") as out:
            while following and requests < most_requests and (not size or size + len(following) <= most_bytes):
                out.write(following)
                requests, size, following = requests + 1, size + len(following), next(lines, b"")
        yield path, requests, size


# -- the engine that sends nothing -------------------------------------------------------------------------------------


class Deferring:
    """A call that answers, or fails, as recorded, and defers what is not recorded. With `retry`, recorded failures are
    deferred as well."""

    def __init__(self, store: Recording, collect: Callable[[Request], object], *, retry: bool = False):
        self.store, self._collect, self._retry = store, collect, retry

    def __call__(self, request: Request) -> Reply:
        outcome = self.store.get(request, bad=not self._retry)
        if outcome is None:
            self._collect(request)
            raise Deferred(1)
        if isinstance(outcome, CallFailed):
            raise outcome
        return outcome
