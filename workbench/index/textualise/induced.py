"""A part of a graph, for small studies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from workbench.data import Dataset
from workbench.errors import DataError, SettingError


def induced(data: Dataset, names: Iterable[str], hops: int = 3, cap: int = 5_000) -> Dataset:
    """The graph of all entities within `hops` of the names, whatever the direction of the relations, and the questions
    whose start and answers are all among them. Where these are more than `cap`, the nearest stay, by name.

    Raises :class:`DataError` for a name that the graph does not have.
    """
    around: dict[str, set[str]] = defaultdict(set)
    for triple in data.triples:
        around[triple.subject].add(triple.object)
        around[triple.object].add(triple.subject)
    level = sorted(set(names))
    if unknown := [name for name in level if name not in around]:
        raise DataError(f"{data.name!r} has no entity {unknown[0]!r}; names count letter by letter")
    if len(level) > cap:
        raise SettingError(f"cap={cap} is less than the {len(level):,} names; raise it")
    chosen = set(level)
    for _ in range(hops):
        level = sorted({near for name in level for near in around[name]} - chosen)[: cap - len(chosen)]
        chosen.update(level)
    return replace(
        data,
        name=f"{data.name}-part",
        triples=tuple(triple for triple in data.triples if {triple.subject, triple.object} <= chosen),
        questions=tuple(q for q in data.questions if {*q.start, *q.answers} <= chosen),
    )
