"""Rule body of the `keywords` Step: names are the low level, what is asked of them the high level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.language.pipeline import parse
from workbench.language.relations import kind_of, likeness, spoken, stem
from workbench.rules.questions import analyse

_LONGEST = 2_000  # characters of a question that are read
_PART = 4  # letters of a stem that is looked for inside a longer word

Relation = tuple[str, Sequence[str], Sequence[str], str]


def keywords(
    question: str, named: Sequence[tuple[str, str]] = (), relations: Sequence[Relation] = ()
) -> tuple[list[str], list[str]]:
    """(high level, low level).

    Low level: the `named` words of the question; where the graph names none, its names; else its noun phrases. High
    level: relations of the graph that a word of the rest evokes, then types, then the words that evoke neither.

    >>> wrote = ("written_by", ("movie",), ("person",), "who wrote a movie")
    >>> keywords("which films had Ada Lind as screenwriter", [("Ada Lind", "person")], [wrote])
    (['written by', 'movie', 'person'], ['Ada Lind'])
    """
    question = " ".join(question[:_LONGEST].split())
    (doc,) = parse([question])
    evoke = _Evoked(relations)
    names = meant(question, [span for span, _ in named], relations) or list(analyse(question).names)
    spans = [match.span() for name in names for match in re.finditer(re.escape(name), question, re.IGNORECASE)]
    words = _unique(
        spoken(token)
        for token in doc
        if token.is_alpha and not token.is_stop
        if not any(start < token.idx + len(token) and token.idx < end for start, end in spans)
    )
    low = names or _phrases(doc)
    found = [relation for word in words for relation in evoke.relations(word)]
    types = [kind for word in words for kind in evoke.types(word)]
    others = [word for word in words if not evoke.relations(word) and not evoke.types(word)]
    return _unique([*found, *types, *others]), _unique(low)


def meant(question: str, named: Sequence[str], relations: Sequence[Relation]) -> list[str]:
    """Of names that stand in a question those that it is about: a graph may have a node "film", and "which film …" does
    not mean it. All of them, where nothing else is named."""
    (doc,) = parse([" ".join(question[:_LONGEST].split())])
    evoke = _Evoked(relations)
    lower = [token for token in doc if token.text.islower()]
    asking = {token.text for token in lower if evoke.relations(spoken(token)) or evoke.types(spoken(token))}
    return [span for span in named if span not in asking] or list(named)


class _Evoked:
    """What words of a question evoke in a graph's schema."""

    def __init__(self, relations: Sequence[Relation]):
        labels = _unique(" ".join(re.split(r"[\W_]+", label)).strip() for label, *_ in relations)
        self._labels = {
            label: {stem(token.lemma_) for token in doc if not token.is_stop}
            for label, doc in zip(labels, parse(labels))
        }
        self._types = _unique(kind for _, heads, tails, _ in relations for kind in (*heads, *tails))

    def relations(self, word: str) -> list[str]:
        """Labels with a word of the same family or meaning, or that ends the word: "screenwriter" "written by"."""
        asked = stem(word)
        return [
            label
            for label, stems in self._labels.items()
            if any(likeness(asked, said) or (len(said) >= _PART and asked.endswith(said)) for said in stems)
        ]

    def types(self, word: str) -> list[str]:
        """Types that a word names, or whose kind it names: "film" the type "movie"."""
        kind = kind_of(word)
        return [name for name in self._types if stem(word) == stem(name) or (kind != "other" and kind_of(name) == kind)]


def _phrases(doc) -> list[str]:
    """Noun phrases without their stop words."""
    return [" ".join(token.text for token in chunk if not token.is_stop) for chunk in doc.noun_chunks]


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(item for item in items if item.strip()))
