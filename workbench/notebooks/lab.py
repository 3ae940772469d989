"""What every notebook opens: data, an engine for the questions that it shows and one for the rest, and an index. What
cannot be shown displays itself as a sentence, so that no cell needs a condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import display, places
from workbench.analyses.base import Analysis
from workbench.data import load
from workbench.evaluation.endings import Endings, endings, example_of
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.index import Index
from workbench.llm.engine import engine as engine_of
from workbench.llm.worked import Ask, reasons
from workbench.methods import Method, method
from workbench.reading import Reader, reader
from workbench.records import Answer, Evidence, Question, Record

_PRINTED = {"Drawing": "drawing", "Map": "map", "Subgraph": "graph"}  # class of a record → its picture for print


class Absent(Record):
    """In place of a result, the sentence that says why there is none: false, empty, and so is all that is made of
    it."""

    def __init__(self, reason: str):
        self.reason = reason

    def __bool__(self) -> bool:
        return False

    def __iter__(self):
        return iter(())

    def __len__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **settings: Any) -> Absent:
        return self

    def __getitem__(self, key: Any) -> Absent:
        return self

    def __repr__(self) -> str:
        return self.reason


NO_SECOND = Absent("No second question was named, so none is shown.")


class Lab:
    """The data, the `engine` that answers the questions shown, the one that makes and answers the rest (`maker`, rules
    where the engine is `worked`), and the index with its `layers` and those that the `methods` need."""

    def __init__(
        self, data: str, engine: str, extraction: str | None = None, index: str | None = None, *,
        layers: Iterable[str] = (), methods: Iterable[str] = (), figures: str = "figures",
    ):  # fmt: skip
        self.data, self.engine, self.worked = load(data), engine_of(engine), engine == "worked"
        self.maker = engine_of("rules") if self.worked else self.engine
        facts = extraction or ("curated" if self.worked else None)
        self.index = Index.build(self.data, self.maker, index, extraction=facts, keep=True, layers=tuple(layers))
        for spec in methods:
            self.index = method(spec, self.index, self.maker).index
        self.folder = places.home() / figures / self.data.name

    def question(self, chosen: str | None, worked: str = "") -> Question:
        """The chosen question, an id or a text; else the one with `worked` replies, or the first of the data. The id of
        a worked example that is no question of the data stands for its text."""
        wanted = chosen or (worked if self.worked and worked else None)
        example = example_of(self.engine, wanted or "")
        return self.data.question(example.question if example else wanted)

    def second(self, chosen: str | None, worked: str, first: Question | Absent = NO_SECOND) -> Question | Absent:
        """Another question to show, by default the one with `worked` replies, or the `first` again."""
        return self.question(chosen, worked) if chosen or self.worked else first

    def questions(self, limit: int | None, *, spread: bool = False) -> tuple[Question, ...]:
        """The first questions of the data, or as many `spread` over them."""
        step = max(1, len(self.data.questions) // (limit or len(self.data.questions) or 1)) if spread else 1
        return tuple(self.data.questions[::step][:limit])

    def method(self, spec: str, **settings: Any) -> Method:
        """A method for the questions shown."""
        return method(spec, self.index, self.engine, **settings)

    @property
    def reader(self) -> Reader:
        return reader("direct", self.engine)

    def read(self, question: Question, evidence: Evidence) -> Answer:
        return self.reader.read(question.question, evidence)

    def answer(self, question: Question, spec: str, prompt: str = "direct", *, k: int = 10, **settings: Any) -> Answer:
        """What a reader with this prompt answers from the `k` passages that a method ranks first."""
        evidence = self.method(spec, **settings).retrieve(question.question, k=k)
        return reader(prompt, self.engine).read(question.question, evidence)

    def fails(self, question: Question | Absent, spec: str) -> Ask | Absent:
        """What was written of the failure of a method on a question."""
        ask = self.engine.written(question.question, spec) if self.worked and question else None
        return ask or Absent(f"No replies were written for {spec} to this question, so nothing says how it ends.")

    def endings(self, chosen: str | None, worked: str) -> Endings | Absent:
        """Where all configurations of a worked example end."""
        example = example_of(self.engine, chosen or worked)
        missing = f"{self.engine.name} has no worked example, so none is shown that fails."
        return endings(example, self.index, self.engine) if example else Absent(missing)

    def reasons(self, question: Question) -> Absent:
        """Why configurations fail on a question whose replies let them fail on purpose."""
        return Absent(reasons(self.engine, question.question) or "No replies were written that fail on this question.")

    def evaluate(
        self, specs: Sequence[str | Method], questions: Sequence[Question], *, read: bool = True,
        name: str | None = None, **settings: Any,
    ) -> Run | Absent:  # fmt: skip
        """These methods over questions, by the maker, in a folder of runs with this name and that of the data."""
        if not questions:
            return Absent(f"{self.data.name} has no questions with gold, so nothing was measured over many.")
        methods = [method(spec, self.index, self.maker) if isinstance(spec, str) else spec for spec in specs]
        out = places.home() / "runs" / f"{name}_{self.data.name}" if name else None
        return evaluate(questions, methods, reader("direct", self.maker) if read else None, out, **settings)

    def titled(self, title: str) -> str:
        return f"{title}: {self.data.name}, engine {self.engine.name}"

    def save(self, number: str, **things: Any) -> Path:
        """Write pictures (as PNG, SVG and PDF, with their data as CSV), analyses, tables and a verdict into the folder
        of figures, named by the number of the notebook; what is absent is not written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, thing in things.items():
            place = self.folder / f"{number}_{name}"
            if isinstance(thing, pd.DataFrame):
                thing.to_csv(place.with_suffix(".csv"), index=thing.index.name is not None)
            elif isinstance(thing, Verdict):
                thing.save(place.with_suffix(".json"))
            elif not isinstance(thing, Absent):
                figure = thing.figure() if isinstance(thing, Analysis) else thing
                kind = _PRINTED.get(type(figure).__name__)
                (display.picture(kind, figure) if kind else figure).save(place)
        return self.folder
