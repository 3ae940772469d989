"""The source of a widget's records: methods that run live, a saved run, or traces in memory.

Every session lists its questions and methods, and returns the `Retrieval` of a question by a method. Results are cached
per question, method and settings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench.data.folder import OWN
from workbench.errors import DataError, SettingError
from workbench.evaluation import Run
from workbench.evaluation.pairs import ComparedAnswers, asked_pair, kept_pair, no_rules
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.llm.engine import engine as known_engine
from workbench.llm.worked import answered_by_hand
from workbench.methods import Method, method
from workbench.reading.base import Reader
from workbench.records import Answer, Evidence, Passage, Question
from workbench.text import short
from workbench.trace import Trace

Result = TypeVar("Result")
Source = Index | Run | str | Path | Trace | Evidence | Mapping[str, Trace | Evidence]
Methods = Mapping[str, "str | Method"]  # the name in a list → a SPEC or a method
LABEL = 300  # characters of a question in a list
WORKED = " · worked replies"  # appended to the entry of a question that has them


class Retrieval(NamedTuple):
    """The results of a method: ids of passages, names of nodes and the nodes of paths, each best first. A saved row has
    no paths, and no trace if none was kept; `answer` is empty without a reader."""

    method: str
    trace: Trace | None
    ranking: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    answer: str = ""

    @classmethod
    def of(cls, evidence: Evidence, answer: str = "") -> Retrieval:
        ranking = tuple(passage.id for passage, _ in evidence.passages)
        nodes, paths = tuple(dict.fromkeys(evidence.nodes)), tuple(path.nodes for path, _ in evidence.paths)
        return cls(evidence.method, evidence.trace, ranking, nodes, paths, answer)


class Cache:
    """Results by key, each computed on first use."""

    def __init__(self):
        self._results: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        if key not in self._results:
            self._results[key] = compute()
        return self._results[key]


class Session(Cache):
    """Questions, methods by name, and what the methods retrieve; `limits` are the arguments of `Method.retrieve`."""

    name = "the list"
    limits: Mapping[str, Any] = {}
    by_hand: frozenset[str] = frozenset()  # the questions that have worked replies

    def __init__(
        self, questions: Sequence[Question], methods: Sequence[str], index: Index | None, engine: Engine | None = None
    ):
        super().__init__()
        self.questions, self.methods, self.index, self.engine = list(questions), list(methods), index, engine

    def label(self, question: Question) -> str:
        """The entry of a question in a list, which says whether it has worked replies."""
        return question_label(question) + WORKED * (question.question in self.by_hand)

    def find(self, wanted: str | int | Question) -> Question:
        """The question of this id, text, label or position; raises SettingError for any other."""
        return self.questions[position(wanted, self.questions, self.name)]

    def find_or_own(self, wanted: str | int | Question) -> Question:
        """As `find`; over an index, any other text becomes a question without gold."""
        return self.find(wanted)

    def retrieval(self, question: Question, name: str, **settings: Any) -> Retrieval:
        """The results of a method for a question, optionally with other settings."""
        if name not in self.methods:
            raise SettingError(f"{name!r} is not among the methods {', '.join(self.methods)}")
        key = question.id, question.question, name, *sorted(settings.items())
        return self.once(key, lambda: self._retrieve(question, name, **settings))

    def others(self, question: Question, name: str, specs: Sequence[str]) -> list[Retrieval]:
        """The results of other methods: those of the SPECs, or all others of a run."""
        raise SettingError(f"a trace holds one method; to see {', '.join(specs)} beside it, give an index or a run")

    def rivals(self, name: str, specs: Sequence[str]) -> list[str]:
        """The methods whose answers `pair` can show beside those of a method: those of the SPECs, or all others of a
        run; none of a trace."""
        return []

    def pair(self, question: Question, name: str, other: str, repeat: int = 0, **settings: Any) -> ComparedAnswers:
        """The answers of two methods and the judgements of them: those on disk for a run; over an index, those of the
        session's judge, if there is one, in both orders."""
        raise SettingError(f"a trace holds no answers; to see that of {other} beside it, give an index or a run")

    def read(self, question: Question, evidence: Evidence) -> str:
        """The reader's answer from evidence retrieved outside the session; empty without a reader."""
        return ""

    def method(self, name: str, label: str = "", **settings: Any) -> Method:
        """The method itself, to run it with an edited thought; for saved results, made from its label."""
        return self.once(("method", label), lambda: method(label, self.index, self.engine))

    @cached_property
    def passages(self) -> dict[str, Passage]:
        """The known passages by id."""
        return {passage.id: passage for passage in self.index.passages.passages} if self.index else {}

    def _retrieve(self, question: Question, name: str, **settings: Any) -> Retrieval:
        raise NotImplementedError


