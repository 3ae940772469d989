"""Graph-walk compression as published: "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045, 3.4).

`released` follows the code released with it, `thesis` the text, in its order and within its budget. The oddities of
the code stay, because the published figures were made with them: names are found inside of words, one common word of
five letters seeds many of them, lines of the graph are never cut, a chunk that did not fit is not tried again, and
sources come last. Names are told apart by their spelling.

Where the text is silent: the length of a chunk is that of its line, number included."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby

from workbench.language.relations import LISTS
from workbench.language.relations import words as list_of
from workbench.reading.compression.base import entry, heading, named, size
from workbench.records import ContextGraph, ContextRelation, Unit

STOP = list_of(LISTS["published"]["stop"])
WORDS_A_TOKEN = 1.3  # the code takes a token for so many words
_WORD = re.compile("[a-z0-9]+")
_ARTICLE = re.compile(r"^(a|an|the)\s+")

Part = tuple[str, int | None, tuple[str, ...]]  # heading, hop, ids of units or names


@dataclass
class Page:
    """What is written, part by part, and what of the tables it shows."""

    limit: float
    used: int = 0
    parts: list[str] = field(default_factory=list)
    kept: list[Part] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)

    def add(self, text: str, cost: int) -> None:
        self.parts.append(text)
        self.used += cost


# -- phase 1: seeds ---------------------------------------------------------------------------------------------------


def seeds(question: str, names: Iterable[str], *, stop: frozenset[str] = STOP, articles: bool = True) -> list[str]:
    """The names that the question touches, in their order: it holds the whole name (inside of a word, too); or all of
    its words of more than two characters, if these are two or more; or one of at least five characters.

    `articles=False` takes the article off a name, which the text claims and the code does not do.
    """
    lowered = question.lower()
    question_words = set(_WORD.findall(lowered))
    content = {word for word in question_words - stop if len(word) > 2}
    seed_names = []
    for name in names:
        low = name.lower() if articles else _ARTICLE.sub("", name.lower())
        name_words = set(_WORD.findall(low))
        long = {word for word in name_words if len(word) > 2}
        inside = low in lowered
        all_words = len(long) >= 2 and long <= question_words
        if inside or all_words or any(len(word) >= 5 for word in name_words & content):
            seed_names.append(name)
    return seed_names


# -- phases 2 and 3: hops ---------------------------------------------------------------------------------------------


def hops_from(seeds: Sequence[str], relations: Iterable[ContextRelation], most: int) -> dict[str, int]:
    """Name → edges to the nearest seed, over relations either way, up to `most` of them."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for relation in relations:
        neighbours[relation.source].append(relation.target)
        neighbours[relation.target].append(relation.source)
    hops = dict.fromkeys(seeds, 0)
    last = list(hops)
    for hop in range(1, most + 1):
        last = list(dict.fromkeys(other for name in last for other in neighbours[name] if other not in hops))
        hops.update(dict.fromkeys(last, hop))
    return hops


def expand(hops: dict[str, int], names: Iterable[str], chunks: Iterable[Unit]) -> list[str]:
    """Names of the table that a chunk holds beside one that was reached; once, and no further from there."""
    low = {name: name.lower() for name in (*hops, *names)}
    texts = [chunk.content.lower() for chunk in chunks]
    touched = [text for text in texts if any(low[name] in text for name in hops)]
    return [name for name in names if name not in hops and any(low[name] in text for text in touched)]


# -- phase 4: assembly ------------------------------------------------------------------------------------------------


