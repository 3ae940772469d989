"""The HTTP client of an endpoint. It holds whatever answers within bounds:

* No redirect is followed, because the prompt and the key would go with it.
* An answer comes unpacked, and is read up to `most` bytes; what is streamed is `bounded` by its reader.
* The time limit of a request is one for all of its answer, not for each piece that arrives. What takes longer has to
  bring `SLOWEST` bytes a second.

It works with the HTTP library of the installed client library, which is `httpx` or its successor.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import openai

http = sys.modules[openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]]

MOST = 32_000_000  # bytes of an answer; no Step asks for a hundredth of it
SLOWEST = 10_000  # bytes a second, below which an answer never comes to its end


class Unacceptable(http.RequestError):
    """An answer that is not read to its end."""


class Elsewhere(http.RequestError):
    """A redirect."""


class Client(openai.DefaultHttpxClient):
    """A client with one time limit per request. `cut` aborts all requests under way."""

    def __init__(self, *, most: int = MOST, **options: Any):
        self._most, self._lock = most, threading.Lock()
        self._connections: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        mine = weakref.WeakMethod(self._note)
        note = {"request": [lambda sent: sent.extensions.update(trace=lambda *event: mine()(*event))]}
        super().__init__(headers={"Accept-Encoding": "identity"}, event_hooks=note, **options)

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        begun, limit = time.monotonic(), (request.extensions.get("timeout") or {}).get("read")
        response = super().send(request, **{**options, "stream": True, "follow_redirects": False})
        try:
            if response.next_request is not None:
                raise Elsewhere(str(response.next_request.url), request=request)
            if response.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
                raise Unacceptable("it is packed, which was not asked for", request=request)
            if stream and response.is_success:
                return response
            body = b"".join(bounded(response.iter_raw(), request, self._most, begun, limit))
        except BaseException:
            response.close()
            raise
        return http.Response(
            response.status_code, headers=response.headers, content=body, request=request,
            extensions=response.extensions,
        )  # fmt: skip

    def cut(self) -> None:
        """Break off every connection."""
        with self._lock:
            for connection in list(self._connections):
                with suppress(OSError):  # closed already
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)  # the TLS socket's own discards its state

    def _note(self, event: str, info: dict) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._connections.add(info["return_value"].get_extra_info("socket"))


def bounded(pieces: Iterable[bytes], request: Any, most: int, begun: float, limit: float | None) -> Iterator[bytes]:
    """The pieces of a body that began at a time of the monotonic clock; an error of the HTTP library beyond `most`
    bytes, or where they come too slowly."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise Unacceptable(f"it has more than {most:,} bytes", request=request)
        if limit is not None and time.monotonic() - begun > limit + size / SLOWEST:
            raise http.ReadTimeout("the body took too long", request=request)
        yield piece
