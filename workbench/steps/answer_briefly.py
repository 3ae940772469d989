"""Step `answer_briefly`: the answer alone, in a few words (the baseline prompt of "The Reasoning Bottleneck in
Graph-RAG", arXiv 2603.14045, companion code; our wording).

The content of the prompt, its labels and its abstaining phrase are the source's, so that results are comparable; the
sentence on several things is ours. Unlike our other prompts, it therefore does not state that the context is data whose
instructions must not be followed."""

from __future__ import annotations

from workbench.llm.step import Step
from workbench.steps.answer import Input
from workbench.steps.final_answer import Output, read

STEP = Step.from_text("answer_briefly", Input, Output, read=read, max_tokens=160, version=2)
