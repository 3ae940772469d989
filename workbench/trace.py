"""The trace: one event record for everything that happens between a question and its answer.

A stage opens a *span*, says what went in, and sets what came out; spans nest. Kinds are those of OpenInference
(https://arize-ai.github.io/openinference/spec/), in upper case.

    trace = Trace()
    with trace.span("RETRIEVER", "link facts", question=question) as span:
        span.set(facts=5)
        span.score([("p1", 0.9)])
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import pandas as pd

from workbench.records import Record
from workbench.text import text_hash

LEVELS = ("off", "ids", "full")
KINDS = ("CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "LLM", "TOOL", "EVALUATOR")
LONG = 80  # characters; a longer text is stored once, under its hash
FORMAT = 1


@dataclass(frozen=True, slots=True, repr=False)
class Event(Record):
    """One thing that happened. `scores` are (id, score) best first; `seconds` takes no part in comparison."""

    id: int
    parent: int | None
    kind: str
    step: str
    inputs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    outputs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    scores: tuple[tuple[str, float], ...] = ()
    tokens: Mapping[str, int] | None = field(default=None, hash=False)
    seconds: float | None = field(default=None, compare=False)

    @property
    def failure(self) -> str | None:
        return self.outputs.get("failure")


class Span:
    """An event while it is open."""

    __slots__ = ("_inputs", "_outputs", "_scores", "_tokens")

    def __init__(self, inputs: dict):
        self._inputs, self._outputs, self._scores, self._tokens = inputs, {}, (), None

    def set(self, **outputs: Any) -> None:
        self._outputs.update(outputs)

    def score(self, scores: Iterable[tuple[str, float]]) -> None:
        self._scores = tuple((str(name), float(score)) for name, score in scores)

    def tokens(self, **tokens: int) -> None:
        self._tokens = tokens


class _NoSpan:
    """What a trace that is off hands out."""

    __slots__ = ()

    def __enter__(self) -> _NoSpan:
        return self

    def __exit__(self, *_: object) -> None: ...
    def set(self, **_: Any) -> None: ...
    def score(self, _: object) -> None: ...
    def tokens(self, **_: int) -> None: ...


_NO_SPAN = _NoSpan()


class Trace(Record):
    """The events of one question, in the order in which they began.

    A trace belongs to one call and is written by one thread at a time; calls that run side by side have a trace each.
    """

    def __init__(self, level: str = "full", events: Iterable[Event] = ()):
        if level not in LEVELS:
            raise ValueError(f"trace level {level!r} is unknown; choose one of {', '.join(LEVELS)}")
        self.level = level
        self._events: list[Event | None] = list(events)
        self._parent: int | None = None

    # -- writing ------------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        """Whether anything is recorded; guards the making of costly inputs, not the span itself."""
        return self.level != "off"

    def span(self, kind: str, step: str, **inputs: Any):
        """Open an event as a child of the one now open. An exception inside is recorded as its failure and goes on."""
        return self._span(kind, step, inputs) if self else _NO_SPAN

    @contextmanager
    def _span(self, kind: str, step: str, inputs: dict) -> Iterator[Span]:
        event_id, parent = len(self._events), self._parent
        self._events.append(None)  # the place of an event is where it began
        self._parent = event_id
        span, started = Span(inputs), time.perf_counter()
        try:
            yield span
        except BaseException as error:
            span.set(failure=f"{type(error).__name__}: {error}")
            raise
        finally:
            self._parent = parent
            self._events[event_id] = Event(
                event_id, parent, kind, step, self._keep(span._inputs), self._keep(span._outputs),
                span._scores, span._tokens, time.perf_counter() - started,
            )  # fmt: skip

    def _keep(self, values: dict) -> dict:
        if self.level == "full":
            return values
        return {name: _map_texts(value, lambda text: f"sha256:{text_hash(text)}") for name, value in values.items()}

    # -- reading ------------------------------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for event in self._events if event is not None)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, position: int) -> Event:
        return self.events[position]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and _plain(self.events) == _plain(other.events)

    __hash__ = None

    def find(self, step: str) -> list[Event]:
        """The events of one step, in order."""
        return [event for event in self if event.step == step]

    def children(self, parent: int | None = None) -> list[Event]:
        return [event for event in self if event.parent == parent]

    def step_paths(self) -> dict[int, str]:
        """Event id → its place, such as `hipporag2 / filter facts`, numbered (`#2`) from the second of the same name on."""
        paths: dict[int, str] = {}
        seen: dict[str, int] = {}
        for event in self:
            path = f"{paths[event.parent]} / {event.step}" if event.parent is not None else event.step
            seen[path] = seen.get(path, 0) + 1
            paths[event.id] = path if seen[path] == 1 else f"{path} #{seen[path]}"
        return paths

    def frame(self) -> pd.DataFrame:
        """One row per event, for pandas."""
        depth: dict[int | None, int] = {None: -1}
        rows = []
        for event in self:
            depth[event.id] = depth[event.parent] + 1
            tokens = event.tokens or {}
            rows.append(
                {
                    "id": event.id, "parent": event.parent, "depth": depth[event.id], "kind": event.kind,
                    "step": event.step, "inputs": dict(event.inputs), "outputs": dict(event.outputs),
                    "scores": event.scores, "prompt_tokens": tokens.get("prompt"),
                    "completion_tokens": tokens.get("completion"), "seconds": event.seconds,
                    "failure": event.failure,
                }
            )  # fmt: skip
        frame = pd.DataFrame(rows, columns=list(rows[0]) if rows else ["id", "parent", "depth", "kind", "step"])
        return frame.astype({"parent": "Int64"}) if rows else frame

    def seconds(self) -> dict[str, float]:
        """Seconds per place (see `step_paths`): the part of a trace that differs from run to run."""
        paths = self.step_paths()
        return {paths[event.id]: event.seconds for event in self if event.seconds is not None}

    def diff(self, other: Trace) -> TraceDiff:
        """What differs between two traces, event by event; events are matched by their place."""
        left = {path: self._by_id(event_id) for event_id, path in self.step_paths().items()}
        right = {path: other._by_id(event_id) for event_id, path in other.step_paths().items()}
        rows = []
        for path in dict.fromkeys([*left, *right]):
            if path not in right or path not in left:
                rows.append((path, "event", path in left, path in right))
            else:
                rows += [(path, *change) for change in _changes(left[path], right[path])]
        return TraceDiff(tuple(rows))

    def _by_id(self, event_id: int) -> Event:
        event = self._events[event_id]
        assert event is not None
        return event

    # -- disk ---------------------------------------------------------------------------------------------------

    def save(self, path: str | FilePath) -> FilePath:
        """Write JSON Lines: a header, each long text once under its hash, the events; seconds are left out."""
        texts: dict[str, str] = {}

        def store(text: str) -> dict:
            texts[name := text_hash(text)] = text
            return {"$text": name}

        events = [json.dumps({"event": _map_texts(event, store)}) for event in _plain(self.events)]
        header = {"trace": FORMAT, "level": self.level, "events": len(events)}
        lines = [json.dumps(header), *(json.dumps({"text": n, "value": t}) for n, t in texts.items()), *events]
        path = FilePath(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Every line is ASCII (json escapes the rest), so any text survives, lone surrogates and control characters included.
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        return path

    @classmethod
    def open(cls, path: str | FilePath) -> Trace:
        """Read a saved trace; it can be stepped through without any engine or index."""
        lines = [json.loads(line) for line in FilePath(path).read_text(encoding="utf-8").splitlines() if line]
        if not lines or "trace" not in lines[0]:
            raise ValueError(f"{path} is not a saved trace: its first line should be a header like {{\"trace\": {FORMAT}}}")
        if lines[0]["trace"] > FORMAT:
            raise ValueError(f"{path} has trace format {lines[0]['trace']}; this version reads up to {FORMAT}: upgrade hopscope")
        texts = {line["text"]: line["value"] for line in lines if "text" in line}
        events = [_unplain(_put_texts_back(line["event"], texts)) for line in lines if "event" in line]
        return cls(lines[0]["level"], events)


@dataclass(frozen=True, slots=True, repr=False)
class TraceDiff(Record):
    """Rows (place, what, left, right); empty when the two traces tell the same story."""

    rows: tuple[tuple[str, str, Any, Any], ...]

    def __bool__(self) -> bool:
        return bool(self.rows)

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows, columns=["place", "what", "left", "right"], dtype=object)


def _changes(left: Event, right: Event) -> Iterator[tuple[str, Any, Any]]:
    for part in ("inputs", "outputs"):
        a, b = _jsonable(getattr(left, part)), _jsonable(getattr(right, part))
        for name in dict.fromkeys([*a, *b]):
            if a.get(name) != b.get(name):
                yield f"{part}.{name}", a.get(name), b.get(name)
    if left.scores != right.scores:
        ranks = [{name: rank for rank, (name, _) in enumerate(event.scores, 1)} for event in (left, right)]
        moved = [name for name in dict.fromkeys([*ranks[0], *ranks[1]]) if ranks[0].get(name) != ranks[1].get(name)]
        for name in moved:
            yield f"rank of {name}", ranks[0].get(name), ranks[1].get(name)
        if not moved:
            yield "scores", left.scores, right.scores


def _plain(events: Iterable[Event]) -> list[dict]:
    return [
        _jsonable(
            {"id": e.id, "parent": e.parent, "kind": e.kind, "step": e.step, "inputs": e.inputs, "outputs": e.outputs,
             "scores": e.scores, "tokens": e.tokens}
        )
        for e in events
    ]  # fmt: skip


def _unplain(event: dict) -> Event:
    return Event(**{**event, "scores": tuple((name, score) for name, score in event["scores"])})


def _jsonable(value: Any) -> Any:
    """Plain JSON values: mappings, lists, strings, numbers; arrays and their scalars become lists and numbers."""
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_jsonable(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _map_texts(value: Any, change) -> Any:
    if isinstance(value, str):
        return change(value) if len(value) > LONG else value
    if isinstance(value, Mapping):
        return {key: _map_texts(item, change) for key, item in value.items()}
    return [_map_texts(item, change) for item in value] if isinstance(value, list | tuple) else value


def _put_texts_back(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if set(value) == {"$text"} and value["$text"] in texts:
            return texts[value["$text"]]
        return {key: _put_texts_back(item, texts) for key, item in value.items()}
    return [_put_texts_back(item, texts) for item in value] if isinstance(value, list) else value
