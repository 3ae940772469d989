"""Step `fast_thought`: the fast query of a round of BDTR by a prompt of its own ("Beyond Static Retrieval", section
3.1; figure 8 shows one prompt for both, the Step `dual_thoughts`). Our words."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps import dual_thoughts
from workbench.steps.dual_thoughts import Input
from workbench.steps.passage_list import QUESTION, STATION
from workbench.steps.prose import Query


class Output(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    query: Query


EXAMPLE = Input(QUESTION, (STATION,))
_SYSTEM = texts("fast_thought")["system"]


def prompt(value: Input) -> list[Message]:
    said = json.dumps({"query": "Where was Nora Whitlock born?"})
    return conversation(_SYSTEM, [(dual_thoughts.asked(EXAMPLE), said)], dual_thoughts.asked(value))


STEP = Step("fast_thought", Output, prompt, max_tokens=256)
