"""The bundled corpus is consistent: each hop's answer stands in its gold passage, and nothing gives itself away."""

import re
from collections import Counter

import pytest

import workbench as wb

DATA = wb.load("meridian")
TEXT = {passage.id: passage.content.casefold() for passage in DATA.passages}
ANSWERABLE = [question for question in DATA.questions if question.answers]
KINDS = {"bridge", "comparison", "bridge-comparison", "compositional", "inference"}


def by_id(questions):
    return pytest.mark.parametrize("question", questions, ids=lambda question: question.id)


def test_it_is_large_enough():
    assert len(DATA.passages) >= 40
    assert len(ANSWERABLE) >= 25
    assert {question.type for question in ANSWERABLE} == KINDS
    assert min(Counter(question.type for question in ANSWERABLE).values()) >= 3
    assert {question.hops for question in ANSWERABLE} == {2, 3, 4}


def test_passages_are_of_an_articles_length_and_of_one_title_each():
    assert all(60 <= len(passage.text.split()) <= 150 for passage in DATA.passages)
    assert len({passage.title for passage in DATA.passages}) == len(DATA.passages)


@by_id(ANSWERABLE)
def test_each_hops_answer_stands_in_its_passage(question):
    stated = [step for step in question.decomposition if step["support"]]
    assert {step["support"] for step in stated} == set(question.support)
    for step in stated:
        assert step["answer"].casefold() in TEXT[step["support"]], step


@by_id(ANSWERABLE)
def test_it_takes_as_many_passages_as_hops(question):
    assert len(question.support) == len(set(question.support)) == question.hops


@by_id([question for question in ANSWERABLE if question.type in ("bridge", "compositional", "inference")])
def test_no_answer_stands_in_its_own_question(question):
    for answer in question.answers:
        if answer.casefold() not in ("yes", "no"):
            assert not re.search(rf"\b{re.escape(answer.casefold())}\b", question.question.casefold())


@by_id([question for question in DATA.questions if not question.answers])
def test_what_cannot_be_answered_is_marked(question):
    assert (question.type, question.support, question.decomposition) == ("unanswerable", (), None)


def test_later_steps_refer_to_earlier_ones_only():
    for question in ANSWERABLE:
        for position, step in enumerate(question.decomposition, 1):
            assert all(int(number) < position for number in re.findall(r"#(\d+)", step["question"]))
