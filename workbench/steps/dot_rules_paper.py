"""Step `dot_rules_paper`: `dot_rules` with no more than DotRAG's paper shows its model and asks of it: neither the
relations of the graph nor the length of a path, and no first query. The paper's prompt is an image (figure 9); inputs
and outputs follow its text, Algorithm 1 and figure 10, the wording and the example are ours."""

from __future__ import annotations

import json
from dataclasses import replace

from workbench.llm.shapes import Blank
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps import dot_rules
from workbench.steps.dot_rules import Input, Written


class Output(Written):
    query_constraints: Blank
    intermediate_rules: list[str]
    terminal_rules: list[str]
    allowed_types: list[str]


_SYSTEM = texts("dot_rules_paper")["system"]

_EXAMPLE = replace(dot_rules._EXAMPLE, relations=())
_EXAMPLE_ANSWER = Output(**dot_rules._EXAMPLE_ANSWER.model_dump(exclude={"initial_query"}))


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))], _asked(value))


def _asked(value: Input) -> str:
    fields = {
        "question": value.question, "concept": value.concept, "anchors": value.anchors,
        "types": [{"name": name, "definition": text, "entities": count} for name, text, count in value.types],
        "graph": value.about,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)


STEP = Step("dot_rules_paper", Output, prompt, max_tokens=768, most=60)
