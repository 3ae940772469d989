"""What one can step to from a place in a knowledge tree, level by level: labels, and where each leads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from workbench.operators.knowledge_tree import LEVELS, NONE, CommunityPlace, EntityPlace, KnowledgeTree, PassagePlace
from workbench.text import short

LISTED, LABEL = 300, 90  # entries of a list, characters of one
STEPS = (*LEVELS, "passages")
Place = CommunityPlace | EntityPlace | PassagePlace | None
Target = tuple[str, int | str]  # "community", "entity" or "passage", and its id, row or name
Entry = tuple[str, Target]
MORE = "… and more: find them by name"


def entries(tree: KnowledgeTree, place: Place, level: str) -> list[tuple[str, Target | None]]:
    """At most `LISTED` labels, each once, with where they lead; `place` None lists from the whole tree."""
    found: dict[str, Target | None] = {}
    for label, target in islice(_LISTS[level](tree, place), LISTED + 1):
        label = short(label, LABEL)
        found[f"{label} ({len(found)})" if label in found else label] = target
    listed = list(found.items())
    return listed if len(listed) <= LISTED else [*listed[:LISTED], (MORE, None)]


def _communities(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """All; the neighbours of one; that of an entity; those to which a passage leads."""
    if place is None:
        for one in tree.tree.communities:
            yield f"{tree.name(one.id)} · {len(one.members):,}", ("community", one.id)
    elif isinstance(place, EntityPlace):
        if place.community != NONE:
            yield place.community_name, ("community", place.community)
    else:
        for near in place.neighbours if isinstance(place, CommunityPlace) else place.communities:
            yield f"{near.name} · {near.relations:,}", ("community", near.id)


def _keywords(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """The keywords of all communities, of one, of that of an entity, or among the entities of a passage."""
    made = tree.tree.communities
    if isinstance(place, CommunityPlace):
        rows: Iterable[int] = (one.row for one in place.members if one.keyword)
    elif isinstance(place, EntityPlace):
        rows = made[place.community].keywords if place.community != NONE else ()
    elif isinstance(place, PassagePlace):
        rows = (row for row, _, _, at in place.entities if at != NONE and row in made[at].keywords)
    else:
        rows = (row for one in made for row in one.keywords)
    return _entities(tree, rows)


def _triples(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """Entities with most triples, or members of a community; triples of an entity or a passage, each of which leads to
    its other end."""
    if place is None:
        degrees = np.diff(tree.graph.incidence.indptr)
        yield from _entities(tree, np.argsort(-degrees, kind="stable").tolist())
    elif isinstance(place, CommunityPlace):
        yield from _entities(tree, (one.row for one in place.members))
    else:
        own = place.name if isinstance(place, EntityPlace) else None
        for one in place.triples:
            other = one.object if one.subject == own else one.subject
            yield f"{one.subject} — {one.relation} → {one.object}", ("entity", other)


def _attributes(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    graph = tree.graph
    if isinstance(place, EntityPlace | PassagePlace):
        for one in place.attributes:
            yield f"{one.entity}: {one.type}: {one.value}", ("entity", one.entity)
    else:
        rows = range(len(graph.names)) if place is None else (one.row for one in place.members)
        for row in rows:
            for at in graph.attributes_of(row):
                found = graph.attributes[at]
                yield f"{graph.names[row]}: {found.type}: {found.value}", ("entity", row)


def _passages(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    if isinstance(place, PassagePlace):
        ids: Iterable[str] = [place.passage.id]
    else:
        ids = place.passages if place else (passage.id for passage in tree.passages)
    for name in ids:
        title = tree.passages[tree.index.passages.row[name]].title
        yield f"{title} ({name})" if title else name, ("passage", name)


def _entities(tree: KnowledgeTree, rows: Iterable[int]) -> Iterator[Entry]:
    for row in rows:
        yield f"{tree.graph.names[row]} ({tree.graph.types[row]})", ("entity", int(row))


_LISTS = {
    "communities": _communities,
    "keywords": _keywords,
    "triples": _triples,
    "attributes": _attributes,
    "passages": _passages,
}
