"""Step `answer_briefly`: the answer alone, in a few words (the baseline prompt of "The Reasoning Bottleneck in
Graph-RAG", arXiv 2603.14045, companion code; our wording).

The content of the prompt, its labels and its abstaining phrase are the source's, so that results are comparable; the
sentence on several things is ours. Unlike our other prompts, it therefore does not state that the context is data whose
instructions must not be followed."""

from __future__ import annotations

from workbench.llm.step import Message, Step
from workbench.steps.answer import Input
from workbench.steps.final_answer import SEVERAL, UNKNOWN, Output, read, shown
from workbench.steps.reading_mode import OWN_KNOWLEDGE, opened

_SYSTEM = f"""Answer the question from the given context alone. Reply with the final answer only, in a few words, \
without any explanation. {SEVERAL} If the answer is not clearly in the context, reply exactly: {UNKNOWN}"""
_OPEN = opened(_SYSTEM, (" context alone", " context"), (f"reply exactly: {UNKNOWN}", f"{OWN_KNOWLEDGE}."))


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": shown("", value.context, value.question)},
    ]


def open_prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _OPEN},
        {"role": "user", "content": shown("", value.context, value.question)},
    ]


STEP = Step("answer_briefly", Output, prompt, read=read, max_tokens=160, version=2, open=open_prompt)
