"""Traces as OpenInference spans: the names of the conventions, a tree that nests in time, the same bytes every time."""

from __future__ import annotations

import json
import shutil
from datetime import datetime

import pytest
from tiny import tiny_dataset

import workbench as wb
from workbench import exchange
from workbench.errors import SettingError
from workbench.records import Question
from workbench.testing.data import tiny_index
from workbench.trace import KINDS, Trace

# The names of https://arize-ai.github.io/openinference/spec/semantic_conventions.html that a file of ours may have; `N`
# is a number.
NAMES = {
    "openinference.span.kind", "input.value", "input.mime_type", "output.value", "output.mime_type", "metadata",
    "session.id", "llm.model_name", "llm.input_messages.N.message.role", "llm.input_messages.N.message.content",
    "llm.output_messages.N.message.role", "llm.output_messages.N.message.content", "llm.token_count.prompt",
    "llm.token_count.completion", "llm.token_count.total", "embedding.embeddings.N.embedding.text", "tool.name",
    "tool.parameters",
    *(f"{place}.N.document.{part}" for part in ("id", "score", "content")
      for place in ("retrieval.documents", "reranker.output_documents", "output.documents")),
}  # fmt: skip
SPAN = {  # what Phoenix's own reader asks of a span
    "name": str, "context": dict, "parent_id": (str, type(None)), "span_kind": str, "start_time": str, "end_time": str,
    "status_code": str, "status_message": str, "attributes": dict, "events": list,
}  # fmt: skip


def written(source, path, **options):
    file = exchange.to_openinference(source, path, progress=False, **options)
    return [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]


@pytest.fixture
def trace():
    trace = Trace()
    with trace.span("CHAIN", "method", question="Who?", k=2) as span:
        with trace.span("RETRIEVER", "search") as found:
            found.score([("p1", 0.9), ("no passage", 0.5)])
        with trace.span("RERANKER", "filter", of=2) as kept:
            kept.score([("p1", 1.0)])
            messages = [{"role": "system", "content": "Filter."}, {"role": "user", "content": "Who?"}]
            with trace.span(
                "LLM", "fact_filter", engine="openai:gpt-4o-mini@http://here/v1", messages=messages
            ) as asked:
                asked.set(facts=["p1"], parse="json")
                asked.tokens(prompt=10, completion=3)
        with trace.span("EMBEDDING", "encode question", text="Who?"):
            pass
        with trace.span("TOOL", "act", action="look", argument="p1") as acted:
            acted.set(failure="DataError: nothing there", text="raw")
        span.set(scale="cosine")
    return trace


def test_a_trace_by_hand(trace, tmp_path):
    root, found, kept, asked, encoded, acted = spans = written(
        trace, tmp_path / "one.jsonl", passages=tiny_dataset().passages
    )
    assert [span["name"] for span in spans] == [event.step for event in trace]
    assert [span["span_kind"] for span in spans] == [event.kind for event in trace]
    ids = [span["context"]["span_id"] for span in spans]
    assert [span["parent_id"] for span in spans] == [None, ids[0], ids[0], ids[2], ids[0], ids[0]]
    assert root["attributes"] == {
        "openinference.span.kind": "CHAIN", "input.value": '{"question": "Who?", "k": 2}',
        "input.mime_type": "application/json", "output.value": "cosine", "output.mime_type": "text/plain",
    }  # fmt: skip
    assert found["attributes"] == {
        "openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": "p1",
        "retrieval.documents.0.document.content": tiny_dataset().passage("p1").content,
        "retrieval.documents.0.document.score": 0.9, "retrieval.documents.1.document.id": "no passage",
        "retrieval.documents.1.document.score": 0.5,
    }  # fmt: skip
    assert kept["attributes"]["reranker.output_documents.0.document.id"] == "p1"
    llm = asked["attributes"]
    assert llm["llm.model_name"] == "gpt-4o-mini" and llm["metadata"] == {
        "engine": "openai:gpt-4o-mini@http://here/v1", "parse": "json",
    }  # fmt: skip
    assert llm["llm.input_messages.1.message.role"] == "user" and llm["llm.input_messages.1.message.content"] == "Who?"
    assert llm["llm.output_messages.0.message.content"] == '{"facts": ["p1"]}'
    counts = [llm[f"llm.token_count.{name}"] for name in ("prompt", "completion", "total")]
    assert counts == [10, 3, 13]
    assert encoded["attributes"]["embedding.embeddings.0.embedding.text"] == "Who?"
    assert (
        acted["attributes"]["tool.name"] == "act"
        and json.loads(acted["attributes"]["tool.parameters"])["action"] == "look"
    )
    assert acted["status_code"] == "ERROR" and acted["status_message"] == "DataError: nothing there"
    (event,) = acted["events"]
    assert event["attributes"] == {"exception.type": "DataError", "exception.message": "nothing there"}


def test_times_are_ordinal_and_nest(trace, tmp_path):
    spans = written(trace, tmp_path / "one.jsonl")
    times = [[datetime.fromisoformat(span[end]) for end in ("start_time", "end_time")] for span in spans]
    assert len({time for pair in times for time in pair}) == 2 * len(trace)
    for event, (start, end) in zip(trace, times):
        assert start < end
        if event.parent is not None:
            assert times[event.parent][0] < start and end < times[event.parent][1]
    assert times[0][0] == datetime.fromisoformat("2000-01-01T00:00:00+00:00")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    index = tiny_index()
    questions = [Question("q1", "Who founded Orsby?", ("Nora Whitlock",)), Question("q2", "Who founded Quell?")]
    methods = [wb.method("hipporag2", index), wb.method("bdtr[backbone=dense]", index)]
    folder = tmp_path_factory.mktemp("runs") / "one"
    return wb.evaluate(questions, methods, wb.reader("direct"), folder, progress=False)


