"""The engine that needs no model: its batches, its failures, its trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chat_server import by_schema
from small_steps import NAMES, Names, prompt

from workbench import rules
from workbench.errors import SettingError
from workbench.llm import engine
from workbench.llm.step import Step
from workbench.rules import RULES, Rule, register, rule_for
from workbench.trace import Trace

INPUTS = ["a", "bad", "b"]


@pytest.fixture
def by_rules(monkeypatch):
    """The results of a batch body for the Step `names`."""

    def run(body, inputs=INPUTS, trace=None):
        monkeypatch.setitem(RULES, NAMES.name, Rule(body, batch=True))
        return engine("rules").run(NAMES, inputs, trace=trace)

    return run


def names(values):
    return [Names(names=[value]) for value in values]


def failing_on_bad(values):
    if "bad" in values:
        raise ValueError("cannot do 'bad'")
    return names(values)


def test_a_batch_that_fails_is_done_one_by_one(by_rules):
    """One broken passage must not cost the other sixty-three."""
    results = by_rules(failing_on_bad)
    assert [result.value for result in results] == [Names(names=["a"]), None, Names(names=["b"])]
    assert [result.failure for result in results] == [None, "ValueError: cannot do 'bad'", None]
    assert [result.parse for result in results] == ["rules", None, "rules"]


@pytest.mark.parametrize("rule", [lambda values: names(values)[1:], lambda values: names([*values, "more"])])
def test_a_rule_body_that_loses_count_fails(by_rules, rule):
    """Otherwise every later output would be another input's."""
    assert all("outputs for 1 inputs" in result.failure for result in by_rules(rule))


def test_a_step_without_a_rule_body_fails_and_says_what_to_do():
    step = Step("translate", Names, prompt)
    assert rule_for(step) is None and engine("rules").run(step, []) == []
    (result,) = engine("rules").run(step, ["a"])
    assert result.failure == (
        "SettingError: the Step 'translate' has no rule body: ask a model, or add one with wb.register(STEP, rule=…)"
    )


def test_a_registered_body_takes_one_input_or_a_batch(monkeypatch):
    monkeypatch.setattr(rules, "RULES", dict(RULES))
    step = Step("shout", Names, prompt)
    register(step, lambda value: Names(names=[value.upper()]))
    assert [result.value.names for result in engine("rules").run(step, ["a", "b"])] == [["A"], ["B"]]
    register(step, lambda values: names(values), batch=True)
    assert [result.value.names for result in engine("rules").run(step, ["a", "b"])] == [["a"], ["b"]]
    assert rule_for(replace(step, version=2))(["a"]) == names(["a"]), "Steps of one name share their body"


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


def test_the_trace_names_a_failure(by_rules):
    trace = Trace()
    by_rules(failing_on_bad, trace=trace)
    assert [event.failure for event in trace] == [None, "ValueError: cannot do 'bad'", None]


@pytest.mark.parametrize(("spec", "options"), [("rules:gpt-4o", {}), ("rules", {"record": "x"})])
def test_the_rules_take_no_model_and_no_options(spec, options):
    """Somebody who asks for a recording of rules has mistaken the engine."""
    with pytest.raises(SettingError, match=r"takes no model; got 'gpt-4o'|has no option 'record'"):
        engine(spec, **options)
