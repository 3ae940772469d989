"""Step `link_names`: which names mean the same person or thing (the entity linking of AnonyRAG's construction;
Youtu-GraphRAG, arXiv 2508.19855; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts


@dataclass(frozen=True)
class Input:
    """(name, type) of names that have words in common, each once."""

    names: tuple[tuple[str, str], ...]


class Output(BaseModel):
    """Names that mean the same, the fullest first. A name that is in no group stands for itself."""

    groups: list[list[str]]


_SYSTEM = texts("link_names")["system"]

_EXAMPLE = Input((("Nora Whitlock", "person"), ("Nora", "person"), ("Whitlock", "person"), ("Tom Whitlock", "person")))
_EXAMPLE_ANSWER = Output(groups=[["Nora Whitlock", "Nora"]])


def prompt(value: Input) -> list[Message]:
    example = (_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))
    return conversation(_SYSTEM, [example], _asked(value))


def _asked(value: Input) -> str:
    return "\n".join(f"{name} ({type})" for name, type in value.names)


STEP = Step("link_names", Output, prompt, max_tokens=2048, most=100, longest=200)
