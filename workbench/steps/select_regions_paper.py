"""Step `select_regions_paper`: `select_regions` with no more than DotRAG's paper shows its model and asks of it (figure
8): no names of the graph in the question, and of a name no type. Role, inputs, outputs and their order are the paper's,
the wording and the example are ours."""

from __future__ import annotations

import json
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from workbench.llm.shapes import Blank
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps import select_regions
from workbench.steps.select_regions import Input, Routing


class Anchor(BaseModel):
    """A name as the question writes it."""

    model_config = ConfigDict(str_strip_whitespace=True)

    span: str
    description: Blank


class Output(BaseModel):
    anchors: list[Anchor]
    topics: list[str]
    routing: Routing


_SYSTEM = texts("select_regions_paper")["system"]

_EXAMPLE = replace(select_regions._EXAMPLE, named=())
_EXAMPLE_ANSWER = Output(**select_regions._EXAMPLE_ANSWER.model_dump(exclude={"anchors": {"__all__": {"type"}}}))


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))], _asked(value))


def _asked(value: Input) -> str:
    return json.dumps(select_regions.shown(value), ensure_ascii=False)


STEP = Step("select_regions_paper", Output, prompt, most=12)
