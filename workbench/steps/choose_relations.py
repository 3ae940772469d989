"""Step `choose_relations`: which relations of an entity lead towards the answer, with scores (Think-on-Graph's
relation pruning; temperature 0.4 and 256 tokens as released, the wording is ours).

The reply names relations by number, because a relation extracted from text can be a whole clause, which models copy
badly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, FiniteFloat

from workbench.llm.shapes import Number
from workbench.llm.step import Step

Fact = tuple[str, str, str]


@dataclass(frozen=True)
class Input:
    """`path` holds the facts that led to the `entity`; `relations` are (name, whether the entity is its subject).

    `similarities` of the relations to the question are not in the prompt. `width` is the number of relations to
    choose."""

    question: str
    path: tuple[Fact, ...]
    entity: str
    relations: tuple[tuple[str, bool], ...]
    similarities: tuple[float, ...]
    width: int = 3


class Choice(BaseModel):
    """`number` counts from 1."""

    number: Number
    score: FiniteFloat


class Output(BaseModel):
    choices: list[Choice]


def derived(value: Input) -> dict[str, Any]:
    """`patterns`: the relations as facts with "?" for what is unknown, numbered."""
    patterns = [
        f"{number}: {value.entity} | {relation} | ?" if forward else f"{number}: ? | {relation} | {value.entity}"
        for number, (relation, forward) in enumerate(value.relations, 1)
    ]
    return {"patterns": patterns}


STEP = Step.from_text("choose_relations", Input, Output, derived, max_tokens=256, temperature=0.4, most=15)
