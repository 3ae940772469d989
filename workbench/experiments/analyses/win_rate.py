"""How often a judge prefers one method's answers to another's (DotRAG, Tables 1 and 3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

from workbench.errors import SettingError
from workbench.experiments.analyses.base import Analysis, asked, cautions, known_methods
from workbench.experiments.blinding import blinded
from workbench.experiments.run import Run
from workbench.llm.engine import Engine, engine
from workbench.llm.step import Result
from workbench.records import Question
from workbench.steps import judge_pair

if TYPE_CHECKING:
    from workbench.views.figures import Picture

DIMENSIONS = tuple(judge_pair.Output.model_fields)


@dataclass(frozen=True, slots=True, repr=False)
class WinRate(Analysis):
    """Rows: hops (None: all questions), dimension, n (comparisons), win_rate (of `a`), low, high (95 %, binomial),
    failures (comparisons on which the judge failed), unanswered (questions on which a method failed); n includes
    neither.

    `judgements`: question_id, hops, a_first (whether the answer of `a` was shown first), winners (dimension → "a" or
    "b"), reasons (dimension → text), failure; two of a question where both orders were asked."""

    a: str = ""
    b: str = ""
    judgements: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)


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
) -> WinRate:
    """Show both answers to each question to the judge, without citations and names of methods, and count.

    The order of the two answers is random, determined by `seed`, question and `method_b`. With `both_orders`, each pair
    is judged twice, and each side gets half a win if the verdicts disagree. Failures of the judge are excluded and
    counted. Nothing is written; a recording engine repeats no request. `judge` should be a model other than the one
    that answered; the rules cannot judge."""
    judge = engine(judge)
    if judge.name == "rules":
        raise SettingError("rules cannot judge which of two answers is better; pass a model, such as openai:gpt-4.1")
    known_methods(run_a, [method_a]), known_methods(run_b, [method_b])
    if run_a.config["questions"] != run_b.config["questions"]:
        raise SettingError(f"the runs {run_a.folder} and {run_b.folder} were asked different questions")
    gold = asked(run_a, questions)
    names = {name for run, method in ((run_a, method_a), (run_b, method_b)) for name in _names(run, method)}
    ours, theirs = _answers(run_a, method_a, names), _answers(run_b, method_b, names)
    shown = [
        (question, a_first)
        for one, question in gold.items()
        if one in ours and one in theirs
        for a_first in ((True, False) if both_orders else (_coin(seed, one, method_b),))
    ]
    inputs = [
        judge_pair.Input(one.question, *(ours[one.id], theirs[one.id])[:: 1 if a_first else -1])
        for one, a_first in shown
    ]
    results = judge.run(judge_pair.STEP, inputs)
    judgements = [_judgement(*what, result) for what, result in zip(shown, results)]
    hops = sorted({question.hops for question in gold.values()} - {None})
    rows = [
        row
        for group in (None, *(hops if len(hops) > 1 else ()))
        for row in _rows(group, [question for question in gold.values() if group in (None, question.hops)], judgements)
    ]
    return WinRate(
        f"{method_a} against {method_b}", tuple(rows),
        (*cautions(run_a), *_notes(run_a, run_b, judge, judgements, both_orders, seed)),
        method_a, method_b, tuple(judgements), draw=figure,
    )  # fmt: skip


def binomial_interval(wins: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; conservative for half wins.

    >>> [round(end, 3) for end in binomial_interval(150, 300)], [round(end, 3) for end in binomial_interval(10, 10)]
    ([0.444, 0.556], [0.722, 1.0])
    """
    z, share = 1.959964, wins / n
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), min(1.0, (middle + half) / (1 + z * z / n))


def _coin(seed: int, question: str, baseline: str) -> bool:
    return bool(hashlib.sha256(json.dumps([seed, question, baseline]).encode()).digest()[0] & 1)


