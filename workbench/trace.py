"""The trace: one event record for everything that happens between a question and its answer.

A stage opens a *span*, states its inputs, and sets its outputs; spans nest. Kinds are those of OpenInference
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
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from workbench.errors import DataError, SettingError
from workbench.records import Record
from workbench.text import text_hash

if TYPE_CHECKING:
    import pandas as pd

LEVELS = ("off", "ids", "full")
KINDS = ("CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "LLM", "TOOL", "EVALUATOR")
LONG = 80  # characters; a longer text is stored once, under its hash
FORMAT = 1
COLUMNS = (
    "id", "parent", "depth", "kind", "step", "inputs", "outputs", "scores", "prompt_tokens", "completion_tokens",
    "seconds", "failure",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Event(Record):
    """One event. `scores` are (id, score), best first; `seconds` does not take part in comparison."""

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

    __slots__ = ("_outputs", "_scores", "_tokens")

    def __init__(self) -> None:
        self._outputs: dict[str, Any] = {}
        self._scores: tuple[tuple[str, float], ...] = ()
        self._tokens: dict[str, int] | None = None

    def set(self, **outputs: Any) -> None:
        self._outputs.update(outputs)

    def score(self, scores: Iterable[tuple[str, float]]) -> None:
        self._scores = tuple((str(name), float(score)) for name, score in scores)

    def tokens(self, **tokens: int) -> None:
        self._tokens = tokens


class _NoSpan:
    """The span of a trace that is off."""

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

    A trace belongs to one call, and one thread at a time writes it; concurrent calls have a trace each.
    """

    def __init__(self, level: str = "full", events: Iterable[Event] = ()):
        if level not in LEVELS:
            raise SettingError(f"trace level {level!r} is unknown; choose one of {', '.join(LEVELS)}")
        self.level = level
        self._events = list(events)
        self._parent: int | None = None

    # -- writing ------------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        """Whether anything is recorded; guards the computation of expensive inputs, not the span itself."""
        return self.level != "off"

    def span(self, kind: str, step: str, **inputs: Any) -> AbstractContextManager[Span | _NoSpan]:
        """Open an event as a child of the currently open one. An exception inside is recorded as its failure and
        propagates."""
        return self._span(kind, step, inputs) if self else _NO_SPAN

    @contextmanager
    def _span(self, kind: str, step: str, inputs: dict) -> Iterator[Span]:
        event = Event(len(self._events), self._parent, kind, step, self._keep(inputs))
        self._events.append(event)  # its position is where it began, so a trace can be read while it is written
        self._parent = event.id
        span, started = Span(), time.perf_counter()
        try:
            yield span
        except BaseException as error:
            span.set(failure=f"{type(error).__name__}: {error}")
            raise
        finally:
            seconds = time.perf_counter() - started
            self._parent = event.parent
            scores = span._scores  # already plain
            if self.level != "full":
                scores = tuple((_hashed(name), score) for name, score in scores)
            outputs = self._keep(span._outputs)
            self._events[event.id] = replace(
                event, outputs=outputs, scores=scores, tokens=span._tokens, seconds=seconds
            )

    def graft(self, branch: Trace) -> None:
        """Append the events of another trace below the currently open event. Concurrent work with one trace per task
        thus gets a fixed order."""
        first = len(self._events)
        for event in branch:
            parent = self._parent if event.parent is None else event.parent + first
            self._events.append(replace(event, id=event.id + first, parent=parent))

    def _keep(self, value: Any) -> Any:
        """Copy to plain values, so that later changes by the caller have no effect."""
        plain = _jsonable(value)
        return plain if self.level == "full" else _hashed(plain)

    # -- reading ------------------------------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, position: int) -> Event:
        return self._events[position]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and _same(_plain(self.events), _plain(other.events))

    __hash__ = None  # type: ignore[assignment]  # it may grow

    def find(self, step: str) -> list[Event]:
        """The events of one step, in order."""
        return [event for event in self if event.step == step]

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines that answered its Steps."""
        return tuple(dict.fromkeys(event.inputs["engine"] for event in self if "engine" in event.inputs))

    def engines_below(self, step: str) -> tuple[str, ...]:
        """Names of the engines that answered Steps below the last event of `step`."""
        within: set[int | None] = {event.id for event in self.find(step)[-1:]}
        below = []
        for event in self:
            if event.parent in within:
                within.add(event.id)
                below.append(event)
        return Trace(self.level, below).engines

    def children(self, parent: int | None = None) -> list[Event]:
        return [event for event in self if event.parent == parent]

    def step_paths(self) -> dict[int, str]:
        """Event id → its path, such as `hipporag2 / filter facts`, numbered (`#2`) from the second of the same name."""
        paths: dict[int, str] = {}
        seen: dict[str, int] = {}
        for event in self:
            path = f"{paths[event.parent]} / {event.step}" if event.parent is not None else event.step
            seen[path] = seen.get(path, 0) + 1
            paths[event.id] = path if seen[path] == 1 else f"{path} #{seen[path]}"
        return paths

    def frame(self) -> pd.DataFrame:
        """One row per event, for pandas."""
        import pandas as pd

        depth: dict[int | None, int] = {None: -1}
        rows = []
        for event in self:
            depth[event.id] = depth[event.parent] + 1
            tokens = event.tokens or {}
            rows.append(
                (
                    event.id, event.parent, depth[event.id], event.kind, event.step, dict(event.inputs),
                    dict(event.outputs), event.scores, tokens.get("prompt"), tokens.get("completion"), event.seconds,
                    event.failure,
                )
            )  # fmt: skip
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"parent": "Int64"})

    def seconds(self) -> dict[str, float]:
        """Seconds per path (see `step_paths`): the part of a trace that differs between runs."""
        paths = self.step_paths()
        return {paths[event.id]: event.seconds for event in self if event.seconds is not None}

    def diff(self, other: Trace) -> TraceDiff:
        """The differences between two traces, event by event; events are matched by path."""
        left, right = (dict(zip(trace.step_paths().values(), trace)) for trace in (self, other))
        rows = []
        for path in dict.fromkeys([*left, *right]):
            if path in left and path in right:
                rows += [(path, *change) for change in _changes(left[path], right[path])]
            else:
                rows.append((path, "event", path in left, path in right))
        shared = zip([path for path in left if path in right], [path for path in right if path in left])
        rows += [("", "order", a, b) for a, b in shared if a != b][:1]
        return TraceDiff(tuple(rows))

    # -- disk ---------------------------------------------------------------------------------------------------

    def save(self, path: str | FilePath) -> FilePath:
        """Write JSON Lines: a header, each long text once under its hash, the events without seconds."""
        texts: dict[str, str] = {}
        events = [json.dumps({"event": _stored(event, texts)}) for event in _plain(self.events)]
        header = {"trace": FORMAT, "level": self.level, "events": len(events)}
        lines = [json.dumps(header), *(json.dumps({"text": n, "value": t}) for n, t in texts.items()), *events]
        path = FilePath(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Every line is ASCII (json escapes the rest), so any text survives, including lone surrogates and control
        # characters.
        path.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")
        return path

    @classmethod
    def open(cls, path: str | FilePath) -> Trace:
        """Read a saved trace; stepping through it needs neither engine nor index."""
        try:
            lines = [json.loads(line) for line in FilePath(path).read_text(encoding="ascii").splitlines()]
        except ValueError as error:
            raise DataError(f"{path} is not a saved trace, or is damaged ({error}); record it again") from None
        header = lines[0] if lines and isinstance(lines[0], dict) else {}
        if "trace" not in header:
            raise DataError(
                f'{path} is not a saved trace: its first line should be a header like {{"trace": {FORMAT}}}'
            )
        if header["trace"] > FORMAT:
            raise DataError(
                f"{path} has trace format {header['trace']}; this version reads up to {FORMAT}: upgrade hopscope"
            )
        texts = {line["text"]: line["value"] for line in lines if "text" in line}
        events = [_unplain(_put_texts_back(line["event"], texts)) for line in lines if "event" in line]
        if len(events) != header["events"]:
            raise DataError(
                f"{path} is cut short: it holds {len(events)} of {header['events']} events; record it again"
            )
        return cls(header["level"], events)


@dataclass(frozen=True, slots=True, repr=False)
class TraceDiff(Record):
    """Rows (path, what, left, right); empty if the two traces are equal."""

    rows: tuple[tuple[str, str, Any, Any], ...]

    def __bool__(self) -> bool:
        return bool(self.rows)

    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows, columns=["place", "what", "left", "right"], dtype=object)


def _changes(left: Event, right: Event) -> Iterator[tuple[str, Any, Any]]:
    for part in ("inputs", "outputs"):
        a, b = _jsonable(getattr(left, part)), _jsonable(getattr(right, part))
        for name in dict.fromkeys([*a, *b]):
            if (name in a) != (name in b) or not _same(a.get(name), b.get(name)):
                yield f"{part}.{name}", a.get(name), b.get(name)
    ranks = [{name: rank for rank, (name, _) in enumerate(event.scores, 1)} for event in (left, right)]
    moved = [name for name in dict.fromkeys([*ranks[0], *ranks[1]]) if ranks[0].get(name) != ranks[1].get(name)]
    for name in moved:
        yield f"rank of {name}", ranks[0].get(name), ranks[1].get(name)
    for part in ("kind", "tokens") if moved else ("kind", "tokens", "scores"):
        a, b = getattr(left, part), getattr(right, part)
        if not _same(a, b):
            yield part, a, b


def _same(left: Any, right: Any) -> bool:
    """Whether two values have the same JSON; unlike `==`, this holds for NaN."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


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


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _jsonable(value: Any) -> Any:
    """Convert to plain JSON values: mappings, lists, strings, numbers; arrays and their scalars become lists and
    numbers."""
    if type(value) in _SCALARS:  # the common case; the check for Mapping is slow
        return value
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_jsonable, value), key=repr)  # members of different types have no other order
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    return value if isinstance(value, str | int | float) else str(value)


def _hashed(value: Any) -> Any:
    """The value with each long text, keys included, replaced by the name of its hash."""
    if isinstance(value, str):
        return f"sha256:{text_hash(value)}" if len(value) > LONG else value
    if isinstance(value, dict):
        return {_hashed(key): _hashed(item) for key, item in value.items()}
    return [_hashed(item) for item in value] if isinstance(value, list) else value


def _stored(value: Any, texts: dict[str, str]) -> Any:
    """Move each long text of a value into `texts`. A caller's key that begins with `$` gets a second one."""
    if isinstance(value, str) and len(value) > LONG:
        texts[name := text_hash(value)] = value
        return {"$text": name}
    if isinstance(value, dict):
        return {f"${key}" if key.startswith("$") else key: _stored(item, texts) for key, item in value.items()}
    return [_stored(item, texts) for item in value] if isinstance(value, list) else value


def _put_texts_back(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if "$text" in value:
            return texts[value["$text"]]
        return {key.removeprefix("$"): _put_texts_back(item, texts) for key, item in value.items()}
    return [_put_texts_back(item, texts) for item in value] if isinstance(value, list) else value
