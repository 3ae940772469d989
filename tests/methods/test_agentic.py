"""The loop of agentic search, with a model that says what it is told to."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.testing.data import small_index

QUESTION = "Who designed the bridge over the river at Vennick?"


class Turns:
    """One reply after the other: (notes, query, answer), or None for a failure."""

    name, workers = "turns", 1

    def __init__(self, *replies):
        self.meter, self.replies, self.inputs = Meter(), list(replies), []

    def run(self, step, inputs, *, trace=None):
        (value,) = inputs
        self.inputs.append(value)
        reply = self.replies.pop(0)
        if reply is None:
            return [Result(None, failure="unreadable")]
        return [Result(step.output(**dict(zip(("notes", "query", "answer"), reply))))]


@pytest.fixture(scope="module")
def index():
    return small_index()


def test_it_searches_until_it_answers(index):
    engine = Turns(("One.", "river Aldra", ""), ("Two.", "Lake Mira", ""), ("Three.", "", "Weiss"))
    found = wb.method("agentic[over=bm25]", index, engine).retrieve(QUESTION)
    second, third = engine.inputs[1:]
    assert (second.notes, second.queries) == (("One.",), (QUESTION, "river Aldra"))
    assert (third.notes, third.queries) == (("One.", "Two."), (QUESTION, "river Aldra", "Lake Mira"))
    assert not engine.replies and found.fallback is None
    first = {wb.method("bm25", index).retrieve(query).ranking[0][0] for query in second.queries}
    assert first <= {name for name, score in found.ranking if score == 1.0}, "the first of each search come first"


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        ([("", "", "Weiss")], 1),  # an answer at once
        ([("nothing", "", "")], 1),  # nothing left to search for
        ([("a", "b", "c")], 1),  # an answer counts, whatever the query
        ([("a", "b", ""), ("a", "d", "")], 2),  # the budget is spent
    ],
)
def test_when_it_ends(index, replies, asked):
    engine = Turns(*replies)
    wb.method("agentic[over=bm25,iterations=2]", index, engine).retrieve(QUESTION)
    assert len(engine.inputs) == asked


def test_a_failed_turn_is_reported_and_ends_nothing(index):
    engine = Turns(None, ("a", "", "b"))
    found = wb.method("agentic[over=bm25,iterations=2]", index, engine).retrieve(QUESTION)
    assert "the thought of round 1 failed: unreadable" in found.fallback and len(engine.inputs) == 2
