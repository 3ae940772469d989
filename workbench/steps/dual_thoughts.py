"""Step `reasoning_chain`: the chain that leads to the answer, as far as the documents support it (BDTR, Algorithm 1).

It tells the verifier which documents to look for; a reader never sees it. The paper does not show its prompt; this one
is ours.

The follow-up queries of a round of BDTR ("Beyond Static Retrieval"; our words).

`dual_thoughts` asks for both (figure 8). The fast thought asks for the missing fact plainly. The slow one shows a piece
of the reasoning: it names a bridge, an entity or relation that the question does not. Together they should find
documents that neither finds alone. `fast_thought` and `slow_thought` ask for each by a prompt of its own (section 3.1).

`concluding_thoughts`: the two queries of the last round together with the chain of reasoning, in one reply (section
3.2; Algorithm 1 writes the chain after the last search, which is the Step `reasoning_chain`), before what these queries
find is known. Not shown in the paper.

Step `verify`: which documents support a chain of reasoning (the verifier of BDTR, Eq. 5).

The paper's prompt is an image (figure 9); this one is ours. It selects and gives no scores. A batch of one document is
the literal reading of Eq. 5; the method shuffles larger batches, because models prefer the first documents."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.shapes import Number
from workbench.llm.step import Step
from workbench.steps.prose import Query


@dataclass(frozen=True)
class ChainInput:
    """The best passages as (title, text), and all thoughts of the rounds."""

    question: str
    passages: tuple[tuple[str, str], ...]
    thoughts: tuple[str, ...] = ()


class Chain(BaseModel):
    """`steps` are sentences, one fact each; `bridges` the entities that link one step to the next."""

    model_config = ConfigDict(str_strip_whitespace=True)

    chain: str
    steps: list[str]
    bridges: list[str]


CHAIN = Step.from_text("reasoning_chain", ChainInput, Chain, max_tokens=512, most=20, longest=1_200)


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text), and the (fast, slow) thoughts of the rounds before."""

    question: str
    passages: tuple[tuple[str, str], ...]
    before: tuple[tuple[str, str], ...] = ()


class Output(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    fast: Query
    slow: Query


STEP = Step.from_text("dual_thoughts", Input, Output, max_tokens=256)


class FollowUp(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    query: Query


FAST = Step.from_text("fast_thought", Input, FollowUp, max_tokens=256)
SLOW = Step.from_text("slow_thought", Input, FollowUp, max_tokens=256)


class Conclusion(Chain, Output):
    """The queries, and the chain with its steps and bridges."""


CONCLUDING = Step.from_text("concluding_thoughts", Input, Conclusion, max_tokens=768, most=20, longest=1_200)


@dataclass(frozen=True)
class VerifyInput:
    """The chain, its steps and bridges, and a batch of passages as (title, text), of which the prompt shows at most
    `words` words each (None: all)."""

    question: str
    chain: str
    steps: tuple[str, ...]
    bridges: tuple[str, ...]
    passages: tuple[tuple[str, str], ...]
    words: int | None = None

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The passages, with as many words as are asked for."""
        return [(title, beginning(text, self.words)) for title, text in self.passages]


class Supporting(BaseModel):
    """Numbers of the supporting documents, from 1 on."""

    documents: list[Number]


def beginning(text: str, words: int | None) -> str:
    """At most so many words of a text; all of it for None."""
    parts = text.split(" ", words) if words else [text]
    return text if not words or len(parts) <= words else " ".join(parts[:words]) + " …"


VERIFY = Step.from_text("verify", VerifyInput, Supporting, max_tokens=256, most=60)
