"""The interface of a compressor: a context in, one of at most `budget` tokens out, and what became of each row of its
tables; and the baselines of compression: the beginning of a context, and its first chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from workbench import layouts, tokens
from workbench import tokens as counting
from workbench.layouts.paths import relations_of
from workbench.records import Compressed, ContextGraph, Unit

_LONGEST = 500_000  # characters that are counted at once
_NUMBERED = re.compile(r"(chunk_)?[0-9]{1,9}")


class Compressor(Protocol):
    """`label` is its SPEC, `budget` in cl100k tokens."""

    name: ClassVar[str]
    paper: ClassVar[str]  # whose it is
    label: str
    budget: int

    def compress(self, question: str, context: ContextGraph | str) -> Compressed:
        """The context cut down. A text is read by the layout that it is in (DataError if it is in none)."""
        ...


def tables(context: ContextGraph | str) -> ContextGraph:
    """The tables of a context; those of a text in one of the layouts; none of a blank text. What is on a path stands
    among the relationships, and an entity of two levels once."""
    if isinstance(context, str):
        return layouts.read(context)[1] if context.strip() else ContextGraph()
    if not context.paths and not any(row.level for row in context.entities):
        return context
    related = {frozenset((row.source, row.target)) for row in context.relations}
    hops = (row for row in relations_of(context.paths) if frozenset((row.source, row.target)) not in related)
    entities = dict.fromkeys(replace(row, level="") for row in context.entities)
    return replace(context, entities=tuple(entities), relations=(*context.relations, *hops), paths=())


def written(context: ContextGraph | str) -> str:
    """A context as the reader would see it whole."""
    return context if isinstance(context, str) else layouts.write(context)


def length(text: str) -> int:
    """Tokens of a text; a text too long for the tokenizer is counted in parts."""
    return sum(tokens.count(text[at : at + _LONGEST]) for at in range(0, len(text), _LONGEST))


size = lru_cache(1 << 14)(length)  # of short texts: the units of an index come back with every other question


def named(units: Sequence[Unit], prefix: str = "chunk_") -> list[str]:
    """What stands before each unit: its id where all are numbers, as in the layouts; else its place in the table, for
    an id of the corpus can be longer than a sentence."""
    if all(_NUMBERED.fullmatch(unit.id) for unit in units) and len({unit.id for unit in units}) == len(units):
        return [unit.id for unit in units]
    return [f"{prefix}{at}" for at in range(1, len(units) + 1)]


def entry(name: str, text: str) -> str:
    return f"  [{name}] {text}"


def made(
    compressor: Compressor,
    question: str,
    context: ContextGraph | str,
    graph: ContextGraph,
    left: ContextGraph,
    text: str,
    **more: Any,
) -> Compressed:
    """The result of a compressor for a context with the tables `graph`: the tables `left`, as `text`."""
    before = length(written(context))
    return Compressed(question, compressor.label, compressor.budget, graph, left, text, length(text), before, **more)


def heading(hop: int | None) -> str:
    """The heading of the names and units of a hop; None: of those that the walk does not reach."""
    if hop is None:
        return "=== Additional context ==="
    return "=== Step 0 (from question) ===" if hop == 0 else f"=== Step {hop} (hop {hop}) ==="


def joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts)


# -- baselines --------------------------------------------------------------------------------------------------------


def truncate(context: ContextGraph | str, tokens: int) -> str:
    """The beginning of a context as written, of at most so many cl100k tokens."""
    return counting.cut(written(context), tokens)


def top(context: ContextGraph | str, tokens: int) -> str:
    """The chunks (the sources, where there are none) in the order of the context, whole ones only, as many as fit into
    so many cl100k tokens; one that is too long for what is left is passed over."""
    graph = tables(context)
    units = graph.chunks or graph.sources
    parts, left = [], tokens
    for name, unit in zip(named(units), units):
        part = entry(name, unit.content)
        cost = size(part + "\n\n")
        if cost <= left:
            parts.append(part)
            left -= cost
    return joined(parts)
