"""One call to a chat endpoint, as plain values. Wrappers are functions that take a `Call` and return a `Call`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.llm.step import Message


@dataclass(frozen=True)
class Request:
    """What is asked. `accept` says whether a reply is good; it travels along so that only good replies are kept."""

    step: str
    model: str
    messages: tuple[Message, ...]
    schema: dict | None
    temperature: float
    max_tokens: int
    seed: int = 0
    accept: Callable[[Reply], bool] = field(default=lambda reply: True, compare=False, repr=False)

    def content(self) -> dict:
        """All that determines the answer."""
        return {
            "step": self.step, "model": self.model, "messages": list(self.messages), "schema": self.schema,
            "temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed,
        }  # fmt: skip

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(self.content(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back. `finish` is the endpoint's reason for stopping: `length` means that the text was cut."""

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    recorded: bool = False


Call = Callable[[Request], Reply]


class CallFailed(Exception):
    """This one request failed (HTTP 400, an empty reply, 5xx after all retries); others may go well."""
