"""Where a tracer takes DOTs from: a method that is asked, a run that was saved, or a trace at hand.

Each lists its questions and methods, and gives a `Take` of one of them; `settings` are those that may be changed, with
the method's own values: only a method that is asked has any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbench.errors import DataError, SettingError
from workbench.experiments import Run
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method
from workbench.methods.dotrag.dots import Beside, Dots, Found, dots
from workbench.reading.base import Reader
from workbench.records import Answer, Evidence, Passage, Question
from workbench.spec import parse_spec
from workbench.trace import Trace

METHOD = "dotrag"
SETTINGS = ("tau", "h_max", "t_max")
_ASKED = "a saved retrieval cannot be changed; give an index, and the method is asked again"


class Take(NamedTuple):
    """A retrieval: its DOTs, what it found, the passages that are known by id, and the answer, empty where there was no
    reader."""

    shown: Dots
    found: Found
    passages: Mapping[str, Passage]
    answer: str = ""


class Live:
    """A method over an index. Each question is asked once with each settings."""

    def __init__(
        self,
        index: Index,
        questions: Sequence[Question],
        spec: str,
        engine: Engine | None,
        reader: Reader | None,
        k: int,
    ):
        self.index, self.questions, self.methods = index, list(questions), [spec]
        self._engine, self._reader, self._k = engine, reader, k
        self._made: dict[tuple, Any] = {}
        self._takes: dict[tuple, Take] = {}
        own = self._method(spec, {}).settings
        self.settings: dict[str, Any] = {name: getattr(own, name) for name in SETTINGS if hasattr(own, name)}

    def find(self, question: str) -> Question:
        """A question of the list, by its id or its text, or any other text."""
        return _known(self.questions, question) or Question("own", question)

    def take(self, question: Question, spec: str, changed: Mapping[str, Any]) -> Take:
        key = question.question, spec, *sorted(changed.items())
        if key not in self._takes:
            evidence = self._method(spec, changed).retrieve(question.question, self._k)
            answer = self._reader.read(question.question, evidence) if self._reader else None
            self._takes[key] = _take(evidence, question, _says(answer) if answer else "")
        return self._takes[key]

    def beside(self, question: Question, spec: str, changed: Mapping[str, Any], others: Sequence[str]) -> Beside:
        """What the method and the others find."""
        found = [_found(self._method(one, {}).retrieve(question.question, self._k)) for one in others]
        return Beside(question.question, (self.take(question, spec, changed).found, *found), _gold(question))

    def _method(self, spec: str, changed: Mapping[str, Any]):
        key = spec, *sorted(changed.items())
        if key not in self._made:
            self._made[key] = method(spec, self.index, self._engine, **changed)
        return self._made[key]


class Saved:
    """The DotRAG methods of a run. It needs neither index nor engine; with an index it knows titles and types."""

    settings: Mapping[str, Any] = {}

    def __init__(self, run: Run, index: Index | None, questions: Sequence[Question]):
        self.index, self._run = index, run
        known = {question.id: question for question in (*run.questions, *questions)}
        ids = dict.fromkeys(row["question_id"] for row in run.rows)
        self.questions = [known.get(name, Question(name, "")) for name in ids]
        labels = {name: run.config["methods"][name]["label"] for name in run.methods}
        self.methods = [name for name in run.methods if parse_spec(labels[name])[0] == METHOD]
        if not self.methods:
            raise SettingError(f"the run {run.folder} has no {METHOD}; it has {', '.join(run.methods)}")

    def find(self, question: str) -> Question:
        found = _known(self.questions, question)
        if found is None:
            raise SettingError(f"the run has no question {question!r}; give the id or the text of one of its questions")
        return found

    def take(self, question: Question, name: str, changed: Mapping[str, Any]) -> Take:
        if changed:
            raise SettingError(_ASKED)
        try:
            shown = dots(self._run.trace(question.id, name), _gold(question))
        except FileNotFoundError as error:
            raise DataError(
                f"the run has no trace of question {question.id!r} by {name}; evaluate with trace='full'"
            ) from error
        (row,) = (row for row in self._rows(question) if row["method"] == name)
        said = "" if row["answer"] is None else "(abstained)" if row["abstained"] else row["answer"]
        return Take(shown, _found_of(row, shown), _passages(self.index, row), said)

    def beside(self, question: Question, name: str, changed: Mapping[str, Any], others: Sequence[str]) -> Beside:
        """What the method and all others of the run found; the paths of others are not saved."""
        take = self.take(question, name, changed)
        found = [_found_of(row) for row in self._rows(question) if row["method"] != name]
        return Beside(take.shown.question, (take.found, *found), _gold(question))

    def _rows(self, question: Question) -> list[dict]:
        return [row for row in self._run.rows if row["question_id"] == question.id]


class InMemory:
    """The trace or the evidence of one question."""

    settings: Mapping[str, Any] = {}

    def __init__(self, made: Trace | Evidence, index: Index | None, questions: Sequence[Question]):
        self.index = index
        shown = dots(made)
        question = _known(questions, shown.question) or Question("", shown.question)
        self.questions, self.methods = [question], [shown.method]
        found = (
            _found(made) if isinstance(made, Evidence) else _found_of({"method": shown.method, "nodes": None}, shown)
        )
        known = {passage.id: passage for passage, _ in made.passages} if isinstance(made, Evidence) else {}
        self._take = Take(dots(made, _gold(question)), found, known)

    def find(self, question: str) -> Question:
        if _known(self.questions, question) is None:
            raise SettingError(f"there is a trace of one question only, {self.questions[0].question!r}")
        return self.questions[0]

    def take(self, question: Question, name: str, changed: Mapping[str, Any]) -> Take:
        if changed:
            raise SettingError(_ASKED)
        return self._take

    def beside(self, question: Question, name: str, changed: Mapping[str, Any], others: Sequence[str]) -> Beside:
        raise SettingError(f"a trace tells of one method; to see {', '.join(others)} beside it, give an index or a run")


Takes = Live | Saved | InMemory


def types_of(index: Index | None) -> dict[str, str]:
    """Name → type, of the nodes of the index's typed graph, where it has one."""
    if index is None or "typed" not in index.manifest["layers"]:
        return {}
    return dict(zip(index.typed.names, index.typed.types))


