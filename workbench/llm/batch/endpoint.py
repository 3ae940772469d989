"""The files and batches of an endpoint: uploaded, begun, looked at, downloaded. Only the client holds the key, and all
that comes back is freed of it.

Protocol: https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import EngineError
from workbench.llm.batch.requests import URL
from workbench.llm.call import CallFailed
from workbench.llm.endpoint import connect, where
from workbench.llm.retry import retrying

_LINE, _RESULT = 32_000_000, 1_000_000  # bytes of a line of a file, and of a result on average, at most
_NO_BATCHES = "the endpoint's answer is not one of a batch API"


@dataclass(frozen=True)
class Batch:
    """A batch as the endpoint says it is; `outputs` are files of results, answers and errors."""

    id: str
    status: str
    completed: int
    failed: int
    outputs: tuple[str, ...]
    errors: tuple[str, ...]


class BatchEndpoint:
    """Every request is repeated after faults that pass, as those of engines are; raises :class:`EngineError`."""

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

    def begin(self, upload: str, *, maybe_begun: bool) -> Batch:
        """Begin the batch of an uploaded file. One that may have begun before is looked for first, and so it is after a
        fault, because the endpoint may have begun it and not been able to say so."""
        look = maybe_begun

        def send(client: Any) -> Any:
            nonlocal look
            found = self._of(client, upload) if look else None
            look = True
            return found or client.batches.create(input_file_id=upload, endpoint=URL, completion_window="24h")

        return self._batch(self._ask(send))

    def look(self, batch: str) -> Batch:
        return self._batch(self._ask(lambda client: client.batches.retrieve(batch)))

    def download(self, file: str, to: Path, requests: int) -> None:
        """Write a file with the results of so many requests, which gets its name when it is whole."""
        part = to.with_name(f"{to.name}.part")

        def send(client: Any) -> None:
            with client.files.with_streaming_response.content(file) as response, part.open("wb") as out:
                for line in _lines(self._received(response, _LINE + requests * _RESULT)):
                    out.write(self.blot(line.decode("utf-8", "replace")).encode())

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

    def _of(self, client: Any, upload: str) -> Any:
        """The batch of an uploaded file, if it has one."""
        return next((one for one in client.batches.list(limit=100) if one.input_file_id == upload), None)

    def _received(self, response: Any, most: int) -> Iterator[bytes]:
        """The bytes of a download. What breaks it off is of the HTTP library under the client, which leaves it to us."""
        import openai

        from workbench.llm.transport import Unacceptable, bounded

        request, begun = response.http_request, time.monotonic()
        try:
            yield from bounded(response.iter_bytes(), request, most, begun, self._connection.timeout)
        except Unacceptable as error:
            raise CallFailed(f"the file of results is not read: {error}") from None
        except Exception as error:
            raise openai.APIConnectionError(message=str(error), request=request) from error

    def _name(self, said: Any) -> str:
        name = getattr(said, "id", None)
        if not isinstance(name, str) or not name:
            raise EngineError(f"{_NO_BATCHES}: it has no id")
        return self.blot(name)

    def _batch(self, said: Any) -> Batch:
        counts, errors = getattr(said, "request_counts", None), getattr(getattr(said, "errors", None), "data", None)
        outputs = (getattr(said, name, None) for name in ("output_file_id", "error_file_id"))
        status = getattr(said, "status", None)
        if not isinstance(status, str):
            raise EngineError(f"{_NO_BATCHES}: the batch has no status")
        return Batch(
            self._name(said),
            self.blot(status),
            _number(counts, "completed"),
            _number(counts, "failed"),
            tuple(self.blot(one) for one in outputs if isinstance(one, str) and one),
            tuple(self.blot(str(getattr(one, "message", one)))[:300] for one in errors or ()),
        )


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, whose ends are line feeds alone: a text in JSON may hold other separators."""
    rest, size = [], 0
    for chunk in chunks:
        for piece in re.findall(rb"[^\n]*\n|[^\n]+", chunk):
            rest.append(piece)
            size += len(piece)
            if size > _LINE:
                raise CallFailed(f"{_NO_BATCHES}: a line of the file has more than {_LINE:,} bytes")
            if piece.endswith(b"\n"):
                yield b"".join(rest)
                rest, size = [], 0
    if rest:
        yield b"".join(rest)


def _number(counts: Any, name: str) -> int:
    value = getattr(counts, name, 0)
    return value if isinstance(value, int) else 0
