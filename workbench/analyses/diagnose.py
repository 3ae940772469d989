"""The likely cause of each wrong answer of a run, and its basis.

The causes in the order of the checks; the first that applies is reported:

    failure                 method, reader or engine failed
    should have abstained   the corpus contains no answer, but the reader gave one
    not retrieved           the answer, or that of a step, does not occur in the retrieved context
    cut by compression      it occurs there, but not in the text that was read
    no answer line          the model's reply has no readable answer
    chain broken            the executed query, or the thought, stops at a hop
    abstained               the evidence was present, but the reader abstained
    wrong span              near: words in common with the gold answer, the gold in the thought, or in a gold passage
    unexplained             none of these

The checks search for the answers of the decomposition's steps, word for word; without a decomposition, for the answer
and the gold passages. A text that contains an answer need not state it, so a cause is only likely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from workbench.analyses.base import Analysis, frame_of, known_methods, questions_of
from workbench.analyses.decomposition import covered_only, decomposition
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.measures.abstained import is_abstention
from workbench.measures.answers import f1
from workbench.measures.coverage import words_of
from workbench.measures.words import is_yes_no, places, words
from workbench.records import Question, Record
from workbench.trace import Trace

CAUSES = (
    "failure", "should have abstained", "not retrieved", "cut by compression", "no answer line", "chain broken",
    "abstained", "wrong span", "unexplained",
)  # fmt: skip
SHOWN = "sha256:"  # begins the hash that replaces a long text in a trace of level `ids`


@dataclass(frozen=True, slots=True, repr=False)
class Case(Record):
    """A wrongly answered question. `hop`: the step, from 1, if the cause concerns one; `explanation`: in words;
    `rests_on`: the basis of the cause."""

    question_id: str
    question: str
    method: str
    reader: str
    cause: str
    hop: int | None
    explanation: str
    rests_on: str
    gold: tuple[str, ...]
    answer: str
    type: str | None = None
    hops: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Record):
    """A run and why its answers are wrong. `asked`: (method, number of questions); `notes`: what cannot be
    determined."""

    run: Run
    cases: tuple[Case, ...]
    asked: tuple[tuple[str, int], ...]
    decomposition: Analysis
    kinds: Analysis
    covered_only: Analysis
    notes: tuple[str, ...] = ()
    measure: str = field(default="accuracy", kw_only=True)
    coverage: str = field(default="coverage", kw_only=True)

    def frame(self) -> pd.DataFrame:
        """One row per case."""
        return frame_of({**asdict(case), "gold": "; ".join(case.gold)} for case in self.cases)

    def counts(self) -> pd.DataFrame:
        """A row per method and cause: how many cases, and their share of the method's wrong answers."""
        rows = []
        for method, _ in self.asked:
            mine = [case.cause for case in self.cases if case.method == method]
            rows += [
                {"method": method, "cause": cause, "cases": mine.count(cause), "share": mine.count(cause) / len(mine)}
                for cause in CAUSES
                if cause in mine
            ]
        return pd.DataFrame(rows, columns=["method", "cause", "cases", "share"])

    def of(self, question_id: str, method: str | None = None) -> Case:
        """The case of a question; raises :class:`SettingError` if it has none."""
        cases = [case for case in self.cases if case.question_id == question_id and method in (None, case.method)]
        if not cases:
            raise SettingError(
                f"question {question_id!r} was not answered wrongly{f' with {method}' if method else ''}; there are "
                f"{len(self.cases):,} cases, see frame()"
            )
        return cases[0]

    def trace(self, case: Case | str, method: str | None = None) -> Trace:
        """The stored trace of a case, or of a question of the run by its id."""
        if isinstance(case, Case):
            return self.run.trace(case.question_id, case.method)
        return self.run.trace(case, method or self.asked[0][0])

    def context(self, case: Case, *, retrieved: bool = False) -> str | None:
        """The text that the reader saw, or with `retrieved` the text before compression; None if the run has
        neither."""
        row = next(
            row for row in self.run.rows if (row["question_id"], row["method"]) == (case.question_id, case.method)
        )
        return self.run.context(row, retrieved=retrieved)

    def tables(self) -> dict[str, pd.DataFrame]:
        """What is shown: title → table."""
        return {
            "Why answers are wrong": self.counts(),
            self.decomposition.title: self.decomposition.frame(),
            "By type and by hops": self.kinds.frame(),
            self.covered_only.title: self.covered_only.frame(),
        }


