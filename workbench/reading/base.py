"""What a reader is: evidence in, answer out."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from workbench.records import Answer, Evidence
from workbench.trace import Trace


class Reader(Protocol):
    """`label` is its SPEC. A failure of the engine is the answer's `failure`; it is never an exception."""

    name: ClassVar[str]
    label: str

    def read(self, question: str, evidence: Evidence, *, trace: Trace | None = None) -> Answer: ...

    def __init__(self, engine: Any = None, **settings: Any): ...
