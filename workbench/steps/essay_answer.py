"""Step `essay_answer`: an answer in full from the given context, as DotRAG's and LightRAG's comparisons of pairs of
answers need: comprehensiveness and coherence cannot be judged of a name. The papers ask for the format "multiple
paragraphs"; the wording is ours.

The answer is the whole reply. One that was cut for length stays, and says so."""

from __future__ import annotations

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.answer import Input
from workbench.steps.final_answer import UNKNOWN, Output, shown
from workbench.steps.prose import plain
from workbench.steps.reading_mode import OWN_KNOWLEDGE, opened

_TEXTS = texts("essay_answer")
_SYSTEM = _TEXTS["system"]
_OPEN = opened(_SYSTEM, (" context alone", " context"), (f"say only: {UNKNOWN}", f"{OWN_KNOWLEDGE}."))

_EXAMPLE = _TEXTS["example"]
_EXAMPLE_ANSWER = _TEXTS["example answer"]


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_EXAMPLE, _EXAMPLE_ANSWER)], shown("", value.context, value.question))


def open_prompt(value: Input) -> list[Message]:
    return conversation(_OPEN, [(_EXAMPLE, _EXAMPLE_ANSWER)], shown("", value.context, value.question))


def read(text: str) -> Output:
    """The reply without what models put around it; a refusal to answer, JSON or a table is unreadable."""
    reply = plain(text, "answer", names=["answer"])
    if not any(map(str.isalnum, reply)):
        raise ValueError("no word in the reply")
    return Output(reply=reply)


STEP = Step("essay_answer", Output, prompt, read=read, max_tokens=1500, open=open_prompt)
