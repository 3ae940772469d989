"""Step `describe_relations`: a sentence for each relation of an entity, from its article (DotRAG's textualisation of
MetaQA, third stage, figure 7; our wording)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.shapes import Number
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts


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


_TEXTS = texts("describe_relations")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], Input)
_EXAMPLE_ANSWER = example(_TEXTS["example answer"], Output)


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), json.dumps(_EXAMPLE_ANSWER.model_dump()))], _asked(value))


def _asked(value: Input) -> str:
    rows = "\n".join(f"{at}. {json.dumps(row, ensure_ascii=False)}" for at, row in enumerate(value.triples, 1))
    asked = f"Article on {value.name}:\n{value.article}\n\nRelations:\n{rows}"
    return (
        f"{asked}\n\nOf these a sentence was missing, or did not have both names in brackets." if value.again else asked
    )


STEP = Step("describe_relations", Output, prompt, max_tokens=2048, most=100)
