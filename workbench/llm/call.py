"""One call to a chat endpoint, as plain values. Wrappers are functions that take a `Call` and return a `Call`; here
stands the one that asks again after faults of the endpoint: rate limits, 5xx, broken connections."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from workbench.errors import EngineUnavailable
from workbench.llm.step import Message

T, R = TypeVar("T"), TypeVar("R")

REASONING = 8_192  # tokens that a model which reasons may have for it, beyond the limit of a Step
EMBEDDING = "embedding"  # the name of requests for vectors in place of a Step: in recordings, meters, estimates
_LEAST = 0.5  # seconds; a server that is asked again at once, by all callers, does not recover
_REPEAT: ContextVar[int] = ContextVar("repeat", default=0)


def model_of(engine: str) -> str:
    """The model in the name of an engine: `o4-mini` of `openai:o4-mini[effort=low]`."""
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
    completion. `sent` says what the request was sent without, as the endpoint takes it (`Negotiation.sent`).
    `fingerprint` names the configuration of the server, if it says one: when it changes, the same seed may give other
    answers."""

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


class Transient(Exception):
    """A temporary fault. `wait` is what the endpoint requested, in seconds; `unreachable` means no response."""

    def __init__(self, message: str, *, wait: float | None = None, unreachable: bool = False):
        super().__init__(message)
        self.wait, self.unreachable = wait, unreachable


def retrying(
    call: Callable[[T], R],
    *,
    attempts: int = 5,
    longest: float = 60.0,
    first: float = 1.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Callable[[T], R]:
    """Wait 1, 2, 4 … seconds (with jitter), or as long as the endpoint's Retry-After states, at most `longest`; then
    retry."""
    import tenacity

    backoff = tenacity.wait_exponential(multiplier=first) + tenacity.wait_random(0, first)

    def wait(state: tenacity.RetryCallState) -> float:
        requested = getattr(state.outcome.exception(), "wait", None)
        return min(backoff(state) if requested is None else max(requested, _LEAST), longest)

    retry = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Transient),
        stop=tenacity.stop_after_attempt(attempts),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )

    def wrapped(request: T) -> R:
        try:
            return retry.copy()(call, request)
        except Transient as fault:
            if fault.unreachable:
                raise EngineUnavailable(
                    f"{fault} (asked {attempts} times); "
                    "what is done is kept: run the same again when the endpoint is back"
                ) from fault
            raise CallFailed(f"{fault} (asked {attempts} times)") from fault

    return wrapped


def repeat() -> int:
    """The number of the repeat under way, from 0. A repeat asks the same with another seed: an engine of your own adds
    the number to its seed, as `ChatEngine` does."""
    return _REPEAT.get()


@contextmanager
def repeating(number: int) -> Iterator[None]:
    """Requests within the block belong to this repeat."""
    token = _REPEAT.set(number)
    try:
        yield
    finally:
        _REPEAT.reset(token)
