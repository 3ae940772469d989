"""One question asked with one setting: its evidence, the context before and after compression, and the answer.

Each is computed once: evidence per question and method, an answer per evidence and reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from workbench.errors import SettingError
from workbench.index import Index
from workbench.measures import Outcome, measure
from workbench.methods import METHODS, Method
from workbench.reading import reader
from workbench.reading.base import ContextReader
from workbench.reading.compression import compressor
from workbench.reading.prompts import PROMPTS
from workbench.reading.render import Context
from workbench.records import Answer, Compressed, Evidence, Proof, Question, Triple
from workbench.settings import parse_spec, spec_of
from workbench.sparql import facts_of, parse, verify
from workbench.trace import Trace
from workbench.views.session import Live

EXECUTED = "sparql-exec"  # the reader that takes its answer from executing the query
RETRIEVED = ("ket_rag", "lightrag", "hipporag2", "dense")
WHOLE = 12_000  # cl100k tokens of a context before compression, where the method lays out none of its own


@dataclass(frozen=True)
class Setting:
    """The varied settings. `compress` is a SPEC without its budget, empty for the full context; `route` overrides
    `prompt`; `retry` is a prompt, `auto` (with `route`: the other one) or `none`."""

    method: str
    prompt: str = "sparql"
    compress: str = "graph-walk"
    budget: int = 4_000
    route: bool = False
    retry: str = "none"
    check: bool = False

    def changed(self, given: Mapping[str, Any]) -> Setting:
        known = [field.name for field in fields(self)]
        if unknown := [name for name in given if name not in known]:
            raise SettingError(f"no setting {unknown[0]!r} can be moved; there are {', '.join(known)}")
        return replace(self, **given)

    @property
    def compressor(self) -> str | None:
        if not self.compress:
            return None
        name, settings = parse_spec(self.compress)
        return spec_of(name, {**settings, "budget": self.budget})


class Attempt(NamedTuple):
    """One question with one setting. `full` is the context before compression, `shown` the context that was read."""

    question: Question
    setting: Setting
    evidence: Evidence
    full: Context
    shown: Context
    answer: Answer

    def score(self, name: str, *, of: Context | None = None) -> float | None:
        """A measure of the answer, or of a context; None if undefined, for instance without gold."""
        answer = self.answer
        outcome = Outcome(
            [], answer=answer.text, abstained=answer.abstained, failed=answer.failure is not None,
            reading=answer.reading, context=(of or self.full).text,
        )  # fmt: skip
        return measure(name)(self.question, outcome) if self.question.answers else None

    @property
    def verdict(self) -> str:
        """Right or wrong, and at which stage; empty if the question has no gold answer."""
        right, before, after = (
            self.score(name, of=of)
            for name, of in (("accuracy:heuristic", None), ("coverage", self.full), ("coverage", self.shown))
        )
        if right is None:
            return ""
        if right:
            return "right" if before != 0 else "right, though the context does not hold the answer"
        if before == 0:
            return "retrieval failure: the answer is not in the context"
        if before and after == 0:
            return "lost in compression: the answer was in the full context"
        return "reasoning failure: the answer is in the context" if before else "wrong"


class Attempts:
    """Runs the methods of a session with any setting, and keeps every attempt."""

    def __init__(self, session: Live):
        if not session.methods:
            raise SettingError("there is no method to ask; give methods=[…]")
        self.session, self.index, self.engine = session, session.index, session.engine
        self._attempts: dict[tuple, Attempt] = {}

    def attempt(self, question: Question, setting: Setting) -> Attempt:
        """The answer with a setting. A failure of the engine is a failure of the answer."""
        reader = self._reader(setting)
        key = question.question, setting.method, reader.label
        if key not in self._attempts:
            evidence = self._evidence(question, setting)
            self.session.report(f"reading with {reader.label} …")
            contexts = reader.contexts(evidence)
            answer = reader.read(question.question, evidence, contexts=contexts, trace=Trace())
            self._attempts[key] = Attempt(question, setting, evidence, contexts.retrieved, contexts.shown, answer)
        return self._attempts[key]._replace(question=question, setting=setting)

    def of(self, question: Question) -> list[Attempt]:
        """All attempts at a question, in order."""
        return [one for one in self._attempts.values() if one.question.question == question.question]

    def compressed(self, attempt: Attempt, setting: Setting) -> Compressed:
        """The full context of an attempt, compressed."""
        if (there := attempt.shown.compressed) and attempt.setting == setting:
            return there
        whole = self._reader(replace(setting, compress="", check=False)).tables(attempt.evidence, attempt.full)
        return compressor(setting.compressor or "graph-walk").compress(attempt.question.question, whole)

    def proof(self, attempt: Attempt) -> Proof:
        """The answer checked by executing a query on the facts of the evidence: the query that the reply holds, else
        one that the engine writes for the question."""
        answer = attempt.answer
        if answer.proof:
            return answer.proof
        self.session.report("executing the query …")
        query = None if parse(answer.thought).flaw else answer.thought
        return verify(answer, attempt.evidence, self.index, self.engine, query=query)

    def facts(self, attempt: Attempt) -> list[Triple]:
        """The facts on which a query is executed."""
        return facts_of(attempt.evidence, self.index)

    def _evidence(self, question: Question, setting: Setting) -> Evidence:
        if setting.method not in self.session.methods:
            raise SettingError(f"{setting.method!r} is not among {', '.join(self.session.methods)}")
        return self.session.evidence(question, setting.method)

    def _reader(self, setting: Setting) -> ContextReader:
        executed = setting.prompt == EXECUTED and not setting.route
        if not executed and setting.prompt not in PROMPTS and not setting.route:
            raise SettingError(f"prompt={setting.prompt!r} is unknown; choose {', '.join(prompts())}")
        given: dict[str, Any] = {"compress": setting.compressor} if setting.compress else {}
        given |= {"route": True} if setting.route else {}
        given |= {"check": True} if setting.check and not executed else {}
        if setting.retry != ("auto" if setting.route else "none"):
            given["retry"] = None if setting.retry == "none" else setting.retry
        if executed:
            return reader(EXECUTED, self.engine, index=self.index, **given)
        given |= {"k": None, "budget": WHOLE} | ({} if setting.route else {"prompt": setting.prompt})
        return reader("direct", self.engine, index=self.index, **given)


def prompts() -> list[str]:
    return [*PROMPTS, EXECUTED]


def methods_over(index: Index, methods: Sequence[str | Method] | None = None) -> dict[str, str | Method]:
    """Methods by label; by default those of `RETRIEVED` whose layers the index has."""
    if methods is None:
        methods = [name for name in RETRIEVED if _built(name, index)]
    return {one if isinstance(one, str) else one.label: one for one in methods}


def _built(name: str, index: Index) -> bool:
    return name in METHODS and set(METHODS[name].layers) <= set(index.manifest["layers"])
