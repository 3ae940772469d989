"""Traces as OpenInference spans, for Arize Phoenix and other readers of its files: JSON Lines, one span per line.

A line is a span as Phoenix itself writes and takes it: `name`, `context` (`trace_id` of 32 hex digits, `span_id` of
16), `parent_id`, `span_kind`, `start_time`, `end_time`, `status_code`, `status_message`, `attributes`, `events`.
Attributes have the names of the semantic conventions
(https://arize-ai.github.io/openinference/spec/semantic_conventions.html), flattened, such as
`retrieval.documents.0.document.id`; `metadata` alone is an object, so that Phoenix can filter by its fields.

The same trace gives the same bytes. Ids are hashes of the content. A trace holds no times, so by default each beginning
and each end of an event is one millisecond after the one before, and only their order means anything.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.display import tqdm
from workbench.errors import SettingError
from workbench.exchange.export import replacing
from workbench.records import Passage
from workbench.text import storable
from workbench.trace import Event, Trace

if TYPE_CHECKING:
    from workbench.evaluation.run import Run

BEGIN = datetime(2000, 1, 1, tzinfo=UTC)  # of an export, unless another time is given
_TICK = timedelta(milliseconds=1)
_DOCUMENTS = {"RETRIEVER": "retrieval.documents", "RERANKER": "reranker.output_documents"}  # others: output.documents
Spans = list[dict[str, Any]]


def to_openinference(
    source: Run | Trace,
    path: str | Path,
    *,
    passages: Iterable[Passage] = (),
    seconds: bool = False,
    begin: datetime = BEGIN,
    progress: bool = True,
) -> Path:
    """Write a trace, or all traces of a run, as `FILE.jsonl`; it replaces an old file only when it is complete.

    In a run, each question and method is a trace below a span of its own, with question, answer and, as metadata, its
    measures. `passages` are those whose texts are written with their ids, in retrievals and first spans. `seconds`
    takes durations from the run's `timings.jsonl`, which differ from run to run: events follow each other without the
    pauses between them, and events that ran at the same time one after the other. The first one begins at `begin`.
    Raises :class:`SettingError` for a run without traces.
    """
    path = Path(path).expanduser()
    if begin.tzinfo is None:
        raise SettingError(f"begin={begin.isoformat()} has no time zone; add one, such as +00:00")
    texts = {passage.id: passage.content for passage in passages}
    if isinstance(source, Trace):
        traces = [_spans(source, texts, _clock(source, begin))]
    else:
        traces = _of_run(source, texts, seconds, begin, progress)
    with replacing(path) as file:
        for spans in traces:
            file.writelines(json.dumps(span) + "\n" for span in spans)
    return path


def _of_run(run: Run, texts: Mapping[str, str], seconds: bool, begin: datetime, progress: bool) -> Iterator[Spans]:
    """The spans of each row; a row begins where the one before it ends."""
    if run.config["trace"] == "off":
        raise SettingError(f"{run.folder} has kept no traces; evaluate it with trace='full' in another folder")
    questions = {question.id: question.question for question in run.questions}
    timed: dict[tuple[str, str], dict[str, float]] = {}
    for question_id, method, path, took in run.seconds().itertuples(index=False) if seconds else ():
        timed.setdefault((question_id, method), {})[path] = took
    for row in tqdm(run.rows, desc="export", unit="trace", disable=not progress):
        cell = row["question_id"], row["method"]
        trace = _below_its_question(run.trace(*cell), row, questions.get(row["question_id"], ""))
        times = _measured(trace, timed.get(cell, {}), begin) if seconds else _clock(trace, begin)
        begin = times[0][1] + _TICK
        yield _spans(trace, texts, times, _of_row(run, row, "measured" if seconds else "ordinal"))


def _below_its_question(trace: Trace, row: Mapping[str, Any], question: str) -> Trace:
    """The trace under one event for the whole row: a trace of a method and a reader has no common beginning."""
    whole = Trace()
    with whole.span("CHAIN", row["method"], question=question) as span:
        whole.graft(trace)
        span.score(row["ranking"])
        span.set(**{name: row[name] for name in ("answer", "failure") if row[name] is not None})
    return whole


def _of_row(run: Run, row: Mapping[str, Any], times: str) -> dict[str, Any]:
    """The attributes of the first span of a row."""
    labels = {name: row[name] for name in ("question_id", "method", "type", "hops") if row[name] is not None}
    scores = {name: score for name, score in row["scores"].items() if score is not None}
    name = run.folder.resolve().name
    return {
        "session.id": f"{name} {row['method']}",
        "metadata": {"run": name, **labels, "scores": scores, "times": times},
    }


# -- times -----------------------------------------------------------------------------------------------------------

Times = dict[int, tuple[datetime, datetime]]  # event id -> (begin, end)


def _clock(trace: Trace, begin: datetime) -> Times:
    """One tick after the other, at each beginning and each end of an event."""
    started, ended, tick = {}, {}, 0
    open_: list[int] = []
    for event in [*trace, None]:
        while open_ and (event is None or open_[-1] != event.parent):
            ended[open_.pop()] = begin + tick * _TICK
            tick += 1
        if event is not None:
            started[event.id] = begin + tick * _TICK
            tick += 1
            open_.append(event.id)
    return {id_: (started[id_], ended[id_]) for id_ in started}


def _measured(trace: Trace, seconds: Mapping[str, float], begin: datetime) -> Times:
    """Each event as long as it took, by its path below that of the row, which is event 0."""
    first, *rest = trace
    prefix = f"{first.step} / "
    took = {id_: seconds.get(path.removeprefix(prefix), 0.0) for id_, path in trace.step_paths().items()}
    took[first.id] = sum(took[event.id] for event in rest if event.parent == first.id)
    times: Times = {}
    free: dict[int | None, datetime] = {None: begin}  # event -> when its next child begins
    for event in trace:
        start = free.get(event.parent, begin)
        end = start + timedelta(seconds=took[event.id])
        times[event.id], free[event.parent], free[event.id] = (start, end), end, start
    return times


# -- spans -----------------------------------------------------------------------------------------------------------


def _spans(trace: Trace, texts: Mapping[str, str], times: Times, more: Mapping[str, Any] | None = None) -> Spans:
    """A span for each event; `more` are attributes of the first one."""
    content = [
        [event.id, event.parent, event.kind, event.step, event.inputs, event.outputs, event.scores, event.tokens]
        for event in trace
    ]
    trace_id = _hex(32, more, content)
    ids = {event.id: _hex(16, trace_id, event.id) for event in trace}
    return [
        {
            "name": _storable(event.step),
            "context": {"trace_id": trace_id, "span_id": ids[event.id]},
            "parent_id": ids.get(event.parent),
            "span_kind": event.kind,
            "start_time": _timestamp(times[event.id][0]),
            "end_time": _timestamp(times[event.id][1]),
            "status_code": "ERROR" if event.failure else "OK",
            "status_message": _storable(event.failure or ""),
            "attributes": _storable({**_attributes(event, texts), **((more or {}) if position == 0 else {})}),
            "events": [_exception(event.failure, times[event.id][1])] if event.failure else [],
        }
        for position, event in enumerate(trace)
    ]


def _attributes(event: Event, texts: Mapping[str, str]) -> dict[str, Any]:
    """The attributes of an event, under their names in the semantic conventions."""
    own = _OF_KIND.get(event.kind, lambda event: {})(event)
    outputs = {name: value for name, value in event.outputs.items() if name != "failure"}
    texts = texts if event.kind == "RETRIEVER" or event.parent is None else {}
    documents = (_document(*score, texts) for score in event.scores)
    return {
        "openinference.span.kind": event.kind,
        **_value("input", event.inputs),
        **_value("output", outputs),
        **_flat(_DOCUMENTS.get(event.kind, "output.documents"), documents),
        **own,
    }


def _value(which: str, values: Mapping[str, Any]) -> dict[str, str]:
    """A single text as it is, everything else as JSON."""
    if not values:
        return {}
    only = next(iter(values.values())) if len(values) == 1 else None
    if isinstance(only, str):
        return {f"{which}.value": only, f"{which}.mime_type": "text/plain"}
    return {f"{which}.value": _json(values), f"{which}.mime_type": "application/json"}


def _flat(prefix: str, items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{prefix}.{n}.{name}": value for n, item in enumerate(items) for name, value in item.items()}


def _document(name: str, score: float, texts: Mapping[str, str]) -> dict[str, Any]:
    """Whatever was scored: a passage, a fact, a phrase."""
    document: dict[str, Any] = {"document.id": name}
    if name in texts:
        document["document.content"] = texts[name]
    return document | ({"document.score": score} if math.isfinite(score) else {})


def _of_llm(event: Event) -> dict[str, Any]:
    engine, messages = str(event.inputs.get("engine", "")), event.inputs.get("messages", ())
    reply = {name: value for name, value in event.outputs.items() if name not in ("failure", "parse")}
    counts = {name: count for name, count in (event.tokens or {}).items() if count is not None}
    total = {"total": sum(counts.values())} if counts else {}
    inputs = (
        {f"message.{part}": message[part] for part in ("role", "content") if part in message} for message in messages
    )
    output = reply["text"] if event.failure and "text" in reply else _json(reply)
    return {
        "llm.model_name": (engine.partition(":")[2] or engine).partition("@")[0],
        **_flat("llm.input_messages", inputs),
        **_flat("llm.output_messages", [{"message.role": "assistant", "message.content": output}]),
        **{f"llm.token_count.{name}": count for name, count in {**counts, **total}.items()},
        "metadata": {"engine": engine, **({"parse": event.outputs["parse"]} if "parse" in event.outputs else {})},
    }


_OF_KIND: dict[str, Callable[[Event], dict[str, Any]]] = {
    "LLM": _of_llm,
    "EMBEDDING": lambda event: _flat(
        "embedding.embeddings", [{"embedding.text": event.inputs["text"]}] if "text" in event.inputs else []
    ),
    "TOOL": lambda event: {"tool.name": event.step, "tool.parameters": _json(event.inputs)},
}


def _exception(failure: str, when: datetime) -> dict[str, Any]:
    kind, colon, message = failure.partition(": ")
    named = {"exception.type": kind, "exception.message": message} if colon else {"exception.message": failure}
    return {"name": "exception", "timestamp": _timestamp(when), "attributes": _storable(named)}


def _timestamp(when: datetime) -> str:
    return when.isoformat(timespec="microseconds")


def _hex(digits: int, *parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode("ascii")).hexdigest()[:digits]


def _json(value: Any) -> str:
    return json.dumps(_storable(value), ensure_ascii=False)


def _storable(value: Any) -> Any:
    """The value as every database and JSON parser takes it: no lone surrogates, no NUL, no infinite numbers."""
    if isinstance(value, str):
        return storable(value).replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
