"""Views of a knowledge tree: places in it and what one can step to from them, merges and what decided them, other
groupings and how they agree, what the schema gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from workbench.data.graph import Schema
from workbench.index.dual_perception import Merge, Perception
from workbench.index.schema_extracting import Proposal
from workbench.operators.groupings import Agreement, Grouping, Split
from workbench.operators.knowledge_tree import LEVELS, NONE, CommunityPlace, EntityPlace, KnowledgeTree, PassagePlace
from workbench.operators.regrouping import Change
from workbench.records import Passage, Triple
from workbench.text import clean, counted, short
from workbench.views.parts import NAME, Part, details, group, line, points, quiet, strong, table, tag, titled, view
from workbench.views.records import passage_cell, passage_line

MEMBERS, TRIPLES, SHOWN = 60, 60, 12  # rows of tables
PROPOSALS, MERGES, DIVIDED = 60, 80, 15
KINDS = {"entity_types": "entity type", "relations": "relation", "attributes": "attribute"}
Passages = Mapping[str, Passage]


# -- places ------------------------------------------------------------------------------------------------------------


@view.register(CommunityPlace)
@view.register(EntityPlace)
@view.register(PassagePlace)
def place_part(place: CommunityPlace | EntityPlace | PassagePlace, passages: Passages | None = None) -> Part | None:
    """A place, with the texts of the `passages` that are known."""
    if isinstance(place, PassagePlace):
        return _passage_part(place)
    own = _community_part(place) if isinstance(place, CommunityPlace) else _entity_part(place)
    listed = points(*(passage_cell(name, passages) for name in place.passages[:SHOWN]))
    more = quiet(f"and {len(place.passages) - SHOWN:,} more" if len(place.passages) > SHOWN else "")
    return group(own, details(counted(len(place.passages), "passage"), listed, more))


def _community_part(place: CommunityPlace) -> Part | None:
    """A community: its summary, how tight it is by either perception, keywords, members, neighbours."""
    types = ", ".join(f"{clean(name or 'no type', 60)} {count:,}" for name, count in place.types[:8])
    tight = table(
        ["members", "mean φ", "relations", "meaning", "inside"],
        [(len(place.members), place.cohesion, place.structure, place.meaning, place.inside)],
    )
    members = [
        (one.name, one.type, one.structure, one.meaning, "centre" if one.centre else "keyword" if one.keyword else "")
        for one in place.members
    ]
    near = [(one.name, one.relations) for one in place.neighbours]
    return group(
        line(strong(place.name, limit=NAME), tag(f"community {place.id}")),
        line(f"not named: {place.failure}" if place.failure else "", look="bad", limit=300),
        line(place.summary),
        tight,
        line(strong("keywords"), clean(", ".join(place.keywords[:20]), 600)),
        line(strong("types"), types),
        details(
            f"{len(members):,} members",
            table(["entity", "type", "relations", "meaning", ""], members, NAME, MEMBERS),
            open=len(members) <= 15,
        ),
        details(
            counted(len(near), "neighbouring community", "neighbouring communities"),
            table(["community", "relations"], near, NAME, SHOWN),
        ),
    )


def _entity_part(place: EntityPlace) -> Part | None:
    """An entity: its place, attributes (level 1), triples (level 2)."""
    where = ["of", strong(place.community_name, limit=NAME)] if place.community != NONE else None
    return group(
        line(strong(place.name, limit=NAME), tag(place.type or "no type", limit=60), place.role, where),
        _attributes(place.attributes, open=True),
        _triples(place.triples, open=True),
    )


def _passage_part(place: PassagePlace) -> Part | None:
    """A passage and its place: communities, entities, triples and attributes."""
    names = {one.id: one.name for one in place.communities}
    rows = [(name, kind, names.get(at, "–" if at == NONE else str(at))) for _, name, kind, at in place.entities]
    return group(
        passage_line(place.passage),
        table(["community", "entities"], [(one.name, one.relations) for one in place.communities], NAME),
        details(
            counted(len(rows), "entity", "entities"),
            table(["entity", "type", "community"], rows, NAME, MEMBERS),
            open=True,
        ),
        _triples(place.triples),
        _attributes(place.attributes),
    )


# -- merges and weights ------------------------------------------------------------------------------------------------


def merges_part(
    merges: Sequence[Merge], names: Sequence[str], settings: Perception, place: Place = None
) -> Part | None:
    """Pairs of parts that were candidates for a merger, the merged ones first, and what decided each of them. `names`
    are those of all entities; of a community only those pairs are shown that hold a member."""
    if isinstance(place, CommunityPlace):
        rows = {member.row for member in place.members}
        merges = [one for one in merges if rows.intersection(one.left) or rows.intersection(one.right)]
    if not merges:
        return quiet("no pair of parts was a candidate for a merger")
    ordered = sorted(merges, key=lambda one: (not one.merged, one.cluster, one.round))
    rows = [
        (one.cluster, one.round, *(_few([names[row] for row in part]) for part in (one.left, one.right)), one.overlap,
         one.cosine, one.difference, one.size,
         strong("merged") if one.merged else _why(one, settings))
        for one in ordered
    ]  # fmt: skip
    headers = ["cluster", "round", "part", "and part", "relations alike", "cosine", "Δ of mean φ", "members", "outcome"]
    count = sum(one.merged for one in merges)
    return group(quiet(f"{count:,} of {len(merges):,} recorded pairs merged"), table(headers, rows, NAME, MERGES))


def changes_part(changes: Sequence[Change], moved: int, entities: int) -> Part | None:
    """What became of the communities under other weights."""
    rows = [(one.kind, _few(one.before, 4), _few(one.after, 4), one.entities) for one in changes]
    said = line(f"{moved:,} of {entities:,} entities are in another community than in the index")
    return group(said, table(["", "before", "after", "entities"], rows, NAME, SHOWN))


def agreement_part(found: Sequence[Agreement]) -> Part | None:
    """Other groupings of the same entities: agreement with each, and the groups that the other one tears apart most."""
    rows = [(one.right, one.groups[1], one.entities, one.rand, one.nmi, *one.purity) for one in found]
    headers = ["grouping", "groups", "entities", "adjusted Rand", "NMI", "purity of the tree", "purity of the other"]
    torn = (
        details(f"where {clean(one.right, 60)} differs most", _splits(one.splits[:DIVIDED]), open=True) for one in found
    )
    return group(table(headers, rows, NAME), *torn)


def _splits(splits: Sequence[Split], most: int = 3) -> Part | None:
    rows = [
        (one.grouping, one.title, one.size, one.apart,
         _few([f"{title} ({count:,})" for title, count in one.parts], most))
        for one in splits
    ]  # fmt: skip
    return table(["of", "group", "entities", "apart", "its parts in the other"], rows, NAME)


# -- the schema --------------------------------------------------------------------------------------------------------


def evolution_part(seed: Schema, schema: Schema, evolution: Sequence[Proposal], passages: Passages) -> Part | None:
    """What the schema gained, and which passages asked for it; then what was not admitted."""
    sizes = [
        (name, len(getattr(seed, kind)), len(getattr(schema, kind)),
         sum(not one.admitted for one in evolution if one.kind == kind))
        for kind, name in KINDS.items()
    ]  # fmt: skip
    gained, refused = (
        sorted(
            (one for one in evolution if one.admitted == admitted),
            key=lambda one: (-len(one.passages), one.kind, one.name),
        )
        for admitted in (True, False)
    )
    return group(
        table(["kind", "in the seed", "now", "not admitted"], sizes),
        titled(f"{len(gained):,} gained"),
        _proposals(gained, passages),
        details(f"{len(refused):,} not admitted", _proposals(refused, passages)),
    )


def _proposals(found: Sequence[Proposal], passages: Passages) -> Part | None:
    titles = {name: passage.title or name for name, passage in passages.items()}
    rows = [
        (KINDS[one.kind], one.name, one.confidence, len(one.passages), _few([titles.get(n, n) for n in one.passages]))
        for one in found
    ]
    return table(["kind", "name", "confidence", "passages", "asked for by"], rows, NAME, PROPOSALS)


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _why(one: Merge, settings: Perception) -> str:
    """What kept two parts apart, in words."""
    limits = {
        "difference": f"Δ is not below ε = {settings.epsilon:.3g}",
        "dissimilar": f"centres are not similar enough (< {settings.merge_threshold:.3g})",
        "size": f"too many members (> {settings.size_cap:,})",
        "taken": "one of them merged with a closer part",
    }
    return limits.get(one.reason, clean(one.reason, 60))


def _triples(triples: Sequence[Triple], open: bool = False) -> Part:
    rows = [(*one.members, _few(one.passages)) for one in triples]
    listed = table(["head", "relation", "tail", "stated in"], rows, NAME, TRIPLES)
    return details(counted(len(rows), "triple"), listed, open=open)


def _attributes(attributes: Sequence, open: bool = False) -> Part:
    rows = [(one.type, one.value, _few(one.passages)) for one in attributes]
    listed = table(["attribute", "value", "stated in"], rows, NAME, TRIPLES)
    return details(counted(len(rows), "attribute"), listed, open=open)


def _few(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(short(name, 50) for name in names[:most]) + more


# -- groupings of entities, and their agreement -----------------------------------------------------------------------


GROUPS = 10  # groups that a notebook lists


@view.register
def _(grouping: Grouping) -> Part | None:
    entities = counted(len(grouping.group_of), "entity", "entities")
    said = f"Grouping {grouping.name!r}: {entities} in {counted(grouping.groups, 'group')}"
    largest = sorted(Counter(grouping.group_of.values()).items(), key=lambda item: (-item[1], item[0]))
    rows = [(grouping.titles.get(key, str(key)), size) for key, size in largest]
    return group(line(said), table(["largest groups", "entities"], rows, NAME, GROUPS))


@view.register
def _(agreement: Agreement) -> Part | None:
    (left, right), (ours, theirs) = (agreement.left, agreement.right), agreement.groups
    said = f"Agreement of {clean(left, NAME)} ({counted(ours, 'group')}) and {clean(right, NAME)} ({theirs:,})"
    rows = [
        ("adjusted Rand", agreement.rand),
        ("normalised mutual information", agreement.nmi),
        (f"purity of {left} against {right}", agreement.purity[0]),
        (f"purity of {right} against {left}", agreement.purity[1]),
    ]
    return group(
        line(f"{said} on {counted(agreement.entities, 'entity', 'entities')}"),
        table(["measure", "value"], rows),
        line("Where they differ most") if agreement.splits else None,
        _splits(agreement.splits, most=20),
    )


# -- what one can step to from a place, level by level: labels, and where each leads -----------------------------------

LISTED, LABEL = 300, 90  # entries of a list, characters of one
STEPS = (*LEVELS, "passages")
Place = CommunityPlace | EntityPlace | PassagePlace | None
Target = tuple[str, int | str]  # "community", "entity" or "passage", and its id, row or name
Entry = tuple[str, Target]
MORE = "… and more: find them by name"


def way(tree: KnowledgeTree, place: Place) -> list[str]:
    """The names on the way from the root to a place."""
    if isinstance(place, PassagePlace):
        return ["passage", place.passage.title or place.passage.id]
    names = [f"all {len(tree.tree.communities):,} communities"]
    if isinstance(place, EntityPlace) and place.community != NONE:
        names.append(place.community_name)
    return [*names, place.name] if place else names


def entries(tree: KnowledgeTree, place: Place, level: str) -> list[tuple[str, Target | None]]:
    """At most `LISTED` labels, each once, with where they lead; `place` None lists from the whole tree."""
    found: dict[str, Target | None] = {}
    for label, target in islice(_LISTS[level](tree, place), LISTED + 1):
        label = short(label, LABEL)
        found[f"{label} ({len(found)})" if label in found else label] = target
    listed = list(found.items())
    return listed if len(listed) <= LISTED else [*listed[:LISTED], (MORE, None)]


def _list_communities(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
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


def _list_keywords(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """The keywords of all communities, of one, of that of an entity, or among the entities of a passage."""
    made = tree.tree.communities
    if isinstance(place, PassagePlace):
        rows = [row for row, _, _, at in place.entities if at != NONE and row in made[at].keywords]
    elif place is None:
        rows = [row for one in made for row in one.keywords]
    else:
        at = place.id if isinstance(place, CommunityPlace) else place.community
        rows = list(made[at].keywords) if at != NONE else []
    return _list_entities(tree, rows)


def _list_triples(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """Entities with most triples, or members of a community; triples of an entity or a passage, each of which leads to
    its other end."""
    if place is None or isinstance(place, CommunityPlace):
        most_first = np.argsort(-np.diff(tree.graph.incidence.indptr), kind="stable").tolist()
        yield from _list_entities(tree, [one.row for one in place.members] if place else most_first)
    else:
        own = place.name if isinstance(place, EntityPlace) else None
        for one in place.triples:
            other = one.object if one.subject == own else one.subject
            yield f"{one.subject} — {one.relation} → {one.object}", ("entity", other)


def _list_attributes(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
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


def _list_passages(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    if isinstance(place, PassagePlace):
        ids: Iterable[str] = [place.passage.id]
    else:
        ids = place.passages if place else (passage.id for passage in tree.passages)
    for name in ids:
        title = tree.passages[tree.index.passages.row[name]].title
        yield f"{title} ({name})" if title else name, ("passage", name)


def _list_entities(tree: KnowledgeTree, rows: Iterable[int]) -> Iterator[Entry]:
    for row in rows:
        yield f"{tree.graph.names[row]} ({tree.graph.types[row]})", ("entity", int(row))


_LISTS = {
    "communities": _list_communities,
    "keywords": _list_keywords,
    "triples": _list_triples,
    "attributes": _list_attributes,
    "passages": _list_passages,
}
