"""Step `global_reduce`: an answer from the points that several analysts found in their reports (global search of
Microsoft GraphRAG, arXiv 2404.16130; our wording). Besides the source's long answer, ours asks for the shortest exact
one, or all of several, which can be compared with gold answers."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Blank
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.reading_mode import OWN_KNOWLEDGE, Mode, opened


@dataclass(frozen=True)
class Input:
    """`context` is what a model reads; `points` holds the same for the rule body, most important first."""

    question: str
    context: str
    points: tuple[str, ...]
    mode: Mode = "reject"


class Output(BaseModel):
    """`abstained` is true where the points do not hold the answer; `answer` is then empty."""

    response: str
    answer: Blank
    abstained: bool


_TEXTS = texts("global_reduce")
_SYSTEM = _TEXTS["system"]
_OPEN = opened(
    _SYSTEM,
    ("; add nothing that the analysts do not say", ""),
    (
        "true if the points do not hold the answer; answer is then empty",
        f"false; if the points do not hold the answer, {OWN_KNOWLEDGE}",
    ),
)

_EXAMPLE = _TEXTS["example"]

_EXAMPLE_ANSWER = _TEXTS["example answer"]


def prompt(value: Input) -> list[Message]:
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _EXAMPLE},
        {"role": "assistant", "content": _EXAMPLE_ANSWER},
        {"role": "user", "content": f"{value.context}\n\nQuestion: {value.question}"},
    ]


def open_prompt(value: Input) -> list[Message]:
    return conversation(_OPEN, [(_EXAMPLE, _EXAMPLE_ANSWER)], f"{value.context}\n\nQuestion: {value.question}")


STEP = Step("global_reduce", Output, prompt, max_tokens=4096, longest=None, version=2, open=open_prompt)
