"""Entity linking: from the names in a question to the phrases of a graph, and entities of the typed graph whose exact
names occur in a text."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.index.typed import TypedLayer
from workbench.text import PHRASE_RULES, bounded, normalized, word_pattern


class Link(NamedTuple):
    """A name and the phrase (row) that it is linked to; `cosine` is 1 if the phrase is the name itself."""

    name: str
    phrase: int
    cosine: float


def near(index: Index, name: str, k: int = 1) -> list[Link]:
    """At most k phrases that a name may mean, best first: the normalised name itself, then the phrases with the closest
    vectors."""
    facts = index.facts
    if not facts.phrases:
        return []
    phrase = PHRASE_RULES[facts.metadata["settings"]["normalise"]](name)
    same = facts.phrase_row.get(phrase) if phrase else None
    if same is not None and k == 1:
        return [Link(name, same, 1.0)]
    cosines = facts.phrase_vectors @ index.encode_query(phrase or name, "phrases")
    close = [Link(name, int(row), float(cosines[row])) for row in top(cosines, k) if row != same]
    return ([Link(name, same, 1.0)] if same is not None else []) + close[: k - (same is not None)]


def late(index: Index, name: str, among: int = 10) -> list[Link]:
    """The phrase whose words match those of a name best, `among` the closest ones; none of an index without phrases.

    Late interaction as in ColBERT, with vectors of words by the index's encoder: the mean over the words of the name of
    the highest cosine with a word of the phrase. Equal ones are ordered as in `near`."""
    close = near(index, name, among)
    words = PHRASE_RULES[index.facts.metadata["settings"]["normalise"]](name).split()
    if not close or not words:
        return close[:1]
    vectors = index.encode(words)
    scores = [
        float((vectors @ index.encode(index.facts.phrases[link.phrase].split()).T).max(1).mean()) for link in close
    ]
    best = max(range(len(close)), key=lambda at: (scores[at], -at))
    return [close[best]._replace(cosine=scores[best])]


def standing(index: Index, question: str) -> list[str]:
    """The phrases that stand in a question in han or kana, which has no capitals that tell its names: in its order, and
    none within a longer one."""
    normal = PHRASE_RULES[index.facts.metadata["settings"]["normalise"]](question)
    held = sorted(
        (phrase for phrase in index.facts.phrases if phrase and phrase in normal), key=lambda phrase: -len(phrase)
    )
    spots: dict[int, str] = {}
    for phrase in held:
        for match in re.finditer(bounded(phrase), normal):
            spots.setdefault(match.start(), phrase)
            normal = normal[: match.start()] + "\n" * len(phrase) + normal[match.end() :]
    return list(dict.fromkeys(spots[at] for at in sorted(spots)))


def linked(index: Index, names: Iterable[str], least: float) -> list[Link]:
    """The best phrase of each name if its cosine is at least `least`; each phrase once."""
    links = (link for name in names for link in near(index, name))
    return list({link.phrase: link for link in links if link.cosine >= least}.values())


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"{word_pattern()}|[^\w\s]")


class _Lookup(NamedTuple):
    """`rows`: the folded tokens of a name → its entity rows; `lengths`: a first token → the lengths, in tokens, of the
    names that begin with it, longest first."""

    rows: dict[tuple[str, ...], list[int]]
    lengths: dict[str, list[int]]


_lookups: WeakKeyDictionary[TypedLayer, _Lookup] = WeakKeyDictionary()


def named(typed: TypedLayer, question: str) -> list[tuple[str, int]]:
    """(span, entity row) of the names that occur in a question, in its order, each span as written in the question.

    Names begin and end with a word or a sign, and a han or kana character is a word; of overlapping ones, the longest
    counts. A span denotes the entities of exactly that name, or if there are none, those whose names differ in case or
    width. Punctuation is no name; English function words ("it", "who") are names only as spelled in the graph and with
    an initial capital."""
    lookup = _lookup(typed)
    tokens = [(token.start(), token.end(), _fold(token[0])) for token in _token().finditer(question)]
    folded = [fold for _, _, fold in tokens]
    met = []
    for at, first in enumerate(folded):
        for length in lookup.lengths.get(first, ()):
            rows = lookup.rows.get(tuple(folded[at : at + length])) if at + length <= len(tokens) else None
            if rows is not None:
                span = question[tokens[at][0] : tokens[at + length - 1][1]]
                rows = _as_written(typed, span, rows)
                if _is_name(typed, span, rows[0]):
                    met.append((at, length, span, rows))
    covered = [False] * len(tokens)
    chosen = []
    for at, length, span, rows in sorted(met, key=lambda span_met: (-span_met[1], span_met[0])):
        if not any(covered[at : at + length]):
            covered[at : at + length] = [True] * length
            chosen.append((at, span, rows))
    return [(span, row) for _, span, rows in sorted(chosen) for row in rows]


def exact(typed: TypedLayer, name: str) -> list[int]:
    """Ascending rows of the entities of that name, else of those whose names differ in case or width, else of the name
    without surrounding brackets."""
    for text in (name, name.strip(" []<>")):
        rows = _lookup(typed).rows.get(tuple(_folded_tokens(text)))
        if rows is not None:
            return _as_written(typed, text, rows)
    return []


def _as_written(typed: TypedLayer, span: str, rows: list[int]) -> list[int]:
    """The rows whose name is exactly the span, or all if there are none."""
    written = " ".join(span.split())
    return [row for row in rows if " ".join(typed.names[row].split()) == written] or rows


def _is_name(typed: TypedLayer, span: str, row: int) -> bool:
    if all(unicodedata.category(c)[0] in "PZ" for c in span):
        return False
    if any(word not in _function_words() for word in _folded_tokens(span)):
        return True
    return span == typed.names[row] and span != span.lower()


def _lookup(typed: TypedLayer) -> _Lookup:
    if typed not in _lookups:
        rows, lengths = defaultdict(list), defaultdict(set)
        for row, name in enumerate(typed.names):
            tokens = tuple(_folded_tokens(name))
            if tokens:
                rows[tokens].append(row)
                lengths[tokens[0]].add(len(tokens))
        longest_first = {first: sorted(counts, reverse=True) for first, counts in lengths.items()}
        _lookups[typed] = _Lookup(dict(rows), longest_first)
    return _lookups[typed]


def _folded_tokens(text: str) -> Iterator[str]:
    if text.isascii():  # folded at once, which gives the same
        return iter(_token().findall(text.lower()))
    return (_fold(token) for token in _token().findall(text))


def _fold(text: str) -> str:
    return normalized("NFKC", text).casefold()


@cache
def _function_words() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)
