"""Step `write_patterns`: a question as triple patterns, to be executed on the retrieved facts (ours; the SPARQL chain
of thought of the thesis writes patterns too, but executes none).

The context shows the wording of the facts; the rule body takes names from its titles and otherwise uses only the
question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from workbench.llm.shapes import Blank
from workbench.llm.step import Step

MOST = 4  # patterns of a query, as the prompt of the thesis has it
BY = ("earlier", "later", "more", "less", "same", "difference")
LONGEST = 12_000  # characters of the context that are shown: wordings, not evidence


@dataclass(frozen=True)
class Input:
    """`titles` of the passages in the context are names that the rule body knows."""

    question: str
    context: str
    titles: tuple[str, ...] = ()

    @property
    def beginning(self) -> str:
        return self.context[:LONGEST]


class TriplePattern(BaseModel):
    subject: str
    predicate: str
    object: str


class Compare(BaseModel):
    """See `sparql.query.Comparison`."""

    by: Literal[BY]
    of: list[str]
    pick: list[str]


class Output(BaseModel):
    """No patterns: the question cannot be put in them."""

    patterns: list[TriplePattern]
    wanted: Blank
    compare: Compare | None = None


STEP = Step.from_text("write_patterns", Input, Output, max_tokens=384, most=8, longest=200)
