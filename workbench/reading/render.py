"""Evidence as text, under a token budget. Rendering comes last: whatever works on evidence works on records."""

from __future__ import annotations

from typing import NamedTuple

from workbench import tokens
from workbench.layouts import ket_rag
from workbench.records import Compressed, ContextGraph, Evidence, Passage, Unit

HEADING = 100  # characters of a first line that may be a title


class Context(NamedTuple):
    """The text that a reader sees, its cl100k tokens, and the passages that it holds. `ends`: where the paths end that
    a method judged complete, each once. `graph`: its tables, where it is written from tables; `compressed`: what a
    compressor did to it."""

    text: str
    tokens: int
    passages: tuple[Passage, ...]
    ends: tuple[str, ...] = ()
    graph: ContextGraph | None = None
    compressed: Compressed | None = None

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """(title, text) of all that a rule body reads of it: the units of its tables, else its passages."""
        if self.graph is None:
            return tuple((passage.title, passage.text) for passage in self.passages)
        return tuple(map(_titled, (*self.graph.chunks, *self.graph.sources)))


def _titled(unit: Unit) -> tuple[str, str]:
    """(title, text) of a unit. Where its text holds the title, that is a short first line without a sentence's end."""
    first, line_feed, rest = unit.text.partition("\n")
    headed = not unit.title and line_feed and len(first) <= HEADING and first.rstrip()[-1:] not in ("", ".", "…")
    return (first, rest) if headed else (unit.title, unit.text)


def render(evidence: Evidence, k: int | None = None, budget: int | None = None) -> Context:
    """The first k passages, title above text, a blank line between them; whole passages only, as many as fit."""
    kept: list[Passage] = []
    text, used = "", 0
    for passage, _ in evidence.passages[:k]:
        longer = f"{text}\n\n{passage.content}" if text else passage.content
        size = tokens.count(longer)
        if budget is not None and size > budget:
            break
        kept.append(passage)
        text, used = longer, size
    return Context(text, used, tuple(kept))


def laid_out(evidence: Evidence, graph: ContextGraph, text: str | None = None, ends: tuple[str, ...] = ()) -> Context:
    """The context that a graph makes, in the layout ket_rag or as the `text` that it is written in already.

    Its passages are those that a unit is cut from; one that the evidence does not hold stands with what is shown of
    it."""
    text = ket_rag.write(graph) if text is None else text
    known = {passage.id: passage for passage, _ in evidence.passages}
    shown: dict[str, Passage] = {}
    for unit in (*graph.chunks, *graph.sources):
        for id in unit.passages:
            shown.setdefault(id, known.get(id) or Passage(id, unit.title, unit.text))
    return Context(text, tokens.count(text), tuple(shown.values()), ends, graph)
