"""Pairs of answers before a judge: the judge's input, the winner, the judgements in the folder of a run, and two
answers to a question side by side.

A judgement is known by what was compared, answers included, so it stands for these answers only: after a method or a
reader has changed, the pair is judged anew. What saves requests is the recording of the judge."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby, repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.index.journal import defect, lines, maker, read, request_key
from workbench.llm.call import repeating
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import Engine
from workbench.llm.step import Result
from workbench.places import write_atomically
from workbench.records import Answer, Question, Record
from workbench.steps import judge_pair, retrying

DIMENSIONS = tuple(judge_pair.Output.model_fields)
FILE = "judgements.jsonl"  # in the folder of a run
RETRIES = 2  # of a reply that cannot be read
COMMON_WORDS = {"dense"}  # names of methods that an answer may hold for another reason


class Pair(NamedTuple):
    """Two answers to a question, those of `a` and `b`, in the order in which they are shown, in a repeat."""

    question: Question
    a: str
    b: str
    a_first: bool
    judged: judge_pair.Input
    repeat: int = 0

    @property
    def key(self) -> str:
        return request_key(self.a, self.b, self.question.id, self.a_first, asdict(self.judged))

    @property
    def answers(self) -> dict[str, str]:
        """By side, as the judge saw them."""
        both = (self.judged.answer_1, self.judged.answer_2)
        return dict(zip("ab", both if self.a_first else both[::-1]))


class Judgement(NamedTuple):
    """What a judge said of a pair, a line on disk. `output`: dimension → winner (1 or 2, by place) and reason; None
    with a `failure`. The file of a line says of which `repeat` it is."""

    key: str
    made_by: str
    failure: str | None
    flaw: str | None
    a: str
    b: str
    question_id: str
    a_first: bool
    output: Mapping[str, Mapping[str, Any]] | None
    repeat: int = 0

    defects = property(lambda self: (self.flaw,) if self.flaw else ())

    def row(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if name != "repeat"}

    @property
    def judge(self) -> str:
        return self.made_by.partition(" (")[0]

    @property
    def winners(self) -> dict[str, str]:
        """Dimension → "a" or "b", independent of the order of the answers; empty with a failure."""
        output = self.output or {}
        return {name: "a" if (verdict["winner"] == 1) == self.a_first else "b" for name, verdict in output.items()}

    @property
    def reasons(self) -> dict[str, str]:
        return {name: verdict["reason"] for name, verdict in (self.output or {}).items()}


def row_of(pair: Pair, judgement: Judgement) -> dict[str, Any]:
    """A judgement as analyses and views have it."""
    return {
        "question_id": pair.question.id, "question": pair.question.question, "hops": pair.question.hops,
        "repeat": pair.repeat, "judge": judgement.judge, "a_first": pair.a_first, "answers": pair.answers,
        "winners": judgement.winners, "reasons": judgement.reasons, "failure": judgement.failure,
    }  # fmt: skip


def pairs_of(
    run_a: Run,
    method_a: str,
    run_b: Run,
    method_b: str,
    questions: Iterable[Question],
    orders: int | None,
    seed: int = 0,
) -> list[Pair]:
    """The pairs of the questions that both have answered, without citations and names of methods; of each repeat that
    both have. `orders`: 2 for both of each pair; 1 for one, by a coin of `seed`, repeat, question and `method_b`."""
    names = {name for run, method in ((run_a, method_a), (run_b, method_b)) for name in names_of(run, method)}
    selected, pairs = list(questions), []
    for number, (first, second) in enumerate(repeats_of((run_a, method_a), (run_b, method_b))):
        ours, theirs = answers_of(first, method_a, names, selected), answers_of(second, method_b, names, selected)
        pairs += [
            paired(question, method_a, method_b, ours[question.id], theirs[question.id], a_first)._replace(
                repeat=number
            )
            for question in selected
            if question.id in ours and question.id in theirs
            for a_first in ((True, False) if orders == 2 else (_coin(seed + number, question.id, method_b),))
        ]
    return pairs


def repeats_of(*sides: tuple[Run, str]) -> list[tuple[Run, ...]]:
    """The runs of both sides in each repeat: of a side whose answers cannot vary always the first, and of two such
    sides no other repeat."""
    fixed = [run.deterministic(method) for run, method in sides]
    if all(fixed):
        return [tuple(run for run, _ in sides)]
    return list(zip(*(repeat(run) if still else run.repeated for still, (run, _) in zip(fixed, sides))))


def paired(question: Question, a: str, b: str, ours: str, theirs: str, a_first: bool) -> Pair:
    answers = (ours, theirs) if a_first else (theirs, ours)
    return Pair(question, a, b, a_first, judge_pair.Input(question.question, *answers))


def judged(
    judge: Engine, pairs: Sequence[Pair], *, folder: Path | None = None, progress: bool = False
) -> list[Judgement]:
    """A judgement per pair, those of a repeat with its seed. With the `folder` of a run, they are written there
    once all are made; each replaces one of the same judge and pair."""
    made_by, deferrals, judgements = maker(judge, judge_pair.STEP), Deferrals(), list[Judgement]()
    for number, group in groupby(pairs, attrgetter("repeat")):
        mine, label = list(group), f"judge pairs of repeat {number}" if number else "judge pairs"
        with deferrals, repeating(number):
            inputs = [pair.judged for pair in mine]
            results = retrying.ask_in_groups(
                judge, judge_pair.STEP, inputs, lambda value, output: "", RETRIES, label=label, progress=progress
            )
            judgements += (_judgement(pair, made_by, result) for pair, result in zip(mine, results))
    deferrals.end()
    if folder is not None:
        for number, group in groupby(judgements, attrgetter("repeat")):
            _keep(file_of(folder, number), list(group), number)
    return judgements


def _keep(path: Path, judgements: Sequence[Judgement], number: int) -> None:
    again = {(judgement.key, judgement.made_by) for judgement in judgements}
    on_file = read(path, partial(_parsed, number=number))
    before = (judgement for judgement in on_file if (judgement.key, judgement.made_by) not in again)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lines(judgement.row() for judgement in (*before, *judgements)))


def on_disk(run: Run, a: str, b: str) -> tuple[str, list[Judgement]]:
    """(the judge, its judgements) of the current answers of two methods of a run, in all repeats, by the most recent
    judge; empty without one."""
    if not (standing := standing_of(run, a, b)):
        return "", []
    wanted = {(pair.repeat, pair.key) for pair in pairs_of(run, a, run, b, run.questions, 2)}
    return next(iter(standing.values())).judge, [judgement for place, judgement in standing.items() if place in wanted]


def standing_of(run: Run, a: str, b: str) -> dict[tuple[int, str], Judgement]:
    """(repeat, key) → the last judgement by the most recent judge, which is the judge of the first repeat."""
    entries = [entry for entry in _stored(run) if (entry.a, entry.b) == (a, b)]
    last = next((entry.made_by for entry in reversed(entries) if not entry.repeat), None)
    return {(entry.repeat, entry.key): entry for entry in entries if entry.made_by == last}


def wins(judgements: Iterable[Judgement], dimension: str) -> dict[str, list[float]]:
    """Question id → for each repeat 1 where `a` won, 0 where `b` did, half where two orders disagree; without repeats
    on which the judge failed, and questions that have no other."""
    shares: dict[str, list[float]] = {}
    for (question, _), several in by_comparison(judgements).items():
        if not any(judgement.failure for judgement in several):
            won = sum(judgement.winners[dimension] == "a" for judgement in several) / len(several)
            shares.setdefault(question, []).append(won)
    return shares


def by_comparison(judgements: Iterable[Judgement]) -> dict[tuple[str, int], list[Judgement]]:
    """(question id, repeat) → its judgements, one for each order."""
    groups: dict[tuple[str, int], list[Judgement]] = {}
    for judgement in judgements:
        groups.setdefault((judgement.question_id, judgement.repeat), []).append(judgement)
    return groups


def said_of_failures(run: Run, judgements: Sequence[Judgement]) -> Iterator[str]:
    """How many judgements failed, the files that hold them, and the first failure."""
    if failed := [judgement for judgement in judgements if judgement.failure]:
        files = dict.fromkeys(str(file_of(run.folder, judgement.repeat)) for judgement in failed)
        yield (
            f"The judge failed on {len(failed):,} of {len(judgements):,} comparisons ({', '.join(files)}); the first "
            f"time: {failed[0].failure}"
        )


def no_rules(judge: Engine) -> None:
    """Raises :class:`SettingError` for the engine `rules`."""
    if judge.name == "rules":
        raise SettingError("rules cannot judge which of two answers is better; pass a model, such as openai:gpt-4.1")


def _stored(run: Run) -> list[Judgement]:
    files = (file_of(run.folder, number) for number in range(run.repeats))
    return [judgement for number, file in enumerate(files) for judgement in read(file, partial(_parsed, number=number))]


def file_of(folder: Path, repeat: int) -> Path:
    """The judgements of a repeat of a run."""
    return folder / (f"judgements-{repeat}.jsonl" if repeat else FILE)


def _parsed(row: Mapping[str, Any], number: int) -> Judgement:
    return Judgement(**row, repeat=number)


def _judgement(pair: Pair, made_by: str, result: Result) -> Judgement:
    output = result.value.model_dump() if result.value else None
    of = (pair.a, pair.b, pair.question.id, pair.a_first)
    return Judgement(pair.key, made_by, result.failure, defect(result), *of, output, pair.repeat)


def _coin(seed: int, question: str, baseline: str) -> bool:
    return bool(hashlib.sha256(json.dumps([seed, question, baseline]).encode()).digest()[0] & 1)


def names_of(run: Run, method: str) -> set[str]:
    """The names by which an answer could mention a method: its name in the run, its SPEC, the method's own name."""
    label = run.config["methods"][method]["label"]
    return {method, label, label.partition("[")[0]} - COMMON_WORDS


