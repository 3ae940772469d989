"""Step `stepwise_answer`: sub-questions answered one after the other, then the answer (the generic chain of thought of
"The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, companion code; the wording of the steps is ours).

As in the source, there is one user message, no system message, and no warning about instructions in the context. The
sentence on several things is ours."""

from __future__ import annotations

from workbench.llm.step import Message, Step
from workbench.llm.wording import texts
from workbench.steps.answer import Input
from workbench.steps.final_answer import Output, read, shown
from workbench.steps.reading_mode import opened
from workbench.steps.sparql_answer import OPEN_CLAUSES

_INSTRUCTIONS = texts("stepwise_answer")["instructions"]
_OPEN = opened(_INSTRUCTIONS, *OPEN_CLAUSES)


def prompt(value: Input) -> list[Message]:
    return [{"role": "user", "content": shown(_INSTRUCTIONS, value.context, value.question)}]


def open_prompt(value: Input) -> list[Message]:
    return [{"role": "user", "content": shown(_OPEN, value.context, value.question)}]


STEP = Step("stepwise_answer", Output, prompt, read=read, max_tokens=512, version=3, open=open_prompt)
