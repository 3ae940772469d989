"""Kept replies: nothing is asked twice, a trace stands in for the engine, ratings by hand."""

from __future__ import annotations

import pytest
from small import index_of
from steered import QUESTION, SPEC, Rater, hub_index

import workbench as wb
from workbench.errors import SettingError
from workbench.methods.catrag.replies import UNRATED, KeptReplies
from workbench.methods.catrag.steering import steering
from workbench.trace import Trace

MODEL = "catrag[tolerance=1e-14]"  # asks for every Step
LONG = "the society for the preservation of the historic lamp rooms of the harbours of the northern coast"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    built = hub_index(tmp_path_factory.mktemp("hub"))
    wb.method("catrag", built)
    return wb.Index.open(built.folder, encoder=built.encoder)


def test_the_plain_method_over_kept_replies(index):
    engine, plain = Rater(), Rater()
    replies = KeptReplies(engine)
    kept, asked = wb.method(MODEL, index, replies), wb.method(MODEL, index, plain)
    first = kept.retrieve(QUESTION, k=20)
    assert first.ranking == asked.retrieve(QUESTION, k=20).ranking
    assert engine.steps == plain.steps and {"fact_filter", "question_entities", "rate_neighbours"} == set(engine.steps)
    assert steering(first) == steering(asked.retrieve(QUESTION, k=20))
    assert kept.retrieve(QUESTION, k=20).ranking == first.ranking and engine.steps == plain.steps[: len(engine.steps)]
    assert kept.adjusted(beta=0.5, damping=0.3).retrieve(QUESTION) and len(engine.steps) == len(plain.steps) // 2
    assert replies.meter is engine.meter and replies.name == "rules"


def test_only_new_neighbours_are_asked_for(index):
    engine, told = Rater(), []
    method = wb.method(SPEC, index, KeptReplies(engine, lambda step, count: told.append((step, count))))
    method.adjusted(k_edge=2, n_seed=3).retrieve(QUESTION)
    few = list(engine.asked)
    assert len({seed for seed, _ in few}) == 3 and [seed for seed, _ in few].count("kestrel") == 2
    method.adjusted(k_edge=2, n_seed=9).retrieve(QUESTION)
    assert len(engine.asked) == len(set(engine.asked)) > len(few) and engine.asked[: len(few)] == few
    method.adjusted(k_edge=9, n_seed=9).retrieve(QUESTION)
    assert len(engine.asked) == len(set(engine.asked))
    whole = Rater()
    everything = wb.method(SPEC, index, whole, k_edge=9, n_seed=9).retrieve(QUESTION, k=20)
    assert set(whole.asked) == set(engine.asked)
    assert method.adjusted(k_edge=9, n_seed=9).retrieve(QUESTION, k=20).ranking == everything.ranking
    method.retrieve("who broadcasts show 3?")
    assert ("rate_neighbours", 1) in told and len(engine.asked) > len(set(engine.asked)), "each question by itself"


def test_what_a_reply_left_out_is_not_asked_for_again_and_what_failed_is(index):
    engine = Rater({"ilse": None}, failure="out of money")
    method = wb.method(SPEC, index, KeptReplies(engine))
    assert "requests for ratings failed (out of money)" in method.retrieve(QUESTION).fallback
    engine.failure = ""
    asked = engine.asked.count(("kestrel", "ilse"))
    told = [steering(method.retrieve(QUESTION)) for _ in range(2)]
    assert told[0].rated == told[1].rated and any(one.missing for one in told[0].seed("kestrel").neighbours)
    assert engine.asked.count(("kestrel", "ilse")) == asked + 1 and not told[0].fallback


# -- a trace in place of the engine -----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["full", "ids"])
def test_a_trace_stands_in_for_the_engine(index, tmp_path, level):
    made = wb.method(MODEL, index, Rater(facts=3), k_edge=3, n_seed=3).retrieve(QUESTION, k=20, trace=level)
    shown = steering(Trace.open(made.trace.save(tmp_path / "trace.jsonl")))
    replies = KeptReplies()
    replies.take(shown)
    again = wb.method(shown.method, index, replies)
    found = again.retrieve(QUESTION, k=20)
    assert found.ranking == made.ranking and steering(found).rated == shown.rated
    more = steering(again.adjusted(k_edge=5).retrieve(QUESTION))
    rated = [one for seed in more.rated for one in seed.neighbours if one.score is not None]
    unknown = [one for one in rated if one.reason == UNRATED]
    assert 0 < len(unknown) < len(rated) and all((one.score, one.tier) == (4, "Weak") for one in unknown)
    with pytest.raises(SettingError, match="no reply of fact_filter for these settings; pass engine="):
        again.retrieve("who broadcasts show 3?")


def test_names_longer_than_a_trace_of_ids_holds(tmp_path):
    lamps = {f"p{at}": [(LONG, "keeps", f"lamp {at}")] for at in range(3)}
    index = index_of(tmp_path, lamps | {"q": [(LONG, "is led by", f"{LONG} board")]})
    method = wb.method(MODEL, index, Rater({"lamp 1": 9}))
    made = method.retrieve(f"who leads {LONG}?", k=20, trace="ids")
    replies = KeptReplies()
    replies.take(steering(made))
    again = wb.method(MODEL, method.index, replies).retrieve(f"who leads {LONG}?", k=20)
    assert again.ranking == made.ranking
    assert all(one.reason != UNRATED for seed in steering(again).rated for one in seed.neighbours)


# -- by hand ----------------------------------------------------------------------------------------------------------


def test_a_rating_by_hand_and_back(index):
    replies = KeptReplies(Rater())
    method = wb.method(SPEC, index, replies)
    before = steering(method.retrieve(QUESTION))
    replies.rate(QUESTION, "kestrel", "show 1", 10)
    after = steering(method.retrieve(QUESTION))
    (one,) = [one for one in after.seed("kestrel").neighbours if one.name == "show 1"]
    assert (one.score, one.reason) == (10, "by hand; it was 0")
    edges = {(edge.source, edge.target): edge.after for edge in after.edges}
    assert edges["kestrel", "show 1"] == 10 and after.ranking != before.ranking
    assert replies.by_hand(QUESTION) == {("kestrel", "show 1"): 10} and replies.by_hand("another") == {}
    replies.rate(QUESTION, "kestrel", "show 1", None)
    assert steering(method.retrieve(QUESTION)) == before
    replies.rate(QUESTION, "kestrel", "show 1", 8)
    replies.forget(QUESTION)
    assert steering(method.retrieve(QUESTION)) == before


@pytest.mark.parametrize("score", [11, -1, 4.5, "9", True])
def test_a_score_is_a_whole_number_from_0_to_10(score):
    with pytest.raises(SettingError, match="it should be a whole number from 0 to 10"):
        KeptReplies().rate(QUESTION, "kestrel", "ilse", score)
