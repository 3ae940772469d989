"""Step `enough`: do the facts found so far suffice to answer the question? (Think-on-Graph's question after each depth;
the wording is ours. The released code shows the facts of the last depth only, ours shows all.)"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts


@dataclass(frozen=True)
class Input:
    """Facts in the order in which they were found."""

    question: str
    facts: tuple[tuple[str, str, str], ...]


class Output(BaseModel):
    enough: bool


_TEXTS = texts("enough")
_SYSTEM = _TEXTS["system"]

_EXAMPLES = example(_TEXTS["examples"], tuple[tuple[Input, Output], ...])


def prompt(value: Input) -> list[Message]:
    examples = ((_asked(example), json.dumps(output.model_dump())) for example, output in _EXAMPLES)
    return conversation(_SYSTEM, examples, _asked(value))


def _asked(value: Input) -> str:
    return json.dumps({"question": value.question, "facts": value.facts}, ensure_ascii=False)


STEP = Step("enough", Output, prompt, max_tokens=256)
