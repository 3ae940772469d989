"""Step `summarise_entity`: what a graph says of an entity, as one short text (the entity context C(v) of CatRAG, arXiv
2602.01965, Eq. 2; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts


@dataclass(frozen=True)
class Input:
    """`limit`: the most cl100k tokens of the summary."""

    entity: str
    facts: tuple[tuple[str, str, str], ...]
    limit: int = 150


class Output(BaseModel):
    summary: str


_TEXTS = texts("summarise_entity")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], Input)
_EXAMPLE_ANSWER = Output(
    summary="nora whitlock is a sound engineer born in alderby. She founded kestrel fm and presents night ferry."
)


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))], _asked(value))


def _asked(value: Input) -> str:
    facts = "\n".join(f"- {statement(fact)}" for fact in value.facts)
    return f"Entity: {value.entity}\nAt most {value.limit} tokens.\nFacts:\n{facts}"


def statement(fact: tuple[str, str, str]) -> str:
    """A fact as words.

    >>> statement(("lake mira", "lies in", "orsby"))
    'lake mira lies in orsby.'
    """
    return " ".join(part for part in fact if part) + "."


STEP = Step("summarise_entity", Output, prompt, max_tokens=256, longest=1_200)
