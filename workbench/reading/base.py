"""The base class of readers: evidence in, answer out.

All readers but `global` are a `ContextReader`. They differ in the context that they lay out (`uncompressed`) and in the
defaults of their `Settings`; what becomes of a context is the same for all of them, and is here:

    uncompressed → compress → route → ask a prompt → once more, if it abstained → check

Compression, routing and a second prompt are those of "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045), and
are off unless they are asked for (docs/reading.md)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

from pydantic import Field

from workbench.errors import SettingError
from workbench.layouts import cut, of_evidence
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Step
from workbench.llm.window import room_beside
from workbench.reading.prompts import PROMPTS, ROUTERS, TOKENS, Route, other, route, step_of
from workbench.reading.render import Context, Contexts, cut_down, laid_out, render
from workbench.records import Answer, ContextGraph, Evidence, Reading, Record
from workbench.settings import Number, Positive, changed, parse_spec, settle, spec_of, validated
from workbench.steps.answer import Input, Mode
from workbench.steps.final_answer import EXTRACTIONS, Extracted
from workbench.trace import Trace

if TYPE_CHECKING:
    from workbench.index import Index


class Reader(Protocol):
    """`label` is its SPEC. A failure of the engine is the answer's `failure`; it is never an exception."""

    @property
    def name(self) -> str: ...

    @property
    def paper(self) -> str:
        """Whose it is."""
        ...

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of the Steps that a language model is asked."""
        ...

    @property
    def reads_index(self) -> bool:
        """Whether it cannot do without an index, `index=…`."""
        ...

    @property
    def reads(self) -> tuple[str, ...]:
        """Layers of its index that its answers hang on; none where it reads the evidence alone."""
        ...

    @property
    def label(self) -> str: ...

    @property
    def engine(self) -> Engine: ...

    def contexts(self, evidence: Evidence) -> Contexts:
        """The context before compression, and the one that the engine sees."""
        ...

    def read(
        self, question: str, evidence: Evidence, *, contexts: Contexts | None = None, trace: Trace | None = None
    ) -> Answer:
        """The answer. `contexts` are those of the evidence, made here unless they are given; events go into `trace`, by
        default the evidence's own."""
        ...


Prompt = Literal[*PROMPTS]
Passages = Annotated[int, Field(ge=1, title="whole number of passages")]


@validated
class Settings:
    """`prompt` is asked (`PROMPTS`); with `route` that of the question's kind, as `router` tells it, a model in at most
    `router_tokens`. Of an abstention the prompt `retry` is asked, once: `auto` is the other one of the two with
    `route`, and none without.

    `mode`: every prompt refuses what the context does not hold (`reject`), or answers it from the model's own knowledge
    (`open`; Youtu-GraphRAG, arXiv 2508.19855, appendix A.6).

    `compress` is a compressor or its SPEC. `extraction` says how an answer is read off a reply and what counts as
    abstaining: `strict`, `thesis` as the paper's code does, or `hipporag2`, the first "Answer:" of `thought`.
    `temperature` is that of the prompts; the router's is 0. `check` has the answer checked against the facts of the
    evidence, for which the reader needs an index."""

    prompt: Prompt = "thought"
    compress: Any = None
    route: bool = False
    retry: Literal[None, "auto", *PROMPTS] = "auto"
    router: Literal[*ROUTERS] = "model"
    router_tokens: Positive = TOKENS
    extraction: Literal[*EXTRACTIONS] = "strict"
    temperature: Annotated[Number, Field(ge=0, le=2)] = 0.0
    check: bool = False
    mode: Mode = "reject"


