"""Hostile texts on their whole way: files → data → index with every layer → every method → every reader → traces,
displays, widgets → exports, and back where an export can be read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from direction import harm_of_direction
from hostile_texts import TEXTS, Page, harm_of_csv, harm_of_lines, harm_of_page
from hostile_words import called, crash_of, verbs_over

import workbench as wb
from workbench import exchange
from workbench.data import Dataset
from workbench.errors import WorkbenchError
from workbench.evaluation import Run
from workbench.index import Index
from workbench.index.building import LAYERS
from workbench.methods import METHODS
from workbench.reading import READERS
from workbench.testing import HashEncoder
from workbench.testing.contract import OVER_HASHES
from workbench.trace import Trace

PLACES = ("passage id", "title", "text", "entity", "relation", "question id", "question", "answer", "type", "hop")
SETTINGS = {"summaries": {"reduction": "pca"}, "communities": {"min_members": 2}}  # UMAP compiles for a minute
WIDGETS = ("explore", "replay", "trace_dots", "steer", "tree", "messages", "ablate")
SHOWN = 3  # questions of each method whose evidence and answers are shown


class Input(NamedTuple):
    """A text of `TEXTS` in one place of a passage or a question."""

    text: str
    place: str


def every_input() -> list[Input]:
    return [Input(text, place) for text in TEXTS for place in PLACES]


class Harm(Exception):
    """What a hostile text did where it should have been a text."""


# -- the data --------------------------------------------------------------------------------------------------------


def write_data(inputs: Sequence[Input], folder: Path) -> Path:
    """A data folder with a passage, an extraction and a question for each input."""
    folder.mkdir(parents=True)
    files: dict[str, list[dict]] = {"corpus": [], "openie": [], "questions": []}
    for at, one in enumerate(inputs):
        held = {
            "passage id": f"p{at}", "title": f"Town {at}", "text": "It lies on the River Aldra, as Orsby does.",
            "entity": f"Town {at}", "relation": "lies on", "question id": f"q{at}", "type": "bridge",
            "question": f"On which river does Town {at} lie?", "answer": "River Aldra", "hop": "Where is it?",
        }  # fmt: skip
        held[one.place] = TEXTS[one.text]
        triples = [[held["entity"], held["relation"], "River Aldra"], ["Orsby", "twin of", held["entity"]]]
        files["corpus"].append({"id": held["passage id"], "title": held["title"], "text": held["text"]})
        files["openie"].append({"passage_id": held["passage id"], "entities": [held["entity"]], "triples": triples})
        hop = {"question": held["hop"], "answer": held["answer"], "support": held["passage id"]}
        files["questions"].append({
            "id": held["question id"], "question": held["question"], "answers": [held["answer"]], "type": held["type"],
            "hops": 2, "support": [held["passage id"]], "decomposition": [hop],
        })  # fmt: skip
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "ascii")
    return folder


# -- the way ---------------------------------------------------------------------------------------------------------


class Walk:
    """What becomes of some inputs in a folder of their own; every harm is listed in `harms`."""

    def __init__(self, inputs: Sequence[Input], folder: Path):
        self.inputs, self.folder, self.harms = inputs, folder, list[str]()

    def go(self) -> list[str]:
        data = self.loaded()
        index = self.built(data)
        run = self.evaluated(index, data)
        self.shown(index, data)
        self.widgets(index, data)
        self.exported(index, run, data)
        self.told(index, run, data)
        self.stays_inside()
        return self.harms

    def note(self, what: str, harms: Sequence[str]) -> None:
        self.harms += [f"{what}: {harm}" for harm in harms]

    def same(self, what: str, before: Any, after: Any) -> None:
        if before != after:
            self.harms.append(f"{what}: {_difference(before, after)}")

    def show(self, what: str, thing: Any) -> None:
        self.note(f"{what}, in a terminal", harm_of_lines(repr(thing)))
        self.note(f"{what}, in a page", harm_of_page(thing._repr_html_()))

    def loaded(self) -> Dataset:
        data = wb.load(write_data(self.inputs, self.folder / "data"))
        self.show("the data", data)
        for record in (*data.passages, *data.questions, *data.extractions):
            self.show(type(record).__name__, record)
        again = wb.load(wb.write_folder(data, self.folder / "written"))
        self.same("data written and read", data, replace(again, name=data.name, folder=data.folder))
        return data

    def built(self, data: Dataset) -> Index:
        index = Index.build(
            data, wb.engine("rules"), self.folder / "index", encoder=HashEncoder(), layers=list(LAYERS),
            settings=SETTINGS, progress=False,
        )  # fmt: skip
        self.same("passages of the index", data.passages, tuple(Index.open(index.folder).passages.passages))
        return index

    def evaluated(self, index: Index, data: Dataset) -> Run:
        """Every method over every question, and every reader over one method."""
        methods = [wb.method(OVER_HASHES.get(name, name), index) for name in METHODS]
        run = wb.evaluate(data.questions, methods, wb.reader("direct"), self.folder / "run", progress=False)
        dense = [wb.method("dense", index)]
        grid = wb.grid(data.questions, dense, {name: name for name in READERS}, self.folder / "grid", progress=False)
        for one in (run, *grid.runs.values()):
            for row in one.rows:
                if row["failure"]:
                    self.harms.append(f"{row['method']} failed on {row['question_id']!r}: {row['failure']}")
            self.show("a run", one)
            self.note("table.csv", harm_of_csv((one.folder / "table.csv").read_text("utf-8")))
        self.show("a grid", grid)
        self.same(
            "rows of the run", [q.id for q in data.questions], list(dict.fromkeys(r["question_id"] for r in run.rows))
        )
        return run

    def shown(self, index: Index, data: Dataset) -> None:
        for thing in (index, index.graph, index.usage, index.data, *index._layers.values(), wb.checkup(index)):
            self.show(type(thing).__name__, thing)
        for node in range(index.graph.nodes):
            self.show("a node", wb.node_details(index, node))
        for name in METHODS:
            method = wb.method(OVER_HASHES.get(name, name), index)
            for question in data.questions[:SHOWN]:
                evidence = method.retrieve(question.question)
                self.show(f"evidence of {name}", evidence)
                saved = evidence.trace.save(self.folder / "trace.jsonl")
                self.same("a trace saved and opened", evidence.trace, Trace.open(saved))
                self.show("an answer", wb.reader("direct", index=index).read(question.question, evidence))

    def widgets(self, index: Index, data: Dataset) -> None:
        for name, widget in open_widgets(index, data):
            page = widget.save(self.folder / "pages" / f"{name}.html").read_text("utf-8")
            self.note(f"the page of wb.{name}", [*Page(page).harm, *harm_of_direction(page)])  # its library is odd

    def exported(self, index: Index, run: Run, data: Dataset) -> None:
        out = self.folder / "exported"
        for path in exchange.to_csv(index, out / "csv"):
            self.note(path.name, harm_of_csv(path.read_text("utf-8")))
        exchange.to_graphml(index, out / "graph.graphml")
        gold = {question.id: question.support for question in data.questions}
        exchange.to_trec(run, out / "trec")
        judged = exchange.read_qrels(out / "trec" / "qrels.txt", data.questions, index.passages.row)
        self.same("gold by TREC", gold, {question.id: question.support for question in judged})
        for file in (out / "trec").glob("*.run"):
            self.note(file.name, harm_of_lines(file.read_text("utf-8")))
            exchange.read_run(file, data.questions, index.passages.row)
        spans = exchange.to_openinference(run, out / "spans.jsonl", passages=index.passages.passages, progress=False)
        for line in spans.read_text("utf-8").splitlines():
            json.loads(line)
        page = wb.bundle(run, out=out / "bundle.html", index=index, progress=False)
        self.note("the bundle", harm_of_page(page.read_text("utf-8")))

    def told(self, index: Index, run: Run, data: Dataset) -> None:
        """Verbs over what was made: what they print, and the pages that they write."""
        given = {
            "folder": index.folder, "place": index.folder, "run": run.folder, "first": run.folder, "second": run.folder,
            "data": data.folder, "questions": data.folder / "questions.jsonl", "source": data.folder,
            "question": data.questions[0].question, "to": self.folder / "told",
        }  # fmt: skip
        for verb, words in verbs_over(given):
            found = called(verb, words, self.folder / "home")
            self.note(f"workbench {verb[0]}", [*harm_of_lines(found.output.replace("\r", "")), *crash_of(found)])
        for page in self.folder.glob("home/**/*.html"):
            self.note(page.name, harm_of_page(page.read_text("utf-8")))

    def stays_inside(self) -> None:
        expected = {"data", "written", "index", "run", "grid", "trace.jsonl", "pages", "exported", "home", "told"}
        found = {path.name for path in self.folder.iterdir()}
        self.same("what lies in the folder", set(), found - expected)


def open_widgets(index: Index, data: Dataset) -> Iterator[tuple[str, Any]]:
    """Every widget over an index, by the name of its function."""
    for name in WIDGETS:
        given = {"method": OVER_HASHES["gfm_rag"]} if name == "messages" else {}
        yield name, getattr(wb, name)(index, *([] if name == "explore" else [data.questions]), **given)


def walk(inputs: Sequence[Input], folder: Path) -> dict[Input | None, list[str]]:
    """Input → what it did. Where a walk of several breaks off, its halves go on their own, down to the one to blame;
    a refusal of the product's own is an outcome."""
    whole = Walk(inputs, folder)
    try:
        harms = whole.go()
    except WorkbenchError as error:
        if len(inputs) == 1:
            return {inputs[0]: []} if not harm_of_lines(str(error)) else {inputs[0]: harm_of_lines(str(error))}
    except Exception as error:
        if len(inputs) == 1:
            return {inputs[0]: [f"crashed: {type(error).__name__}: {error}"]}
    else:
        return {one: [] for one in inputs} | ({None: harms} if harms else {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    middle = len(inputs) // 2
    halves = (inputs[:middle], inputs[middle:])  # in folders of their own: Chroma keeps the files of a path open
    return walk(halves[0], folder.with_name(f"{folder.name}a")) | walk(halves[1], folder.with_name(f"{folder.name}b"))


def _difference(before: Any, after: Any) -> str:
    if isinstance(before, Dataset):
        names = [name for name in before.__dataclass_fields__ if getattr(before, name) != getattr(after, name)]
        return "; ".join(f"{name}: {_difference(getattr(before, name), getattr(after, name))}" for name in names)
    if isinstance(before, tuple | list) and isinstance(after, tuple | list) and len(before) == len(after):
        return next((f"{a!r} became {b!r}" for a, b in zip(before, after) if a != b), "?")[:400]
    return f"{before!r} became {after!r}"[:400]
