"""Decompositions executed on the gold graph: whether a question's steps lead to its answers.

    python benchmarks/decompositions.py DATA...     data folders and names of data sets; exit code 1 where one is wrong

A step is one of:

    {"pattern": ["Lanthorn Bridge", "designed by", "?"]}      what stands at the "?" of the matching triples
    {"pattern": [...], "at": 1834}                            only triples that hold in this year
    {"compare": {"of": ["#1", "#2"], "by": "earlier", "pick": [...]}}
    {"count": "#2"}                                           how many answers a step has

`#n` stands for the answers of step n. `by` is earlier, later, more, less, same or difference (in years); `pick` holds
an answer for each value, or yes and no: of several values, the one that comes first; of "same", yes and no.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.data.folder import question_files
from workbench.data.lines import rows
from workbench.errors import DataError
from workbench.text import MONTHS, NUMBER_WORDS

_DATE = re.compile(rf"(?:(?:(\d{{1,2}}) )?({'|'.join(MONTHS)}) )?(\d{{3,4}})", re.IGNORECASE)
_STEP = re.compile(r"#(\d+)")


def main(names: Sequence[str]) -> int:
    wrong = 0
    for name in names:
        checked = check(name)
        wrong += len(checked.faults)
        print(
            f"{name}: {checked.answerable:,} answerable and {checked.unanswerable:,} unanswerable questions, "
            f"{checked.without:,} without a decomposition, {len(checked.faults):,} wrong"
        )
        for question, reason in checked.faults.items():
            print(f"  {question}: {reason}")
    return 1 if wrong else 0


@dataclass(frozen=True, slots=True)
class Executed:
    """The answers of each step, in the names of the graph, and for each answer the passages that state it."""

    steps: tuple[Mapping[str, frozenset[str]], ...]

    @property
    def answers(self) -> tuple[str, ...]:
        return tuple(self.steps[-1]) if self.steps else ()

    @property
    def passages(self) -> tuple[str, ...]:
        """The passages that all steps took, in order."""
        return tuple(dict.fromkeys(one for step in self.steps for stated in step.values() for one in sorted(stated)))


@dataclass(frozen=True, slots=True)
class CheckedQuestions:
    """How many decompositions were executed, and what is wrong: question id → reason."""

    answerable: int
    unanswerable: int
    without: int
    faults: Mapping[str, str]


class GoldFacts:
    """Triples of a gold graph, looked up by pattern. Terms are compared without case; aliases and mentions name their
    entity. `entities` are rows with name, aliases and mentions, `triples` rows with head, relation, tail, passages and
    perhaps since and until."""

    def __init__(self, entities: Iterable[Mapping[str, Any]], triples: Iterable[Mapping[str, Any]]):
        self._named: dict[str, set[str]] = defaultdict(set)
        self._names: dict[str, set[str]] = {}
        for entity in entities:
            self._names[entity["name"].casefold()] = {name.casefold() for name in names_of(entity)}
            for name in names_of(entity):
                self._named[name.casefold()].add(entity["name"].casefold())
        self._triples: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
        for triple in triples:
            self._triples["head", triple["relation"], triple["head"].casefold()].append(triple)
            self._triples[triple["kind"], triple["relation"], triple["tail"].casefold()].append(triple)

    def matches(self, pattern: Sequence[str], at: int | None = None) -> dict[str, set[str]]:
        """What the `?` of a pattern may be → the passages that state it."""
        head, relation, tail = pattern
        if [head, tail].count("?") != 1:
            raise DataError(f"the pattern {list(pattern)} needs one '?', as its head or its tail")
        if tail == "?":
            wanted, lookups = "tail", [("head", name) for name in self.meant(head)]
        else:  # the value of an attribute may be any name of an entity, such as its former one
            called = set().union(*(self._names.get(name, {name}) for name in self.meant(tail)))
            relations = (("relation", name) for name in self.meant(tail))
            wanted, lookups = "head", [*relations, *(("attribute", name) for name in called)]
        found: dict[str, set[str]] = defaultdict(set)
        for end, name in lookups:
            for triple in self._triples.get((end, relation, name), ()):
                if at is None or triple.get("since", at) <= at <= triple.get("until", at):
                    found[triple[wanted]].update(triple["passages"])
        return dict(found)

    def meant(self, term: str) -> set[str]:
        """The entities that a term names, and the term itself, without case."""
        return {term.casefold()} | self._named.get(term.casefold(), set())


def names_of(entity: Mapping[str, Any]) -> Iterator[str]:
    """The name of an entity, its aliases and mentions."""
    yield entity["name"]
    yield from entity.get("aliases", ())
    yield from entity.get("mentions", ())


def execute(decomposition: Sequence[Mapping[str, Any]], facts: GoldFacts) -> Executed:
    """Execute the steps one after another. Raises :class:`DataError` if a step is none of the known ones."""
    done: list[dict[str, frozenset[str]]] = []
    for number, step in enumerate(decomposition, 1):
        try:
            done.append(_step(step, done, facts))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"step {number}, {dict(step)}, cannot be executed ({type(error).__name__}: {error})"
            ) from None
    return Executed(tuple(done))


def _step(step: Mapping[str, Any], done: Sequence[Mapping], facts: GoldFacts) -> dict[str, frozenset[str]]:
    if "compare" in step:
        return {_compared(step["compare"], done): frozenset()}
    if "count" in step:
        return {str(len(_filled(step["count"], done))): frozenset()}
    head, relation, tail = step["pattern"]
    found: dict[str, set[str]] = defaultdict(set)
    for one in _filled(head, done):
        for other in _filled(tail, done):
            for answer, passages in facts.matches((one, relation, other), step.get("at")).items():
                found[answer] |= passages
    return {answer: frozenset(passages) for answer, passages in found.items()}


def _filled(term: str, done: Sequence[Mapping]) -> list[str]:
    """The answers of step n for `#n`, otherwise the term."""
    found = _STEP.fullmatch(term)
    return list(done[int(found[1]) - 1]) if found else [term]


def _single(term: str, done: Sequence[Mapping]) -> str:
    (found,) = _filled(term, done)
    return found


def _compared(weighing: Mapping[str, Any], done: Sequence[Mapping]) -> str:
    values = [_single(term, done) for term in weighing["of"]]
    by = weighing["by"]
    if by == "difference":
        first, second = (_date(value)[0] for value in values)
        return str(abs(first - second))
    pick = [_single(term, done) for term in weighing["pick"]]
    if by == "same":
        return pick[0] if len({value.casefold() for value in values}) == 1 else pick[1]
    measured = [(_date if by in ("earlier", "later") else _number)(value) for value in values]
    best = {"earlier": min, "less": min, "later": max, "more": max}[by](measured)
    if measured.count(best) != 1:
        raise ValueError(f"{values} have no single first by {by!r}")
    return pick[measured.index(best)]


def _date(text: str) -> tuple[int, int, int]:
    found = _DATE.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no date")
    day, month, year = found.groups()
    return int(year), MONTHS.index(month.casefold()) + 1 if month else 0, int(day or 0)


def _number(text: str) -> float:
    """The number at the beginning of a text, in digits or, below a hundred, in words."""
    if found := re.match(r"\d[\d,]*(?:\.\d+)?", text):
        return float(found[0].replace(",", ""))
    words = text.casefold().split()[0].split("-")
    if any(word not in NUMBER_WORDS for word in words):
        raise ValueError(f"{text!r} is no number")
    return float(sum(NUMBER_WORDS[word] for word in words))


def fault(question: Mapping[str, Any], facts: GoldFacts) -> str:
    """Why a row of a `questions.jsonl` is wrong by the gold graph; empty if executing it confirms answers and support.

    Of an unanswerable question, `unanswerable_because` has the patterns: all but the last one are answered."""
    try:
        return _unconfirmed(question, facts) if question.get("answers") else _unfounded(question, facts)
    except DataError as error:
        return str(error)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return f"the row cannot be read ({type(error).__name__}: {error})"


def _unconfirmed(question: Mapping[str, Any], facts: GoldFacts) -> str:
    """What speaks against the answers and the support of a question."""
    executed = execute(question["decomposition"], facts)
    for number, (step, found) in enumerate(zip(question["decomposition"], executed.steps, strict=True), 1):
        stated = set().union(*(facts.meant(answer) for answer in step.get("answers", [step["answer"]])))
        if not found or any(answer.casefold() not in stated for answer in found):
            return f"step {number} gives {sorted(found)}, where {step['answer']!r} is stated"
        support = step.get("support")
        if support is not None and support not in set().union(*found.values()):
            return f"step {number} does not rest on {support!r}"
    gold = set().union(*(facts.meant(answer) for answer in question["answers"]))
    found = [answer.casefold() for answer in executed.answers]
    if any(answer not in gold for answer in found) or (
        question.get("answer_set") and len(found) != len(question["answers"])
    ):
        return f"executing it gives {sorted(executed.answers)}, where the answers are {list(question['answers'])}"
    if missing := sorted(set(question["support"]) - set(executed.passages)):
        return f"no step rests on {missing[0]!r}"
    stated = ((one, passages) for step in executed.steps for one, passages in step.items() if passages)
    unsupported = [one for one, passages in stated if passages.isdisjoint(question["support"])]
    return f"no gold passage states {unsupported[0]!r}" if unsupported else ""


def _unfounded(question: Mapping[str, Any], facts: GoldFacts) -> str:
    """What speaks against a question without an answer."""
    patterns = question["unanswerable_because"]["pattern"]
    *before, found = execute([{"pattern": pattern} for pattern in patterns], facts).steps
    if unknown := [pattern for pattern, step in zip(patterns, before, strict=False) if not step]:
        return f"{unknown[0]} has no match, though it leads to the missing fact"
    return f"{patterns[-1]} has the match {sorted(found)[0]!r}, so there is an answer" if found else ""


def check(data: str | Path) -> CheckedQuestions:
    """Execute the decompositions of all questions of a data set, by name or folder, on its gold graph.

    Raises :class:`DataError` without a gold graph.
    """
    folder = Path(data) if (Path(data) / "graph").is_dir() else wb.load(data).folder
    facts = read_facts(folder)
    questions = [{**row, "id": row.get("id", where)} for path in question_files(folder) for where, row in rows(path)]
    known = [row for row in questions if row.get("decomposition") or row.get("unanswerable_because")]
    faults = {row["id"]: found for row in known if (found := fault(row, facts))}
    unanswerable = sum(not row.get("answers") for row in known)
    return CheckedQuestions(len(known) - unanswerable, unanswerable, len(questions) - len(known), faults)


def read_facts(folder: Path) -> GoldFacts:
    """The gold graph of a data folder."""
    graph = folder / "graph"
    if not graph.is_dir():
        raise DataError(f"{folder} has no gold graph, and decompositions are executed on one")
    entities, triples = (graph / name for name in ("entities.jsonl", "triples.jsonl"))
    return GoldFacts((row for _, row in rows(entities)), (row for _, row in rows(triples)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["meridian"]))