class ContextReader(Record):
    """A reader that asks one prompt, or one of several, about one context."""

    name: ClassVar[str]
    paper: ClassVar[str] = ""
    reads_index: ClassVar[bool] = False
    Settings: ClassVar[type[Settings]] = Settings

    def __init__(self, engine: Engine | None = None, *, index: Index | None = None, **settings: Any):
        self.engine, self.index = engine or RulesEngine(), index
        self.settings, changed = settled(type(self), settings)
        if self.settings.route and "prompt" in changed:
            raise SettingError(
                f"prompt={self.settings.prompt!r} and route=true exclude each other, because route chooses the "
                "prompt; leave one out"
            )
        if self.settings.check and index is None:
            raise SettingError(
                f"check=true looks up facts in an index; pass it: wb.reader('{self.name}[check=true]', index=index)"
            )
        self.compressor = _compressor(self.settings.compress)
        if self.compressor is not None:
            changed["compress"] = self.compressor
        self.label = spec_of(self.name, changed)
        self.steps = tuple(dict.fromkeys(self.asked(self.settings)))

    @property
    def reworded(self) -> tuple[Step, ...]:
        """The reader's Steps whose messages differ from the catalogue's: the prompts of the mode `open`."""
        named = (name for name, prompt in PROMPTS.items() if prompt.step.name in self.steps)
        return tuple(step_of(name, "open") for name in named) if self.settings.mode == "open" else ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The layers in which it looks up the facts of a check."""
        if not (self.settings.check or self.reads_index):
            return ()
        stated = "extractions" if "extractions" in self.index.manifest["layers"] else "typed"
        return ("passages", stated, "facts")

    @abstractmethod
    def uncompressed(self, evidence: Evidence) -> Context:
        """The context that the reader lays out, before any compression."""

    def contexts(self, evidence: Evidence) -> Contexts:
        """The context before and after compression, which goes by the question of the evidence, and after what the
        window of the engine makes of either."""
        return Contexts(self.uncompressed(evidence), partial(self._held, evidence))

    def room(self, question: str) -> int | None:
        """Tokens of a context that the engine's window holds beside the longest prompt of this reader, the question and
        the answer; None where no window is known."""
        window = getattr(self.engine, "window", None)
        if window is None:
            return None
        given, mode = Input(question, "", ()), self.settings.mode
        steps = [(step_of(prompt, mode), PROMPTS[prompt].input_of(given)) for prompt in self.prompts(self.settings)]
        return min(room_beside(step, value, window) for step, value in steps)

    def context(self, evidence: Evidence) -> Context:
        """What `read` shows to the engine."""
        return self.contexts(evidence).shown

    def read(
        self, question: str, evidence: Evidence, *, contexts: Contexts | None = None, trace: Trace | None = None
    ) -> Answer:
        """The answer. Its trace is the evidence's, with the reading added, unless another is given."""
        trace, contexts = trace_of(evidence, trace), contexts or self.contexts(evidence)
        with trace.span("CHAIN", self.label, question=question, tokens=contexts.retrieved.tokens) as span:
            context = self._final(contexts, trace)
            if context.cut_to is not None:
                span.set(cut_to=context.cut_to)
            answer = replace(
                self.answer(question, evidence, context, trace),
                reader=self.label,
                engine=self.engine.name,
                passages=tuple(passage.id for passage in context.passages),
                trace=trace,
            )
            if self.settings.check and answer.text:
                answer = replace(answer, proof=_proof(answer, evidence, self.index, self.engine, trace))
            span.set(answer=answer.text, abstained=answer.abstained)
            if answer.reading.flaw:
                span.set(flaw=answer.reading.flaw)
        return answer

    def answer(self, question: str, evidence: Evidence, context: Context, trace: Trace) -> Answer:
        """The answer from a context, as far as the prompts give it."""
        given = self._given(question, context)
        chosen = self._route(question, trace)
        prompt = chosen.prompt
        extracted = self._ask(prompt, given, trace)
        second = self._second(prompt)
        retried = extracted.abstained and second is not None
        if retried:
            prompt = second
            with trace.span("CHAIN", "retry") as span:
                span.set(prompt=prompt)
                extracted = self._ask(prompt, given, trace)
        compressor = self.compressor.label if self.compressor else ""
        reading = Reading(prompt, chosen.kind, chosen.invalid, retried, extracted.flaw, compressor, context.tokens)
        return answer_of(question, extracted, reading)

    def _given(self, question: str, context: Context) -> Input:
        return Input(question, context.text, context.texts, context.ends, self.settings.mode)

    def _route(self, question: str, trace: Trace) -> Route:
        if not self.settings.route:
            return Route(self.settings.prompt)
        return route(question, self.engine, self.settings.router, trace, self.settings.router_tokens)

    def _second(self, prompt: str) -> str | None:
        if self.settings.retry == "auto":
            return other(prompt) if self.settings.route else None
        return self.settings.retry

    def _ask(self, prompt: str, given: Input, trace: Trace) -> Extracted:
        chosen = PROMPTS[prompt]
        step = step_of(prompt, self.settings.mode, self.settings.extraction)
        step = replace(step, temperature=self.settings.temperature)
        (result,) = self.engine.run(step, [chosen.input_of(given)], trace=trace)
        if result.failure:
            return Extracted(failure=result.failure, reply=result.text)
        return chosen.extract(result, self.settings.extraction)

    def _held(self, evidence: Evidence, context: Context) -> Context:
        compressed, room = self._compressed(evidence, context, self.compressor), self.room(evidence.question)
        if room is None or compressed.tokens <= room:
            return compressed
        return self._within(room, evidence, context)._replace(cut_to=room)

    def _compressed(self, evidence: Evidence, context: Context, compressor: Any) -> Context:
        if compressor is None:
            return context
        made = compressor.compress(evidence.question, self.tables(evidence, context))
        return cut_down(evidence, context, made)

    def _within(self, room: int, evidence: Evidence, context: Context) -> Context:
        """The context of so many tokens by the reader's own rules: a smaller budget, of its compressor if it has one;
        of a context that a method lays out whole, as much of each table as fits."""
        if self.compressor is not None:
            return self._compressed(evidence, context, _of_budget(self.compressor, max(1, room)))
        if not room:
            return render(replace(evidence, passages=()))
        if context.graph is not None and context.graph is evidence.context:
            return laid_out(evidence, cut(context.graph, room))
        if not hasattr(self.settings, "budget"):
            return context
        smaller = copy(self)
        smaller.settings = replace(self.settings, budget=room)
        return smaller.uncompressed(evidence)

    def _final(self, contexts: Contexts, trace: Trace) -> Context:
        if self.compressor is None:
            return contexts.shown
        with trace.span("CHAIN", "compress") as span:
            made = contexts.shown.compressed
            span.set(
                compressor=made.compressor, seeds=list(made.seeds), hops=dict(made.hops), kept=made.kept,
                tokens=made.tokens, tokens_before=made.tokens_before,
            )  # fmt: skip
            if made.fallback:
                span.set(fallback=made.fallback)
        return contexts.shown

    def tables(self, evidence: Evidence, context: Context) -> ContextGraph:
        """What there is to compress: the context's own tables, else those of the evidence, of which only the passages
        that the context holds."""
        if context.graph is not None:
            return context.graph
        ids = {passage.id for passage in context.passages}
        passages = tuple(scored for scored in evidence.passages if scored.item.id in ids)
        return of_evidence(replace(evidence, passages=passages, context=None))

    @classmethod
    def asked(cls, settings: Settings) -> Iterator[str]:
        """Names of the Steps that may be asked with these settings."""
        if settings.route and settings.router == "model":
            yield "classify_question"
        for prompt in cls.prompts(settings):
            yield PROMPTS[prompt].step.name
        if settings.check:
            yield "write_patterns"

    @classmethod
    def prompts(cls, settings: Settings) -> tuple[str, ...]:
        """Names of the prompts that may be asked with these settings."""
        asked_prompts = ("sparql", "cot") if settings.route else (settings.prompt,)
        return (*asked_prompts, settings.retry) if settings.retry in PROMPTS else asked_prompts

    def __repr__(self) -> str:
        return f"{self.label} with engine {self.engine.name}"


