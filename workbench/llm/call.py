"""One call to a chat endpoint, as plain values. Wrappers are functions that take a `Call` and return a `Call`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from workbench.llm.step import Message

REASONING = 8_192  # tokens that a model which reasons may have for it, beyond the limit of a Step
EMBEDDING = "embedding"  # what a request for vectors is called where a Step stands: in recordings, meters, estimates


def model_of(engine: str) -> str:
    """The model in the name of an engine: `openai:o4-mini[effort=low]` is one of the model `o4-mini`."""
    return re.sub(r"\[effort=\w+\]$", "", engine.partition(":")[2])


def open_address(url: str) -> str:
    """An address without user, password and query, which may hold a key."""
    return re.sub(r"(?<=//)[^?#]*@|[?#].*", "", url)


@dataclass(frozen=True)
class Request:
    """A request, and the name of the engine that it is for (`openai:gpt-4o-mini`).

    `accept` decides whether a reply is good; it travels with the request, so that only good replies count as answers.
    """

    step: str
    engine: str
    messages: tuple[Message, ...]
    schema: dict | None
    temperature: float
    max_tokens: int
    seed: int = 0
    effort: str | None = None  # of reasoning, as the endpoint calls it
    accept: Callable[[Reply], bool] = field(default=lambda reply: True, compare=False, repr=False)

    @property
    def model(self) -> str:
        """The endpoint's name of the model."""
        return model_of(self.engine)

    def content(self) -> dict:
        """Everything that determines the answer."""
        return {
            "step": self.step, "engine": self.engine, "messages": list(self.messages), "schema": self.schema,
            "temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed,
            **({"effort": self.effort} if self.effort else {}),
        }  # fmt: skip

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(self.content(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class EmbeddingRequest(Request):
    """A request for vectors, whose messages are texts to embed. `dimensions` is the length asked for, None for the
    model's own."""

    dimensions: int | None = None

    @classmethod
    def of(cls, engine: str, texts: Iterable[str], dimensions: int | None = None) -> EmbeddingRequest:
        messages = tuple({"role": "user", "content": text} for text in texts)
        return cls(EMBEDDING, engine, messages, None, 0.0, 0, dimensions=dimensions)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(message["content"] for message in self.messages)

    def content(self) -> dict:
        return {**super().content(), "dimensions": self.dimensions}


@dataclass(frozen=True)
class Reply:
    """A reply. `finish` is the endpoint's reason for stopping: `length` means that the text was cut.

    `reasoning` is what the model wrote before its answer, and no part of `text`; its tokens are among those of the
    completion. `sent` says what the request was sent without, as the endpoint takes it (`Dialect.said`). `fingerprint`
    names the configuration of the server, if it says one: when it changes, the same seed may give other answers."""

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    recorded: bool = False
    fingerprint: str = ""
    reasoning: str = ""
    reasoning_tokens: int = 0
    sent: str = ""


Call = Callable[[Request], Reply]


class CallFailed(Exception):
    """This one request failed (HTTP 400, a refusal, 5xx after all retries); others may succeed."""

    def __init__(self, message: str, *, recorded: bool = False):
        super().__init__(message)
        self.recorded = recorded
