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

_SYSTEM = texts("essay_answer")["system"]
_OPEN = opened(_SYSTEM, (" context alone", " context"), (f"say only: {UNKNOWN}", f"{OWN_KNOWLEDGE}."))

_EXAMPLE = shown(
    "",
    "-----Paths-----\n1. Kestrel FM → Nora Whitlock → Alderby: Kestrel FM founded by Nora Whitlock; Nora Whitlock born "
    "in Alderby.\n\n-----Sources-----\nNora Whitlock\nNora Whitlock (born 1951 in Alderby) is a broadcaster.",
    "In which town was the founder of Kestrel FM born?",
)
_EXAMPLE_ANSWER = (
    "The founder of Kestrel FM was born in Alderby. The station was founded by the broadcaster Nora Whitlock, and she "
    "was born there in 1951."
)


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
