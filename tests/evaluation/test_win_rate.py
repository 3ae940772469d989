"""Two methods' answers before a judge: what it is shown, and how its choices are counted."""

from __future__ import annotations

import json

import pytest
from judges import Judge
from stopwatch import spent
from test_analyses import written

from workbench.analyses import win_rate
from workbench.errors import SettingError
from workbench.evaluation.pairs import blinded
from workbench.evaluation.run import Run
from workbench.records import Question

QUESTIONS = tuple(Question(f"q{at}", f"question {at}?", ("x",), hops=1 + at % 2) for at in range(8))
DIMENSIONS = ("comprehensiveness", "logicity", "relevance", "coherence", "overall")


def longer(value, dimension):
    return 1 if len(value.answer_1) > len(value.answer_2) else 2


def first(value, dimension):
    return 1


@pytest.fixture
def run(tmp_path) -> Run:
    """`long` has the longer answer to all questions but q0 and q1."""
    run = written(tmp_path / "run", {"long": {}, "short": {}}, {"long": {}, "short": {}}, questions=QUESTIONS)
    return answered(run, {"long": lambda at: "aa" if at > 1 else "a", "short": lambda at: "b" if at > 1 else "bb"})


def answered(run: Run, answers) -> Run:
    rows = []
    for row in run.rows:
        said = answers[row["method"]](int(row["question_id"][1:]))
        rows.append(json.dumps(row | {"answer": said, "failure": None if said is not None else "broke"}))
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("\n".join(rows) + "\n")
    return Run(run.folder)


def rates(found, hops=None):
    return {row["dimension"]: row["win_rate"] for row in found.rows if row["hops"] == hops}


# -- counting ---------------------------------------------------------------------------------------------------------


def test_wins_are_those_of_the_answer_wherever_it_stood(run):
    found = win_rate(run, "long", run, "short", QUESTIONS, Judge(longer))
    assert rates(found) == dict.fromkeys(DIMENSIONS, 6 / 8)
    assert rates(found, 1) == dict.fromkeys(DIMENSIONS, 3 / 4) == rates(found, 2), "q0 and q1 are lost"
    row = found.rows[0]
    assert (row["n"], row["failures"], row["unanswered"]) == (8, 0, 0)
    assert (row["low"], row["high"]) == pytest.approx((0.409, 0.929), abs=0.001), "6 of 8 after Wilson"
    assert {one["a_first"] for one in found.judgements} == {True, False}, "the coin falls both ways"


def test_a_judge_who_looks_at_the_order_alone_says_so(run):
    found = win_rate(run, "long", run, "short", QUESTIONS, Judge(first))
    assert rates(found)["overall"] == sum(one["a_first"] for one in found.judgements) / 8
    assert any("shown first won 8 of 8" in note for note in found.notes)
    both = win_rate(run, "long", run, "short", QUESTIONS, judge := Judge(first), both_orders=True)
    assert len(judge.seen) == 16 and rates(both) == dict.fromkeys(DIMENSIONS, 0.5)
    assert both.rows[0]["n"] == 8, "a question counts once"


def test_in_both_orders_a_dimension_counts_only_where_both_agree(run):
    """Relevance goes to the longer answer; coherence to the first, but for q2, where the long one wins twice."""

    def better(value, dimension):
        firmly = dimension == "relevance" or value.question == "question 2?"
        return longer(value, dimension) if firmly else 1

    found = rates(win_rate(run, "long", run, "short", QUESTIONS, Judge(better), both_orders=True))
    assert found["relevance"] == 6 / 8 and found["coherence"] == (7 * 0.5 + 1) / 8


