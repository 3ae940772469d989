"""cost: US dollars for all Steps asked for a question, the judge left out.

    cost = Σ over calls of (prompt tokens × price of prompt + completion tokens × price of completion) / 10⁶

Prices per million tokens are in `workbench/llm/prices.csv`. "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045,
section 4) has one flat price for both. Where a price is unknown so is the cost: None, never 0; and one question
of unknown cost makes the mean of its method unknown. Rules cost nothing."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.measures.tokens import MEASURING


def cost(usage: Mapping[str, Mapping]) -> float | None:
    """`usage`: Step → calls, prompt_tokens, completion_tokens, money, as in a row.

    >>> cost({"answer": {"money": 0.25}, "judge": {"money": None}}), cost({})
    (0.25, 0.0)
    >>> cost({"answer": {"money": 0.25}, "fact_filter": {"money": None}}) is None
    True
    """
    paid = [used["money"] for step, used in usage.items() if step not in MEASURING]
    return None if None in paid else float(sum(paid))