class Live(Session):
    """Methods over an index. A method that is given instead of a SPEC keeps its own settings."""

    def __init__(
        self, index: Index, questions: Sequence[Question], methods: Methods, engine: Engine | None = None,
        *, reader: Reader | None = None, judge: Engine | str | None = None, k: int = 10,
    ):  # fmt: skip
        if not questions:
            raise SettingError("there is no question to ask; give questions=data.questions")
        super().__init__(questions, list(methods), index, engine)
        self.reader, self.limits, self._specs = reader, {"k": k}, methods
        self.by_hand = answered_by_hand(engine)
        self.judge = None if judge is None else known_engine(judge)
        if self.judge:
            no_rules(self.judge)
        self.report: Callable[[str], Any] = lambda words: None  # called with a note on what is being computed

    def find_or_own(self, wanted: str | int | Question) -> Question:
        try:
            return self.find(wanted)
        except SettingError:
            if isinstance(wanted, str):
                return Question(OWN, wanted)
            raise

    def evidence(self, question: Question, name: str, **settings: Any) -> Evidence:
        def retrieve() -> Evidence:
            self.report(f"retrieving with {name} …")
            return self.method(name, **settings).retrieve(question.question, **self.limits)

        return self.once(("evidence", question.question, name, *sorted(settings.items())), retrieve)

    def method(self, name: str, label: str = "", **settings: Any) -> Method:
        spec = self._specs.get(name, name)
        if not isinstance(spec, str):
            return spec
        make = lambda: method(spec, self.index, self.engine, **settings)  # noqa: E731
        return self.once(("method", spec, *sorted(settings.items())), make)

    def others(self, question: Question, name: str, specs: Sequence[str]) -> list[Retrieval]:
        return [Retrieval.of(self.evidence(question, spec)) for spec in specs]

    def rivals(self, name: str, specs: Sequence[str]) -> list[str]:
        return list(specs) if self.reader else []

    def pair(self, question: Question, name: str, other: str, repeat: int = 0, **settings: Any) -> ComparedAnswers:
        if repeat:
            raise SettingError(f"repeat={repeat}; over an index every question is asked once: give a run with repeats")
        if self.reader is None:
            raise SettingError("there are no answers without a reader; pass reader=wb.reader(…)")
        sides = [
            (self.evidence(question, spec, **given).method, self._answer(question, spec, **given))
            for spec, given in ((name, settings), (other, {}))
        ]
        key = "pair", question.question, *(label for label, _ in sides)
        return self.once(key, lambda: asked_pair(question, *sides, self.judge))

    def _retrieve(self, question: Question, name: str, **settings: Any) -> Retrieval:
        answer = _answer_text(self._answer(question, name, **settings)) if self.reader else ""
        return Retrieval.of(self.evidence(question, name, **settings), answer)

    def _answer(self, question: Question, name: str, **settings: Any) -> Answer:
        read = lambda: self.reader.read(question.question, self.evidence(question, name, **settings))  # noqa: E731
        return self.once(("answer", question.question, name, *sorted(settings.items())), read)

    def read(self, question: Question, evidence: Evidence) -> str:
        return _answer_text(self.reader.read(question.question, evidence)) if self.reader else ""


class Saved(Session):
    """The methods of a run whose entry in its configuration `suits` accepts; `kind` names them in errors."""

    name = "the run"

    def __init__(
        self, run: Run, questions: Sequence[Question], index: Index | None, engine: Engine | None,
        kind: str, suits: Callable[[Mapping], bool],
    ):  # fmt: skip
        by_id = {question.id: question for question in (*run.questions, *questions)}
        ids = dict.fromkeys(row["question_id"] for row in run.rows)
        names = [name for name in run.methods if suits(run.config["methods"][name])]
        if not names:
            raise SettingError(f"the run {run.folder} has no {kind}; it has {', '.join(run.methods)}")
        super().__init__([by_id.get(name, Question(name, "")) for name in ids], names, index, engine)
        self.limits, self._run = {"k": run.config["k"], "budget": run.config["budget"]}, run

    def others(self, question: Question, name: str, specs: Sequence[str]) -> list[Retrieval]:
        return [_of_row(row) for other, row in self._rows(question).items() if other != name]

    def rivals(self, name: str, specs: Sequence[str]) -> list[str]:
        return [other for other in self._run.methods if other != name] if self._run.config["reader"] else []

    def pair(self, question: Question, name: str, other: str, repeat: int = 0, **settings: Any) -> ComparedAnswers:
        _refuse(settings)
        if other not in self._run.methods:
            raise SettingError(f"the run has no method {other!r}; it has {', '.join(self._run.methods)}")
        return kept_pair(self._run, name, other, question, repeat)

    def _retrieve(self, question: Question, name: str, **settings: Any) -> Retrieval:
        _refuse(settings)
        try:
            trace = self._run.trace(question.id, name)
        except FileNotFoundError as error:
            raise DataError(
                f"the run has no trace of question {question.id!r} by {name}; evaluate with trace='full'"
            ) from error
        return _of_row(self._rows(question)[name])._replace(trace=trace)

    def _rows(self, question: Question) -> dict[str, dict]:
        return {row["method"]: row for row in self._run.rows if row["question_id"] == question.id}


