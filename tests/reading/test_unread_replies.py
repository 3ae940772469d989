"""A reply that no answer could be read off is shown with its failure, cleaned and cut."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine

REPLY = "It was <b>Karl\x1b[31m Weiss</b>, I should say."
QUESTION = "Who built the viaduct?"


@pytest.fixture
def saying(monkeypatch):
    """An engine that says this to whatever it is asked; the command line takes it as well."""

    def make(text: str) -> ChatEngine:
        engine = ChatEngine("openai:m", lambda request: Reply(text, "stop", 1, 1))
        monkeypatch.setattr("workbench.cli.opening.engine", lambda *given, **more: engine)
        return engine

    return make


@pytest.mark.parametrize(("reader", "why"), [("direct", "unreadable"), ("cot", "no answer line")])
def test_what_the_model_said_stands_with_why_it_is_no_answer(reader, why, saying, meridian_index):
    evidence = wb.method("bm25", meridian_index).retrieve(QUESTION, k=3)
    answer = wb.reader(reader, saying(REPLY)).read(QUESTION, evidence)
    assert not answer.text and not answer.abstained
    assert why in (answer.failure or answer.reading.flaw)
    shown, trace, _ = answer._repr_html_().partition("<summary>trace")
    assert trace, "which has the reply as well"
    assert why in repr(answer) and "It was <b>Karl" in repr(answer) and "\x1b" not in repr(answer)
    assert "It was &lt;b&gt;Karl" in shown and "<b>Karl" not in shown and shown.count("I should say") == 1
    long = wb.reader("direct", saying("word " * 1_000)).read(QUESTION, evidence)
    assert len(long.reply) == 5_000 and len(repr(long)) < 1_500 and "(5,000 characters)" in repr(long)
    read = wb.reader("direct", saying("Thought: so.\nAnswer: Karl Weiss")).read(QUESTION, evidence)
    assert read.text == "Karl Weiss" and not read.reply and "the model replied" not in repr(read)


@pytest.mark.parametrize(("reader", "why"), [("direct", "failed: unreadable"), ("cot", "no answer line")])
def test_the_command_line_shows_it_too(reader, why, saying, meridian_index):
    saying(REPLY)
    words = ["ask", str(meridian_index.folder), QUESTION, "-m", "bm25", "-r", reader]
    shown = CliRunner().invoke(app, words).stdout
    assert why in shown and shown.count("I should say") == 1 and "\x1b[31m" not in shown
    said = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert "Karl" in said["reply"] and (said["failure"] or said["flaw"])
