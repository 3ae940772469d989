"""What the rules say between two retrievals, worked through on one question of two hops."""

import pytest

from workbench.rules import reasoning as iterative
from workbench.rules.reasoning import MOST_WORDS
from workbench.steps import exploring, next_thought
from workbench.steps.exploring import Target
from workbench.steps.next_thought import Input

QUESTION = "In which town was the founder of Kestrel FM born?"
STATION = ("Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984.")
FOUNDER = ("Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby.")
WHOLE = [FOUNDER, STATION]
WEISS = ("Karl Weiss", "Karl Weiss (3 May 1950 – 1999) was a Norwegian broadcaster.")
LIND = ("Ada Lind", "Ada Lind (1893 – 1967) was a Norwegian singer.")


def thought(question, passages, before=()):
    return iterative.next_thought(Input(question, tuple(passages), tuple(before))).thought


def missing(question, passages):
    return iterative.missing_evidence(Input(question, tuple(passages))).thought


def generation(question, passages):
    output = iterative.generation(next_thought.GenerationInput(question, tuple(passages)))
    return output.reasoning, output.answer


def directions(question, passages, width):
    output = iterative.directions(exploring.DirectionsInput(question, tuple(passages), width=width))
    return output.targets, output.sufficient


@pytest.mark.parametrize(
    ("passages", "said", "lacks", "told", "targets"),
    [
        ([], "Kestrel FM founder?", "Kestrel FM founder?", ("", ""), ([("Kestrel FM", "founder")], False)),
        ([STATION], f"{STATION[1]} Nora Whitlock town born?", "Nora Whitlock town born?", (STATION[1], ""),
         ([("Nora Whitlock", "town born")], False)),
        (WHOLE, f"{FOUNDER[1]} So the answer is: Alderby", "So the answer is: Alderby",
         (f"{STATION[1]} {FOUNDER[1]}", "Alderby"), ([], True)),
    ],
)  # fmt: skip
def test_each_step_tells_what_was_read_and_asks_for_the_next_hop(passages, said, lacks, told, targets):
    assert thought(QUESTION, passages) == said and missing(QUESTION, passages) == lacks
    assert generation(QUESTION, passages) == told
    names, enough = targets
    assert directions(QUESTION, passages, 3) == ([Target(entity=e, relation=r, score=1.0) for e, r in names], enough)
    if passages == [STATION]:  # a sentence is told once
        assert thought(QUESTION, passages, [f"{STATION[1]} And so on."]) == lacks


def test_a_generation_keeps_below_100_words():
    long = f"Kestrel FM was founded by Nora Whitlock, {'as everybody says, ' * 60}in 1984."
    reasoning, answer = generation("Who founded Kestrel FM?", [("Kestrel FM", long)])
    assert len(reasoning.split()) == MOST_WORDS == 99
    assert answer == "Nora Whitlock"


def test_directions_of_a_comparison_are_weighed_in_order_and_as_many_as_asked_for():
    question = "Who died first, Ada Lind or Karl Weiss?"
    both, enough = directions(question, [], 3)
    assert [target.entity for target in both] == ["Ada Lind", "Karl Weiss"]
    assert [target.score for target in both] == pytest.approx([2 / 3, 1 / 3])
    assert not enough
    assert [(target.entity, target.score) for target in directions(question, [], 1)[0]] == [("Ada Lind", 1.0)]


def test_where_the_rules_cannot_answer_no_thought_pretends_to():
    """A yes-or-no question has hops that can be read, and no answer by rules; a comparison is compared."""
    assert missing("Who died first, Ada Lind or Karl Weiss?", [LIND, WEISS]) == "So the answer is: Ada Lind"
    question = "Are both Ada Lind and Karl Weiss Norwegian?"
    assert "answer is" not in thought(question, [LIND, WEISS]) + missing(question, [LIND, WEISS])
