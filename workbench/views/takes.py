"""Where a player takes replays from: methods that are asked, a run that was saved, or traces at hand.

Each lists its questions, methods and backbones, gives the `replay` of one of them, and the `method` with which a
thought can be edited, or says why there is none. `limits` are the arguments with which it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import DataError, SettingError
from workbench.experiments import Run
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import Method, method
from workbench.methods.iterative.replay import Replay, replay
from workbench.records import Evidence, Question
from workbench.trace import Trace

Named = Mapping[str, "str | Method"]  # what a list shows → a method or its SPEC


class Live:
    """Methods over an index, each with each backbone; a method that is no SPEC keeps its own. A question is asked when
    it is looked at, and only once."""

    def __init__(
        self,
        index: Index,
        engine: Engine | None,
        questions: Sequence[Question],
        methods: Named,
        backbones: Named,
        k: int,
    ):
        self.index, self.questions, self.limits = index, list(questions), {"k": k}
        self.methods, self.backbones = list(methods), list(backbones)
        self._engine, self._methods, self._backbones = engine, methods, backbones
        self._made: dict[tuple, Method] = {}
        self._replays: dict[tuple, Replay] = {}

    def method(self, name: str, backbone: str | None) -> Method:
        key = name, backbone
        if key not in self._made:
            wanted = self._methods[name]
            if isinstance(wanted, str):
                given = {} if backbone is None else {"backbone": self._backbones[backbone]}
                wanted = method(wanted, self.index, self._engine, **given)
            self._made[key] = wanted
        return self._made[key]

    def replay(self, question: Question, name: str, backbone: str | None) -> Replay:
        key = question.question, name, backbone
        if key not in self._replays:
            asked = self.method(name, backbone).retrieve(question.question, **self.limits)
            self._replays[key] = replay(asked.trace, question.support)
        return self._replays[key]


class Saved:
    """The iterative methods of a run. It needs neither index nor engine, unless a thought is to be edited."""

    backbones: Sequence[str] = ()

    def __init__(self, run: Run, index: Index | None, engine: Engine | None, questions: Sequence[Question]):
        self.index, self._run, self._engine = index, run, engine
        known = {question.id: question for question in (*run.questions, *questions)}
        ids = dict.fromkeys(row["question_id"] for row in run.rows)
        self.questions = [known.get(name, Question(name, "")) for name in ids]
        self.limits = {"k": run.config["k"], "budget": run.config["budget"]}
        self.methods = [name for name in run.methods if "iterations" in run.config["methods"][name]["settings"]]
        if not self.methods:
            raise SettingError(f"the run {run.folder} has no iterative method; it has {', '.join(run.methods)}")

    def method(self, name: str, backbone: str | None) -> Method:
        if self.index is None or self._engine is None:
            raise SettingError("a saved run is replayed without an engine; to edit a thought, give index= and engine=")
        return method(self._run.config["methods"][name]["label"], self.index, self._engine)

    def replay(self, question: Question, name: str, backbone: str | None) -> Replay:
        try:
            return replay(self._run.trace(question.id, name), question.support)
        except FileNotFoundError as error:
            raise DataError(
                f"the run has no trace of question {question.id!r} by {name}; evaluate with trace='full'"
            ) from error


class InMemory:
    """Traces of one question, by name."""

    backbones: Sequence[str] = ()
    limits: Mapping[str, Any] = {}

    def __init__(self, traces: Mapping[str, Trace | Evidence], index: Index | None, questions: Sequence[Question]):
        self.index, self.methods = index, list(traces)
        gold = questions[0].support if questions else ()
        self._replays = {name: replay(_trace(name, made), gold) for name, made in traces.items()}
        asked = [made.question for made in self._replays.values()]
        self.questions = list(questions[:1]) or [Question("", asked[0])]

    def method(self, name: str, backbone: str | None) -> Method:
        raise SettingError("a trace is replayed without an engine; to edit a thought, make the player of an index")

    def replay(self, question: Question, name: str, backbone: str | None) -> Replay:
        return self._replays[name]


Takes = Live | Saved | InMemory


def _trace(name: str, made: Trace | Evidence) -> Trace:
    trace = made.trace if isinstance(made, Evidence) else made
    if trace is None:
        raise SettingError(f"the evidence of {name} has no trace; retrieve with trace='full'")
    return trace
