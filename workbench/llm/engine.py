"""Engines: what runs Steps. `engine("rules")`, `engine("openai:gpt-4o-mini")`, `engine("local:smollm2")`,
`engine("replay:first.sqlite")`.

`run(step, inputs)` gives one Result per input, in their order. One bad input is a failed Result; an engine that cannot
go on at all raises an `EngineError`.
"""

from __future__ import annotations

import inspect
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, Self

from workbench.errors import SettingError
from workbench.language.foreign import spoken
from workbench.llm.call import open_address
from workbench.llm.meter import LIMITS, Budget, Meter
from workbench.llm.step import Result, Step, Usage
from workbench.records import Record
from workbench.registry import Registry
from workbench.settings import parse_spec
from workbench.spread import by_size, is_spread, spread
from workbench.trace import Trace

LOOKED_AT = 20  # inputs of a batch, for their language
RULES = "workbench.rules"  # the table of rule bodies, which are written for Steps
PIECE = 16  # inputs of a piece for a worker, or twice as many as an engine is asked at a time, if that is more
UNREAD = 3  # replies that could not be read, which an error quotes


class OtherLanguage(UserWarning):
    """The rules were given a text that is plainly not in English."""


class Engine(Protocol):
    """`name` identifies what answers: `rules`, or the kind and the model. Layers, runs and recordings go by it."""

    name: str
    meter: Meter

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]: ...


@dataclass(frozen=True)
class Recipe:
    """What an engine, or an encoder, was made from: enough to make it again in another process. Recording, budget and
    wordings are no part of it, and neither is what is secret: `key_given` and `login_given` say that a key, or an
    address with a login, was passed in."""

    spec: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    key_given: bool = False
    login_given: bool = False

    @classmethod
    def of(cls, spec: str, options: Mapping[str, Any]) -> Recipe:
        apart = ("model", "api_key", "base_url", "record", "budget", *LIMITS)
        settings = {name: value for name, value in options.items() if name not in apart}
        model, at, rest = spec.partition("@http")
        address = f"http{rest}" if at else options.get("base_url") or ""
        if shown_url := open_address(address):
            settings["base_url"] = shown_url
        return cls(model, settings, bool(options.get("api_key")), shown_url != address)


