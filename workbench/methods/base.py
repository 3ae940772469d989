"""The base class of all retrieval methods.

A method declares its name, paper, layers, Steps, score scale and `Settings` (a frozen dataclass whose fields are its
hyper-parameters), and implements `search`. This class supplies the rest: `retrieve`, limits, label, root of the trace.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from workbench import threads, tokens
from workbench.errors import SettingError
from workbench.index import Index
from workbench.layouts import cut
from workbench.layouts.evidence import within
from workbench.llm.engine import Engine, RulesEngine
from workbench.records import Evidence, Record
from workbench.settings import settle, spec_of, validated
from workbench.trace import Trace

CUT_TO_K = "cut to k"  # in the remark of an evidence whose method would have chosen more passages


@validated
class NoSettings:
    """For methods without hyper-parameters."""


class Method(Record):
    """A retrieval method over an index. `engine` runs its Steps (`rules` if none is given)."""

    name: ClassVar[str]
    paper: ClassVar[str]
    layers: ClassVar[tuple[str, ...]] = ("passages",)
    steps: ClassVar[tuple[str, ...]] = ()  # requests to a language model per question
    scale: ClassVar[str]
    finds: ClassVar[bool] = True  # whether it has passages for a question at all
    encodes: ClassVar[bool] = True  # whether its questions need the encoder, which is then loaded before the first
    Settings: ClassVar[type] = NoSettings
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # the first profile is the default

    def __init__(self, index: Index, engine: Engine | None = None, **settings: Any):
        self.index = index.ensure(self.layers, engine)
        self.engine = engine or RulesEngine()
        self.settings: Any = settle(self.name, self.Settings, settings, self.profiles)
        self.label = spec_of(self.name, settings)
        threads.settle()
        self.prepare()

    @property
    def engines(self) -> tuple[Engine, ...]:
        """The engines in use: the method's own, and those of the methods that it contains."""
        return (self.engine,)

    @property
    def reads(self) -> tuple[str, ...]:
        """The layers on which the results depend: the required ones, and optional ones that are read if they exist."""
        return tuple(self.layers)

    @property
    def weights_hash(self) -> str:
        """The SHA-256 of the trained weights that its results depend on; empty for a method without."""
        return ""

    def prepare(self) -> None:
        """Compute once what every question needs."""

    @abstractmethod
    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        """The evidence with at most k passages, best first. Events go into `trace`; the caller adds it to the
        evidence."""

    def retrieve(
        self, question: str, k: int = 10, *, budget: int | None = None, trace: Trace | str = "full"
    ) -> Evidence:
        """The evidence for a question: at most `k` passages, of at most `budget` cl100k tokens together.

        `trace` is a level (`off`, `ids`, `full`) or a trace to write into. An empty question gives empty evidence.
        Raises SettingError for a k or budget below 1.
        """
        if not isinstance(k, int) or k < 1:
            raise SettingError(f"k={k!r}; it should be a whole number of at least 1")
        if budget is not None and budget < 1:
            raise SettingError(f"budget={budget!r}; it should be a number of tokens of at least 1, or None")
        trace = trace if isinstance(trace, Trace) else Trace(trace)
        with trace.span("CHAIN", self.label, question=question, k=k, budget=budget) as span:
            if question.strip():
                evidence = self.search(question, k, trace)
            else:
                evidence = Evidence(question, self.label, self.scale, (), fallback="the question is empty")
            if budget is not None:
                evidence = within_budget(evidence, budget)
            span.set(scale=evidence.scale, passages=len(evidence.passages))
            if evidence.fallback:
                span.set(fallback=evidence.fallback)
            span.score(evidence.ranking)
        return replace(evidence, trace=trace)

    def __repr__(self) -> str:
        return f"{self.label} over {self.index.name!r}, engine {self.engine.name}: {self.settings}"


def within_budget(evidence: Evidence, budget: int) -> Evidence:
    """The evidence with only the leading passages whose contents, each followed by a blank line, fit into `budget`
    tokens, and with the leading rows of each table of the method's own context."""
    leading, _ = tokens.leading(evidence.passages, lambda scored, _: tokens.count(scored.item.content + "\n\n"), budget)
    selected = evidence.selected if evidence.selected is None else min(evidence.selected, len(leading))
    context = evidence.context
    if context is not None:
        context = within(context, budget) if context.layout == "ket_rag" else cut(context, budget)
    return replace(evidence, passages=tuple(leading), selected=selected, context=context)
