"""One small thing of each kind that the workbench keeps on disk, over six passages, by rules and the hash encoder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.data import Dataset
from workbench.evaluation import Grid, Run, evaluate, grid
from workbench.index import Index
from workbench.index.building import LAYERS
from workbench.llm.call import Reply, Request
from workbench.llm.engine import RulesEngine
from workbench.llm.record import Recording, recording
from workbench.methods import METHODS
from workbench.records import Question
from workbench.testing.contract import OVER_HASHES
from workbench.testing.data import TINY, HashEncoder

QUESTIONS = (
    Question("q1", "Which lake does the river at Orsby flow into?", ("Lake Mira",), "bridge", 2, ("p1", "p2")),
    Question("q2", "Where was the founder of Orsby born?", ("Orsby",), "bridge", 2, ("p1", "p4")),
)
SETTINGS = {"summaries": {"reduction": "pca"}, "communities": {"min_members": 2}}
RULES = RulesEngine()
_GIVEN = ("ranking",)  # a method over a file of rankings


def build(folder: Path) -> Index:
    """An index with every layer."""
    return Index.build(
        Dataset("tiny", TINY, QUESTIONS), RULES, folder, encoder=HashEncoder(), layers=list(LAYERS), settings=SETTINGS,
        progress=False,
    )  # fmt: skip


def methods(index: Index) -> Iterator[tuple[str, Any]]:
    """Every registered method over an index, by its name."""
    for name in METHODS:
        if name not in _GIVEN:
            yield name, wb.method(OVER_HASHES.get(name, name), index, RULES)


def rankings(folder: Path, k: int = 4) -> dict[str, list[tuple[str, float]]]:
    """What each method finds for the first question in the index of a folder: method → (passage, score)."""
    found = ((name, method.retrieve(QUESTIONS[0].question, k=k)) for name, method in methods(Index.open(folder)))
    return {name: evidence.ranking for name, evidence in found}


def run(folder: Path, index: Index) -> Run:
    """Two questions, two methods, a reader."""
    return evaluate(QUESTIONS, _two(index), wb.reader("direct", RULES), folder, progress=False)


def grown(folder: Path, index: Index, *readers: str) -> Grid:
    """The same with several readers."""
    return grid(QUESTIONS, _two(index), readers, folder, progress=False)


def _two(index: Index) -> list[Any]:
    return [wb.method(name, index, RULES) for name in ("dense", "hipporag2")]


def requests() -> list[Request]:
    """What is asked of a model, and recorded."""
    return [
        Request(step, "openai:one", ({"role": "user", "content": f"{step} {number}"},), None, 0.0, 64)
        for step in ("triples", "answer", "judge")
        for number in range(12)
    ]


def answered(request: Request) -> Reply:
    said = request.messages[0]["content"]
    return Reply(f"answer to {said}", prompt_tokens=len(said), completion_tokens=7)


def record(path: Path) -> None:
    with closing(Recording(path)) as store:
        ask = recording(answered, store)
        for request in requests():
            ask(request)
        store.keep_window("openai:one", 8192)
