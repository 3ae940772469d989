"""Step `dot_rules_paper`: `dot_rules` with no more than DotRAG's paper shows its model and asks of it: neither the
relations of the graph nor the length of a path, and no first query. The paper's prompt is an image (figure 9); inputs
and outputs follow its text, Algorithm 1 and figure 10, the wording and the example are ours."""

from __future__ import annotations

from workbench.llm.shapes import Blank
from workbench.llm.step import Step
from workbench.steps.dot_rules import Input, Written


class Output(Written):
    query_constraints: Blank
    intermediate_rules: list[str]
    terminal_rules: list[str]
    allowed_types: list[str]


STEP = Step.from_text("dot_rules_paper", Input, Output, max_tokens=768, most=60)
