"""Rule body of `select_regions`: which names of a question a search begins at, and which topics it touches."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.language.pipeline import content_words, parse
from workbench.rules.path_judging import spelled
from workbench.rules.schema_words import Lexicon, lexicon
from workbench.rules.sentences import ASKING, Word
from workbench.steps import select_regions_paper as select_regions_paper_step
from workbench.steps.select_regions import ANCHORS, Anchor, Input, Output, checked
from workbench.text import storable

_LONGEST = 2_000  # characters of a question that are read
_TOPICS = 3
_OF_SCHEMA = 0.8  # worth from which on a word is one of the schema's


def select_regions(value: Input) -> Output:
    return checked(value, regions(value))


def select_regions_paper(value: Input) -> select_regions_paper_step.Output:
    """The same, by the names and relations of the graph, which the prompt does not show."""
    output = select_regions(value).model_dump(exclude={"anchors": {"__all__": {"type"}}})
    return select_regions_paper_step.Output(**output)


def regions(value: Input) -> Output:
    """The names that are more than ordinary words of the question, the longest first; its topics are the rest.

    A graph may have a film called "Fall" and a tag "writers": lower-case words count only where nothing is written like
    a name, and a word of the schema only where there is nothing else at all. Of several types of one name the more
    frequent counts."""
    question = " ".join(storable(value.question)[:_LONGEST].split())
    schema = lexicon(tuple(value.types), tuple(value.relations))
    counts = {name: count for name, _, count in value.types}
    types_of = {span: type_ for span, type_ in sorted(value.named, key=lambda pair: (counts.get(pair[1], 0), pair))}
    ranked = [(_rank(span, question, schema), span, type_) for span, type_ in types_of.items()]
    best = max((rank for rank, _, _ in ranked), default=0)
    spans = sorted(
        (item[1:] for item in ranked if item[0] == best > 0), key=lambda item: (-len(item[0]), question.find(item[0]))
    )
    outer = [(span, type_) for span, type_ in spans if not any(span != other and span in other for other, _ in spans)]
    names = outer[: ANCHORS if best == _PROPER else 1]
    topics = _topics(question, [span for span, _ in names])
    definitions = {name: definition for name, definition, _ in value.types}
    anchors = [
        Anchor(span=span, description=_described(span, type_, definitions.get(type_, ""), topics), type=type_)
        for span, type_ in names
    ]
    return Output(anchors=anchors, topics=topics, routing=int(bool(anchors)))


_PROPER, _SMALL, _SCHEMA = 3, 2, 1


def _rank(span: str, question: str, schema: Lexicon) -> int:
    """How much a span looks like a name; 0 for words that only hold a question together."""
    from spacy.lang.en.stop_words import STOP_WORDS  # loading spaCy takes seconds

    words = re.findall(r"\w+", span)
    begins = question.startswith(span) and len(words) == 1
    ordinary = all(word.casefold() in STOP_WORDS | ASKING for word in words)
    if not any(map(str.islower, span)) or any(map(str.isupper, span)):
        return 0 if begins and ordinary else _PROPER
    if ordinary:
        return 0
    senses = schema.senses(
        [Word(0, token.lemma_.lower(), False, False) for token in parse([span])[0] if token.is_alpha]
    )
    of_schema = bool(senses) and all(
        max((*s.relations.values(), *s.types.values()), default=0) >= _OF_SCHEMA for s in senses
    )
    return _SCHEMA if of_schema else _SMALL


def _topics(question: str, names: Sequence[str]) -> list[str]:
    """The content words of the question without its names, together and then by noun phrases."""
    rest = question
    for name in names:
        rest = rest.replace(name, " ")
    words = [word for word in re.findall(r"\w+", rest) if content_words(word)]
    phrases = [" ".join(token.text for token in chunk if not token.is_stop and token.is_alpha)
               for chunk in parse([" ".join(rest.split())])[0].noun_chunks]  # fmt: skip
    return list(dict.fromkeys(topic for topic in (" ".join(words), *phrases) if topic))[:_TOPICS] or [question]


def _described(span: str, type_: str, definition: str, topics: Sequence[str]) -> str:
    """What a name probably is: its type with its definition, and what is asked about it."""
    kind = spelled(type_) or "thing"
    article = "an" if kind[0] in "aeiou" else "a"
    defined = f" ({definition.rstrip('.')})" if definition else ""
    return f"{span} is {article} {kind}{defined}, asked about with regard to {topics[0]}."
