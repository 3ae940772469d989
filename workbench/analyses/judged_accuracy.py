"""Accuracy as a judge sees it, and refusals, over the questions that have an answer and those that have none
(Youtu-GraphRAG, arXiv 2508.19855: "top-20 accuracy" in the modes `open` and `reject`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.analyses.base import Analysis, Runs, asked, of_runs
from workbench.analyses.win_rate import binomial_interval
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.llm.engine import Engine, engine
from workbench.measures.abstained import is_abstention
from workbench.records import Question
from workbench.steps import judge_answer


@dataclass(frozen=True, slots=True, repr=False)
class JudgedAccuracy(Analysis):
    """Rows: reader, method, over (answerable, unanswerable), n, accuracy, low, high (95 %, binomial), refused, failures
    (of the judge; n includes none of them).

    `judgements`: reader, method, question_id, verdict (1, 0, None: not judged), failure."""

    judgements: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)


def judged_accuracy(runs: Runs, judge: Engine | str, methods: Iterable[str] | None = None) -> JudgedAccuracy:
    """The share of answers that `judge` finds right, in a run, several, or a grid.

    Refusals and failed questions are wrong without a request; of a question without gold answer, a refusal is right
    and anything else wrong. Nothing is written; a recording engine repeats no request. The rules cannot judge."""
    judge = engine(judge)
    if judge.name == "rules":
        raise SettingError("rules cannot judge whether an answer is right; pass a model, such as openai:gpt-4.1")
    rows, judgements = [], []
    for label, run, method in of_runs(runs, methods):
        mine = _judged(run, method, judge)
        judgements += [{"reader": label, "method": method, **one} for one in mine]
        rows += [{"reader": label, "method": method, **row} for row in _rows(mine)]
    notes = (f"Judged by {judge.name}; refusals are wrong where there is an answer, and right where there is none.",)
    return JudgedAccuracy("judged accuracy", tuple(rows), notes, tuple(judgements), draw="judged_accuracy")


def _judged(run: Run, method: str, judge: Engine) -> list[dict[str, Any]]:
    """One judgement a question, in the order of the run."""
    if run.config["reader"] is None:
        raise SettingError(f"nobody read in the run {run.folder}; make it with a reader: wb.evaluate(…, wb.reader(…))")
    gold = asked(run)
    found = [_unjudged(gold[row["question_id"]], row) for row in run.rows if row["method"] == method]
    left = [(one, row) for one, row in found if one["verdict"] is None]
    inputs = [
        judge_answer.Input(gold[one["question_id"]].question, gold[one["question_id"]].answers, row["answer"])
        for one, row in left
    ]
    for (one, _), result in zip(left, judge.run(judge_answer.STEP, inputs)):
        one |= {"verdict": result.value and result.value.verdict, "failure": result.failure}
    return [one for one, _ in found]


def _unjudged(question: Question, row: Mapping) -> tuple[dict[str, Any], Mapping]:
    """A judgement with the verdict that needs no judge, if there is one."""
    flawed = bool(row.get("reading") and row["reading"]["flaw"])
    lost = row["failure"] is not None or (flawed and not row["answer"])  # wrong, and no refusal
    refused = not lost and (row["abstained"] or is_abstention(row["answer"]))
    left = bool(question.answers) and not lost and not refused
    verdict = None if left else int(refused and not question.answers)
    over = "answerable" if question.answers else "unanswerable"
    return {"question_id": question.id, "over": over, "refused": refused, "verdict": verdict, "failure": None}, row


def _rows(judgements: Sequence[Mapping]) -> Iterator[dict[str, Any]]:
    for over in ("answerable", "unanswerable"):
        mine = [one for one in judgements if one["over"] == over]
        valid = [one for one in mine if not one["failure"]]
        if mine:
            right = sum(one["verdict"] for one in valid)
            low, high = binomial_interval(right, len(valid)) if valid else (None, None)
            yield {
                "over": over, "n": len(valid), "accuracy": right / len(valid) if valid else None, "low": low,
                "high": high, "refused": sum(one["refused"] for one in mine) / len(mine),
                "failures": len(mine) - len(valid),
            }  # fmt: skip
