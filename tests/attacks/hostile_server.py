"""A server that misbehaves as long as it is told to, and then answers as it should."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from chat_server import Answer, LocalServer, by_schema, completion, embedded

Good = Callable[[str, str, bytes, Any], Answer]  # (method, path, body, headers)
MEGABYTE = 1_000_000


class HostileServer(LocalServer):
    """`good` answers a request, unless `deed` is set, which then has the connection. `asked` are the times at which
    requests came, `keys` what stood in their headers of authorization."""

    def __init__(self, good: Good):
        self.good, self.asked, self.keys = good, list[float](), set[str]()
        self.deed: Callable[[Deed], None] | None = None
        self.stopped = threading.Event()
        super().__init__()
        self._server.handle_error = lambda *_: None

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.asked.append(time.monotonic())
        self.keys.add(handler.headers.get("Authorization", ""))
        deed, handler.close_connection = Deed(handler, self, body), True
        if self.deed is not None:
            self.deed(deed)
            return
        status, headers, said = self.good(handler.command, handler.path, body, handler.headers)
        said = said if isinstance(said, bytes) else json.dumps(said).encode()
        deed.send(status, said, Content_Length=str(len(said)), **headers)

    @contextmanager
    def misbehaving(self, deed: Callable[[Deed], None]) -> Iterator[None]:
        self.deed = deed
        try:
            yield
        finally:
            self.deed = None

    def stop(self) -> None:
        self.stopped.set()
        super().stop()


@contextmanager
def serving(good: Good) -> Iterator[HostileServer]:
    """A server for the block."""
    server = HostileServer(good)
    try:
        yield server
    finally:
        server.stop()


def chatting(method: str, path: str, body: bytes, headers: Any) -> Answer:
    return by_schema(json.loads(body))


def embedding(method: str, path: str, body: bytes, headers: Any) -> Answer:
    return embedded(json.loads(body))


class Deed:
    """What a misdeed has: the connection, the request, and the good answer to it."""

    def __init__(self, handler: BaseHTTPRequestHandler, server: HostileServer, body: bytes):
        self.handler, self.server, self.body = handler, server, body

    def raw(self, *pieces: bytes, every: float = 0.0) -> None:
        """Bytes as they are."""
        with suppress(OSError):
            for piece in pieces:
                self.handler.wfile.write(piece)
                if every and self.server.stopped.wait(every):
                    return

    def send(self, status: int, body: bytes | str = b"", pieces: Iterable[bytes] = (), **headers: str) -> None:
        body = body.encode() if isinstance(body, str) else body
        named = {"Content-Type": "application/json", "Connection": "close"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status} Something", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        self.raw("\r\n".join(lines).encode("latin-1"), body)
        self.raw(*pieces)

    def good(self) -> bytes:
        """The body of the answer that would be right."""
        _, _, body = self.server.good(self.handler.command, self.handler.path, self.body, self.handler.headers)
        return body if isinstance(body, bytes) else json.dumps(body).encode()

    def reset(self) -> None:
        """End the connection as a crashed machine does."""
        with suppress(OSError):
            self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.handler.connection.close()

    def hold(self, seconds: float = 30.0) -> None:
        """Say nothing more, until whoever asked has gone."""
        end = time.monotonic() + seconds
        self.handler.connection.settimeout(0.05)
        while time.monotonic() < end and not self.server.stopped.is_set():
            with suppress(TimeoutError):
                try:
                    if not self.handler.connection.recv(1):
                        return
                except TimeoutError:
                    continue
                except OSError:
                    return


# -- misdeeds ---------------------------------------------------------------------------------------------------------


def _status(status: int, **headers: str) -> Callable[[Deed], None]:
    return lambda deed: deed.send(status, '{"error": {"message": "no"}}', **headers)


def _body(body: Any, status: int = 200, **headers: str) -> Callable[[Deed], None]:
    said = body if isinstance(body, bytes | str) else json.dumps(body)
    return lambda deed: deed.send(status, said, **headers)


def _changed(**changes: Any) -> Callable[[Deed], None]:
    """The right answer with other members."""

    def deed(at: Deed) -> None:
        said = json.loads(at.good() or b"{}")
        at.send(200, json.dumps({**said, **changes} if isinstance(said, dict) else said))

    return deed


def _choice(**message: Any) -> Callable[[Deed], None]:
    return _body({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}]})


def _complaint(deed: Deed) -> None:
    number = len(deed.server.asked)
    said = f"maximum context length is {2_000 + 100 * number} tokens ({number} in the messages); seed is not supported"
    deed.send(400, json.dumps({"error": {"message": said, "param": "seed"}}))


def _truncated(deed: Deed) -> None:
    body = deed.good()
    deed.send(200, body[: len(body) // 2], Content_Length=str(len(body)))


def _reset_in_body(deed: Deed) -> None:
    body = deed.good()
    deed.send(200, body[: len(body) // 2], Content_Length=str(len(body)))
    deed.reset()


def _drip(deed: Deed) -> None:
    deed.send(200, Content_Length="1000000")
    deed.raw(*[b" "] * 2_000, every=0.02)


def _large(deed: Deed) -> None:
    deed.send(200, pieces=iter([b" " * MEGABYTE] * 200))


def _large_text(deed: Deed) -> None:
    begin, end = json.dumps(completion("@")[2]).encode().split(b"@")
    deed.send(200, begin, pieces=iter([b"a" * MEGABYTE] * 50 + [end]))


def _large_answer(deed: Deed) -> None:
    """Within what is read, and yet no answer."""
    begin, end = json.dumps(completion("@")[2]).encode().split(b"@")
    deed.send(200, begin, pieces=iter([b"</think>" * 125_000] * 5 + [end]))


def _endless_chunks(deed: Deed) -> None:
    chunk = b"%x\r\n" % MEGABYTE + b" " * MEGABYTE + b"\r\n"
    deed.send(200, pieces=iter([chunk] * 200), Transfer_Encoding="chunked")


_BOMB = gzip.compress(b" " * (150 * MEGABYTE), 1)


def _retry(status: int, after: str) -> Callable[[Deed], None]:
    return _status(status, Retry_After=after)


MISDEEDS: dict[str, Callable[[Deed], None]] = {
    **{
        f"{status}": _status(status)
        for status in (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529)
    },
    **{
        f"429, retry after {said}": _retry(429, said)
        for said in ("3", "0", "-1", "1000000000", "inf", "nan", "soon", "9" * 400)
    },
    "503, retry after the year 9999": _retry(503, "Fri, 31 Dec 9999 23:59:59 GMT"),
    "503, retry after the past": _retry(503, "Wed, 21 Oct 2015 07:28:00 GMT"),
    "503, retry after no date": _retry(503, "Wed, 99 Xyz 99999 99:99:99 GMT"),
    "a new complaint each time": _complaint,
    "a long complaint": _body({"error": {"message": "x" * 5 * MEGABYTE}}, 400),
    "a complaint that is a list": _body([["no"]], 500),
    "an error of other types": _body({"error": 7}, 429),
    # -- bodies
    "nothing": _body(b""),
    "HTML": _body("<html><body>Bad gateway</body></html>", Content_Type="text/html"),
    "HTML called JSON": _body("<html>"),
    "text": _body("It is Oslo.", Content_Type="text/plain"),
    "the answer, called text": lambda deed: deed.send(200, deed.good(), Content_Type="text/plain"),
    "the answer, called nothing": lambda deed: deed.send(200, deed.good(), Content_Type=""),
    "no content": _status(204),
    "events": _body("data: {}\n\ndata: [DONE]\n\n", Content_Type="text/event-stream"),
    **{
        f"JSON {said}": _body(said)
        for said in ("null", "[]", "{}", "7", '"x"', "true", "NaN", "[[[]]]", '{"choices"', "1e999")
    },
    "a deep nest": _body("[" * 200_000),
    "a deep nest, closed": _body("[" * 200_000 + "]" * 200_000),
    "bytes": _body(bytes(range(256))),
    "UTF-16": _body('{"choices": []}'.encode("utf-16")),
    "half a character": _body('{"choices": [{"message": {"content": "\\ud800"}}]}'),
    "a huge number": _body('{"choices": ' + "9" * 10_000 + "}"),
    "truncated": _truncated,
    "too little": lambda deed: deed.send(200, deed.good()[:20], Content_Length="20"),
    "more than it says": lambda deed: deed.send(200, deed.good() + b"x" * 100, Content_Length=str(len(deed.good()))),
    # -- members of other types
    **{
        f"choices {said!r:.20}": _body({"choices": said})
        for said in (None, [], {}, [None], [{}], [{"message": None}], [{"message": {}}], [[]], "x", [{"message": "x"}])
    },
    **{
        f"content {said!r:.20}": _choice(content=said)
        for said in (None, "", " ", 7, True, {}, [], [None], [{"type": "text"}], [{"type": "text", "text": 7}], "null")
    },
    **{f"refusal {said!r:.20}": _choice(content=None, refusal=said) for said in ("no", 7, {"a": 1})},
    **{
        f"usage {said!r:.20}": _changed(usage=said)
        for said in (
            None,
            7,
            "x",
            [],
            {"prompt_tokens": "7"},
            {"prompt_tokens": -5, "completion_tokens": -5},
            {"prompt_tokens": 10**400, "completion_tokens": 10**400},
            {"prompt_tokens": 1e308},
            {"prompt_tokens": True, "completion_tokens_details": 7},
        )
    },
    "other members of other types": _changed(id=7, model=None, created="now", object=[], system_fingerprint={"a": 1}),
    **{
        f"data {said!r:.20}": _changed(data=said)
        for said in (None, [], {}, [None], "x", [{}], [{"index": 9, "embedding": [1.0] * 24}])
    },
    **{
        f"vector {said!r:.20}": _changed(data=[{"embedding": said}])
        for said in (None, "@@", [], [1e400] * 24, ["1"] * 24, [0.0] * 24, [1.0] * 25)
    },
    **{f"id {said!r:.20}": _changed(id=said) for said in (None, 7, "", [], "../../files", "x" * 100_000)},
    **{
        f"batch status {said!r:.20}": _changed(status=said) for said in (None, 7, [], "unheard-of", "failed", "expired")
    },
    **{
        f"batch counts {said!r:.20}": _changed(request_counts=said)
        for said in (7, [], {"completed": "x", "failed": -1})
    },
    "batch errors": _changed(errors={"data": [{"message": "x" * 100_000}, 7, None]}),
    "files of other types": _changed(status="completed", output_file_id=7, error_file_id=["x"]),
    "no such file": _changed(status="completed", output_file_id="file-none", error_file_id="../../../etc/passwd"),
    # -- connections
    "reset": Deed.reset,
    "reset in the body": _reset_in_body,
    "closed": lambda deed: None,
    "not HTTP": lambda deed: deed.raw(b"\x16\x03\x01\x00garbage\r\n\r\n"),
    "a status of another kind": lambda deed: deed.raw(b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n"),
    "a status that is none": lambda deed: deed.raw(b"HTTP/1.1 abc\r\n\r\n"),
    "large headers": lambda deed: deed.send(200, X_Large="a" * 300_000),
    "many headers": lambda deed: deed.raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n"),
    "no answer": Deed.hold,
    "a slow drip": _drip,
    # -- sizes
    "200 MB": _large,
    "50 MB of text": _large_text,
    "5 MB of marks": _large_answer,
    "chunks without end": _endless_chunks,
    "a gzip bomb": _body(_BOMB, Content_Encoding="gzip"),
    "two gzips": _body(gzip.compress(_BOMB), Content_Encoding="gzip, gzip"),
    "no gzip": _body("{}", Content_Encoding="gzip"),
    "half a gzip": _body(gzip.compress(b"{}" * 9_000)[:20], Content_Encoding="gzip"),
    "another packing": _body("{}", Content_Encoding="br"),
    "a deflate bomb": _body(_BOMB, Content_Encoding="deflate"),
    # -- redirects
    **{
        f"{status} to the same place": lambda deed, status=status: deed.send(status, Location=deed.handler.path)
        for status in (301, 302, 303, 307, 308)
    },
    **{
        f"redirect to {to!r:.30}": _status(307, Location=to)
        for to in ("", "file:///etc/passwd", "ftp://127.0.0.1/", "//", "http://", "http://[::1", "x" * 50_000)
    },
    "redirect to nowhere": _status(307),
}


def redirect(to: str, status: int) -> Callable[[Deed], None]:
    """To another server."""
    return lambda deed: deed.send(status, Location=f"{to}{deed.handler.path.removeprefix('/v1')}")
