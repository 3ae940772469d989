"""Step `community_report`: what a community of entities is about (Microsoft GraphRAG, arXiv 2404.16130; our wording).

The report cites the records of the context by their numbers. A rating off the scale is rejected, because it would rank
the report before all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, field_validator

from workbench.llm.shapes import Blank
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """`context` is what a model reads; the other fields hold the same as records for the rule body, most important
    first.

    `entities` (name, description), `relationships` (source, target, description), `reports` (title, summary) on parts
    of the community, `share` of the passages, from 0 to 1, relative to the largest community of the level."""

    context: str
    entities: tuple[tuple[str, str], ...] = ()
    relationships: tuple[tuple[str, str, str], ...] = ()
    reports: tuple[tuple[str, str], ...] = ()
    share: float = 0.0


class Finding(BaseModel):
    summary: str
    explanation: str


class Output(BaseModel):
    title: str
    summary: str
    rating: float
    rating_explanation: Blank
    findings: list[Finding]

    @field_validator("rating")
    @classmethod
    def _on_the_scale(cls, rating: float) -> float:
        if not 0 <= rating <= 10:
            raise ValueError(f"the rating {rating} is not one from 0 to 10")
        return rating

    @property
    def text(self) -> str:
        """Summary and findings under headings, without the title."""
        parts = [self.summary, *(f"## {found.summary}\n{found.explanation}" for found in self.findings)]
        return "\n\n".join(part for part in parts if part.strip())

    @property
    def content(self) -> str:
        return f"# {self.title}\n\n{self.text}"


STEP = Step.from_text("community_report", Input, Output, max_tokens=4096, most=15, longest=None)
