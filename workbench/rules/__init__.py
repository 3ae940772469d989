"""The rule bodies of Steps, for the engine `rules`: spaCy and arithmetic. No rule knows a benchmark or the bundled
corpus.

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


# Module → the Steps whose rule bodies it defines under their names, of one input each and of many.
_BODIES = {
    "answering": "answer answer_briefly global_reduce knowledge_answer shorten_answer",
    "claims": "rate_context state_claims support_claims",
    "choosing": "classify_question fact_filter keywords rank_passages rate_neighbours",
    "curating": "curate_cluster find_names link_names relabel_entities",
    "exploring": "choose_entities choose_relations enough graph_action",
    "judging": "judge judge_answer judge_pair verify_claim",
    "path_judging": "fallback_query judge_paths",
    "patterns": "write_patterns",
    "reasoning": "concluding_thoughts directions dual_thoughts fast_thought generation missing_evidence next_thought "
    "reasoning_chain reflect search_or_answer slow_thought sparql_answer stepwise_answer sub_questions verify",
    "routing": "select_regions select_regions_paper",
    "schema_walks": "dot_rules dot_rules_paper",
    "summarising": "community_report describe_entity describe_relations essay_answer fuse_descriptions global_map "
    "name_communities path_questions personas summarise summarise_entity task_questions write_article "
    "write_article_paper",
}
_BATCH_BODIES = {
    "extraction": "entity_relations graph_records named_entities question_entities triples",
    "structuring": "schema_extraction",
}
RULES: dict[str, Rule] = {
    step: Rule(module, batch)
    for bodies, batch in ((_BODIES, False), (_BATCH_BODIES, True))
    for module, steps in bodies.items()
    for step in steps.split()
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
