"""BDTR against hand-worked pools: the cut, promotion, the Steps it asks, and the bridge that static search misses."""

from __future__ import annotations

import re
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import index_of

import workbench as wb
from workbench.errors import SettingError
from workbench.llm.step import Result
from workbench.methods import METHODS
from workbench.methods.base import Method
from workbench.methods.bdtr import BDTR, promoted, select
from workbench.methods.iterative import Thought
from workbench.methods.iterative.pool import Entry
from workbench.records import Evidence, Passage, Scored
from workbench.steps import dual_thoughts


def pool_of(scores: list[float]) -> list[Entry]:
    """Passages d1, d2, … best first."""
    return [Entry(Passage(f"d{i}", "", f"text {i}"), s, "q", 0, i) for i, s in enumerate(scores, 1)]


def cut(scores, chosen, **settings):
    order = promoted(pool_of(scores), chosen)
    return [entry.passage.id for entry in order], select(order, chosen, BDTR.Settings(**settings))


# -- the cut (Eq. 6) --------------------------------------------------------------------------------------------------

STEEP = [1.0] + [0.5] * 3 + [0.1] * 16  # mean .205, deviation .231: .436 and more passes


def test_the_cut_is_at_the_mean_and_one_population_deviation():
    _, made = cut(STEEP, set(), policy="strict", min_docs=1)
    assert (made.mu, made.sigma) == (pytest.approx(0.205), pytest.approx(pstdev(STEEP)))
    assert made.kept == ("d1", "d2", "d3", "d4") and made.filled == ()


@pytest.mark.parametrize(
    ("policy", "kept", "filled"),
    [
        ("keep", ("d9", "d1", "d2", "d3", "d4"), ()),
        ("strict", ("d1", "d2", "d3", "d4"), ("d9",)),  # it comes back only because the set is filled up to 5
        ("lift", ("d9", "d1"), ("d2", "d3", "d4")),  # two of score 1 raise the threshold above .5
    ],
)
def test_a_promoted_document_below_the_cut(policy, kept, filled):
    order, made = cut(STEEP, {"d9"}, policy=policy)
    assert order[:2] == ["d9", "d1"]
    assert (made.kept, made.filled) == (kept, filled)


def test_strict_throws_away_what_was_promoted_where_enough_passes():
    scores = [1.0] * 5 + [0.1] * 45
    assert cut(scores, {"d30"}, policy="strict")[1].kept == ("d1", "d2", "d3", "d4", "d5")
    assert "d30" in cut(scores, {"d30"})[1].kept


def test_lift_counts_the_new_score_in_mean_and_deviation():
    scores = [1.0, 0.4, 0.3, 0.2, 0.1, 0.1]
    _, made = cut(scores, {"d6"}, policy="lift", min_docs=1)
    lifted = [1.0, 1.0, 0.4, 0.3, 0.2, 0.1]
    assert (made.mu, made.sigma) == (pytest.approx(fmean(lifted)), pytest.approx(pstdev(lifted)))
    assert made.kept == ("d6", "d1")


def test_equal_scores_cut_nothing():
    _, made = cut([0.3] * 9, {"d7"})
    assert made.sigma == 0 and made.kept == ("d7",) and made.filled == ("d1", "d2", "d3", "d4")


def test_fewer_documents_than_the_least_are_all_taken():
    _, made = cut([0.9, 0.2, 0.1], {"d3"})
    assert made.kept == ("d3", "d1") and made.filled == ("d2",)


def test_only_the_first_fifty_make_mean_and_deviation():
    first = [1.0] + [0.5] * 49
    more, alone = cut([*first, 0.0], set())[1], cut(first, set())[1]
    assert (more.mu, more.sigma) == (alone.mu, alone.sigma)
    assert cut([*first[:49], 0.0], set())[1].mu != cut(first, set())[1].mu


