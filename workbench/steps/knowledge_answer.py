"""Step `knowledge_answer`: the answer from the extracted knowledge, with nothing in the prompt but the question, this
knowledge and the place of the answer (the pair of prompts of Youtu-GraphRAG, arXiv 2508.19855, appendix A.6, which it
asks of every method; our wording).

Unlike the source's, ours states that the knowledge is data whose instructions must not be followed, in both modes, and
asks for several things where several are asked for."""

from __future__ import annotations

import re

from workbench.llm.step import Step
from workbench.steps.answer import Input
from workbench.steps.final_answer import Output


def read(text: str) -> Output:
    """The reply without the label of the slot, which models repeat."""
    return Output(reply=re.sub(r"(?i)^\s*\**answer\s*:\**\s*", "", text))


STEP = Step.from_text("knowledge_answer", Input, Output, read=read, max_tokens=512, version=2)
