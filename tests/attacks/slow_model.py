"""A slow model: an endpoint on this machine whose answers follow from the request alone, and that may stop answering.

Its texts are names of the last message, so that it extracts a graph, answers, judges and writes reports."""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "llm"))  # the chat server
from batch_server import BatchServer
from chat_server import Answer, ChatServer, completion, question

from workbench.steps import entity_relations, graph_records

_NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")


class SlowModel:
    """Every answer takes about so many seconds. `hold` lets the next `answers` through and no other before `free`;
    `held` is set once one waits."""

    def __init__(self, seconds: float):
        self.seconds, self.held = seconds, threading.Event()
        self._left, self._free, self._lock = None, threading.Event(), threading.Lock()
        self.server = ChatServer(self._answer)

    @property
    def spec(self) -> str:
        return f"openai:scripted@{self.server.url}"

    @property
    def asked(self) -> int:
        return len(self.server.seen)

    def hold(self, answers: int) -> None:
        with self._lock:
            self._left, self._free = answers, threading.Event()
        self.held.clear()

    def free(self) -> None:
        with self._lock:
            self._left = None
        self._free.set()

    def stop(self) -> None:
        self.free()
        self.server.stop()

    def _answer(self, asked: dict) -> Answer:
        with self._lock:
            self._left = self._left and self._left - 1
            waits, free = self._left == 0, self._free
        if waits:
            self.held.set()
            free.wait(60)
        time.sleep(self.seconds * (0.5 + random.random()))
        return reply_to(asked)


class SlowBatches(BatchServer):
    """A batch API that takes so many seconds for all that it is asked, and whose batches end as they begin. A file is
    named by its content, because one that is uploaded again is none the worse; batches are numbered."""

    def __init__(self, seconds: float):
        super().__init__(reply_to)
        self.seconds = seconds

    def store(self, content: bytes) -> str:
        name = f"file-{hashlib.sha256(content).hexdigest()[:16]}"
        self.files[name] = content
        return name

    def _do(self, method: str, path: str, body: bytes, kind: str) -> Answer:
        time.sleep(self.seconds)
        said = super()._do(method, path, body, kind)
        self.end()
        return said


def reply_to(asked: dict) -> Answer:
    """What the model says: JSON of the schema asked for, or a line as prose."""
    draw, names = random.Random(question(asked)), _NAME.findall(question(asked)) or ["Nobody"]
    told = asked["messages"][0]["content"]
    for step in (entity_relations, graph_records):
        if step.END in told and step.FIELD in told:
            return completion(_records(step is graph_records, names, draw))
    if "response_format" not in asked:
        return completion(f"It is named in a passage.\nAnswer: {draw.choice(names)}")
    schema = asked["response_format"]["json_schema"]["schema"]
    return completion(json.dumps(_fitting(schema, schema.get("$defs", {}), names, draw)))


def _records(in_parentheses: bool, names: list[str], draw: random.Random) -> str:
    """Two entities and what is between them, as LightRAG's and GraphRAG's prompts want them."""
    one, other = draw.choice(names), draw.choice(names)
    entities = [("entity", name, "person", f"{name} is named.") for name in (one, other)]
    if in_parentheses:
        rows = [*entities, ("relationship", one, other, "they meet", "5")]
        return "##".join(f"({'<|>'.join(row)})" for row in rows) + "##<|COMPLETE|>"
    rows = [*entities, ("relation", one, other, "meeting", "they meet")]
    return "\n".join("<|#|>".join(row) for row in rows) + "\n<|COMPLETE|>"


def _fitting(schema: dict, shared: dict, names: list[str], draw: random.Random, field: str = "") -> Any:
    """Something that the schema allows: what stands in a field of questions is one."""
    if "$ref" in schema:
        schema = shared[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if "const" in schema or "enum" in schema:
        return schema.get("const") or draw.choice(schema["enum"])
    match schema["type"]:
        case "object":
            return {name: _fitting(part, shared, names, draw, name) for name, part in schema["properties"].items()}
        case "array":
            number = min(schema.get("maxItems", 3), max(schema.get("minItems", 3), 3))  # a fact has three members
            return [_fitting(schema["items"], shared, names, draw, field) for _ in range(number)]
        case "string" if "question" in field:
            return f"Who met {draw.choice(names)} in {draw.randrange(10_000)}?"  # hardly two are the same
        case "string":
            return draw.choice(names)
        case "boolean":
            return draw.random() < 0.2
        case "integer" | "number":
            return schema.get("minimum", 1)
        case other:
            raise ValueError(f"no answer is known for {other!r}")
