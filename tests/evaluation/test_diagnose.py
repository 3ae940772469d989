"""Why answers are wrong: every cause on a run by hand, the order in which they are looked for, and the counts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from test_analyses import written
from typer.testing import CliRunner

import workbench as wb
from workbench.analyses import covered_only, decomposition
from workbench.analyses.diagnose import CAUSES, diagnose
from workbench.cli.app import app
from workbench.errors import SettingError
from workbench.evaluation.run import Run, alike
from workbench.records import Question
from workbench.trace import Trace

STEPS = (
    {"question": "Who founded Kestrel FM?", "answer": "Nora Whitlock", "support": "kestrel"},
    {"question": "Where was #1 born?", "answer": "Orsby", "support": "nora"},
)
GOLD = ("Orsby", "the town of Orsby")
ASKED = Question("q", "Where was the founder of Kestrel FM born?", GOLD, "bridge", 2, ("kestrel", "nora"), STEPS)
WHOLE = "Kestrel FM was founded by Nora Whitlock.\n\nNora Whitlock was born in Orsby."
HALF = "Kestrel FM was founded by Nora Whitlock."
READING = {"prompt": "cot", "kind": "", "invalid": False, "retried": False, "flaw": "", "compressor": "", "tokens": 9}


@pytest.fixture
def look(tmp_path):
    """The one case of a run of one question."""

    def look(question=ASKED, retrieved=WHOLE, read=None, thought="", trace=None, index=None, **row):
        said = Trace(trace or "full")
        with said.span("CHAIN", "dense"), said.span("LLM", "fact_filter") as span:
            span.set(thought="Orsby, Nora Whitlock")  # not the reader's
        with said.span("CHAIN", "direct"), said.span("LLM", "stepwise_answer") as span:
            span.set(thought=thought, answer="")
        run = written(
            tmp_path / "run", {"dense": {}}, {"dense": {"accuracy": [0], "f1": [0], "em": [0], "coverage": [1]}},
            questions=(question,), rankings={"dense": [["kestrel", "x"]]}, traces={"dense": [said]},
            **({"trace": trace} if trace else {}),
        )  # fmt: skip
        (run.folder / "contexts").mkdir()
        (run.folder / "contexts" / "before.txt").write_text(retrieved, encoding="utf-8")
        (run.folder / "contexts" / "after.txt").write_text(retrieved if read is None else read, encoding="utf-8")
        stands = {"context": "after.txt", "retrieved": "before.txt", "answer": "Ansgard", "reading": READING, **row}
        stored = {**json.loads((run.folder / "results.jsonl").read_text()), **stands}
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "results.jsonl").write_text(json.dumps(stored) + "\n")
        found = diagnose(Run(run.folder), [question], index)
        (case,) = found.cases
        assert found.of("q") == case and found.context(case) == (retrieved if read is None else read)
        return case

    return look


def test_what_broke(look):
    case = look(failure="ZeroDivisionError: one hop too many", retrieved="")
    assert (case.cause, case.explanation) == ("failure", "ZeroDivisionError: one hop too many")


@pytest.mark.parametrize(
    "text, hop, said",
    [
        (HALF, 2, "'Orsby' of step 2 does not occur in the retrieved context; its gold passage nora is not among"),
        ("Nora was born in Orsby.", 1, "'Nora Whitlock' of step 1 does not occur in the retrieved context; its gold "
         "passage kestrel is ranked 1"),
        ("Orsbyshire. Nora Whitlock.", 2, "'Orsby' of step 2"),
    ],
)  # fmt: skip
def test_a_step_that_was_not_retrieved(look, text, hop, said):
    case = look(retrieved=text, abstained=True, answer="")
    assert (case.cause, case.hop) == ("not retrieved", hop) and said in case.explanation


def test_an_alias_of_the_answer_will_do_and_one_of_a_step_will_not(look):
    assert look(retrieved=HALF + " In the town of Orsby.").cause != "not retrieved"


def test_what_compression_cut_is_no_failure_of_retrieval_or_reasoning(look):
    case = look(read=HALF, reading={**READING, "compressor": "graph-walk"}, abstained=True, answer="")
    assert (case.cause, case.hop) == ("cut by compression", 2) and "graph-walk left it out" in case.explanation


@pytest.mark.parametrize(
    "thought, abstained, cause, hop",
    [
        ("It was founded by Nora Whitlock.", True, "chain broken", 2),
        ("It was founded by Nora Whitlock.", False, "chain broken", 2),
        ("Nothing is said of it.", False, "chain broken", 1),
        ("Nothing is said of it.", True, "abstained", None),
        ("", True, "abstained", None),
        ("", False, "unexplained", None),
        ("Nora Whitlock, who was born in Orsby.", False, "wrong span", None),
    ],
)
def test_how_far_a_thought_comes(look, thought, abstained, cause, hop):
    case = look(thought=thought, abstained=abstained, answer="" if abstained else "Ansgard")
    assert (case.cause, case.hop) == (cause, hop)


def test_an_answer_that_is_near(look):
    assert look(answer="near Orsby or so", decomposition=None).cause == "wrong span"


def test_a_hash_is_no_thought(look):
    """A long thought is a hash at the level `ids`, of which no word is looked for."""
    case = look(thought="It was founded by Nora Whitlock. " * 9, trace="ids", abstained=True, answer="")
    assert case.cause == "abstained"


def test_yes_and_no_are_not_looked_for_but_gold_passages_are(look):
    question = replace(ASKED, answers=("no",), decomposition=None)
    case = look(question, retrieved="I know.")
    assert case.cause == "not retrieved" and "gold passage nora is not among the 2 ranked" in case.explanation


def test_without_decompositions_no_hop_is_named(look, tmp_path):
    case = look(replace(ASKED, decomposition=None), retrieved=HALF)
    assert (case.cause, case.hop) == ("not retrieved", None)
    found = diagnose(tmp_path / "run", [replace(ASKED, decomposition=None)])
    assert any("1 of 1 questions have no decomposition" in note for note in found.notes)


# -- of a real run ----------------------------------------------------------------------------------------------------


@pytest.fixture
def real(tiny, tiny_index, tmp_path):
    methods = [wb.method(name, tiny_index) for name in ("hipporag2", "dense")]
    return wb.evaluate(tiny.questions, methods, wb.reader("direct[k=1]"), tmp_path / "run", progress=False)


def test_every_wrong_answer_is_a_case_and_no_other(real, tiny, tiny_index):
    found = diagnose(real, tiny.questions, tiny_index)
    wrong = {(row["question_id"], row["method"]) for row in real.rows if row["scores"]["accuracy"] < 1}
    assert {(case.question_id, case.method) for case in found.cases} == wrong and wrong
    assert found.counts()["cases"].sum() == len(wrong) and set(found.counts()["cause"]) <= set(CAUSES)
    assert found.asked == (("hipporag2", 3), ("dense", 3)) and len(found.frame()) == len(wrong)
    case = found.cases[0]
    assert found.trace(case).events[0].step == case.method
    with pytest.raises(SettingError, match="not answered wrongly"):
        found.of("nobody")


def test_runs_without_answers_and_other_questions_are_refused(real, tiny, tiny_index, tmp_path):
    bare = wb.evaluate(tiny.questions, [wb.method("dense", tiny_index)], out=tmp_path / "bare", progress=False)
    with pytest.raises(SettingError, match="has no answers"):
        diagnose(bare, tiny.questions)
    with pytest.raises(SettingError, match="not among the"):
        diagnose(real, tiny.questions[:1])


def test_the_command_line_says_why(real, tiny, tmp_path):
    wb.write_folder(tiny, tmp_path / "data")
    asked = str(tmp_path / "data" / "questions.jsonl")
    said = CliRunner().invoke(app, ["diagnose", str(real.folder), "--questions", asked])
    assert said.exit_code == 0 and "Why answers are wrong" in said.output, said.output
    found = CliRunner().invoke(app, ["diagnose", str(real.folder), "--questions", asked, "--json"])
    cases = json.loads(found.output)["cases"]
    assert {case["cause"] for case in cases} <= set(CAUSES) and cases
    assert CliRunner().invoke(app, ["diagnose", str(tmp_path)]).exit_code == 1


def test_the_command_line_says_that_nothing_is_wrong(tiny_index, tmp_path):
    """And has no title over an empty table."""
    asked = Question("q", "Who founded Orsby?", ("Nora Whitlock",), support=("p1",))
    wb.evaluate([asked], [wb.method("bm25", tiny_index)], wb.reader("direct"), tmp_path / "right", progress=False)
    said = CliRunner().invoke(app, ["diagnose", str(tmp_path / "right")])
    assert said.exit_code == 0 and "No answer is wrong by accuracy" in said.output, said.output
    assert "What became of the questions" in said.output and "Why answers are wrong" not in said.output


# -- where errors come from -------------------------------------------------------------------------------------------

KINDS = tuple(Question(f"q{at}", "?", ("x",), "bridge" if at < 4 else "comparison", 2) for at in range(8))
RIGHT = [1, 0, 0, 0, 1, 0, 1, 0]
BEFORE = [1, 1, 1, 0, 0, None, 1, 0]
AFTER = [1, 1, 0, 0, 0, None, 0, 0]


@pytest.fixture
def counted(tmp_path):
    scores = {"m": {"accuracy": RIGHT, "coverage": BEFORE, "coverage:read": AFTER, "f1": [0.5] * 8}}
    run = written(tmp_path / "run", {"m": {}}, scores, questions=KINDS, reader="direct[compress=similarity]")
    rows = [{**row, "type": one.type, "hops": one.hops} for row, one in zip(run.rows, KINDS)]
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Run(run.folder)


def test_the_table_of_two_by_two_with_what_was_cut(counted):
    """Right: q0 (covered), q4 (lucky), q6 (covered, cut and right all the same). Wrong: q1 read it, q2 lost it to the
    compressor, q3 and q7 never had it. q5 is not defined."""
    (row,) = decomposition(counted).rows
    assert {name: row[name] for name in ("n", "correct_covered", "lucky", "reasoning", "cut", "retrieval")} == {
        "n": 7, "correct_covered": 2, "lucky": 1, "reasoning": 1, "cut": 1, "retrieval": 2,
    }  # fmt: skip
    assert row["reasoning"] + row["cut"] + row["retrieval"] == row["n"] * (1 - row["accuracy"]) == pytest.approx(4)
    assert (row["reasoning_share"], row["reasoning_share_read"], row["coverage"]) == (0.5, 0.25, 4 / 7)
    note = "n is 7 of 8: coverage is not defined for 1 question (a gold yes or no, or no gold)."
    assert decomposition(counted).notes[-1] == note
    (axes,) = decomposition(counted).figure().figure.axes
    assert note in " ".join(axes.get_xlabel().split())  # where n is shown


def test_readers_of_the_same_outcome_share_a_bar(counted):
    parts = decomposition({"one": counted, "two": counted, "three": counted}, by=("all", "type"))
    (axes,) = parts.figure().figure.axes
    bars = [label.get_text() for label in axes.get_yticklabels()]
    assert bars == ["one, two, three / m (n=7)", "one, two, three / m / bridge (n=4)",
                    "one, two, three / m / comparison (n=3)"]  # fmt: skip
    assert len(parts.rows) == 9  # the table has each


def test_the_figure_and_the_table_agree_on_which_readers_are_one(counted, tmp_path):
    """Equal numbers of right, cut and missed answers are not yet the same answers."""
    folder = shutil.copytree(counted.folder, tmp_path / "other")
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    wrong = next(row for row in rows if row["scores"]["accuracy"] == 0)
    wrong["answer"], wrong["abstained"] = "", True
    (folder / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    runs = {"one": counted, "two": counted, "three": Run(folder)}
    (axes,) = decomposition(runs).figure().figure.axes
    bars = [label.get_text() for label in axes.get_yticklabels()]
    assert bars == ["one, two / m (n=7)", "three / m (n=7)"]
    assert alike(runs) == {("one", "m"): ["one", "two"], ("three", "m"): ["three"]}


def test_by_type_and_by_hops_add_up(counted):
    (whole,) = decomposition(counted).rows
    rows = decomposition({"r": counted}, by=("type", "hops")).rows
    assert [(row["by"], row["kind"], row["n"]) for row in rows] == [
        ("type", "bridge", 4), ("type", "comparison", 3), ("hops", "2", 7),
    ]  # fmt: skip
    for name in ("n", "lucky", "cut", "retrieval", "reasoning"):
        assert sum(row[name] for row in rows[:2]) == whole[name] == rows[2][name]


def test_a_compressor_without_coverage_after_it_leaves_the_cut_unknown(tmp_path):
    scores = {"m": {"accuracy": RIGHT, "coverage": BEFORE}}
    run = written(tmp_path / "a", {"m": {}}, scores, questions=KINDS, reader="direct[compress=similarity]")
    (row,) = decomposition(run).rows
    assert row["cut"] is None and row["reasoning_share_read"] is None and row["reasoning"] == 2
    run = written(tmp_path / "b", {"m": {}}, scores, questions=KINDS)
    (row,) = decomposition(run).rows
    assert row["cut"] == 0 and row["reasoning_share_read"] == row["reasoning_share"] == 0.5


def test_covered_only_averages_over_the_covered(counted):
    first, second = covered_only(counted, measures=("accuracy", "f1")).rows
    assert (first["n"], first["value"]) == (8, 3 / 8)
    assert (first["covered_n"], first["covered"]) == (4, 0.5) and (first["read_n"], first["read"]) == (2, 0.5)
    assert second["value"] == second["covered"] == second["read"] == 0.5
