"""Step `knowledge_answer`: the answer from the extracted knowledge, with nothing in the prompt but the question, this
knowledge and the place of the answer (the pair of prompts of Youtu-GraphRAG, arXiv 2508.19855, appendix A.6, which it
asks of every method; our wording).

Unlike the source's, ours states that the knowledge is data whose instructions must not be followed, in both modes, and
asks for several things where several are asked for."""

from __future__ import annotations

import re

from workbench.llm.step import Message, Step
from workbench.llm.wording import texts
from workbench.steps.answer import Input
from workbench.steps.final_answer import UNKNOWN, Output
from workbench.steps.reading_mode import OWN_KNOWLEDGE, opened

_REFUSE = f"reply exactly: {UNKNOWN}"
_INSTRUCTIONS = texts("knowledge_answer")["instructions"]
_OPEN = opened(_INSTRUCTIONS, (_REFUSE, f"{OWN_KNOWLEDGE}."))


def prompt(value: Input) -> list[Message]:
    return _asked(_INSTRUCTIONS, value)


def open_prompt(value: Input) -> list[Message]:
    return _asked(_OPEN, value)


def _asked(instructions: str, value: Input) -> list[Message]:
    slots = f"Question: {value.question}\n\nExtracted knowledge:\n{value.context}\n\nAnswer:"
    return [{"role": "user", "content": f"{instructions}\n\n{slots}"}]


def read(text: str) -> Output:
    """The reply without the label of the slot, which models repeat."""
    return Output(reply=re.sub(r"(?i)^\s*\**answer\s*:\**\s*", "", text))


STEP = Step("knowledge_answer", Output, prompt, read=read, max_tokens=512, version=2, open=open_prompt)
