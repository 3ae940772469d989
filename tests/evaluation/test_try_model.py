"""The trial of a model (`benchmarks/try_model.py`): every Step asked, what was read, and what the model can carry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripts import loaded
from trial_questions import QUESTIONS

from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.llm.parse import parse
from workbench.steps import catalogue

STEPS = catalogue()
REPLIES = {json.dumps(STEPS[one.step].messages(one.input)): one.reply for one in QUESTIONS}


@pytest.fixture(scope="module")
def script():
    return loaded(Path(__file__).parents[2] / "benchmarks" / "try_model.py", "try_model")


def told(request) -> Reply:
    return Reply(REPLIES[json.dumps(list(request.messages))], prompt_tokens=10, completion_tokens=5, reasoning_tokens=2)


def test_every_step_has_a_question_whose_reply_is_right():
    assert {one.step for one in QUESTIONS} == set(STEPS)
    for one in QUESTIONS:
        value, level = parse(STEPS[one.step], Reply(one.reply))
        assert one.right(value) and level in ("strict", "text"), one.step


def test_another_question_s_reply_is_not_right():
    """Where a Step has two questions, one answer for both must not pass; that would be a check that cannot fail."""
    for one in QUESTIONS:
        others = [two.reply for two in QUESTIONS if two.step == one.step and two is not one]
        assert not [reply for reply in others if one.right(parse(STEPS[one.step], Reply(reply))[0])], one.step


def test_what_fails_names_what_the_model_cannot_carry(script):
    def half(request) -> Reply:
        if request.step == "fact_filter":
            return Reply("I cannot.")
        return Reply('{"enough": false}') if request.step == "enough" else told(request)

    whole = script.try_model(ChatEngine("openai:m", told), STEPS, 60)
    assert all(one.right for one in whole) and {row[2] for row in script.carries(whole)} == {"yes"}
    rows = {row[:2]: row[2:] for row in script.carries(script.try_model(ChatEngine("openai:m", half), STEPS, 60))}
    assert rows["method", "hipporag2"] == ("no", "fact_filter")
    assert rows["method", "think_on_graph"] == ("wrong", "enough")
    assert rows["method", "dense"] == ("yes", "asks no model") and rows["reader", "cot"] == ("yes", "")
    late = script.try_model(ChatEngine("openai:m", told, concurrency=1), STEPS, -1)
    assert {one.result for one in late} == {None} and {row[2] for row in script.carries(late)} == {"yes", "not asked"}


def test_layers_are_made_with_steps_that_there_are(script):
    assert {step for steps in script.LAYERS.values() for step in steps} <= set(STEPS)


def test_it_prints_a_table(script, capsys):
    assert script.main(["rules", "--step", "enough"]) == 0
    assert "2 of 2" in capsys.readouterr().out
