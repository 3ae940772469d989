"""The Step `keywords`: what is read of replies, and its rule body on questions to a small schema."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from workbench.rules import rule_for
from workbench.steps import keywords as step

RELATIONS = (
    ("directed_by", ("movie",), ("person",), ""),
    ("written_by", ("movie",), ("person",), ""),
    ("release_year", ("movie",), ("year",), ""),
    ("in_language", ("movie",), ("language",), ""),
)


def keywords(question, named=(), relations=()):
    """(high level, low level) by rules."""
    (output,) = rule_for(step.STEP)([step.Input(question, tuple(named), tuple(relations))])
    return output.high_level, output.low_level


@pytest.mark.parametrize(
    "question, named, high, low",
    [
        ("who directed Dune Fever", "Dune Fever", ["directed by"], ["Dune Fever"]),
        (
            "which films have the same screenwriter as Dune Fever",
            "Dune Fever",
            ["written by", "movie", "person"],
            ["Dune Fever"],
        ),
        ("what are the languages spoken in Salt", "Salt", ["in language", "language"], ["Salt"]),
        ("which critics liked the films of Ada Lind", "Ada Lind", ["movie", "critic", "like"], ["Ada Lind"]),
    ],
)
def test_what_is_asked_is_high_and_what_is_named_is_low(question, named, high, low):
    assert keywords(question, [(named, "any")], RELATIONS) == (high, low)


def test_a_node_that_is_a_word_of_the_question_is_not_named_by_it():
    named = [("films", "tag"), ("Ada Lind", "person")]
    assert keywords("which films did Ada Lind direct", named, RELATIONS) == (["directed by", "movie"], ["Ada Lind"])
    assert keywords("describe films", named[:1], RELATIONS)[1] == ["films"]  # nothing else is named


def test_where_the_graph_names_nothing_names_and_then_noun_phrases_are_low():
    assert keywords("Which lake does the River Aldra flow into?") == (["lake", "flow"], ["River Aldra"])
    assert keywords("which lake borders the old harbour")[1] == ["lake", "old harbour"]


@pytest.mark.parametrize("question", ["", "?!", "  \n", "who is it"])
def test_a_question_that_says_nothing_has_no_keywords(question):
    assert keywords(question, (), RELATIONS) == ([], [])


def test_a_model_sees_the_question_and_nothing_of_the_graph():
    with_graph = step.Input("who directed Dune Fever", (("Dune Fever", "movie"),), RELATIONS)
    assert step.STEP.prompt(with_graph) == step.STEP.prompt(step.Input("who directed Dune Fever"))


def test_a_list_that_came_as_one_string_is_split():
    read = step.Output.model_validate({"high_level": "director; film,\n year", "low_level": [" Salt ", ""]})
    assert read == step.Output(high_level=["director", "film", "year"], low_level=["Salt"])
    with pytest.raises(ValidationError):
        step.Output.model_validate({"high_level": 3, "low_level": []})
