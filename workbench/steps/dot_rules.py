"""Step `dot_rules`: what counts as evidence around one concept of a question, written before the search (neighbourhood
construction of DotRAG): the target, rules for intermediate and for terminal nodes, and the types that a path may pass.

The paper's prompt is an image (figure 9); the fields follow its text, the wording is ours.

Step `dot_rules_paper`: `dot_rules` with no more than DotRAG's paper shows its model and asks of it: neither the
relations of the graph nor the length of a path, and no first query. The paper's prompt is an image (figure 9); inputs
and outputs follow its text, Algorithm 1 and figure 10, the wording and the example are ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, PrivateAttr

from workbench.llm.shapes import Blank
from workbench.llm.step import Step
from workbench.steps.prose import Query


@dataclass(frozen=True)
class Input:
    """`anchors` are (name, type, description) of the entities that the concept denotes; `types` and `relations` as in
    `select_regions`; `hops` is the maximum number of edges of a path. The prompt does not show `begins`, the hops
    (label, whether it goes from head to tail) that leave an anchor, `joins`, those that follow one another somewhere in
    the graph, and `others`, the other concepts of the question."""

    question: str
    concept: str
    anchors: tuple[tuple[str, str, str], ...]
    about: str
    types: tuple[tuple[str, str, int], ...]
    relations: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...]
    hops: int
    begins: tuple[tuple[str, bool], ...] = ()
    joins: frozenset[tuple[tuple[str, bool], tuple[str, bool]]] = frozenset()
    others: tuple[str, ...] = ()

    @property
    def patterns(self) -> list[str]:
        """The relations with the types of their ends."""
        return [
            f"{'/'.join(head)} -[{label}]-> {'/'.join(tail)}: {definition}"
            for label, head, tail, definition in self.relations
        ]


class Written(BaseModel):
    """In no reply are what rule bodies alone say: `beyond`, what of the question their rules leave to a search, and
    `meets`, whether an answer is where the paths from all concepts of the question end."""

    model_config = ConfigDict(str_strip_whitespace=True)
    _beyond: str = PrivateAttr("")
    _meets: bool = PrivateAttr(False)

    @property
    def beyond(self) -> str:
        return self._beyond

    @property
    def meets(self) -> bool:
        return self._meets

    def saying(self, beyond: str, meets: bool = False) -> Self:
        copy = self.model_copy()
        copy._beyond, copy._meets = beyond, meets
        return copy


class Output(Written):
    query_constraints: Blank
    intermediate_rules: list[str]
    terminal_rules: list[str]
    allowed_types: list[str]
    initial_query: Query


# Used where the reply has no such rule (ours; the paper leaves it open).
_ON_THE_WAY = "connects an anchor to something that the question mentions or implies"
_AT_THE_END = "states what the question asks for"


def checked(value: Input, reply: Output) -> Output:
    """The reply without unknown types; general rules, all types or the question replace the fields that it omits.

    >>> given = Input("Who wrote Dune Fever?", "Dune Fever", (), "", (("film", "", 9), ("person", "", 5)), (), 3)
    >>> rules = checked(given, Output(query_constraints="", intermediate_rules=[], terminal_rules=["names a writer"],
    ...                               allowed_types=["Person", "star"], initial_query=""))
    >>> rules.allowed_types, rules.terminal_rules, rules.initial_query
    (['person'], ['names a writer'], 'Who wrote Dune Fever?')
    """
    type_names = [name for name, _, _ in value.types]
    named = {name.casefold().strip() for name in reply.allowed_types}
    return Output(
        query_constraints=reply.query_constraints or value.question,
        intermediate_rules=_stripped(reply.intermediate_rules) or [_ON_THE_WAY],
        terminal_rules=_stripped(reply.terminal_rules) or [_AT_THE_END],
        allowed_types=[name for name in type_names if name.casefold().strip() in named] or type_names,
        initial_query=reply.initial_query or value.question,
    ).saying(reply.beyond, reply.meets)


def failed(value: Input) -> Output:
    """The rules if the Step fails: all types, general rules, the question itself."""
    nothing = Output(query_constraints="", intermediate_rules=[], terminal_rules=[], allowed_types=[], initial_query="")
    return checked(value, nothing)


def _stripped(rules: list[str]) -> list[str]:
    return [rule for rule in rules if rule.strip()]


STEP = Step.from_text("dot_rules", Input, Output, max_tokens=768, most=60)


class PaperOutput(Written):
    query_constraints: Blank
    intermediate_rules: list[str]
    terminal_rules: list[str]
    allowed_types: list[str]


PAPER = Step.from_text("dot_rules_paper", Input, PaperOutput, max_tokens=768, most=60)
