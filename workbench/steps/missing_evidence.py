"""Step `missing_evidence`: the information that is still missing, and nothing else (Graph-CoT, arXiv 2404.07103, as
"Beyond Static Retrieval" adapts it to documents).

The paper gives one worked example per data set; the wording is ours, with one invented example for all."""

from __future__ import annotations

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.next_thought import CONCLUSION, Input, Output, read
from workbench.steps.passage_list import FOUNDER, QUESTION, STATION, numbered

_SYSTEM = texts("missing_evidence")["system"]

_FIRST = "The birthplace of Nora Whitlock is missing."
_EXAMPLE = (
    (Input(QUESTION, (STATION,)), _FIRST),
    (Input(QUESTION, (FOUNDER, STATION), (_FIRST,)), f"{CONCLUSION} Norway"),
)


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, ((_asked(shown), said) for shown, said in _EXAMPLE), _asked(value))


def _asked(value: Input) -> str:
    searched = "\n".join(f"- {thought}" for thought in value.thoughts) or "none"
    return f"Documents:\n{numbered(value.passages)}\n\nSearched for before:\n{searched}\n\nQuestion: {value.question}"


STEP = Step("missing_evidence", Output, prompt, read=read, max_tokens=128)