def answers_of(run: Run, method: str, names: Collection[str], questions: Iterable[Question]) -> dict[str, str]:
    """Question id → answer, without the failed questions."""
    if run.config["reader"] is None:
        raise SettingError(f"the run {run.folder} has no answers; evaluate with a reader: wb.evaluate(…, wb.reader(…))")
    ids = {question.id for question in questions}
    return {
        row["question_id"]: blinded(row["answer"] or "", {passage for passage, _ in row["ranking"]}, names)
        for row in run.rows
        if row["method"] == method and row["failure"] is None and row["question_id"] in ids
    }


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
        return [judgement["failure"] for judgement in self.judgements if judgement["failure"]]


def side_by_side(
    judgements: Sequence[Mapping[str, Any]], a: str, b: str, question_id: str | None, number: int = 0
) -> ComparedAnswers:
    """The answers to one question, by default to the first that `b` won overall, or to the first of all, in the repeat
    of a number. `judgements` are those of an analysis. Raises :class:`SettingError` for a question that was not
    judged."""
    judged_ = [judgement for judgement in judgements if judgement["repeat"] == number]
    ids = dict.fromkeys(judgement["question_id"] for judgement in judged_)
    lost = (judgement["question_id"] for judgement in judged_ if judgement["winners"].get("overall") == "b")
    chosen = next(lost, next(iter(ids), None)) if question_id is None else question_id
    mine = tuple(judgement for judgement in judged_ if judgement["question_id"] == chosen)
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
        raise SettingError(f"{a} and {b} have no repeat {number}; choose one from 0 to {len(repeats) - 1}")
    for first, second, seen in ((a, b, dict), (b, a, _mirrored)):
        judgements = standing_of(run, first, second)
        pairs = pairs_of(run, first, run, second, [question], 2) if judgements else []
        mine = [(pair, judgements.get((pair.repeat, pair.key))) for pair in pairs if pair.repeat == number]
        if rows := tuple(seen(row_of(pair, judgement)) for pair, judgement in mine if judgement):
            return ComparedAnswers(question.id, question.question, a, b, rows[0]["answers"], rows)
    names = names_of(run, a) | names_of(run, b)
    sides = zip("ab", repeats[number], (a, b))
    answers = {side: _answer(of, method, names, question) for side, of, method in sides}
    return ComparedAnswers(question.id, question.question, a, b, answers)


