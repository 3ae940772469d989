"""Two answers to a question side by side, with what a judge said of them: of an analysis, of a run on disk, or now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import SettingError
from workbench.evaluation.pairs import (
    COMMON_WORDS,
    answers_of,
    blinded,
    judged,
    names_of,
    paired,
    pairs_of,
    repeats_of,
    standing_of,
    told,
)
from workbench.evaluation.run import Run
from workbench.llm.engine import Engine
from workbench.records import Answer, Question, Record


@dataclass(frozen=True, slots=True, repr=False)
class ComparedAnswers(Record):
    """Two answers to a question, by side ("a", "b") as a judge sees them, and what it said of them: a mapping with
    judge, a_first, winners, reasons and failure for each order that was judged; none where nobody judged."""

    question_id: str
    question: str
    a: str
    b: str
    answers: Mapping[str, str]
    judgements: tuple[Mapping[str, Any], ...] = ()

    @property
    def failures(self) -> list[str]:
        return [one["failure"] for one in self.judgements if one["failure"]]


def side_by_side(
    judgements: Sequence[Mapping[str, Any]], a: str, b: str, question_id: str | None, number: int = 0
) -> ComparedAnswers:
    """The answers to one question, by default to the first that `b` won overall, or to the first of all, in the repeat
    of a number. `judgements` are those of an analysis. Raises :class:`SettingError` for a question that was not
    judged."""
    judged_ = [one for one in judgements if one["repeat"] == number]
    ids = dict.fromkeys(one["question_id"] for one in judged_)
    lost = (one["question_id"] for one in judged_ if one["winners"].get("overall") == "b")
    chosen = next(lost, next(iter(ids), None)) if question_id is None else question_id
    mine = tuple(one for one in judged_ if one["question_id"] == chosen)
    if not mine:
        some = ", ".join(list(ids)[:5]) or "none"
        where = f" in repeat {number}" if number else ""
        raise SettingError(f"question {question_id!r} was not judged{where}; there are {len(ids):,}: {some}")
    return ComparedAnswers(mine[0]["question_id"], mine[0]["question"], a, b, mine[0]["answers"], mine)


def kept_pair(run: Run, a: str, b: str, question: Question, number: int = 0) -> ComparedAnswers:
    """The answers of two methods of a run to a question in the repeat of a number, with the judgements on disk: of `a`
    against `b`, or else of `b` against `a`, seen from the other side. In place of an answer stands why a method failed.
    Raises :class:`SettingError` without such a repeat, or without a reader."""
    repeats = repeats_of((run, a), (run, b))
    if not 0 <= number < len(repeats):
        raise SettingError(f"{a} and {b} have no repeat {number}; they have {len(repeats)}, from 0")
    for first, second, seen in ((a, b, dict), (b, a, _mirrored)):
        found = standing_of(run, first, second)
        pairs = pairs_of(run, first, run, second, [question], 2) if found else []
        mine = [(pair, found.get((pair.repeat, pair.key))) for pair in pairs if pair.repeat == number]
        if said := tuple(seen(told(pair, one)) for pair, one in mine if one):
            return ComparedAnswers(question.id, question.question, a, b, said[0]["answers"], said)
    names = names_of(run, a) | names_of(run, b)
    sides = zip("ab", repeats[number], (a, b))
    answers = {side: _answer(of, method, names, question) for side, of, method in sides}
    return ComparedAnswers(question.id, question.question, a, b, answers)


def asked_pair(
    question: Question, a: tuple[str, Answer], b: tuple[str, Answer], judge: Engine | None
) -> ComparedAnswers:
    """Two answers, each with the SPEC of its method, and what a judge says of them now, in both orders; nothing without
    a judge, or where one failed."""
    names = {name for spec, _ in (a, b) for name in (spec, spec.partition("[")[0])} - COMMON_WORDS
    answers = {
        side: f"failure: {one.failure}" if one.failure else blinded(one.text, one.passages, names)
        for side, (_, one) in zip("ab", (a, b))
    }
    methods = a[0], b[0]
    pairs = [paired(question, *methods, answers["a"], answers["b"], first) for first in (True, False)]
    failed = any(one.failure for _, one in (a, b))
    found = judged(judge, pairs) if judge and not failed else ()
    return ComparedAnswers(question.id, question.question, *methods, answers, tuple(map(told, pairs, found)))


def _answer(run: Run, method: str, names: Collection[str], question: Question) -> str:
    """As a judge sees it; why there is none of a method that failed."""
    row = next((one for one in run.rows if (one["question_id"], one["method"]) == (question.id, method)), None)
    if row and row["failure"]:
        return f"failure: {row['failure']}"
    return answers_of(run, method, names, [question]).get(question.id, "")


def _mirrored(said: Mapping[str, Any]) -> dict[str, Any]:
    """A judgement with its sides exchanged."""
    other = {"a": "b", "b": "a"}
    return {
        **said,
        "a_first": not said["a_first"],
        "answers": {other[side]: text for side, text in said["answers"].items()},
        "winners": {dimension: other[side] for dimension, side in said["winners"].items()},
    }
