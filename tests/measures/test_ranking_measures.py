"""Measures of rankings: worked out by hand, and equal to those of `ir_measures`, which runs trec_eval's own code."""

import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import measures
from workbench.exchange.trec import _run_lines, to_qrels
from workbench.measures import Outcome
from workbench.measures.ranking import all_gold, map_, mrr, recall
from workbench.records import Question

RANKING = ["a", "b", "c", "d", "e"]
THEIRS = {"recall": ir_measures.R, "ndcg": ir_measures.nDCG, "mrr": ir_measures.RR, "map": ir_measures.AP}


@pytest.mark.parametrize(
    ("gold", "k", "mrr_", "map__"),
    [
        (["a"], 1, 1.0, 1.0),
        (["b"], 1, 0.0, 0.0),
        (["b", "d"], 5, 1 / 2, (1 / 2 + 2 / 4) / 2),
        (["b", "d"], 3, 1 / 2, (1 / 2) / 2),  # what is not found counts below the line
        (["e", "z"], 5, 1 / 5, (1 / 5) / 2),
        (["z"], 5, 0.0, 0.0),
        (["a", "b", "c"], 2, 1.0, 2 / 3),  # of more than k gold passages, no ranking finds all
    ],
)
def test_mrr_and_map_by_hand(gold, k, mrr_, map__):
    assert mrr(RANKING, gold, k) == pytest.approx(mrr_)
    assert map_(RANKING, gold, k) == pytest.approx(map__)


@given(
    st.lists(st.sampled_from("abcde"), max_size=12), st.sets(st.sampled_from("abcdef"), min_size=1), st.integers(1, 12)
)
def test_no_ranking_is_better_than_perfect(ranking, gold, k):
    values = {name: measure(ranking, gold, k) for name, measure in measures.RANKING.items()}
    assert all(0 <= value <= 1 + 1e-12 for value in values.values())
    assert len({value > 0 for name, value in values.items() if name != "all_gold"}) == 1
    assert values["map"] <= values["recall"] + 1e-12
    assert all_gold(ranking, gold, k) == (recall(ranking, gold, k) == 1)


def test_a_thousand_random_rankings_measured_by_ir_measures(tmp_path):
    """Through our files, with scores that tie, rise and fall: each ranking is measured in its own order."""
    draw, passages = random.Random(0), [f"d{n}" for n in range(40)]
    questions, rankings = [], {}
    for n in range(1000):
        gold = draw.sample(passages, draw.randint(1, 8))
        questions.append(Question(f"q{n}", "?", support=tuple(gold)))
        ranking = draw.sample(passages, draw.randint(0, 30))
        rankings[f"q{n}"] = [(one, draw.choice([0.0, 1.0, -1.0, draw.random(), 1e-9, 0.5])) for one in ranking]
    to_qrels(questions, tmp_path / "qrels.txt")
    lines = (line for one, ranking in rankings.items() for line in _run_lines(one, ranking, "ours"))
    (tmp_path / "ours.run").write_text("".join(lines), encoding="utf-8")
    asked = {measure @ k: (name, k) for name, measure in THEIRS.items() for k in (1, 2, 3, 5, 10, 20, 40)}
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")))
    run = list(ir_measures.read_trec_run(str(tmp_path / "ours.run")))
    gold, largest, compared = {question.id: question for question in questions}, 0.0, 0
    for one in ir_measures.iter_calc(list(asked), qrels, run):
        name, k = asked[one.measure]
        ours = measures.measure(f"{name}@{k}")(gold[one.query_id], Outcome([p for p, _ in rankings[one.query_id]]))
        largest, compared = max(largest, abs(ours - one.value)), compared + 1
    assert compared == 1000 * len(asked) and largest < 1e-9
