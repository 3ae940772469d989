"""Retries for faults of the endpoint: rate limits, 5xx, broken connections."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import tenacity

from workbench.errors import EngineUnavailable
from workbench.llm.call import CallFailed

T, R = TypeVar("T"), TypeVar("R")

_LEAST = 0.5  # seconds; a server that is asked again at once, by all callers, does not recover


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
    backoff = tenacity.wait_exponential_jitter(initial=first, max=longest, jitter=first)

    def wait(state: tenacity.RetryCallState) -> float:
        asked = getattr(state.outcome.exception(), "wait", None)
        return min(max(asked, _LEAST), longest) if asked is not None else backoff(state)

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
