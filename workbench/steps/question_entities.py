"""Step `question_entities`: the named entities of a question, from which CatRAG anchors its walk (arXiv 2602.01965; as
in its code, by a prompt of its own and not the one for passages; our wording), in at most 2048 new tokens."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.named_entities import Output


@dataclass(frozen=True)
class Input:
    question: str


_SYSTEM = texts("question_entities")["system"]

_EXAMPLE = "Is the founder of Kestrel FM older than Tom Reed, who wrote the play that it broadcast on 3 May 1994?"
_EXAMPLE_ANSWER = '{"named_entities": ["Kestrel FM", "Tom Reed", "3 May 1994"]}'


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_EXAMPLE, _EXAMPLE_ANSWER)], value.question)


STEP = Step("question_entities", Output, prompt, max_tokens=2048, most=100, longest=200)
