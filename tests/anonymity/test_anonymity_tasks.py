"""Reversion, multiple choice and the zero-shot filter."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import TinyEncoder

import workbench as wb
from workbench import anonymity, measures
from workbench.anonymity.names import PLACEHOLDER
from workbench.data import load, write_folder
from workbench.errors import DataError, SettingError
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.measures import Outcome
from workbench.steps.final_answer import Output

DATA = wb.load("meridian-anonymised")
NAMES = anonymity.names_of(DATA)
REVERSION, CHOICE = anonymity.reversion(DATA, NAMES), anonymity.choice(DATA, NAMES)


def test_a_question_of_reversion_asks_for_each_placeholder_of_question_and_answer():
    (question,) = [one for one in REVERSION.questions if one.id == "q0003-r"]
    source = DATA.questions[2]
    asked = dict.fromkeys(one[0] for text in (source.question, source.answers[0]) for one in PLACEHOLDER.finditer(text))
    assert source.question in question.question and source.answers[0] in question.question
    assert question.question.endswith(": " + ", ".join(asked)) and len(asked) >= 2
    assert [pair.split(" — ")[0] for pair in question.answers[0].split("; ")] == list(asked)
    assert "High Water at Orsby" in question.answers[0] and question.support == source.support
    assert question.type == "reversion" and REVERSION.name == "meridian-anonymised-reversion"


def test_common_words_are_not_asked_for():
    assert not any("[TERM#" in q.answers[0] for q in REVERSION.questions)


def test_a_choice_has_four_options_of_the_kinds_of_the_right_one():
    letters = set()
    for question in CHOICE.questions:
        options = question.question.split("\n")[1:5]
        kinds = {tuple(sorted(kind for kind, _ in PLACEHOLDER.findall(option))) for option in options}
        assert [option[:3] for option in options] == ["A. ", "B. ", "C. ", "D. "] and len(set(options)) == 4
        assert len(kinds) == 1 and kinds != {()}
        source = next(one for one in DATA.questions if f"{one.id}-c" == question.id)
        assert options["ABCD".index(question.answers[0])][3:] == source.answers[0]
        letters.add(question.answers[0])
        assert measures.measure("choice")(question, Outcome((), source.answers[0])) == 1.0
    assert letters == set("ABCD") and len(CHOICE.questions) >= 60


def test_options_follow_the_seed():
    assert anonymity.choice(DATA, NAMES) == CHOICE
    assert anonymity.choice(DATA, NAMES, seed=1).questions != CHOICE.questions


def test_the_tasks_are_data_folders(tmp_path):
    for task in (REVERSION, CHOICE):
        back = load(write_folder(task, tmp_path / task.name))
        assert (back.name, back.questions, back.passages) == (task.name, task.questions, DATA.passages)


def test_what_cannot_be_asked_is_an_error():
    with pytest.raises(SettingError, match="only anonymised passages"):
        anonymity.choice(DATA, NAMES, corpus="original")
    with pytest.raises(SettingError, match="corpus='both' is unknown; choose anonymised or original"):
        anonymity.reversion(DATA, NAMES, corpus="both")
    with pytest.raises(DataError, match="with a known name, as a choice task needs"):
        anonymity.choice(replace(DATA, questions=()), NAMES)


class Knows(RulesEngine):
    """Answers every question without looking, `said`."""

    def __init__(self, said, failure=None):
        super().__init__()
        self.said, self.failure, self.asked = said, failure, []

    def run(self, step, inputs, **more):
        self.asked += [step.prompt(value)[0]["content"] for value in inputs]
        return [Result(None if self.failure else Output(reply=self.said), self.failure, "text") for _ in inputs]


def test_the_filter_drops_what_is_answered_without_a_passage():
    engine = Knows("B")
    left = anonymity.without_known(CHOICE, engine)
    assert 0 < len(left.questions) < len(CHOICE.questions)
    assert {q.answers[0] for q in left.questions} == {"A", "C", "D"} and left.passages == CHOICE.passages
    assert "are left out: rules answers them without retrieval" in left.origin.notes[-1]
    assert "Extracted knowledge:\n\n" in engine.asked[0] and "own knowledge" in engine.asked[0]
    assert anonymity.without_known(REVERSION, Knows("nothing")).questions == REVERSION.questions
    known = REVERSION.questions[5]
    assert known not in anonymity.without_known(REVERSION, Knows(known.answers[0])).questions


def test_a_failed_request_tells_nothing_of_what_a_model_knows():
    with pytest.raises(DataError, match=r"failed on 'q\d+-c': no server"):
        anonymity.without_known(CHOICE, Knows("", failure="no server"))


def test_the_rules_know_nothing():
    assert anonymity.without_known(CHOICE, RulesEngine()).questions == CHOICE.questions


def test_both_tasks_are_measured_in_a_run(tmp_path):
    few = replace(DATA, passages=DATA.passages[:5], questions=(), graph=None, schema=None)
    index = wb.Index.build(few, folder=tmp_path / "index", encoder=TinyEncoder(), layers=["passages"], progress=False)
    asked = [replace(q, support=()) for q in (*REVERSION.questions[:2], *CHOICE.questions[:2])]
    reader = wb.reader("direct[prompt=knowledge,mode=open]", Knows(REVERSION.questions[0].answers[0]))
    names = ["reversion_f1", "reversion_exact", "choice"]
    run = wb.evaluate(asked, [wb.method("bm25", index)], reader, tmp_path / "run", measures=names, progress=False)
    table = run.table().loc["bm25"]
    assert (table["reversion_exact"], table["choice"]) == (0.5, 0.0)
    assert run.counts().loc["bm25"][names].to_list() == [2, 2, 2]


def test_the_first_block_of_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "anonyrag.md").read_text(encoding="utf-8")
    names = {"wb": wb}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    assert len(names["task"].questions) == 121 and len(names["options"].questions) == 70
    assert f"{len(CHOICE.questions)} of the 121" in page and names["harder"].questions == CHOICE.questions
