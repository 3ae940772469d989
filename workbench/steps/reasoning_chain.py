"""Step `reasoning_chain`: the chain that leads to the answer, as far as the documents support it (BDTR, Algorithm 1).

It tells the verifier which documents to look for; a reader never sees it. The paper does not show its prompt; this one
is ours."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Message, Step
from workbench.llm.wording import texts
from workbench.steps.passage_list import numbered


@dataclass(frozen=True)
class Input:
    """The best passages as (title, text), and all thoughts of the rounds."""

    question: str
    passages: tuple[tuple[str, str], ...]
    thoughts: tuple[str, ...] = ()


class Output(BaseModel):
    """`steps` are sentences, one fact each; `bridges` the entities that link one step to the next."""

    model_config = ConfigDict(str_strip_whitespace=True)

    chain: str
    steps: list[str]
    bridges: list[str]


_SYSTEM = texts("reasoning_chain")["system"]

_EXAMPLE = (
    "In which country was the founder of Kestrel FM born?",
    (
        ("Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984."),
        ("Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby, Norway."),
    ),
    ("Where was Nora Whitlock born?",),
    {
        "chain": "Kestrel FM was founded by Nora Whitlock. She was born in Alderby, which is in Norway.",
        "steps": ["Kestrel FM was founded by Nora Whitlock.", "Nora Whitlock was born in Alderby, Norway."],
        "bridges": ["Nora Whitlock"],
    },
)


def prompt(value: Input) -> list[Message]:
    *shown, said = _EXAMPLE
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _asked(*shown)},
        {"role": "assistant", "content": json.dumps(said)},
        {"role": "user", "content": _asked(value.question, value.passages, value.thoughts)},
    ]


def _asked(question: str, passages, thoughts) -> str:
    tried = "\n".join(f"- {thought}" for thought in thoughts) or "none"
    return f"Documents:\n{numbered(passages)}\n\nQueries tried:\n{tried}\n\nQuestion: {question}"


STEP = Step("reasoning_chain", Output, prompt, max_tokens=512, most=20, longest=1_200)
