"""Estimates without a model: what is counted is what a model would be sent, and what is assumed is said."""

from __future__ import annotations

import json

import pytest
from tiny import QUESTIONS, TinyEncoder, tiny_dataset
from typer.testing import CliRunner

import workbench as wb
from workbench import tokens
from workbench.cli.app import app
from workbench.errors import SettingError
from workbench.evaluation.estimate import Range, Unasked, estimate_build, estimate_run, exactly
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.llm.meter import money
from workbench.steps import answer

NAME = "openai:gpt-4o-mini"


def arguments(index, engine, method="dense"):
    return QUESTIONS, [wb.method(method, index, engine)], wb.reader("direct", engine)


def test_prompts_are_those_that_a_model_is_sent(tiny_index):
    sent = []

    def model(request):
        sent.append(sum(tokens.count(message["content"]) for message in request.messages))
        return Reply("Answer: Lake Mira", "stop", 1, 1)

    for question in QUESTIONS:
        (method,), reader = arguments(tiny_index, ChatEngine(NAME, model))[1:]
        reader.read(question.question, method.retrieve(question.question, 20))
    found = estimate_run(*arguments(tiny_index, Unasked(NAME)), sample=0)
    (cost,) = [cost for cost in found.costs if cost.step == "answer"]
    assert cost.calls == exactly(len(QUESTIONS)) and cost.prompt_tokens == exactly(sum(sent))
    assert 0 < cost.completion_tokens.low < cost.completion_tokens.value
    assert cost.completion_tokens.high == len(QUESTIONS) * answer.STEP.max_tokens, "where the endpoint cuts"
    assert cost.money.high == pytest.approx(money(NAME, sum(sent), cost.completion_tokens.high))
    assert cost.seconds is None and found.spent.calls == 0


def test_what_is_measured_and_what_is_assumed_is_said(tiny_index):
    shown = repr(estimate_run(*arguments(tiny_index, Unasked(NAME, "no key")), sample=2))
    assert f"engine {NAME}" in shown and "no model was asked: no key" in shown
    assert f"measured: the prompts of 2 of {len(QUESTIONS)} questions" in shown
    assert "assumed: openai:gpt-4o-mini asks as often as the rules do" in shown
    assert "not known: how long an answer takes" in shown and "the sample took" not in shown


def test_its_rules_answer_nothing_but_an_estimate(tiny_index, tmp_path):
    """Or rows and layers would go by the name of a model that never said them."""
    engine = Unasked(NAME)
    with pytest.raises(SettingError, match="is not asked here"):
        wb.reader("direct", engine).read("?", wb.method("dense", tiny_index).retrieve("?", 3))
    estimate_run(*arguments(tiny_index, engine), sample=1)
    with pytest.raises(SettingError, match="build the layers"):
        wb.reader("direct", engine).read("?", wb.method("dense", tiny_index).retrieve("?", 3))
    with pytest.raises(SettingError, match="is not asked here"):
        wb.Index.build(
            wb.data.Dataset("town", tiny_dataset().passages), engine, tmp_path, encoder=TinyEncoder(), progress=False
        )


def test_a_model_beside_one_that_is_not_asked_is_refused(tiny_index):
    """A sample of 0 would ask it all the same."""
    questions, methods, reader = arguments(tiny_index, Unasked(NAME))
    with pytest.raises(SettingError, match="openai:judge can be asked"):
        estimate_run(questions, methods, reader, judge=ChatEngine("openai:judge", None), sample=0)


def test_a_build_asks_no_sample_of_it():
    data = wb.data.Dataset("town", tiny_dataset().passages)
    found = estimate_build(data, Unasked(NAME, "no key"), encoder=TinyEncoder())
    costs = {cost.step: cost for cost in found.costs}
    assert costs["named_entities"].money.value > 0 and isinstance(costs["triples"].completion_tokens, Range)
    assert "no model was asked: no key" in repr(found) and "no passage was asked" in repr(found)


def test_the_command_line_without_a_key(meridian_index, tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    asked = tmp_path / "questions.jsonl"
    question = {"id": "q", "question": "Who built the viaduct?", "answers": ["x"], "support": []}
    asked.write_text(json.dumps(question) + "\n")
    words = ["estimate", str(meridian_index.folder), "-q", str(asked), "-m", "bm25", "-r", "direct", "-e", NAME]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, (shown.output, shown.exception)
    told = " ".join(shown.stdout.split())
    assert "no model was asked: no key for the OpenAI endpoint: set OPENAI_API_KEY" in told and "assumed:" in told
    said = json.loads(CliRunner().invoke(app, [*words, "--sample", "0", "--json"]).stdout)
    assert said["total"]["prompt_tokens"][0] > 0 and "no sample was wanted" in said["measured"][0]
    thrice = json.loads(CliRunner().invoke(app, [*words, "--repeats", "3", "--json"]).stdout)
    assert thrice["total"]["calls"][0] == 3 * said["total"]["calls"][0]
    refused = CliRunner().invoke(app, [*words, "--sample", "1"])
    assert refused.exit_code == 1 and "no key" in refused.stderr
    built = CliRunner().invoke(app, ["estimate", "meridian", "-e", NAME, "-o", str(tmp_path / "index")])
    assert built.exit_code == 0 and "no model was asked: no key" in " ".join(built.stdout.split())
