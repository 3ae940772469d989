"""Reading the lines of ratings, and which neighbour each belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.steps.rate_neighbours import STEP, Input, Neighbour, Output, Rating, matched, read


def asked(*names: str) -> Input:
    return Input("Who founded it?", (), "kestrel fm", tuple(Neighbour(name, (), "") for name in names))


def scores(reply: str, *names: str) -> list[int | None]:
    return [rating and rating.score for rating in matched(asked(*names), read(reply))]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("1 (alderby): 9 | her birthplace\n2 (night ferry): 2", [9, 2]),
        ("Thinking.\nAnswer:\n1 (alderby): 7\n2 (night ferry): 0", [7, 0]),
        ("2 (night ferry): 3\n1 (alderby): 8", [8, 3]),
        ("- 1. alderby: 8.9 - because\n- 2. night ferry: 10/10", [8, 10]),
        ("**1 (alderby)**: **6**\n2) (Night Ferry) : 12", [6, 10]),
        ("alderby: 5\nnight ferry: -3", [5, 0]),
        ("1 (alderby): 5\n1 (alderby): 9\n2 (night ferry): 4", [5, 4]),  # the first line counts
        ("7 (alderby): 5\n9 (the night ferry programme): 6", [5, 6]),  # the name, then containment
        ("2 (alderby): 5", [5, None]),  # the name before the number
        ("1 (somebody else): 5", [5, None]),  # the number before nothing
        ("1 (alderby): 9\n2 (night fer", [9, None]),  # cut
    ],
)
def test_ratings_are_matched_by_name_and_number(reply, expected):
    assert scores(reply, "alderby", "night ferry") == expected


def test_names_of_any_form_are_matched():
    names = ("o (brien)", "1994", "東京", "a: b", "x" * 400)
    reply = "\n".join(f"{number} ({name}): {number}" for number, name in enumerate(names, 1))
    assert scores(reply, *names) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("reply", ["", "I cannot rate these.", "{}", "1 (alderby)", "\ud800\x00" * 50])
def test_a_reply_without_ratings_is_refused(reply):
    with pytest.raises(ValueError, match="no line rates"):
        read(reply)


@given(st.text(max_size=300) | st.lists(st.sampled_from(["1", "(", ")", ":", "9", "|", "\n", "a", "-", ".", "*", " "]),
                                        max_size=200).map("".join))  # fmt: skip
def test_any_reply_is_read_or_refused(reply):
    try:
        output = read(reply)
    except ValueError:
        return
    assert output.ratings and all(0 <= rating.score <= 10 for rating in output.ratings)
    assert len(matched(asked("a", "b"), output)) == 2


def test_a_long_reply_is_read_at_once():
    reply = "1 " + "(" * 50_000 + "\n" + "9" * 50_000 + ": " * 20_000
    with pytest.raises(ValueError):
        read(reply)


def test_the_prompt_numbers_neighbours_and_holds_all_that_is_known():
    value = Input("Where?", (("a", "is in", "b"),), "b", (Neighbour("c", (("b", "is in", "c"),), "c is a town."),))
    text = STEP.prompt(value)[-1]["content"]
    assert '"a is in b."' in text and "1. c" in text and "b is in c." in text and "c is a town." in text
    assert STEP.read("1 (c): 7").ratings == [Rating(number=1, name="c", score=7)]
    assert matched(value, Output(ratings=[])) == [None]
