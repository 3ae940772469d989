"""tokens: prompt and completion tokens of all Steps for a question, as counted by the model; 0 with rules.

The judge's tokens are part of the measurement and excluded; `usage.json` has them. `context_tokens` is the length of
the retrieved context on which coverage is measured, in cl100k tokens; undefined without retrieval.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURING = ("judge",)  # Steps that evaluate an answer


def tokens(usage: Mapping[str, Mapping]) -> float:
    """`usage`: Step → calls, prompt_tokens, completion_tokens, money, as in a row.

    >>> tokens({"answer": {"prompt_tokens": 900, "completion_tokens": 20}, "judge": {"prompt_tokens": 80}})
    920.0
    """
    asked = [used for step, used in usage.items() if step not in MEASURING]
    return float(sum(used["prompt_tokens"] + used["completion_tokens"] for used in asked))
