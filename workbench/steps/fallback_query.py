"""Step `fallback_query`: another query around the same anchors, once no partial path has a next question (DotRAG, in
our words)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts
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


_TEXTS = texts("fallback_query")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], Input)
_EXAMPLE_ANSWER = Output(query="railway bridges by Ines Marr and the towns they stand in")


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))], _asked(value))


def _asked(value: Input) -> str:
    fields = {
        "question": value.question, "looked for": value.constraints, "searches before": value.history,
        "kept": value.kept, "searches left": value.tries,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)


STEP = Step("fallback_query", Output, prompt, max_tokens=128, longest=400)