class InMemory(Session):
    """Traces or evidence of one question, by name."""

    name = "a trace of one question only"

    def __init__(
        self, traces: Mapping[str, Trace | Evidence], questions: Sequence[Question], index: Index | None,
        engine: Engine | None,
    ):  # fmt: skip
        if not traces:
            raise SettingError("no trace was given; pass at least one, such as evidence.trace")
        retrievals = {name: _in_memory(name, made) for name, made in traces.items()}
        first = next(iter(retrievals.values())).trace
        text = next((event.inputs["question"] for event in first if "question" in event.inputs), "")
        current = next((question for question in questions if question.question == text), Question("", text))
        super().__init__([current], list(retrievals), index, engine)
        self._retrievals, evidence = retrievals, [made for made in traces.values() if isinstance(made, Evidence)]
        self.passages = self.passages | {passage.id: passage for record in evidence for passage, _ in record.passages}

    def _retrieve(self, question: Question, name: str, **settings: Any) -> Retrieval:
        _refuse(settings)
        return self._retrievals[name]


def open_session(
    source: Source,
    questions: Sequence[Question] = (),
    *,
    methods: Methods | None = None,
    engine: Engine | None = None,
    reader: Reader | None = None,
    judge: Engine | str | None = None,
    index: Index | None = None,
    k: int = 10,
    kind: str = "method",
    suits: Callable[[Mapping], bool] = lambda config: True,
) -> Session:
    """The session of an index, whose `methods` run with `engine` and are read by `reader`, whose answers `judge`
    compares; of a run or its folder, where only methods that `suits` accepts are listed; or of traces or evidence.
    `index` provides titles for the latter two."""
    if isinstance(source, Index):
        return Live(source, questions, methods or {}, engine, reader=reader, judge=judge, k=k)
    if isinstance(source, str | Path):
        source = Run.open(source)
    if isinstance(source, Run):
        return Saved(source, questions, index, engine, kind, suits)
    return InMemory({"trace": source} if isinstance(source, Trace | Evidence) else source, questions, index, engine)


def by_name(methods: Sequence[str] | Methods) -> dict[str, str | Method]:
    """Methods by their names in lists; a SPEC is its own name."""
    return dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}


def position(wanted: str | int | Question, questions: Sequence[Question], name: str) -> int:
    """The position of the question of this id, text, label or position; `name` names the list in errors."""
    if isinstance(wanted, int) and 0 <= wanted < len(questions):
        return wanted
    typed = wanted.removesuffix(WORKED) if isinstance(wanted, str) else wanted
    for at, question in enumerate(questions):
        if wanted == question or typed in (question.id, question.question, question_label(question)):
            return at
    ids = ", ".join(question.id for question in questions[:20]) or "none"
    raise SettingError(f"{name} has no question {wanted!r}; give the id or the text of one; there are {ids}")


def question_label(question: Question) -> str:
    """The entry of a question in a list; a question from outside the list has only its text."""
    listed = question.id and question.id != OWN and question.question
    return short(f"{question.id}: {question.question}" if listed else question.question or question.id, LABEL)


def _of_row(row: Mapping) -> Retrieval:
    ranking = tuple(name for name, _ in row.get("ranking") or ())
    answer = "" if row["answer"] is None else "(abstained)" if row["abstained"] else row["answer"]
    return Retrieval(row["method"], None, ranking, tuple(dict.fromkeys(row.get("nodes") or ())), (), answer)


def _in_memory(name: str, made: Trace | Evidence) -> Retrieval:
    if isinstance(made, Trace):
        return Retrieval(name, made)
    if made.trace is None:
        raise SettingError(f"the evidence of {name} has no trace; retrieve with trace='full'")
    return Retrieval.of(made)


def _answer_text(answer: Answer) -> str:
    return f"failure: {answer.failure}" if answer.failure else "(abstained)" if answer.abstained else answer.text


def _refuse(settings: Mapping[str, Any]) -> None:
    if settings:
        raise SettingError("a saved retrieval cannot be changed; give an index, and the method is asked again")
