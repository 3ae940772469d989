"""What an ablation widget shows of one question: evidence, the context before and after compression, the answer.

Each is made once: evidence for a question and a method, an answer for these and a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.measures import Outcome, measure
from workbench.methods import METHODS, Method, method
from workbench.reading import reader
from workbench.reading.base import ContextReader
from workbench.reading.compression import compressor
from workbench.reading.prompts import PROMPTS
from workbench.reading.render import Context
from workbench.records import Answer, Compressed, Evidence, Proof, Question, Triple
from workbench.sparql import facts_of, parse, verify
from workbench.spec import parse_spec, spec_of
from workbench.trace import Trace

EXECUTED = "sparql-exec"  # the reader that takes its answer from executing the query
RETRIEVED = ("ket_rag", "lightrag", "hipporag2", "dense")
WHOLE = 12_000  # cl100k tokens of a context before compression, where the method lays out none of its own


@dataclass(frozen=True)
class Setting:
    """What is varied. `compress` is a SPEC without its budget, empty for the full context; `prompt` does not count with
    `route`; `retry` is a prompt, `auto` (with `route`: the other one) or `none`."""

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


class Take(NamedTuple):
    """One question with one setting. `full` is the context before compression, `shown` what the reader was shown."""

    question: Question
    setting: Setting
    evidence: Evidence
    full: Context
    shown: Context
    answer: Answer

    def score(self, name: str, *, of: Context | None = None) -> float | None:
        """A measure of the answer, or of a context; None where it is not defined, as without gold."""
        said = self.answer
        made = Outcome(
            [], answer=said.text, abstained=said.abstained, failed=said.failure is not None, reading=said.reading,
            context=(of or self.full).text,
        )  # fmt: skip
        return measure(name)(self.question, made) if self.question.answers else None

    @property
    def verdict(self) -> str:
        """What became of the question, in words; empty where it has no gold answer."""
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


class Takes:
    """What is asked of an index, and what has been asked. `said` is told what is being done."""

    def __init__(
        self,
        index: Index,
        questions: Sequence[Question],
        engine: Engine,
        methods: Sequence[str | Method] | None,
        k: int,
    ):
        self.index, self.questions, self.engine, self._k = index, list(questions), engine, k
        chosen = [one for one in RETRIEVED if _built(one, index)] if methods is None else methods
        self._methods = {one if isinstance(one, str) else one.label: one for one in chosen}
        self._evidence: dict[tuple, Evidence] = {}
        self._takes: dict[tuple, Take] = {}
        self.said: Callable[[str], Any] = lambda words: None
        if not self._methods:
            raise SettingError("there is no method to ask; give methods=[…]")

    @property
    def methods(self) -> list[str]:
        return list(self._methods)

    def find(self, question: str) -> Question:
        """A question of the list, by its id or its text, or any other text."""
        known = (one for one in self.questions if question in (one.id, one.question))
        return next(known, None) or Question("own", question)

    def take(self, question: Question, setting: Setting) -> Take:
        """The answer with a setting. A failure of the engine is that of the answer."""
        made = self._reader(setting)
        key = question.question, setting.method, made.label
        if key not in self._takes:
            evidence = self._retrieve(question, setting.method)
            self.said(f"reading with {made.label} …")
            contexts = made.contexts(evidence)
            answer = made.read(question.question, evidence, contexts=contexts, trace=Trace())
            self._takes[key] = Take(question, setting, evidence, contexts.retrieved, contexts.shown, answer)
        return self._takes[key]._replace(question=question, setting=setting)

    def tried(self, question: Question) -> list[Take]:
        """All takes of a question, in the order in which they were made."""
        return [take for take in self._takes.values() if take.question.question == question.question]

    def compressed(self, take: Take, setting: Setting) -> Compressed:
        """The full context of a take, compressed."""
        if (there := take.shown.compressed) and take.setting == setting:
            return there
        whole = self._reader(replace(setting, compress="", check=False)).tables(take.evidence, take.full)
        return compressor(setting.compressor or "graph-walk").compress(take.question.question, whole)

    def proof(self, take: Take) -> Proof:
        """What executing a query on the facts of the evidence says of an answer: the query that the reply holds, else
        one that the engine writes for the question."""
        if take.answer.proof:
            return take.answer.proof
        self.said("executing the query …")
        own = None if parse(take.answer.thought).flaw else take.answer.thought
        return verify(take.answer, take.evidence, self.index, self.engine, query=own)

    def facts(self, take: Take) -> list[Triple]:
        """Those among which a query is matched."""
        return facts_of(take.evidence, self.index)

    def _retrieve(self, question: Question, name: str) -> Evidence:
        if name not in self._methods:
            raise SettingError(f"{name!r} is not among {', '.join(self._methods)}")
        if (question.question, name) not in self._evidence:
            self.said(f"retrieving with {name} …")
            if isinstance(self._methods[name], str):
                self._methods[name] = method(self._methods[name], self.index, self.engine)
            self._evidence[question.question, name] = self._methods[name].retrieve(question.question, self._k)
        return self._evidence[question.question, name]

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


def _built(name: str, index: Index) -> bool:
    return name in METHODS and set(METHODS[name].layers) <= set(index.manifest["layers"])