class EngineBase(Record):
    """What engines share: a meter, and `with engine(…) as e:`, which gives back what an engine holds."""

    prompts: Mapping[str, Any] = {}  # Step → the wording of a file, where one was given (`workbench.llm.wording`)
    budget: Budget | None = None
    recipe: Recipe | None = None  # None: it was made otherwise than by `engine`

    def __init__(self) -> None:
        self.meter = Meter()

    @property
    def builder(self) -> Any:
        """The engine that builds layers if this one is given."""
        return self

    @property
    def window(self) -> int | None:
        """Tokens of prompt and answer together that the model can hold; None if unknown, or without a limit."""
        return None

    def close(self) -> None:
        """Nothing is held here."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RulesEngine(EngineBase):
    """Runs the rule bodies: deterministic, no key, no network. Its results are rules' results and are labelled so.

    The rules read English. Where an input is plainly in another language, a warning says so, once for each language."""

    name = "rules"
    workers = 1  # how many questions are worth asking side by side

    def __init__(self) -> None:
        super().__init__()
        self._warned: set[str] = set()

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        started = time.perf_counter()
        self.warn(inputs)
        results = by_rule(step, inputs)
        failed = sum(result.usage.failed for result in results)
        self.meter.add(step.name, Usage(calls=len(inputs), seconds=time.perf_counter() - started, failed=failed))
        note(trace, self.name, step, results)
        return results

    def warn(self, inputs: Sequence[Any]) -> None:
        """Say once of each other language than English that the rules do not read it."""
        heard = {language for value in inputs[:LOOKED_AT] if (language := spoken(value))}
        for language in heard - self._warned:
            self._warned.add(language)
            message = f"the rules read English, and a text here is plainly in another language ({language})"
            warnings.warn(f"{message}: what they make of it means little; ask a model", OtherLanguage, stacklevel=3)

    def __repr__(self) -> str:
        return f"RulesEngine({self.meter.total.calls:,} Steps run)"


def by_rule(step: Step, inputs: Sequence[Any]) -> list[Result]:
    """The results of a rule body for the whole batch; if that fails, one by one, so that a bad input fails alone."""
    rule = import_module(RULES).rule_for(step)
    if rule is None:
        why = f"the Step {step.name!r} has no rule body: ask a model, or add one with wb.register(STEP, rule=…)"
        return [Result(None, failure=f"SettingError: {why}", usage=Usage(calls=1, failed=1)) for _ in inputs]
    try:
        outputs = list(rule(inputs))
        if len(outputs) != len(inputs):
            raise ValueError(f"the rule body gave {len(outputs)} outputs for {len(inputs)} inputs")
        return [Result(value, parse="rules", usage=Usage(calls=1)) for value in outputs]
    except Exception as error:
        if len(inputs) == 1:
            return [Result(None, failure=f"{type(error).__name__}: {error}", usage=Usage(calls=1, failed=1))]
        return [by_rule(step, [value])[0] for value in inputs]


_unread: ContextVar[dict[str, str] | None] = ContextVar("unread", default=None)


@contextmanager
def noting_unread(replies: dict[str, str]) -> Iterator[None]:
    """Adds the first `UNREAD` replies to Steps run within the block that could not be read: reply → why."""
    token = _unread.set(replies)
    try:
        yield
    finally:
        _unread.reset(token)


def note(trace: Trace | None, engine: str, step: Step, results: Sequence[Result]) -> None:
    """Write one LLM event per result, in the order of the inputs."""
    if (replies := _unread.get()) is not None:
        for result in results:
            if result.failure and result.text.strip() and len(replies) < UNREAD:
                replies.setdefault(result.text, result.failure)
    if not trace:
        return
    for result in results:
        messages = [dict(message) for message in result.messages]
        with trace.span("LLM", step.name, engine=engine, messages=messages) as span:
            if result.failure or result.value is None:
                span.set(failure=result.failure, text=result.text)
            else:
                span.set(**result.value.model_dump(), parse=result.parse)
            if result.reasoning:
                span.set(reasoned=result.reasoning)
            if result.sent:
                span.set(sent=result.sent)
            if result.usage.prompt_tokens or result.usage.completion_tokens:
                span.tokens(prompt=result.usage.prompt_tokens, completion=result.usage.completion_tokens)


class SpreadEngine:
    """Everything of another engine but `run`, which divides its inputs over the workers of the cluster that is open
    (`workbench.spread`). What they ask is counted by the engine's own meter, and kept in its own recording."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        pieces = list(by_size(list(inputs), max(PIECE, 2 * getattr(self._engine, "concurrency", 1))))
        if len(pieces) < 2:
            return self._engine.run(step, inputs, trace=trace)
        parts: Iterable[list[Result]] = spread(pieces, partial(_run, self._engine, step))
        results = [result for part in parts for result in part]
        note(trace, self.name, step, results)
        return results


def _run(engine: Engine, step: Step, inputs: Sequence[Any]) -> list[Result]:
    return engine.run(step, inputs)


def spread_out(engine: Engine | None) -> Engine | None:
    """The engine, spread over the workers of the open cluster; without one, the engine itself."""
    return engine if engine is None or not is_spread() else SpreadEngine(engine)


