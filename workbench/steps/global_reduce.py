"""Step `global_reduce`: an answer from the points that several analysts found in their reports (global search of
Microsoft GraphRAG, arXiv 2404.16130; our wording). Besides the source's long answer, ours asks for the shortest exact
one, or all of several, which can be compared with gold answers."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Blank
from workbench.llm.step import Step
from workbench.steps.answer import Mode


@dataclass(frozen=True)
class Input:
    """`context` is what a model reads; `points` holds the same for the rule body, most important first."""

    question: str
    context: str
    points: tuple[str, ...]
    mode: Mode = "reject"


class Output(BaseModel):
    """`abstained` is true where the points do not hold the answer; `answer` is then empty."""

    response: str
    answer: Blank
    abstained: bool


STEP = Step.from_text("global_reduce", Input, Output, max_tokens=4096, longest=None, version=2)
