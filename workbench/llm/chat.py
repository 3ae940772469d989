"""The engine for chat models: a chain of wrappers around one call, then the meter and the parser.

record ← budget ← retry ← endpoint, or for a replay only the recording; the engine meters and parses the replies
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar, cast

from workbench import threads
from workbench.errors import EngineUnavailable, SettingError
from workbench.language.foreign import in_its_language
from workbench.llm.call import REASONING, Call, CallFailed, Reply, Request, repeat, retrying
from workbench.llm.deferrals import each
from workbench.llm.engine import EngineBase, nominal, note, split_spec
from workbench.llm.meter import Budget, limited, money
from workbench.llm.parse import Reading, Unreadable
from workbench.llm.record import Recording, recording, replaying
from workbench.llm.step import Result, Step, Usage
from workbench.llm.window import asked_of_server
from workbench.llm.wording import worded
from workbench.text import storable
from workbench.trace import Trace

T, R = TypeVar("T"), TypeVar("R")

_CLOSED = "the engine was closed while it was asked; what is done is kept"


class ChatEngine(EngineBase):
    """Runs Steps on a chat model, with `concurrency` concurrent requests.

    `name` is the kind and the model, `call` answers what `store` does not hold, so that no request is repeated, and
    `close` releases what the call holds. An unparsable or refused answer is a failure of that input; an unreachable
    endpoint or a rejected key stops the run with an `EngineError` after the requests in flight.
    """

    def __init__(
        self,
        name: str,
        call: Call,
        *,
        store: Recording | None = None,
        concurrency: int = 8,
        seed: int = 0,
        effort: str | None = None,
        window: Callable[[], int | None] | None = None,
        close: Callable[[], None] = lambda: None,
    ):
        super().__init__()
        self.name, self.concurrency, self.seed = name, at_least_one(concurrency=concurrency), seed
        self.effort, self._sent, self._find_window = effort, set[str](), window
        self.workers, self._call, self._close, self.store = concurrency, call, close, store
        weakref.finalize(self, close)  # when the engine is garbage-collected, and at the end of the process

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        step = worded(step, self.prompts)
        results = self._results([self.request(step, value) for value in inputs])
        for result in results:
            self.meter.add(step.name, result.usage)
            self.meter.served(self.name, result.fingerprint)
        note(trace, self.name, step, results)
        return results

    def _results(self, requests: Sequence[Request]) -> list[Result]:
        if self.concurrency == 1 or len(requests) == 1:
            return each(self._answer, requests)
        return list(threads.in_order(self._answer, requests, self.concurrency, self.close))

    def request(self, step: Step, value: Any) -> Request:
        step = worded(step, self.prompts)
        prompt = step.messages(value) if step.from_file else in_its_language(step.messages(value), value)
        messages = tuple({**message, "content": storable(message["content"])} for message in prompt)
        return Request(
            step.name, self.name, messages, step.schema, step.temperature, step.max_tokens, self.seed + repeat(),
            self.effort, Reading(step, messages),
        )  # fmt: skip

    @cached_property
    def window(self) -> int | None:
        """The window as set, else as the server or the model's file states it; of a replay, as it was when recorded."""
        window = self._find_window() if self._find_window else None
        if self.store is not None:
            self.store.keep_window(self.name, window)
        return window

    @property
    def sent(self) -> tuple[str, ...]:
        """What requests were sent without, or otherwise, because the endpoint does not take it: of all replies so far,
        recorded ones included."""
        return tuple(sorted({part for notes in self._sent for part in notes.split("; ")}))

    def note_sent(self, notes: Iterable[str]) -> None:
        """Note what requests were sent without, in another process that asked for this engine."""
        self._sent.update(notes)

    def close(self) -> None:
        """Release what the engine holds, such as a local model's memory and port, and abort requests in flight. A later
        use starts it again."""
        self._close()

    def limit(self, budget: Budget) -> None:
        """Send requests only within the budget; recorded answers do not count."""
        self._call = limited(self._call, budget, self.name)

    def keep(self, store: Recording) -> None:
        """Store good answers in a recording from now on, in place of the previous one."""
        self.store = store

    def ask_through(self, call: Call, window: int | None) -> None:
        """Ask another call from now on for what is not stored; `window` is the model's, if known."""
        self._call = call
        if window is not None:
            self._find_window = lambda: window

    @property
    def record(self) -> Path | None:
        """The file of that recording."""
        return None if self.store is None else self.store.path

    def _answer(self, request: Request) -> Result:
        try:
            call = self._call if self.store is None else recording(self._call, self.store)
            reply = call(request)
        except CallFailed as error:
            usage = Usage(calls=1, failed=1, recorded=int(error.recorded))
            return Result(None, failure=str(error), usage=usage, messages=request.messages)
        usage = Usage(
            1, reply.prompt_tokens, reply.completion_tokens, reply.seconds,
            money(self.name, reply.prompt_tokens, reply.completion_tokens), recorded=int(reply.recorded),
            reasoning_tokens=reply.reasoning_tokens,
        )  # fmt: skip
        if reply.sent:
            self._sent.add(reply.sent)
        shared = {
            "text": reply.text, "messages": request.messages, "reasoning": reply.reasoning, "sent": reply.sent,
            "fingerprint": reply.fingerprint,
        }  # fmt: skip
        try:
            value, level = cast(Reading, request.accept).of(reply)
        except Unreadable as error:
            return Result(None, f"unreadable: {error}", usage=replace(usage, failed=1), **shared)
        usage = replace(usage, repaired=int(level == "repaired"), cut=int(level == "cut"))
        return Result(value, parse=level, usage=usage, **shared)

    def __repr__(self) -> str:
        return f"ChatEngine({self.name}: {self.meter!r})"


