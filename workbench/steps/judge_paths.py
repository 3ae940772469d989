"""Step `judge_paths`: whether a path of the graph answers the question, leads towards an answer, or neither, by the
rules that `dot_rules` wrote (neighbourhood search of DotRAG, figure 10; our words).

The paper leaves open what a path is that satisfies the rules of the end and none of the way: `Input.terminal` says
it.

Step `fallback_query`: another query around the same anchors, once no partial path has a next question (DotRAG, in
our words)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError, field_validator, model_validator

from workbench.llm.shapes import Blank, Identifier
from workbench.llm.step import Step
from workbench.steps import dot_rules
from workbench.steps.prose import Query


@dataclass(frozen=True)
class PathShown:
    """A path: its `nodes` with their `types`, and for each hop its `relations` as (label, whether the hop goes from the
    triple's head to its tail). The prompt shows only the `passage`; the `similarity` is the best of stored vectors to a
    query."""

    id: str
    passage: str
    nodes: tuple[str, ...]
    types: tuple[str, ...]
    relations: tuple[tuple[tuple[str, bool], ...], ...]
    similarity: float


@dataclass(frozen=True)
class Input:
    """`history` are all queries searched so far. `chain`: whether passages begin with the names of their entities;
    `terminal`: whether a path that meets the rules of the end and needs nothing on the way is complete, or, as in the
    paper's prompt, irrelevant."""

    question: str
    rules: dot_rules.Output
    history: tuple[str, ...]
    paths: tuple[PathShown, ...]
    chain: bool = True
    terminal: bool = True


class Verdict(BaseModel):
    """`confidence` is brought between 0 and 1; only a partial path has a `next_question`."""

    model_config = ConfigDict(str_strip_whitespace=True, coerce_numbers_to_str=True)

    id: Identifier
    label: Literal["complete", "partial", "irrelevant"]
    confidence: FiniteFloat
    justification: Blank
    next_question: Query

    @field_validator("confidence")
    @classmethod
    def _clamped(cls, value: float) -> float:
        return min(1.0, max(0.0, value))

    @model_validator(mode="after")
    def _only_partial_paths_lead_on(self):
        if self.label != "partial":
            self.next_question = ""
        return self


class Output(BaseModel):
    """What is no verdict is left out: the path is asked for again, and the others of the batch keep theirs."""

    verdicts: list[Verdict]

    @field_validator("verdicts", mode="before")
    @classmethod
    def _only_verdicts(cls, value):
        return [row for row in value if _readable(row)] if isinstance(value, list) else value


def _readable(value) -> bool:
    try:
        Verdict.model_validate(value)
    except ValidationError:
        return False
    return True


STEP = Step.from_text("judge_paths", Input, Output, max_tokens=1536, version=2, most=50)


@dataclass(frozen=True)
class Search:
    """`constraints` come from `dot_rules`; `history` holds all queries so far, `kept` the passages of the kept paths;
    `tries` is the number of searches left, including this one."""

    question: str
    constraints: str
    history: tuple[str, ...]
    kept: tuple[str, ...]
    tries: int


class Fallback(BaseModel):
    """An empty query says that nothing is left to search for."""

    model_config = ConfigDict(str_strip_whitespace=True)

    query: Query


FALLBACK = Step.from_text("fallback_query", Search, Fallback, max_tokens=128, longest=400)
