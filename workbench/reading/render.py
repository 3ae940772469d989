"""Evidence as text within a token budget. Rendering is the last step; everything before it works on records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from workbench import layouts, tokens
from workbench.records import Compressed, ContextGraph, Evidence, Passage, Unit
from workbench.text import split_title

BETWEEN = "\n\n"  # passages
HEADING = 100  # characters of a first line that may be a title


class Context(NamedTuple):
    """The text that a reader sees, its cl100k tokens, and the passages that it holds. `ends`: where the paths end that
    a method judged complete, each once. `graph`: its tables, where it is written from tables; `compressed`: what a
    compressor did to it; `cut_to`: the tokens that the engine's window left for it, where it was cut to them."""

    text: str
    tokens: int
    passages: tuple[Passage, ...]
    ends: tuple[str, ...] = ()
    graph: ContextGraph | None = None
    compressed: Compressed | None = None
    cut_to: int | None = None

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """(title, text) of all that a rule body reads of it: the units of its tables, else its passages."""
        if self.graph is None:
            return tuple((passage.title, passage.text) for passage in self.passages)
        return tuple(map(_titled, (*self.graph.chunks, *self.graph.sources)))


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts that a reader makes of an evidence: `retrieved`, and `shown`, which `compress` makes of it on first
    use."""

    retrieved: Context
    compress: Callable[[Context], Context] | None = None

    @cached_property
    def shown(self) -> Context:
        return self.compress(self.retrieved) if self.compress else self.retrieved


def _titled(unit: Unit) -> tuple[str, str]:
    """(title, text) of a unit; its text may hold the title."""
    return (unit.title, unit.text) if unit.title else split_title(unit.text, HEADING, ends=".…。！？")


def render(evidence: Evidence, k: int | None = None, budget: int | None = None) -> Context:
    """The first k passages, title above text, a blank line between them; whole passages only, as many as fit."""
    passages = tuple(passage for passage, _ in evidence.passages[:k])
    if budget is None:
        text = joined(passages)
        return Context(text, tokens.count(text), passages)
    text, used, before = "", 0, 0  # `before`: tokens of the text with the blank line after it
    for at, passage in enumerate(passages):
        content = passage.content
        longer = f"{text}{BETWEEN}{content}" if text else content
        # No token reaches across the end of a blank line, unless more white space follows.
        parted = content[:1].strip() != ""
        size = before + tokens.count(content) if parted else tokens.count(longer)
        if size > budget:
            return Context(text, used, passages[:at])
        before = before + tokens.count(content + BETWEEN) if parted else tokens.count(longer + BETWEEN) * bool(longer)
        text, used = longer, size
    return Context(text, used, passages)


def unread(evidence: Evidence) -> Context:
    """The context of an evidence without a reader: the one that the method lays out itself, else all of its
    passages."""
    return render(evidence) if evidence.context is None else laid_out(evidence, evidence.context)


def joined(passages: Iterable[Passage]) -> str:
    """Title above text, a blank line between passages."""
    return BETWEEN.join(passage.content for passage in passages)


def laid_out(evidence: Evidence, graph: ContextGraph) -> Context:
    """The context that a graph makes in the layout that it names."""
    text = layouts.write(graph)
    ends = dict.fromkeys(path.nodes[-1] for path in graph.paths if path.verdict == "complete")
    return Context(text, tokens.count(text), _passages(evidence, graph), tuple(ends), graph)


def cut_down(evidence: Evidence, context: Context, compressed: Compressed) -> Context:
    """The context that a compressor leaves."""
    graph = compressed.graph
    return Context(compressed.text, compressed.tokens, _passages(evidence, graph), context.ends, graph, compressed)


def _passages(evidence: Evidence, graph: ContextGraph) -> tuple[Passage, ...]:
    """The passages from which units are cut; one that the evidence lacks has the text of its unit."""
    by_id = {passage.id: passage for passage, _ in evidence.passages}
    passages: dict[str, Passage] = {}
    for unit in (*graph.chunks, *graph.sources):
        for id in unit.passages:
            passages.setdefault(id, by_id.get(id) or Passage(id, unit.title, unit.text))
    return tuple(passages.values())
