"""Shortening of answers by a model before EM and F1 (`rewrite=true`; "The Reasoning Bottleneck in Graph-RAG", arXiv
2603.14045, does so for its 8B model, with a prompt that it does not print).

The reader's own answer stays as it is: accuracy, its judge and abstentions are of that text, only EM and F1 of the
short one (`measures.OF_SHORT`). The setting is of every reader, and of none: `workbench.reading.reader` puts what is
here around the reader, so that readers without it, and the keys of their rows, are not touched."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from workbench.errors import SettingError
from workbench.llm.step import Step
from workbench.reading.base import Reader, trace_of
from workbench.reading.render import Contexts
from workbench.records import Answer, Evidence, Record
from workbench.settings import parse_spec, spec_of
from workbench.steps import final_answer
from workbench.trace import Trace

SETTING = "rewrite"


@dataclass(frozen=True, slots=True, repr=False)
class ShortAnswer(Answer):
    """An answer with its `short` form; None if it has no text, or the rewriting failed: EM and F1 then use the text
    itself."""

    short: str | None = None


class Rewriting(Record):
    """A reader whose answers its engine makes short."""

    def __init__(self, reader: Reader):
        self.reader, self.name, self.paper = reader, reader.name, reader.paper
        self.engine, self.index = reader.engine, getattr(reader, "index", None)
        self.reads_index, self.reads = reader.reads_index, reader.reads
        name, given = parse_spec(reader.label)
        self.label = spec_of(name, {**given, SETTING: True})
        self.steps = (*reader.steps, final_answer.SHORTEN.name)

    @property
    def reworded(self) -> tuple[Step, ...]:
        return getattr(self.reader, "reworded", ())

    def contexts(self, evidence: Evidence) -> Contexts:
        return self.reader.contexts(evidence)

    @property
    def limits(self) -> dict[str, int]:
        return getattr(self.reader, "limits", {})

    def room(self, question: str) -> int | None:
        """As of the reader, whose context is read; None for a reader that is not asked about one."""
        return self.reader.room(question) if hasattr(self.reader, "room") else None

    def read(
        self, question: str, evidence: Evidence, *, contexts: Contexts | None = None, trace: Trace | None = None
    ) -> ShortAnswer:
        """The reader's answer, with a short form."""
        trace = trace_of(evidence, trace)
        answer = self.reader.read(question, evidence, contexts=contexts, trace=trace)
        values = {field.name: getattr(answer, field.name) for field in fields(answer)}
        return ShortAnswer(**{**values, "reader": self.label}, short=self._short(answer, trace))

    def _short(self, answer: Answer, trace: Trace) -> str | None:
        if not answer.text or answer.failure:
            return None
        with trace.span("CHAIN", SETTING) as span:
            given = final_answer.LongAnswer(answer.question, answer.text)
            (result,) = self.engine.run(final_answer.SHORTEN, [given], trace=trace)
            short = None if result.failure else result.value.reply.strip()
            span.set(short=short or "", **({"failure": result.failure} if result.failure else {}))
        return short or None

    def __repr__(self) -> str:
        return f"{self.label} with engine {self.engine.name}"


def asked_for(given: dict[str, Any]) -> bool:
    """Remove the setting from those of a reader. Raises :class:`SettingError` unless it is true or false."""
    value = given.pop(SETTING, False)
    if not isinstance(value, bool):
        raise SettingError(f"{SETTING}={value!r}; it should be true or false")
    return value
