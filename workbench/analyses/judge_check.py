"""Whether a judge of pairs can be relied on, by pairs of which one answer is plainly worse."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.analyses.base import Analysis, known_methods
from workbench.analyses.win_rate import on_judge, rates
from workbench.evaluation.pairs import Pair, judged, no_rules, paired, pairs_of, told
from workbench.evaluation.run import Run
from workbench.evaluation.side_by_side import ComparedAnswers, side_by_side
from workbench.llm.engine import Engine, engine

PLANTED = 20  # questions of a check
PLANT = "planted"  # what the planted answers are called


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
    found = judged(judge, pairs, folder=run.folder if keep else None, progress=progress)
    rated = {row["dimension"]: row for row in rates(None, [pair.question for pair in pairs[::2]], found)}
    rows = [
        {"dimension": one["dimension"], "right": rated[one["dimension"]]["win_rate"]}
        | {name: rated[one["dimension"]][name] for name in ("low", "high", "failures")}
        | one
        for one in on_judge(found)
    ]
    notes = (f"Judged by {judge.name}: answers of {method} against the words of answers to other questions, shuffled.",)
    return JudgeCheck(f"{judge.name} on planted pairs", tuple(rows), notes, method, tuple(map(told, pairs, found)))


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
        one = answered[at]
        made += [paired(one.question, method, PLANT, one.answers["a"], worse, first) for first in (True, False)]
    return made
