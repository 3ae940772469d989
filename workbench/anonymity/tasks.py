"""The tasks of AnonyRAG over an anonymised data set: anonymity reversion and multiple choice (Youtu-GraphRAG, arXiv
2508.19855), and a filter for questions that a model answers without retrieval."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from workbench import measures
from workbench.anonymity.names import PLACEHOLDER, Names
from workbench.anonymity.rewritten import restored
from workbench.data import Dataset, Origin
from workbench.errors import DataError, SettingError
from workbench.llm.engine import Engine
from workbench.reading import reader
from workbench.records import Evidence, Question
from workbench.trace import Trace

Corpus = Literal["anonymised", "original"]
LETTERS = "ABCD"
COMMON = "TERM"  # kind of a placeholder that stands for a common word; no task asks for one

_REVERSION = """A question and its answer, in which names are hidden behind placeholders:
Question: {question}
Answer: {answer}
Give the original name of each of these placeholders, one a line, as "placeholder — name": {placeholders}"""


def reversion(data: Dataset, names: Names, *, corpus: Corpus = "anonymised") -> Dataset:
    """Questions for the originals behind the placeholders of a question and its answer. The gold answer lists the
    pairs, with every form that means nobody else.

    `corpus` is what a method retrieves from: the `anonymised` passages, as in the source, where a model must recognise
    the story; or the `original` ones, which hold the names, the only way where no model knows them."""
    forms = _forms(names)
    answered = (question for question in data.questions if question.answers)
    pairs = [(question, _placeholders([question.question, *question.answers[:1]], names)) for question in answered]
    questions = [_reversion(question, held, forms) for question, held in pairs if held]
    return _task(data, names, questions, "reversion", corpus)


def _reversion(question: Question, held: Sequence[str], forms: Mapping[str, Sequence[str]]) -> Question:
    text = _REVERSION.format(question=question.question, answer=question.answers[0], placeholders=", ".join(held))
    gold = "; ".join(f"{placeholder} — {' | '.join(forms[placeholder])}" for placeholder in held)
    return Question(f"{question.id}-r", text, (gold,), "reversion", question.hops, question.support)


def _forms(names: Names) -> dict[str, list[str]]:
    """Placeholder → its usual name, then its other forms, without those that replaced another name too. Bracketed
    explanations are no part of a name."""
    usual = {name.placeholder: re.sub(r"\s*\([^()]*\)$", "", name.name) for name in names.names}
    times = Counter(form for name in names.names for form in {usual[name.placeholder], *name.forms})
    return {
        name.placeholder: list(dict.fromkeys([usual[name.placeholder], *(f for f in name.forms if times[f] == 1)]))
        for name in names.names
    }


def _placeholders(texts: Iterable[str], names: Names) -> list[str]:
    """The table's placeholders in the texts, in their order."""
    written = dict.fromkeys(match[0] for text in texts for match in PLACEHOLDER.finditer(text))
    return [mark for mark in written if mark in names.by_placeholder and kind(mark) != COMMON]


def kind(placeholder: str) -> str:
    return PLACEHOLDER.fullmatch(placeholder)[1]


def choice(data: Dataset, names: Names, *, corpus: Corpus = "anonymised", seed: int = 0) -> Dataset:
    """Questions with four options, of which the answer is a letter: those whose answer has a placeholder. The other
    options have other placeholders of the same kinds; with a seed they are the same every time. Questions of whose
    kind there are too few are left out."""
    if corpus != "anonymised":
        raise SettingError(
            f"corpus={corpus!r}: the options are placeholders, which only anonymised passages contain; use 'anonymised'"
        )
    others: dict[str, list[str]] = defaultdict(list)
    for name in names.names:
        others[kind(name.placeholder)].append(name.placeholder)
    made = (_choice(question, others, names, seed) for question in data.questions if question.answers)
    return _task(data, names, [question for question in made if question], "choice", corpus)


def _choice(question: Question, others: Mapping[str, list[str]], names: Names, seed: int) -> Question | None:
    right = question.answers[0]
    held = _placeholders([right], names)
    barred = set(_placeholders([question.question, *question.answers], names))
    drawn = random.Random(f"{seed} {question.id}")
    pools = [[other for other in others[kind(placeholder)] if other not in barred] for placeholder in held]
    wrong = len(LETTERS) - 1
    if not held or any(len(pool) < wrong for pool in pools):
        return None
    samples = [drawn.sample(pool, wrong) for pool in pools]
    options = [right, *(_with(right, held, instead) for instead in zip(*samples))]
    if len(set(options)) < len(LETTERS):
        return None
    drawn.shuffle(options)
    options_text = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options))
    text = f"{question.question}\n{options_text}\nAnswer with the letter of the right option."
    letter = LETTERS[options.index(right)]
    return Question(f"{question.id}-c", text, (letter,), "choice", question.hops, question.support)


def _with(text: str, held: Sequence[str], instead: Sequence[str]) -> str:
    new = dict(zip(held, instead))
    return PLACEHOLDER.sub(lambda match: new.get(match[0], match[0]), text)


def _task(data: Dataset, names: Names, questions: Sequence[Question], task: str, corpus: Corpus) -> Dataset:
    if corpus not in get_args(Corpus):
        raise SettingError(f"corpus={corpus!r} is unknown; choose {' or '.join(get_args(Corpus))}")
    if not questions:
        raise DataError(
            f"no question of {data.name!r} has an answer with a known name, as a {task} task needs; choose another "
            "data set, or a larger table of names"
        )
    passages = data.passages
    if corpus == "original":
        passages, _ = restored(replace(data, questions=()), names)
        ids = {passage.id: passage.original for passage in names.passages}
        questions = [replace(question, support=tuple(ids[id] for id in question.support)) for question in questions]
    origin = Origin(f"AnonyRAG's task of {task}, made of an anonymised data set", {"corpus": corpus})
    return Dataset(f"{data.name}-{task}", passages, tuple(questions), origin=origin)


MEASURES = {"reversion": "reversion_exact", "choice": "choice"}  # of the other questions: accuracy


def without_known(data: Dataset, engine: Engine) -> Dataset:
    """The data set without the questions that the engine gets right without any passage (zero-shot filtering; the
    source does not state its criterion, this one is ours). Unreadable answers count as wrong; a failed request is an
    error, because it says nothing about what the model knows."""
    zero_shot = reader("direct[prompt=knowledge,mode=open]", engine)
    unknown = tuple(question for question in data.questions if not _is_known(question, zero_shot))
    left = len(data.questions) - len(unknown)
    note = f"{left:,} of {len(data.questions):,} questions are left out: {engine.name} answers them without retrieval"
    origin = data.origin or Origin("a data set without the questions that a model knows")
    return replace(data, questions=unknown, origin=replace(origin, notes=(*origin.notes, note)))


def _is_known(question: Question, zero_shot) -> bool:
    nothing = Evidence(question.question, "none", "", ())
    answer = zero_shot.read(question.question, nothing, trace=Trace("off"))
    if answer.failure:
        raise DataError(f"{zero_shot.engine.name} failed on {question.id!r}: {answer.failure}; run it again")
    measure = measures.measure(MEASURES.get(question.type or "", "accuracy"))
    return bool(question.answers) and measure(question, measures.Outcome((), answer.text, answer.abstained)) == 1