def asked_pair(
    question: Question, a: tuple[str, Answer], b: tuple[str, Answer], judge: Engine | None
) -> ComparedAnswers:
    """Two answers, each with the SPEC of its method, and a judge's verdicts on them in both orders; no verdicts without
    a judge, or if an answer failed."""
    names = {name for spec, _ in (a, b) for name in (spec, spec.partition("[")[0])} - COMMON_WORDS
    answers = {
        side: f"failure: {answer.failure}" if answer.failure else blinded(answer.text, answer.passages, names)
        for side, (_, answer) in zip("ab", (a, b))
    }
    methods = a[0], b[0]
    pairs = [paired(question, *methods, answers["a"], answers["b"], first) for first in (True, False)]
    failed = any(answer.failure for _, answer in (a, b))
    judgements = judged(judge, pairs) if judge and not failed else ()
    return ComparedAnswers(question.id, question.question, *methods, answers, tuple(map(row_of, pairs, judgements)))


def _answer(run: Run, method: str, names: Collection[str], question: Question) -> str:
    """As a judge sees it; why there is none of a method that failed."""
    row = next((row for row in run.rows if (row["question_id"], row["method"]) == (question.id, method)), None)
    if row and row["failure"]:
        return f"failure: {row['failure']}"
    return answers_of(run, method, names, [question]).get(question.id, "")