def engine(spec: str | Engine = "rules", **options: Any) -> Engine:
    """The engine that a SPEC names.

    rules                         the rule bodies
    openai:MODEL[@BASE_URL]       any OpenAI-compatible endpoint; the key from `api_key` or OPENAI_API_KEY
    local:FILE.gguf               a model inside this process; local:smollm2 is the small one that comes as a package
    replay:FILE                   what was recorded, and nothing else
    worked[:DATA]                 replies that were written by hand for some questions of a data set, of meridian by
                                  default; rules answer what no reply was written for

    `options` go to the engine, and can be written into the SPEC: `local:smollm2[context=8192,concurrency=2]`. They are
    the arguments of `openai_engine` and `replay_engine` (`workbench.llm.chat`) and `local_engine`
    (`workbench.llm.local`); docs/engines.md lists them. `max_money` (US dollars), `max_tokens` and `max_calls` stop a
    run before a call that would begin beyond them, or `budget`, a `workbench.llm.meter.Budget` that engines share.
    `prompts` is a folder with the wording of Steps (`workbench.llm.wording`); rules read none.
    """
    if not isinstance(spec, str):
        return spec
    bare, written = split_spec(spec)
    kind, _, rest = bare.partition(":")
    if kind not in KINDS:
        # Only the kind is named: the rest may be an address with a password.
        raise SettingError(
            f"engine {kind!r} is unknown; use rules, openai:<model>[@<base url>], local:<file>.gguf, "
            "replay:<file> or worked"
        )
    make, options = KINDS[kind], {**written, **options}
    budget, prompts = budget_of(options), options.pop("prompts", None)
    if prompts is not None and kind == RulesEngine.name:
        raise SettingError("rules read no prompt; prompts=… is for the engines that ask a model")
    accepted = list(inspect.signature(make).parameters)[1:]
    unknown = [name for name in options if name not in accepted]  # names alone: a value may be a key
    if unknown:
        raise SettingError(f"the engine {kind!r} has no option {unknown[0]!r}; it has {', '.join(accepted) or 'none'}")
    made: Any = make(rest, **options)
    made.recipe = Recipe.of(bare, options)
    if prompts is not None:
        from workbench.llm.wording import wordings

        made.prompts = wordings(prompts)
    if budget is not None and kind not in FREE:
        made.limit(budget)
        made.budget = budget
    return made


def budget_of(options: dict[str, Any]) -> Budget | None:
    """What the options say of a budget, which is taken out of them."""
    shared, limits = options.pop("budget", None), {name: options.pop(name) for name in LIMITS if name in options}
    if shared is not None and limits:
        raise SettingError(f"budget=… has its own limits; leave out {', '.join(limits)}")
    return Budget(**limits) if limits else shared


def nominal(spec: str) -> str:
    """What a SPEC, or an engine's name, calls the model: without address, folder, fingerprint and options."""
    kind, colon, rest = split_spec(spec)[0].partition(":")
    rest = rest.partition("@http")[0]
    return kind + colon + (Path(rest).name.partition("#")[0].removesuffix(".gguf") if kind == "local" else rest)


def no_model(name: str) -> str:
    """The label of an engine, by its name, that asks no language model: wherever its results show. Empty for others.

    >>> no_model("rules"), no_model("worked:meridian#7000ef98"), no_model("openai:rules")
    ('rules', 'replies written by hand', '')
    >>> no_model("worked+rules:meridian#7000ef98")
    'replies written by hand, else rules'
    """
    return NO_MODEL.get(name.partition(":")[0], "")


def rules_stand_in(name: str) -> bool:
    """Whether rules answer some, but not all, requests of an engine of this name."""
    return name.partition(":")[0].endswith("+rules")


def whose_words(engines: Iterable[str]) -> str:
    """Who answered, by names of engines: models by these, others by their labels.

    >>> whose_words(["worked:meridian#7000ef98", "rules"]), whose_words(["rules", "openai:gpt-4o-mini"])
    ('replies written by hand and rules', 'rules and openai:gpt-4o-mini')
    """
    return " and ".join(dict.fromkeys(no_model(name) or name for name in engines))


def split_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """A SPEC without its options, and these: the bracket that ends it, if it holds key=value."""
    match = re.fullmatch(r"(.*?)(\[\w+=[^\[\]]*\])", spec, re.DOTALL)
    return (match[1], parse_spec(f"engine{match[2]}")[1]) if match else (spec, {})


def rules_engine(rest: str) -> Engine:
    if rest:
        raise SettingError(f"the engine 'rules' takes no model; got {rest!r}")
    return RulesEngine()


_BY_HAND = "replies written by hand"
# The kind that an engine's name begins with -> whose words a result is made of.
NO_MODEL = {"rules": "rules", "worked": _BY_HAND, "worked+rules": f"{_BY_HAND}, else rules"}
FREE = (*NO_MODEL, "replay")  # they send no request, so no budget is spent

# Each is imported when it is asked for: the rules must not wait for clients that they do not need.
KINDS: Registry[Callable[..., Engine]] = Registry(
    "engines",
    {
        "rules": "workbench.llm.engine:rules_engine",
        "openai": "workbench.llm.chat:openai_engine",
        "local": "workbench.llm.local:local_engine",
        "replay": "workbench.llm.chat:replay_engine",
        "worked": "workbench.llm.worked:worked_engine",
    },
)
