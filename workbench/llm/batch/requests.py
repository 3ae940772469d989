"""Requests as JSON Lines, split into files that an endpoint takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from workbench.llm.batch.pending import Asked
from workbench.llm.batch.state import Asking

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000  # of one file, as OpenAI takes it
URL = "/v1/chat/completions"


def line(asked: Asked, asking: Asking) -> bytes:
    """A request as a line: its key in the recording is what names it. `asking` is how its engine is asked."""
    body = asking.dialect.arguments(asked.request, asking.reasoning)
    said: dict[str, Any] = {"custom_id": asked.key, "method": "POST", "url": URL, "body": body}
    return json.dumps(said, ensure_ascii=False).encode() + b"\n"


def split(
    lines: Iterable[bytes],
    path_of: Callable[[int], Path],
    first: int,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> Iterator[tuple[Path, int, int]]:
    """Write the lines, and give (path, requests, bytes) of each file that is whole. `path_of` names files by their
    numbers, which begin at `first`."""
    with ExitStack() as stack:
        out, number, requests, size = None, first, 0, 0
        for one in lines:
            if out is not None and (requests == most_requests or size + len(one) > most_bytes):
                out.close()
                yield path_of(number), requests, size
                out, number, requests, size = None, number + 1, 0, 0
            out = out or stack.enter_context(path_of(number).open("wb"))
            out.write(one)
            requests, size = requests + 1, size + len(one)
        if out is not None:
            out.close()
            yield path_of(number), requests, size
