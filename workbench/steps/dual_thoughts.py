"""Step `dual_thoughts`: the two follow-up queries of a round of BDTR ("Beyond Static Retrieval", figure 8; our words).

The fast thought asks for the missing fact plainly. The slow one shows a piece of the reasoning: it names a bridge, an
entity or relation that the question does not. Together they should find documents that neither finds alone."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.passage_list import QUESTION, STATION, numbered
from workbench.steps.prose import Query


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


_SYSTEM = texts("dual_thoughts")["system"]

_EXAMPLE = Input(QUESTION, (STATION,))
_SAID = {
    "fast": "Where was Nora Whitlock born?",
    "slow": "Nora Whitlock, the founder of Kestrel FM, was born in a town; which country is that town in?",
}


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(asked(_EXAMPLE), json.dumps(_SAID))], asked(value))


def asked(value: Input) -> str:
    """What the prompts of all thoughts of a round show."""
    tried = "\n".join(f"- {query}" for pair in value.before for query in pair) or "none"
    return f"Documents:\n{numbered(value.passages)}\n\nQueries tried:\n{tried}\n\nQuestion: {value.question}"


STEP = Step("dual_thoughts", Output, prompt, max_tokens=256)
