"""How often a judge prefers one method's answers to another's (DotRAG, Tables 1 and 3), and which place it prefers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import pandas as pd

from workbench.analyses.base import Analysis, asked, cautions, frame_of, known_methods
from workbench.errors import SettingError
from workbench.evaluation.pairs import (
    DIMENSIONS,
    Judgement,
    by_comparison,
    judged,
    no_rules,
    pairs_of,
    told,
    wins,
)
from workbench.evaluation.run import Run
from workbench.evaluation.side_by_side import ComparedAnswers, side_by_side
from workbench.evaluation.significance import FEWEST, bootstrap_interval, mean_of_repeats
from workbench.llm.engine import Engine, engine
from workbench.records import Question


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
    each judgement is written into the folder of `run_a` as it comes (`judgements.jsonl`), none is asked for again, and
    the tables of a paper find them; otherwise nothing is written. `judge` should be a model other than the one that
    answered; the rules cannot judge.

    With repeats, the answers of each are judged, with its seed and, of the two orders, its own coin; their judgements
    are kept in their folders. Answers that cannot vary stand for all repeats of the others, and are judged once if
    neither side's can."""
    judge = engine(judge)
    no_rules(judge)
    known_methods(run_a, [method_a]), known_methods(run_b, [method_b])
    if run_a.config["questions"] != run_b.config["questions"]:
        raise SettingError(f"the runs {run_a.folder} and {run_b.folder} were asked different questions")
    gold = asked(run_a, questions)
    pairs = pairs_of(run_a, method_a, run_b, method_b, gold.values(), 2 if both_orders else 1, seed)
    found = judged(judge, pairs, folder=run_a.folder if keep else None, progress=progress)
    hops = sorted({question.hops for question in gold.values()} - {None})
    rows = [
        row
        for group in (None, *(hops if len(hops) > 1 else ()))
        for row in rates(group, [question for question in gold.values() if group in (None, question.hops)], found)
    ]
    return WinRate(
        f"{method_a} against {method_b}", tuple(rows),
        (*cautions(run_a), *_notes(run_a, run_b, judge, found, both_orders, seed)),
        method_a, method_b, tuple(map(told, pairs, found)), tuple(on_judge(found)), draw="win_rate",
    )  # fmt: skip


def on_judge(found: Sequence[Judgement]) -> Iterator[dict[str, Any]]:
    """The rows on the judge of its judgements; the unit of the intervals is the question, with the mean over its
    repeats."""
    valid = {place: [one for one in several if not one.failure] for place, several in by_comparison(found).items()}
    for dimension in DIMENSIONS if any(valid.values()) else ():
        first: dict[str, list[float]] = {}
        agreed: dict[str, list[float]] = {}
        for (question, _), several in valid.items():
            winners = [one.winners[dimension] for one in several]
            first_won = [(winner == "a") == one.a_first for winner, one in zip(winners, several)]
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


def rates(hops: int | None, questions: Sequence[Question], found: Sequence[Judgement]) -> Iterator[dict]:
    ids = {question.id for question in questions}
    mine = [one for one in found if one.question_id in ids]
    unanswered = len(ids) - len({one.question_id for one in mine})
    failures = sum(any(one.failure for one in several) for several in by_comparison(mine).values())
    for dimension in DIMENSIONS:
        won = wins(mine, dimension)
        rate, low, high = _share(won)
        yield {
            "hops": hops, "dimension": dimension, "n": len(won), "win_rate": rate, "low": low, "high": high,
            "failures": failures, "unanswered": unanswered,
        }  # fmt: skip


def _notes(
    run_a: Run, run_b: Run, judge: Engine, found: Sequence[Judgement], both_orders: bool, seed: int
) -> Iterator[str]:
    order = "each pair in both orders" if both_orders else f"the order by a coin of seed {seed}"
    yield f"Judged by {judge.name}, {order}."
    if repeats := max((one.repeat for one in found), default=0):
        yield f"Means of {repeats + 1} repeats, intervals over questions and repeats."
    if any(judge.name in run.config["engine"].split(", ") for run in (run_a, run_b)):
        yield "The judge is a model that answered: it may favour itself."
    yield from said_of_judge(found)
    if failed := [one.failure for one in found if one.failure]:
        yield f"The judge failed on {len(failed):,} comparisons; the first time: {failed[0]}"


def said_of_judge(found: Sequence[Judgement]) -> Iterator[str]:
    """What the judgements tell of the judge, overall."""
    valid = [one for one in found if not one.failure]
    row = next((row for row in on_judge(found) if row["dimension"] == "overall"), None)
    if row is None:
        return
    first = sum((one.winners["overall"] == "a") == one.a_first for one in valid)
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
