"""A batch API on this machine: `/v1/files` and `/v1/batches`, scripted by a function that answers each request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler
from typing import Any

from batches import result
from chat_server import Answer, LocalServer, error


class BatchServer(LocalServer):
    """`answer` gives what a request of a file is answered; what has another status than 200
    stands in the file of errors. `ends` is the status that batches end with, and `only` how many requests of each are
    answered until then. `fault(method, path)` is an answer in place of the server's own, or None; with "lost" the
    server does what was asked and does not say so. `files` and `batches` are what it has, `seen` what it was asked."""

    def __init__(self, answer: Callable[[dict], Answer]):
        self.answer, self.ends, self.only = answer, "completed", None
        self.fault: Callable[[str, str], Answer | str | None] = lambda method, path: None
        self.files, self.batches, self.seen = dict[str, bytes](), dict[str, dict](), list[tuple[str, str]]()
        self.more: Callable[[dict], list[dict]] = lambda batch: []  # lines beside those of the requests
        self.keys: set[str] = set()
        super().__init__()

    def asked(self, what: str) -> int:
        """How often `METHOD path` was asked."""
        return sum(f"{method} {path}" == what for method, path in self.seen)

    def end(self) -> None:
        """Every batch under way ends."""
        for batch in self.batches.values():
            if batch["status"] == "in_progress":
                self._end(batch)

    def _end(self, batch: dict) -> None:
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        results = [result(one, self.answer) for one in requests[: self.only]] + self.more(batch)
        sorts = {"output_file_id": True, "error_file_id": False}
        for name, good in sorts.items():
            lines = [json.dumps(one) for one in results if (_status(one) == 200) is good]
            if lines:
                batch[name] = self.store("".join(line + "\n" for line in reversed(lines)).encode())
        done = sum(_status(one) == 200 for one in results)
        batch["request_counts"] = {"total": len(requests), "completed": done, "failed": len(results) - done}
        batch["status"] = self.ends

    def store(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> Answer | None:
        path, key = handler.path.partition("?")[0], handler.headers["Authorization"].removeprefix("Bearer ")
        return self.take(handler.command, path, key, body, handler.headers.get("Content-Type", ""))

    def take(self, method: str, path: str, key: str, body: bytes, kind: str) -> Answer | None:
        self.seen.append((method, path))
        self.keys.add(key)
        fault = self.fault(method, path)
        if fault is not None and fault != "lost":
            return fault
        said = self._do(method, path, body, kind)
        return None if fault == "lost" else said

    def _do(self, method: str, path: str, body: bytes, kind: str) -> Answer:
        if (method, path) == ("POST", "/v1/files"):
            return 200, {}, {"id": self.store(_uploaded(body, kind)), "object": "file", "purpose": "batch"}
        if (method, path) == ("POST", "/v1/batches"):
            name = f"batch-{len(self.batches) + 1}"
            self.batches[name] = {"id": name, "object": "batch", "status": "in_progress", **json.loads(body)}
            return 200, {}, self.batches[name]
        if (method, path) == ("GET", "/v1/batches"):
            return 200, {}, {"object": "list", "data": list(reversed(self.batches.values())), "has_more": False}
        if method == "GET" and (found := re.fullmatch(r"/v1/batches/([\w-]+)", path)) and found[1] in self.batches:
            return 200, {}, self.batches[found[1]]
        if method == "GET" and (found := re.fullmatch(r"/v1/files/([\w-]+)/content", path)) and found[1] in self.files:
            return 200, {}, self.files[found[1]]
        return error(404)


def _status(line: dict) -> Any:
    return (line.get("response") or {}).get("status_code")


def _uploaded(body: bytes, kind: str) -> bytes:
    """The file of a form."""
    form = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    (content,) = (part.get_payload(decode=True) for part in form.iter_parts() if part.get_filename())
    return content
