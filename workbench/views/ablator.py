"""Why is a covered question still answered wrongly? Choose a question, a method, a prompt; compress, route, ask again.

ablator = ablate(index, data.questions)               # shows itself; asks the methods that the index has layers for
ablator.ask("Who built the bridge?", prompt="cot")    # what the controls do, as functions; gives the Answer
ablator.ask(compress="graph-walk", budget=2000)       # the same question with another setting
ablator.compressed(budget=1000)                       # full and compressed context side by side
ablator.prove()                                       # the query behind the answer, its bindings hop by hop
ablate(grid, data.questions)                          # a whole grid, or a run: see workbench.views.failures
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.index import Index
from workbench.llm import engine as engine_named
from workbench.llm.engine import Engine
from workbench.methods import Method
from workbench.records import Answer, Compressed, Proof, Question, Reading, Record
from workbench.views.ablation_takes import Setting, Takes, prompts
from workbench.views.base import NAME, Markup, clean, details, esc, page, short, table, text
from workbench.views.canvas import Frame
from workbench.views.contexts import STYLE, Marks, compressed_part, graph_part
from workbench.views.controls import spoken
from workbench.views.drawing import drawing_frame, drawing_legend
from workbench.views.failures import Failures
from workbench.views.proof_drawing import HEIGHT, proof_drawing
from workbench.views.proofs import mark_part, proof_part
from workbench.views.records import REPLY, said_of, unread_of
from workbench.views.trace import tree

K = 20  # passages ranked, as in a run
PROPOSED = 200  # questions that a list offers; any other can be typed
COMPRESSORS = ("graph-walk", "similarity")
BUDGETS = (250, 500, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000)  # cl100k tokens
TABS = ("context", "query", "trace", "tried so far")
_LONG = 20_000  # characters of a text that is unfolded by hand
_ROW = {"flex_flow": "row wrap", "align_items": "center"}


class Ablator(Record):
    """The controls, and what they show: a `take` of one question, made with the `setting`, and its `proof` where one
    was asked for."""

    def __init__(
        self,
        index: Index,
        questions: Sequence[Question] = (),
        *,
        engine: Engine | str = "rules",
        methods: Sequence[str | Method] | None = None,
        compressors: Sequence[str] = COMPRESSORS,
        theme: str = "light",
        k: int = K,
        **setting: Any,
    ):
        """`methods` are SPECs or methods, by default those of KET-RAG, LightRAG, HippoRAG 2 and dense retrieval that
        the index has the layers for. `compressors` are SPECs that are proposed. `setting` is where one starts:
        `method`, `prompt`, `compress`, `budget`, `route`, `retry`, `check`."""
        engine = engine_named(engine) if isinstance(engine, str) else engine
        self._takes = Takes(index, questions or _asked_of(index), engine, methods, k)
        self._takes.said = self._say
        self.theme, self.proof = theme, None
        start = Setting(self._takes.methods[0], compress=compressors[0] if compressors else "")
        self.setting = start.changed({"check": engine.name == "rules"} | setting)
        self._quiet = False
        self._make_controls(compressors)
        self._question = self._takes.questions[0]
        self.ask()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def ask(self, question: str | None = None, **setting: Any) -> Answer:
        """Show a question (its id, its text, or any other text), by default the one that is shown, with a setting:
        those that are not given stay as they are."""
        asked = self._question if question is None else self._takes.find(question)
        changed = self.setting.changed(setting)
        take = self._takes.take(asked, changed)  # before anything moves, so that an error leaves all be
        self._question, self.setting, self.take = asked, changed, take
        self.proof = take.answer.proof
        self._draw()
        return take.answer

    def compressed(self, compress: str | None = None, budget: int | None = None) -> Compressed:
        """The context in full and compressed, by default as the controls say; the answer stays as it is."""
        given = {"compress": compress, "budget": budget}
        changed = self.setting.changed({name: value for name, value in given.items() if value is not None})
        made = self._takes.compressed(self.take, changed)
        self._context.value = page(STYLE, compressed_part(made, self._gold, limit=_LONG))
        return made

    def prove(self) -> Proof:
        """Carry out the query behind the answer on the facts of the evidence, and show what that says of the answer."""
        self.proof = self._takes.proof(self.take)
        self._draw_proof()
        self._tabs.selected_index = 1
        return self.proof

    @property
    def answer(self) -> Answer:
        return self.take.answer

    def __repr__(self) -> str:
        return f"Ablator with {self.setting.method}: {text(self.answer)}"

    def _repr_mimebundle_(self, **options: Any):
        """The widget, and beside it what a page without a kernel can show."""
        proof = proof_part(self.proof) if self.proof else ""
        still = drawing_frame(self._drawn, theme=self.theme) + drawing_legend(self._drawn) if self._drawn.nodes else ""
        shown = page(STYLE, self._heading(), self._context_part(), proof) + still
        return self.widget._repr_mimebundle_(**options) | {"text/html": shown}

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self, compressors: Sequence[str]) -> None:
        takes, setting = self._takes, self.setting
        self._ids = {_label(question): question.id or question.question for question in takes.questions}
        self._asked = widgets.Combobox(
            description="question", options=list(self._ids)[:PROPOSED], ensure_option=False,
            continuous_update=False, layout={"width": "auto"},
        )  # fmt: skip
        proposed = dict.fromkeys([*compressors, *filter(None, [setting.compress])])
        retries = [("leave it", "none"), *((f"ask {name}", name) for name in ("auto", *prompts()[:-1]))]
        choices = {
            "method": ("retrieval", takes.methods),
            "prompt": ("prompt", prompts()),
            "retry": ("abstained?", retries),
            "compress": ("context", [("full", ""), *((f"compressed: {name}", name) for name in proposed)]),
        }
        self._controls: dict[str, widgets.Widget] = {
            name: widgets.Dropdown(options=options, description=description, layout={"width": "270px"})
            for name, (description, options) in choices.items()
        }
        self._controls |= {
            "budget": widgets.SelectionSlider(
                options=BUDGETS, value=4_000, description="tokens ≤", continuous_update=False, layout={"width": "270px"}
            ),
            "route": widgets.Checkbox(description="route by kind", indent=False, layout={"width": "9em"}),
            "check": widgets.Checkbox(description="execute the query", indent=False, layout={"width": "11em"}),
        }
        self._said, self._head, self._context, self._proof, self._legend, self._trace, self._tried = (
            widgets.HTML() for _ in range(7)
        )
        self._prove = widgets.Button(description="execute the query", layout={"width": "auto"})
        self._frame = Frame(self.theme, HEIGHT)
        self._picture = widgets.Box([], layout={"width": "100%"})
        self._tabs = widgets.Tab(
            [
                self._context,
                widgets.VBox([self._prove, self._proof, self._picture, self._legend]),
                self._trace,
                self._tried,
            ],
            titles=TABS,
        )
        self._asked.observe(self._on(lambda asked: asked and self.ask(self._ids.get(asked, asked))), "value")
        for name, control in self._controls.items():
            control.observe(self._on(lambda value, name=name: self.ask(**{name: value})), "value")
        prove = self._on(lambda _: self.prove())
        self._prove.on_click(lambda _: prove({"new": None}))
        retrieval, prompt, retry, compress, budget, route, check = (
            self._controls[name] for name in ("method", "prompt", "retry", "compress", "budget", "route", "check")
        )
        self.widget = widgets.VBox(
            [
                self._asked,
                widgets.Box([retrieval, compress, budget], layout=_ROW),
                widgets.Box([prompt, retry, route, check], layout=_ROW),
                self._said,
                self._head,
                self._tabs,
            ]
        )
        self.widget.add_class("hopscope-ablator")

    def _on(self, action: Callable[[Any], Any]) -> Callable[[dict], None]:
        return spoken(self._said, action, self._set_controls, lambda: self._quiet)

    def _say(self, words: str) -> None:
        self._said.value = page(f"<p class='q'>{esc(words, NAME)}</p>")

    def _set_controls(self) -> None:
        """Controls that say what is shown; where an action fails they go back to it."""
        self._quiet = True
        try:
            self._asked.value = _label(self._question)
            for name, control in self._controls.items():
                value, options = getattr(self.setting, name), list(getattr(control, "options", ()))
                if options and value not in [one[1] if isinstance(one, tuple) else one for one in options]:
                    control.options = sorted([*options, value]) if name == "budget" else [*options, (value, value)]
                control.value = value
            self._controls["budget"].disabled = not self.setting.compress
            self._controls["prompt"].disabled = self.setting.route
        finally:
            self._quiet = False

    def _draw(self) -> None:
        self._set_controls()
        self._said.value = ""
        self._head.value = page(STYLE, self._heading())
        self._context.value = page(STYLE, self._context_part())
        thought = details("what was answered, whole", f"<pre>{esc(self.answer.thought, _LONG)}</pre>", open=True)
        traces = {"retrieval": self.take.evidence.trace, "reading": self.answer.trace}
        told = (details(name, tree(made), open=name == "reading") for name, made in traces.items() if made)
        self._trace.value = page(thought if self.answer.thought else "", *told)
        self._tried.value = page(self._tried_part())
        self._draw_proof()

    def _draw_proof(self) -> None:
        """The bindings as a table and as a picture; where nothing was executed, a button to do so."""
        self._drawn = proof_drawing(self.proof or Proof(), self._takes.facts(self.take) if self.proof else ())
        self._proof.value = page(proof_part(self.proof)) if self.proof else ""
        self._prove.layout.display = "none" if self.proof else None
        if self._drawn.nodes:
            self._frame.draw(self._drawn)
        self._picture.children = [self._frame] if self._drawn.nodes else []
        said = page(f"<p class='q'>{esc(text(self._drawn))}</p>") + drawing_legend(self._drawn)
        self._legend.value = said if self._drawn.nodes else ""

    # -- what is shown ------------------------------------------------------------------------------------------------

    @property
    def _gold(self) -> tuple[str, ...]:
        return self._question.answers

    def _heading(self) -> str:
        """The answer, what it is worth, how it came about, and whether the context holds the gold answer."""
        answer, take = self.answer, self.take
        said = f"<b>{esc(answer.text, NAME) or '<i>no answer</i>'}</b>"
        if answer.failure:
            said = f"<span class='bad'>{esc(answer.failure, 400)}</span>"
        elif answer.abstained:
            said = "<i>abstained</i>"
        gold = f" &nbsp; gold: {esc(' · '.join(self._gold), NAME)}" if self._gold else ""
        verdict = f" &nbsp; {_judged(take.verdict)}" if take.verdict else ""
        by = f"{said_of(answer.reading)}; " if answer.reading else ""
        rules = "by rules, no language model" if answer.engine == "rules" else f"by {answer.engine}"
        return "".join(
            (
                f"<p>{said}{verdict}{gold}</p>",
                f"<p class='q'>the model replied: {esc(unread, REPLY)}</p>" if (unread := unread_of(answer)) else "",
                mark_part(self.proof) if self.proof else "",
                f"<p class='q'>{esc(by + rules, 600)}; {self._covered()}</p>",
            )
        )

    def _covered(self) -> str:
        """Whether the gold answer is in the context, before and after compression."""
        take = self.take
        before, after = (take.score("coverage", of=of) for of in (take.full, take.shown))
        if before is None:
            return f"context of {take.full.tokens:,} tokens"
        held = {True: "holds the gold answer", False: "does not hold the gold answer"}
        said = f"the full context ({take.full.tokens:,} tokens) {held[before > 0]}"
        if take.shown.compressed:
            said += f", the compressed one ({take.shown.tokens:,} tokens) {held[after > 0]}"
        return said

    def _context_part(self) -> str:
        if self.take.shown.compressed:
            return compressed_part(self.take.shown.compressed, self._gold, limit=_LONG)
        full, marks = self.take.full, Marks(gold=self._gold)
        tables = graph_part(full.graph, marks=marks) if full.graph else ""
        whole = details("the text that the reader is shown", f"<pre>{marks(full.text, _LONG)}</pre>", open=not tables)
        return f"<p><b>full</b>, {full.tokens:,} tokens</p>{tables}{whole}"

    def _tried_part(self) -> str:
        """Every setting that this question was asked with."""
        rows = []
        for take in self._takes.tried(self._question):
            answer, reading = take.answer, take.answer.reading or Reading("")
            said = "(abstained)" if answer.abstained else answer.failure or answer.text
            routed = f", routed as {reading.kind}" if reading.kind else ""
            prompt = f"{reading.prompt}{routed}{', again' * reading.retried}"
            texts = (clean(one, NAME) for one in (take.setting.method, prompt, reading.compressor, said))
            rows.append((*texts, Markup(_judged(take.verdict)), take.shown.tokens))
        return table(["retrieval", "prompt", "compressed by", "answer", "", "tokens"], rows)


def _judged(verdict: str) -> str:
    return f"<span class='{'tag' if verdict.startswith('right') else 'bad'}'>{esc(verdict)}</span>"


def _asked_of(index: Index) -> list[Question]:
    """Where no question is given: one about what the index holds."""
    first = index.passages.passages[0]
    return [Question("own", f"What is {short(first.title or first.text, 80)}?")]


def _label(question: Question) -> str:
    """What a list shows; an own question is only its text."""
    listed = question.id and question.id != "own" and question.question
    return clean(f"{question.id}: {question.question}" if listed else question.question or question.id, 300)


def ablator(source: Any, questions: Sequence[Question] = (), **settings: Any) -> Ablator | Failures:
    """The widget that fits the source: an index is asked; of a grid, a run or a diagnosis the wrong answers are gone
    through."""
    if isinstance(source, Index):
        return Ablator(source, questions, **settings)
    return Failures(source, questions or None, **settings)
