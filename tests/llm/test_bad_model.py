"""A model that answers nothing of use, through index, ask, evaluate, bundle and the displays of notebooks: in each the
failure stands in the first line of what is shown, and in the exit code of the verb."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from chat_server import completion, error
from tiny import PASSAGES, QUESTIONS, TinyEncoder

import workbench as wb
from workbench.data import Dataset
from workbench.encoding import ENCODERS
from workbench.views.records import failure_of

REPLIES = {
    "prose": "Sure! This passage is about a town on a river. I hope this helps.",
    "empty": "",
    "half JSON": '{"',
    "refusal": "I'm sorry, but I can't help with that.",
}


class Named(TinyEncoder):
    settings = {"spec": "tiny"}  # by which an index loads it


@pytest.fixture(params=REPLIES)
def reply(request) -> str:
    return REPLIES[request.param]


@pytest.fixture
def bad(serve, reply) -> str:
    """The SPEC of a model that always gives the reply."""
    server = serve(lambda asked: completion(reply))
    return f"openai:bad@{server.url}"


@pytest.fixture(autouse=True)
def _tiny(registries, monkeypatch) -> None:
    """The encoder of the tiny corpus by name, and a key for the endpoint."""
    ENCODERS["tiny"] = Named
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def corpus(tmp_path) -> Path:
    """The tiny corpus, without extractions."""
    return wb.write_folder(Dataset("tiny", PASSAGES, QUESTIONS), tmp_path / "tiny")


@pytest.fixture
def good(tmp_path, corpus) -> Path:
    """An index by rules."""
    wb.Index.build(corpus, wb.engine("rules"), tmp_path / "good", encoder="tiny", progress=False)
    return tmp_path / "good"


@pytest.fixture
def lacking(tmp_path, corpus, bad) -> Path:
    """An index of a bad model, which was kept all the same."""
    index = wb.Index.build(corpus, wb.engine(bad), tmp_path / "bad", encoder="tiny", keep_going=True, progress=False)
    assert not index.facts.facts
    return index.folder


LACKING = "Warning: extractions: 8 of 8 passages failed; a build with --layers extractions and a model asks for these "


def first_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.strip())


def in_a_notebook(record) -> str:
    """The text of the first element that a notebook shows."""
    shown = record._repr_html_().partition("</style>")[2]
    return html.unescape(re.sub(r"<[^>]*>", "", shown[: shown.index("</p>")]))


def test_a_build_ends_with_an_error_that_quotes_the_first_replies(bad, reply, corpus, tmp_path, workbench):
    words = ("index", corpus, "--out", tmp_path / "index", "--engine", bad, "--encoder", "tiny")
    said = workbench(*words, code=1).stderr.splitlines()[-1]
    assert said.startswith("MostFailed: layer 'extractions': 8 of 8 requests to openai:bad (")
    assert (repr(reply) if reply else "the reply is empty") in said and "--keep-going" in said
    kept = workbench(*words, "--keep-going")
    assert first_line(kept.stdout).startswith(LACKING)
    assert "nothing in facts: methods over them find nothing" in first_line(kept.stdout)
    workbench(*words, code=1)  # what failed is asked again, and fails again


def test_an_index_that_lacks_something_says_so_first(lacking):
    index = wb.Index.open(lacking)
    assert first_line(repr(index)).startswith(LACKING) and in_a_notebook(index).startswith(LACKING)
    assert wb.checkup(index).warnings[: len(index.warnings)] == index.warnings


@pytest.mark.parametrize("over", ["good", "lacking"])
def test_a_question_without_an_answer_is_an_error(over, request, bad, workbench):
    words = ("ask", request.getfixturevalue(over), "Where was the founder of Orsby born?", "--engine", bad)
    assert first_line(workbench(*words, code=1).stdout).startswith("failed: ")
    whole = workbench(*words, "--json", code=1)
    assert any("fell back" in one for one in json.loads(whole.stdout)["warnings"])


def test_a_server_that_always_fails_is_an_error(good, serve, workbench):
    server = serve(lambda asked: error(500))
    engine = f"openai:bad@{server.url}[attempts=1]"
    said = workbench("ask", good, "Where was Nora Whitlock born?", "--method", "dense", "--engine", engine, code=1)
    assert "500" in first_line(said.stdout or said.stderr)


def test_evidence_and_answers_begin_with_the_failure(good, bad):
    index, engine = wb.Index.open(good), wb.engine(bad)
    evidence = wb.method("hipporag2", index, engine).retrieve(QUESTIONS[0].question)
    assert first_line(repr(evidence)).startswith("fall-back: dense ranking, because ")
    assert in_a_notebook(evidence).startswith("fall-back: dense ranking, because ")
    answer = wb.reader("direct", engine, index=index).read(QUESTIONS[0].question, evidence)
    assert "failure: " in first_line(repr(answer)) and in_a_notebook(answer) == failure_of(answer) != ""


@pytest.mark.parametrize(
    ("reply", "over", "reader"),
    [
        ("prose", "good", ()),
        ("prose", "lacking", ()),
        ("empty", "lacking", ("--reader", "direct")),
        ("half JSON", "good", ("--reader", "direct")),
        ("refusal", "good", ("--reader", "direct")),
    ],
    indirect=["reply"],
)
def test_a_run_that_is_mostly_failures_is_an_error(over, reader, request, bad, corpus, tmp_path, workbench):
    folder, out = request.getfixturevalue(over), tmp_path / "run"
    words = ("--questions", corpus / "questions.jsonl", "--engine", bad, "--out", out, *reader)
    said = first_line(workbench("evaluate", folder, *words, code=1).stdout).strip()
    run = wb.Run(out)
    whole = first_line(repr(run))
    expected = "hipporag2: 3 of 3 questions failed and count as 0" if reader else "hipporag2: fell back on 3 of 3"
    assert whole.startswith(f"Warning: {expected}") and whole.startswith(said) and run.mostly_failed
    assert (LACKING.removeprefix("Warning: ") in whole) == (over == "lacking")
    assert in_a_notebook(run) == whole
    made = workbench("bundle", out, "--out", tmp_path / "page.html", code=1)
    assert first_line(made.stdout).strip() == said
    page = (tmp_path / "page.html").read_text("utf-8").partition("<header>")[2]
    assert html.unescape(re.sub(r"<[^>]*>", "", page.partition("</p>")[0])).strip() == whole
