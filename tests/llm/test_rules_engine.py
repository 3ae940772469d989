"""The engine that needs no model: its batches, its failures, its trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chat_server import by_schema
from small_steps import NAMES, Names

from workbench.errors import SettingError
from workbench.llm import engine
from workbench.trace import Trace

INPUTS = ["a", "bad", "b"]


def failing_on_bad(values):
    if "bad" in values:
        raise ValueError("cannot do 'bad'")
    return [Names(names=[value]) for value in values]


def test_a_batch_that_fails_is_done_one_by_one():
    """One broken passage must not cost the other sixty-three."""
    results = engine("rules").run(replace(NAMES, rule=failing_on_bad), INPUTS)
    assert [result.value for result in results] == [Names(names=["a"]), None, Names(names=["b"])]
    assert [result.failure for result in results] == [None, "ValueError: cannot do 'bad'", None]
    assert [result.parse for result in results] == ["rules", None, "rules"]


def test_a_batch_that_succeeds_is_done_at_once():
    """spaCy parses a batch many times faster than its members."""
    batches = []
    engine("rules").run(replace(NAMES, rule=lambda values: batches.append(list(values)) or NAMES.rule(values)), INPUTS)
    assert batches == [INPUTS]


@pytest.mark.parametrize("rule", [lambda values: NAMES.rule(values)[1:], lambda values: NAMES.rule([*values, "more"])])
def test_a_rule_body_that_loses_count_fails(rule):
    """Otherwise every later output would be another input's."""
    results = engine("rules").run(replace(NAMES, rule=rule), INPUTS)
    assert all("outputs for 1 inputs" in result.failure for result in results)


def test_an_interrupt_is_no_failure_of_an_input():
    def interrupted(values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine("rules").run(replace(NAMES, rule=interrupted), INPUTS)


def test_no_inputs_give_no_results():
    trace = Trace()
    assert engine("rules").run(replace(NAMES, rule=failing_on_bad), [], trace=trace) == [] and len(trace) == 0


@pytest.mark.parametrize("kind", ["rules", "openai"])
def test_the_trace_has_one_event_per_input_in_their_order(kind, serve, ask):
    chat = engine("rules") if kind == "rules" else ask(serve(by_schema))
    trace = Trace()
    with trace.span("CHAIN", "above"):
        chat.run(NAMES, ["a", "b", "c"], trace=trace)
    assert [(event.kind, event.step, event.parent) for event in trace.find("names")] == [("LLM", "names", 0)] * 3
    assert [event.outputs["names"] for event in trace.find("names")] == [["a"], ["b"], ["c"]]
    assert {event.inputs["engine"] for event in trace.find("names")} == {chat.name}
    assert {event.outputs["parse"] for event in trace.find("names")} == {"rules" if kind == "rules" else "strict"}


def test_the_trace_names_a_failure():
    trace = Trace()
    engine("rules").run(replace(NAMES, rule=failing_on_bad), INPUTS, trace=trace)
    assert [event.failure for event in trace] == [None, "ValueError: cannot do 'bad'", None]


def test_a_trace_that_is_off_stays_empty():
    trace = Trace("off")
    engine("rules").run(NAMES, INPUTS, trace=trace)
    assert len(trace) == 0


@pytest.mark.parametrize(("spec", "options"), [("rules:gpt-4o", {}), ("rules", {"record": "x"})])
def test_the_rules_take_no_model_and_no_options(spec, options):
    """Somebody who asks for a recording of rules has mistaken the engine."""
    with pytest.raises(SettingError, match=r"takes no model; got 'gpt-4o'|has no option 'record'"):
        engine(spec, **options)
