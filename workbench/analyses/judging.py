"""Verdicts of a model as judge: win rates, checks with planted answers, and judged accuracy.

* `win_rate`: how often it prefers one method's answers to another's (DotRAG, Tables 1 and 3), and which place it
  prefers.
* `judge_check`: whether a judge of pairs can be relied on, by pairs of which one answer is plainly worse.
* `judged_accuracy`: accuracy as a judge sees it, and refusals, over the questions that have an answer and those that
  have none (Youtu-GraphRAG, arXiv 2508.19855: "top-20 accuracy" in the modes `open` and `reject`)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import pandas as pd

from workbench.analyses.base import (
    Analysis,
    Runs,
    cautions,
    frame_of,
    known_methods,
    of_runs,
    questions_of,
    same_questions,
)  # fmt: skip
from workbench.errors import SettingError
from workbench.evaluation.pairs import (
    DIMENSIONS,
    ComparedAnswers,
    Judgement,
    Pair,
    by_comparison,
    judged,
    no_rules,
    paired,
    pairs_of,
    row_of,
    side_by_side,
    wins,
)
from workbench.evaluation.run import Run
from workbench.evaluation.significance import FEWEST, bootstrap_interval, mean_of_repeats
from workbench.llm.engine import Engine, engine
from workbench.measures.abstained import is_abstention
from workbench.records import Question
from workbench.steps import judge as judge_step

PLANTED = 20  # questions of a check
PLANT = "planted"  # what the planted answers are called


@dataclass(frozen=True, slots=True, repr=False)
class WinRate(Analysis):
    """Rows: hops (None: all questions), dimension, n (questions), win_rate (of `a`; a question counts by the mean of
    its repeats), low, high (95 %, `interval`), failures (comparisons on which the judge failed), unanswered (questions
    on which a method failed); n includes neither.

    `judge`: rows on the judge itself: dimension, n (comparisons), first_wins (the share won by the answer shown first,
    one half without a bias to a place), first_low, first_high, pairs (in both orders), agreement (the share of these in
    which the same answer won both times), agreement_low, agreement_high.

    `judgements`: question_id, question, hops, repeat, judge (its name), a_first (whether the answer of `a` was shown
    first), answers (side → text), winners (dimension → "a" or "b"), reasons (dimension → text), failure; two of a
    question, and of each of its repeats, where both orders were asked."""

    a: str = ""
    b: str = ""
    judgements: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    judge: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def pair(self, question_id: str | None = None, repeat: int = 0) -> ComparedAnswers:
        """Both answers to a question side by side, with the judge's reasons (`side_by_side`)."""
        return side_by_side(self.judgements, self.a, self.b, question_id, repeat)

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"": self.frame()} | ({"The judge": frame_of(self.judge)} if self.judge else {})


def win_rate(
    run_a: Run,
    method_a: str,
    run_b: Run,
    method_b: str,
    questions: Iterable[Question],
    judge: Engine | str,
    *,
    both_orders: bool = False,
    seed: int = 0,
    keep: bool = False,
    progress: bool = False,
) -> WinRate:
    """Show both answers to each question to the judge, without citations and names of methods, and count.

    The order of the two answers is random, determined by `seed`, question and `method_b`. With `both_orders`, each pair
    is judged twice, and each side gets half a win if the verdicts disagree; only then can the judge's agreement with
    itself be seen. A reply that cannot be read is asked for twice more; failures are excluded and counted. With `keep`,
    the judgements are written into the folder of `run_a` at the end (`judgements.jsonl`), where the tables of a paper
    find them; otherwise nothing is written. No judgement is paid for twice, since the judge's answers are recorded.
    `judge` should be a model other than the one that answered; the rules cannot judge.

    With repeats, the answers of each are judged, with its seed and, of the two orders, its own coin; their judgements
    are kept in their folders. Answers that cannot vary stand for all repeats of the others, and are judged once if
    neither side's can."""
    judge = engine(judge)
    no_rules(judge)
    known_methods(run_a, [method_a]), known_methods(run_b, [method_b])
    same_questions(run_a, run_b)
    gold = questions_of(run_a, questions)
    pairs = pairs_of(run_a, method_a, run_b, method_b, gold.values(), 2 if both_orders else 1, seed)
    judgements = judged(judge, pairs, folder=run_a.folder if keep else None, progress=progress)
    hops = sorted({question.hops for question in gold.values()} - {None})
    rows = [
        row
        for group in (None, *(hops if len(hops) > 1 else ()))
        for row in rates(group, [question for question in gold.values() if group in (None, question.hops)], judgements)
    ]
    return WinRate(
        f"{method_a} against {method_b}", tuple(rows),
        (*cautions(run_a), *_notes(run_a, run_b, judge, judgements, both_orders, seed)),
        method_a, method_b, tuple(map(row_of, pairs, judgements)), tuple(on_judge(judgements)), draw="win_rate",
    )  # fmt: skip