class Assembly:
    """What both orders write from. `hops`: of every name reached; names of one hop stand in alphabetical order.
    `names`: those that have lines, all of them unless `cut`."""

    def __init__(self, question: str, graph: ContextGraph, hops: dict[str, int], stop: frozenset[str] = STOP):
        self.hops = dict(sorted(hops.items(), key=lambda item: (item[1], item[0])))
        self.names = list(self.hops)
        self.described = {entity.name: entity for entity in graph.entities}  # the last of a name
        self.relations: dict[str, list[ContextRelation]] = defaultdict(list)
        for relation in graph.relations:
            if relation.source in hops and relation.target in hops:
                self.relations[relation.source].append(relation)
        self.chunks = list(zip(named(graph.chunks), graph.chunks))
        self.sources = list(zip(named(graph.sources, ""), graph.sources))
        self._low = [(name.lower(), hop) for name, hop in self.hops.items()]
        content = {word for word in _WORD.findall(question.lower()) if len(word) > 2 and word not in stop}
        self.near: list[tuple[int, int, tuple[str, Unit]]] = []  # (hop, names mentioned, chunk)
        others = []
        for chunk in self.chunks:
            mentioned = self.mentioned(chunk[1])
            if mentioned:
                self.near.append((min(mentioned), len(mentioned), chunk))
            elif shared := len(content & set(_WORD.findall(chunk[1].content.lower()))):
                others.append((shared, chunk))
        self.near.sort(key=lambda row: -row[1])
        self.others = [chunk for _, chunk in sorted(others, key=lambda row: -row[0])]

    def mentioned(self, unit: Unit) -> list[int]:
        """The hops of the names in a unit."""
        text = unit.content.lower()
        return [hop for name, hop in self._low if name in text]

    def cut(self, budget: int) -> None:
        """Leave out the lines from the first on that `budget` cl100k tokens do not hold."""
        names, hop = [], None
        for name in self.names:
            if (at := self.hops[name]) != hop:
                budget, hop = budget - _apart(heading(at)), at
            lines = [*self._lines(name)]
            costs = [*accumulate(size(f"{line}\n") for line in lines)]
            fit = bisect_right(costs, budget)
            if fit:
                names.append(name)
                del self.relations[name][fit - 1 :]
            if fit < len(lines):
                break
            budget -= costs[-1]
        self.names = names

    def blocks(self) -> Iterator[tuple[int, str, Part]]:
        """(hop, text, part) of the lines of each hop."""
        for hop, group in groupby(self.names, key=self.hops.__getitem__):
            names, head = tuple(group), heading(hop)
            lines = [line for name in names for line in self._lines(name)]
            yield hop, "\n".join([head, *lines]), (head, hop, names)

    def _lines(self, name: str) -> Iterator[str]:
        description = self.described[name].description if name in self.described else ""
        yield f"  {name}: {description}" if description else f"  {name}"
        yield from (f"    -> {relation.target}: {relation.description}" for relation in self.relations[name])

    def graph(self, units: Sequence[Unit]) -> ContextGraph:
        """The rows that were written."""
        ids = {id(unit) for unit in units}
        return ContextGraph(
            tuple(self.described[name] for name in self.names if name in self.described),
            tuple(relation for name in self.names for relation in self.relations[name]),
            tuple(unit for _, unit in self.sources if id(unit) in ids),
            tuple(unit for _, unit in self.chunks if id(unit) in ids),
        )


def interleaved(assembly: Assembly, budget: int, lightrag: bool) -> Page:
    """The code's order: the lines of a hop, then the chunks of that hop. In words: `budget` / 1.3. With `lightrag` a
    long block does not cost its hop the chunks, and there are no sources."""
    page = Page(int(budget / WORDS_A_TOKEN))
    for hop, text, part in assembly.blocks():
        cost = _count_words(text)
        crowded = page.used + cost > page.limit
        page.add(text, cost)
        page.kept.append(part)
        if not crowded or lightrag:
            _fill(page, part[0], hop, [chunk for at, _, chunk in assembly.near if at == hop], _count_words)
    _fill(page, heading(None), None, assembly.others, _count_words, headed=True)
    if not lightrag:
        _reports(page, assembly, _count_words)
    return page


def tiers(assembly: Assembly, budget: int) -> Page:
    """The text's order: all lines, the chunks that mention a name, the others that share a word, the sources; lines and
    chunks by hop, the chunks of a hop by the number of names. In cl100k tokens, of which there are no more than
    `budget`: lines end with the first that does not fit."""
    page = Page(budget)
    assembly.cut(budget)
    for _, text, part in assembly.blocks():
        page.add(text, _apart(text))
        page.kept.append(part)
    for hop, _, chunk in sorted(assembly.near, key=lambda row: row[0]):
        _fill(page, "", hop, [chunk], _apart)
    _fill(page, heading(None), None, assembly.others, _apart, headed=True)
    _reports(page, assembly, _apart)
    return page


def _apart(text: str) -> int:
    """The tokens of a part and of the empty line that sets it apart."""
    return size(f"{text}\n\n")


def _reports(page: Page, assembly: Assembly, cost) -> None:
    near = [source for source in assembly.sources if assembly.mentioned(source[1])]
    _fill(page, "=== Sources ===", None, near, cost, headed=True)


def _fill(page: Page, heading: str, hop: int | None, units, cost, *, headed: bool = False) -> None:
    """Every unit that still fits; `headed`: below their own heading."""
    ids = []
    for name, unit in units:
        text = entry(name, unit.content)
        if page.used + cost(text) > page.limit:
            continue
        if headed and not ids:
            page.parts.append(heading)
        page.add(text, cost(text))
        page.units.append(unit)
        ids.append(unit.id)
    if ids:
        page.kept.append((heading, hop, tuple(ids)))


def _count_words(text: str) -> int:
    return len(text.split())


def described(graph: ContextGraph) -> list[str]:
    """The names of the table, each once."""
    return list(dict.fromkeys(entity.name for entity in graph.entities))
