"""The cost of an answer: tokens, requests, US dollars, seconds.

Steps that evaluate an answer are part of the measurement and excluded; `usage.json` has them. `usage` is Step → calls,
prompt_tokens, completion_tokens, money, as in a row.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURING = ("judge",)  # Steps that evaluate an answer


def tokens(usage: Mapping[str, Mapping]) -> float:
    """Prompt and completion tokens of all Steps for a question, as counted by the model; 0 with rules.

    `context_tokens` is another measure: the length of the retrieved context on which coverage is measured, in cl100k
    tokens; undefined without retrieval.

    >>> tokens({"answer": {"prompt_tokens": 900, "completion_tokens": 20}, "judge": {"prompt_tokens": 80}})
    920.0
    """
    counted = [used for step, used in usage.items() if step not in MEASURING]
    return float(sum(used["prompt_tokens"] + used["completion_tokens"] for used in counted))


def requests(usage: Mapping[str, Mapping]) -> float:
    """Requests to a model for a question, of all Steps; of rules, what they were asked in its place.

    >>> requests({"answer": {"calls": 1}, "fact_filter": {"calls": 2}, "judge": {"calls": 1}})
    3.0
    """
    return float(sum(used["calls"] for step, used in usage.items() if step not in MEASURING))


def cost(usage: Mapping[str, Mapping]) -> float | None:
    """US dollars for all Steps of a question.

        cost = Σ over calls of (prompt tokens × price of prompt + completion tokens × price of completion) / 10⁶

    Prices per million tokens are in `workbench/llm/prices.csv`. "The Reasoning Bottleneck in Graph-RAG" (arXiv
    2603.14045, section 4) uses one flat price for both. An unknown price makes the cost unknown: None, never 0; and one
    question of unknown cost makes the mean of its method unknown. Rules cost nothing.

    >>> cost({"answer": {"money": 0.25}, "judge": {"money": None}}), cost({})
    (0.25, 0.0)
    >>> cost({"answer": {"money": 0.25}, "fact_filter": {"money": None}}) is None
    True
    """
    paid = [used["money"] for step, used in usage.items() if step not in MEASURING]
    return None if None in paid else float(sum(paid))


def seconds(stages: Mapping[str, float]) -> float:
    """Wall-clock time from the question to its answer, retrieval and reading. `stages`: path in the trace → seconds.
    The outermost ones are added; the others are parts of them.

    It is read from `timings.jsonl` and never stored in a row, because it differs between runs: it is a column of
    `Run.table(seconds=True)` and of a displayed run, not of `table.csv`. With several workers, questions share the
    machine, and the seconds of each include its waiting time.

    >>> seconds({"dense": 0.5, "dense / rank": 0.25, "direct": 1.0, "direct / answer": 1.0, "judge": 9.0})
    1.5
    """
    return float(sum(taken for stage, taken in stages.items() if " / " not in stage and stage not in MEASURING))