def diagnose(
    run: Run | str,
    questions: Iterable[Question] | None = None,
    index: Index | None = None,
    *,
    methods: Iterable[str] | None = None,
    measure: str = "accuracy",
    coverage: str = "coverage",
) -> Diagnosis:
    """The wrong answers of a run (or of its folder), which score less than 1 in `measure`, with their likely causes.

    `questions` are those of the run, by default those that it stores. With an `index`, the diagnosis also states the
    titles of gold passages and what is in them. Raises :class:`SettingError` for a run without a reader, which has no
    answers."""
    run = run if isinstance(run, Run) else Run(run)
    if run.config["reader"] is None:
        raise SettingError(f"the run {run.folder} has no answers; evaluate with a reader")
    gold = questions_of(run, questions)
    methods = known_methods(run, methods)
    counted = {"measure": measure, "coverage": coverage}
    whole = decomposition(run, methods, **counted)
    scored = [name for name in dict.fromkeys((measure, "f1", "em")) if name in run.measures]
    cases = []
    for row in run.rows:
        if row["method"] in methods and (row["scores"].get(measure) or 0) < 1:
            look = Look(run, row, gold[row["question_id"]], index)
            cause, hop, explanation, rests_on = _cause(look)
            question = look.question
            cases.append(
                Case(
                    question.id, question.question, row["method"], run.config["reader"], cause, hop, explanation,
                    rests_on, question.answers, row["answer"] or "", question.type, question.hops,
                )
            )  # fmt: skip
    return Diagnosis(
        run,
        tuple(cases),
        tuple((method, sum(row["method"] == method for row in run.rows)) for method in methods),
        whole,
        decomposition(run, methods, by=("type", "hops"), **counted),
        covered_only(run, methods, measures=scored, coverage=coverage),
        (*whole.notes, *_cannot(run, gold.values(), index)),
        **counted,
    )


@dataclass(frozen=True)
class Look:
    """The data of one row that the checks read."""

    run: Run
    row: Mapping[str, Any]
    question: Question
    index: Index | None

    @cached_property
    def steps(self) -> list[tuple[int | None, list[str], str | None]]:
        """(hop, alternative names, gold passage) of each answer that must be found; yes and no are excluded."""
        steps = enumerate(self.question.decomposition or (), 1)
        answered = [(at, [str(step["answer"])], step.get("support")) for at, step in steps if "answer" in step]
        if answered:
            at, names, support = answered[-1]
            answered[-1] = (at, [*names, *self.question.answers], support)
        else:
            answered = [(None, list(self.question.answers), None)]
        named = [(at, [name for name in names if not is_yes_no(name)], support) for at, names, support in answered]
        return [step for step in named if step[1]]

    @cached_property
    def retrieved(self) -> list[str] | None:
        text = self.run.context(self.row, retrieved=True)
        if text is None and "compress=" not in self.run.config["reader"]:
            text = self.run.context(self.row)
        return None if text is None else words_of(text)

    @cached_property
    def read(self) -> list[str] | None:
        text = self.run.context(self.row)
        return None if text is None else words_of(text)

    @cached_property
    def thought(self) -> list[str]:
        """The words of the model's, or the rules', replies to the question; empty without a trace."""
        if self.run.config["trace"] == "off":
            return []
        trace = self.run.trace(self.row["question_id"], self.row["method"])
        root = next((event.id for event in trace if event.step == self.run.config["reader"]), None)
        mine = [] if root is None else list(trace)[root:]
        replies = [text for event in mine if event.kind == "LLM" for text in _texts(event.outputs)]
        return words(" . ".join(text for text in replies if not text.startswith(SHOWN)))

    @cached_property
    def ranks(self) -> dict[str, int]:
        return {passage: rank for rank, (passage, _) in enumerate(self.row["ranking"], 1)}

    def missing(self, names_found: Sequence[str]) -> tuple[int | None, list[str], str | None] | None:
        """The first step without an answer among the words."""
        return next((step for step in self.steps if not _names(step[1], names_found)), None)

    def where(self, passage: str | None) -> str:
        """The rank of a gold passage, in words."""
        if passage is None:
            return ""
        title = f" ({self.title(passage)})" if self.title(passage) else ""
        rank = self.ranks.get(passage)
        return f"; its gold passage {passage}{title} is " + (
            f"ranked {rank}" if rank else f"not among the {len(self.ranks)} ranked"
        )

    def title(self, passage: str) -> str:
        row = self.index.passages.row.get(passage) if self.index else None
        return "" if row is None else self.index.passages.passages[row].title

    def content(self, passage: str) -> str:
        row = self.index.passages.row.get(passage) if self.index else None
        return "" if row is None else self.index.passages.passages[row].content


Likely = tuple[str, int | None, str, str]  # cause, hop, explanation, basis


def _cause(look: Look) -> Likely:
    for check in (_broke, _unanswerable, _not_retrieved, _cut, _no_line, _chain, _abstained, _span):
        if cause := check(look):
            return cause
    return "unexplained", None, "The evidence was read, and another answer was given.", "the context and the answer"


