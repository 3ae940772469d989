"""What flows between the stages of DotRAG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.steps.judge_paths import Verdict
from workbench.trace import Trace

Nodes = tuple[int, ...]  # a path, as rows of entities


class Concept(NamedTuple):
    """What a DOT is made of: a name of the question (`low`) with what it probably is, or a topic (`high`)."""

    level: str
    text: str
    description: str = ""
    type: str | None = None

    @property
    def query(self) -> str:
        return f"{self.text}: {self.description}" if self.description else self.text


class Anchor(NamedTuple):
    """An entity (row) that a concept stands for; `exact` where it bears that very name."""

    row: int
    similarity: float
    exact: bool = False


@dataclass(frozen=True)
class Dot:
    """A division of thought: a concept and its anchors, best first. `weak`: none of them was similar enough."""

    number: int
    concept: str
    level: str
    anchors: tuple[Anchor, ...]
    weak: bool = False

    @property
    def rows(self) -> list[int]:
        return [anchor.row for anchor in self.anchors]


@dataclass(frozen=True)
class KeptPath:
    """A path that the judge did not reject. `passage` is the path in words."""

    id: str
    nodes: Nodes
    passage: str
    verdict: Verdict

    @property
    def dot(self) -> int:
        return int(self.id.partition(".")[0])

    @property
    def complete(self) -> bool:
        return self.verdict.label == "complete"

    @property
    def rank(self) -> tuple:
        """Complete before partial, then by confidence, then shorter ones, then by nodes."""
        return (not self.complete, -self.verdict.confidence, len(self.nodes), self.nodes)


class Ground:
    """What all stages stand on: the index, the engine, the settings, and what the prompts say of the graph."""

    def __init__(self, index: Index, engine: Engine, settings):
        self.index, self.typed, self.engine, self.settings = index, index.typed, engine, settings
        schema, counts = self.typed.schema, self.typed.type_counts
        self.about = schema.description
        self.types = tuple((t.name, t.definition, counts.get(t.name, 0)) for t in schema.entity_types)
        self.relations = self.typed.relations

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, one per text."""
        return self.index.encode(texts)

    def ask(self, step: Step, value, trace: Trace) -> Result:
        return self.engine.run(step, [value], trace=trace)[0]


def without_prefixes(paths: Sequence[KeptPath]) -> dict[str, str]:
    """Ids of the paths that are the beginning of another one → the id of that. A complete path stays beside a partial
    one that goes on from it. What goes does not depend on the order of the paths."""
    return {
        path.id: longer.id
        for path in paths
        for longer in paths
        if len(path.nodes) < len(longer.nodes)
        and longer.nodes[: len(path.nodes)] == path.nodes
        and (longer.complete or not path.complete)
    }