def on_judge(judgements: Sequence[Judgement]) -> Iterator[dict[str, Any]]:
    """The rows on the judge of its judgements; the unit of the intervals is the question, with the mean over its
    repeats."""
    valid = {
        place: [judgement for judgement in several if not judgement.failure]
        for place, several in by_comparison(judgements).items()
    }
    for dimension in DIMENSIONS if any(valid.values()) else ():
        first: dict[str, list[float]] = {}
        agreed: dict[str, list[float]] = {}
        for (question, _), several in valid.items():
            winners = [judgement.winners[dimension] for judgement in several]
            first_won = [(winner == "a") == judgement.a_first for winner, judgement in zip(winners, several)]
            if several:
                first.setdefault(question, []).append(sum(first_won) / len(several))
            if len(several) == 2:
                agreed.setdefault(question, []).append(float(winners[0] == winners[1]))
        yield {
            "dimension": dimension, "n": sum(map(len, valid.values())),
            **dict(zip(("first_wins", "first_low", "first_high"), _share(first))),
            "pairs": sum(map(len, agreed.values())),
            **dict(zip(("agreement", "agreement_low", "agreement_high"), _share(agreed))),
        }  # fmt: skip


def _share(values: Mapping[str, Sequence[float]]) -> tuple[float | None, float | None, float | None]:
    """(share, low, high) of the values of each question's repeats."""
    if not values:
        return None, None, None
    return (sum(map(mean_of_repeats, values.values())) / len(values), *interval(list(values.values())))


def interval(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The 95 % interval of a share over questions, of which each has the values of its repeats: without repeats
    Wilson's; with them that of `bootstrap_interval`, or below its `FEWEST` questions Wilson's of their means, which is
    too wide, since the mean of several varies less than one.

    >>> [round(end, 3) for end in interval([[1.0]] * 10)], [round(end, 3) for end in interval([[1.0, 0.0]] * 300)]
    ([0.722, 1.0], [0.46, 0.54])
    """
    if any(len(value) > 1 for value in values) and len(values) >= FEWEST:
        return bootstrap_interval(values)
    return binomial_interval(sum(map(mean_of_repeats, values)), len(values))


def binomial_interval(wins: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; conservative for half wins.

    >>> [round(end, 3) for end in binomial_interval(150, 300)], [round(end, 3) for end in binomial_interval(10, 10)]
    ([0.444, 0.556], [0.722, 1.0])
    """
    z, share = 1.959964, wins / n
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), min(1.0, (middle + half) / (1 + z * z / n))


def rates(hops: int | None, questions: Sequence[Question], judgements: Sequence[Judgement]) -> Iterator[dict]:
    ids = {question.id for question in questions}
    mine = [judgement for judgement in judgements if judgement.question_id in ids]
    unanswered = len(ids) - len({judgement.question_id for judgement in mine})
    failures = sum(any(judgement.failure for judgement in several) for several in by_comparison(mine).values())
    for dimension in DIMENSIONS:
        won = wins(mine, dimension)
        rate, low, high = _share(won)
        yield {
            "hops": hops, "dimension": dimension, "n": len(won), "win_rate": rate, "low": low, "high": high,
            "failures": failures, "unanswered": unanswered,
        }  # fmt: skip


def _notes(
    run_a: Run, run_b: Run, judge: Engine, judgements: Sequence[Judgement], both_orders: bool, seed: int
) -> Iterator[str]:
    order = "each pair in both orders" if both_orders else f"the order by a coin of seed {seed}"
    yield f"Judged by {judge.name}, {order}."
    if repeats := max((judgement.repeat for judgement in judgements), default=0):
        yield f"Means of {repeats + 1} repeats, intervals over questions and repeats."
    if any(judge.name in run.config["engine"].split(", ") for run in (run_a, run_b)):
        yield "The judge is a model that answered: it may favour itself."
    yield from said_of_judge(judgements)
    if failed := [judgement.failure for judgement in judgements if judgement.failure]:
        yield f"The judge failed on {len(failed):,} comparisons; the first time: {failed[0]}"


def said_of_judge(judgements: Sequence[Judgement]) -> Iterator[str]:
    """What the judgements tell of the judge, overall."""
    valid = [judgement for judgement in judgements if not judgement.failure]
    row = next((row for row in on_judge(judgements) if row["dimension"] == "overall"), None)
    if row is None:
        return
    first = sum((judgement.winners["overall"] == "a") == judgement.a_first for judgement in valid)
    low, high = row["first_low"], row["first_high"]
    leans = "" if low <= 0.5 <= high else ": it prefers a place"
    yield (
        f"The answer shown first won {first:,} of {len(valid):,} comparisons overall (95 %: {low:.2f} to {high:.2f})"
        f"{leans}."
    )
    if row["pairs"]:
        yield (
            f"In both orders the same answer won {row['agreement']:.0%} of {row['pairs']:,} pairs overall (95 %: "
            f"{row['agreement_low']:.2f} to {row['agreement_high']:.2f})."
        )


@dataclass(frozen=True, slots=True, repr=False)
class JudgeCheck(Analysis):
    """Rows: dimension, right (the share of the questions on which the answer itself won, half where only in one order),
    low, high (95 %, binomial), failures, and the columns of `WinRate.judge`. `judgements` as there; "b" is
    the planted answer."""

    a: str = ""
    judgements: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def pair(self, question_id: str | None = None) -> ComparedAnswers:
        """An answer and what was planted against it, side by side, with the judge's reasons (`side_by_side`)."""
        return side_by_side(self.judgements, self.a, PLANT, question_id)


