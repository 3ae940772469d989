"""Step `classify_question`: bridge, comparison or inference (the router of "The Reasoning Bottleneck in Graph-RAG",
arXiv 2603.14045, section 3.5.2; its three labels, our wording). Temperature 0; at most 32 tokens, where the source has
5, in which a model that begins with a sentence names none.

The label is asked for by schema where the endpoint takes one; otherwise it is the first that occurs in the reply, which
the source takes as a whole. A reply without one counts as `bridge` and is `invalid`."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.prose import label

KINDS = ("bridge", "comparison", "inference")
DEFAULT = "bridge"


@dataclass(frozen=True)
class Input:
    question: str


class Output(BaseModel):
    kind: str
    invalid: bool


def read(text: str) -> Output:
    kind = label(text, KINDS)
    return Output(kind=kind or DEFAULT, invalid=kind is None)


STEP = Step.from_text("classify_question", Input, Output, read=read, max_tokens=32, version=2, labels=KINDS)
