"""Step `judge`: is an answer right, given the gold answers? The last stage of `accuracy:thesis` ("The Reasoning
Bottleneck in Graph-RAG", arXiv 2603.14045, section 4.5: temperature 0, at most 160 tokens, JSON with a
verdict and a short reason, several gold answers joined by " | "). The wording is ours: the source's is not printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, field_validator

from workbench.llm.shapes import Blank
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts


@dataclass(frozen=True)
class Input:
    """`gold`: the answer and its aliases."""

    question: str
    gold: tuple[str, ...]
    prediction: str


class Output(BaseModel):
    verdict: Literal["correct", "incorrect", "unknown"]
    reason: Blank

    @field_validator("verdict", mode="before")
    @classmethod
    def _plain(cls, value):
        return value.strip().casefold() if isinstance(value, str) else value


_TEXTS = texts("judge")
_SYSTEM = _TEXTS["system"]

_EXAMPLES = example(_TEXTS["examples"], tuple[tuple[Input, Output], ...])


def prompt(value: Input) -> list[Message]:
    examples = ((_asked(example), json.dumps(output.model_dump())) for example, output in _EXAMPLES)
    return conversation(_SYSTEM, examples, _asked(value))


def _asked(value: Input) -> str:
    """JSON, so that no text can pretend to be another field."""
    fields = {"question": value.question, "gold_answers": " | ".join(value.gold), "prediction": value.prediction}
    return json.dumps(fields, ensure_ascii=False)


STEP = Step("judge", Output, prompt, max_tokens=160, longest=300)
