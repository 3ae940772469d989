"""The Steps of Think-on-Graph (temperature 0.4 and 256 tokens as released, the wording is ours).

`choose_relations`: which relations of an entity lead towards the answer, with scores. The reply names relations by
number, because a relation extracted from text can be a whole clause, which models copy badly. `choose_entities`: how
much each entity at the end of a relation helps, as scores. `enough`, after each depth: do the facts found so far
suffice to answer the question? The released code shows the facts of the last depth only, ours shows all.

Step `directions`: which relations of which entities are worth exploring next (Think-on-Graph, arXiv 2307.07697, as
"Beyond Static Retrieval" adapts it to documents; its prompt is an image, the wording is ours).

Step `graph_action`: a thought, and what to do next in the graph (Graph-CoT's five actions; the wording is ours).
Actions are typed data and are never run as code, unlike the released program, which evaluates what the model wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from workbench.llm.shapes import Blank, Number, Reading, blank
from workbench.llm.step import Step
from workbench.records import Triple

Fact = tuple[str, str, str]
ACTIONS = ("find", "read", "neighbours", "count", "finish")
TYPES = ("relation", "synonym", "context")


@dataclass(frozen=True)
class RelationsInput:
    """`path` holds the facts that led to the `entity`; `relations` are (name, whether the entity is its subject).

    `similarities` of the relations to the question are not in the prompt. `width` is the number of relations to
    choose."""

    question: str
    path: tuple[Fact, ...]
    entity: str
    relations: tuple[tuple[str, bool], ...]
    similarities: tuple[float, ...]
    width: int = 3

    @property
    def patterns(self) -> list[str]:
        """The relations as facts with "?" for what is unknown, numbered."""
        return [
            f"{number}: {self.entity} | {relation} | ?" if forward else f"{number}: ? | {relation} | {self.entity}"
            for number, (relation, forward) in enumerate(self.relations, 1)
        ]


class Choice(BaseModel):
    """`number` counts from 1."""

    number: Number
    score: FiniteFloat


class RelationsOutput(BaseModel):
    choices: list[Choice]


RELATIONS = Step.from_text(
    "choose_relations", RelationsInput, RelationsOutput, max_tokens=256, temperature=0.4, most=15
)


@dataclass(frozen=True)
class EntitiesInput:
    """`path` holds the facts so far; `pattern` is the next fact, with "?" in place of the `entities`."""

    question: str
    path: tuple[Fact, ...]
    pattern: Fact
    entities: tuple[str, ...]


class EntitiesOutput(BaseModel):
    """One score per entity, in their order."""

    scores: list[FiniteFloat]


ENTITIES = Step.from_text("choose_entities", EntitiesInput, EntitiesOutput, max_tokens=256, temperature=0.4, most=100)


@dataclass(frozen=True)
class FactsInput:
    """Facts in the order in which they were found."""

    question: str
    facts: tuple[tuple[str, str, str], ...]


class Enough(BaseModel):
    enough: bool


ENOUGH = Step.from_text("enough", FactsInput, Enough, max_tokens=256)


@dataclass(frozen=True)
class DirectionsInput:
    """The best passages so far as (title, text), and the directions explored before; the reply names at most
    `width`."""

    question: str
    passages: tuple[tuple[str, str], ...]
    before: tuple[str, ...] = ()
    width: int = 3


class Target(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    entity: str
    relation: str
    score: FiniteFloat


class DirectionsOutput(BaseModel):
    sufficient: bool
    targets: list[Target]


DIRECTIONS = Step.from_text("directions", DirectionsInput, DirectionsOutput, max_tokens=256, most=10, longest=200)


class Action(BaseModel):
    """`argument` is a keyword, a node or the answer; `type`, of an edge, is for neighbours and count.

    The schema names what there is; that a reply holds something else is told to the model and is no failure."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    action: Annotated[str, Field(json_schema_extra={"enum": list(ACTIONS)})]
    argument: Blank
    type: Annotated[str, Reading(blank), Field(json_schema_extra={"enum": ["", *TYPES]})] = ""


class Output(BaseModel):
    thought: str
    actions: list[Action]


class Observation(NamedTuple):
    """The result of an action: a text for the model, and the nodes and facts in it for the rules."""

    text: str
    nodes: tuple[str, ...] = ()
    facts: tuple[Triple, ...] = ()
    malformed: bool = False


class Turn(NamedTuple):
    """One observation per action."""

    thought: str
    actions: tuple[Action, ...]
    observations: tuple[Observation, ...]


@dataclass(frozen=True)
class Input:
    question: str
    turns: tuple[Turn, ...] = ()


STEP = Step.from_text("graph_action", Input, Output, max_tokens=512, most=10)
