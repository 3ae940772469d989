"""Answers before a judge that says 1 or 0: what it is asked, and what needs no judge."""

from __future__ import annotations

import json

import pytest
from test_analyses import written

from workbench.analyses import judged_accuracy
from workbench.llm import Result
from workbench.llm.call import Reply
from workbench.llm.parse import parse
from workbench.records import Question
from workbench.steps import judge

QUESTIONS = (
    Question("right", "Where?", ("Alderby", "old Alderby")),
    Question("wrong", "Who?", ("Nora",)),
    Question("refused", "When?", ("1984",)),
    Question("broken", "Why?", ("rain",)),
    Question("cut", "How?", ("by rail",)),
    Question("nothing", "Which dragon?", ()),
    Question("invented", "Which giant?", ()),
)
ANSWERS = {
    "right": {"answer": "in Alderby"}, "wrong": {"answer": "Jonas"}, "refused": {"answer": "I don't know"},
    "broken": {"answer": None, "failure": "no reply"}, "cut": {"answer": "", "reading": {"flaw": "cut"}},
    "nothing": {"answer": "", "abstained": True}, "invented": {"answer": "Gog"},
}  # fmt: skip


class Judge:
    """1 if a gold answer is in the prediction; fails on those in `fails`."""

    name, workers = "openai:judge", 1

    def __init__(self, *fails):
        self.fails, self.seen = fails, []

    def run(self, step, inputs, *, trace=None):
        assert step is judge.DIGIT
        self.seen += inputs
        return [self._one(value) for value in inputs]

    def _one(self, value):
        if value.prediction in self.fails:
            return Result(None, failure="told to fail")
        return Result(judge.Digit(verdict=int(any(gold in value.prediction for gold in value.gold))))


@pytest.fixture
def run(tmp_path):
    made = written(tmp_path / "run", {"m": {}}, {"m": {"f1": [0.0] * len(QUESTIONS)}}, questions=QUESTIONS)
    path = made.folder / "results.jsonl"
    (made.folder / "checksums.json").unlink(missing_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, **ANSWERS[row["question_id"]]}) + "\n" for row in rows))
    asked = (json.dumps({"id": q.id, "question": q.question, "answers": q.answers}) for q in QUESTIONS)
    (made.folder / "checksums.json").unlink(missing_ok=True)
    (made.folder / "questions.jsonl").write_text("".join(f"{line}\n" for line in asked))
    return type(made)(made.folder)


def test_only_answers_to_questions_with_gold_are_judged(run):
    asked = Judge()
    found = judged_accuracy(run, asked)
    assert [value.prediction for value in asked.seen] == ["in Alderby", "Jonas"]
    assert asked.seen[0].gold == ("Alderby", "old Alderby")
    answerable, unanswerable = found.rows
    assert (answerable["over"], answerable["n"], answerable["accuracy"]) == ("answerable", 5, 1 / 5)
    assert answerable["refused"] == 1 / 5  # a broken question and an unreadable answer are no refusals
    assert (unanswerable["n"], unanswerable["accuracy"], unanswerable["refused"]) == (2, 1 / 2, 1 / 2)
    assert answerable["low"] < 1 / 5 < answerable["high"] and answerable["reader"] == "direct"
    assert [one["verdict"] for one in found.judgements] == [1, 0, 0, 0, 0, 1, 0]
    assert "openai:judge" in found.notes[0]


def test_failures_of_the_judge_are_counted_and_not_wrong(run):
    (answerable, _) = judged_accuracy(run, Judge("Jonas")).rows
    assert (answerable["n"], answerable["failures"], answerable["accuracy"]) == (4, 1, 1 / 4)


@pytest.mark.parametrize(
    ("reply", "verdict"), [("1", 1), ("0", 0), (" 1.\n", 1), ("**0**", 0), ("Verdict: 1", 1), ("1 (of 1)", 1)]
)
def test_the_first_digit_is_the_verdict(reply, verdict):
    value, _ = parse(judge.DIGIT, Reply(reply))
    assert value.verdict == verdict
