"""Step `rank_passages`: passages of a list in the order in which they help to answer a question (after RankGPT, Sun et
al., arXiv 2304.09542, section 4; our wording).

The source numbers the passages and asks for all numbers; ours says that one which helps a step towards the answer
counts, because a question of several hops is not answered by the passages that are most like it."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Number
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """The passages of a list as (title, text), in the order that is to be improved."""

    question: str
    passages: tuple[tuple[str, str], ...]


class Output(BaseModel):
    """Numbers of the passages, from 1 on, best first; those that are not named stay behind."""

    documents: list[Number]


STEP = Step.from_text("rank_passages", Input, Output, max_tokens=512)
