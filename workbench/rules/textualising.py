"""Rule bodies of `write_article`, `write_article_paper`, `describe_entity` and `describe_relations`: the templates of
`language.verbalisation`."""

from __future__ import annotations

from workbench.language.verbalisation import article, description, sentence
from workbench.steps import describe_entity as entity
from workbench.steps import describe_relations as relations
from workbench.steps import write_article as articles


def write_article(value: articles.Input) -> articles.Output:
    return articles.Output(text=article(value.topic, value.triples, value.relations))


def write_article_paper(value: articles.Input) -> articles.Output:
    return write_article(value)


def describe_entity(value: entity.Input) -> entity.Output:
    return entity.Output(type=value.type, description=description(value.name, value.triples, value.relations))


def describe_relations(value: relations.Input) -> relations.Output:
    sentences = (sentence(triple, value.relations) for triple in value.triples)
    described = [relations.Told(id=number, description=text) for number, text in enumerate(sentences, 1)]
    return relations.Output(descriptions=described)