def _take(evidence: Evidence, question: Question, answer: str) -> Take:
    known = {passage.id: passage for passage, _ in evidence.passages}
    return Take(dots(evidence, _gold(question)), _found(evidence), known, answer)


def _found(evidence: Evidence) -> Found:
    ids = tuple(passage.id for passage, _ in evidence.passages)
    paths = tuple(path.nodes for path, _ in evidence.paths)
    return Found(evidence.method, ids, tuple(dict.fromkeys(evidence.nodes)), paths)


def _found_of(row: Mapping, shown: Dots | None = None) -> Found:
    """What a row of a run names, with the paths of its trace."""
    ids = tuple(name for name, _ in row.get("ranking") or (shown.chunks if shown else ()))
    nodes = row.get("nodes") or (shown.nodes if shown else ())
    paths = tuple(path.nodes for path in shown.final) if shown else ()
    return Found(row["method"], ids, tuple(dict.fromkeys(nodes)), paths)


def _passages(index: Index | None, row: Mapping) -> dict[str, Passage]:
    if index is None:
        return {}
    known = index.passages
    return {name: known.passages[known.row[name]] for name, _ in row["ranking"] if name in known.row}


def _gold(question: Question) -> tuple[str, ...]:
    return (*question.start, *question.answers)


def _known(questions: Sequence[Question], wanted: str) -> Question | None:
    return next((question for question in questions if wanted in (question.id, question.question)), None)


def _says(answer: Answer) -> str:
    return f"failure: {answer.failure}" if answer.failure else "(abstained)" if answer.abstained else answer.text
