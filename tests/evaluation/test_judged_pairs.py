"""Pairs before a judge whose bias is known: what the rates and the figures on the judge say of it, a judging that was
stopped, and the whole way from a domain's file to a cell of Table 1."""

from __future__ import annotations

import hashlib
import json

import pytest
from test_analyses import written
from test_views import Checked

import workbench as wb
from workbench.analyses import judge_check, win_rate
from workbench.errors import SettingError
from workbench.evaluation.asking import path_questions
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.pairs import DIMENSIONS, FILE, file_of, on_disk, wins
from workbench.evaluation.run import Run
from workbench.evaluation.significance import bootstrap_interval
from workbench.index import Index
from workbench.llm.call import repeat
from workbench.llm.engine import RulesEngine
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.methods import method
from workbench.papers.tables import NOT_COMPARABLE, tables
from workbench.reading import reader
from workbench.records import Question
from workbench.steps import judge_pair

N, BETTER = 400, 0.7
QUESTIONS = tuple(Question(f"q{at}", f"question {at}?", ("x",)) for at in range(N))


class Biased:
    """Says 1 for a share `bias` of what it is shown, whatever it is, and else that the answer with "good" is better;
    the share is drawn from what is shown, so the same request has the same reply."""

    workers = 1

    def __init__(self, bias=0.0, calls=None, name="openai:biased", fails=()):
        self.bias, self.calls, self.name, self.fails, self.seen, self.meter = bias, calls, name, fails, [], Meter()
        self.repeats = []  # in which each request was made

    def run(self, step, inputs, *, trace=None):
        assert step is judge_pair.STEP
        if self.calls is not None and len(self.seen) + len(inputs) > self.calls:
            raise KeyboardInterrupt("killed")
        self.seen += inputs
        self.repeats += [repeat()] * len(inputs)
        return [self._one(value) for value in inputs]

    def _one(self, value):
        if value.question in self.fails:
            return Result(None, failure="no JSON in it")
        drawn = int.from_bytes(hashlib.sha256(json.dumps([value.answer_1, value.answer_2]).encode()).digest()[:4])
        first = drawn / 2**32 < self.bias or "good" in value.answer_1
        said = {"winner": 1 if first else 2, "reason": f"the {'first' if first else 'second'} <b>it is</b>"}
        return Result(judge_pair.Output(**{name: said for name in DIMENSIONS}), parse="strict")


def planted(folder, n=N, better=BETTER) -> Run:
    """`a` has the good answer to the first share of the questions, `b` to the others."""
    methods = {"a": {}, "b": {}}
    run = written(folder, methods, methods, questions=QUESTIONS[:n])
    (run.folder / "results.jsonl").write_text("".join(lines(run.rows, n, better)))
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "questions.jsonl").write_text(
        "".join(json.dumps({"id": one.id, "question": one.question, "answers": ["x"]}) + "\n" for one in QUESTIONS[:n])
    )
    return Run(run.folder)


def lines(rows, n, better, **further):
    """The rows with these answers, as lines."""
    for row in rows:
        at = int(row["question_id"][1:])
        good = (row["method"] == "a") == (at < better * n)
        answer = f"{'good' if good else 'bad'} words about {at} and {row['method']}"
        yield json.dumps(row | {"answer": answer} | further) + "\n"


@pytest.fixture
def run(tmp_path):
    return planted(tmp_path / "run")


def overall(rows):
    return next(row for row in rows if row["dimension"] == "overall")


# -- a judge of known bias --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [0.0, 0.3, 0.8])
def test_in_both_orders_rates_are_right_and_the_bias_is_within_its_interval(run, bias):
    """It says 1 for a share of `bias`; else it is right. So `a` wins a share of (1 - bias) · .7 + bias / 2, and the
    answer shown first one of (1 + bias) / 2. Shown first, the good answer always wins; shown second, with a probability
    of 1 - bias, which is how often both orders agree."""
    found = win_rate(run, "a", run, "b", QUESTIONS, Biased(bias), both_orders=True)
    rate, on_judge = overall(found.rows), overall(found.judge)
    assert rate["n"] == N and rate["low"] <= (1 - bias) * BETTER + bias / 2 <= rate["high"]
    assert on_judge["first_low"] <= (1 + bias) / 2 <= on_judge["first_high"]
    assert on_judge["agreement_low"] <= 1 - bias <= on_judge["agreement_high"]
    assert (on_judge["n"], on_judge["pairs"]) == (2 * N, N)
    assert any("prefers a place" in note for note in found.notes) == (bias > 0)
    assert any("In both orders the same answer won" in note for note in found.notes)


