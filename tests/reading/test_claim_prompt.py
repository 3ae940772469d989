"""The prompt for claims: what it asks, how labels are read, how a reader answers with it."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted

import workbench as wb
from workbench.measures import Outcome, measure
from workbench.records import Evidence, Passage, Question, Scored
from workbench.steps.answer import read_claim as read

CLAIM = "The founder of Kestrel FM was born in Alderby."
PASSAGES = (
    Passage("p1", "Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984."),
    Passage("p2", "Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby, Norway."),
)


def evidence(claim=CLAIM, passages=PASSAGES) -> Evidence:
    return Evidence(claim, "by hand", "1/rank", tuple(Scored(passage, 1.0) for passage in passages))


def answered(reply: str):
    return wb.reader("direct[prompt=claim]", Scripted(verify_claim=reply)).read(CLAIM, evidence())


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Thought: x\nAnswer: SUPPORTED", "SUPPORTED"),
        ("Thought: x\nAnswer: NOT_SUPPORTED", "NOT_SUPPORTED"),
        ("**Answer:** **Not Supported.**\nBecause.", "NOT_SUPPORTED"),
        ('answer: "not-supported"', "NOT_SUPPORTED"),
        ("Answer: SUPPORTED is my first idea.\nAnswer: NOT_SUPPORTED", "NOT_SUPPORTED"),
        ("Answer: SUPPORTED. Both passages state it.", "SUPPORTED"),
    ],
)
def test_a_label_is_read_however_it_is_spelt(reply, label):
    assert read(reply).label == label


@pytest.mark.parametrize(
    "reply",
    [
        "SUPPORTED", "Answer:", "Answer: unknown", "Answer: partly supported", "Answer: SUPPORTED or NOT_SUPPORTED",
        "Answer: UNSUPPORTED", "Answer: SUPPORTEDNESS", "Answer: NOT", "Answer: SUPP", "Answer: supported, but in part",
    ],
)  # fmt: skip
def test_what_is_no_label_is_unreadable(reply):
    with pytest.raises(ValueError, match="Answer: SUPPORTED"):
        read(reply)


@given(st.text(max_size=80))
def test_any_reply_is_read_or_refused(reply):
    with contextlib.suppress(ValueError):
        assert read(reply).label in ("SUPPORTED", "NOT_SUPPORTED")


def test_the_reader_s_answer_is_the_label_with_its_thought():
    reader = wb.reader(
        "direct[prompt=claim]", engine := Scripted(verify_claim="Thought: Both say so.\nAnswer: Not supported")
    )
    answer = reader.read(CLAIM, evidence())
    assert reader.steps == ("verify_claim",) == tuple(engine.names) and reader.label == "direct[prompt=claim]"
    assert (answer.text, answer.thought, answer.abstained) == ("NOT_SUPPORTED", "Both say so.", False)
    assert answer.failure is None and answer.reading.prompt == "claim"


def test_a_reply_without_a_label_is_a_failure_and_wrong():
    answer = answered("I cannot say.")
    assert answer.text == "" and "Answer: SUPPORTED" in answer.failure and answer.reply == "I cannot say."
    question = Question("q", CLAIM, ("NOT_SUPPORTED",), support=("p1",))
    outcome = Outcome(["p1"], answer.text, failed=True)
    assert measure("accuracy")(question, outcome) == 0 and measure("joint@5")(question, outcome) == 0


def test_the_rules_read_claims_through_the_same_reader():
    reader = wb.reader("direct[prompt=claim]", wb.engine("rules"))
    assert reader.read(CLAIM, evidence()).text == "SUPPORTED"
    assert reader.read("Nora Whitlock was born in Selby in 1951.", evidence()).text == "NOT_SUPPORTED"
    assert reader.read(CLAIM, evidence(passages=())).text == "NOT_SUPPORTED"
