"""Measures by hand, and against each other."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench import measures
from workbench.errors import SettingError
from workbench.measures import Outcome
from workbench.measures.answers import exact_match, f1
from workbench.measures.ranking import all_gold, ndcg, recall
from workbench.records import Question, Reading

RANKING = ["a", "b", "c", "d", "e"]


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


@pytest.mark.parametrize(("outcome", "value"), [
    (Outcome([]), None),  # nobody read
    (Outcome(["a"], answer="x", read=7), 7.0),
    (Outcome([], answer="", failed=True, read=0), 0.0),
    (Outcome(["a"], answer="x"), None),  # not known how many
])  # fmt: skip
def test_how_many_passages_were_read(outcome, value):
    assert measures.measure("read")(Question("q", "?"), outcome) == value


def test_measures_by_name_and_unknown_ones():
    assert measures.deepest(["joint@30", "recall@5", "em"]) == 30
    assert measures.needs_reader("joint@3") and not measures.needs_reader("all_gold@3")
    for name in ("recall", "recall@0", "recall@x", "em@5", "joint", "joint@0", "rouge", ""):
        assert not measures.is_known(name)
        with pytest.raises(SettingError, match="all_gold@k"):
            measures.measure(name)


def test_how_an_answer_came_about():
    reading = Reading("cot", kind="bridge", invalid=True, retried=True, flaw="cut")
    found = Outcome(["a"], "x", reading=reading, mark="verified")
    names = ("flawed", "misrouted", "retried", "verified", "accuracy:line", "accuracy:verified")
    values = [measures.measure(name)(Question("q", "?", ("x",)), found) for name in names]
    assert values[:5] == [1, 1, 1, 1, 0] and values[5] is not None