def _broke(look: Look) -> Likely | None:
    failure = look.row["failure"]
    return ("failure", None, failure, "the row") if failure else None


def _unanswerable(look: Look) -> Likely | None:
    if look.question.answers:
        return None
    explanation = f"The corpus does not hold an answer, and {look.row['answer']!r} was given."
    return "should have abstained", None, explanation, "the gold"


def _not_retrieved(look: Look) -> Likely | None:
    if look.retrieved is None:
        return None
    if (missing := look.missing(look.retrieved)) is not None:
        hop, names, passage = missing
        explanation = f"{_what(hop, names)} does not occur in the retrieved context{look.where(passage)}."
        return "not retrieved", hop, explanation, "the words of the retrieved context"
    if look.question.decomposition and look.steps:
        return None
    absent = [passage for passage in look.question.support if passage not in look.ranks]
    absent = [passage for passage in absent if not (look.index and _names([look.title(passage)], look.retrieved))]
    if absent:
        explanation = f"The gold passage {absent[0]} is not among the {len(look.ranks)} ranked."
        return "not retrieved", None, explanation, "the ranking"
    return None


def _cut(look: Look) -> Likely | None:
    if look.retrieved is None or look.read is None or (missing := look.missing(look.read)) is None:
        return None
    hop, names, _ = missing
    by = (look.row["reading"] or {}).get("compressor") or "the reader"
    explanation = f"{_what(hop, names)} was in the retrieved context, and {by} left it out."
    return "cut by compression", hop, explanation, "the words of the context before and after"


def _no_line(look: Look) -> Likely | None:
    if flaw := (look.row["reading"] or {}).get("flaw"):
        return "no answer line", None, f"No answer could be read off the reply: {flaw}.", "the reply"
    return None


def _chain(look: Look) -> Likely | None:
    proof, answer = look.row["proof"] or {}, words(look.row["answer"] or "")
    if broken := proof.get("broken"):
        explanation = f"The facts of the evidence match {broken - 1} patterns of the query, and none matches the next."
        return "chain broken", broken, explanation, "the executed query"
    numbered = [step for step in look.steps if step[0] is not None]
    right = any(words(name) == answer for name in look.steps[-1][1]) if look.steps else False  # perhaps by chance
    for hop, names, _ in numbered[:-1]:
        if answer and any(words(name) == answer for name in names) and not right:
            return "chain broken", hop + 1, f"The answer given is that of step {hop}.", "the decomposition"
    if len(numbered) < 2 or not look.thought:
        return None
    named = [bool(_names(names, [*look.thought, *answer])) for _, names, _ in numbered]
    if all(named) or not (any(named[: named.index(False)]) or not look.row["abstained"]):
        return None
    hop, names, _ = numbered[named.index(False)]
    explanation = f"{_what(hop, names)} is in the context, and neither in the thought nor in the answer."
    return "chain broken", hop, explanation, "the words of the thought"


def _abstained(look: Look) -> Likely | None:
    if look.row["abstained"] or is_abstention(look.row["answer"]):
        return "abstained", None, "What is needed was in the context, and the reader abstained.", "the context"
    return None


def _span(look: Look) -> Likely | None:
    answer, gold = look.row["answer"] or "", look.question.answers
    if f1(answer, gold) > 0:
        return "wrong span", None, "The answer has words in common with a gold answer.", "the answer"
    sought = [name for name in gold if not is_yes_no(name)]
    if sought and _names(sought, look.thought):
        return "wrong span", None, "The gold answer is in the thought, and another was given.", "the thought"
    for passage in look.question.support:
        if places(words(answer), words(look.content(passage))):
            return "wrong span", None, f"The answer stands in the gold passage {passage}.", "the gold passages"
    return None


def _what(hop: int | None, names: Sequence[str]) -> str:
    return f"The answer {names[0]!r}" if hop is None else f"The answer {names[0]!r} of step {hop}"


def _names(names: Sequence[str], texts: Sequence[str]) -> bool:
    return any(places(words(name), texts) for name in names)


def _texts(value: Any) -> Iterator[str]:
    """All strings in a plain value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _texts(part)


def _cannot(run: Run, questions: Iterable[Question], index: Index | None) -> Iterator[str]:
    """What cannot be determined from this run and these questions."""
    questions = list(questions)
    without = sum(not question.decomposition for question in questions if question.answers)
    if without:
        yield (
            f"{without:,} of {len(questions):,} questions have no decomposition: of them only the answer and the gold "
            "passages are looked for, and no hop is named."
        )
    if run.config["trace"] == "off":
        yield "The run kept no traces, so no thought can be looked into."
    elif run.config["trace"] == "ids":
        yield "The run kept hashes of long texts, so long thoughts cannot be looked into."
    if index is None:
        yield "Without the index the texts of gold passages are not looked into."
