"""Pairs of answers before a judge: what it is shown, who won, and its judgements on disk.

A judgement is known by what was compared, answers included, so it stands for these answers only: after a method or a
reader has changed, the pair is judged anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import SettingError
from workbench.experiments.blinding import blinded
from workbench.experiments.run import Run
from workbench.index.journal import Journal, defect, maker, read, request_key
from workbench.llm.engine import Engine
from workbench.llm.step import Result
from workbench.records import Question
from workbench.steps import judge_pair, objecting

DIMENSIONS = tuple(judge_pair.Output.model_fields)
FILE = "judgements.jsonl"  # in the folder of a run
RETRIES = 2  # of a reply that cannot be read
_COMMON_WORDS = {"dense"}  # names of methods that an answer may hold for another reason


class Pair(NamedTuple):
    """Two answers to a question, those of `a` and `b`, in the order in which they are shown."""

    question: Question
    a: str
    b: str
    a_first: bool
    shown: judge_pair.Input

    @property
    def key(self) -> str:
        return request_key(self.a, self.b, self.question.id, self.a_first, asdict(self.shown))

    @property
    def answers(self) -> dict[str, str]:
        """By side, as the judge saw them."""
        shown = (self.shown.answer_1, self.shown.answer_2)
        return dict(zip("ab", shown if self.a_first else shown[::-1]))


class Judgement(NamedTuple):
    """What a judge said of a pair, a line on disk. `output`: dimension → winner (1 or 2, by place) and reason; None
    with a `failure`."""

    key: str
    made_by: str
    failure: str | None
    flaw: str | None
    a: str
    b: str
    question_id: str
    a_first: bool
    output: Mapping[str, Mapping[str, Any]] | None

    defects = property(lambda self: (self.flaw,) if self.flaw else ())

    def row(self) -> dict[str, Any]:
        return self._asdict()

    @property
    def winners(self) -> dict[str, str]:
        """Dimension → "a" or "b", wherever they stood; empty with a failure."""
        said = self.output or {}
        return {name: "a" if (one["winner"] == 1) == self.a_first else "b" for name, one in said.items()}

    @property
    def reasons(self) -> dict[str, str]:
        return {name: one["reason"] for name, one in (self.output or {}).items()}


def pairs_of(
    run_a: Run,
    method_a: str,
    run_b: Run,
    method_b: str,
    questions: Iterable[Question],
    orders: int | None,
    seed: int = 0,
) -> list[Pair]:
    """The pairs of the questions that both have answered, without citations and names of methods. `orders`: 2 for both
    of each pair; 1 for one, by a coin of `seed`, question and `method_b`."""
    names = {name for run, method in ((run_a, method_a), (run_b, method_b)) for name in _names(run, method)}
    ours, theirs = _answers(run_a, method_a, names), _answers(run_b, method_b, names)
    return [
        paired(one, method_a, method_b, ours[one.id], theirs[one.id], a_first)
        for one in questions
        if one.id in ours and one.id in theirs
        for a_first in ((True, False) if orders == 2 else (_coin(seed, one.id, method_b),))
    ]


def paired(question: Question, a: str, b: str, ours: str, theirs: str, a_first: bool) -> Pair:
    answers = (ours, theirs) if a_first else (theirs, ours)
    return Pair(question, a, b, a_first, judge_pair.Input(question.question, *answers))


def judged(
    judge: Engine, pairs: Sequence[Pair], *, folder: Path | None = None, progress: bool = False
) -> list[Judgement]:
    """A judgement per pair. With a `folder`, each is written there as soon as it is made, and none that stands there by
    the same judge is asked for again, unless it failed."""
    by_key = {pair.key: pair for pair in pairs}
    made_by = maker(judge, judge_pair.STEP)

    def ask(group: Mapping[str, Pair]) -> Iterator[Judgement]:
        inputs = [pair.shown for pair in group.values()]
        results = objecting.ask(judge, judge_pair.STEP, inputs, lambda value, output: "", RETRIES)
        return (_judgement(pair, made_by, result) for pair, result in zip(group.values(), results))

    if folder is None:
        found = {one.key: one for one in ask(by_key)} if by_key else {}
    else:
        path = folder / FILE
        found = Journal(path, _parsed, made_by, part=path, progress=progress).ask(by_key, ask, "judge pairs", "pair")
    return [found[pair.key] for pair in pairs]


def on_disk(run: Run, a: str, b: str) -> tuple[str, list[Judgement]]:
    """(the judge, its judgements) of the answers that two methods of a run have now, of the judge that was asked last;
    nothing where none was."""
    if not (entries := [one for one in _stored(run) if (one.a, one.b) == (a, b)]):
        return "", []
    asked = {pair.key for pair in pairs_of(run, a, run, b, run.questions, 2)}
    last = entries[-1].made_by
    found = {one.key: one for one in entries if one.made_by == last and one.key in asked}
    return last.partition(" (")[0], list(found.values())


def wins(judgements: Iterable[Judgement], dimension: str) -> dict[str, float]:
    """Question id → 1 where `a` won, 0 where `b` did, half where two orders disagree; questions on which the judge
    failed are not in it."""
    by_question: dict[str, list[Judgement]] = {}
    for one in judgements:
        by_question.setdefault(one.question_id, []).append(one)
    return {
        question: sum(one.winners[dimension] == "a" for one in several) / len(several)
        for question, several in by_question.items()
        if not any(one.failure for one in several)
    }


def no_rules(judge: Engine) -> None:
    """Raises :class:`SettingError` for the engine `rules`."""
    if judge.name == "rules":
        raise SettingError("rules cannot judge which of two answers is better; pass a model, such as openai:gpt-4.1")


def _stored(run: Run) -> list[Judgement]:
    return read(run.folder / FILE, _parsed)


def _parsed(row: Mapping[str, Any]) -> Judgement:
    return Judgement(**row)


def _judgement(pair: Pair, made_by: str, result: Result) -> Judgement:
    output = result.value.model_dump() if result.value else None
    of = (pair.a, pair.b, pair.question.id, pair.a_first)
    return Judgement(pair.key, made_by, result.failure, defect(result), *of, output)


def _coin(seed: int, question: str, baseline: str) -> bool:
    return bool(hashlib.sha256(json.dumps([seed, question, baseline]).encode()).digest()[0] & 1)


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
