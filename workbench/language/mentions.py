"""What a sentence mentions: its named entities, and its other nouns by their lemmas, each in the normal form of a
phrase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.language.pipeline import parse
from workbench.text import storable, unicode_phrase

BLOCK = 128  # texts that are parsed together
AMOUNTS = frozenset(("CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"))  # which join whatever counts alike
_EDGES = frozenset(("the", "a", "an", "'s", "’s", "'", "’"))  # of a name as spaCy cuts it


class Mention(NamedTuple):
    """`named`: whether it is a named entity."""

    name: str
    named: bool


def mentions(texts: Sequence[str]) -> Iterator[list[tuple[str, list[Mention]]]]:
    """Per text its sentences, each with what it mentions, as often as it does, in its order."""
    for start in range(0, len(texts), BLOCK):
        for doc in parse([storable(text) for text in texts[start : start + BLOCK]]):
            placed = dict(_placed(doc))
            yield [
                (sentence.text.strip(), [placed[at] for at in range(sentence.start, sentence.end) if at in placed])
                for sentence in doc.sents
                if sentence.text.strip()
            ]


def mentioned(text: str) -> list[Mention]:
    """What a text mentions, each once."""
    (sentences,) = mentions([text])
    return list(dict.fromkeys(mention for _, held in sentences for mention in held))


def _placed(doc) -> Iterator[tuple[int, Mention]]:
    """The place of its first word, and a mention."""
    within: set[int] = set()
    for entity in doc.ents:
        words = list(entity)
        while words and words[0].lower_ in _EDGES:
            words.pop(0)
        while words and words[-1].lower_ in _EDGES:
            words.pop()
        name = unicode_phrase(doc[words[0].i : words[-1].i + 1].text) if words else ""
        if name and entity.label_ not in AMOUNTS:
            within.update(range(entity.start, entity.end))
            yield words[0].i, Mention(name, True)
    for token in doc:
        if token.i not in within and token.pos_ in ("NOUN", "PROPN") and not token.is_stop:
            name = unicode_phrase(token.lemma_)
            if len(name) > 1:
                yield token.i, Mention(name, False)
