"""Step `write_article`: an article on an entity of a graph, from its relations, with every name marked (DotRAG's
textualisation of MetaQA, first stage, figure 5; our wording). The prompt forbids facts beyond the relations, which
could not be checked and might contain answers."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.step import Step
from workbench.steps.prose import plain
from workbench.text import storable


@dataclass(frozen=True)
class Input:
    """`triples` (subject, relation, object) join the topic to each name that the article must mention. `relations` are
    (label, head types, tail types, definition).

    `earlier` is the article of an earlier reply, and `missing` the names that it does not mention as required."""

    topic: str
    type: str
    triples: tuple[verbalisation.Triple, ...]
    relations: verbalisation.Relations = ()
    earlier: str = ""
    missing: tuple[str, ...] = ()


class Output(BaseModel):
    text: str


def read(text: str) -> Output:
    article = storable(plain(text, "article", names=["article", "text"]))
    if not any(map(str.isalnum, article)):
        raise ValueError("no word in the reply")
    return Output(text=article)


STEP = Step.from_text("write_article", Input, Output, read=read, max_tokens=1500)
