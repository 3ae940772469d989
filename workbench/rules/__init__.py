"""What the engine `rules` does for a Step: spaCy and arithmetic. No rule knows a benchmark or the bundled corpus.

`RULES` names the rule body of every Step that has one. A body takes the Step's `Input` and returns its `Output`, under
the name of the Step. The modules are imported on first use, so that the table itself costs nothing.

Results made by rules are labelled so; they do not stand in for the scores of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from workbench.llm.step import Step

Batch = Callable[[Sequence[Any]], list[Any]]


class Rule(NamedTuple):
    """`body` is a function, or the module of this folder that defines it under the name of the Step. It takes one
    input, or with `batch` a sequence of them and returns as many outputs: spaCy parses many texts at once faster."""

    body: Callable | str
    batch: bool = False


RULES: dict[str, Rule] = {
    "answer": Rule("answering"),
    "answer_briefly": Rule("answering"),
    "choose_entities": Rule("exploring"),
    "choose_relations": Rule("exploring"),
    "classify_question": Rule("choosing"),
    "community_report": Rule("summarising"),
    "concluding_thoughts": Rule("reasoning"),
    "curate_cluster": Rule("curating"),
    "describe_entity": Rule("summarising"),
    "describe_relations": Rule("summarising"),
    "directions": Rule("reasoning"),
    "dot_rules": Rule("schema_walks"),
    "dot_rules_paper": Rule("schema_walks"),
    "dual_thoughts": Rule("reasoning"),
    "enough": Rule("exploring"),
    "entity_relations": Rule("relating", batch=True),
    "essay_answer": Rule("summarising"),
    "fact_filter": Rule("choosing"),
    "fallback_query": Rule("path_judging"),
    "fast_thought": Rule("reasoning"),
    "find_names": Rule("curating"),
    "fuse_descriptions": Rule("summarising"),
    "generation": Rule("reasoning"),
    "global_map": Rule("summarising"),
    "global_reduce": Rule("answering"),
    "graph_action": Rule("exploring"),
    "graph_records": Rule("relating", batch=True),
    "judge": Rule("judging"),
    "judge_answer": Rule("judging"),
    "judge_pair": Rule("judging"),
    "judge_paths": Rule("path_judging"),
    "keywords": Rule("choosing"),
    "knowledge_answer": Rule("answering"),
    "link_names": Rule("curating"),
    "missing_evidence": Rule("reasoning"),
    "name_communities": Rule("summarising"),
    "named_entities": Rule("extraction", batch=True),
    "next_thought": Rule("reasoning"),
    "path_questions": Rule("questioning"),
    "personas": Rule("questioning"),
    "question_entities": Rule("extraction", batch=True),
    "rate_neighbours": Rule("choosing"),
    "reasoning_chain": Rule("reasoning"),
    "reflect": Rule("reasoning"),
    "relabel_entities": Rule("curating"),
    "schema_extraction": Rule("structuring", batch=True),
    "select_regions": Rule("routing"),
    "select_regions_paper": Rule("routing"),
    "shorten_answer": Rule("answering"),
    "slow_thought": Rule("reasoning"),
    "sparql_answer": Rule("reasoning"),
    "stepwise_answer": Rule("reasoning"),
    "sub_questions": Rule("reasoning"),
    "summarise": Rule("summarising"),
    "summarise_entity": Rule("summarising"),
    "task_questions": Rule("questioning"),
    "triples": Rule("extraction", batch=True),
    "verify": Rule("reasoning"),
    "verify_claim": Rule("judging"),
    "write_article": Rule("summarising"),
    "write_article_paper": Rule("summarising"),
    "write_patterns": Rule("patterns"),
}


def register(step: Step, body: Callable, *, batch: bool = False) -> None:
    """Give a Step a rule body, or another one; `batch`: see `Rule`. Steps of one name share their body."""
    RULES[step.name] = Rule(body, batch)


def rule_for(step: Step) -> Batch | None:
    """The rule body of a Step as a function over a batch; None where it has none."""
    if step.name not in RULES:
        return None
    body, batch = RULES[step.name]
    if isinstance(body, str):
        body = getattr(import_module(f"{__name__}.{body}"), step.name)
    return body if batch else partial(_each, body)


def _each(body: Callable, values: Sequence[Any]) -> list[Any]:
    return [body(value) for value in values]
