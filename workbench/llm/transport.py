"""The HTTP client of an endpoint. It holds whatever answers within bounds:

* A redirect is followed on the same host alone, because the prompt, and maybe the key, would go with it.
* An answer is read up to `most` bytes, counted as they are unpacked; what is streamed is `bounded` by its reader.
* The time limit of a request is one for all of it, not for each piece that arrives. What takes longer has to bring
  `SLOWEST` bytes a second.

It works with the HTTP library of the installed client library, which is `httpx` or its successor.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import openai

http = sys.modules[openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]]

MOST = 32_000_000  # bytes of an answer; no Step asks for a hundredth of it
SLOWEST = 10_000  # bytes a second, below which an answer never comes to its end
_GRACE = 0.5  # seconds that the HTTP library has for its own timeouts
_REDIRECTS = 5
_PACKINGS = ("", "identity", "gzip", "deflate")


class Unacceptable(http.RequestError):
    """An answer that is not read to its end."""


class Elsewhere(http.RequestError):
    """A redirect to another host."""


class Client(openai.DefaultHttpxClient):
    """A client with one time limit per request. `cut` aborts all requests under way."""

    def __init__(self, *, most: int = MOST, **options: Any):
        self._most, self._lock = most, threading.Lock()
        self._connections: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        mine = weakref.WeakMethod(self._note)
        note = {"request": [lambda sent: sent.extensions.update(trace=lambda *event: mine()(*event))]}
        super().__init__(headers={"Accept-Encoding": "gzip"}, event_hooks=note, **options)

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        begun, limit = time.monotonic(), (request.extensions.get("timeout") or {}).get("read")
        for _ in range(_REDIRECTS):
            with self._in_time(request, limit):
                response = super().send(request, **{**options, "stream": True, "follow_redirects": False})
            if response.next_request is None:
                break
            response.close()
            if not _same_host(request.url, response.next_request.url):
                to = response.next_request.url
                raise Elsewhere(f"{to.scheme}://{to.netloc.decode('ascii', 'replace')}", request=request)
            request = response.next_request
        else:
            raise Unacceptable("it redirects without end", request=request)
        if stream and response.is_success:
            return response
        return self._whole(response, begun, limit)

    def cut(self) -> None:
        """Break off every connection."""
        with self._lock:
            for connection in list(self._connections):
                with suppress(OSError):  # closed already
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)  # the TLS socket's own discards its state

    @contextmanager
    def _in_time(self, request: Any, limit: float | None) -> Iterator[None]:
        """Headers that drip in are beyond the HTTP library's own limit, which holds for each piece; this one cuts what
        is under way, and what was in time is asked again."""
        if limit is None:
            yield
            return
        late = threading.Event()
        timer = threading.Timer(limit + _GRACE, lambda: (late.set(), self.cut()))
        timer.daemon = True
        timer.start()
        try:
            yield
        except http.TimeoutException:
            raise
        except http.TransportError as error:
            if late.is_set():
                raise http.ReadTimeout("the headers took too long", request=request) from error
            raise
        finally:
            timer.cancel()

    def _whole(self, response: Any, begun: float, limit: float | None) -> Any:
        """The response with its body, unpacked."""
        try:
            if response.headers.get("content-encoding", "").strip().lower() not in _PACKINGS:
                raise Unacceptable("it is packed in a way that was not asked for", request=response.request)
            body = b"".join(bounded(response.iter_bytes(), response.request, self._most, begun, limit))
        finally:
            response.close()
        left_out = {"content-encoding", "content-length", "transfer-encoding"}
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in left_out]
        return http.Response(
            response.status_code, headers=headers, content=body, request=response.request,
            extensions=response.extensions,
        )  # fmt: skip

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


def _same_host(source: Any, to: Any) -> bool:
    """Whether a redirect stays with the same server, possibly over https."""
    if source.host != to.host:
        return False
    places = [(url.scheme, url.port or {"http": 80, "https": 443}.get(url.scheme)) for url in (source, to)]
    return places[0] == places[1] or places == [("http", 80), ("https", 443)]
