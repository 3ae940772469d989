"""The engine that asks a chat model: a row of wrappers around one call, then the meter and the parser.

    record ← retry ← endpoint, or for a replay the recording alone; the engine meters and parses what comes out
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from workbench.errors import SettingError
from workbench.llm.call import Call, CallFailed, Reply, Request
from workbench.llm.engine import note
from workbench.llm.meter import Meter, money
from workbench.llm.parse import Unreadable, parse
from workbench.llm.record import Recording, recording, replaying
from workbench.llm.retry import retrying
from workbench.llm.step import Result, Step, Usage
from workbench.records import Record
from workbench.text import storable
from workbench.trace import Trace


class ChatEngine(Record):
    """Runs Steps by asking a chat model, `concurrency` requests at a time.

    `call` is the outermost wrapper. An unparsable or refused answer is that input's failure; an endpoint that is gone,
    or refuses the key, stops the run with an `EngineError` after the requests in flight.
    """

    def __init__(self, name: str, model: str, call: Call, *, concurrency: int = 8, seed: int = 0):
        if not isinstance(concurrency, int) or concurrency < 1:
            raise SettingError(f"concurrency={concurrency!r}; it should be a whole number from 1 on")
        self.name, self.model, self.meter = name, model, Meter()
        self.concurrency, self.seed, self._call = concurrency, seed, call
        self.workers = concurrency

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
            step.name, self.model, messages, step.schema, step.temperature, step.max_tokens, self.seed, accept
        )

    def _side_by_side(self, step: Step, requests: Sequence[Request]) -> list[Result]:
        pool = ThreadPoolExecutor(min(self.concurrency, max(1, len(requests))))
        try:
            return list(pool.map(lambda request: self._answer(step, request), requests))
        finally:  # after an EngineError or an interrupt, what has not begun is dropped
            pool.shutdown(wait=True, cancel_futures=True)

    def _answer(self, step: Step, request: Request) -> Result:
        try:
            reply = self._call(request)
        except CallFailed as error:
            return Result(None, failure=str(error), usage=Usage(calls=1), messages=request.messages)
        usage = Usage(
            1, reply.prompt_tokens, reply.completion_tokens, reply.seconds,
            money(self.model, reply.prompt_tokens, reply.completion_tokens),
        )  # fmt: skip
        try:
            value, level = parse(step, reply)
        except Unreadable as error:
            return Result(None, f"unreadable: {error}", text=reply.text, usage=usage, messages=request.messages)
        return Result(value, parse=level, text=reply.text, usage=usage, messages=request.messages)

    def __repr__(self) -> str:
        return f"ChatEngine({self.name}: {self.meter!r})"


def openai_engine(
    model: str,
    *,
    record: str | None = None,
    concurrency: int = 8,
    seed: int = 0,
    attempts: int = 5,
    base_url: str | None = None,
    **options: Any,
) -> ChatEngine:
    """`model` or `model@base_url`. With `record=FILE` every good answer is kept there and never asked for again."""
    from workbench.llm.endpoint import endpoint

    model, _, address = model.partition("@http")
    if not model:
        raise SettingError("name a model: openai:<model>, such as openai:gpt-4o-mini")
    if "://" in model:
        raise SettingError("the address of an endpoint begins with http: openai:<model>@http://127.0.0.1:8000/v1")
    call = retrying(endpoint(f"http{address}" if address else base_url, **options), attempts=attempts)
    if record:
        call = recording(call, Recording(record))
    return ChatEngine(f"openai:{model}", model, call, concurrency=concurrency, seed=seed)


def replay_engine(file: str, *, model: str | None = None, seed: int = 0) -> ChatEngine:
    """Answers from a recording; the model is the one recorded, or must be named where there are several.

    Its name holds the model and not the file, so that two replays give the same bytes wherever the file lies.
    """
    store = Recording(file, create=False)
    models = store.models()
    if model is None and len(models) != 1:
        raise SettingError(f"{file} holds answers of {', '.join(models) or 'no model'}; say which one: model=…")
    model = model or models[0]
    return ChatEngine(f"replay:{model}", model, replaying(store), seed=seed)
