"""Step `slow_thought`: the slow query of a round of BDTR by a prompt of its own, as `fast_thought` the fast one
("Beyond Static Retrieval", section 3.1). Our words."""

from __future__ import annotations

from workbench.llm.step import Step
from workbench.steps.dual_thoughts import Input
from workbench.steps.fast_thought import Output

STEP = Step.from_text("slow_thought", Input, Output, max_tokens=256)
