"""Submits the files of a round to an endpoint's batch API, follows their progress, and fetches their results.

What was submitted is written down at once, so the same command goes on where it was stopped and submits nothing twice.
Only the client holds the key, and all that comes back is freed of it.

Protocol: https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from workbench.display import tqdm
from workbench.errors import DataError, EngineError, SettingError
from workbench.llm.batch.export import URL
from workbench.llm.batch.state import ENDED, File, State, held
from workbench.llm.call import CallFailed, retrying
from workbench.llm.endpoint import connect, where

_LINE, _RESULT = 32_000_000, 1_000_000  # bytes of a line of a file, and of a result on average, at most
_OFTEN = 60.0  # seconds between two looks at batches that are waited for
_NO_BATCHES = "the endpoint's answer is not one of a batch API"


def submit(
    folder: str | Path, base_url: str | None = None, api_key: str | None = None, *, progress: bool = True, **sending
) -> list[File]:
    """Upload the files of the last round to the endpoint at `base_url` (OPENAI_BASE_URL, or OpenAI's own) and begin a
    batch for each. Files that were submitted are left alone. `sending` are `timeout` and `attempts`, as in
    `openai_engine`. Raises :class:`EngineError` where the endpoint fails; what was submitted stays submitted."""
    with _at_work(folder, base_url, api_key, sending) as (state, endpoint):
        files = state.of_round
        if not files:
            raise DataError(f"round {state.round} of {folder} has no requests; export them first")
        if state.read == state.round:
            raise DataError(
                f"the results of round {state.round} of {folder} were imported; export the next round first"
            )
        for file in tqdm(files, desc="submit", unit="file", disable=not progress):
            if not file.batch:
                _submit(state, endpoint, file)
        return files


def fetch(
    folder: str | Path,
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    wait: bool = False,
    often: float = _OFTEN,
    progress: bool = True,
    **sending,
) -> list[File]:
    """Download the results of batches that have ended, complete or not; those of the others are left for later, or
    waited for, with a look every `often` seconds. Gives the files of the last round."""
    with _at_work(folder, base_url, api_key, sending) as (state, endpoint):
        mine = [file for file in state.of_round if file.batch]
        if not mine:
            raise DataError(f"round {state.round} of {folder} is not submitted; workbench batch submit {folder}")
        with tqdm(total=len(mine), desc="fetch", unit="file", disable=not progress) as bar:
            while True:
                for file in mine:
                    if not file.fetched:
                        endpoint.look(file)
                        state.save()
                    if not file.fetched and file.status in ENDED:
                        _fetch(state, endpoint, file)
                bar.update(sum(file.fetched for file in mine) - bar.n)
                if not wait or all(file.fetched for file in mine):
                    return state.of_round
                time.sleep(often)


@contextmanager
def _at_work(folder, base_url, api_key, sending) -> Iterator[tuple[State, BatchEndpoint]]:
    with held(folder):
        state, endpoint = State.open(folder), BatchEndpoint(base_url, api_key, **sending)
        try:
            elsewhere = {file.endpoint for file in state.files if file.under_way} - {endpoint.address}
            if elsewhere:
                raise SettingError(
                    f"{folder} was submitted to {min(elsewhere)}, not to {endpoint.address}; name the first as base_url"
                )
            yield state, endpoint
        finally:
            endpoint.close()


def _submit(state: State, endpoint: BatchEndpoint, file: File) -> None:
    """One step after the other, each written down before the next."""
    if not file.upload:
        file.upload = endpoint.upload(state.round_folder(file.round) / file.name)
        file.endpoint = endpoint.address
        state.save()
    maybe_begun, file.begun = file.begun, True
    state.save()
    endpoint.begin(file, maybe_begun=maybe_begun)
    state.save()


def _fetch(state: State, endpoint: BatchEndpoint, file: File) -> None:
    folder = state.results(file.round)
    folder.mkdir(parents=True, exist_ok=True)
    for number, output in enumerate(file.outputs, 1):
        endpoint.download(output, folder / f"{Path(file.name).stem}-{number}.jsonl", file.requests)
    file.fetched = True
    state.save()


# -- the endpoint ------------------------------------------------------------------------------------------------------


class BatchEndpoint:
    """Every request is repeated after transient faults, as for engines. Raises :class:`EngineError`."""

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, timeout: float = 120.0, attempts: int = 5
    ):
        self._connection = connect(base_url, api_key, timeout)
        self.blot = self._connection.blot
        self.address = self.blot(where(str(self._connection.client.base_url)))
        self._attempts = attempts

    def upload(self, path: Path) -> str:
        """The endpoint's name of the file, now that it is there."""

        def send(client: Any) -> Any:
            with path.open("rb") as file:
                return client.files.create(file=(path.name, file), purpose="batch")

        return self._name(self._ask(send))

    def begin(self, file: File, *, maybe_begun: bool) -> None:
        """Begin the batch of an uploaded file. One that may have begun before is looked for first, and so it is after a
        fault, because the endpoint may have begun it and not been able to say so."""
        look = maybe_begun

        def send(client: Any) -> Any:
            nonlocal look
            batches = client.batches.list(limit=100) if look else ()
            look = True
            begun = next((batch for batch in batches if batch.input_file_id == file.upload), None)
            return begun or client.batches.create(input_file_id=file.upload, endpoint=URL, completion_window="24h")

        self._note(file, self._ask(send))

    def look(self, file: File) -> None:
        self._note(file, self._ask(lambda client: client.batches.retrieve(file.batch)))

    def download(self, file: str, to: Path, requests: int) -> None:
        """Write a file with the results of so many requests, which gets its name when it is whole."""
        part = to.with_name(f"{to.name}.part")

        def send(client: Any) -> None:
            with client.files.with_streaming_response.content(file) as response, part.open("wb") as out:
                rest = b""
                for chunk in chain(self._received(response, requests * _RESULT + _LINE), [b"\n"]):
                    *lines, rest = (rest + chunk).split(b"\n")  # a key may stand in two chunks, but in no two lines
                    out.writelines(self.blot(line.decode("utf-8", "replace")).encode() + b"\n" for line in lines)
                    if len(rest) > _LINE:
                        raise CallFailed(f"{_NO_BATCHES}: a line of the file has more than {_LINE:,} bytes")

        self._ask(send)
        os.replace(part, to)

    def close(self) -> None:
        self._connection.client.close()

    def _ask(self, send: Callable[[Any], Any]) -> Any:
        def ask(_: None) -> Any:
            return self._connection.ask("this file or batch", _NO_BATCHES, send)

        try:
            return retrying(ask, attempts=self._attempts)(None)
        except CallFailed as error:
            raise EngineError(str(error)) from None

    def _received(self, response: Any, most: int) -> Iterator[bytes]:
        """The bytes of a download. What breaks it off is of the HTTP library, and the client leaves it to us."""
        import openai

        from workbench.llm.transport import Unacceptable, bounded

        request, begun = response.http_request, time.monotonic()
        try:
            yield from bounded(response.iter_bytes(), request, most, begun, self._connection.timeout)
        except Unacceptable as error:
            raise CallFailed(f"the file of results is not read: {error}") from None
        except Exception as error:
            raise openai.APIConnectionError(message=str(error), request=request) from error

    def _name(self, response: Any) -> str:
        name = getattr(response, "id", None)
        if not _is_name(name):
            raise EngineError(f"{_NO_BATCHES}: it has no id")
        return self.blot(name)

    def _note(self, file: File, batch: Any) -> None:
        """Update what the endpoint reports about a batch."""
        counts, errors = getattr(batch, "request_counts", None), getattr(getattr(batch, "errors", None), "data", None)
        outputs = (getattr(batch, name, None) for name in ("output_file_id", "error_file_id"))
        status = getattr(batch, "status", None)
        if not isinstance(status, str):
            raise EngineError(f"{_NO_BATCHES}: the batch has no status")
        file.batch, file.status = self._name(batch), self.blot(status)[:100]
        file.completed, file.failed = _number(counts, "completed"), _number(counts, "failed")
        file.outputs = [self.blot(output) for output in outputs if _is_name(output)]
        file.errors = [self.blot(str(getattr(error, "message", error)))[:300] for error in errors or ()]


def _is_name(value: Any) -> bool:
    """Whether it can name a file or a batch in an address."""
    return isinstance(value, str) and re.fullmatch("[!-~]{1,300}", value) is not None


def _number(counts: Any, name: str) -> int:
    value = getattr(counts, name, 0)
    return value if isinstance(value, int) else 0
