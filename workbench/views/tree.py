"""Views of a knowledge tree: places in it and what one can step to from them, merges and what decided them, other
groupings and how they agree, what the schema gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from workbench.data.graph import Schema
from workbench.display import html
from workbench.index.dual_perception import Merge, Perception
from workbench.index.schema_extracting import Proposal
from workbench.operators.groupings import Agreement, Grouping, Split
from workbench.operators.knowledge_tree import LEVELS, NONE, CommunityPlace, EntityPlace, KnowledgeTree, PassagePlace
from workbench.operators.regrouping import Change
from workbench.records import Passage, Triple
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, page, quiet, table
from workbench.views.records import passage_line

MEMBERS, TRIPLES, SHOWN = 60, 60, 12  # rows of tables
PROPOSALS, MERGES, DIVIDED = 60, 80, 15
KINDS = {"entity_types": "entity type", "relations": "relation", "attributes": "attribute"}
Passages = Mapping[str, Passage]


for _place in (CommunityPlace, EntityPlace, PassagePlace):
    html.register(_place, lambda place: page(place_part(place)))


# -- places ------------------------------------------------------------------------------------------------------------


def place_part(place: CommunityPlace | EntityPlace | PassagePlace, passages: Passages | None = None) -> str:
    """A place, with the texts of the `passages` that are known."""
    if isinstance(place, PassagePlace):
        return _passage_part(place)
    own = _community_part(place) if isinstance(place, CommunityPlace) else _entity_part(place)
    known = passages or {}
    shown = [passage_line(known[name]) if name in known else esc(name, NAME) for name in place.passages[:SHOWN]]
    more = quiet(f"and {len(place.passages) - SHOWN:,} more" if len(place.passages) > SHOWN else "")
    listed = "".join(f"<li>{one}</li>" for one in shown)
    return own + details(counted(len(place.passages), "passage"), f"<ul>{listed}</ul>{more}")


def _community_part(place: CommunityPlace) -> str:
    """A community: its summary, how tight it is by either perception, keywords, members, neighbours."""
    types = ", ".join(f"{esc(name or 'no type', 60)} {count:,}" for name, count in place.types[:8])
    failed = f"<p class='bad'>not named: {esc(place.failure, 300)}</p>" if place.failure else ""
    tight = table(
        ["members", "mean φ", "relations", "meaning", "inside"],
        [(len(place.members), place.cohesion, place.structure, place.meaning, place.inside)],
    )
    members = [
        (one.name, one.type, one.structure, one.meaning, "centre" if one.centre else "keyword" if one.keyword else "")
        for one in place.members
    ]
    near = [(one.name, one.relations) for one in place.neighbours]
    return (
        f"<p><b>{esc(place.name, NAME)}</b> <span class='tag'>community {place.id}</span></p>{failed}"
        f"<p>{esc(place.summary)}</p>{tight}<p><b>keywords</b> {esc(', '.join(place.keywords[:20]), 600)}</p>"
        f"<p><b>types</b> {types}</p>"
        + details(
            f"{len(members):,} members",
            table(["entity", "type", "relations", "meaning", ""], members, NAME, MEMBERS),
            open=len(members) <= 15,
        )
        + details(
            counted(len(near), "neighbouring community", "neighbouring communities"),
            table(["community", "relations"], near, NAME, SHOWN),
        )
    )


def _entity_part(place: EntityPlace) -> str:
    """An entity: its place, attributes (level 1), triples (level 2)."""
    where = f"{esc(place.role)} of <b>{esc(place.community_name, NAME)}</b>" if place.community != NONE else place.role
    return (
        f"<p><b>{esc(place.name, NAME)}</b> <span class='tag'>{esc(place.type or 'no type', 60)}</span> {where}</p>"
        + _attributes(place.attributes, open=True)
        + _triples(place.triples, open=True)
    )


def _passage_part(place: PassagePlace) -> str:
    """A passage and its place: communities, entities, triples and attributes."""
    names = {one.id: one.name for one in place.communities}
    rows = [(name, kind, names.get(at, "–" if at == NONE else str(at))) for _, name, kind, at in place.entities]
    among = table(["community", "entities"], [(one.name, one.relations) for one in place.communities], NAME)
    listed = table(["entity", "type", "community"], rows, NAME, MEMBERS)
    return (
        f"<div>{passage_line(place.passage)}</div>{among}"
        + details(counted(len(rows), "entity", "entities"), listed, open=True)
        + _triples(place.triples)
        + _attributes(place.attributes)
    )


# -- merges and weights ------------------------------------------------------------------------------------------------


def merges_part(merges: Sequence[Merge], names: Sequence[str], settings: Perception, place: Place = None) -> str:
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
         Markup(f"<b>{_why(one, settings)}</b>") if one.merged else _why(one, settings))
        for one in ordered
    ]  # fmt: skip
    headers = ["cluster", "round", "part", "and part", "relations alike", "cosine", "Δ of mean φ", "members", "outcome"]
    count = sum(one.merged for one in merges)
    return quiet(f"{count:,} of {len(merges):,} recorded pairs merged") + table(headers, rows, NAME, MERGES)


def changes_part(changes: Sequence[Change], moved: int, entities: int) -> str:
    """What became of the communities under other weights."""
    rows = [(one.kind, _few(one.before, 4), _few(one.after, 4), one.entities) for one in changes]
    said = f"<p>{moved:,} of {entities:,} entities are in another community than in the index</p>"
    return said + table(["", "before", "after", "entities"], rows, NAME, SHOWN)


def agreement_part(found: Sequence[Agreement]) -> str:
    """Other groupings of the same entities: agreement with each, and the groups that the other one tears apart most."""
    rows = [(one.right, one.groups[1], one.entities, one.rand, one.nmi, *one.purity) for one in found]
    headers = ["grouping", "groups", "entities", "adjusted Rand", "NMI", "purity of the tree", "purity of the other"]
    torn = (
        details(f"where {esc(one.right, 60)} differs most", _splits(one.splits[:DIVIDED]), open=True) for one in found
    )
    return table(headers, rows, NAME) + "".join(torn)


def _splits(splits: Sequence[Split], most: int = 3) -> str:
    rows = [
        (one.grouping, one.title, one.size, one.apart,
         _few([f"{title} ({count:,})" for title, count in one.parts], most))
        for one in splits
    ]  # fmt: skip
    return table(["of", "group", "entities", "apart", "its parts in the other"], rows, NAME)


# -- the schema --------------------------------------------------------------------------------------------------------


def evolution_part(seed: Schema, schema: Schema, evolution: Sequence[Proposal], passages: Passages) -> str:
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
    return (
        table(["kind", "in the seed", "now", "not admitted"], sizes)
        + f"<p><b>{len(gained):,} gained</b></p>{_proposals(gained, passages)}"
        + details(f"{len(refused):,} not admitted", _proposals(refused, passages))
    )


def _proposals(found: Sequence[Proposal], passages: Passages) -> str:
    titles = {name: passage.title or name for name, passage in passages.items()}
    rows = [
        (KINDS[one.kind], one.name, one.confidence, len(one.passages), _few([titles.get(n, n) for n in one.passages]))
        for one in found
    ]
    return table(["kind", "name", "confidence", "passages", "asked for by"], rows, NAME, PROPOSALS)


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _why(one: Merge, settings: Perception) -> str:
    """What decided, in words."""
    limits = {
        "difference": f"Δ is not below ε = {settings.epsilon:.3g}",
        "dissimilar": f"centres are not similar enough (< {settings.merge_threshold:.3g})",
        "size": f"too many members (> {settings.size_cap:,})",
        "taken": "one of them merged with a closer part",
    }
    return "merged" if one.merged else limits.get(one.reason, clean(one.reason, 60))


def _triples(triples: Sequence[Triple], open: bool = False) -> str:
    rows = [(*one.members, _few(one.passages)) for one in triples]
    listed = table(["head", "relation", "tail", "stated in"], rows, NAME, TRIPLES)
    return details(counted(len(rows), "triple"), listed, open=open)


def _attributes(attributes: Sequence, open: bool = False) -> str:
    rows = [(one.type, one.value, _few(one.passages)) for one in attributes]
    listed = table(["attribute", "value", "stated in"], rows, NAME, TRIPLES)
    return details(counted(len(rows), "attribute"), listed, open=open)


def _few(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(short(name, 50) for name in names[:most]) + more


# -- groupings of entities, and their agreement -----------------------------------------------------------------------


GROUPS = 10  # groups that a notebook lists


@html.register
def _(grouping: Grouping) -> str:
    entities = counted(len(grouping.group_of), "entity", "entities")
    said = f"Grouping {grouping.name!r}: {entities} in {counted(grouping.groups, 'group')}"
    largest = sorted(Counter(grouping.group_of.values()).items(), key=lambda item: (-item[1], item[0]))
    rows = [(grouping.titles.get(group, str(group)), size) for group, size in largest]
    return page(f"<p>{esc(said)}</p>", table(["largest groups", "entities"], rows, NAME, GROUPS))


@html.register
def _(agreement: Agreement) -> str:
    (left, right), (ours, theirs) = (agreement.left, agreement.right), agreement.groups
    said = f"Agreement of {clean(left, NAME)} ({counted(ours, 'group')}) and {clean(right, NAME)} ({theirs:,})"
    rows = [
        ("adjusted Rand", agreement.rand),
        ("normalised mutual information", agreement.nmi),
        (f"purity of {left} against {right}", agreement.purity[0]),
        (f"purity of {right} against {left}", agreement.purity[1]),
    ]
    torn = f"<p>Where they differ most</p>{_splits(agreement.splits, most=20)}" if agreement.splits else ""
    on = counted(agreement.entities, "entity", "entities")
    return page(f"<p>{esc(said)} on {on}</p>", table(["measure", "value"], rows), torn)


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