@pytest.mark.parametrize("bias", [0.0, 0.3, 0.8])
def test_in_an_order_by_a_coin_the_intervals_hold_both_nearly_always(run, bias):
    """Of 8 coins, where half a miss is expected of a 95 % interval."""
    found = [win_rate(run, "a", run, "b", QUESTIONS, Biased(bias), seed=seed) for seed in range(8)]
    rates, judges = ([overall(rows) for rows in side] for side in zip(*((one.rows, one.judge) for one in found)))
    assert sum(one["low"] <= (1 - bias) * BETTER + bias / 2 <= one["high"] for one in rates) >= 6
    assert sum(one["first_low"] <= (1 + bias) / 2 <= one["first_high"] for one in judges) >= 6
    assert judges[0]["agreement"] is None and judges[0]["n"] == N


def test_without_a_bias_the_rate_is_the_planted_one_exactly(run):
    found = win_rate(run, "a", run, "b", QUESTIONS, Biased(), both_orders=True)
    assert overall(found.rows)["win_rate"] == BETTER and overall(found.judge)["agreement"] == 1
    assert overall(found.judge)["first_wins"] == 0.5
    assert list(found.tables()) == ["", "The judge"] and len(found.tables()["The judge"]) == len(DIMENSIONS)


def test_what_cannot_be_read_is_asked_twice_more_with_the_reason_and_counted(run):
    judge = Biased(fails={"question 3?", "question 9?"})
    found = win_rate(run, "a", run, "b", QUESTIONS, judge)
    assert overall(found.rows)["failures"] == 2 and overall(found.rows)["n"] == N - 2
    again = [value.objection for value in judge.seen if value.question == "question 3?"]
    assert again == ["", "no JSON in it", "no JSON in it"]


def test_a_check_tells_a_judge_that_reads_from_one_that_does_not(run):
    reads = judge_check(run, "a", Biased(), n=30)
    assert overall(reads.rows)["pairs"] == 30
    good = [one for one in reads.judgements if "good" in one["answers"]["a"] and "good" not in one["answers"]["b"]]
    assert good and all(one["winners"]["overall"] == "a" for one in good)
    blind = overall(judge_check(run, "a", Biased(1.0), n=30).rows)
    assert (blind["right"], blind["first_wins"], blind["agreement"]) == (0.5, 1.0, 0.0)
    for one in reads.judgements:
        assert sorted(one["answers"]["b"].split()) != sorted(one["answers"]["a"].split()), "from another question"
    with pytest.raises(SettingError, match="rules cannot judge"):
        judge_check(run, "a", "rules")


# -- on disk ----------------------------------------------------------------------------------------------------------


def test_judgements_are_written_whole_once_all_are_made(tmp_path):
    run, given = planted(tmp_path / "run", 12), {"questions": QUESTIONS[:12], "both_orders": True, "keep": True}
    with pytest.raises(KeyboardInterrupt):
        win_rate(run, "a", run, "b", judge=Biased(0.3, 8), **given)
    assert not (run.folder / FILE).exists()
    win_rate(run, "a", run, "b", judge=Biased(0.3), **given)
    whole = (run.folder / FILE).read_bytes()
    with (run.folder / FILE).open("a") as torn:
        torn.write('{"key": "half a li')
    win_rate(run, "a", run, "b", judge=Biased(0.3), **given)
    assert (run.folder / FILE).read_bytes() == whole
    win_rate(run, "a", run, "b", judge=Biased(0.3, name="openai:other"), **given)
    both = (run.folder / FILE).read_bytes()
    assert both.startswith(whole) and both.count(b"\n") == 48 and on_disk(run, "a", "b")[0] == "openai:other"


