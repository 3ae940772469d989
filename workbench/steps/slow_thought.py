"""Step `slow_thought`: the slow query of a round of BDTR by a prompt of its own, as `fast_thought` the fast one
("Beyond Static Retrieval", section 3.1). Our words."""

from __future__ import annotations

import json

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps import dual_thoughts
from workbench.steps.dual_thoughts import Input
from workbench.steps.fast_thought import EXAMPLE, Output

_SYSTEM = texts("slow_thought")["system"]


def prompt(value: Input) -> list[Message]:
    link = "Nora Whitlock, the founder of Kestrel FM, was born in a town; which country is that town in?"
    return conversation(
        _SYSTEM, [(dual_thoughts.asked(EXAMPLE), json.dumps({"query": link}))], dual_thoughts.asked(value)
    )


STEP = Step("slow_thought", Output, prompt, max_tokens=256)
