"""Views of a knowledge tree: places in it, merges and what decided them, other groupings and
how they agree, what the schema gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.data.graph import Schema
from workbench.display import html
from workbench.index.dual_perception import Merge, Perception
from workbench.index.schema_extracting import Proposal
from workbench.operators.groupings import Agreement, Grouping, Split
from workbench.operators.knowledge_tree import NONE, CommunityPlace, EntityPlace, PassagePlace
from workbench.operators.regrouping import Change
from workbench.records import Passage, Triple
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.records import passage_line

MEMBERS, TRIPLES, SHOWN = 60, 60, 12  # rows of tables
PROPOSALS, MERGES, DIVIDED = 60, 80, 15
KINDS = {"entity_types": "entity type", "relations": "relation", "attributes": "attribute"}
Passages = Mapping[str, Passage]


html.register(CommunityPlace, lambda place: page(community_part(place)))
html.register(EntityPlace, lambda place: page(entity_part(place)))
html.register(PassagePlace, lambda place: page(passage_part(place, {})))


# -- places ------------------------------------------------------------------------------------------------------------


def community_part(place: CommunityPlace, passages: Passages | None = None) -> str:
    """A community: its summary, how tight it is by either perception, keywords, members, neighbours, passages."""
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
    others = counted(len(near), "neighbouring community", "neighbouring communities")
    return (
        f"<p><b>{esc(place.name, NAME)}</b> <span class='tag'>community {place.id}</span></p>{failed}"
        f"<p>{esc(place.summary)}</p>{tight}<p><b>keywords</b> {esc(', '.join(place.keywords[:20]), 600)}</p>"
        f"<p><b>types</b> {types}</p>"
        + details(
            f"{len(members):,} members",
            _cut_table(["entity", "type", "relations", "meaning", ""], members, MEMBERS),
            open=len(members) <= 15,
        )
        + details(others, _cut_table(["community", "relations"], near, SHOWN))
        + _passages(place.passages, passages or {})
    )


def entity_part(place: EntityPlace, passages: Passages | None = None) -> str:
    """An entity: its place, attributes (level 1), triples (level 2), passages."""
    where = f"{esc(place.role)} of <b>{esc(place.community_name, NAME)}</b>" if place.community != NONE else place.role
    return (
        f"<p><b>{esc(place.name, NAME)}</b> <span class='tag'>{esc(place.type or 'no type', 60)}</span> {where}</p>"
        + _attributes(place.attributes, open=True)
        + _triples(place.triples, open=True)
        + _passages(place.passages, passages or {})
    )


def passage_part(place: PassagePlace, names: Mapping[int, str]) -> str:
    """A passage and its place: communities, entities, triples and attributes. `names` are those of communities."""
    rows = [(name, kind, names.get(at, "–" if at == NONE else str(at))) for _, name, kind, at in place.entities]
    among = table(["community", "entities"], [(one.name, one.relations) for one in place.communities], NAME)
    listed = table(["entity", "type", "community"], rows[:MEMBERS], NAME)
    return (
        f"<div>{passage_line(place.passage)}</div>{among}"
        + details(counted(len(rows), "entity", "entities"), listed, open=True)
        + _triples(place.triples)
        + _attributes(place.attributes)
    )


# -- merges and weights ------------------------------------------------------------------------------------------------


def merges_part(merges: Sequence[Merge], names: Sequence[str], settings: Perception) -> str:
    """Pairs of parts that were candidates for a merger, the merged ones first, and what decided each of them. `names`
    are those of all entities."""
    if not merges:
        return "<p class='q'>no pair of parts was a candidate for a merger</p>"
    ordered = sorted(merges, key=lambda one: (not one.merged, one.cluster, one.round))
    rows = [
        (one.cluster, one.round, *(_few([names[row] for row in part]) for part in (one.left, one.right)), one.overlap,
         one.cosine, one.difference, one.size,
         Markup(f"<b>{_why(one, settings)}</b>") if one.merged else _why(one, settings))
        for one in ordered
    ]  # fmt: skip
    headers = ["cluster", "round", "part", "and part", "relations alike", "cosine", "Δ of mean φ", "members", "outcome"]
    count = sum(one.merged for one in merges)
    said = f"<p class='q'>{count:,} of {len(merges):,} recorded pairs merged</p>"
    return said + _cut_table(headers, rows, MERGES)


def changes_part(changes: Sequence[Change], moved: int, entities: int) -> str:
    """What became of the communities under other weights."""
    rows = [(one.kind, _few(one.before, 4), _few(one.after, 4), one.entities) for one in changes]
    said = f"<p>{moved:,} of {entities:,} entities are in another community than in the index</p>"
    return said + (_cut_table(["", "before", "after", "entities"], rows, SHOWN) if rows else "")


def agreement_part(found: Sequence[Agreement]) -> str:
    """Other groupings of the same entities: agreement with each, and the groups that the other one tears apart most."""
    rows = [(one.right, one.groups[1], one.entities, one.rand, one.nmi, *one.purity) for one in found]
    headers = ["grouping", "groups", "entities", "adjusted Rand", "NMI", "purity of the tree", "purity of the other"]
    torn = (
        details(f"where {esc(one.right, 60)} differs most", _splits(one.splits[:DIVIDED]), open=True) for one in found
    )
    return table(headers, rows, NAME) + "".join(torn)


def _splits(splits: Sequence[Split]) -> str:
    rows = [
        (one.grouping, one.title, one.size, one.apart, _few([f"{title} ({count:,})" for title, count in one.parts]))
        for one in splits
    ]
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
    return _cut_table(["kind", "name", "confidence", "passages", "asked for by"], rows, PROPOSALS)


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
    listed = _cut_table(["head", "relation", "tail", "stated in"], rows, TRIPLES)
    return details(counted(len(rows), "triple"), listed, open=open)


def _attributes(attributes: Sequence, open: bool = False) -> str:
    rows = [(one.type, one.value, _few(one.passages)) for one in attributes]
    listed = _cut_table(["attribute", "value", "stated in"], rows, TRIPLES) if rows else ""
    return details(counted(len(rows), "attribute"), listed, open=open)


def _passages(ids: Sequence[str], passages: Passages) -> str:
    shown = [
        f"<li>{passage_line(passages[name]) if name in passages else esc(name, NAME)}</li>" for name in ids[:SHOWN]
    ]
    return details(counted(len(ids), "passage"), f"<ul>{''.join(shown)}</ul>{_more(len(ids), SHOWN)}")


def _few(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(short(name, 50) for name in names[:most]) + more


def _cut_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], most: int) -> str:
    return table(headers, rows[:most], NAME) + _more(len(rows), most)


def _more(count: int, shown: int) -> str:
    return f"<p class='q'>and {count - shown:,} more</p>" if count > shown else ""


# -- groupings of entities, and their agreement -----------------------------------------------------------------------


GROUPS = 10  # groups that a notebook lists


@html.register
def _(grouping: Grouping) -> str:
    entities = counted(len(grouping.group_of), "entity", "entities")
    said = f"Grouping {clean(grouping.name, NAME)!r}: {entities} in {counted(grouping.groups, 'group')}"
    largest = sorted(Counter(grouping.group_of.values()).items(), key=lambda item: (-item[1], item[0]))[:GROUPS]
    rows = [(grouping.titles.get(group, str(group)), size) for group, size in largest]
    return page(f"<p>{esc(said)}</p>", table(["largest groups", "entities"], rows, NAME))


@html.register
def _(agreement: Agreement) -> str:
    (left, right), (ours, theirs) = (agreement.left, agreement.right), agreement.groups
    said = (
        f"Agreement of {clean(left, NAME)} ({counted(ours, 'group')}) and {clean(right, NAME)} ({theirs:,}) on "
        f"{counted(agreement.entities, 'entity', 'entities')}: adjusted Rand {number(agreement.rand, 3)}, NMI "
        f"{number(agreement.nmi, 3)}"
    )
    rows = [
        ("adjusted Rand", agreement.rand),
        ("normalised mutual information", agreement.nmi),
        (f"purity of {left} against {right}", agreement.purity[0]),
        (f"purity of {right} against {left}", agreement.purity[1]),
    ]
    torn = f"<p>Where they differ most</p>{_splits(agreement.splits)}" if agreement.splits else ""
    return page(f"<p>{esc(said)}</p>", table(["measure", "value"], rows), torn)
