"""Step `describe_entity`: the type of an entity and a short description, from its article (DotRAG's textualisation of
MetaQA, second stage, figure 6; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.passage_list import STATION


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


_SYSTEM = texts("describe_entity")["system"]

_EXAMPLE = Input(
    STATION[0], STATION[1], "organisation", (("organisation", "A body of people."), ("person", "A human being."))
)
_EXAMPLE_ANSWER = Output(type="organisation", description="A community radio station founded by Nora Whitlock in 1984.")


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))], _asked(value))


def _asked(value: Input) -> str:
    types = "\n".join(f"- {name}: {definition}" for name, definition in value.types) or "- unknown"
    return f"Name: {value.name}\nProposed type: {value.type}\nTypes:\n{types}\n\nArticle:\n{value.article}"


STEP = Step("describe_entity", Output, prompt, max_tokens=256, longest=1_200)
