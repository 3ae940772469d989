"""Step `question_entities`: the named entities of a question, from which CatRAG anchors its walk (arXiv 2602.01965; as
in its code, by a prompt of its own and not the one for passages; our wording), in at most 2048 new tokens."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.llm.step import Step
from workbench.steps.named_entities import Output


@dataclass(frozen=True)
class Input:
    question: str


STEP = Step.from_text("question_entities", Input, Output, max_tokens=2048, most=100, longest=200)
