"""Step `verify`: which documents support a chain of reasoning (the verifier of BDTR, Eq. 5).

The paper's prompt is an image (figure 9); this one is ours. It selects and gives no scores. A batch of one document is
the literal reading of Eq. 5; the method shuffles larger batches, because models prefer the first documents."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.shapes import Number
from workbench.llm.step import Message, Step
from workbench.llm.wording import texts
from workbench.steps.passage_list import numbered


@dataclass(frozen=True)
class Input:
    """The chain, its steps and bridges, and a batch of passages as (title, text), of which the prompt shows at most
    `words` words each (None: all)."""

    question: str
    chain: str
    steps: tuple[str, ...]
    bridges: tuple[str, ...]
    passages: tuple[tuple[str, str], ...]
    words: int | None = None


class Output(BaseModel):
    """Numbers of the supporting documents, from 1 on."""

    documents: list[Number]


_SYSTEM = texts("verify")["system"]

_EXAMPLE = (
    "In which country was the founder of Kestrel FM born?",
    "Kestrel FM was founded by Nora Whitlock. She was born in Alderby, which is in Norway.",
    (
        ("Kestrel", "The kestrel is a small falcon that hovers above open country."),
        ("Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby, Norway."),
        ("Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984."),
    ),
    {"documents": [2, 3]},
)


def prompt(value: Input) -> list[Message]:
    *example, output = _EXAMPLE
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(*example)},
        {"role": "assistant", "content": json.dumps(output)},
        {"role": "user", "content": _asked(value.question, value.chain, value.passages, value.words)},
    ]


def _asked(question: str, chain: str, passages, words: int | None = None) -> str:
    return f"Question: {question}\n\nReasoning: {chain}\n\nDocuments:\n{numbered(passages, words)}"


STEP = Step("verify", Output, prompt, max_tokens=256, most=60)
