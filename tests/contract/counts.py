"""How many requests reach a paid engine, Step by Step, for what a user does again and again.

    python tests/contract/counts.py      write requests.json anew

The engine imitates a model: its replies are the rules', and what it is asked is counted. No change may ask for more."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [] if "imitated" in sys.modules else [str(ROOT / "tests")]

from canonical import PORTABLE  # noqa: E402
from imitated import Imitated  # noqa: E402

import workbench as wb  # noqa: E402
from workbench.data import Dataset  # noqa: E402
from workbench.index import Index  # noqa: E402
from workbench.llm.batch import Export  # noqa: E402
from workbench.llm.call import CallFailed, Reply, Request  # noqa: E402
from workbench.llm.engine import Engine  # noqa: E402
from workbench.testing.data import HashEncoder  # noqa: E402

REQUESTS = Path(__file__).parent / "requests.json"
LAYERS = ("synonyms", "typed", "resolved", "relabelled", "communities", "summaries", "entity_summaries", "skeleton",
          "schema_graph", "tree")  # fmt: skip
METHODS = ("hipporag2", "catrag", "lightrag", "ircot", "bdtr", "youtu")
Counts = dict[str, int]


class Failing(Imitated):
    """Requests for triples of some passages fail, until told otherwise."""

    failing = True

    def _reply(self, request: Request) -> Reply:
        step, value = self.asked(request)
        if self.failing and step.name == "triples" and sum(value.title.encode()) % 3 == 0:
            raise CallFailed("the server says no")
        return super()._reply(request)


def counted(engine: Imitated, done: Callable[[], object]) -> Counts:
    """Requests by Step that the engine was sent meanwhile."""
    before = {step: used.calls for step, used in engine.meter.steps.items()}
    done()
    after = {step: used.calls - before.get(step, 0) for step, used in engine.meter.steps.items()}
    return {step: calls for step, calls in sorted(after.items()) if calls}


def build(data: Dataset, engine: Engine, folder: Path) -> Index:
    return Index.build(data, engine, folder, encoder=HashEncoder(), layers=LAYERS, settings=PORTABLE, progress=False)


def exported(data: Dataset, folder: Path) -> int:
    """Requests of the first round of a batch, for an index."""
    with Export(folder, progress=False) as export:
        engine = export.engine("openai:gpt-4o-mini")
        build(data, engine, folder / "index")
    return export.requests


def all_counts(folder: Path) -> Iterator[tuple[str, Counts]]:
    """(what is done, what it asks), one after another over the same folders."""
    meridian = wb.load("meridian")
    # No answer has these words, so that each is left to the judge.
    gold = ("whoever is meant, in other words",)
    questions = [replace(one, answers=gold) for one in meridian.questions if one.answers][:4]
    first, rest = meridian.passages[:24], meridian.passages[24:28]
    data = Dataset("meridian", first, questions)

    engine = Imitated()
    yield "build", counted(engine, lambda: build(data, engine, folder / "index"))
    yield "build again", counted(engine, lambda: build(data, engine, folder / "index"))
    yield "insert", counted(engine, lambda: Index.open(folder / "index").insert(rest, engine, progress=False))
    gone = [rest[0].id]
    yield "delete", counted(engine, lambda: Index.open(folder / "index").delete(gone, engine, progress=False))
    failing = Failing()
    yield "build with failures", counted(failing, lambda: build(data, failing, folder / "failed"))
    failing.failing = False
    yield "retry", counted(failing, lambda: build(data, failing, folder / "failed"))

    asked, judge = Imitated(), Imitated("openai:gpt-4.1")
    index = Index.open(folder / "index")
    methods = [wb.method(name, index, asked) for name in METHODS]
    reader = wb.reader("direct", asked)

    def evaluate(limit: int, judged: bool = False) -> object:
        settings = {"judge": judge} if judged else {}
        return wb.evaluate(questions, methods, reader, folder / "run", limit=limit, progress=False, **settings)

    yield "evaluate two questions", counted(asked, lambda: evaluate(2))
    yield "evaluate four", counted(asked, lambda: evaluate(4))
    yield "evaluate again", counted(asked, lambda: evaluate(4))
    yield "judge", counted(judge, lambda: evaluate(4, judged=True))
    yield "judge again", counted(judge, lambda: evaluate(4, judged=True))
    readers = ("direct", "direct[k=2]")
    folders = folder / "grid"
    yield "batch", {"requests": exported(data, folder / "batch")}
    yield "grid", counted(asked, lambda: wb.grid(questions[:2], methods, readers, folders, progress=False))


def recorded() -> dict[str, Counts]:
    return json.loads(REQUESTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        found = dict(all_counts(Path(place)))
    REQUESTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
