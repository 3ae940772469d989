"""Step `essay_answer`: an answer in full from the given context, as DotRAG's and LightRAG's comparisons of pairs of
answers need: comprehensiveness and coherence cannot be judged of a name. The papers ask for the format "multiple
paragraphs"; the wording is ours.

The answer is the whole reply. One that was cut for length stays, and says so."""

from __future__ import annotations

from workbench.llm.step import Step
from workbench.steps.answer import Input
from workbench.steps.final_answer import Output
from workbench.steps.prose import plain


def read(text: str) -> Output:
    """The reply without what models put around it; a refusal to answer, JSON or a table is unreadable."""
    reply = plain(text, "answer", names=["answer"])
    if not any(map(str.isalnum, reply)):
        raise ValueError("no word in the reply")
    return Output(reply=reply)


STEP = Step.from_text("essay_answer", Input, Output, read=read, max_tokens=1500)