def answer_of(question: str, extracted: Extracted, reading: Reading) -> Answer:
    """The answer that was read off a reply."""
    text, abstained, thought, _, failure, reply = extracted
    return Answer(question, text, abstained, thought, failure=failure, reading=reading, reply=reply)


def trace_of(evidence: Evidence, trace: Trace | None) -> Trace:
    """The trace that a reader writes into: the given one, else the evidence's."""
    given = trace if trace is not None else evidence.trace
    return given if given is not None else Trace("off")


def settled(reader: type, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """(settings of a reader, those that differ from its defaults)."""
    settings = settle(f"the reader {reader.name}", reader.Settings, given)
    return settings, changed(settings)


def check_shares(settings: Any, *names: str) -> None:
    """Refuse shares of a budget that sum to more than one."""
    if sum(getattr(settings, name) for name in names) > 1:
        given = ", ".join(f"{name}={getattr(settings, name)!r}" for name in names)
        raise SettingError(f"{given} sum to more than 1, the whole budget; lower one of them")


def _of_budget(compressor: Any, budget: int) -> Any:
    """The same compressor with a smaller budget; itself where it has none."""
    from workbench.reading.compression import compressor as named

    if getattr(compressor, "budget", 0) <= budget:
        return compressor
    name, settings = parse_spec(compressor.label)
    return named(name, **{**settings, "budget": budget})


def _compressor(given: Any):
    if given is None:
        return None
    from workbench.reading.compression import compressor

    return compressor(given)


def _proof(answer: Answer, evidence: Evidence, index: Index, engine: Engine, trace: Trace):
    from workbench.sparql import verify

    return verify(answer, evidence, index, engine, trace=trace)
