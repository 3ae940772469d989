"""Two methods' answers before a judge: what it is shown, and how its choices are counted."""

from __future__ import annotations

import doctest
import json

import pytest
from judges import Judge
from stopwatch import spent
from test_analyses import written

from workbench.analyses import win_rate
from workbench.analyses import win_rate as win_rate_
from workbench.errors import SettingError
from workbench.evaluation import pairs
from workbench.evaluation.pairs import blinded
from workbench.evaluation.run import Run
from workbench.llm.call import Reply
from workbench.llm.engine import engine
from workbench.llm.parse import Unreadable, parse
from workbench.records import Question
from workbench.rules import rule_for
from workbench.steps import judge_pair

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


def test_swapped_methods_have_the_complementary_rate(run):
    ours = win_rate(run, "long", run, "short", QUESTIONS, Judge(longer))
    theirs = win_rate(run, "short", run, "long", QUESTIONS, Judge(longer))
    assert rates(theirs) == {name: 1 - rate for name, rate in rates(ours).items()}


def test_the_coin_is_the_seed_s(run):
    def coins(seed, b="short"):
        a = "long" if b == "short" else "short"
        return [one["a_first"] for one in win_rate(run, a, run, b, QUESTIONS, Judge(first), seed=seed).judgements]

    assert coins(0) == coins(0) and coins(0) != coins(1) and coins(0) != coins(0, "long")


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
    with pytest.raises(SettingError, match="nobody read"):
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


def test_common_words_stay(tmp_path):
    run = written(tmp_path / "run", {"dense": {}, "other": {}}, {"dense": {}, "other": {}}, questions=QUESTIONS)
    run, judge = answered(run, dict.fromkeys(("dense", "other"), lambda at: "A dense fog.")), Judge(first)
    win_rate(run, "dense", run, "other", QUESTIONS, judge)
    assert judge.seen[0].answer_1 == "A dense fog."


# -- the Step ---------------------------------------------------------------------------------------------------------


def test_the_rules_refuse_and_say_why():
    (result,) = engine("rules").run(judge_pair.STEP, [judge_pair.Input("?", "a", "b")])
    assert result.value is None and "rules cannot judge which of two answers is better" in result.failure
    assert rule_for(judge_pair.STEP)([]) == []


def reply(**winners):
    said = {name: {"winner": 1, "reason": "x"} for name in DIMENSIONS} | winners
    return Reply(json.dumps(said))


@pytest.mark.parametrize("winner", [2, "2", " Answer 2", "answer_2"])
def test_a_winner_is_a_number_however_it_is_said(winner):
    assert parse(judge_pair.STEP, reply(overall={"winner": winner, "reason": "x"}))[0].overall.winner == 2


@pytest.mark.parametrize("winner", [0, 3, "both", "12", None, True, [1]])
def test_there_is_no_tie_and_no_third(winner):
    with pytest.raises(Unreadable):
        parse(judge_pair.STEP, reply(overall={"winner": winner, "reason": "x"}))
    with pytest.raises(Unreadable):
        parse(judge_pair.STEP, Reply(json.dumps({"overall": {"winner": 1, "reason": "x"}})))


# -- how it looks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [pairs, __import__("importlib").import_module(win_rate_.__module__)])
def test_examples_of_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
