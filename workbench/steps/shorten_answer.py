"""Step `shorten_answer`: the short answer that a long one states, for measures that compare whole strings ("The
Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, rewrites the answers of its 8B model before EM and F1).

The source's prompt is not published: this one is ours, and a number that was made with it differs in this from the
source's. It is shown question and answer, neither context nor gold."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.llm.step import Step
from workbench.steps.final_answer import Output, read


@dataclass(frozen=True)
class Input:
    question: str
    answer: str


STEP = Step.from_text("shorten_answer", Input, Output, read=read, max_tokens=512, version=2)
