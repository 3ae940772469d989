"""Replays of traces written by hand: what was thought, sought, found, promoted and cut, and what cannot be replayed."""

from __future__ import annotations

import dataclasses

import pytest
from rounds import QUESTION, bdtr_trace, ircot_trace, pool, ranking, search

from workbench.methods.iterative.events import Chain, Cut, Search
from workbench.methods.iterative.replay import END, replay
from workbench.trace import Trace


def test_what_bdtr_did():
    shown = replay(bdtr_trace(), gold=["p2", "p7"])
    assert (shown.question, shown.method, shown.gold) == (QUESTION, "bdtr[iterations=1]", ("p2", "p7"))
    first, second = shown.rounds
    assert [first.number, first.texts, first.queries, first.given] == [0, {}, (), False]
    assert first.searches == (Search("question", QUESTION, "cosine", tuple(ranking("p1", "p5", "p3", "p2")), 4),)
    assert second.texts == {"fast": "Where does it flow?", "slow": "River Aldra, flows into"}
    assert [(one.origin, one.ranking[0][0], one.fallback) for one in second.searches] == [
        ("fast", "p1", "no fact was kept"),
        ("slow", "p2", None),
    ]
    assert second.risen == {5: ("p8",)} and second.queried == {"p2": "River Aldra, flows into"}
    assert second.pool == tuple(ranking("p1", "p2", "p5", "p3", "p8"))
    assert shown.chain == Chain("Orsby lies on the Aldra.", ("It lies there.", "It flows."), ("River Aldra",))
    assert (shown.verified, shown.moved) == (("p2",), (("p2", 2, 1),))
    assert shown.cut == Cut(0.8, 0.14, 0.94, "keep", ("p2", "p1"), ("p5",), 3, shown.final)
    assert [name for name, _ in shown.final] == ["p2", "p1", "p5", "p3", "p8"]
    assert shown.stopped is None and shown.concludes
    assert [shown.why(name) for name in ("p2", "p1", "p5", "p3")] == [("verified",), ("score",), ("filled",), ()]
    flat = dataclasses.replace(shown, cut=Cut(0.9, 0.0, 0.9, "keep", ("p2",), ("p1",)))
    assert [flat.why(name) for name in ("p2", "p1")] == [("verified",), ("filled",)]  # no deviation, so no cut by score


def test_ranks_at_each_stage():
    shown = replay(bdtr_trace(), gold=["p2", "p7"])
    assert shown.stages == ("round 0", "round 1", END)
    assert shown.ranks() == {"p2": (4, 2, 1), "p7": (None, None, None)}
    assert shown.ranks(["p8", "p5"]) == {"p8": (None, 5, 5), "p5": (2, 3, 3)}
    frame = shown.frame()
    assert list(frame) == ["round 0", "round 1", END] and list(frame.index) == ["p2", "p7"]
    assert frame.loc["p2"].tolist() == [4, 2, 1] and frame.loc["p7"].isna().all()
    assert list(replay(bdtr_trace()).frame()) == ["round 0", "round 1", END]


def test_a_method_that_stops_has_no_conclusion_and_keeps_its_pool():
    shown = replay(ircot_trace(), gold=["p2"])
    assert shown.stages == ("round 0", "round 1", "round 2")
    assert (shown.stopped, shown.concludes, shown.chain, shown.cut) == (2, False, None, None)
    assert [one.given for one in shown.rounds] == [False, True, False]
    assert [one.mixed for one in shown.rounds] == [False, True, False]
    assert shown.rounds[2].searches == () and shown.rounds[2].pool == shown.rounds[1].pool
    assert shown.rounds[2].scale == "cosine"
    assert shown.ranks() == {"p2": (None, 1, 1)}
    assert shown.final == (("p2", 1.0), ("p1", 0.9))
    assert shown.fallback == "scores of different scales met as minmax(cosine, ppr)"


def test_a_trace_of_ids_keeps_ranks_and_short_texts():
    assert replay(bdtr_trace("ids")) == replay(bdtr_trace())
    long = Trace("ids")
    with long.span("CHAIN", "ircot", question="x" * 100), long.span("CHAIN", "round 0", round=0):
        search(long, "question", "x" * 100, "p1")
        pool(long, "p1")
    assert replay(long).question.startswith("sha256:")
    assert replay(long).ranks(["p1"]) == {"p1": (1,)}


def test_a_question_that_broke_is_shown_as_far_as_it_went():
    trace = Trace()
    with (
        pytest.raises(RuntimeError),
        trace.span("CHAIN", "ircot", question=QUESTION),
        trace.span("CHAIN", "round 0", round=0),
        trace.span("CHAIN", "search", origin="question", query=QUESTION),
    ):
        raise RuntimeError("out of memory")
    shown = replay(trace)
    assert shown.failure == shown.rounds[0].failure == shown.rounds[0].searches[0].failure
    assert shown.failure == "RuntimeError: out of memory"
    assert (shown.rounds[0].pool, shown.final) == ((), ())
