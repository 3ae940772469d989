"""What the rules follow in a graph: worked out by hand on invented questions."""

import pytest

from workbench.language.questions import start_names
from workbench.records import Triple
from workbench.rules import exploring
from workbench.steps import exploring as steps
from workbench.steps.exploring import Action, Observation, Turn


def choose_relations(question, walked, relations, similarities, width):
    """(position, score) of the relations that are chosen after `walked` facts."""
    path, pairs = (("a", "r", "b"),) * walked, tuple((relation, True) for relation in relations)
    value = steps.RelationsInput(question, path, "a", pairs, tuple(similarities), width)
    return [(choice.number - 1, choice.score) for choice in exploring.choose_relations(value).choices]


def choose_entities(question, walked, entities):
    """The score of each entity that the relation after `walked` - 1 facts leads to."""
    path = (("a", "r", "b"),) * (walked - 1)
    return exploring.choose_entities(steps.EntitiesInput(question, path, ("b", "r", "?"), entities)).scores


def enough(question, facts):
    return exploring.enough(steps.FactsInput(question, facts)).enough


def act(question, turns):
    """(action, argument, type) of what is done next."""
    actions = exploring.graph_action(steps.Input(question, tuple(turns))).actions
    return [(one.action, one.argument, one.type) for one in actions]


FOUNDER = "Where was the founder of Kestrel FM born?"


@pytest.mark.parametrize(
    ("walked", "relation", "expected"),
    [
        (0, "was founded by", 1.0),  # one family of words
        (0, "established by", 0.8),  # one meaning
        (0, "broadcasts from", 0.0),
        (0, "born in", exploring.OTHER),  # a word of the other level
        (1, "born in", 1.0),
        (9, "born in", 1.0),  # beyond the last level the last one counts
        (1, "", 0.0),
    ],
)
def test_a_relation_fits_by_the_words_of_its_level(walked, relation, expected):
    assert exploring.fit(FOUNDER, walked, relation) == pytest.approx(expected)


def test_a_fact_about_a_child_tells_the_parent():
    assert exploring.share(frozenset({"mother"}), "is daughter of") == 0.8
    assert exploring.share(frozenset({"mother"}), "is brother of") == 0.0
    assert exploring.share(frozenset({"write"}), "wrote") == 1.0
    assert exploring.levels(FOUNDER) == (frozenset({"founder"}), frozenset({"bear"}))
    assert start_names(FOUNDER) == ("Kestrel FM",) and start_names("where is it?") == ("where is it?",)


def test_the_best_relations_are_chosen_and_their_scores_sum_to_one():
    relations = ("broadcasts", "founded by", "likes")
    chosen = choose_relations(FOUNDER, 0, relations, (0.5, 0.5, 0.4), 2)
    # 1 + .3 · .5 against .3 · .5
    assert chosen == [(1, pytest.approx(1.15 / 1.3)), (0, pytest.approx(0.15 / 1.3))]
    assert (
        choose_relations(FOUNDER, 0, ("likes", "owns"), (0.0, -0.2), 3) == choose_relations(FOUNDER, 0, (), (), 3) == []
    )


def test_entities_that_the_question_names_and_numbers_where_one_is_asked_count_more():
    # walked 2 of 2 levels and a place is asked: 1, a number .5; what the question names 2
    assert choose_entities(FOUNDER, 2, ("alderby", "1951", "kestrel")) == [1 / 3.5, 0.5 / 3.5, 2 / 3.5]
    born = "When was the founder of Kestrel FM born?"
    assert choose_entities(born, 2, ("alderby", "1951")) == [0.5 / 1.5, 1 / 1.5]
    assert choose_entities(born, 1, ("alderby", "1951")) == [1 / 1.5, 0.5 / 1.5]


def test_enough_is_every_name_and_every_level():
    first, second = ("kestrel fm", "founded by", "nora whitlock"), ("nora whitlock", "born in", "alderby")
    assert enough(FOUNDER, (first, second))
    assert not enough(FOUNDER, (first,))
    assert not enough(FOUNDER, (second,))
    assert not enough(FOUNDER, (("merlin am", "founded by", "nora whitlock"), second))
    assert enough(FOUNDER, (("merlin fm", "founded by", "nora whitlock"), second))  # half of the name
    assert not enough("?", (first, second))


# -- acting -----------------------------------------------------------------------------------------------------------


def turn(*pairs):
    actions = tuple(Action(action=a, argument=b, type=c) for (a, b, c), _ in pairs)
    return Turn("", actions, tuple(seen for _, seen in pairs))


LOOKED_UP = turn((("find", "Kestrel FM", ""), Observation("", ("kestrel fm", "merlin fm", "p3"))))
LISTED = turn(
    (
        ("neighbours", "kestrel fm", "relation"),
        Observation(
            "",
            ("norland", "nora whitlock"),
            (
                Triple("kestrel fm", "broadcasts in", "norland", ("p1",)),
                Triple("nora whitlock", "founded", "kestrel fm", ("p3", "p4")),
            ),
        ),
    )
)
BORN = turn(
    (
        ("neighbours", "nora whitlock", "relation"),
        Observation("", ("alderby",), (Triple("nora whitlock", "born in", "alderby", ("p5",)),)),
    )
)


def test_names_are_found_facts_listed_followed_and_read():
    acts = [act(FOUNDER, turns) for turns in ([], [LOOKED_UP], [LOOKED_UP, LISTED], [LOOKED_UP, LISTED, BORN])]
    assert acts == [
        [("find", "Kestrel FM", "")],
        [("neighbours", "kestrel fm", "relation")],
        [("read", "p3", ""), ("neighbours", "nora whitlock", "relation")],
        [("read", "p5", ""), ("finish", "alderby", "")],
    ]


@pytest.mark.parametrize("turns", [[turn()], [LOOKED_UP, turn()], [turn((("find", "x", ""), Observation("none")))]])
def test_where_nothing_leads_on_it_ends_without_an_answer(turns):
    assert act(FOUNDER, turns) == [("finish", "", "")]
