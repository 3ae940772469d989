"""Filling a budget: units by rank, whole ones while they fit, no sentence twice, then lines of the graph, then whatever
sentences of the next units still fit. And how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from workbench import tokens
from workbench.reading.compression.base import entry, joined, size
from workbench.reading.compression.texts import sentences, weight

GAP = "…"  # stands for sentences that are left out
_LEAST = 12  # tokens; in less than that no sentence is worth its entry
_BREAK = "\n\n"


@dataclass(frozen=True)
class Line:
    """A line of the graph: where it stands (under which name), and the rows that it shows."""

    rank: tuple
    name: str
    text: str
    said: str  # what it tells beyond names; not shown if a unit says it
    row: object


@dataclass
class Filling:
    """`left` tokens, and what is in so far: (unit's place, text), lines, sentences said."""

    left: int
    asked: dict[str, float]
    shorten: bool = True
    said: set[str] = field(default_factory=set)
    units: dict[int, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def add_units(self, order: Iterable[int], texts: Sequence[str], names: Sequence[str], keep: int = 0) -> list[int]:
        """Units in their order, until one does not fit into what is left but for `keep` tokens; the others."""
        order = list(order)
        for at, unit in enumerate(order):
            fresh = self._fresh(texts[unit])
            text = _told(texts[unit], fresh)
            if fresh and not self._take(unit, text, names[unit], fresh, self.left - keep):
                return order[at:]
        return []

    def squeeze(self, order: Iterable[int], texts: Sequence[str], names: Sequence[str]) -> None:
        """Of further units, what fits: the whole, or as many of its sentences as do, those first that share most with
        the question."""
        for unit in order:
            if self.left < _LEAST:
                break
            fresh = self._fresh(texts[unit])
            if not fresh or self._take(unit, _told(texts[unit], fresh), names[unit], fresh, self.left):
                continue
            some = self._some(fresh, self.left - size(entry(names[unit], GAP + GAP) + _BREAK)) if self.shorten else []
            if some:
                self._take(unit, _told(texts[unit], some), names[unit], some, self.left)

    def add_lines(self, lines: Iterable[Line], budget: int) -> None:
        """Lines in their order, as many as fit into `budget` tokens, but for what a unit says."""
        whole = " ".join(" ".join(self.units.values()).casefold().split())
        for line in lines:
            cost = size(line.text + "\n")
            if cost > min(budget, self.left):
                break
            if line.said and " ".join(line.said.casefold().split()) in whole:
                continue
            self.lines.append(line)
            budget -= cost
            self.left -= cost

    def _fresh(self, text: str) -> list[str]:
        return [one for one in sentences(text) if _same(one) not in self.said]

    def _take(self, unit: int, text: str, name: str, said: Sequence[str], limit: int) -> bool:
        cost = size(entry(name, text) + _BREAK)
        if cost > limit:
            return False
        self.left -= cost
        self.units[unit] = text
        self.said.update(map(_same, said))
        return True

    def _some(self, fresh: Sequence[str], limit: int) -> list[str]:
        """Sentences in their order, of at most `limit` tokens."""
        chosen = []
        for at in sorted(range(len(fresh)), key=lambda at: (-weight(fresh[at], self.asked), at)):
            cost = size(f"{fresh[at]} {GAP} ")
            if cost <= limit:
                chosen.append(at)
                limit -= cost
        return [fresh[at] for at in sorted(chosen)]


def _same(sentence: str) -> str:
    return " ".join(sentence.casefold().split())


def _told(text: str, kept: Sequence[str]) -> str:
    """The text itself where all its sentences are kept; else these, with a mark for each gap."""
    every = sentences(text)
    if len(kept) == len(every):
        return text.strip("\n")
    wanted, parts = list(kept), []
    for one in every:
        if wanted and one == wanted[0]:
            parts.append(wanted.pop(0))
        elif parts[-1:] != [GAP]:
            parts.append(GAP)
    return " ".join(parts)


def fitting(write: Callable[[], str], drop: Callable[[], bool], budget: int) -> str:
    """The text, once enough was dropped; tokens of parts do not quite add up to those of the whole."""
    text = write()
    while tokens.count(text) > budget and drop():
        text = write()
    return text if tokens.count(text) <= budget else ""


__all__ = ["GAP", "Filling", "Line", "fitting", "joined"]
