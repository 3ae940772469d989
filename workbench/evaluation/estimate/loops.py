"""When loops end: Steps whose output decides whether a method asks on.

A model that is not asked may end a loop sooner or later than the rules do. So an estimate without one rehearses a few
questions twice more: with outputs that end every loop at once, and with outputs that never end one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.methods.ircot import concludes
from workbench.steps import directions, enough, graph_action, missing_evidence, next_thought, reflect

End = Literal["soonest", "latest"]


def decided(step: Step, value: Any, output: BaseModel, end: End) -> BaseModel:
    """The output of a Step for an input, made to end the loop that it belongs to, or to go on."""
    return DECIDING[step.name][end](value, output) if step.name in DECIDING else output


def _concluded(value: Any, output: Any) -> BaseModel:
    return output.model_copy(update={"thought": f"{next_thought.CONCLUSION} unknown"})


def _continued(value: Any, output: Any) -> BaseModel:
    on = output.thought and not concludes(output.thought)
    return output if on else output.model_copy(update={"thought": _anew(value.question, len(value.thoughts))})


def _explored(value: directions.Input, output: directions.Output) -> BaseModel:
    targets = output.targets or [
        directions.Target(entity=_anew(value.question, len(value.before)), relation="", score=1.0)
    ]
    return directions.Output(sufficient=False, targets=targets)


def _acted(value: graph_action.Input, output: graph_action.Output) -> BaseModel:
    find = graph_action.Action(action="find", argument=_anew(value.question, len(value.turns)), type="")
    actions = [action for action in output.actions if action.action != "finish"] or [find]
    return graph_action.Output(thought=output.thought, actions=actions)


def _finished(value: graph_action.Input, output: graph_action.Output) -> BaseModel:
    finish = graph_action.Action(action="finish", argument="unknown", type="")
    return graph_action.Output(thought=output.thought, actions=[finish])


def _asked_anew(value: reflect.Input, output: reflect.Output) -> BaseModel:
    return reflect.Output(reply=f"{reflect.QUERY} {_anew(value.question, value.step)}")


def _anew(question: str, number: int) -> str:
    """A query that was not searched before, which would end some loops."""
    return f"{question} ({number + 1})"


DECIDING: dict[str, dict[End, Callable[[Any, Any], BaseModel]]] = {
    next_thought.STEP.name: {"soonest": _concluded, "latest": _continued},
    missing_evidence.STEP.name: {"soonest": _concluded, "latest": _continued},
    directions.STEP.name: {
        "soonest": lambda value, output: directions.Output(sufficient=True, targets=[]),
        "latest": _explored,
    },
    enough.STEP.name: {
        "soonest": lambda value, output: enough.Output(enough=True),
        "latest": lambda value, output: enough.Output(enough=False),
    },
    reflect.STEP.name: {
        "soonest": lambda value, output: reflect.Output(reply=f"{reflect.ANSWER} unknown"),
        "latest": _asked_anew,
    },
    graph_action.STEP.name: {"soonest": _finished, "latest": _acted},
}
