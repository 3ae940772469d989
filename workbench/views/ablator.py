"""A widget that shows why a covered question is answered wrongly: vary method, prompt, compression and routing.

ablator = ablate(index, data.questions)               # shows itself; runs the methods whose layers the index has
ablator.ask("Who built the bridge?", prompt="cot")    # the controls as functions; returns the Answer
ablator.ask(compress="graph-walk", budget=2000)       # the same question with another setting
ablator.compressed(budget=1000)                       # full and compressed context side by side
ablator.prove()                                       # the query behind the answer, its bindings hop by hop
ablator.tried()                                       # all settings tried on this question, with their outcome
ablate(grid, data.questions)                          # a whole grid, or a run: see workbench.views.failures
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import ipywidgets as widgets
import pandas as pd

from workbench.data.folder import OWN
from workbench.display import text
from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm import engine as engine_named
from workbench.llm.engine import Engine, no_model, whose_words
from workbench.measures import Outcome, measure
from workbench.methods import METHODS, Method
from workbench.operators.types import types_of
from workbench.reading import reader
from workbench.reading.base import ContextReader
from workbench.reading.compression import compressor
from workbench.reading.prompts import PROMPTS
from workbench.reading.render import Context
from workbench.records import Answer, Compressed, Evidence, Proof, Question, Reading
from workbench.settings import parse_spec, spec_of
from workbench.sparql import facts_of, parse, verify
from workbench.text import clean, counted, short
from workbench.trace import Trace
from workbench.views.contexts import Marks, compressed_part, graph_part
from workbench.views.drawing import drawing_frame
from workbench.views.failures import Failures
from workbench.views.palette import AUTO
from workbench.views.parts import (
    NAME,
    Part,
    bad,
    code,
    details,
    faint,
    fold,
    group,
    italic,
    line,
    quiet,
    strong,
    table,
    tag,
)
from workbench.views.proofs import HEIGHT, proof_drawing, proof_part
from workbench.views.records import REPLY, reading_text, unread_reply
from workbench.views.render import page
from workbench.views.session import Live, question_label
from workbench.views.trace import tree
from workbench.views.widget import Widget, question_box, row, texts

EXECUTED = "sparql-exec"  # the reader that takes its answer from executing the query
RETRIEVED = ("ket_rag", "lightrag", "hipporag2", "dense")
WHOLE = 12_000  # cl100k tokens of a context before compression, where the method has no layout of its own


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
        names = [field.name for field in fields(self)]
        if unknown := [name for name in given if name not in names]:
            raise SettingError(f"the setting {unknown[0]!r} cannot be changed here; choose one of {', '.join(names)}")
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


def prompts() -> list[str]:
    return [*PROMPTS, EXECUTED]


def methods_over(index: Index, methods: Sequence[str | Method] | None = None) -> dict[str, str | Method]:
    """Methods by label; by default those of `RETRIEVED` whose layers the index has."""
    if methods is None:
        built = set(index.manifest["layers"])
        methods = [name for name in RETRIEVED if name in METHODS and set(METHODS[name].layers) <= built]
    return {method if isinstance(method, str) else method.label: method for method in methods}


K = 20  # passages ranked, as in a run
COMPRESSORS = ("graph-walk", "similarity")
BUDGETS = (250, 500, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000)  # cl100k tokens
TRIED = ("retrieval", "prompt", "compressed by", "answer", "outcome", "tokens")
TABS = ("context", "query", "trace", "tried so far")
_LONG = 20_000  # characters of a text that is unfolded by hand


class Ablator(Widget):
    """The controls, and their result: an `attempt` at one question with the `setting`, and its `proof` on request."""

    name = "ablator"

    def __init__(
        self,
        index: Index,
        questions: Sequence[Question] = (),
        *,
        engine: Engine | str = "rules",
        methods: Sequence[str | Method] | None = None,
        compressors: Sequence[str] = COMPRESSORS,
        theme: str = AUTO,
        k: int = K,
        **setting: Any,
    ):
        """`methods` are SPECs or methods, by default those of KET-RAG, LightRAG, HippoRAG 2 and dense retrieval whose
        layers the index has. `compressors` are the SPECs to choose from. `setting` is the initial setting: `method`,
        `prompt`, `compress`, `budget`, `route`, `retry`, `check`."""
        super().__init__(theme)
        engine = engine_named(engine) if isinstance(engine, str) else engine
        self._session = Live(index, questions or _proposed(index), methods_over(index, methods), engine, k=k)
        if not self._session.methods:
            raise SettingError("there is no method to ask; give methods=[…]")
        self._session.report = lambda words: self._message.show(quiet(short(words, NAME)))
        self._attempts: dict[tuple, Attempt] = {}
        self.proof: Proof | None = None
        start = Setting(self._session.methods[0], compress=compressors[0] if compressors else "")
        self.setting = start.changed({"check": engine.name == "rules"} | setting)
        self._question = self._session.questions[0]
        self._make_controls(compressors)
        self.ask()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def ask(self, question: str | int | None = None, **setting: Any) -> Answer:
        """Answer a question (its id, text or position, or any other text), by default the current one, and show the
        result. Settings that are not given stay as they are."""
        chosen = self._question if question is None else self._session.find_or_own(question)
        changed = self.setting.changed(setting)
        # Computed before any state changes, so that an error changes nothing.
        attempt = self._attempt(chosen, changed)
        proof = self._execute(attempt) if changed.check else attempt.answer.proof
        self._question, self.setting, self.attempt = chosen, changed, attempt
        self.proof = proof
        self._draw()
        return attempt.answer

    def compressed(self, compress: str | None = None, budget: int | None = None) -> Compressed:
        """The full and the compressed context, by default with the settings of the controls; the answer is
        unchanged."""
        given = {"compress": compress, "budget": budget}
        changed = self.setting.changed({name: value for name, value in given.items() if value is not None})
        compressed = self.attempt.shown.compressed
        if not compressed or changed != self.attempt.setting:
            whole = self._reader(replace(changed, compress="", check=False))
            tables = whole.tables(self.attempt.evidence, self.attempt.full)
            compressed = compressor(changed.compressor or "graph-walk").compress(self.attempt.question.question, tables)
        self._context.show(self._compressed_part(compressed))
        return compressed

    def prove(self) -> Proof:
        """Execute the query behind the answer on the facts of the evidence, and show whether it supports the answer."""
        self.proof = self._execute(self.attempt)
        self._draw_proof()
        self._tabs.selected_index = 1
        return self.proof

    def tried(self) -> pd.DataFrame:
        """Every setting tried on the current question: retrieval, prompt, compressor, answer, its outcome where there
        is gold, and the tokens that were read."""
        return pd.DataFrame(self._tried_rows(), columns=TRIED)

    @property
    def answer(self) -> Answer:
        return self.attempt.answer

    def static_html(self) -> str:
        proof = proof_part(self.proof) if self.proof else None
        picture = drawing_frame(self.drawing, theme=self.theme) if self.drawing else ""
        return page(self._heading(), self._context_part(), proof) + picture

    def __repr__(self) -> str:
        return f"Ablator with {self.setting.method}: {text(self.answer)}"

    # -- attempts -----------------------------------------------------------------------------------------------------

    def _attempt(self, question: Question, setting: Setting) -> Attempt:
        """The attempt at a question with a setting, cached. If the engine fails, the answer has the failure."""
        reader, session = self._reader(setting), self._session
        key = question.question, setting.method, reader.label
        if key not in self._attempts:
            if setting.method not in session.methods:
                raise SettingError(f"{setting.method!r} is not among the methods {', '.join(session.methods)}")
            evidence = session.evidence(question, setting.method)
            session.report(f"reading with {reader.label} …")
            contexts = reader.contexts(evidence)
            answer = reader.read(question.question, evidence, contexts=contexts, trace=Trace())
            self._attempts[key] = Attempt(question, setting, evidence, contexts.retrieved, contexts.shown, answer)
        return self._attempts[key]._replace(question=question, setting=setting)

    def _execute(self, attempt: Attempt) -> Proof:
        """Check the answer by executing a query on the facts of the evidence: the query in the reply, otherwise one
        that the engine writes for the question."""
        answer, session = attempt.answer, self._session
        if answer.proof:
            return answer.proof
        session.report("executing the query …")
        query = None if parse(answer.thought).flaw else answer.thought
        return verify(answer, attempt.evidence, session.index, session.engine, query=query)

    def _reader(self, setting: Setting) -> ContextReader:
        index, engine, executed = self._session.index, self._session.engine, setting.prompt == EXECUTED
        executed = executed and not setting.route
        if not executed and setting.prompt not in PROMPTS and not setting.route:
            raise SettingError(f"prompt={setting.prompt!r} is unknown; choose {', '.join(prompts())}")
        given: dict[str, Any] = {"compress": setting.compressor} if setting.compress else {}
        given |= {"route": True} if setting.route else {}
        given |= {"check": True} if setting.check and not executed else {}
        if setting.retry != ("auto" if setting.route else "none"):
            given["retry"] = None if setting.retry == "none" else setting.retry
        if executed:
            return reader(EXECUTED, engine, index=index, **given)
        given |= {"k": None, "budget": WHOLE} | ({} if setting.route else {"prompt": setting.prompt})
        return reader("direct", engine, index=index, **given)

    def _tried_rows(self) -> list[tuple]:
        """A row for each attempt at the current question, in order."""
        question = self._question.question
        return [_tried(attempt) for attempt in self._attempts.values() if attempt.question.question == question]

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self, compressors: Sequence[str]) -> None:
        self._question_box = self._bind(
            question_box(self._session.questions, self._session.label),
            lambda typed: typed and self.ask(typed), lambda: question_label(self._question),
        )  # fmt: skip
        proposed = dict.fromkeys([*compressors, *filter(None, [self.setting.compress])])
        lists = {
            "method": ("retrieval", self._session.methods),
            "prompt": ("prompt", prompts()),
            "retry": ("abstained?", [("leave it", "none"), *((f"ask {n}", n) for n in ("auto", *prompts()[:-1]))]),
            "compress": ("context", [("full", ""), *((f"compressed: {name}", name) for name in proposed)]),
        }
        boxes = {"route": ("route by kind", "9em"), "check": ("execute the query", "11em")}
        wide = {"width": "270px"}
        self._controls = {
            name: widgets.Dropdown(options=options, description=description, layout=wide)
            for name, (description, options) in lists.items()
        } | {
            name: widgets.Checkbox(description=description, indent=False, layout={"width": width})
            for name, (description, width) in boxes.items()
        }  # fmt: skip
        self._controls["budget"] = widgets.SelectionSlider(
            options=BUDGETS, value=4_000, description="tokens ≤", continuous_update=False, layout=wide
        )
        for name, control in self._controls.items():
            self._bind(
                control,
                lambda value, name=name: self.ask(**{name: value}),
                lambda name=name: getattr(self.setting, name),
            )
        self._prove = widgets.Button(description="execute the query", layout={"width": "auto"})
        self._press(self._prove, self.prove)
        self._lay_out()

    def _lay_out(self) -> None:
        self._head, self._context, self._proof, self._drawn, self._trace, self._tried = texts(6)
        self._picture = self._picture_of(HEIGHT)
        query = widgets.VBox([self._prove, self._picture, self._drawn, self._proof])
        self._tabs = widgets.Tab([self._context, query, self._trace, self._tried], titles=TABS)
        self._stack(
            self._question_box,
            row(*(self._controls[name] for name in ("method", "compress", "budget"))),
            row(*(self._controls[name] for name in ("prompt", "retry", "route", "check"))),
            self._message,
            self._head,
            self._tabs,
        )

    def _show_controls(self) -> None:
        super()._show_controls()
        self._controls["budget"].disabled = not self.setting.compress
        self._controls["prompt"].disabled = self.setting.route

    def _draw(self) -> None:
        self._show_controls()
        self._message.show()
        self._head.show(self._heading())
        self._context.show(self._context_part())
        thought = fold("what was answered, whole", code(self.answer.thought, limit=_LONG), open=True)
        traces = {"retrieval": self.attempt.evidence.trace, "reading": self.answer.trace}
        parts = (details(name, tree(made), open=name == "reading") for name, made in traces.items() if made)
        self._trace.show(thought, *parts)
        rows = ((*cells, _judged(verdict), tokens) for *cells, verdict, tokens in self._tried_rows())
        self._tried.show(table(TRIED, rows))
        self._draw_proof()

    def _draw_proof(self) -> None:
        """The bindings as a table and as a picture, or a button to execute the query."""
        facts = facts_of(self.attempt.evidence, self._session.index) if self.proof else ()
        self.drawing = proof_drawing(self.proof or Proof(), facts, types=types_of(self._session.index))
        self._proof.show(proof_part(self.proof) if self.proof else None)
        self._prove.layout.display = "none" if self.proof or self.setting.check else None
        self._picture.draw(self.drawing)
        self._drawn.show(quiet(text(self.drawing)) if self.drawing else None)

    # -- display ------------------------------------------------------------------------------------------------------

    def _heading(self) -> Part | None:
        """The answer, its verdict, how it was produced, and whether the context contains the gold answer."""
        answer, gold = self.answer, " · ".join(self._question.answers)
        reply = italic("abstained") if answer.abstained else strong(answer.text, limit=NAME) or italic("no answer")
        mark, unread = self.proof.mark if self.proof else "", unread_reply(answer)
        by = f"{reading_text(answer.reading)}; " if answer.reading else ""
        by += f"by {whose_words(answer.engines)}{', no language model' * all(map(no_model, answer.engines))}"
        return group(
            line(
                bad(answer.failure, limit=400) or reply,
                _judged(self.attempt.verdict),
                f"gold: {clean(gold, NAME)}" if gold else "",
                faint(f"query: {clean(mark, NAME)}" if mark else ""),
                sep=" \u00a0 ",
            ),
            quiet(f"the model replied: {clean(unread, REPLY)}" if unread else ""),
            quiet(f"{clean(by, 600)}; {self._covered()}"),
        )

    def _covered(self) -> str:
        """Whether the gold answer is in the context, before and after compression."""
        attempt = self.attempt
        before, after = (attempt.score("coverage", of=of) for of in (attempt.full, attempt.shown))
        if before is None:
            return f"context of {attempt.full.tokens:,} tokens"
        holds = {True: "holds the gold answer", False: "does not hold the gold answer"}
        full = f"the full context ({counted(attempt.full.tokens, 'token')}) {holds[before > 0]}"
        if not attempt.shown.compressed:
            return full
        return f"{full}, the compressed one ({counted(attempt.shown.tokens, 'token')}) {holds[after > 0]}"

    def _context_part(self) -> Part | None:
        if self.attempt.shown.compressed:
            return self._compressed_part(self.attempt.shown.compressed)
        full, marks = self.attempt.full, Marks(gold=self._question.answers)
        tables = graph_part(full.graph, marks=marks) if full.graph else None
        return group(
            line(strong("full"), f", {counted(full.tokens, 'token')}", sep=""),
            tables,
            details("the text that the reader is shown", code(marks(full.text, _LONG)), open=not tables),
        )

    def _compressed_part(self, compressed: Compressed) -> Part | None:
        return compressed_part(compressed, self._question.answers, limit=_LONG, uncompressed=self.attempt.full.tokens)


def _tried(attempt: Attempt) -> tuple:
    answer, reading = attempt.answer, attempt.answer.reading or Reading("")
    reply = "(abstained)" if answer.abstained else answer.failure or answer.text
    routed = f", routed as {reading.kind}" if reading.kind else ""
    prompt = f"{reading.prompt}{routed}{', again' * reading.retried}"
    cells = (clean(cell, NAME) for cell in (attempt.setting.method, prompt, reading.compressor, reply))
    return *cells, attempt.verdict, attempt.shown.tokens


def _judged(verdict: str) -> Part | None:
    return (tag if verdict.startswith("right") else bad)(verdict)


def _proposed(index: Index) -> list[Question]:
    """The question about the first passage of the index, used if none is given."""
    first = index.passages.passages[0]
    return [Question(OWN, f"What is {short(first.title or first.text, 80)}?")]


def ablator(source: Any, questions: Sequence[Question] = (), **settings: Any) -> Ablator | Failures:
    """The widget for the source: an `Ablator` for an index; `Failures` for a grid, a run or a diagnosis."""
    if isinstance(source, Index):
        return Ablator(source, questions, **settings)
    return Failures(source, questions or None, **settings)
