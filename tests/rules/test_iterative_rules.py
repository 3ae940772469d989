"""What the rules say between two retrievals, worked through on one question of two hops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    ("passages", "before", "said"),
    [
        ([], [], "Kestrel FM founder?"),
        ([STATION], [], f"{STATION[1]} Nora Whitlock town born?"),
        ([STATION], [f"{STATION[1]} And so on."], "Nora Whitlock town born?"),  # a sentence is told once
        (WHOLE, [], f"{FOUNDER[1]} So the answer is: Alderby"),
    ],
)
def test_a_thought_tells_the_newest_sentence_and_asks_for_the_next_hop(passages, before, said):
    assert thought(QUESTION, passages, before) == said


@pytest.mark.parametrize(
    ("passages", "said"),
    [([], "Kestrel FM founder?"), ([STATION], "Nora Whitlock town born?"), (WHOLE, "So the answer is: Alderby")],
)
def test_what_is_missing_is_the_first_hop_without_ground(passages, said):
    assert missing(QUESTION, passages) == said


@pytest.mark.parametrize(
    ("passages", "said"),
    [
        ([], ("", "")),
        ([STATION], (STATION[1], "")),
        (WHOLE, (f"{STATION[1]} {FOUNDER[1]}", "Alderby")),
    ],
)
def test_a_generation_tells_what_was_read(passages, said):
    assert generation(QUESTION, passages) == said


def test_a_generation_keeps_below_100_words():
    long = f"Kestrel FM was founded by Nora Whitlock, {'as everybody says, ' * 60}in 1984."
    reasoning, answer = generation("Who founded Kestrel FM?", [("Kestrel FM", long)])
    assert len(reasoning.split()) == MOST_WORDS == 99
    assert answer == "Nora Whitlock"


def test_directions_lead_from_known_names():
    assert directions(QUESTION, [], 3) == ([Target(entity="Kestrel FM", relation="founder", score=1.0)], False)
    assert directions(QUESTION, [STATION], 3) == (
        [Target(entity="Nora Whitlock", relation="town born", score=1.0)],
        False,
    )
    assert directions(QUESTION, WHOLE, 3) == ([], True)


def test_directions_of_a_comparison_are_weighed_in_order_and_as_many_as_asked_for():
    question = "Who died first, Ada Lind or Karl Weiss?"
    both, enough = directions(question, [], 3)
    assert [target.entity for target in both] == ["Ada Lind", "Karl Weiss"]
    assert [target.score for target in both] == pytest.approx([2 / 3, 1 / 3])
    assert not enough
    assert [(target.entity, target.score) for target in directions(question, [], 1)[0]] == [("Ada Lind", 1.0)]


def test_a_comparison_s_answer_is_compared_and_not_the_value_of_its_last_hop():
    question = "Who died first, Ada Lind or Karl Weiss?"
    assert missing(question, [LIND, WEISS]) == "So the answer is: Ada Lind"


def test_where_the_rules_cannot_answer_no_thought_pretends_to():
    """A yes-or-no question has hops that can be read, and no answer by rules."""
    question = "Are both Ada Lind and Karl Weiss Norwegian?"
    assert "answer is" not in thought(question, [LIND, WEISS]) + missing(question, [LIND, WEISS])


@pytest.mark.parametrize("question", ["", "?!", "Is it?"])
def test_where_nothing_is_asked_nothing_is_said(question):
    assert thought(question, WHOLE) == missing(question, WHOLE) == ""
    assert generation(question, WHOLE) == ("", "")
    assert directions(question, WHOLE, 3) == ([], False)


@given(question=st.text(max_size=60), title=st.text(max_size=20), text=st.text(max_size=60), width=st.integers(1, 4))
def test_no_text_breaks_it(question, title, text, width):
    passages = [(title, text)]
    assert thought(question, passages, [thought(question, passages)]) is not None
    assert len(generation(question, passages)[0].split()) <= MOST_WORDS
    targets, _ = directions(question, passages, width)
    assert len(targets) <= width and sum(target.score for target in targets) == pytest.approx(1 if targets else 0)
