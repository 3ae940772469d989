"""Step `write_article`: an article on an entity of a graph, from its relations, with every name marked (DotRAG's
textualisation of MetaQA, first stage, figure 5; our wording). The prompt forbids facts beyond the relations, which
could not be checked and might contain answers.

Step `write_article_paper`: `write_article` as DotRAG's figure 5 asks for it: its role, its inputs (the topic, the
names to be mentioned, the relations as JSON for information), its output and their order; the wording and the example
are ours. Facts from the web are allowed where there is a search, as there; nothing here offers one.

Step `describe_entity`: the type of an entity and a short description, from its article (DotRAG's textualisation of
MetaQA, second stage, figure 6; our wording).

Step `describe_relations`: a sentence for each relation of an entity, from its article (DotRAG's textualisation of
MetaQA, third stage, figure 7; our wording)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.shapes import Number
from workbench.llm.step import Step
from workbench.steps.prose import worded


@dataclass(frozen=True)
class Topic:
    """`triples` (subject, relation, object) join the topic to each name that the article must mention. `relations` are
    (label, head types, tail types, definition).

    `earlier` is the article of an earlier reply, and `missing` the names that it does not mention as required."""

    topic: str
    type: str
    triples: tuple[verbalisation.Triple, ...]
    relations: verbalisation.Relations = ()
    earlier: str = ""
    missing: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names that the article must mention."""
        ends = (end for triple in self.triples for end in (triple[0], triple[2]))
        return list(dict.fromkeys(end for end in ends if end != self.topic))


class Article(BaseModel):
    text: str


def read_article(text: str) -> Article:
    return Article(text=worded(text, "article", names=["article", "text"]))


ARTICLE = Step.from_text("write_article", Topic, Article, read=read_article, max_tokens=1500)


ARTICLE_PAPER = Step.from_text("write_article_paper", Topic, Article, read=read_article, max_tokens=1500)


@dataclass(frozen=True)
class EntityInput:
    """`types` are (name, definition); `type` is the one that the relations suggest. `triples` and `relations`, as in
    `write_article`, are for the rule body; a model reads the article."""

    name: str
    article: str
    type: str
    types: tuple[tuple[str, str], ...]
    triples: tuple[verbalisation.Triple, ...] = ()
    relations: verbalisation.Relations = ()


class EntityOutput(BaseModel):
    type: str
    description: str


ENTITY = Step.from_text("describe_entity", EntityInput, EntityOutput, max_tokens=256, longest=1_200)


@dataclass(frozen=True)
class RelationsInput:
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


class RelationsOutput(BaseModel):
    descriptions: list[Told]


RELATIONS = Step.from_text("describe_relations", RelationsInput, RelationsOutput, max_tokens=2048, most=100)
