"""An engine that sends nothing: it answers from a recording, and what the recording does not hold waits for a batch.

An input whose reply is unknown raises `Deferred`; its siblings go on (`workbench.llm.deferrals`). So the ordinary build
or evaluation finds out by itself what it would ask next, and does all that can be done without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.errors import Deferred, SettingError
from workbench.llm.call import CallFailed, Reply, Request
from workbench.llm.chat import ChatEngine, Recorded, located, named, window_of
from workbench.llm.deferrals import each
from workbench.llm.engine import LIMITS, split_spec
from workbench.llm.record import Recording
from workbench.llm.step import Result, Step

_OF_SENDING = ("api_key", "attempts", "concurrency", "record", "timeout", "structured", "reasoning", *LIMITS)


class Deferring(Recorded):
    """A call that answers, or fails, as recorded, and hands on what is not recorded. With `retry`, recorded failures
    are handed on as well."""

    def __init__(self, store: Recording, collect: Callable[[Request], None], *, retry: bool = False):
        self.store, self._collect, self._retry = store, collect, retry

    def __call__(self, request: Request) -> Reply:
        outcome = self.store.get(request, bad=not self._retry)
        if outcome is None:
            self._collect(request)
            raise Deferred(1)
        if isinstance(outcome, CallFailed):
            raise outcome
        return outcome


class DeferringEngine(ChatEngine):
    """Has the name of the engine whose requests it collects, whose layers and rows are therefore its own. One after
    another, because nothing is waited for."""

    def _results(self, step: Step, requests: Sequence[Request]) -> list[Result]:
        return each(lambda request: self._answer(step, request), requests)

    def __repr__(self) -> str:
        return f"DeferringEngine({self.name}: {self.meter!r})"


def deferring_engine(
    spec: str, store: Recording, collect: Callable[[Request], None], *, retry: bool = False
) -> DeferringEngine:
    """Of the SPEC of an engine behind an endpoint. Of its options those count that decide a request: seed, effort,
    window, prompts."""
    bare, options = split_spec(spec)
    kind, _, rest = bare.partition(":")
    if kind != "openai":
        raise SettingError(f"a batch holds requests to an endpoint, openai:MODEL[@URL]; {kind!r} is none")
    given = {name: value for name, value in options.items() if name not in _OF_SENDING}
    prompts, base_url, seed = given.pop("prompts", None), given.pop("base_url", None), given.pop("seed", 0)
    effort, window = given.pop("effort", None), given.pop("window", None)
    if given:
        raise SettingError(f"the engine 'openai' has no option {next(iter(given))!r}")
    model, url = located(rest, base_url)
    name = named(model, effort)
    of_server = window_of(model, url, options.get("api_key"), window)
    engine = DeferringEngine(
        name, Deferring(store, collect, retry=retry), concurrency=1, seed=seed, effort=effort,
        window=lambda: window or store.window(name) or (of_server and of_server()),
    )  # fmt: skip
    if prompts is not None:
        from workbench.llm.wording import wordings

        engine.prompts = wordings(prompts)
    return engine
