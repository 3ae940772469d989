"""Step `community_report`: what a community of entities is about (Microsoft GraphRAG, arXiv 2404.16130; our wording).

The report cites the records of the context by their numbers. A rating off the scale is rejected, because it would rank
the report before all others.

Step `global_map`: the points of some community reports that help to answer a question, each with a score (global
search of Microsoft GraphRAG, arXiv 2404.16130; our wording).

Step `global_reduce`: an answer from the points that several analysts found in their reports (global search of
Microsoft GraphRAG, arXiv 2404.16130; our wording). Besides the source's long answer, ours asks for the shortest exact
one, or all of several, which can be compared with gold answers."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, field_validator

from workbench.llm.shapes import Blank
from workbench.llm.step import Step
from workbench.steps.answer import Mode


@dataclass(frozen=True)
class Community:
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


class Report(BaseModel):
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


REPORT = Step.from_text("community_report", Community, Report, max_tokens=4096, most=15, longest=None)


@dataclass(frozen=True)
class MapInput:
    """`context` is what a model reads; `reports` the same as (title, text), for the rule body."""

    question: str
    context: str
    reports: tuple[tuple[str, str], ...]


class Point(BaseModel):
    description: str
    score: float


class MapOutput(BaseModel):
    """No point: the reports say nothing towards the question."""

    points: list[Point]

    @field_validator("points")
    @classmethod
    def _on_the_scale(cls, points: list[Point]) -> list[Point]:
        for point in points:
            if not 0 <= point.score <= 100:
                raise ValueError(f"the score {point.score} is not one from 0 to 100")
        return points


MAP = Step.from_text("global_map", MapInput, MapOutput, max_tokens=2048, most=50, longest=1_000)


@dataclass(frozen=True)
class ReduceInput:
    """`context` is what a model reads; `points` holds the same for the rule body, most important first."""

    question: str
    context: str
    points: tuple[str, ...]
    mode: Mode = "reject"


class ReduceOutput(BaseModel):
    """`abstained` is true where the points do not hold the answer; `answer` is then empty."""

    response: str
    answer: Blank
    abstained: bool


REDUCE = Step.from_text("global_reduce", ReduceInput, ReduceOutput, max_tokens=4096, longest=None, version=2)
