"""Paths held against walks, and against words where there are none."""

from __future__ import annotations

import pytest

from workbench.rules import path_judging
from workbench.rules.path_judging import CLOSE, MISFIT, SURE
from workbench.steps import dot_rules, judge_paths
from workbench.steps.judge_paths import Input, PathShown

OTHERS = "film -[directed by]-> person <-[directed by]- film"
QUESTION = "which films have the same director as Dune Fever"
TYPES = {"Dune Fever": "film", "Ada Lind": "person", "Salt": "film", "1994": "year"}


def judge(question, rules_of_the_end, history, paths):
    rules = dot_rules.Output(
        query_constraints="", intermediate_rules=[], terminal_rules=list(rules_of_the_end), allowed_types=[],
        initial_query="",
    )  # fmt: skip
    return path_judging.judge_paths(Input(question, rules, tuple(history), tuple(paths))).verdicts


def another(question, constraints, history):
    value = judge_paths.Search(question, constraints, tuple(history), (), 1)
    return path_judging.fallback_query(value).query


def path(*nodes, hops, types=None, similarity=0.0, passage=""):
    """Hops are told as in a line: `directed_by>`."""
    relations = tuple(tuple((label[:-1], label[-1] == ">") for label in hop.split()) for hop in hops)
    return PathShown("1", passage, nodes, tuple(types or map(TYPES.get, nodes)), relations, similarity)


ADA = path("Dune Fever", "Ada Lind", hops=["directed_by>"])
SALT = path("Dune Fever", "Ada Lind", "Salt", hops=["directed_by>", "directed_by<"])


def verdict(one, *walks, history=()):
    (said,) = judge(QUESTION, walks or (OTHERS,), history, (one,))
    return said


def test_a_path_that_begins_the_walk_is_partial_and_asks_for_the_next_hop():
    said = verdict(ADA)
    assert (said.label, said.next_question) == ("partial", "film directed by Ada Lind")


@pytest.mark.parametrize(
    "one",
    [
        path("Dune Fever", "1994", hops=["release_year>"]),
        path("Dune Fever", "Ada Lind", hops=["directed_by<"]),  # the other way round
        path("Dune Fever", "Ada Lind", "Salt", hops=["directed_by>", "written_by<"]),
        path("Dune Fever", "Ada Lind", "Salt", "1994", hops=["directed_by>", "directed_by<", "release_year>"]),
        path("Dune Fever", hops=[]),
    ],
)
def test_any_other_path_is_irrelevant(one):
    assert verdict(one).label == "irrelevant"


def test_a_whole_walk_counts_before_the_beginning_of_another():
    longer, shorter = "film -[directed by]-> person <-[cast]- film", "film -[directed by]-> person"
    assert verdict(ADA, longer, shorter).label == "complete"


def test_later_walks_and_other_types_are_less_sure_and_similarity_more():
    first = verdict(SALT).confidence
    assert (verdict(SALT).label, first, verdict(SALT).next_question) == ("complete", pytest.approx(SURE), "")
    parallel = path("Dune Fever", "Ada Lind", "Salt", hops=["cast> directed_by>", "directed_by< written_by<"])
    assert verdict(parallel).label == "complete", "of parallel relations one is enough"
    assert verdict(SALT, "film -[cast]-> person", OTHERS).confidence < first
    misfit = path(
        "Dune Fever", "Ada Lind", "Salt", hops=["directed_by>", "directed_by<"], types=("film", "film", "film")
    )
    assert verdict(misfit).confidence == pytest.approx(first - MISFIT)
    near = path("Dune Fever", "Ada Lind", "Salt", hops=["directed_by>", "directed_by<"], similarity=0.5)
    assert verdict(near).confidence == pytest.approx(first + CLOSE / 2)


def test_what_was_searched_is_not_asked_for_again():
    history = ("Film directed by  ADA LIND!",)
    assert verdict(ADA, history=history).next_question == ""
    other = "film -[directed by]-> person <-[cast]- film"
    assert verdict(ADA, OTHERS, other, history=history).next_question == "film cast Ada Lind"


# -- without labels ---------------------------------------------------------------------------------------------------

ASKED = "Where was the founder of Kestrel FM born?"


@pytest.mark.parametrize(
    ("passage", "type_", "label"),
    [
        ("Kestrel FM was founded by Nora. Nora was born in Alderby.", "place", "complete"),
        ("Kestrel FM was founded by Nora. Nora was born in Alderby.", "person", "partial"),  # where is no person
        ("Nora founded Kestrel FM.", "person", "partial"),
        ("Kestrel FM broadcasts on 98.2.", "number", "irrelevant"),
    ],
)
def test_prose_is_held_against_the_words_of_the_question(passage, type_, label):
    one = path("Kestrel FM", "Alderby", hops=[""], types=("organisation", type_), passage=passage)
    (said,) = judge(ASKED, ["states a place of birth"], (), (one,))
    assert said.label == label and (said.next_question != "") == (label == "partial")


# -- another query ----------------------------------------------------------------------------------------------------


def test_queries_go_from_what_is_looked_for_to_the_question_and_end():
    constraints, history = "film directed by Ada Lind; not Ada Lind itself", []
    while query := another("What did Ada Lind direct?", constraints, history):
        history.append(query)
    assert history == [
        "film directed by Ada Lind",
        "What did Ada Lind direct?",
        "What did Ada Lind direct? film directed by Ada Lind",
    ]
