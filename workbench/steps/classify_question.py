"""Step `classify_question`: bridge, comparison or inference (the router of "The Reasoning Bottleneck in Graph-RAG",
arXiv 2603.14045, section 3.5.2, whose prompt is used as it is printed). At most 5 tokens, temperature 0.

A reply that is none of the three labels counts as `bridge` and is `invalid`: a model that begins with a preamble always
gets this route."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step

KINDS = ("bridge", "comparison", "inference")
DEFAULT = "bridge"


@dataclass(frozen=True)
class Input:
    question: str


class Output(BaseModel):
    kind: str
    invalid: bool


_PROMPT = """Classify this question as exactly one of: bridge, comparison, inference.

Definitions:
- bridge: answer requires following an entity chain across facts
- comparison: answer compares two entities/values
- inference: answer requires implicit reasoning, not a clean entity chain

Reply with exactly one word: bridge, comparison, or inference

Question: {}"""


def prompt(value: Input) -> list[Message]:
    return [{"role": "user", "content": _PROMPT.replace("{}", value.question)}]


def read(text: str) -> Output:
    label = text.strip().lower().rstrip(".").strip('"')
    invalid = label not in KINDS
    return Output(kind=DEFAULT if invalid else label, invalid=invalid)


STEP = Step("classify_question", Output, prompt, read=read, max_tokens=5)
