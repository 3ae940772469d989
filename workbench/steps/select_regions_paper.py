"""Step `select_regions_paper`: `select_regions` with no more than DotRAG's paper shows its model and asks of it (figure
8): no names of the graph in the question, and of a name no type. Role, inputs, outputs and their order are the paper's,
the wording and the example are ours."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from workbench.llm.shapes import Blank
from workbench.llm.step import Step
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


STEP = Step.from_text("select_regions_paper", Input, Output, most=12)
