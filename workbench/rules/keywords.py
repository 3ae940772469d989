"""Rule body of `keywords`: names are the low level, what is asked of them the high level."""

from __future__ import annotations

import re

from workbench.language.pipeline import parse
from workbench.language.questions import analyse
from workbench.language.relations import spoken
from workbench.language.schema_terms import LONGEST, SchemaTerms, names_meant, unique
from workbench.steps.keywords import Input, Output


def keywords(value: Input) -> Output:
    """Low level: the `named` words of the question; where the graph names none, its names; else its noun phrases. High
    level: relations of the graph that a word of the rest evokes, then types, then the words that evoke neither.

    >>> wrote = ("written_by", ("movie",), ("person",), "who wrote a movie")
    >>> output = keywords(Input("which films had Ada Lind as screenwriter", (("Ada Lind", "person"),), (wrote,)))
    >>> output.high_level, output.low_level
    (['written by', 'movie', 'person'], ['Ada Lind'])
    """
    question = " ".join(value.question[:LONGEST].split())
    (doc,) = parse([question])
    terms = SchemaTerms(value.relations)
    names = names_meant(question, [span for span, _ in value.named], value.relations)
    names = names or list(analyse(question).names)
    spans = [match.span() for name in names for match in re.finditer(re.escape(name), question, re.IGNORECASE)]
    words = unique(
        spoken(token)
        for token in doc
        if token.is_alpha and not token.is_stop
        if not any(start < token.idx + len(token) and token.idx < end for start, end in spans)
    )
    relations = [relation for word in words for relation in terms.relations(word)]
    types = [kind for word in words for kind in terms.types(word)]
    others = [word for word in words if not terms.relations(word) and not terms.types(word)]
    return Output(high_level=unique([*relations, *types, *others]), low_level=unique(names or _phrases(doc)))


def _phrases(doc) -> list[str]:
    """Noun phrases without their stop words."""
    return [" ".join(token.text for token in chunk if not token.is_stop) for chunk in doc.noun_chunks]
