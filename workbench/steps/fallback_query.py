"""Step `fallback_query`: another query around the same anchors, once no partial path has a next question (DotRAG, in
our words)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step
from workbench.steps.prose import Query


@dataclass(frozen=True)
class Input:
    """`constraints` come from `dot_rules`; `history` holds all queries so far, `kept` the passages of the kept paths;
    `tries` is the number of searches left, including this one."""

    question: str
    constraints: str
    history: tuple[str, ...]
    kept: tuple[str, ...]
    tries: int


class Output(BaseModel):
    """An empty query says that nothing is left to search for."""

    model_config = ConfigDict(str_strip_whitespace=True)

    query: Query


STEP = Step.from_text("fallback_query", Input, Output, max_tokens=128, longest=400)