def test_judgements_are_of_the_answers_that_there_are_now(tmp_path):
    run = planted(tmp_path / "run", 12)
    win_rate(run, "a", run, "b", QUESTIONS[:12], Biased(), both_orders=True, keep=True)
    assert len(on_disk(run, "a", "b")[1]) == 24 and on_disk(run, "b", "a") == ("", [])
    rows = [json.dumps(row | {"answer": "new"} if row["question_id"] == "q3" else row) for row in run.rows]
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("\n".join(rows) + "\n")
    judge, left = on_disk(Run(run.folder), "a", "b")
    assert judge == "openai:biased" and len(left) == 22 and "q3" not in {one.question_id for one in left}


# -- repeats ----------------------------------------------------------------------------------------------------------


def repeated(folder, n=N, repeats=3) -> Run:
    """`a` has the good answer to a share of the questions that falls from repeat to repeat: 0.7, 0.6, 0.5 …"""
    run = planted(folder, n)
    with (folder / "results.jsonl").open("a") as results:
        for number in range(1, repeats):
            results.writelines(lines(run.rows, n, BETTER - number / 10, repeat=number))
    write_config(folder, repeats=repeats)
    return Run(run.folder)


def write_config(folder, **changed):
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_each_repeat_is_judged_with_its_seed_and_a_question_counts_by_its_mean(tmp_path):
    run, judge = repeated(tmp_path / "run", 60), Biased()
    found = win_rate(run, "a", run, "b", QUESTIONS[:60], judge, both_orders=True, keep=True)
    row = overall(found.rows)
    assert row["n"] == 60 and row["win_rate"] == pytest.approx(0.6)
    assert [seed for seed in judge.repeats] == [0] * 120 + [1] * 120 + [2] * 120
    per_question = [[1.0] * 3] * 30 + [[1.0, 1.0, 0.0]] * 6 + [[1.0, 0.0, 0.0]] * 6 + [[0.0] * 3] * 18
    assert (row["low"], row["high"]) == bootstrap_interval(per_question)
    assert "Means of 3 repeats, intervals over questions and repeats." in found.notes
    judged = overall(found.judge)
    assert (judged["n"], judged["pairs"], judged["agreement"], judged["first_wins"]) == (360, 180, 1, 0.5)
    assert found.pair("q31").judgements[0]["winners"]["overall"] == "a"
    later = found.pair("q31", repeat=2)
    assert {one["winners"]["overall"] for one in later.judgements} == {"b"} and later.answers["a"].startswith("bad")
    with pytest.raises(SettingError, match="question 'q31' was not judged in repeat 3; there are 0: none"):
        found.pair("q31", repeat=3)


def test_the_judgements_of_repeats_are_in_files_of_their_own(tmp_path):
    whole, alone = repeated(tmp_path / "whole", 8), planted(tmp_path / "alone", 8)
    for run in (whole, alone):
        win_rate(run, "a", run, "b", QUESTIONS[:8], Biased(0.3), both_orders=True, keep=True)
    assert (alone.folder / FILE).read_bytes() == (whole.folder / FILE).read_bytes(), "the first is that without repeats"
    for number in range(3):
        kept = file_of(whole.folder, number).read_bytes()
        assert kept.count(b"\n") == 16 and b'"repeat"' not in kept


def test_the_tables_find_every_judged_repeat(tmp_path):
    run = repeated(tmp_path / "run", 12)
    win_rate(run, "a", run, "b", QUESTIONS[:12], Biased(), both_orders=True, keep=True)
    found = on_disk(run, "a", "b")[1]
    assert {one.repeat for one in found} == {0, 1, 2} and len(found) == 72
    assert {len(values) for values in wins(found, "overall").values()} == {3}
    assert {one.repeat for one in on_disk(Run(run.folder, repeats=2), "a", "b")[1]} == {0, 1}


def test_answers_that_cannot_vary_stand_for_all_repeats(tmp_path):
    """`b` is by rules and has no other repeat; two methods by rules are judged once."""
    run = repeated(tmp_path / "run", 12)
    by_rules = {"label": "b", "layers": {}, "engine": None}
    methods = run.config["methods"]
    write_config(run.folder, methods={**methods, "b": methods["b"] | by_rules}, reading={"engine": None})
    found = win_rate(Run(run.folder), "a", Run(run.folder), "b", QUESTIONS[:12], judge := Biased(), both_orders=True)
    assert len(judge.seen) == 72
    assert {one["answers"]["b"] for one in found.judgements if one["question_id"] == "q7"} == {
        "good words about 7 and the method" if BETTER * 12 <= 7 else "bad words about 7 and the method"
    }
    fixed = {name: one | {"engine": None} for name, one in methods.items()}
    write_config(run.folder, methods=fixed)
    win_rate(Run(run.folder), "a", Run(run.folder), "b", QUESTIONS[:12], judge := Biased(), both_orders=True)
    assert len(judge.seen) == 24


