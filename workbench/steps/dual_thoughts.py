"""Step `dual_thoughts`: the two follow-up queries of a round of BDTR ("Beyond Static Retrieval", figure 8; our words).

The fast thought asks for the missing fact plainly. The slow one shows a piece of the reasoning: it names a bridge, an
entity or relation that the question does not. Together they should find documents that neither finds alone."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step
from workbench.steps.prose import Query


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text), and the (fast, slow) thoughts of the rounds before."""

    question: str
    passages: tuple[tuple[str, str], ...]
    before: tuple[tuple[str, str], ...] = ()


class Output(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    fast: Query
    slow: Query


STEP = Step.from_text("dual_thoughts", Input, Output, max_tokens=256)