def test_what_fails_is_left_out_and_counted(run):
    run = answered(run, {"long": lambda at: None if at == 7 else "aa", "short": lambda at: "b"})
    judge = Judge(lambda value, dimension: None if value.question == "question 3?" else longer(value, dimension))
    for both_orders in (False, True):
        found = win_rate(run, "long", run, "short", QUESTIONS, judge, both_orders=both_orders)
        row = found.rows[0]
        assert (row["n"], row["win_rate"], row["failures"], row["unanswered"]) == (6, 1, 1, 1)
    assert any("told to fail" in note for note in found.notes)
    assert {one["failure"] for one in found.judgements if one["question_id"] == "q3"} == {"told to fail"}
    nothing = win_rate(run, "long", run, "short", QUESTIONS, Judge(lambda *_: None))
    assert nothing.rows[0]["win_rate"] is None and nothing.rows[0]["failures"] == 7


def test_two_runs_over_the_same_questions(run, tmp_path):
    other = written(tmp_path / "other", {"short": {}}, {"short": {}}, questions=QUESTIONS, engine="openai:judge")
    other = answered(other, {"short": lambda at: "bbb"})
    found = win_rate(run, "long", other, "short", QUESTIONS, Judge(longer))
    assert rates(found) == dict.fromkeys(DIMENSIONS, 0)
    assert any("favour itself" in note for note in found.notes)


def test_what_cannot_be_judged_is_refused(run, tmp_path):
    with pytest.raises(SettingError, match="rules cannot judge"):
        win_rate(run, "long", run, "short", QUESTIONS, "rules")
    with pytest.raises(SettingError, match="has no method 'dotrag'"):
        win_rate(run, "dotrag", run, "short", QUESTIONS, Judge(first))
    with pytest.raises(SettingError, match="'q7' of the run"):
        win_rate(run, "long", run, "short", QUESTIONS[:7], Judge(first))
    fewer = written(tmp_path / "fewer", {"short": {}}, {"short": {}}, questions=QUESTIONS[:7])
    with pytest.raises(SettingError, match="different questions"):
        win_rate(run, "long", fewer, "short", QUESTIONS, Judge(first))
    unread = written(tmp_path / "unread", {"short": {}}, {"short": {}}, questions=QUESTIONS, reader=None)
    with pytest.raises(SettingError, match="has no answers; evaluate with a reader"):
        win_rate(run, "long", unread, "short", QUESTIONS, Judge(first))


# -- what the judge is shown ------------------------------------------------------------------------------------------


def test_the_judge_sees_no_citation_and_no_name_of_a_method(run):
    said = {
        "long": lambda at: "LONG found Orsby [1] and [q] (see Passage 2).",
        "short": lambda at: "By short:\nOrsby [Data: Reports (1, 2)].\n\n**References**\n- [1] The short way",
    }
    judge = Judge(first)
    win_rate(answered(run, said), "long", run := Run(run.folder), "short", QUESTIONS, judge)
    shown = {text for one in judge.seen for text in (one.answer_1, one.answer_2)}
    assert shown == {"the method found Orsby and [q] (see Passage 2).", "By the method:\nOrsby."}


@pytest.mark.parametrize(("text", "shown"), [
    ("Jaws (1975) is [1941]'s elder", "Jaws (1975) is [1941]'s elder"),
    ("so [^1], so [2–4], so [5; 6].", "so, so, so."),
    ("so【4†source】 (Source: p1) (documents 1, 2)", "so"),
    ("(sources close to the king) [Reportage]", "(sources close to the king) [Reportage]"),
    ("Sources:\nthe Aldra", ""),
    ("The sources:\nthe Aldra", "The sources:\nthe Aldra"),
    ("dense fog", "dense fog"),
    ("a [] () [a [b] c]", "a [] () [a [b] c]"),
    ("", ""),
])  # fmt: skip
def test_citations_and_what_looks_like_them(text, shown):
    assert blinded(text, ["p1"], ["dotrag"]) == shown


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "\n" * 100_000, "(1 " * 50_000, "# " * 50_000, "references\n" * 20_000]
)
def test_a_long_answer_is_read_in_time(text):
    with spent() as taken:
        blinded(text, [], ["dotrag[t_max=1]"])
    assert taken.seconds < 2


# -- how it looks -----------------------------------------------------------------------------------------------------