def test_the_upper_limit_keeps_the_first_of_the_promoted_order():
    _, made = cut([1.0, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], {"d8", "d7", "d6", "d5"}, max_docs=5)
    assert made.kept == ("d5", "d6", "d7", "d8", "d1") and made.filled == ()


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=70),
    st.sets(st.integers(1, 70)),
    st.sampled_from(["keep", "strict", "lift"]),
)
def test_every_cut_is_a_part_of_the_pool_of_at_least_five(scores, chosen, policy):
    order, made = cut(sorted(scores, reverse=True), {f"d{i}" for i in chosen}, policy=policy)
    final = [*made.kept, *made.filled]
    assert len(final) == len(set(final)) >= min(5, len(scores)) and set(final) <= set(order)
    assert not made.filled or len(final) == min(5, len(scores))
    if policy == "keep":
        assert {f"d{i}" for i in chosen} & set(order) <= set(made.kept)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_no_more_than_half_of_the_documents_pass_by_their_score(scores):
    """One-sided Chebyshev: at most half of anything lies a deviation above its mean."""
    _, made = cut(sorted(scores, reverse=True), set(), policy="strict", min_docs=1)
    assert len(made.kept) <= len(scores) / 2


@pytest.mark.parametrize("wrong", [{"policy": "none"}, {"max_docs": 3}, {"verified": 0}, {"iterations": -1}])
def test_a_wrong_setting_is_named(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        BDTR.Settings(**wrong)


# -- the run ----------------------------------------------------------------------------------------------------------

N, BRIDGE = 30, "p27"
QUESTION = "Who leads the town where Kestrel FM is?"


class Canned(Method):
    """The question finds p1, p2, …, p30 in this order; a query that names Alderby finds the bridge first."""

    name, paper, scale = "canned", "none", "cosine"

    def prepare(self):
        self.queries = []

    def search(self, question, k, trace):
        self.queries.append(question)
        ids = [f"p{i}" for i in range(1, N + 1)]
        if "Alderby" in question:
            ids = [BRIDGE, *(one for one in ids if one != BRIDGE)]
        passages = self.index.passages
        found = [Scored(passages.passages[passages.row[one]], 1 / rank) for rank, one in enumerate(ids, 1)]
        return Evidence(question, self.label, self.scale, tuple(found[:k]))


class Scripted:
    """Says what it is told to, Step by Step, and notes what it was asked."""

    name = "scripted"

    def __init__(self, **said):
        self.said, self.asked = said, []

    def run(self, step, inputs, *, trace=None):
        self.asked += [(step.name, value) for value in inputs]
        return [self._result(step, value) for value in inputs]

    def _result(self, step, value):
        said = self.said[step.name]
        said = said(value) if callable(said) else said
        return Result(None, failure=said) if isinstance(said, str) else Result(step.output(**said))

    def inputs(self, step):
        return [value for name, value in self.asked if name == step]


THOUGHTS = {"fast": "In which town is Kestrel FM?", "slow": "Kestrel FM is in Alderby; who leads Alderby?"}
CHAIN = {"chain": "Kestrel FM is in Alderby. Alderby is led by Nora.", "steps": ["one", "two"], "bridges": ["Alderby"]}


def bridge_only(value):
    return {"documents": [i for i, (_, text) in enumerate(value.passages, 1) if BRIDGE in text]}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return index_of(tmp_path_factory.mktemp("ix"), {f"p{i}": [] for i in range(1, N + 1)})


def bdtr(index, engine, **settings):
    return METHODS["bdtr"](index, engine, backbone=Canned(index, engine), **settings)


def scripted(**changed):
    return Scripted(**{"dual_thoughts": THOUGHTS, "reasoning_chain": CHAIN, "verify": bridge_only} | changed)


def test_the_bridge_that_static_search_misses_comes_first(index):
    engine = scripted()
    static = Canned(index, engine).retrieve(QUESTION, 5)
    found = bdtr(index, engine).retrieve(QUESTION, 5)
    assert BRIDGE not in [p.id for p, _ in static.passages]
    assert found.passages[0].item.id == BRIDGE and found.selected == 5 and found.fallback is None


def test_calls_and_retrievals_are_those_of_the_paper(index):
    """R thoughts, one chain, two batches of the verifier; 1 + 2R retrievals, of which repeated queries are saved."""
    calls = iter("abcdefgh")
    engine = scripted(dual_thoughts=lambda value: {"fast": f"fast {next(calls)}", "slow": f"slow {next(calls)}"})
    method = bdtr(index, engine, verified=30, verify_batch=15)
    method.retrieve(QUESTION, 5)
    assert [name for name, _ in engine.asked] == ["dual_thoughts"] * 2 + ["reasoning_chain"] + ["verify"] * 2
    assert method.backbone.queries == [QUESTION, "fast a", "slow b", "fast c", "slow d"]
    first, second = engine.inputs("dual_thoughts")
    assert first.before == () and second.before == (("fast a", "slow b"),) and len(first.passages) == 10
    (chain,) = engine.inputs("reasoning_chain")
    assert chain.thoughts == ("fast a", "slow b", "fast c", "slow d")


def test_a_query_is_searched_for_once(index):
    method = bdtr(index, scripted())  # the same thoughts in both rounds
    method.retrieve(QUESTION, 5)
    assert method.backbone.queries == [QUESTION, *THOUGHTS.values()]


def test_the_verifier_sees_every_document_once_and_not_in_their_order(index):
    engine = scripted(verify=lambda value: {"documents": [1, 99, 0, -1]})
    method = bdtr(index, engine, verified=20, verify_batch=10, iterations=0)
    found = method.retrieve(QUESTION, 30)
    batches = [[title for title, _ in value.passages] for value in engine.inputs("verify")]
    assert sorted(title for batch in batches for title in batch) == sorted(f"p{i}" for i in range(1, 21))
    assert batches[0] != [f"p{i}" for i in range(1, 11)]
    promoted_ids = sorted((batch[0] for batch in batches), key=lambda one: int(one[1:]))  # by score
    assert [p.id for p, _ in found.passages][:2] == promoted_ids
    again = bdtr(index, engine, verified=20, verify_batch=10, iterations=0).retrieve(QUESTION, 30)
    assert again == found


def test_no_rounds_and_no_calibration_is_the_backbone_itself(index):
    engine = scripted()
    static = Canned(index, engine).retrieve(QUESTION, 30)
    found = bdtr(index, engine, iterations=0, bgec=False).retrieve(QUESTION, 30)
    assert found.passages == static.passages and found.selected is None and engine.asked == []


def test_thoughts_by_hand_take_the_place_of_the_engine_s(index):
    engine = scripted()
    method = bdtr(index, engine)
    texts = {"fast": "Alderby?", "slow": "mayor of Alderby"}
    found = method.given([Thought(texts, tuple(texts.items()))]).retrieve(QUESTION, 5)
    assert method.backbone.queries == [QUESTION, "Alderby?", "mayor of Alderby", *THOUGHTS.values()]
    assert engine.inputs("dual_thoughts")[0].before == (("Alderby?", "mayor of Alderby"),)
    assert "by hand" in found.method and "by hand" not in method.label


@pytest.mark.parametrize("said", ["unreadable", {"fast": "", "slow": ""}, {"fast": "Same?", "slow": "same"}])
def test_without_two_thoughts_the_best_document_is_searched_for(index, said):
    method = bdtr(index, scripted(dual_thoughts=said))
    found = method.retrieve(QUESTION, 5)
    assert method.backbone.queries == [QUESTION, f"{QUESTION} p1"]
    assert "the thought of round 1 failed" in found.fallback


def test_a_failed_chain_is_made_of_the_thoughts(index):
    engine = scripted(reasoning_chain="the model refused")
    found = bdtr(index, engine, iterations=1).retrieve(QUESTION, 5)
    assert engine.inputs("verify")[0].steps == tuple(THOUGHTS.values())
    assert "the reasoning chain failed: the model refused" in found.fallback


def test_a_failed_verifier_promotes_nothing(index):
    found = bdtr(index, scripted(verify="cut off")).retrieve(QUESTION, 5)
    assert "the verifier failed on 2 batches" in found.fallback
    (event,) = found.trace.find("verify")
    assert event.outputs["selected"] == [] and event.outputs["failures"] == 2


def test_the_trace_tells_the_story(index):
    trace = bdtr(index, scripted()).retrieve(QUESTION, 5).trace
    assert [event.step for event in trace.children(0)] == [
        "round 0", "round 1", "round 2", "reasoning chain", "verify", "promote", "cut",
    ]  # fmt: skip
    first, second, third = trace.find("pool")
    assert first.outputs["size"] == N and second.outputs["risen"]["5"] == [BRIDGE] and third.outputs["risen"]["5"] == []
    assert second.outputs["queries"][BRIDGE] == THOUGHTS["slow"]
    (moved,) = trace.find("promote")
    assert moved.outputs["moved"] == [[BRIDGE, 2, 1]]  # the slow thought had lifted it beside p1, which came first
    (made,) = trace.find("cut")
    assert made.outputs["threshold"] == pytest.approx(made.outputs["mu"] + made.outputs["sigma"])


def test_the_reader_reads_what_was_selected(index):
    engine = scripted(verify=lambda value: {"documents": list(range(1, 8))})
    found = bdtr(index, engine).retrieve(QUESTION, 20)
    assert found.selected > 5
    assert len(wb.reader("direct").context(found).passages) == found.selected
    fair = bdtr(index, engine, max_docs=5).retrieve(QUESTION, 20)
    assert len(wb.reader("direct").context(fair).passages) == fair.selected == 5


def test_a_final_set_that_is_cut_to_k_says_so(index):
    engine = scripted(verify=lambda value: {"documents": list(range(1, 8))})
    found = bdtr(index, engine).retrieve(QUESTION, 6)
    assert found.selected == 6 and re.search(r"the final set of \d+ passages is cut to k=6", found.fallback)
    assert bdtr(index, engine).retrieve(QUESTION, 30).fallback is None


# -- the chain, together with the last thoughts (section 3.2) ---------------------------------------------------------


def test_a_joint_chain_comes_with_the_last_thoughts_before_their_search(index):
    engine = scripted(concluding_thoughts=THOUGHTS | CHAIN | {"chain": "Joint."})
    method = bdtr(index, engine, chain="joint")
    found = method.retrieve(QUESTION, 30)
    assert [name for name, _ in engine.asked] == ["dual_thoughts", "concluding_thoughts"] + ["verify"] * 2
    assert {name for name, _ in engine.asked} <= set(method.steps) and "reasoning_chain" not in method.steps
    assert engine.inputs("concluding_thoughts")[0].before == (tuple(THOUGHTS.values()),)
    assert {value.chain for value in engine.inputs("verify")} == {"Joint."}
    (chain,) = found.trace.find("reasoning chain")
    assert chain.outputs["chain"] == "Joint." and chain.outputs["bridges"] == ["Alderby"]
    assert found.passages[0].item.id == BRIDGE and found.fallback is None


def test_a_joint_chain_that_failed_is_made_of_the_thoughts(index):
    engine = scripted(concluding_thoughts="the model refused")
    method = bdtr(index, engine, chain="joint", iterations=1)
    found = method.retrieve(QUESTION, 5)
    assert engine.inputs("verify")[0].steps == (QUESTION, f"{QUESTION} p1")
    assert "the reasoning chain failed: the model refused" in found.fallback
    assert "dual_thoughts" not in method.steps


def test_thoughts_by_hand_bring_no_chain(index):
    engine = scripted()
    found = bdtr(index, engine, chain="joint", iterations=1).given([Thought(THOUGHTS, tuple(THOUGHTS.items()))])
    assert found.retrieve(QUESTION, 30).fallback is None
    assert [name for name, _ in engine.asked] == ["reasoning_chain"] + ["verify"] * 2


@pytest.mark.parametrize("settings", [{"iterations": 0}, {"bgec": False}])
def test_a_joint_chain_needs_a_last_round_and_a_calibration(index, settings):
    with pytest.raises(SettingError, match=r"chain=joint .* should be after"):
        bdtr(index, scripted(), chain="joint", **settings)


def test_prompts_cut_long_documents_of_the_verifier_alone():
    long = (("title", "word " * 400),)
    verifying, whole = (
        dual_thoughts.VERIFY.prompt(dual_thoughts.VerifyInput("q", "c", (), (), long, words))[-1]["content"]
        for words in (150, None)
    )
    thinking = dual_thoughts.STEP.prompt(dual_thoughts.Input("q", long))[-1]["content"]
    chaining = dual_thoughts.CHAIN.prompt(dual_thoughts.ChainInput("q", long))[-1]["content"]
    assert [text.count("word") for text in (verifying, whole, thinking, chaining)] == [150, 400, 400, 400]


# -- a prompt for each thought (section 3.1), and what the paper says to the letter -----------------------------------


def test_each_thought_can_have_a_prompt_of_its_own(index):
    engine = scripted(fast_thought={"query": THOUGHTS["fast"]}, slow_thought={"query": THOUGHTS["slow"]})
    method = bdtr(index, engine, thoughts="apart", iterations=1)
    found = method.retrieve(QUESTION, 5)
    asked = [name for name, _ in engine.asked]
    assert asked == ["fast_thought", "slow_thought", "reasoning_chain", "verify", "verify"]
    assert {*asked} <= {*method.steps} and "dual_thoughts" not in method.steps
    assert engine.inputs("fast_thought") == engine.inputs("slow_thought"), "they are shown the same"
    assert method.backbone.queries == [QUESTION, *THOUGHTS.values()] and found.fallback is None


@pytest.mark.parametrize("which", ["fast_thought", "slow_thought"])
def test_one_thought_alone_is_no_pair(index, which):
    said = {"fast_thought": {"query": "Alderby?"}, "slow_thought": {"query": "Who leads Alderby?"}} | {which: "refused"}
    method = bdtr(index, scripted(**said), thoughts="apart", iterations=1)
    assert "the thought of round 1 failed: refused" in method.retrieve(QUESTION, 5).fallback
    assert method.backbone.queries == [QUESTION, f"{QUESTION} p1"]


def test_the_two_prompts_are_distinct_and_ask_for_one_query_each():
    value = dual_thoughts.Input(QUESTION, (("Kestrel FM", "A station."),), (("a", "b"),))
    fast, slow = ([*step.prompt(value)] for step in (dual_thoughts.FAST, dual_thoughts.SLOW))
    assert fast[0]["content"] != slow[0]["content"] and fast[-1] == slow[-1]
    assert all('{"query": "…"}' in one[0]["content"] for one in (fast, slow))


def test_a_chain_cannot_come_jointly_with_thoughts_that_come_apart():
    with pytest.raises(SettingError, match="thoughts=apart"):
        BDTR.Settings(chain="joint", thoughts="apart")


def test_the_paper_verifies_the_whole_pool_and_cuts_to_the_letter(index):
    engine = scripted(verify=bridge_only)
    method = METHODS["bdtr"](index, engine, backbone=Canned(index, engine), profile="paper", iterations=0)
    found = method.retrieve(QUESTION, N)
    inputs = engine.inputs("verify")
    assert sorted(title for value in inputs for title, _ in value.passages) == sorted(f"p{i}" for i in range(1, N + 1))
    assert {value.words for value in inputs} == {None} != {bdtr(index, engine).settings.words}
    assert method.settings.policy == "strict" and BRIDGE in {p.id for p, _ in found.passages[:5]}, "it fills the set"
    assert bdtr(index, engine).settings.policy == "keep"
