"""Step `directions`: which relations of which entities are worth exploring next (Think-on-Graph, arXiv 2307.07697, as
"Beyond Static Retrieval" adapts it to documents; its prompt is an image, the wording is ours)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, FiniteFloat

from workbench.llm.step import Message, Step
from workbench.llm.wording import example, texts
from workbench.steps.passage_list import numbered


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text), and the directions explored before; the reply names at most
    `width`."""

    question: str
    passages: tuple[tuple[str, str], ...]
    before: tuple[str, ...] = ()
    width: int = 3


class Target(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    entity: str
    relation: str
    score: FiniteFloat


class Output(BaseModel):
    sufficient: bool
    targets: list[Target]


_TEXTS = texts("directions")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = Input(
    "In which country was the founder of Kestrel FM born?",
    (("Kestrel FM", "Kestrel FM is a community radio station of Alderby, founded by Nora Whitlock in 1984."),),
)
_EXAMPLE_ANSWER = example(_TEXTS["example answer"], Output)


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(_EXAMPLE)},
        {"role": "assistant", "content": json.dumps(_EXAMPLE_ANSWER.model_dump())},
        {"role": "user", "content": _asked(value)},
    ]


def _asked(value: Input) -> str:
    explored = "\n".join(f"- {direction}" for direction in value.before) or "none"
    return (
        f"Documents:\n{numbered(value.passages)}\n\nExplored before:\n{explored}\n\n"
        f"Name at most {value.width} directions.\nQuestion: {value.question}"
    )


STEP = Step("directions", Output, prompt, max_tokens=256, most=10, longest=200)
