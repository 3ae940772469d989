"""Filling a budget: whole units by rank while they fit, no sentence twice, then lines of the graph, then sentences of
further units that still fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from workbench.reading.compression.base import entry, joined, length, named, size
from workbench.reading.compression.texts import Text, weight
from workbench.records import ContextEntity, ContextGraph, ContextRelation

GAP = "…"  # marks omitted sentences
_LEAST = 12  # tokens; in less than that no sentence is worth its entry
_BREAK = "\n\n"


@dataclass(frozen=True)
class Line:
    """A line of the graph under a name. `description` is what it says beyond names: the line is left out if a unit says
    it. `row` is that of the table, `rank` sorts."""

    rank: tuple
    name: str
    text: str
    description: str
    row: ContextEntity | ContextRelation


@dataclass
class BudgetFill:
    """`left` tokens, and what is in so far: a unit's place → its text, lines, sentences."""

    left: int
    weights: dict[str, float]
    shorten: bool = True
    sentences: set[str] = field(default_factory=set)
    units: dict[int, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def add_units(self, order: Sequence[int], texts: Sequence[Text], names: Sequence[str], keep: int) -> Sequence[int]:
        """Units in their order, until one does not fit into what is left but for `keep` tokens. Returns those that are
        not in."""
        for at, unit in enumerate(order):
            fresh = self._fresh(texts[unit])
            if fresh and not self._take(unit, texts[unit], fresh, names[unit], self.left - keep):
                return order[at:]
        return ()

    def squeeze(self, order: Sequence[int], texts: Sequence[Text], names: Sequence[str]) -> None:
        """Of further units, what fits: the whole, or as many of its sentences as do, those first that share most with
        the question."""
        for unit in order:
            if self.left < _LEAST:
                break
            fresh = self._fresh(texts[unit])
            if not fresh or self._take(unit, texts[unit], fresh, names[unit], self.left) or not self.shorten:
                continue
            some = self._some(fresh, self.left - size(entry(names[unit], GAP + GAP) + _BREAK))
            if some:
                self._take(unit, texts[unit], some, names[unit], self.left)

    def add_lines(self, lines: Iterable[Line], budget: int) -> None:
        """Add lines in their order, as many as fit into `budget` tokens, without lines that a unit states."""
        whole = _plain(" ".join(self.units.values()))
        headed: set[str] = set()
        for line in lines:
            cost = size(line.text + "\n") + (0 if line.name in headed else size(f"  {line.name}\n"))
            if cost > min(budget, self.left):
                break
            if not line.description or _plain(line.description) not in whole:
                self.lines.append(line)
                headed.add(line.name)
                budget -= cost
                self.left -= cost

    def drop(self) -> None:
        """Take back what came last."""
        if self.units:
            self.units.popitem()
        elif self.lines:
            self.lines.pop()

    def _fresh(self, text: Text) -> list[str]:
        return [sentence for sentence in text.sentences if _plain(sentence) not in self.sentences]

    def _take(self, unit: int, text: Text, sentences: Sequence[str], name: str, limit: int) -> bool:
        """Whether so much of a unit fits into `limit` tokens; then it is in."""
        shortened = _shortened(text, sentences)
        cost = size(entry(name, shortened) + _BREAK)
        if cost > limit:
            return False
        self.left -= cost
        self.units[unit] = shortened
        self.sentences.update(map(_plain, sentences))
        return True

    def _some(self, sentences: Sequence[str], limit: int) -> list[str]:
        """As many sentences as fit into `limit` tokens, in their order."""
        chosen = []
        for at in sorted(range(len(sentences)), key=lambda at: (-weight(sentences[at], self.weights), at)):
            cost = size(f"{sentences[at]} {GAP} ")
            if cost <= limit:
                chosen.append(at)
                limit -= cost
        return [sentences[at] for at in sorted(chosen)]


@dataclass(frozen=True)
class Page:
    """The text, what of the tables is in it, and where (heading, hop, ids of units or names)."""

    text: str
    tokens: int
    graph: ContextGraph
    kept: tuple[tuple[str, int | None, tuple[str, ...]], ...]


Section = tuple[str, int | None, Sequence[Line], Sequence[int]]  # heading, hop, lines, places of units


def page_within(
    fill: BudgetFill,
    budget: int,
    graph: ContextGraph,
    order: Sequence[int],
    texts: Sequence[Text],
    lines: Sequence[Line],
    share: float,
    divide: Callable[[], tuple[Sequence[Line], Sequence[Section]]],
) -> Page:
    """The page of what fits into `budget` tokens: units in an `order`, and lines, which have at least a `share` of it;
    `divide` gives the lines that are in, in the order of the tables, and the sections of what is in."""
    names = [*named(graph.chunks), *(f"source {name}" for name in named(graph.sources, ""))]
    least = int(share * budget) if lines else 0
    rest = fill.add_units(order, texts, names, keep=least)
    fill.add_lines(lines, least if rest else fill.left)
    fill.squeeze(rest, texts, names)
    page = _page(fill, graph, names, *divide())
    while page.tokens > budget:  # tokens of parts do not quite add up to those of the whole
        fill.drop()
        page = _page(fill, graph, names, *divide())
    return page


def _page(
    fill: BudgetFill, graph: ContextGraph, names: Sequence[str], lines: Sequence[Line], sections: Sequence[Section]
) -> Page:
    units, chunks = (*graph.chunks, *graph.sources), len(graph.chunks)
    parts, blocks, units_here = [], [], []
    for heading, hop, some, here in sections:
        block: dict[str, list[Line]] = {}
        for line in some:
            block.setdefault(line.name, []).append(line)
        if block or here:
            parts.append("\n".join([heading, *(line for name, of in block.items() for line in under(name, of))]))
            parts += [entry(names[unit], fill.units[unit]) for unit in here]
            blocks.append((heading, hop, (*block, *(units[unit].id for unit in here))))
            units_here += here
    text, rows = joined(parts), [line.row for line in lines]
    written = ContextGraph(
        tuple(row for row in rows if isinstance(row, ContextEntity)),
        tuple(row for row in rows if isinstance(row, ContextRelation)),
        tuple(units[unit] for unit in units_here if unit >= chunks),
        tuple(units[unit] for unit in units_here if unit < chunks),
    )
    return Page(text, length(text), written, tuple(blocks))


def line_of(row: ContextEntity | ContextRelation, rank: tuple, name: str) -> Line:
    """The line of a row under a name."""
    description = " ".join(row.description.split())
    text = f"  {row.name}: " if isinstance(row, ContextEntity) else f"    -> {row.target}: "
    return Line(rank, name, text + description, description, row)


def under(name: str, lines: Sequence[Line]) -> list[str]:
    """The lines of an entity: its own, or its bare name, then its relationships."""
    own = [line.text for line in lines if isinstance(line.row, ContextEntity)]
    return [*(own or [f"  {name}"]), *(line.text for line in lines if not isinstance(line.row, ContextEntity))]


@lru_cache(1 << 13)
def _plain(text: str) -> str:
    """What two texts share that say the same."""
    return " ".join(text.casefold().split())


def _shortened(text: Text, sentences: Sequence[str]) -> str:
    """The text itself if all its sentences stay; else the sentences, with a mark for each gap."""
    if len(sentences) == len(text.sentences):
        return text.text.strip("\n")
    wanted, parts = list(sentences), []
    for sentence in text.sentences:
        if wanted and sentence == wanted[0]:
            parts.append(wanted.pop(0))
        elif parts[-1:] != [GAP]:
            parts.append(GAP)
    return " ".join(parts)
