"""Step `fast_thought`: the fast query of a round of BDTR by a prompt of its own ("Beyond Static Retrieval", section
3.1; figure 8 shows one prompt for both, the Step `dual_thoughts`). Our words."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step
from workbench.steps.dual_thoughts import Input
from workbench.steps.prose import Query


class Output(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    query: Query


STEP = Step.from_text("fast_thought", Input, Output, max_tokens=256)
