"""What the words of a question evoke in the schema of a graph: relations, and types of entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.language.pipeline import parse
from workbench.language.relations import kind_of, likeness, spoken, stem

LONGEST = 2_000  # characters of a question that are read
_PART = 4  # letters of a stem that is looked for inside a longer word

Relation = tuple[str, Sequence[str], Sequence[str], str]  # label, head types, tail types, definition


class SchemaTerms:
    """The labels of a schema's relations, by the stems of their words, and its types."""

    def __init__(self, relations: Sequence[Relation]):
        labels = unique(" ".join(re.split(r"[\W_]+", label)).strip() for label, *_ in relations)
        self._labels = {
            label: {stem(token.lemma_) for token in doc if not token.is_stop}
            for label, doc in zip(labels, parse(labels))
        }
        self._types = unique(kind for _, heads, tails, _ in relations for kind in (*heads, *tails))

    def relations(self, word: str) -> list[str]:
        """Labels with a word of the same family or meaning, or that ends the word: "screenwriter" "written by"."""
        asked = stem(word)
        return [
            label
            for label, stems in self._labels.items()
            if any(likeness(asked, other) or (len(other) >= _PART and asked.endswith(other)) for other in stems)
        ]

    def types(self, word: str) -> list[str]:
        """Types that a word names, or whose kind it names: "film" the type "movie"."""
        kind = kind_of(word)
        return [name for name in self._types if stem(word) == stem(name) or (kind != "other" and kind_of(name) == kind)]


def names_meant(question: str, named: Sequence[str], relations: Sequence[Relation]) -> list[str]:
    """Of the names that occur in a question those that it is about: a graph may have a node "film", and "which film …"
    does not mean it. All of them, where nothing else is named."""
    (doc,) = parse([" ".join(question[:LONGEST].split())])
    terms = SchemaTerms(relations)
    lower = [token for token in doc if token.text.islower()]
    asking = {token.text for token in lower if terms.relations(spoken(token)) or terms.types(spoken(token))}
    return [span for span in named if span not in asking] or list(named)


def unique(items: Iterable[str]) -> list[str]:
    """Each item once, blank ones left out."""
    return list(dict.fromkeys(item for item in items if item.strip()))
