"""BDTR against hand-worked pools: the cut, promotion, the Steps it asks, and the bridge that static search misses."""

from __future__ import annotations

import re
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted
from small import index_of

import workbench as wb
from workbench.errors import SettingError
from workbench.methods import METHODS
from workbench.methods.base import Method
from workbench.methods.bdtr import BDTR, promoted, select
from workbench.methods.iterative import Thought
from workbench.methods.iterative.pool import Entry
from workbench.records import Evidence, Passage, Scored


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
    first = [1.0] + [0.5] * 49  # the first fifty alone make mean and deviation
    assert cut([*first, 0.0], set())[1].mu == cut(first, set())[1].mu != cut([*first[:49], 0.0], set())[1].mu


@pytest.mark.parametrize(
    ("scores", "chosen", "settings", "kept", "filled"),
    [
        (STEEP, "d9", {"policy": "keep"}, "d9 d1 d2 d3 d4", ""),
        (STEEP, "d9", {"policy": "strict"}, "d1 d2 d3 d4", "d9"),  # back only because the set is filled up to 5
        (STEEP, "d9", {"policy": "lift"}, "d9 d1", "d2 d3 d4"),  # two of score 1 raise the threshold above .5
        ([1.0] * 5 + [0.1] * 45, "d30", {"policy": "strict"}, "d1 d2 d3 d4 d5", ""),
        ([1.0] * 5 + [0.1] * 45, "d30", {}, "d30 d1 d2 d3 d4 d5", ""),
        ([0.3] * 9, "d7", {}, "d7", "d1 d2 d3 d4"),  # no deviation, no cut by score
        ([0.9, 0.2, 0.1], "d3", {}, "d3 d1", "d2"),  # fewer than the least: all
        ([1.0, 0.9, *[0.1] * 6], "d8 d7 d6 d5", {"max_docs": 5}, "d5 d6 d7 d8 d1", ""),
    ],
)
def test_a_promoted_document_comes_first_and_the_set_has_its_limits(scores, chosen, settings, kept, filled):
    order, made = cut(scores, {*chosen.split()}, **settings)
    assert set(order[: len(chosen.split())]) == {*chosen.split()}
    assert (" ".join(made.kept), " ".join(made.filled)) == (kept, filled)


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
    assert engine.names == ["dual_thoughts"] * 2 + ["reasoning_chain"] + ["verify"] * 2
    assert method.backbone.queries == [QUESTION, "fast a", "slow b", "fast c", "slow d"]
    first, second = engine.inputs("dual_thoughts")
    assert first.before == () and second.before == (("fast a", "slow b"),) and len(first.passages) == 10
    (chain,) = engine.inputs("reasoning_chain")
    assert chain.thoughts == ("fast a", "slow b", "fast c", "slow d")


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
    joint = bdtr(index, engine, chain="joint", iterations=1).given([Thought(THOUGHTS, tuple(THOUGHTS.items()))])
    assert joint.retrieve(QUESTION, 30).fallback is None, "thoughts by hand bring no chain: it is asked for"


@pytest.mark.parametrize("said", ["!unreadable", {"fast": "", "slow": ""}, {"fast": "Same?", "slow": "same"}])
def test_without_two_thoughts_the_best_document_is_searched_for(index, said):
    method = bdtr(index, scripted(dual_thoughts=said))
    found = method.retrieve(QUESTION, 5)
    assert method.backbone.queries == [QUESTION, f"{QUESTION} p1"]
    assert "the thought of round 1 failed" in found.fallback


@pytest.mark.parametrize(
    ("failing", "settings", "said", "steps"),
    [
        ({"reasoning_chain": "!refused"}, {}, "the reasoning chain failed: refused", tuple(THOUGHTS.values())),
        ({"concluding_thoughts": "!refused"}, {"chain": "joint"}, "the reasoning chain failed: refused",
         (QUESTION, f"{QUESTION} p1")),
        ({"verify": "!cut off"}, {}, "the verifier failed on 2 batches", tuple(CHAIN["steps"])),
    ],
)  # fmt: skip
def test_a_failed_chain_is_made_of_the_thoughts_and_a_failed_verifier_promotes_nothing(
    index, failing, settings, said, steps
):
    engine = scripted(**failing)
    found = bdtr(index, engine, iterations=1, **settings).retrieve(QUESTION, 5)
    assert said in found.fallback and engine.inputs("verify")[0].steps == steps
    (event,) = found.trace.find("verify")
    assert bool(event.outputs["failures"]) == ("verify" in failing) != bool(event.outputs["selected"])


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
    assert engine.names == ["dual_thoughts", "concluding_thoughts"] + ["verify"] * 2
    assert {name for name, _ in engine.asked} <= set(method.steps) and "reasoning_chain" not in method.steps
    assert engine.inputs("concluding_thoughts")[0].before == (tuple(THOUGHTS.values()),)
    assert {value.chain for value in engine.inputs("verify")} == {"Joint."}
    (chain,) = found.trace.find("reasoning chain")
    assert chain.outputs["chain"] == "Joint." and chain.outputs["bridges"] == ["Alderby"]
    assert found.passages[0].item.id == BRIDGE and found.fallback is None


@pytest.mark.parametrize("settings", [{"iterations": 0}, {"bgec": False}, {"thoughts": "apart"}])
def test_a_joint_chain_needs_a_last_round_with_both_thoughts_and_a_calibration(index, settings):
    with pytest.raises(SettingError, match=r"chain=joint .* use chain=after|thoughts=apart"):
        bdtr(index, scripted(), chain="joint", **settings)


# -- a prompt for each thought (section 3.1), and what the paper says to the letter -----------------------------------


def test_each_thought_can_have_a_prompt_of_its_own(index):
    engine = scripted(fast_thought={"query": THOUGHTS["fast"]}, slow_thought={"query": THOUGHTS["slow"]})
    method = bdtr(index, engine, thoughts="apart", iterations=1)
    found = method.retrieve(QUESTION, 5)
    asked = engine.names
    assert asked == ["fast_thought", "slow_thought", "reasoning_chain", "verify", "verify"]
    assert {*asked} <= {*method.steps} and "dual_thoughts" not in method.steps
    assert engine.inputs("fast_thought") == engine.inputs("slow_thought"), "they are shown the same"
    assert method.backbone.queries == [QUESTION, *THOUGHTS.values()] and found.fallback is None


@pytest.mark.parametrize("which", ["fast_thought", "slow_thought"])
def test_one_thought_alone_is_no_pair(index, which):
    said = {"fast_thought": {"query": "Alderby?"}, "slow_thought": {"query": "Who leads Alderby?"}} | {
        which: "!refused"
    }
    method = bdtr(index, scripted(**said), thoughts="apart", iterations=1)
    assert "the thought of round 1 failed: refused" in method.retrieve(QUESTION, 5).fallback
    assert method.backbone.queries == [QUESTION, f"{QUESTION} p1"]


def test_the_paper_verifies_the_whole_pool_and_cuts_to_the_letter(index):
    engine = scripted(verify=bridge_only)
    method = METHODS["bdtr"](index, engine, backbone=Canned(index, engine), profile="paper", iterations=0)
    found = method.retrieve(QUESTION, N)
    inputs = engine.inputs("verify")
    assert sorted(title for value in inputs for title, _ in value.passages) == sorted(f"p{i}" for i in range(1, N + 1))
    assert {value.words for value in inputs} == {None} != {bdtr(index, engine).settings.words}
    assert method.settings.policy == "strict" and BRIDGE in {p.id for p, _ in found.passages[:5]}, "it fills the set"
    assert bdtr(index, engine).settings.policy == "keep"
