"""Step `global_map`: the points of some community reports that help to answer a question, each with a score (global
search of Microsoft GraphRAG, arXiv 2404.16130; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, field_validator

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """`context` is what a model reads; `reports` the same as (title, text), for the rule body."""

    question: str
    context: str
    reports: tuple[tuple[str, str], ...]


class Point(BaseModel):
    description: str
    score: float


class Output(BaseModel):
    """No point: the reports say nothing towards the question."""

    points: list[Point]

    @field_validator("points")
    @classmethod
    def _on_the_scale(cls, points: list[Point]) -> list[Point]:
        for point in points:
            if not 0 <= point.score <= 100:
                raise ValueError(f"the score {point.score} is not one from 0 to 100")
        return points


STEP = Step.from_text("global_map", Input, Output, max_tokens=2048, most=50, longest=1000)
