"""What a reader is: evidence in, answer out."""

from __future__ import annotations

from typing import ClassVar, Protocol

from workbench.llm.engine import Engine
from workbench.reading.render import Context
from workbench.records import Answer, Evidence
from workbench.trace import Trace


class Reader(Protocol):
    """`label` is its SPEC. A failure of the engine is the answer's `failure`; it is never an exception."""

    name: ClassVar[str]
    steps: ClassVar[tuple[str, ...]]  # what a language model is asked
    reads_index: ClassVar[bool] = False  # whether it is built with an index, `index=…`
    label: str
    engine: Engine

    def context(self, evidence: Evidence) -> Context:
        """What the engine will be shown."""
        ...

    def read(self, question: str, evidence: Evidence, *, trace: Trace | None = None) -> Answer:
        """The answer; events go into `trace`, by default the evidence's own."""
        ...
