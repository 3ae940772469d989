"""Joint success, and the accuracy of labels, by hand and against the definition."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench import measures
from workbench.measures import Outcome
from workbench.measures.accuracy import accuracy
from workbench.measures.answers import contains, exact_match, normalised
from workbench.records import Question, Reading

QUESTION = Question("q", "?", ("Paris", "City of Light"), support=("a", "b"))
LABELS = ("SUPPORTED", "NOT_SUPPORTED")


def measured(answer, ranking=("a", "x", "b"), question=QUESTION, name="joint@3", **outcome):
    return measures.measure(name)(question, Outcome(list(ranking), answer, **outcome))


@pytest.mark.parametrize(
    ("answer", "ranking", "value"),
    [
        ("It is Paris.", ("a", "x", "b"), 1),
        ("the city of light", ("b", "a"), 1),
        ("It is Paris.", ("a", "x", "y", "b"), 0),  # the second gold passage is the fourth
        ("It is Lyon.", ("a", "b"), 0),
        ("Parisian", ("a", "b"), 0),
        ("", ("a", "b"), 0),
    ],
)
def test_both_the_chain_and_the_answer_must_succeed(answer, ranking, value):
    assert measured(answer, ranking) == value
    chain = measures.measure("all_gold@3")(QUESTION, Outcome(list(ranking), answer))
    assert value == chain * contains(answer, QUESTION.answers)


def test_it_is_undefined_where_either_part_is():
    assert measured("Paris", question=Question("q", "?", ("Paris",))) is None
    assert measured("Paris", question=Question("q", "?", support=("a",))) is None
    assert measured(None) is None
    assert measured("", ranking=(), failed=True) == measured("Paris", failed=True) == 0, "a failure is no success"
    assert measured("", reading=Reading("brief", flaw="cut")) == 0


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("said", [*LABELS, "The claim is NOT_SUPPORTED.", "SUPPORTED by both passages"])
def test_a_label_is_right_only_where_it_is_the_same(label, said):
    same = ("NOT_" in said) == ("NOT_" in label)
    assert contains(said, [label]) == same and accuracy(said, [label]) == same
    assert contains("not Paris", ["Paris"]) and not accuracy("not Paris", ["Paris"]), "accuracy is stricter"


texts = st.text(st.sampled_from("ab19 .,_-'é°東\n") | st.sampled_from("theTHEan"), max_size=12)


@given(texts, st.lists(texts, max_size=3))
@example("20 °C", ["°C"])
@example("a", ["the"])
def test_containment_is_that_of_normalised_texts(answer, gold):
    found = contains(answer, gold)
    assert found == any(contains(answer, [right]) for right in gold)
    if normalised(answer) and any(exact_match(answer, [right]) for right in gold):
        assert found
    if found:
        assert any(normalised(right) and normalised(right) in normalised(answer) for right in gold)


@given(texts, st.text("abc19", min_size=1, max_size=4))
def test_for_a_gold_answer_of_one_word_it_is_the_released_pattern(answer, gold):
    word = normalised(gold)
    released = bool(word) and bool(re.search(rf"\b{re.escape(word)}\b", normalised(answer)))
    assert contains(answer, [gold]) == released
