"""Step `named_entities`: the named entities of a passage (HippoRAG 2, arXiv 2502.14802; our wording), in at most 2048
new tokens."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Message, Step
from workbench.llm.wording import texts


@dataclass(frozen=True)
class Input:
    title: str
    text: str


class Output(BaseModel):
    """Years come as numbers from some models; anything else that is no string is left to fail."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    named_entities: list[str]


_TEXTS = texts("named_entities")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = _TEXTS["example"]

_EXAMPLE_ANSWER = '{"named_entities": ["Kestrel FM", "Alderby", "Nora Whitlock", "3 May 1994", "Night Ferry"]}'


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _EXAMPLE},
        {"role": "assistant", "content": _EXAMPLE_ANSWER},
        {"role": "user", "content": f"{value.title}\n{value.text}"},
    ]


STEP = Step("named_entities", Output, prompt, max_tokens=2048, version=2, most=100, longest=200)
