"""What compression is measured against: the beginning of a context, and the chunks that stand first in it."""

from __future__ import annotations

from workbench import tokens as counting
from workbench.reading.compression.base import entry, joined, named, size, tables, written
from workbench.records import ContextGraph


def truncate(context: ContextGraph | str, tokens: int) -> str:
    """The beginning of a context as it is written, of at most so many cl100k tokens."""
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
