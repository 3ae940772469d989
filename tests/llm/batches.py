"""What a batch API makes of a file of requests: results in its form, of the same answers as those of a chat server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from chat_server import Answer


def requests_of(folder: Path, round: int) -> list[dict]:
    """The requests of a round, in the order of its files."""
    files = sorted((folder / f"round-{round}").glob("requests-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def result(asked: dict, answer: Callable[[dict], Answer]) -> dict:
    """The line of a result."""
    status, _, body = answer(asked["body"])
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": asked["custom_id"], "response": response, "error": None}


def answered(path: Path, asked: Iterable[dict], answer: Callable[[dict], Answer]) -> Path:
    """A file of results, in another order than they were asked."""
    lines = [json.dumps(result(one, answer)) + "\n" for one in asked]
    path.write_text("".join(reversed(lines)), encoding="utf-8")
    return path