def test_every_span_of_a_run_keeps_to_the_conventions(run, tmp_path):
    spans = written(run, tmp_path / "run.jsonl", passages=tiny_index().passages.passages)
    for span in spans:
        assert span.keys() == SPAN.keys() and all(isinstance(span[name], kind) for name, kind in SPAN.items())
        assert span["span_kind"] in KINDS and span["status_code"] in ("OK", "ERROR")
        names = {".".join("N" if part.isdigit() else part for part in name.split(".")) for name in span["attributes"]}
        assert names <= NAMES, names - NAMES
        assert len(span["context"]["trace_id"]) == 32 and len(span["context"]["span_id"]) == 16
        int(span["context"]["trace_id"], 16), int(span["context"]["span_id"], 16)
        assert datetime.fromisoformat(span["start_time"]).utcoffset().total_seconds() == 0
    ids = [span["context"]["span_id"] for span in spans]
    assert len(set(ids)) == len(ids) == sum(1 + len(run.trace(row["question_id"], row["method"])) for row in run.rows)
    assert {span["parent_id"] for span in spans} - {None} <= set(ids)


def test_a_row_is_one_trace_with_its_answer_and_measures(run, tmp_path):
    spans = written(run, tmp_path / "run.jsonl")
    roots = [span for span in spans if span["parent_id"] is None]
    assert len(roots) == len({span["context"]["trace_id"] for span in spans}) == len(run.rows) == 4
    for span, row in zip(roots, run.rows):
        told = span["attributes"]
        assert span["name"] == row["method"] and told["session.id"] == f"one {row['method']}"
        assert told["input.value"].startswith("Who founded") and told["output.value"] == row["answer"]
        assert told["metadata"]["question_id"] == row["question_id"] and told["metadata"]["times"] == "ordinal"
        assert told["metadata"]["scores"] == {name: one for name, one in row["scores"].items() if one is not None}
        assert told["output.documents.0.document.id"] == row["ranking"][0][0]
    order = [datetime.fromisoformat(span["start_time"]) for span in roots]
    assert order == sorted(order)


def test_a_run_gives_the_same_bytes_and_another_one_other_ids(run, tmp_path):
    first, second = (exchange.to_openinference(run, tmp_path / name, progress=False) for name in ("a.jsonl", "b.jsonl"))
    assert first.read_bytes() == second.read_bytes()
    copy = tmp_path / "two"
    shutil.copytree(run.folder, copy)
    ids = [{span["context"]["span_id"] for span in written(one, tmp_path / "c.jsonl")} for one in (run, wb.Run(copy))]
    assert not ids[0] & ids[1]


def test_measured_durations(run, tmp_path):
    begin = datetime.fromisoformat("2026-11-24T10:00:00+00:00")
    spans = written(run, tmp_path / "run.jsonl", seconds=True, begin=begin)
    stages = run.seconds()
    roots = [span for span in spans if span["parent_id"] is None]
    assert datetime.fromisoformat(roots[0]["start_time"]) == begin
    for root, row in zip(roots, run.rows):
        mine = stages[(stages.question_id == row["question_id"]) & (stages.method == row["method"])]
        outer = mine[~mine.stage.str.contains(" / ")].seconds.sum()
        took = datetime.fromisoformat(root["end_time"]) - datetime.fromisoformat(root["start_time"])
        assert (
            took.total_seconds() == pytest.approx(outer, abs=1e-4)
            and root["attributes"]["metadata"]["times"] == "measured"
        )


def test_hostile_contents(tmp_path):
    trace = Trace()
    with trace.span("CHAIN", "a\0b\ud800", **{"x\0": "<script>\ud800", "n": float("nan")}) as span:
        span.score([("\0", float("inf")), ("p", float("nan"))])
        span.set(deep={"list": [float("-inf"), {"\udfff": "\0"}]}, failure="no colon\0")
    (one,) = written(trace, tmp_path / "one.jsonl")
    text = (tmp_path / "one.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text and "\\ud8" not in text and "\\u0000" not in text
    assert one["attributes"]["output.documents.0.document.id"] == "\ufffd"
    assert "output.documents.0.document.score" not in one["attributes"]
    assert one["events"][0]["attributes"] == {"exception.message": "no colon\ufffd"}


def test_what_cannot_be_written(tmp_path):
    run = wb.evaluate(
        tiny_dataset().questions, [wb.method("bm25", tiny_index())], out=tmp_path / "run", trace="off", progress=False
    )
    with pytest.raises(SettingError, match="has kept no traces; evaluate it with trace='full'"):
        exchange.to_openinference(run, tmp_path / "run.jsonl")
    assert not (tmp_path / "run.jsonl").exists()
    with pytest.raises(SettingError, match="has no time zone"):
        exchange.to_openinference(Trace(), tmp_path / "run.jsonl", begin=datetime(2026, 1, 1))
    assert written(Trace(), tmp_path / "empty.jsonl") == []
