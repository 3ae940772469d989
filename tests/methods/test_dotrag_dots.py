"""DOTs read off traces written by hand: anchors, rules, regions, iterations, what was kept, what cannot be read."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from dot_traces import NEXT, QUESTION, dot_trace, nothing_trace

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.methods.dotrag.dots import Candidate, Comparison, MethodResult, dots
from workbench.methods.dotrag.events import Anchor, Concept, Region
from workbench.records import Evidence
from workbench.trace import Event, Trace


def test_what_was_read_out_of_the_question():
    shown = dots(dot_trace(), gold=["Oskar Lind"])
    assert (shown.question, shown.method) == (QUESTION, "dotrag[h_max=3,t_max=2,tau=0.6]")
    assert shown.concepts == (Concept("Glass Harbour", "A film.", "movie"),)
    assert (shown.topics, shown.routing, shown.gold) == (("films of one director",), 0, ("Oskar Lind",))
    assert shown.accepted == (("low", "Glass Harbour"), ("high", "films of one director"))
    assert shown.named == (("Glass Harbour", "movie"),)
    assert shown.chunks == (("salt-line", 0.66), ("glass-harbour", 0.61)) and not shown.no_paths


def test_what_a_dot_is():
    first, second = dots(dot_trace()).dots
    assert (first.number, first.concept, first.level, first.weak, first.reason) == (
        *(0, "Glass Harbour", "low"),
        *(False, "t_max"),
    )
    assert first.anchors == (Anchor("Glass Harbour", "movie", 0.93, True),)
    assert first.rules.allowed_types == ("movie", "person")
    assert first.rules.intermediate_rules[0].startswith("names the director")
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


def test_a_path_without_a_verdict_is_unjudged_where_nothing_else_is_said():
    events = [dataclasses.replace(e, outputs={}) if e.step in ("judge", "keep") else e for e in dot_trace(t_max=1)]
    shown = dots(Trace(events=[e for e in events if e.step != "aggregate"]))
    assert {path.fate for path in shown.dots[0].paths} == {"unjudged", "cut"} and shown.final == ()


def test_a_verdict_that_stood_at_the_end_wins():
    trace = dot_trace()
    trace.find("aggregate")[0].outputs["paths"][1]["confidence"] = 0.9
    assert dots(trace).final[1].confidence == 0.9 and dots(trace).path("1.1.1").confidence == 0.7


def test_the_paths_as_a_table():
    frame = dots(dot_trace()).frame()
    assert list(frame.index) == ["0.1.1", "0.1.2", "0.1.3", "0.2.1", "0.2.2", "1.1.1"]
    assert frame.loc["0.2.2", ["concept", "iteration", "hops", "label", "fate"]].tolist() == [
        *("Glass Harbour", 2, 3),
        *("complete", "kept"),
    ]
    assert list(dots(nothing_trace()).frame()) == list(frame)


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


def test_a_saved_trace_gives_the_same_dots(tmp_path):
    for trace in (dot_trace(), nothing_trace()):
        assert dots(Trace.open(trace.save(tmp_path / "trace.jsonl"))) == dots(trace)


def test_a_trace_of_ids_keeps_the_structure():
    full, ids = dots(dot_trace()), dots(dot_trace("ids"))
    assert [path.nodes for path in ids.final] == [path.nodes for path in full.final]
    assert ids.frame().equals(full.frame())


def test_a_question_that_broke_is_shown_as_far_as_it_went():
    trace = Trace()
    with (
        pytest.raises(RuntimeError),
        trace.span("CHAIN", "dotrag", question=QUESTION),
    ):
        with trace.span("CHAIN", "select regions") as span:
            span.set(anchors=[], topics=[QUESTION], routing=0, accepted=[["high", QUESTION]], named=[])
        with trace.span("CHAIN", "dot", dot=0, concept=QUESTION, level="high"):
            with trace.span("RETRIEVER", "anchors") as span:
                span.score([("Fog", 0.1)])
            with trace.span("CHAIN", "region"):
                raise RuntimeError("out of memory")
    shown = dots(trace)
    assert shown.failure == shown.dots[0].failure == "RuntimeError: out of memory"
    assert (shown.dots[0].region, shown.dots[0].rules, shown.dots[0].iterations) == (None, None, ())
    assert shown.dots[0].anchors == (Anchor("Fog", "", 0.1),)


def test_evidence_brings_its_trace():
    assert dots(Evidence(QUESTION, "dotrag", "cosine", (), trace=dot_trace())) == dots(dot_trace())
    with pytest.raises(SettingError, match="has no trace; retrieve with trace='full'"):
        dots(Evidence(QUESTION, "dotrag", "cosine", ()))


@pytest.mark.parametrize("level", ["off", "full"])
def test_other_traces_are_refused(tiny_index, level):
    trace = wb.method("dense", tiny_index).retrieve(QUESTION, trace=level).trace
    with pytest.raises(DataError, match="has no DOTs; take the trace of dotrag"):
        dots(trace)


def test_an_empty_question_has_no_dots():
    trace = Trace()
    with trace.span("CHAIN", "dotrag", question="") as span:
        span.set(fallback="the question is empty")
    with pytest.raises(DataError, match="the trace of dotrag has no DOTs: the question is empty"):
        dots(trace)
    with pytest.raises(DataError, match="no DOTs"):
        dots(Trace(events=[Event(0, None, "CHAIN", "select regions")]))


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("select regions", {"outputs": {"anchors": [{"description": "no span"}]}}),
        ("select regions", {"outputs": {"accepted": [["low"]]}}),
        ("dot", {"inputs": {}}),
        ("anchors", {"outputs": {"types": ["movie"]}}),
        ("rules", {"outputs": {"terminal_rules": 3}}),
        ("region", {"outputs": {"hops": 3}}),
        ("region", {"outputs": {"hops": [1]}}),
        ("iteration", {"inputs": {"iteration": 1, "queries": ["initial"]}}),
        ("candidates", {"outputs": {"query": [0]}}),
        ("paths", {"outputs": {"paths": ["0.1.1"]}}),
        ("paths", {"outputs": {"paths": {"0.1.1": {"nodes": ["a"]}}}}),
        ("judge", {"outputs": {"verdicts": {"0.1.1": {"confidence": "high"}}}}),
        ("keep", {"outputs": {"dropped": ["0.1.1"]}}),
        ("aggregate", {"outputs": {"paths": [{"id": "9.9.9"}]}}),
        ("dotrag[h_max=3,t_max=2,tau=0.6]", {"inputs": {}}),
    ],
    ids=str,
)
def test_a_damaged_trace_is_refused(step, change):
    events = [dataclasses.replace(e, **change) if e.step == step else e for e in dot_trace()]
    with pytest.raises(DataError, match="not as dotrag writes it"):
        dots(Trace(events=events))


def test_what_is_not_there_is_named():
    shown = dots(dot_trace())
    with pytest.raises(SettingError, match="no DOT 7; there are 0, 1"):
        shown.dot(7)
    with pytest.raises(SettingError, match=r"no path '7\.1\.1'"):
        shown.path("7.1.1")


def test_records_are_values():
    shown = dots(dot_trace())
    assert shown == dots(dot_trace()) and hash(shown) == hash(dots(dot_trace()))
    for one, other in itertools.combinations([shown, shown.dots[0], shown.dots[0].iterations[0], shown.final[0]], 2):
        assert one != other
    with pytest.raises(dataclasses.FrozenInstanceError):
        shown.question = "other"
