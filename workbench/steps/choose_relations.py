"""Step `choose_relations`: which relations of an entity lead towards the answer, with scores (Think-on-Graph's
relation pruning; temperature 0.4 and 256 tokens as released, the wording is ours).

The reply names relations by number, because a relation extracted from text can be a whole clause, which models copy
badly."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, FiniteFloat

from workbench.llm.shapes import Number
from workbench.llm.step import Message, Step
from workbench.llm.wording import example, texts

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


_TEXTS = texts("choose_relations")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], Input)
_EXAMPLE_ANSWER = Output(choices=[Choice(number=1, score=0.8), Choice(number=4, score=0.2)])


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(_EXAMPLE)},
        {"role": "assistant", "content": json.dumps(_EXAMPLE_ANSWER.model_dump())},
        {"role": "user", "content": _asked(value)},
    ]


def _asked(value: Input) -> str:
    shown = [
        f"{number}: {value.entity} | {relation} | ?" if forward else f"{number}: ? | {relation} | {value.entity}"
        for number, (relation, forward) in enumerate(value.relations, 1)
    ]
    fields = {
        "question": value.question, "path": value.path, "entity": value.entity, "relations": shown,
        "choose at most": value.width,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)


STEP = Step("choose_relations", Output, prompt, max_tokens=256, temperature=0.4, most=15)
