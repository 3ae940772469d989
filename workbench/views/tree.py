"""Views of a knowledge tree: its places and the steps from each, merges and their reasons, the agreement of other
groupings, and the growth of the schema."""

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
        (
            member.name,
            member.type,
            member.structure,
            member.meaning,
            "centre" if member.centre else "keyword" if member.keyword else "",
        )
        for member in place.members
    ]
    near = [(neighbour.name, neighbour.relations) for neighbour in place.neighbours]
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
    names = {community.id: community.name for community in place.communities}
    rows = [(name, kind, names.get(at, "–" if at == NONE else str(at))) for _, name, kind, at in place.entities]
    return group(
        passage_line(place.passage),
        table(["community", "entities"], [(near.name, near.relations) for near in place.communities], NAME),
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
    are those of all entities; for a community, only pairs with one of its members are listed."""
    if isinstance(place, CommunityPlace):
        rows = {member.row for member in place.members}
        merges = [merge for merge in merges if rows.intersection(merge.left) or rows.intersection(merge.right)]
    if not merges:
        return quiet("no pair of parts was a candidate for a merger")
    ordered = sorted(merges, key=lambda merge: (not merge.merged, merge.cluster, merge.round))
    rows = [
        (merge.cluster, merge.round, *(_few([names[row] for row in part]) for part in (merge.left, merge.right)),
         merge.overlap, merge.cosine, merge.difference, merge.size,
         strong("merged") if merge.merged else _why(merge, settings))
        for merge in ordered
    ]  # fmt: skip
    headers = ["cluster", "round", "part", "and part", "relations alike", "cosine", "Δ of mean φ", "members", "outcome"]
    count = sum(merge.merged for merge in merges)
    return group(quiet(f"{count:,} of {len(merges):,} recorded pairs merged"), table(headers, rows, NAME, MERGES))


def changes_part(changes: Sequence[Change], moved: int, entities: int) -> Part | None:
    """How the communities change under other weights."""
    rows = [(change.kind, _few(change.before, 4), _few(change.after, 4), change.entities) for change in changes]
    summary = line(f"{moved:,} of {entities:,} entities are in another community than in the index")
    return group(summary, table(["", "before", "after", "entities"], rows, NAME, SHOWN))


def agreement_part(agreements: Sequence[Agreement]) -> Part | None:
    """Other groupings of the same entities: agreement with each, and the groups that the other one tears apart most."""
    rows = [
        (agreement.right, agreement.groups[1], agreement.entities, agreement.rand, agreement.nmi, *agreement.purity)
        for agreement in agreements
    ]
    headers = ["grouping", "groups", "entities", "adjusted Rand", "NMI", "purity of the tree", "purity of the other"]
    torn = (
        details(f"where {clean(agreement.right, 60)} differs most", _splits(agreement.splits[:DIVIDED]), open=True)
        for agreement in agreements
    )
    return group(table(headers, rows, NAME), *torn)


def _splits(splits: Sequence[Split], most: int = 3) -> Part | None:
    rows = [
        (split.grouping, split.title, split.size, split.apart,
         _few([f"{title} ({count:,})" for title, count in split.parts], most))
        for split in splits
    ]  # fmt: skip
    return table(["of", "group", "entities", "apart", "its parts in the other"], rows, NAME)


# -- the schema --------------------------------------------------------------------------------------------------------


def evolution_part(seed: Schema, schema: Schema, evolution: Sequence[Proposal], passages: Passages) -> Part | None:
    """The proposals that the schema admitted, with the passages that asked for them; then the others."""
    sizes = [
        (name, len(getattr(seed, kind)), len(getattr(schema, kind)),
         sum(not proposal.admitted for proposal in evolution if proposal.kind == kind))
        for kind, name in KINDS.items()
    ]  # fmt: skip
    gained, refused = (
        sorted(
            (proposal for proposal in evolution if proposal.admitted == admitted),
            key=lambda proposal: (-len(proposal.passages), proposal.kind, proposal.name),
        )
        for admitted in (True, False)
    )
    return group(
        table(["kind", "in the seed", "now", "not admitted"], sizes),
        titled(f"{len(gained):,} gained"),
        _proposals(gained, passages),
        details(f"{len(refused):,} not admitted", _proposals(refused, passages)),
    )


def _proposals(proposals: Sequence[Proposal], passages: Passages) -> Part | None:
    titles = {name: passage.title or name for name, passage in passages.items()}
    rows = [
        (
            KINDS[proposal.kind],
            proposal.name,
            proposal.confidence,
            len(proposal.passages),
            _few([titles.get(n, n) for n in proposal.passages]),
        )
        for proposal in proposals
    ]
    return table(["kind", "name", "confidence", "passages", "asked for by"], rows, NAME, PROPOSALS)


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _why(merge: Merge, settings: Perception) -> str:
    """Why two parts were not merged, in words."""
    limits = {
        "difference": f"Δ is not below ε = {settings.epsilon:.3g}",
        "dissimilar": f"centres are not similar enough (< {settings.merge_threshold:.3g})",
        "size": f"too many members (> {settings.size_cap:,})",
        "taken": "one of them merged with a closer part",
    }
    return limits.get(merge.reason, clean(merge.reason, 60))


def _triples(triples: Sequence[Triple], open: bool = False) -> Part:
    rows = [(*triple.members, _few(triple.passages)) for triple in triples]
    listed = table(["head", "relation", "tail", "stated in"], rows, NAME, TRIPLES)
    return details(counted(len(rows), "triple"), listed, open=open)


def _attributes(attributes: Sequence, open: bool = False) -> Part:
    rows = [(attribute.type, attribute.value, _few(attribute.passages)) for attribute in attributes]
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
    summary = f"Grouping {grouping.name!r}: {entities} in {counted(grouping.groups, 'group')}"
    largest = sorted(Counter(grouping.group_of.values()).items(), key=lambda item: (-item[1], item[0]))
    rows = [(grouping.titles.get(key, str(key)), size) for key, size in largest]
    return group(line(summary), table(["largest groups", "entities"], rows, NAME, GROUPS))


@view.register
def _(agreement: Agreement) -> Part | None:
    (left, right), (ours, theirs) = (agreement.left, agreement.right), agreement.groups
    summary = f"Agreement of {clean(left, NAME)} ({counted(ours, 'group')}) and {clean(right, NAME)} ({theirs:,})"
    rows = [
        ("adjusted Rand", agreement.rand),
        ("normalised mutual information", agreement.nmi),
        (f"purity of {left} against {right}", agreement.purity[0]),
        (f"purity of {right} against {left}", agreement.purity[1]),
    ]
    return group(
        line(f"{summary} on {counted(agreement.entities, 'entity', 'entities')}"),
        table(["measure", "value"], rows),
        line("Where they differ most") if agreement.splits else None,
        _splits(agreement.splits, most=20),
    )


# -- the steps from a place, level by level: labels and their targets --------------------------------------------------

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
    """At most `LISTED` labels, each once, with their targets; `place` None lists the whole tree."""
    targets: dict[str, Target | None] = {}
    for label, target in islice(_LISTS[level](tree, place), LISTED + 1):
        label = short(label, LABEL)
        targets[f"{label} ({len(targets)})" if label in targets else label] = target
    listed = list(targets.items())
    return listed if len(listed) <= LISTED else [*listed[:LISTED], (MORE, None)]


def _list_communities(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """All communities, the neighbours of one, the community of an entity, or those of a passage's entities."""
    if place is None:
        for community in tree.tree.communities:
            yield f"{tree.name(community.id)} · {len(community.members):,}", ("community", community.id)
    elif isinstance(place, EntityPlace):
        if place.community != NONE:
            yield place.community_name, ("community", place.community)
    else:
        for near in place.neighbours if isinstance(place, CommunityPlace) else place.communities:
            yield f"{near.name} · {near.relations:,}", ("community", near.id)


def _list_keywords(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """The keywords of all communities, of one, of an entity's community, or among a passage's entities."""
    made = tree.tree.communities
    if isinstance(place, PassagePlace):
        rows = [row for row, _, _, at in place.entities if at != NONE and row in made[at].keywords]
    elif place is None:
        rows = [row for community in made for row in community.keywords]
    else:
        at = place.id if isinstance(place, CommunityPlace) else place.community
        rows = list(made[at].keywords) if at != NONE else []
    return _list_entities(tree, rows)


def _list_triples(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    """Entities with most triples, or members of a community; triples of an entity or a passage, each of which leads to
    its other end."""
    if place is None or isinstance(place, CommunityPlace):
        most_first = np.argsort(-np.diff(tree.graph.incidence.indptr), kind="stable").tolist()
        yield from _list_entities(tree, [member.row for member in place.members] if place else most_first)
    else:
        own = place.name if isinstance(place, EntityPlace) else None
        for triple in place.triples:
            other = triple.object if triple.subject == own else triple.subject
            yield f"{triple.subject} — {triple.relation} → {triple.object}", ("entity", other)


def _list_attributes(tree: KnowledgeTree, place: Place) -> Iterator[Entry]:
    graph = tree.graph
    if isinstance(place, EntityPlace | PassagePlace):
        for attribute in place.attributes:
            yield f"{attribute.entity}: {attribute.type}: {attribute.value}", ("entity", attribute.entity)
    else:
        rows = range(len(graph.names)) if place is None else (member.row for member in place.members)
        for row in rows:
            for at in graph.attributes_of(row):
                attribute = graph.attributes[at]
                yield f"{graph.names[row]}: {attribute.type}: {attribute.value}", ("entity", row)


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
