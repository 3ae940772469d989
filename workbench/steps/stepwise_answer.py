"""Step `stepwise_answer`: sub-questions answered one after the other, then the answer (the generic chain of thought of
"The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, companion code; the wording of the steps is ours).

As in the source, there is one user message, no system message, and no warning about instructions in the context. The
sentence on several things is ours."""

from __future__ import annotations

from workbench.llm.step import Step
from workbench.steps.answer import Input
from workbench.steps.final_answer import Output, read

STEP = Step.from_text("stepwise_answer", Input, Output, read=read, max_tokens=512, version=3)