def _judgement(question: Question, a_first: bool, result: Result) -> dict[str, Any]:
    verdicts = result.value.model_dump() if result.value else {}
    return {
        "question_id": question.id, "hops": question.hops, "a_first": a_first,
        "winners": {name: "a" if (one["winner"] == 1) == a_first else "b" for name, one in verdicts.items()},
        "reasons": {name: one["reason"] for name, one in verdicts.items()}, "failure": result.failure,
    }  # fmt: skip


def _rows(hops: int | None, questions: Sequence[Question], judgements: Sequence[Mapping]) -> Iterator[dict]:
    judged: dict[str, list[Mapping]] = {}
    for one in judgements:
        judged.setdefault(one["question_id"], []).append(one)
    mine = [judged[question.id] for question in questions if question.id in judged]
    whole = [ones for ones in mine if not any(one["failure"] for one in ones)]
    for dimension in DIMENSIONS:
        wins = sum(sum(one["winners"][dimension] == "a" for one in ones) / len(ones) for ones in whole)
        low, high = binomial_interval(wins, len(whole)) if whole else (None, None)
        yield {
            "hops": hops, "dimension": dimension, "n": len(whole), "win_rate": wins / len(whole) if whole else None,
            "low": low, "high": high, "failures": len(mine) - len(whole), "unanswered": len(questions) - len(mine),
        }  # fmt: skip


def _notes(
    run_a: Run, run_b: Run, judge: Engine, judgements: Sequence[Mapping], both_orders: bool, seed: int
) -> Iterator[str]:
    order = "each pair in both orders" if both_orders else f"the order by a coin of seed {seed}"
    yield f"Judged by {judge.name}, {order}."
    if any(judge.name in run.config["engine"].split(", ") for run in (run_a, run_b)):
        yield "The judge is a model that answered: it may favour itself."
    if valid := [one for one in judgements if not one["failure"]]:
        first = sum((one["winners"]["overall"] == "a") == one["a_first"] for one in valid)
        yield f"The answer shown first won {first:,} of {len(valid):,} comparisons overall."
    if failed := [one["failure"] for one in judgements if one["failure"]]:
        yield f"The judge failed on {len(failed):,} comparisons; the first time: {failed[0]}"


_COMMON_WORDS = {"dense"}  # names of methods that an answer may hold for another reason


def _names(run: Run, method: str) -> set[str]:
    """The names by which an answer could mention a method: its name in the run, its SPEC, the method's own name."""
    label = run.config["methods"][method]["label"]
    return {method, label, label.partition("[")[0]} - _COMMON_WORDS


def _answers(run: Run, method: str, names: Collection[str]) -> dict[str, str]:
    """Question id → answer, without the failed questions."""
    if run.config["reader"] is None:
        raise SettingError(f"nobody read in the run {run.folder}; make it with a reader: wb.evaluate(…, wb.reader(…))")
    return {
        row["question_id"]: blinded(row["answer"] or "", {one for one, _ in row["ranking"]}, names)
        for row in run.rows
        if row["method"] == method and row["failure"] is None
    }


def figure(rates: WinRate) -> Picture:
    """The rate in each dimension over all questions, with its interval."""
    from workbench.views import charts

    mine = [row for row in rates.rows if row["hops"] is None]
    canvas, axes = charts.canvas(6.0, 1.2 + 0.36 * max(1, len(mine)))
    for at, row in enumerate(mine):
        if row["win_rate"] is not None:
            axes.plot([row["low"], row["high"]], [at, at], color=charts.BLUE)
            axes.plot([row["win_rate"]], [at], color=charts.BLUE, marker="o")
    axes.axvline(0.5, color=charts.GREY, linewidth=0.8)
    charts.rows(axes, (f"{row['dimension']}  (n={row['n']})" for row in mine), 40)
    axes.set(xlim=(0, 1), xlabel="share of comparisons won, with 95 % interval")
    charts.titled(axes, rates.title)
    return charts.picture(canvas, rates.title)
