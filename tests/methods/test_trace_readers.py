"""What holds of every reader of a method's trace: a saved one reads the same, and what cannot be read is refused."""

from __future__ import annotations

import dataclasses

import pytest
from dot_traces import QUESTION, dot_trace, nothing_trace
from rounds import bdtr_trace, ircot_trace

from workbench.errors import DataError, SettingError
from workbench.methods import method
from workbench.methods.catrag.steering import steering
from workbench.methods.dotrag.dots import dots
from workbench.methods.gfm_rag.passing import passing
from workbench.methods.iterative.replay import replay
from workbench.methods.youtu.routed import routed
from workbench.records import Evidence
from workbench.testing import small_index
from workbench.testing.contract import QUESTION as ASKED
from workbench.trace import Event, Trace

# The SPEC of a method, the reader of its traces, and what that says to the trace of another method.
READERS = {
    "dotrag": (dots, "has no DOTs; take the trace of dotrag"),
    "bdtr": (replay, "replay the trace of an iterative method, such as bdtr or ircot"),
    "catrag": (steering, "has no edited edges; take the trace of catrag"),
    "youtu": (routed, "take the trace of youtu"),
    "gfm_rag[checkpoint=untrained]": (passing, "take the trace of gfm_rag"),
}


@pytest.mark.parametrize("spec", READERS)
def test_a_saved_trace_is_read_as_the_evidence_without_index_or_engine(spec, tmp_path):
    reader, _ = READERS[spec]
    evidence = method(spec, small_index()).retrieve(ASKED)
    saved = Trace.open(evidence.trace.save(tmp_path / "trace.jsonl"))
    read = reader(saved, gold=("p1",))
    found = evidence.trace if reader is replay else evidence
    assert read == reader(found, gold=("p1",)) and hash(read) == hash(reader(saved, gold=("p1",)))
    assert read.question == ASKED and read.gold == ("p1",)


@pytest.mark.parametrize("trace", [dot_trace(), nothing_trace(), bdtr_trace(), ircot_trace()])
def test_traces_by_hand_are_read_again_as_well(trace, tmp_path):
    reader = dots if trace.events[0].step.startswith("dotrag") else replay
    assert reader(Trace.open(trace.save(tmp_path / "trace.jsonl"))) == reader(trace)


@pytest.mark.parametrize(("reader", "said"), READERS.values(), ids=READERS)
def test_other_traces_are_refused(reader, said):
    for level in ("full", "off"):
        with pytest.raises(DataError, match=said):
            reader(method("dense", small_index()).retrieve(ASKED, trace=level).trace)
    if reader is not replay:  # which reads traces alone
        with pytest.raises(SettingError, match="has no trace; retrieve with trace='full'"):
            reader(Evidence(QUESTION, "dense", "cosine", ()))


@pytest.mark.parametrize(("reader", "name", "what"), [(dots, "dotrag", "DOTs"), (replay, "bdtr", "rounds")])
def test_an_empty_question_and_parts_without_a_root_leave_nothing_to_read(reader, name, what):
    trace = Trace()
    with trace.span("CHAIN", name, question="") as span:
        span.set(fallback="the question is empty")
    with pytest.raises(DataError, match=f"the trace of {name} has no {what}: the question is empty"):
        reader(trace)
    with pytest.raises(DataError, match=f"no {what}"):
        reader(Trace(events=[Event(0, None, "CHAIN", "select regions"), Event(1, None, "CHAIN", "round 0")]))


def damaged(trace, step, **change):
    return Trace(events=[dataclasses.replace(event, **change) if event.step == step else event for event in trace])


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("select regions", {"outputs": {"anchors": [{"description": "no span"}]}}),
        ("select regions", {"outputs": {"accepted": [["low"]]}}),
        ("dot", {"inputs": {}}),
        ("anchors", {"outputs": {"types": ["movie"]}}),
        ("rules", {"outputs": {"terminal_rules": 3}}),
        ("region", {"outputs": {"hops": [1]}}),
        ("iteration", {"inputs": {"iteration": 1, "queries": ["initial"]}}),
        ("candidates", {"outputs": {"query": [0]}}),
        ("paths", {"outputs": {"paths": {"0.1.1": {"nodes": ["a"]}}}}),
        ("judge", {"outputs": {"verdicts": {"0.1.1": {"confidence": "high"}}}}),
        ("keep", {"outputs": {"dropped": ["0.1.1"]}}),
        ("aggregate", {"outputs": {"paths": [{"id": "9.9.9"}]}}),
        ("dotrag[h_max=3,t_max=2,tau=0.6]", {"inputs": {}}),
    ],
    ids=str,
)
def test_a_damaged_trace_of_dotrag_is_refused(step, change):
    with pytest.raises(DataError, match="not as dotrag writes it"):
        dots(damaged(dot_trace(), step, **change))


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("search", {"inputs": {}}),
        ("round 1", {"inputs": {}}),
        ("bdtr[iterations=1]", {"inputs": {}}),
        ("pool", {"outputs": {"risen": {"five": []}}}),
        ("think", {"outputs": {"queries": [["fast"]]}}),
        ("promote", {"outputs": {"moved": [["p2", 2]]}}),
        ("cut", {"outputs": {"mu": "high"}}),
        ("cut", {"outputs": {}}),
        ("verify", {"outputs": {"selected": None}}),
    ],
    ids=str,
)
def test_a_damaged_trace_of_an_iterative_method_is_refused(step, change):
    with pytest.raises(DataError, match="not as an iterative method writes it"):
        replay(damaged(bdtr_trace(), step, **change))
