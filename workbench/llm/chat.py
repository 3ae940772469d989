"""The engine that asks a chat model: a row of wrappers around one call, then the meter and the parser.

    record ← retry ← endpoint, or for a replay the recording alone; the engine meters and parses what comes out
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from workbench.errors import SettingError
from workbench.llm.call import Call, CallFailed, Reply, Request
from workbench.llm.engine import EngineBase, nominal, note
from workbench.llm.meter import money
from workbench.llm.parse import Unreadable, parse
from workbench.llm.record import Recording, recording, replaying
from workbench.llm.retry import retrying
from workbench.llm.step import Result, Step, Usage
from workbench.text import storable
from workbench.trace import Trace


class ChatEngine(EngineBase):
    """Runs Steps by asking a chat model, `concurrency` requests at a time.

    `name` is the kind and the model, `call` the outermost wrapper, `close` what gives back what the call holds. An
    unparsable or refused answer is that input's failure; an endpoint that is gone, or refuses the key, stops the run
    with an `EngineError` after the requests in flight.
    """

    def __init__(
        self,
        name: str,
        call: Call,
        *,
        concurrency: int = 8,
        seed: int = 0,
        close: Callable[[], None] = lambda: None,
    ):
        super().__init__()
        self.name, self.concurrency, self.seed = name, at_least_one(concurrency=concurrency), seed
        self.workers, self._call, self._close = concurrency, call, close
        weakref.finalize(self, close)  # when nobody holds the engine any more, and at the end of the process

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        requests = [self.request(step, value) for value in inputs]
        if len(requests) == 1:
            results = [self._answer(step, requests[0])]
        else:
            results = self._side_by_side(step, requests)
        for result in results:
            self.meter.add(step.name, result.usage)
        note(trace, self.name, step, results)
        return results

    def request(self, step: Step, value: Any) -> Request:
        def accept(reply: Reply) -> bool:
            try:
                parse(step, reply)
            except Unreadable:
                return False
            return True

        messages = tuple({**message, "content": storable(message["content"])} for message in step.prompt(value))
        return Request(
            step.name, self.name, messages, step.schema, step.temperature, step.max_tokens, self.seed, accept
        )

    def close(self) -> None:
        """Give back what the engine holds: a local model's memory and port. It may be used again, and starts anew."""
        self._close()

    def _side_by_side(self, step: Step, requests: Sequence[Request]) -> list[Result]:
        pool = ThreadPoolExecutor(min(self.concurrency, max(1, len(requests))))
        try:
            return list(pool.map(lambda request: self._answer(step, request), requests))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            self.close()  # a local model stops at once; what an endpoint is asked is paid for, and waited for
            raise
        finally:  # after an EngineError or an interrupt, what has not begun is dropped
            pool.shutdown(wait=True, cancel_futures=True)

    def _answer(self, step: Step, request: Request) -> Result:
        try:
            reply = self._call(request)
        except CallFailed as error:
            usage = Usage(calls=1, failed=1, recorded=int(error.recorded))
            return Result(None, failure=str(error), usage=usage, messages=request.messages)
        usage = Usage(
            1, reply.prompt_tokens, reply.completion_tokens, reply.seconds,
            money(self.name, reply.prompt_tokens, reply.completion_tokens), recorded=int(reply.recorded),
        )  # fmt: skip
        try:
            value, level = parse(step, reply)
        except Unreadable as error:
            usage = replace(usage, failed=1)
            return Result(None, f"unreadable: {error}", text=reply.text, usage=usage, messages=request.messages)
        usage = replace(usage, repaired=int(level == "repaired"), cut=int(level == "cut"))
        return Result(value, parse=level, text=reply.text, usage=usage, messages=request.messages)

    def __repr__(self) -> str:
        return f"ChatEngine({self.name}: {self.meter!r})"


def at_least_one(**settings: Any) -> int:
    """The value of one setting, which must be a whole number from 1 on."""
    ((name, value),) = settings.items()
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise SettingError(f"{name}={value!r}; it should be a whole number from 1 on")
    return value


def recorded(call: Call, record: str | None) -> Call:
    """The call, with its answers kept in the file `record` if there is one."""
    return recording(call, Recording(record)) if record else call


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
    structured: str = "json_schema",
) -> ChatEngine:
    """`model` or `model@base_url`. With `record=FILE` every good answer is kept there and never asked for again."""
    from workbench.llm.endpoint import endpoint

    model, _, address = model.partition("@http")
    if not model:
        raise SettingError("name a model: openai:<model>, such as openai:gpt-4o-mini")
    if "://" in model:
        raise SettingError("the address of an endpoint begins with http: openai:<model>@http://127.0.0.1:8000/v1")
    call = endpoint(f"http{address}" if address else base_url, api_key, timeout=timeout, structured=structured)
    call = recorded(retrying(call, attempts=attempts), record)
    return ChatEngine(f"openai:{model}", call, concurrency=concurrency, seed=seed)


def replay_engine(file: str, *, of: str | None = None, concurrency: int = 8, seed: int = 0) -> ChatEngine:
    """Answers and failures from a recording, of the one engine in it or of that which the SPEC `of` names.

    It has the name of the engine that was recorded, because that is what answers: a replay of a run has the same bytes,
    finds the same layers, and goes on where the run stopped.
    """
    store = Recording(file, create=False)
    names = store.engines()
    found = [name for name in names if of is None or nominal(of) in (name, nominal(name))]
    if len(found) != 1:
        what = f"not of {nominal(of)}" if of and not found else "say which one: of=…"
        raise SettingError(f"{file} holds answers of {', '.join(names) or 'no model'}; {what}")
    return ChatEngine(found[0], replaying(store), concurrency=concurrency, seed=seed)
