"""Step `concluding_thoughts`: the two queries of the last round of BDTR together with the chain of reasoning, in one
reply ("Beyond Static Retrieval", section 3.2; its Algorithm 1 writes the chain after the last search, which is the Step
`reasoning_chain`).

The chain is written before what these queries find is known. Not shown in the paper; the wording is ours."""

from __future__ import annotations

from workbench.llm.step import Step
from workbench.steps import dual_thoughts, reasoning_chain
from workbench.steps.dual_thoughts import Input


class Output(reasoning_chain.Output, dual_thoughts.Output):
    """The queries, and the chain with its steps and bridges."""


STEP = Step.from_text("concluding_thoughts", Input, Output, max_tokens=768, most=20, longest=1200)
