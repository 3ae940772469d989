"""The analysis of hub bias: means and differences by hand, invariants of real walks, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from small import index_of
from test_views import Checked

import workbench as wb
from workbench import analyses
from workbench.analyses import HubBias
from workbench.errors import SettingError
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.operators.pagerank import PageRankResult
from workbench.operators.walk_distribution import WalkDistribution
from workbench.records import Question
from workbench.steps import named_entities, rate_neighbours

QUESTIONS = (Question("q1", "one?"), Question("q2", "two?"), Question("q3", "three?"))
EXACT = "filter=identity,tolerance=1e-14"


class ByHand:
    """A method whose walks are given: the probability on the nodes per question, None for no walk."""

    steps, engines = (), ()

    def __init__(self, label, index, walks, failed=""):
        self.label, self.index, self.walks, self.failed = label, index, walks, failed

    def walk_distribution(self, question):
        p = self.walks[question]
        result = None if p is None else PageRankResult(np.array(p), 1, 0.0)
        reason = "no fact was kept" if p is None else self.failed
        return WalkDistribution(self.index, question, self.label, [], [], np.zeros(2), result, reason)


@pytest.fixture
def small(tmp_path):
    """Phrases x, y, z with the strengths 6, 3, 3: two relations of weight 2, and an edge to each passage."""
    index = index_of(tmp_path, {"a": [("x", "r", "y")], "b": [("x", "r", "z")]})
    assert index.facts.phrases == ["x", "y", "z"] and index.graph.strength.tolist() == [6, 3, 3]
    return index


@pytest.fixture
def two(small) -> HubBias:
    first = {"one?": (0.5, 0.25, 0.25, 0, 0), "two?": (0.2, 0.2, 0.4, 0.1, 0.1), "three?": (0.5, 0, 0, 0.5, 0)}
    second = {"one?": (0.25, 0.25, 0.5, 0, 0), "two?": None, "three?": (0, 0.25, 0.25, 0.25, 0.25)}
    methods = [ByHand("first", small, first), ByHand("second", small, second, failed="a request failed")]
    return analyses.hub_bias(QUESTIONS, methods, progress=False)


def test_means_by_hand(two):
    first, second, static = two.rows
    # S: .5·6 + .25·3 + .25·3; p̂ = (.25, .25, .5): 1.5 + .75 + 1.5; all on x: 6
    assert first["strength"] == pytest.approx((4.5 + 3.75 + 6) / 3) and first["n"] == 3
    assert first["share_top"] == first["share_all"] == pytest.approx((0.5 + 0.25 + 1) / 3)
    assert second["strength"] == pytest.approx((3.75 + 3) / 2) and second["share_all"] == pytest.approx(0.125)
    assert (first["no_walk"], first["impaired"], second["n"], second["no_walk"], second["impaired"]) == (0, 0, 2, 1, 2)
    # in proportion to strength: p̂ = (.5, .25, .25)
    assert (static["method"], static["strength"], static["share_top"], static["share_all"]) == (
        "static graph", pytest.approx(4.5), pytest.approx(0.5), pytest.approx(0.5),
    )  # fmt: skip
    assert {row["expected"] for row in two.rows} == {static["share_all"]}


def test_differences_are_paired_over_the_questions_in_which_both_walk(two):
    rows = {row["measure"]: row for row in two.differences}
    assert {(row["method"], row["against"]) for row in two.differences} == {("second", "first")}
    assert list(rows) == ["strength", "share_top", "share_all"] and {row["n"] for row in two.differences} == {2}
    strength = rows["strength"]
    assert strength["difference"] == pytest.approx((-0.75 - 3) / 2)
    assert strength["low"] is strength["high"] is None, "two questions have no interval"
    assert strength["p"] == 0.5 and strength["p_holm"] == 1, "two questions: both signs of either, exactly"


def test_the_table_the_differences_and_the_figure_are_shown(two, tmp_path):
    assert list(two.tables()) == ["", "Paired differences"]
    shown = " ".join(Checked(two._repr_html_()).shown)
    assert "static graph" in shown and "Paired differences" in shown and "share all" in repr(two)
    assert len(two.figure().save(tmp_path / "hubs.png").read_bytes()) > 1_000


def test_the_figure_has_the_distribution_of_hub_strength_beside_its_means(two):
    *_, spread = two.figure().figure.axes
    curves = {line.get_label(): line.get_xdata().tolist() for line in spread.get_lines()}
    walked = [(one["method"], one["strength"]) for one in two.walks if one["strength"] is not None]
    assert curves == {label: sorted(value for name, value in walked if name == label) for label in ("first", "second")}
    assert [row["strength"] for row in two.rows[:2]] == pytest.approx([sum(v) / len(v) for v in curves.values()])


def test_without_any_walk_nothing_is_a_number(small):
    nothing = dict.fromkeys(one.question for one in QUESTIONS)
    found = analyses.hub_bias(QUESTIONS, [ByHand(label, small, nothing) for label in "ab"], progress=False)
    assert [row["strength"] for row in found.rows[:2]] == [None, None] and found.differences == ()
    assert found.rows[0]["no_walk"] == 3 and "nan" not in repr(found)
    found.figure()


# -- real walks -------------------------------------------------------------------------------------------------------

ASKED = (Question("q1", "Which lake does the river at Orsby flow into?"),
         Question("q2", "Where was the founder of Orsby born?"))  # fmt: skip


def test_the_numbers_are_those_of_each_walk_on_the_static_graph(tiny_index):
    spec = f"catrag[{EXACT}]"
    found = analyses.run_hub_bias(ASKED, tiny_index, spec=spec, baseline=f"hipporag2[{EXACT}]", progress=False)
    assert [row["method"] for row in found.rows][:-1] == analyses.hub_bias_specs(spec, f"hipporag2[{EXACT}]")
    strength = tiny_index.graph.strength.copy()
    for row in found.walks:
        question = next(one.question for one in ASKED if one.id == row["question_id"])
        walk = wb.method(row["method"], tiny_index).walk_distribution(question)
        best = sorted(range(len(strength)), key=lambda node: -walk.on_phrases[node])[:10]
        shares = walk.on_phrases[best] / walk.on_phrases[best].sum()
        assert row["strength"] == pytest.approx(sum(shares * strength[best]), rel=1e-6)
    assert np.array_equal(tiny_index.graph.strength, strength), "no walk leaves an edit behind"
    assert found.notes[0] == "Made with rules, not with a language model."


def test_without_its_mechanisms_catrag_walks_as_hipporag2(tiny_index):
    found = analyses.run_hub_bias(
        ASKED, tiny_index, spec=f"catrag[{EXACT}]", baseline=f"hipporag2[{EXACT}]", progress=False
    )
    none = analyses.hub_bias_specs(f"catrag[{EXACT}]")[-1]
    assert none.count("=false") == 3
    rows = [row for row in found.differences if row["method"] == none and row["against"].startswith("hipporag2")]
    assert len(rows) == 3 and all(row["difference"] == pytest.approx(0, abs=1e-9) for row in rows)
    pairs = {(row["method"], row["against"]) for row in found.differences}
    assert len(pairs) == 5 + 4, "each of five against hipporag2, each of four against the whole method"


class Rates(RulesEngine):
    """Names nothing, and rates the hub as noise and everything else as the answer."""

    def run(self, step, inputs, *, trace=None):
        if step.name == "question_entities":
            return [Result(named_entities.Output(named_entities=[])) for _ in inputs]
        if step.name != "rate_neighbours":
            return super().run(step, inputs, trace=trace)
        return [Result(rate_neighbours.Output(ratings=[
            rate_neighbours.Rating(number=at, name=one.name, score=0 if one.name == "capital" else 10)
            for at, one in enumerate(value.neighbours, 1)
        ])) for value in inputs]  # fmt: skip


def test_edges_that_are_rated_as_noise_keep_walks_out_of_the_hub(tmp_path):
    towns = {f"town {at}": [("capital", "rules", f"town {at}")] for at in range(12)}
    index = index_of(tmp_path, {**towns, "ilse": [("ilse", "lives in", "capital"), ("ilse", "founded", "kestrel")]})
    question = [Question("q", "ilse founded kestrel")]
    spec = "catrag[filter=identity,linking_top_k=1]"
    found = analyses.run_hub_bias(
        question, index, Rates(), spec=spec, baseline="hipporag2[filter=identity,linking_top_k=1]", progress=False
    )
    rows = {row["method"]: row for row in found.rows}
    whole, without = rows[spec], rows[f"{spec[:-1]},dynamic_weights=false]"]
    for measure in ("strength", "share_top", "share_all"):
        assert whole[measure] < without[measure], measure


# -- what it refuses --------------------------------------------------------------------------------------------------


def test_other_graphs_and_unknown_baselines_are_refused(small, tmp_path):
    walks = {one.question: (0.5, 0.25, 0.25, 0, 0) for one in QUESTIONS}
    other = index_of(tmp_path / "other", {"a": [("x", "r", "y")]})
    with pytest.raises(SettingError, match="different graphs"):
        analyses.hub_bias(QUESTIONS, [ByHand("a", small, walks), ByHand("b", other, walks)])
    with pytest.raises(SettingError, match="against='c' is not among the methods a"):
        analyses.hub_bias(QUESTIONS, [ByHand("a", small, walks)], ["c"])
    with pytest.raises(SettingError, match="pass at least one of each"):
        analyses.hub_bias([], [ByHand("a", small, walks)])


def test_the_specs(tiny_index):
    assert analyses.hub_bias_specs() == [
        "hipporag2", "catrag", "catrag[anchoring=false]", "catrag[dynamic_weights=false]", "catrag[key_facts=false]",
        "catrag[anchoring=false,dynamic_weights=false,key_facts=false]",
    ]  # fmt: skip
