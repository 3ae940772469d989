"""DOTs read off traces written by hand: anchors, rules, regions, iterations, what was kept, what cannot be read."""

from __future__ import annotations

import dataclasses

import pytest
from dot_traces import NEXT, QUESTION, dot_trace, nothing_trace

from workbench.errors import SettingError
from workbench.methods.dotrag.dots import Candidate, Comparison, MethodResult, dots
from workbench.methods.dotrag.events import Anchor, Concept, Region
from workbench.trace import Trace


def test_what_was_read_out_of_the_question_and_what_its_dots_are():
    shown = dots(dot_trace(), gold=["Oskar Lind"])
    assert (shown.question, shown.method) == (QUESTION, "dotrag[h_max=3,t_max=2,tau=0.6]")
    assert shown.concepts == (Concept("Glass Harbour", "A film.", "movie"),)
    assert (shown.topics, shown.routing, shown.gold) == (("films of one director",), 0, ("Oskar Lind",))
    assert shown.accepted == (("low", "Glass Harbour"), ("high", "films of one director"))
    assert shown.named == (("Glass Harbour", "movie"),)
    assert shown.chunks == (("salt-line", 0.66), ("glass-harbour", 0.61)) and not shown.no_paths
    first, second = shown.dots
    assert (first.number, first.concept, first.level, first.weak, first.reason) == (
        0,
        "Glass Harbour",
        "low",
        False,
        "t_max",
    )
    assert first.anchors == (Anchor("Glass Harbour", "movie", 0.93, True),)
    assert first.rules.allowed_types == ("movie", "person")
    assert first.region == Region((1, 2, 1, 1), 5, 4, {"genre": 1})
    assert second.weak and [anchor.exact for anchor in second.anchors] == [False, False]
    assert second.rules.failure == "two answers could not be read"


def test_what_an_iteration_searched_and_judged():
    first, second = dots(dot_trace()).dots[0].iterations
    assert first.queries == (("initial", "director of Glass Harbour"),) and first.repeated == ()
    assert second.queries == (("partial:0.1.1", NEXT),) and second.repeated == ("director of Glass Harbour",)
    assert first.candidates[0] == Candidate("Ilse Varn", "person", 0.81, 0)
    assert (second.excluded, second.without) == (3, ("Quell",))
    found = second.paths[1]
    assert found.nodes == ("Glass Harbour", "Ilse Varn", "Salt Line", "Oskar Lind")
    assert found.relations[1] == (("directed_by", False), ("written_by", False))
    assert (found.label, found.confidence, found.justification) == ("complete", 0.92, "ends at one who starred in it")
    assert first.paths[0].next_question == NEXT and found.passage.endswith("So it is told.")


def test_what_became_of_each_path():
    shown = dots(dot_trace())
    assert [one.kept for one in shown.dots[0].iterations] == [("0.1.1",), ("0.2.2",)]
    assert {path.id: path.fate for dot in shown.dots for path in dot.paths} == {
        "0.1.1": "superseded",
        "0.1.2": "irrelevant",
        "0.1.3": "cut",
        "0.2.1": "prefix",
        "0.2.2": "kept",
        "1.1.1": "kept",
    }
    assert [path.id for path in shown.dots[0].kept] == ["0.2.2"]
    assert [path.id for path in shown.final] == ["0.2.2", "1.1.1"]
    assert shown.nodes == ("Glass Harbour", "Ilse Varn", "Salt Line", "Oskar Lind", "Pia Norr")
    assert shown.path("0.1.3").label == "" and shown.dot(1).concept == "films of one director"
    assert shown.types["Drama"] == "genre" and len(shown.types) == 7
    with pytest.raises(SettingError, match="no DOT 7; there are 0, 1"):
        shown.dot(7)
    with pytest.raises(SettingError, match=r"no path '7\.1\.1'"):
        shown.path("7.1.1")


def test_a_path_without_a_verdict_is_unjudged_where_nothing_else_is_said():
    events = [dataclasses.replace(e, outputs={}) if e.step in ("judge", "keep") else e for e in dot_trace(t_max=1)]
    shown = dots(Trace(events=[e for e in events if e.step != "aggregate"]))
    assert {path.fate for path in shown.dots[0].paths} == {"unjudged", "cut"} and shown.final == ()


def test_the_paths_as_a_table():
    frame = dots(dot_trace()).frame()
    assert list(frame.index) == ["0.1.1", "0.1.2", "0.1.3", "0.2.1", "0.2.2", "1.1.1"]
    assert frame.loc["0.2.2", ["concept", "iteration", "hops", "label", "fate"]].tolist() == [
        *("Glass Harbour", 2, 3),
        *("complete", "kept"),
    ]
    assert list(dots(nothing_trace()).frame()) == list(frame) and dots(dot_trace("ids")).frame().equals(frame)


def test_what_another_setting_changes():
    base = dots(dot_trace())
    fewer = base.diff(dots(dot_trace(h_max=1)))
    assert fewer.dots[0][:3] == ("Glass Harbour", (1, 2, 1, 1), (1, 2)) and fewer.dots[1].after == (2, 4)
    assert [path.id for path in fewer.gained] == ["0.2.1"] and [path.id for path in fewer.lost] == ["0.2.2"]
    frame = fewer.frame()
    assert frame.loc[("Glass Harbour", 2)].tolist() == [1, 0] and len(frame) == 4 + 3

    stricter = base.diff(dots(dot_trace(tau=0.95)))
    assert stricter.dots[1] == ("films of one director", (2, 4, 1), (), (), ("Salt Line", "Ilse Varn"))
    assert [path.id for path in stricter.lost] == ["1.1.1"] and stricter.gained == ()
    back = dots(dot_trace(tau=0.95)).diff(base)
    assert back.dots[1].gained == ("Salt Line", "Ilse Varn") and [path.id for path in back.gained] == ["1.1.1"]
    assert stricter and not base.diff(dots(dot_trace(tau=0.7))) and len(base.diff(base).frame()) == 7


def test_methods_beside_one_another():
    beside = Comparison(
        QUESTION,
        (
            MethodResult("a", ("p1", "p2"), ("x", "y", "x"), (("x", "y"),)),
            MethodResult("b", ("p2",), ("y", "z")),
            MethodResult("c", (), ()),
        ),
        gold=("z", "w"),
    )
    assert beside.common == {"y"}
    frame = beside.frame()
    assert frame.loc["a"].tolist() == [2, 3, 1, 1, 0] and frame.loc["b"].tolist() == [1, 2, 0, 1, 1]
    assert Comparison(QUESTION, ()).frame().empty


def test_a_question_for_which_nothing_was_kept():
    shown = dots(nothing_trace())
    assert (shown.no_paths, shown.final, shown.chunks, shown.nodes) == (True, (), (), ())
    assert (shown.fallback, shown.failure) == ("no path was kept", "no answer")
    assert shown.dots[0].region.filter_relaxed and shown.dots[0].region.truncated
    assert shown.dots[0].iterations[0].candidates == shown.dots[0].paths == ()