def judge_check(
    run: Run,
    method: str,
    judge: Engine | str,
    *,
    n: int = PLANTED,
    seed: int = 0,
    keep: bool = False,
    progress: bool = False,
) -> JudgeCheck:
    """Whether a judge can be relied on: up to `n` answers of a method, each against a planted one that is plainly worse
    in every dimension, in both orders.

    What is planted are the words of the answer to another question, in random order: not what was asked, and no text.
    A judge that is less than nearly always right here says nothing of answers that are closer to each other."""
    judge = engine(judge)
    no_rules(judge)
    known_methods(run, [method])
    pairs = planted(run, method, n, seed)
    judgements = judged(judge, pairs, folder=run.folder if keep else None, progress=progress)
    rated = {row["dimension"]: row for row in rates(None, [pair.question for pair in pairs[::2]], judgements)}
    rows = [
        {"dimension": row["dimension"], "right": rated[row["dimension"]]["win_rate"]}
        | {name: rated[row["dimension"]][name] for name in ("low", "high", "failures")}
        | row
        for row in on_judge(judgements)
    ]
    notes = (f"Judged by {judge.name}: answers of {method} against the words of answers to other questions, shuffled.",)
    return JudgeCheck(
        f"{judge.name} on planted pairs", tuple(rows), notes, method, tuple(map(row_of, pairs, judgements))
    )


def planted(run: Run, method: str, n: int, seed: int) -> list[Pair]:
    """Pairs of an answer and a planted one, both orders of each next to each other; of the first repeat."""
    pairs = pairs_of(run, method, run, method, run.questions, 1)
    answered = [pair for pair in pairs if pair.answers["a"] and not pair.repeat]
    chance = random.Random(seed)
    chosen = sorted(chance.sample(range(len(answered)), min(n, len(answered)))) if len(answered) > 1 else []
    made = []
    for at in chosen:
        other = answered[(at + chance.randrange(1, len(answered))) % len(answered)].answers["a"].split()
        worse = " ".join(chance.sample(other, len(other)))
        answer_pair = answered[at]
        question, answer = answer_pair.question, answer_pair.answers["a"]
        made += [paired(question, method, PLANT, answer, worse, first) for first in (True, False)]
    return made


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
        judgements += [{"reader": label, "method": method, **row} for row in mine]
        rows += [{"reader": label, "method": method, **row} for row in _accuracies(mine)]
    notes = (f"Judged by {judge.name}; refusals are wrong where there is an answer, and right where there is none.",)
    return JudgedAccuracy("judged accuracy", tuple(rows), notes, tuple(judgements), draw="judged_accuracy")


def _judged(run: Run, method: str, judge: Engine) -> list[dict[str, Any]]:
    """One judgement a question, in the order of the run."""
    if run.config["reader"] is None:
        raise SettingError(f"the run {run.folder} has no answers; evaluate with a reader: wb.evaluate(…, wb.reader(…))")
    gold = questions_of(run)
    rows = [_unjudged(gold[row["question_id"]], row) for row in run.rows if row["method"] == method]
    left = [(verdict_row, row) for verdict_row, row in rows if verdict_row["verdict"] is None]
    inputs = [
        judge_step.Input(
            gold[verdict_row["question_id"]].question, gold[verdict_row["question_id"]].answers, row["answer"]
        )
        for verdict_row, row in left
    ]
    for (verdict_row, _), result in zip(left, judge.run(judge_step.DIGIT, inputs)):
        verdict_row |= {"verdict": result.value and result.value.verdict, "failure": result.failure}
    return [row for row, _ in rows]


def _unjudged(question: Question, row: Mapping) -> tuple[dict[str, Any], Mapping]:
    """A judgement with a verdict that needs no judge, if there is one."""
    flawed = bool(row.get("reading") and row["reading"]["flaw"])
    lost = row["failure"] is not None or (flawed and not row["answer"])  # wrong, and no refusal
    refused = not lost and (row["abstained"] or is_abstention(row["answer"]))
    left = bool(question.answers) and not lost and not refused
    verdict = None if left else int(refused and not question.answers)
    over = "answerable" if question.answers else "unanswerable"
    return {"question_id": question.id, "over": over, "refused": refused, "verdict": verdict, "failure": None}, row


def _accuracies(judgements: Sequence[Mapping]) -> Iterator[dict[str, Any]]:
    for over in ("answerable", "unanswerable"):
        mine = [judgement for judgement in judgements if judgement["over"] == over]
        valid = [row for row in mine if not row["failure"]]
        if mine:
            right = sum(row["verdict"] for row in valid)
            low, high = binomial_interval(right, len(valid)) if valid else (None, None)
            yield {
                "over": over, "n": len(valid), "accuracy": right / len(valid) if valid else None, "low": low,
                "high": high, "refused": sum(row["refused"] for row in mine) / len(mine),
                "failures": len(mine) - len(valid),
            }  # fmt: skip