def _mirrored(row: Mapping[str, Any]) -> dict[str, Any]:
    """A judgement with its sides exchanged."""
    other = {"a": "b", "b": "a"}
    return {
        **row,
        "a_first": not row["a_first"],
        "answers": {other[side]: text for side, text in row["answers"].items()},
        "winners": {dimension: other[side] for dimension, side in row["winners"].items()},
    }


# ── answers without traces of their origin, for a blind judge ──

_LIST = re.compile(r"\n[ \t#*_]*(?:references|sources)[ \t*_:]*\n.*", re.IGNORECASE | re.DOTALL)
_SQUARE, _ROUND = re.compile(r"\s?[\[【]([^\[\]【】]{1,300})[\]】]"), re.compile(r"\s?\(([^()]{1,300})\)")
_NUMBERS = re.compile(r"\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*|\d+†.*")
_NAMED = re.compile(
    r"(?:data|report|source|passage|document|chunk|reference|path|entit(?:y|ies)|relationship)s?\s*(?::|#?\d|\(\d).*",
    re.IGNORECASE | re.DOTALL,
)


def blinded(text: str, ids: Collection[str] = (), names: Iterable[str] = ()) -> str:
    """An answer without its citations (numbers in square brackets, names of sources, ids of passages, a final list) and
    with "the method" in place of the names of methods.

    >>> blinded("DotRAG says Orsby [1, 2] (1975) [Data: Reports (7)].\\n\\n### References\\n- [1] x", names=["dotrag"])
    'the method says Orsby (1975).'
    >>> blinded("Jaws [film#1] and [Duel] (passage 3)", ids=["film#1"])
    'Jaws and [Duel]'
    """
    text = _LIST.sub("", f"\n{text}")
    text = _SQUARE.sub(lambda match: "" if _cites(match[1], ids) or _NUMBERS.fullmatch(match[1]) else match[0], text)
    text = _ROUND.sub(lambda match: "" if _cites(match[1], ids) else match[0], text)
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "the method", text, flags=re.IGNORECASE)
    return text.strip()


def _cites(cited: str, ids: Collection[str]) -> bool:
    parts = [part.strip() for part in re.split(r"[,;]", cited)]
    return bool(_NAMED.fullmatch(cited.strip())) or all(part in ids for part in parts)
