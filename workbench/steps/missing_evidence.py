"""Step `missing_evidence`: the information that is still missing, and nothing else (Graph-CoT, arXiv 2404.07103, as
"Beyond Static Retrieval" adapts it to documents).

The paper gives one worked example per data set; the wording is ours, with one invented example for all."""

from __future__ import annotations

from workbench.llm.step import Step
from workbench.steps.next_thought import Input, Output, read

STEP = Step.from_text("missing_evidence", Input, Output, read=read, max_tokens=128)