# -- side by side ----------------------------------------------------------------------------------------------------


def test_both_answers_stand_side_by_side_with_the_reasons(run):
    found = win_rate(run, "a", run, "b", QUESTIONS, Biased(), both_orders=True)
    pair = found.pair("q3")
    assert (pair.question, pair.a, pair.b, len(pair.judgements)) == ("question 3?", "a", "b", 2)
    assert pair.answers == {"a": "good words about 3 and the method", "b": "bad words about 3 and the method"}
    shown = pair._repr_html_()
    Checked(shown)
    assert (
        "good words about 3" in shown
        and "the first &lt;b&gt;it is&lt;/b&gt;" in shown
        and "won overall 2 of 2" in shown
    )
    assert "prefers-color-scheme" not in shown and "var(--jp-" in shown, "the colours of the theme"
    said = repr(pair)
    assert "a won overall" in said and "shown first" in said and said.count("coherence") == 2
    assert found.pair().question_id == f"q{int(BETTER * N)}", "the first that was lost"
    with pytest.raises(SettingError, match="question 'q999' was not judged; there are 400: q0, q1"):
        found.pair("q999")
    assert judge_check(run, "a", Biased(), n=3).pair().b == "planted"


# -- the whole way ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def domain(tmp_path_factory):
    """A file as UltraDomain publishes them, of invented books."""
    passages = wb.load("meridian").passages[:18]
    folder = tmp_path_factory.mktemp("domain")
    books = ["\n\n".join(one.content for one in passages[at : at + 6]) for at in (0, 6, 12)]
    rows = [{"input": "?", "context": text, "meta": {"title": f"Book {at}"}} for at, text in enumerate(books, 1)]
    (folder / "cs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.slow
def test_a_domain_from_its_file_to_table_1_with_rules_and_a_scripted_judge(domain, tmp_path):
    data = wb.load(domain)
    layers = ["resolved", "relabelled", "typed"]
    index = Index.build(data, RulesEngine(), tmp_path / "index", layers=layers, progress=False)
    assert "unsure" in {one.name for one in index.typed.schema.entity_types}
    questions = path_questions(index, "rules", tmp_path / "questions", paths=1, each=5, progress=False)
    methods = [method(spec, index) for spec in ("dotrag", "pathrag", "lightrag", "lightrag[mode=naive]")]
    run = evaluate(questions, methods, reader("essay"), tmp_path / "run", measures=["abstained"], k=5, progress=False)
    assert len(run.rows) == 20 and {*run.config["methods"]["dotrag"]["layers"]} >= {"resolved", "relabelled"}
    answers = [row["answer"] for row in run.rows if row["answer"]]
    assert answers and all("By rules" in answer for answer in answers)
    for other in ("pathrag", "lightrag", "lightrag[mode=naive]"):
        win_rate(run, "dotrag", run, other, run.questions, Biased(0.5), both_orders=True, keep=True)
    found = tables("dotrag", [run])
    cells = [cell for cell in found.cells if cell.table == "1" and cell.ours is not None]
    assert {(cell.method, cell.data) for cell in cells} == {
        (f"DotRAG over {name}", "ultradomain cs") for name in ("PathRAG", "LightRAG", "TradRAG")
    }
    assert len(cells) == 15 and all(cell.n == 5 and 0 <= cell.ours <= 1 for cell in cells)
    assert {cell.verdict for cell in cells} == {NOT_COMPARABLE}
    why = "; ".join(cells[0].why)
    assert "judge: openai:biased, there gpt-4.1" in why and "reader's model: rules, there gpt-4o-mini" in why
    assert any(
        note.startswith("dotrag against pathrag, judged by openai:biased: The answer shown") for note in found.notes
    )
