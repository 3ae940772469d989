"""Step `concluding_thoughts`: the two queries of the last round of BDTR together with the chain of reasoning, in one
reply ("Beyond Static Retrieval", section 3.2; its Algorithm 1 writes the chain after the last search, which is the Step
`reasoning_chain`).

The chain is written before what these queries find is known. Not shown in the paper; the wording is ours."""

from __future__ import annotations

import json

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps import dual_thoughts, reasoning_chain
from workbench.steps.dual_thoughts import Input, asked
from workbench.steps.passage_list import FOUNDER, QUESTION, STATION


class Output(reasoning_chain.Output, dual_thoughts.Output):
    """The queries, and the chain with its steps and bridges."""


_TEXTS = texts("concluding_thoughts")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = Input(QUESTION, (STATION, FOUNDER), (("Where was Nora Whitlock born?", "Nora Whitlock's home town"),))
_SAID = json.loads(_TEXTS["said"])


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(asked(_EXAMPLE), json.dumps(_SAID))], asked(value))


STEP = Step("concluding_thoughts", Output, prompt, max_tokens=768, most=20, longest=1_200)
