"""Step `reasoning_chain`: the chain that leads to the answer, as far as the documents support it (BDTR, Algorithm 1).

It tells the verifier which documents to look for; a reader never sees it. The paper does not show its prompt; this one
is ours."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step


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


STEP = Step.from_text("reasoning_chain", Input, Output, max_tokens=512, most=20, longest=1200)
