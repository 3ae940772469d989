"""Views of a knowledge tree: places in it, merges and what decided them, other groupings and
how they agree, what the schema gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from workbench.data.graph import Schema
from workbench.display import html, text
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


@text.register
def _(place: CommunityPlace) -> str:
    return (
        f"Community {place.id} {clean(place.name, NAME)!r}: {counted(len(place.members), 'entity', 'entities')}, "
        f"cohesion {place.cohesion:.2f}; keywords {', '.join(clean(name, 60) for name in place.keywords)}"
    )


@html.register
def _(place: CommunityPlace) -> str:
    return page(community_part(place))


@text.register
def _(place: EntityPlace) -> str:
    where = f"in {clean(place.community_name, NAME)!r}" if place.community != NONE else "in no community"
    return (
        f"Entity {clean(place.name, NAME)!r} ({clean(place.type, 60)}), {where}: "
        f"{counted(len(place.triples), 'triple')}, {counted(len(place.attributes), 'attribute')}, "
        f"{counted(len(place.passages), 'passage')}"
    )


@html.register
def _(place: EntityPlace) -> str:
    return page(entity_part(place))


@text.register
def _(place: PassagePlace) -> str:
    among = ", ".join(f"{clean(one.name, 60)} ({one.relations})" for one in place.communities[:5])
    entities = counted(len(place.entities), "entity", "entities")
    return f"Passage {clean(place.passage.id, NAME)!r}: {entities} in {among or 'no community'}"


@html.register
def _(place: PassagePlace) -> str:
    return page(passage_part(place, {}))


# -- places ------------------------------------------------------------------------------------------------------------


def community_part(place: CommunityPlace, passages: Passages | None = None) -> str:
    """A community: its summary, how tight it is by either perception, keywords, members, neighbours, passages."""
    types = ", ".join(f"{esc(name or 'no type', 60)} {count:,}" for name, count in place.types[:8])
    failed = f"<p class='bad'>not named: {esc(place.failure, 300)}</p>" if place.failure else ""
    tight = table(
        ["members", "mean φ", "relations", "meaning", "inside"],
        [(len(place.members), place.cohesion, place.structure, place.meaning, place.inside)],
    )
    return (
        f"<p><b>{esc(place.name, NAME)}</b> <span class='tag'>community {place.id}</span></p>{failed}"
        f"<p>{esc(place.summary)}</p>{tight}<p><b>keywords</b> {esc(', '.join(place.keywords[:20]), 600)}</p>"
        f"<p><b>types</b> {types}</p>"
        + details(f"{len(place.members):,} members", _members(place), open=len(place.members) <= 15)
        + details(
            counted(len(place.neighbours), "neighbouring community", "neighbouring communities"), _neighbours(place)
        )
        + details(counted(len(place.passages), "passage"), _passages(place.passages, passages or {}))
    )


def entity_part(place: EntityPlace, passages: Passages | None = None) -> str:
    """An entity: its place, attributes (level 1), triples (level 2), passages."""
    where = f"{esc(place.role)} of <b>{esc(place.community_name, NAME)}</b>" if place.community != NONE else place.role
    return (
        f"<p><b>{esc(place.name, NAME)}</b> <span class='tag'>{esc(place.type or 'no type', 60)}</span> {where}</p>"
        + details(counted(len(place.attributes), "attribute"), _attributes(place.attributes), open=True)
        + details(counted(len(place.triples), "triple"), triples_part(place.triples), open=True)
        + details(counted(len(place.passages), "passage"), _passages(place.passages, passages or {}))
    )


def passage_part(place: PassagePlace, names: Mapping[int, str]) -> str:
    """A passage and its place: communities, entities, triples and attributes. `names` are those of communities."""
    rows = [
        (clean(name, NAME), clean(kind, 60), clean(names.get(at, "–" if at == NONE else at), NAME))
        for _, name, kind, at in place.entities
    ]
    among = table(["community", "entities"], [(clean(one.name, NAME), one.relations) for one in place.communities])
    return (
        f"<div>{passage_line(place.passage)}</div>{among}"
        + details(
            counted(len(rows), "entity", "entities"), table(["entity", "type", "community"], rows[:MEMBERS]), open=True
        )
        + details(counted(len(place.triples), "triple"), triples_part(place.triples))
        + details(counted(len(place.attributes), "attribute"), _attributes(place.attributes))
    )


def triples_part(triples: Sequence[Triple]) -> str:
    rows = [
        (clean(one.subject, 80), clean(one.relation, 60), clean(one.object, 120), _few(one.passages))
        for one in triples[:TRIPLES]
    ]
    return table(["head", "relation", "tail", "stated in"], rows) + _more(len(triples), TRIPLES)


# -- merges and weights ------------------------------------------------------------------------------------------------


def merges_part(merges: Sequence[Merge], names: Sequence[str], settings: Perception) -> str:
    """Pairs of parts that were candidates for a merger, the merged ones first, and what decided each of them. `names`
    are those of all entities."""
    if not merges:
        return "<p class='q'>no pair of parts was a candidate for a merger</p>"
    ordered = sorted(merges, key=lambda one: (not one.merged, one.cluster, one.round))
    rows = [
        (one.cluster, one.round, _part(one.left, names), _part(one.right, names), one.overlap, one.cosine,
         one.difference, one.size, Markup(f"<b>{_why(one, settings)}</b>") if one.merged else _why(one, settings))
        for one in ordered[:MERGES]
    ]  # fmt: skip
    headers = ["cluster", "round", "part", "and part", "relations alike", "cosine", "Δ of mean φ", "members", "outcome"]
    count = sum(one.merged for one in merges)
    said = f"<p class='q'>{count:,} of {len(merges):,} recorded pairs merged</p>"
    return said + table(headers, rows) + _more(len(merges), MERGES)


def changes_part(changes: Sequence[Change], moved: int, entities: int) -> str:
    """What became of the communities under other weights."""
    said = f"<p>{moved:,} of {entities:,} entities are in another community than in the index</p>"
    rows = [
        (one.kind, _few(one.before, 4), _few(one.after, 4), one.entities)
        for one in changes[:SHOWN]
    ]  # fmt: skip
    return said + (table(["", "before", "after", "entities"], rows) + _more(len(changes), SHOWN) if rows else "")


def agreement_part(found: Sequence[Agreement]) -> str:
    """Other groupings of the same entities: agreement with each, and the groups that the other one tears apart most."""
    rows = [(clean(one.right, 60), one.groups[1], one.entities, one.rand, one.nmi, *one.purity) for one in found]
    headers = ["grouping", "groups", "entities", "adjusted Rand", "NMI", "purity of the tree", "purity of the other"]
    parts = [table(headers, rows)]
    for one in found:
        told = [
            (split.grouping, clean(split.title, NAME), split.size, split.apart,
             _few([f"{title} ({count:,})" for title, count in split.parts]))
            for split in one.splits[:DIVIDED]
        ]  # fmt: skip
        shown = table(["of", "group", "entities", "apart", "its parts in the other"], told)
        parts.append(details(f"where {esc(one.right, 60)} differs most", shown, open=True))
    return "".join(parts)


# -- the schema --------------------------------------------------------------------------------------------------------


def evolution_part(seed: Schema, schema: Schema, evolution: Sequence[Proposal], passages: Passages) -> str:
    """What the schema gained, and which passages asked for it; then what was not admitted."""
    sizes = [
        (name, len(getattr(seed, kind)), len(getattr(schema, kind)),
         sum(not one.admitted for one in evolution if one.kind == kind))
        for kind, name in KINDS.items()
    ]  # fmt: skip
    gained = sorted((one for one in evolution if one.admitted), key=_most_asked)
    refused = sorted((one for one in evolution if not one.admitted), key=_most_asked)
    return (
        table(["kind", "in the seed", "now", "not admitted"], sizes)
        + f"<p><b>{len(gained):,} gained</b></p>{_proposals(gained, passages)}"
        + details(f"{len(refused):,} not admitted", _proposals(refused, passages))
    )


def _proposals(found: Sequence[Proposal], passages: Passages) -> str:
    rows = [
        (KINDS[one.kind], clean(one.name, 80), one.confidence, len(one.passages),
         _few([_title(name, passages) for name in one.passages]))
        for one in found[:PROPOSALS]
    ]  # fmt: skip
    return table(["kind", "name", "confidence", "passages", "asked for by"], rows) + _more(len(found), PROPOSALS)


def _most_asked(one: Proposal) -> tuple:
    return -len(one.passages), one.kind, one.name


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _part(rows: Sequence[int], names: Sequence[str]) -> str:
    """The first members of a part, by their names."""
    more = f" and {len(rows) - 3:,} more" if len(rows) > 3 else ""
    return ", ".join(short(names[row], 50) for row in rows[:3]) + more


def _why(one: Merge, settings: Perception) -> str:
    """What decided, in words."""
    limits = {
        "difference": f"Δ is not below ε = {settings.epsilon:.3g}",
        "dissimilar": f"centres are not similar enough (< {settings.merge_threshold:.3g})",
        "size": f"too many members (> {settings.size_cap:,})",
        "taken": "one of them merged with a closer part",
    }
    return "merged" if one.merged else limits.get(one.reason, clean(one.reason, 60))


def _members(place: CommunityPlace) -> str:
    mark: Callable = lambda one: "centre" if one.centre else "keyword" if one.keyword else ""  # noqa: E731
    rows = [
        (clean(one.name, NAME), clean(one.type, 60), one.structure, one.meaning, mark(one))
        for one in place.members[:MEMBERS]
    ]
    return table(["entity", "type", "relations", "meaning", ""], rows) + _more(len(place.members), MEMBERS)


def _neighbours(place: CommunityPlace) -> str:
    rows = [(clean(one.name, NAME), one.relations) for one in place.neighbours[:SHOWN]]
    return table(["community", "relations"], rows) + _more(len(place.neighbours), SHOWN)


def _attributes(found: Sequence) -> str:
    rows = [(clean(one.type, 60), clean(one.value, 200), _few(one.passages)) for one in found[:TRIPLES]]
    return table(["attribute", "value", "stated in"], rows) + _more(len(found), TRIPLES) if rows else ""


def _passages(ids: Sequence[str], passages: Passages) -> str:
    shown = [
        f"<li>{passage_line(passages[name]) if name in passages else esc(name, NAME)}</li>" for name in ids[:SHOWN]
    ]
    return f"<ul>{''.join(shown)}</ul>{_more(len(ids), SHOWN)}"


def _title(name: str, passages: Passages) -> str:
    return (passages[name].title or name) if name in passages else name


def _few(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(short(name, 50) for name in names[:most]) + more


def _more(count: int, shown: int) -> str:
    return f"<p class='q'>and {count - shown:,} more</p>" if count > shown else ""


# -- groupings of entities, and their agreement -----------------------------------------------------------------------


GROUPS = 10  # groups that a notebook lists


@text.register
def _(grouping: Grouping) -> str:
    entities = counted(len(grouping.group_of), "entity", "entities")
    return f"Grouping {clean(grouping.name, NAME)!r}: {entities} in {counted(grouping.groups, 'group')}"


@html.register
def _(grouping: Grouping) -> str:
    sizes = Counter(grouping.group_of.values())
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:GROUPS]
    rows = [(clean(grouping.titles.get(group, str(group)), NAME), size) for group, size in largest]
    return page(f"<p>{esc(text(grouping))}</p>", table(["largest groups", "entities"], rows))


@text.register
def _(agreement: Agreement) -> str:
    left, right = agreement.groups
    return (
        f"Agreement of {clean(agreement.left, NAME)} ({counted(left, 'group')}) and {clean(agreement.right, NAME)} "
        f"({right:,}) on {counted(agreement.entities, 'entity', 'entities')}: adjusted Rand "
        f"{number(agreement.rand, 3)}, NMI {number(agreement.nmi, 3)}"
    )


@html.register
def _(agreement: Agreement) -> str:
    left, right = agreement.left, agreement.right
    rows = [
        ("adjusted Rand", agreement.rand),
        ("normalised mutual information", agreement.nmi),
        (f"purity of {left} against {right}", agreement.purity[0]),
        (f"purity of {right} against {left}", agreement.purity[1]),
    ]
    splits = [(split.grouping, clean(split.title, NAME), split.size, split.apart, _parts(split))
              for split in agreement.splits]  # fmt: skip
    return page(
        f"<p>{esc(text(agreement))}</p>",
        table(["measure", "value"], rows),
        "<p>Where they differ most</p>" if splits else "",
        table(["of", "group", "entities", "apart", "its parts in the other"], splits) if splits else "",
    )


def _parts(split: Split) -> str:
    return "; ".join(f"{clean(title, 60)} ({count:,})" for title, count in split.parts)
