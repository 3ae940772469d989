"""Step `describe_relations`: a sentence for each relation of an entity, from its article (DotRAG's textualisation of
MetaQA, third stage, figure 7; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.shapes import Number
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """`article` has its names in brackets. A triple's id is its number in `triples`, from 1; `relations` as in
    `write_article`; `again`: an earlier reply omitted these triples or did not name both ends."""

    name: str
    article: str
    triples: tuple[verbalisation.Triple, ...]
    relations: verbalisation.Relations = ()
    again: bool = False


class Told(BaseModel):
    id: Number
    description: str


class Output(BaseModel):
    descriptions: list[Told]


STEP = Step.from_text("describe_relations", Input, Output, max_tokens=2048, most=100)
