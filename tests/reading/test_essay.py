"""The reader `essay`: an answer in full from what `structured` lays out, and an extract that says so by rules."""

from __future__ import annotations

import pytest
from scripted import Scripted

import workbench as wb
from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.records import Evidence, Passage, Path, ranked
from workbench.rules import summarising as essays
from workbench.steps.final_answer import ESSAY as STEP
from workbench.steps.final_answer import UNKNOWN

PASSAGES = (
    Passage("p1", "Dune Fever", "Dune Fever is a film. Ada Lind directed it. It was shot in winter."),
    Passage("p2", "Fog", "Fog is rare."),
)
PATHS = (Path(("Dune Fever", "Ada Lind"), ("directed_by",), ("p1",), "complete"),)


def evidence(paths=PATHS, passages=PASSAGES):
    return Evidence("Who directed Dune Fever?", "m", "path", ranked(passages, [1.0] * len(passages)),
                    paths=ranked(paths, [1.0] * len(paths)))  # fmt: skip


def test_it_reads_what_structured_reads_and_asks_for_the_whole_answer():
    essay, short = wb.reader("essay"), wb.reader("structured")
    assert essay.context(evidence()) == short.context(evidence())
    assert essay.steps == ("essay_answer",) and essay.label == "essay" and essay.settings.prompt == "essay"
    told = STEP.prompt(essay._given("Who?", essay.context(evidence())))[0]["content"]
    assert "in full" in told and "shortest" not in told


def test_the_whole_reply_is_the_answer_also_one_that_was_cut():
    said = "Ada Lind directed it.\n\nIt is not known when the film was shot, so nothing more can be said of the year."
    whole = wb.reader("essay", Scripted(essay_answer=said)).read("Who directed Dune Fever?", evidence())
    assert (whole.text, whole.abstained, whole.reading.flaw) == (said, False, "")
    cut = wb.reader("essay", Scripted(essay_answer="…" + said)).read("Who directed Dune Fever?", evidence())
    assert (cut.text, cut.reading.flaw) == (said, "cut")
    begins = "Unknown is the year. " + "Ada Lind directed it and several other films of the same kind. " * 4
    assert not wb.reader("essay", Scripted(essay_answer=begins)).read("Who?", evidence()).abstained


@pytest.mark.parametrize("said", [UNKNOWN, "I don’t know. The context does not mention it."])
def test_a_reply_that_only_says_it_does_not_know_abstains(said):
    answer = wb.reader("essay", Scripted(essay_answer=said)).read("Who?", evidence())
    assert answer.abstained and answer.text == ""


@pytest.mark.parametrize(
    "reply", ["", "…", "I'm sorry, but I can't help with that.", '{"a": {"b": 1}}', "| a |\n|---|"]
)
def test_what_is_no_text_is_unreadable(reply):
    with pytest.raises(Unreadable):
        parse(STEP, Reply(reply))


def test_rules_give_an_extract_that_says_so():
    answer = wb.reader("essay").read("Who directed Dune Fever?", evidence())
    assert answer.text.startswith(essays.ESSAY_LABEL) and answer.engine == "rules"
    assert "paths end at Ada Lind" in answer.text and "Ada Lind directed it." in answer.text
    assert "Fog" not in answer.text
    assert wb.reader("essay").read("Who directed Dune Fever?", evidence((), ())).abstained
