"""Export: the requests that work would send next, written as a round of a batch."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from tqdm.auto import tqdm

from workbench.errors import Deferred, SettingError
from workbench.llm.batch import requests
from workbench.llm.batch.pending import Pending
from workbench.llm.batch.state import Asking, File, State, held
from workbench.llm.call import REASONING
from workbench.llm.deferring import DeferringEngine, deferring_engine
from workbench.llm.engine import split_spec
from workbench.llm.record import Recording
from workbench.records import Record
from workbench.text import counted


class Export(Record):
    """The work of the block, done as far as the recording `record` goes; its next requests become a round.

        with Export("batches/first") as export:
            wb.Index.build("meridian", export.engine("openai:gpt-4o-mini"))
        export.requests     # 0: nothing is left to ask, and the index is built

    `record` is by default `recording.sqlite` in the folder. With `retry`, failures that the recording holds are asked
    for again. A round that was submitted and is not fetched yet is not written again: :class:`SettingError`, unless
    `again`.
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

    def engine(self, spec: str) -> DeferringEngine:
        """An engine that answers from the recording, and whose other requests are exported. Its name is that of the
        engine that the SPEC names."""
        made = deferring_engine(spec, self._store, self._pending.add, retry=self.retry)
        options = split_spec(spec)[1]
        told = Asking.of(options.get("structured", "auto"), options.get("reasoning", REASONING))
        known = self._state.asking.get(made.name)
        if known is None or (known.structured, known.reasoning) != (told.structured, told.reasoning):
            self._state.asking[made.name] = told
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
        return sum(one.requests for one in self.files)

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
        if self._record is not None:
            self._told(state, os.path.relpath(self._record, self.folder))
        if not self.again and (under_way := [one for one in state.files if one.under_way]):
            raise SettingError(
                f"round {under_way[0].round} of {self.folder} is under way ({counted(len(under_way), 'file')} of it): "
                f"fetch and import it first, or ask all of it anew with --again"
            )
        self._store = Recording(state.store)
        self._stack.callback(self._store.close)
        self._pending = Pending(self._store)
        self._pending.begin()

    def _told(self, state: State, recording: str) -> None:
        if state.round and recording != state.recording:
            raise SettingError(
                f"{self.folder} goes with the recording {state.store}, not with {self._record}; choose another folder"
            )
        state.recording = recording

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> bool:
        try:
            if error is None or isinstance(error, Deferred):
                self._write()
                return True
        finally:
            self._stack.close()
        return False

    def _write(self) -> None:
        """The round: its files first, then the state that names them."""
        state = self._state
        state.round = state.read + 1
        self._pending.finish(state.round)
        state.files = [one for one in state.files if one.round < state.round and not one.under_way]
        part = state.round_folder().with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        for engine in self._pending.engines(state.round):
            self.files += self._files(part, engine)
        _replace(part, state.round_folder())
        state.files += self.files
        state.save()

    def _files(self, part: Path, engine: str) -> list[File]:
        part.mkdir(parents=True, exist_ok=True)
        asking, round = self._state.asking[engine], self._state.round
        asked = tqdm(self._pending.of(round, engine), desc="export", unit="request", disable=not self.progress)
        written = requests.split(
            (requests.line(one, asking) for one in asked),
            lambda number: part / f"requests-{number:03d}.jsonl",
            len(self.files) + 1,
        )
        return [File(round, path.name, engine, number, size) for path, number, size in written]

    def rows(self) -> list[dict[str, Any]]:
        """A row per file."""
        folder = self._state.round_folder()
        return [
            {"file": str(folder / one.name), "engine": one.engine, "requests": one.requests, "bytes": one.bytes}
            for one in self.files
        ]

    def __repr__(self) -> str:
        if not hasattr(self, "_state"):
            return f"Export({self.folder})"
        if not self.files:
            return f"Export(round {self.round}: nothing is left to ask)"
        return f"Export(round {self.round}: {counted(self.requests, 'request')} in {counted(len(self.files), 'file')})"


def _replace(part: Path, folder: Path) -> None:
    """The requests of a round by others; its results, if it has some, stay."""
    for old in folder.glob("requests-*.jsonl"):
        old.unlink()
    if part.exists():
        folder.mkdir(exist_ok=True)
        for new in sorted(part.iterdir()):
            new.replace(folder / new.name)
        part.rmdir()
