"""Step `graph_action`: a thought, and what to do next in the graph (Graph-CoT's five actions; the wording is ours).

Actions are typed data and are never run as code, unlike the released program, which evaluates what the model wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from workbench.llm.shapes import Blank, Reading, blank
from workbench.llm.step import Step
from workbench.records import Triple

ACTIONS = ("find", "read", "neighbours", "count", "finish")
TYPES = ("relation", "synonym", "context")


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
