"""Step `generation`: an answer with brief reasoning from the documents at hand, right or wrong; it becomes the next
query (ITER-RETGEN, arXiv 2305.15294; our words)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Message, Step
from workbench.llm.wording import example, texts
from workbench.steps.passage_list import numbered


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text)."""

    question: str
    passages: tuple[tuple[str, str], ...]


class Output(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    reasoning: str
    answer: str


_TEXTS = texts("generation")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], Input)
_EXAMPLE_ANSWER = Output(
    reasoning="Kestrel FM was founded by Nora Whitlock, who was born in Alderby, a place in Norway.", answer="Norway"
)


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(_EXAMPLE)},
        {"role": "assistant", "content": json.dumps(_EXAMPLE_ANSWER.model_dump())},
        {"role": "user", "content": _asked(value)},
    ]


def _asked(value: Input) -> str:
    return f"Documents:\n{numbered(value.passages)}\n\nQuestion: {value.question}"


STEP = Step("generation", Output, prompt, max_tokens=384, longest=1_200)
