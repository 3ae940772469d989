"""The trial of a model: every Step asked, what was read, and what the model can carry."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.errors import SettingError
from workbench.evaluation.trial import LAYERS, QUESTIONS
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.llm.parse import parse
from workbench.steps import catalogue
from workbench.views import html, text

STEPS = catalogue()
REPLIES = {json.dumps(STEPS[one.step].messages(one.input)): one.reply for one in QUESTIONS}


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


def test_a_model_that_answers_rightly_carries_everything():
    trial = wb.try_model(ChatEngine("openai:m", told), progress=False)
    assert all(one.right for one in trial.tried) and len(trial.tried) == len(QUESTIONS)
    assert {row["carries"] for row in trial.carries()} == {"yes"}
    answer = next(row for row in trial.rows() if row["step"] == "answer")
    assert {name: answer[name] for name in ("read", "right", "prompt_tokens", "reasoning_tokens", "failed")} == {
        "read": "text", "right": "1 of 1", "prompt_tokens": 10, "reasoning_tokens": 2, "failed": "",
    }  # fmt: skip
    assert trial.frame().shape[0] == len(STEPS)


def test_what_fails_names_what_it_cannot_carry():
    def half(request) -> Reply:
        if request.step == "fact_filter":
            return Reply("I <b>cannot</b>.")
        return Reply('{"enough": false}') if request.step == "enough" else told(request)

    trial = wb.try_model(ChatEngine("openai:m", half), progress=False)
    carried = {(row["kind"], row["name"]): (row["carries"], row["because"]) for row in trial.carries()}
    assert carried["method", "hipporag2"] == ("no", "fact_filter")
    assert carried["method", "think_on_graph"] == ("wrong", "enough")
    assert carried["method", "dense"] == ("yes", "asks no model") and carried["reader", "cot"] == ("yes", "")
    shown = text(trial)
    assert "cannot carry: hipporag2 (fact_filter)" in shown and "not rightly: think_on_graph (enough)" in shown
    assert "<b>" not in html(trial).replace("<b>Trial", "")


def test_when_the_time_is_up_the_rest_is_said_to_be_unknown():
    trial = wb.try_model(ChatEngine("openai:m", told, concurrency=1), seconds=-1, progress=False)
    assert {one.result for one in trial.tried} == {None} and {row["read"] for row in trial.rows()} == {"not asked"}
    assert {row["carries"] for row in trial.carries()} == {"yes", "not asked"}  # some ask no model
    assert "not tried: hipporag2" in text(trial)


def test_some_steps_alone_and_unknown_ones():
    trial = wb.try_model("rules", steps=["enough", "keywords"], progress=False)
    assert [row["step"] for row in trial.rows()] == ["keywords", "enough"] and trial.engine == "rules"
    with pytest.raises(SettingError, match="no Step 'enuf'; there are answer"):
        wb.try_model("rules", steps=["enuf"])


def test_layers_are_made_with_steps_that_there_are():
    assert {step for steps in LAYERS.values() for step in steps} <= set(STEPS)


def test_on_the_command_line(monkeypatch):
    monkeypatch.setattr("workbench.llm.chat.Line.sleep", lambda line, seconds: None)
    shown = CliRunner().invoke(app, ["try-model", "rules", "--step", "enough"])
    assert shown.exit_code == 0 and "2 of 2" in shown.output
    said = CliRunner().invoke(app, ["try-model", "rules", "--step", "enough", "--json"])
    assert json.loads(said.stdout)["steps"][0]["right"] == "2 of 2"
    nobody = "openai:m@http://u:secret@127.0.0.1:1/v1"
    assert CliRunner().invoke(app, ["try-model", nobody, "--step", "enough"]).exit_code == 1