def at_least_one(**settings: Any) -> int:
    """The value of a setting that must be a positive integer."""
    ((name, value),) = settings.items()
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise SettingError(f"{name}={value!r}; it should be a whole number from 1 on")
    return value


class Line:
    """The connections to an endpoint. `close` cuts them and ends the wait between two attempts, which frees all callers
    immediately; later requests use new connections."""

    def __init__(self):
        self._closed, self._mine = threading.Event(), threading.local()
        self._clients: weakref.WeakSet[Any] = weakref.WeakSet()

    def client(self, **options: Any) -> Any:
        """An HTTP client of this line (`workbench.llm.transport.Client`)."""
        from workbench.llm.transport import Client

        client = Client(**options)
        self._clients.add(client)
        return client

    def asking(self, call: Call) -> Call:
        def wrapped(request: Request) -> Reply:
            self._mine.closed = self._closed
            if threads.left():
                raise EngineUnavailable(_CLOSED)
            return call(request)

        return wrapped

    def sleep(self, seconds: float) -> None:
        if self._mine.closed.wait(seconds):
            raise EngineUnavailable(_CLOSED)

    def close(self) -> None:
        closed, self._closed = self._closed, threading.Event()
        closed.set()
        for client in list(self._clients):
            client.cut()


def openai_engine(
    model: str,
    *,
    record: str | None = None,
    concurrency: int = 8,
    seed: int = 0,
    attempts: int = 5,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 120.0,
    structured: str = "auto",
    effort: str | None = None,
    reasoning: int = REASONING,
    window: int | None = None,
) -> ChatEngine:
    """`model` or `model@base_url`. Every good answer is stored in the file `record`, by default that of the
    working folder, and never requested again.

    `effort` is how much a model reasons, in the endpoint's word (`low`); it changes the answers, so it is part of the
    engine's name. `reasoning` tokens are added to the limit of a Step for a model that reasons. `window` is what the
    model holds, prompt and answer together; by default what the server says of it.
    """
    from workbench.llm.endpoint import endpoint

    model, url = located(model, base_url)
    name = named(model, effort)
    line = Line()
    call = endpoint(
        url, api_key, timeout=timeout, structured=structured, reasoning=reasoning, http_client=line.client()
    )
    call = line.asking(retrying(call, attempts=attempts, sleep=line.sleep))
    window is None or at_least_one(window=window)

    def find() -> int | None:
        if window is not None or not (url or os.environ.get("OPENAI_BASE_URL")):  # OpenAI's own does not say it
            return window
        return asked_of_server(url, api_key, model)

    return ChatEngine(
        name, call, store=Recording.of(record), concurrency=concurrency, seed=seed, effort=effort,
        window=find, close=line.close,
    )  # fmt: skip


def named(model: str, effort: str | None) -> str:
    """The name of the engine that asks a model of an endpoint."""
    if effort is not None and not (isinstance(effort, str) and re.fullmatch(r"\w+", effort)):
        raise SettingError(f"effort={effort!r}; it should be one word, such as low, medium or high")
    return f"openai:{model}" + (f"[effort={effort}]" if effort else "")


def located(model: str, base_url: str | None, such_as: str = "gpt-4o-mini") -> tuple[str, str | None]:
    """(model, address) of `model` or `model@base_url`."""
    model, _, address = model.partition("@http")
    if not model:
        raise SettingError(f"name a model: openai:<model>, such as openai:{such_as}")
    if "://" in model:
        raise SettingError("the address of an endpoint begins with http: openai:<model>@http://127.0.0.1:8000/v1")
    return model, f"http{address}" if address else base_url


def replay_engine(file: str, *, of: str | None = None, concurrency: int = 8, seed: int = 0) -> ChatEngine:
    """Answers and failures from a recording: of its only engine, or of the one that the SPEC `of` names.

    It has the name of the recorded engine, because that engine produced the answers: a replay of a run has the same
    bytes, finds the same layers, and continues where the run stopped.
    """
    store = Recording(file, create=False)
    names = store.engines()
    fitting = [name for name in names if of is None or nominal(of) in (name, nominal(name))]
    if len(fitting) != 1:
        what = f"not of {nominal(of)}" if of and not fitting else "say which one: of=…"
        raise SettingError(f"{file} holds answers of {', '.join(names) or 'no model'}; {what}")
    effort, window = split_spec(fitting[0])[1].get("effort"), partial(store.window, fitting[0])
    return ChatEngine(fitting[0], replaying(store), concurrency=concurrency, seed=seed, effort=effort, window=window)
