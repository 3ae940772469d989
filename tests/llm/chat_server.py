"""A chat server on this machine, scripted by a function, so that engines are tested over a real connection.

    def answer(asked: dict) -> tuple[int, dict, bytes | str | dict | Cut]: ...

`asked` is the JSON of the request, with its Authorization header under "authorization".
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Cut:
    """A body of which the connection breaks off after these bytes; with none, before any answer."""

    sent: bytes = b""


Answer = tuple[int, dict[str, str], Any]


class LocalServer:
    """Listens on a port of this machine until `stop`. `respond` gives the answer to a request, or None for none."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads, self._server.block_on_close = True, False
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> Answer | None:
        raise NotImplementedError


def _handler(server: LocalServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):  # speaks HTTP/1.0: a connection per request, so none outlives `stop`
        def do_POST(self) -> None:
            body = self.rfile.read(length := int(self.headers.get("Content-Length", 0)))
            if len(body) < length:  # who asked was killed
                return
            if (said := server.respond(self, body)) is not None:
                self._send(*said)

        do_GET = do_POST

        def _send(self, status: int, headers: dict, body: Any) -> None:
            sent, length = (body.sent, 10_000) if isinstance(body, Cut) else (_bytes(body), len(_bytes(body)))
            if isinstance(body, Cut) and not sent:
                return
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(length), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked may have left: that is tested too
                self.wfile.write(sent)

        def log_message(self, *_: object) -> None: ...

    return Handler


class ChatServer(LocalServer):
    """`seen` are the requests in the order of arrival, `most` the most in flight at once; `get` answers what is only
    looked up, by its path, and `looked` are these paths."""

    def __init__(self, answer: Callable[[dict], Answer], get: Callable[[str], Answer] | None = None):
        self.answer, self.seen, self.most = answer, [], 0
        self.get, self.looked = get or (lambda path: error(404)), []
        self._now, self._lock = 0, threading.Lock()
        super().__init__()

    @property
    def questions(self) -> list[str]:
        return [question(asked) for asked in self.seen]

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> Answer:
        if handler.command == "GET":
            self.looked.append(handler.path)
            return self.get(handler.path)
        return self.take(json.loads(body) | {"authorization": handler.headers["Authorization"], "path": handler.path})

    def take(self, asked: dict) -> Answer:
        with self._lock:
            self.seen.append(asked)
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            return self.answer(asked)
        finally:
            with self._lock:
                self._now -= 1


def _bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()


def question(asked: dict) -> str:
    return asked["messages"][-1]["content"]


def completion(content: Any, finish: str = "stop", prompt: int = 7, completion: int = 3, **message: Any) -> Answer:
    """A good answer of the protocol."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return 200, {}, body


def error(status: int, message: str = "no", **headers: str) -> Answer:
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, {"error": {"message": message}}


def by_schema(asked: dict) -> Answer:
    """JSON that fits the schema asked for; every text in it is the last message."""
    return completion(json.dumps(_fitting(asked["response_format"]["json_schema"]["schema"], question(asked))))


def _fitting(schema: dict, text: str) -> Any:
    match schema["type"]:
        case "object":
            return {name: _fitting(part, text) for name, part in schema["properties"].items()}
        case "array":
            return [_fitting(schema["items"], text)]
        case "string":
            return text
        case other:
            return {"integer": 1, "boolean": True}[other]


DIMENSION = 24


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Of any length but zero, so that it has to be normalised; equal texts have equal vectors."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return [(digest[place % 32] - 127.5) / (1 + place // 32) for place in range(dimension)]


def embedded(asked: dict, dimension: int | None = None, coded: bool = True, **changes: Any) -> Answer:
    """A good answer of the protocol to a request for vectors. The tokens are the words."""
    size = dimension or asked.get("dimensions") or DIMENSION
    vectors = [vector_of(text, size) for text in asked["input"]]
    told = [base64.b64encode(array("f", one).tobytes()).decode() for one in vectors] if coded else vectors
    data = [{"object": "embedding", "index": row, "embedding": one} for row, one in enumerate(told)]
    words = sum(len(text.split()) for text in asked["input"])
    usage = {"prompt_tokens": words, "total_tokens": words}
    return 200, {}, {"object": "list", "model": "m", "data": data, "usage": usage, **changes}
