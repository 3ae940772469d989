"""The trace: what is written, kept, saved, read back and compared."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.errors import DataError
from workbench.trace import COLUMNS, LONG, Event, Trace

LONG_TEXT = "The river Aldra rises in the slate uplands. " * 4

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates and control characters included
long_text = st.builds(lambda text: (text or "x") * (LONG + 1), any_text)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | any_text | long_text
keys = (
    st.text()
    | st.text(min_size=1).map(lambda text: text * (LONG + 1))
    | st.sampled_from(["$text", "$", "$$text", "text", "failure"])
)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=8)
fields = st.dictionaries(keys, values, max_size=3)


def story(level: str = "full", *, facts=("a", "b"), ranking=(("p1", 0.9), ("p2", 0.5)), walk: bool = True) -> Trace:
    """A trace as a method would write it."""
    trace = Trace(level)
    with trace.span("CHAIN", "method", question="Which lake?") as root:
        with trace.span("RETRIEVER", "link facts", text=LONG_TEXT) as span:
            span.set(facts=list(facts), context=LONG_TEXT)
            with trace.span("LLM", "ask", prompt=LONG_TEXT) as asked:
                asked.tokens(prompt=12, completion=3)
        if walk:
            with trace.span("CHAIN", "walk"):
                pass
        root.score(ranking)
    return trace


def recorded(inputs: dict, outputs: dict, scores=(), level: str = "full") -> Trace:
    trace = Trace(level)
    with trace._span("TOOL", "step", inputs) as span:
        span._outputs.update(outputs)
        span.score(scores)
    return trace


# -- writing --------------------------------------------------------------------------------------------------------


def test_events_stand_where_they_began_under_what_was_open():
    trace = story()
    assert [(e.id, e.parent, e.step) for e in trace] == [
        (0, None, "method"),
        (1, 0, "link facts"),
        (2, 1, "ask"),
        (3, 0, "walk"),
    ]
    assert [e.step for e in trace.children(0)] == ["link facts", "walk"]
    assert [e.step for e in trace.children()] == ["method"]
    assert [e.id for e in trace.find("ask")] == [2]
    assert trace[2].tokens == {"prompt": 12, "completion": 3}
    assert trace[0].scores == (("p1", 0.9), ("p2", 0.5))


def test_an_exception_is_recorded_as_failure_and_goes_on():
    trace = Trace()
    with pytest.raises(KeyError), trace.span("CHAIN", "outer"):
        with pytest.raises(ZeroDivisionError), trace.span("TOOL", "caught"):
            _ = 1 / 0
        with trace.span("TOOL", "goes on"):
            raise KeyError("lost")
    assert [e.failure for e in trace] == ["KeyError: 'lost'", "ZeroDivisionError: division by zero", "KeyError: 'lost'"]
    assert [e.parent for e in trace] == [None, 0, 0]


def test_a_terminal_shows_the_best_scores_of_an_event():
    trace = Trace()
    with trace.span("CHAIN", "mine") as whole:
        whole.score([("p1", 0.25)])
        with trace.span("CHAIN", "seeds") as span:
            span.score([("orsby", 0.5), ("river aldra", 0.25), ("lake mira", 0.125), ("fog", 0.0625)])
    best = "· orsby 0.5000, river aldra 0.2500, lake mira 0.1250"
    assert repr(trace).splitlines()[1:] == ["  CHAIN mine", "    CHAIN seeds", f"      {best}"]
    assert repr(trace.find("seeds")[0]) == f"CHAIN seeds\n  {best}"


def test_what_the_caller_changes_later_stays_out():
    facts = ["a"]
    trace = Trace()
    with trace.span("TOOL", "step", given=facts) as span:
        span.set(facts=facts)
        facts.append("b")
    facts.append("c")
    assert (trace[0].inputs["given"], trace[0].outputs["facts"]) == (["a"], ["a", "b"])


def test_arrays_and_sets_become_plain_values():
    arrays = {"array": np.arange(2), "one": np.float32(0.5), "flag": np.bool_(True)}
    kept = recorded({**arrays, "set": {"b", "a"}, "mixed": {1, "a"}}, {3: (1, 2)})[0]
    assert kept.inputs["array"] == [0, 1] and kept.inputs["one"] == 0.5 and kept.inputs["flag"] is True
    assert kept.inputs["set"] == ["a", "b"] and sorted(map(str, kept.inputs["mixed"])) == ["1", "a"]
    assert kept.outputs == {"3": [1, 2]}


# -- levels ---------------------------------------------------------------------------------------------------------


def test_off_records_nothing():
    trace = story("off")
    assert not trace and len(trace) == 0 and list(trace.frame().columns) == list(COLUMNS)


def test_ids_keeps_structure_and_scores():
    full, ids = story(), story("ids")
    assert [(e.id, e.parent, e.kind, e.step, e.scores, e.tokens) for e in ids] == [
        (e.id, e.parent, e.kind, e.step, e.scores, e.tokens) for e in full
    ]
    assert ids[1].outputs["facts"] == ["a", "b"]
    assert ids[1].inputs["text"] == ids[1].outputs["context"]  # equal texts are still seen to be equal


class Opaque:
    """Something whose printed form is long."""

    def __str__(self) -> str:
        return LONG_TEXT


@pytest.mark.parametrize(
    "value", [LONG_TEXT, [LONG_TEXT], {"a": {LONG_TEXT: 1}}, (LONG_TEXT,), {LONG_TEXT}, np.array([LONG_TEXT]), Opaque()]
)
def test_ids_keeps_no_long_text_anywhere(value, tmp_path):
    trace = recorded({"given": value}, {"made": value}, [(LONG_TEXT, 1.0)], level="ids")
    saved = trace.save(tmp_path / "trace.jsonl").read_text()
    assert "slate uplands" not in repr(trace[0].inputs) + repr(trace[0].outputs) + repr(trace[0].scores) + saved


# -- disk -----------------------------------------------------------------------------------------------------------


@given(fields, fields, st.lists(st.tuples(any_text | long_text, st.floats()), max_size=3))
@example({"a": {"$text": "x"}}, {"$text": [1]}, [])
@example({"a": {"$text": {"$text": LONG_TEXT}}}, {"b": LONG_TEXT, "c": {"$text": "c69c5a2a1f2a1fc0"}}, [])
@example({"a": "\u2028\x85\x1c\x00\x1b[31m\ud800"}, {"b": "\ud83d\ude00" * LONG, "\ud83d": float("nan")}, [])
def test_any_values_come_back_as_they_were(tmp_path, inputs, outputs, scores):
    trace = recorded(inputs, outputs, scores)
    opened = Trace.open(trace.save(tmp_path / "trace.jsonl"))
    assert opened == trace
    assert not trace.diff(opened)


def test_a_text_that_names_a_stored_text_is_not_taken_for_it(tmp_path):
    """A value that looks like a reference to a text which is really there is still a value."""
    saved = [json.loads(line) for line in recorded({"a": LONG_TEXT}, {}).save(tmp_path / "a").read_text().splitlines()]
    name = saved[1]["text"]
    trace = recorded({"a": LONG_TEXT}, {"b": {"$text": name}})
    assert Trace.open(trace.save(tmp_path / "b"))[0].outputs == {"b": {"$text": name}}


def test_the_same_run_saves_the_same_bytes_without_seconds(tmp_path):
    first, second = (story().save(tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second
    assert b"seconds" not in first


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not a saved trace"),
        ("7\n", "not a saved trace"),
        ('{"id": "q1"}\n', "not a saved trace"),
        ("trace", "damaged"),
        ('{"trace": 99, "level": "full", "events": 0}\n', "upgrade"),
        ('{"trace": 1, "level": "full", "events": 2}\n', "cut short"),
    ],
)
def test_what_is_no_trace_is_said_to_be_none(tmp_path, content, said):
    path = tmp_path / "trace.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=said) as error:
        Trace.open(path)
    assert str(path) in str(error.value)


# -- comparing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "rows"),
    [
        (story(facts=("a", "c")), [("method / link facts", "outputs.facts", ["a", "b"], ["a", "c"])]),
        (
            story(ranking=(("p2", 0.9), ("p1", 0.5), ("p3", 0.1))),
            [("method", "rank of p1", 1, 2), ("method", "rank of p2", 2, 1), ("method", "rank of p3", None, 3)],
        ),
        (
            story(ranking=(("p1", 0.8), ("p2", 0.5))),
            [("method", "scores", (("p1", 0.9), ("p2", 0.5)), (("p1", 0.8), ("p2", 0.5)))],
        ),
        (story(walk=False), [("method / walk", "event", True, False)]),
    ],
)
def test_a_difference_is_named_by_its_place(other, rows):
    assert list(story().diff(other).rows) == rows
    assert len(story().diff(other).frame()) == len(rows)
    assert len(other.diff(story()).rows) == len(rows)


events = st.builds(
    lambda kind, outputs, scores, tokens: (kind, outputs, scores, tokens),
    st.sampled_from(["CHAIN", "LLM"]),
    st.dictionaries(st.sampled_from("ab"), st.none() | st.integers(0, 1) | st.just(float("nan")), max_size=2),
    st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from([0.0, 1.0])), max_size=2),
    st.none() | st.just({"prompt": 1}),
)


def of(drawn: list) -> Trace:
    return Trace(events=[Event(i, None, k, "step", {}, o, tuple(s), t) for i, (k, o, s, t) in enumerate(drawn)])


@given(st.lists(events, max_size=3), st.lists(events, max_size=3))
def test_two_traces_differ_exactly_where_diff_says_so(left, right):
    assert bool(of(left).diff(of(right))) == (of(left) != of(right))


# -- reading --------------------------------------------------------------------------------------------------------


def test_the_frame_has_a_row_per_event():
    trace = story()
    with pytest.raises(ValueError, match="no"), trace.span("TOOL", "fails"):
        raise ValueError("no")
    frame = trace.frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["depth"].tolist() == [0, 1, 2, 1, 0]
    assert frame["parent"].isna().tolist() == [True, False, False, False, True]
    assert frame["prompt_tokens"].dropna().tolist() == [12]
    assert frame["failure"].dropna().tolist() == ["ValueError: no"]
    assert frame["outputs"][1]["facts"] == ["a", "b"]


def test_a_branch_is_grafted_below_the_open_event():
    trace, branch = Trace(), Trace()
    with branch.span("CHAIN", "b") as span, branch.span("LLM", "c"):
        span.score([("p", 1.0)])
    with trace.span("CHAIN", "a"):
        trace.graft(branch)
        with trace.span("TOOL", "d"):
            pass
    assert [(e.id, e.parent, e.step) for e in trace] == [(0, None, "a"), (1, 0, "b"), (2, 1, "c"), (3, 0, "d")]
    assert trace[1].scores == (("p", 1.0),) and len(branch) == 2
