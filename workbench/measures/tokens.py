"""tokens: prompt and completion tokens of all Steps asked for a question, by the model's own count; 0 with rules.

What the judge was asked is part of the measuring and is left out; `usage.json` has it. `context_tokens` is the length
of the retrieved context on which coverage is measured, in cl100k tokens; not defined where nothing was retrieved."""

from __future__ import annotations

from collections.abc import Mapping

MEASURING = ("judge",)  # Steps that are asked about an answer, not for it


def tokens(usage: Mapping[str, Mapping]) -> float:
    """`usage`: Step → calls, prompt_tokens, completion_tokens, money, as in a row.

    >>> tokens({"answer": {"prompt_tokens": 900, "completion_tokens": 20}, "judge": {"prompt_tokens": 80}})
    920.0
    """
    asked = [used for step, used in usage.items() if step not in MEASURING]
    return float(sum(used["prompt_tokens"] + used["completion_tokens"] for used in asked))
