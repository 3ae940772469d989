"""Step `describe_entity`: the type of an entity and a short description, from its article (DotRAG's textualisation of
MetaQA, second stage, figure 6; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """`types` are (name, definition); `type` is the one that the relations suggest. `triples` and `relations`, as in
    `write_article`, are for the rule body; a model reads the article."""

    name: str
    article: str
    type: str
    types: tuple[tuple[str, str], ...]
    triples: tuple[verbalisation.Triple, ...] = ()
    relations: verbalisation.Relations = ()


class Output(BaseModel):
    type: str
    description: str


STEP = Step.from_text("describe_entity", Input, Output, max_tokens=256, longest=1200)
