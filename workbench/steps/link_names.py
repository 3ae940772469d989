"""Step `link_names`: which names mean the same person or thing (the entity linking of AnonyRAG's construction;
Youtu-GraphRAG, arXiv 2508.19855; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """(name, type) of names that have words in common, each once."""

    names: tuple[tuple[str, str], ...]


class Output(BaseModel):
    """Names that mean the same, the fullest first. A name that is in no group stands for itself."""

    groups: list[list[str]]


STEP = Step.from_text("link_names", Input, Output, max_tokens=2048, most=100, longest=200)
