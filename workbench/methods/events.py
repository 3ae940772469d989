"""Typed events: a method writes records into a trace, and a reader of the trace gets the same records back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from workbench.errors import DataError, SettingError
from workbench.records import Evidence, Record
from workbench.trace import Event, Span, Trace

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class TraceEvent(Record):
    """An event of one kind. Its field names are its keys in the trace, in this order; an output that is None is
    omitted.

    kind     its OpenInference span kind
    step     its name in the trace, which may contain fields: `round {round}`
    inputs   the fields known when it begins; all others are its outputs
    scores   the field stored as the scores of the event, as (id, score)"""

    kind: ClassVar[str] = "CHAIN"
    step: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]] = ()
    scores: ClassVar[str | None] = None

    failure: str | None = field(default=None, kw_only=True)

    @classmethod
    @contextmanager
    def open(cls, trace: Trace, **inputs: Any) -> Iterator[Callable[..., Self]]:
        """Begin the event. Yields a function that takes the whole record, or its other fields, and writes and returns
        it."""
        with trace.span(cls.kind, cls.step.format(**inputs), **inputs) as span:
            yield lambda record=None, **others: (record or cls(**inputs, **others))._write(span)

    def _write(self, span: Span) -> Self:
        names = [field.name for field in fields(self) if field.name not in (*self.inputs, self.scores, "failure")]
        outputs = {name: getattr(self, name) for name in (*names, "failure")}
        span.set(**{name: value for name, value in outputs.items() if value is not None})
        if self.scores:
            span.score(getattr(self, self.scores))
        return self

    @classmethod
    def read(cls, event: Event) -> Self:
        """The record of an event of this kind. Raises ValueError for an event in another format."""
        scores = {cls.scores: event.scores} if cls.scores else {}
        return read_record(cls, {**event.inputs, **event.outputs, **scores})

    @classmethod
    def find(cls, events: Iterable[Event]) -> Self | None:
        """The first of these events of this kind; None if there is none, or if it broke before it was written."""
        event = next((event for event in events if event.step == cls.step), None)
        return None if event is None or cls._unwritten(event) else cls.read(event)

    @classmethod
    def _unwritten(cls, event: Event) -> bool:
        required = {field.name for field in fields(cls) if field.default is field.default_factory is MISSING}
        needed = required - {*cls.inputs}
        return bool(needed) and event.failure is not None and needed.isdisjoint(event.outputs)


def read_record(kind: type[T], stored: Mapping[str, Any]) -> T:
    """A dataclass from plain JSON values. Raises ValueError that names the first field which does not fit."""
    try:
        return _adapter(kind).validate_python(stored)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def trace_of(made: Trace | Evidence) -> Trace:
    """The trace itself, or that of evidence. Raises SettingError for evidence without one."""
    if isinstance(made, Trace):
        return made
    if made.trace is None:
        raise SettingError(f"the evidence of {made.method} has no trace; retrieve with trace='full'")
    return made.trace


def root_of(trace: Trace, step: str, parts: str, take: str) -> Event:
    """The event of a whole retrieval, under which one of `step` stands. Raises DataError for a trace that holds none,
    so that it lacks its `parts`; `take` says which trace to take."""
    part = next(iter(trace.find(step)), None)
    if part is None or part.parent is None:
        made_by = f"the trace of {trace[0].step}" if len(trace) else f"an empty trace (level {trace.level})"
        why = f": {trace[0].outputs['fallback']}" if len(trace) and "fallback" in trace[0].outputs else ""
        raise DataError(f"{made_by} has no {parts}{why}; {take}, recorded at level full or ids")
    return trace[part.parent]


@contextmanager
def read_as_written(step: str, writer: str) -> Iterator[None]:
    """Read a trace of `step` in this block: raises DataError where its events are not as `writer` writes them."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise DataError(f"the trace of {step} is not as {writer} writes it ({why}); record it again") from error


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)
