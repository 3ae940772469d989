"""Step `stepwise_answer`: sub-questions answered one after the other, then the answer (the generic chain of thought of
"The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, companion code; the wording of the steps is ours).

As in the source, there is one user message, no system message, and no warning about instructions in the context. The
sentence on several things is ours."""

from __future__ import annotations

from workbench.llm.step import Message, Step
from workbench.steps.answer import Input
from workbench.steps.final_answer import CUE, SEVERAL, UNKNOWN, Output, read, shown
from workbench.steps.reading_mode import opened
from workbench.steps.sparql_answer import OPEN_CLAUSES, ROLE

_INSTRUCTIONS = f"""{ROLE}

Step 1: Split the question into simpler sub-questions that can be answered one at a time.
Step 2: For each sub-question, find the part of the context that it is about and write the intermediate answer.
Step 3: Combine the intermediate answers.
Step 4: End with the line {CUE} <the answer in a few words>. {SEVERAL} \
Where the context does not tell it, write {CUE} {UNKNOWN}."""
_OPEN = opened(_INSTRUCTIONS, *OPEN_CLAUSES)


def prompt(value: Input) -> list[Message]:
    return [{"role": "user", "content": shown(_INSTRUCTIONS, value.context, value.question)}]


def open_prompt(value: Input) -> list[Message]:
    return [{"role": "user", "content": shown(_OPEN, value.context, value.question)}]


STEP = Step("stepwise_answer", Output, prompt, read=read, max_tokens=512, version=3, open=open_prompt)
