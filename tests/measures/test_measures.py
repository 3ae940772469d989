"""Measures by hand, and against each other; their docstrings are run as well."""

import doctest
from math import log2

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench import measures
from workbench.errors import SettingError
from workbench.measures import (
    Outcome,
    abstained,
    accuracy,
    answers,
    cost,
    coverage,
    ranking,
    words,
)
from workbench.measures.answers import exact_match, f1
from workbench.measures.ranking import all_gold, ndcg, recall
from workbench.records import Question

RANKING = ["a", "b", "c", "d", "e"]


MODULES = [abstained, accuracy, answers, cost, coverage, ranking, words]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_examples_of_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("gold", "k", "recall_", "all_gold_", "ndcg_"),
    [
        (["a"], 1, 1.0, 1.0, 1.0),
        (["b"], 1, 0.0, 0.0, 0.0),
        (["a", "c"], 2, 0.5, 0.0, 1 / (1 + 1 / 1.584962500721156)),
        (["a", "b"], 5, 1.0, 1.0, 1.0),
        (["a", "z"], 5, 0.5, 0.0, 1 / (1 + 1 / 1.584962500721156)),
        (["a", "b", "c"], 2, 2 / 3, 0.0, 1.0),  # no ranking of two could be better
    ],
)
def test_ranking_measures_by_hand(gold, k, recall_, all_gold_, ndcg_):
    assert recall(RANKING, gold, k) == pytest.approx(recall_)
    assert all_gold(RANKING, gold, k) == all_gold_
    assert ndcg(RANKING, gold, k) == pytest.approx(ndcg_)


ids = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1)


@given(ids, ids, st.integers(1, 9))
def test_relations_between_ranking_measures(ranking, gold, k):
    value = recall(ranking, gold, k)
    assert 0 <= value <= recall(ranking, gold, k + 1) <= 1
    assert all_gold(ranking, gold, k) == (value == 1)
    assert (ndcg(ranking, gold, k) > 0) == (value > 0)


@pytest.mark.parametrize("ranking", [["p", "p", "p"], ["x", "p", "p"], ["p", "p", "q", "q"]])
def test_a_repeated_id_gains_once(ranking):
    """An HotpotQA corpus has pages twice, and a method of one's own may repeat a passage."""
    first = ranking.index("p") + 1
    ideal = 1 + 1 / log2(3)
    second = 1 / log2(ranking.index("q") + 2) if "q" in ranking else 0
    assert ndcg(ranking, ["p", "q"], 10) == pytest.approx((1 / log2(first + 1) + second) / ideal)
    assert ndcg(ranking, ["p"], 10) <= 1


@pytest.mark.parametrize(
    ("answer", "gold", "em_", "f1_"),
    [
        ("The Eiffel Tower!", ["eiffel tower"], 1, 1),
        ("Eiffel", ["Eiffel Tower"], 0, 2 / 3),
        ("Paris", ["London", "paris"], 1, 1),
        ("", ["Paris"], 0, 0),
        ("the", ["a"], 1, 1),  # nothing is left of either, and there is an answer
        ("The The", ["the the"], 1, 1),
        ("", ["the"], 0, 0),  # an abstention
        ("Anne Anne", ["Anne"], 0, 2 / 3),  # bags, not sets
        ("yes", ["no"], 0, 0),
    ],
)
def test_answer_measures_by_hand(answer, gold, em_, f1_):
    assert exact_match(answer, gold) == em_
    assert f1(answer, gold) == pytest.approx(f1_)


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_exact_match_has_f1_one_and_f1_is_symmetric(a, b):
    assume(a.strip() and b.strip())  # an empty answer is an abstention, and an empty gold answer none
    assert f1(a, [b]) == pytest.approx(f1(b, [a]))
    if exact_match(a, [b]):
        assert f1(a, [b]) == 1


def test_without_gold_a_measure_is_not_defined():
    nothing = Question("q", "?")
    assert measures.measure("recall@5")(nothing, Outcome(RANKING, "x")) is None
    assert measures.measure("em")(nothing, Outcome(RANKING, "x")) is None
    assert measures.measure("em")(Question("q", "?", ("x",)), Outcome(RANKING)) is None  # nobody read


def test_measures_by_name():
    question = Question("q", "?", ("x",), support=("b",))
    assert measures.measure("recall@1")(question, Outcome(RANKING, "x")) == 0
    assert measures.measure("em")(question, Outcome(RANKING, "x")) == 1
    assert measures.deepest(["recall@5", "ndcg@10", "em"]) == 10


@pytest.mark.parametrize("name", ["recall", "recall@0", "recall@x", "em@5", "rouge", ""])
def test_an_unknown_measure_is_refused_with_the_known_ones(name):
    with pytest.raises(SettingError, match="all_gold@k"):
        measures.measure(name)


@pytest.mark.parametrize(("outcome", "value"), [
    (Outcome([]), None),  # nobody read
    (Outcome(["a"], answer="x", read=7), 7.0),
    (Outcome([], answer="", failed=True, read=0), 0.0),
    (Outcome(["a"], answer="x"), None),  # not known how many
])  # fmt: skip
def test_how_many_passages_were_read(outcome, value):
    assert measures.measure("read")(Question("q", "?"), outcome) == value
