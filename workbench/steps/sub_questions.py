"""Step `sub_questions`: a question taken apart with the graph's schema in view (the decomposer of Youtu-GraphRAG; our
wording).

The types that the reply says are involved filter the search. A reply that is a bare list has no types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator, model_validator

from workbench.llm.step import Step

_ITEM = ("sub_question", "question", "query", "text")  # keys under which models wrap a sub-question
_ALSO = {"nodes": "entity_types", "entities": "entity_types", "types": "entity_types"}  # names that models use
_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s+")  # of a list


@dataclass(frozen=True)
class Input:
    """`entity_types`, `relations` and `attributes` are the names in the schema. The rule body also uses the graph:
    `named` are its names in the question, as (words of the question, type)."""

    question: str
    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    most: int = 4
    named: tuple[tuple[str, str], ...] = ()


class InvolvedTypes(BaseModel):
    """The names of the schema that the question involves."""

    entity_types: list[str] = Field(default_factory=list)
    relations: list[str] = Field(default_factory=list)
    attributes: list[str] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _by_known_names(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return {} if value is None or isinstance(value, str) else {"entity_types": value}
        lowered = {str(key).strip().casefold().replace(" ", "_").replace("-", "_"): item for key, item in value.items()}
        return {_ALSO.get(key, key): item for key, item in lowered.items()}

    @field_validator("entity_types", "relations", "attributes", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> list[str]:
        return list(_texts(re.split(r"[,;\n]", value) if isinstance(value, str) else value))


class Output(BaseModel):
    """At least one sub-question. Each may be a text or an object that holds one."""

    LIST: ClassVar[str] = "sub_questions"  # what a bare list is

    sub_questions: list[str]
    involved_types: InvolvedTypes = Field(default_factory=InvolvedTypes)

    @field_validator("sub_questions", mode="before")
    @classmethod
    def _texts_only(cls, value: Any) -> list[str]:
        texts = list(_texts(value.splitlines() if isinstance(value, str) else value))
        if not texts:
            raise ValueError("there is no sub-question")
        return texts

    @field_validator("involved_types", mode="before")
    @classmethod
    def _none(cls, value: Any) -> Any:
        return value or {}


def _texts(value: Any) -> Iterable[str]:
    """The texts of a list, each once, without the marks of a list; what is no text is left out."""
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    texts = (" ".join(_MARK.sub("", text).split()) for item in items if (text := _text(item)))
    return dict.fromkeys(text for text in texts if text)


def _text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if not isinstance(item, Mapping):
        return ""
    named = {str(key).casefold().replace("-", "_").replace(" ", "_"): part for key, part in item.items()}
    held = [named[key] for key in _ITEM if isinstance(named.get(key), str)]
    return next(iter(held), "")


STEP = Step.from_text("sub_questions", Input, Output, max_tokens=512, longest=300)
