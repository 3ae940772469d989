"""Maps of a knowledge tree: all communities, one community with its members, one entity with its relations.

A map shows a bounded part of a tree, and says what it leaves out. Positions come from the vectors of the entities:
similar discs and points are close to each other, and none overlap. They are computed here, so that the same tree gives
the same picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from workbench.errors import SettingError
from workbench.operators.knowledge_tree import (
    NONE,
    EntityPlace,
    KnowledgeTree,
    cosines,
    dominant,
    group_means,
    group_sums,
    joined_by,
    principal_plane,
)
from workbench.operators.regrouping import Division
from workbench.operators.types import types_of
from workbench.text import clean, short
from workbench.views.drawing import EdgeStyle, Map, NodeStyle, type_styles
from workbench.views.palette import BLUE, GREY, ORANGE

DISCS, POINTS, NAMED = 400, 6_000, 2_500  # communities, entities, and entities that can have names, of the overview
MEMBERS, LINES, DENSE = 1_500, 2_000, 300  # of a community's map; lines from which on they are faint
AROUND = 60  # neighbours, attributes and passages of an entity's map, of each kind
JOINED = 120  # lines between communities
TINTS = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#084594")  # little to much
NONE_KNOWN = NodeStyle("no type", GREY)
SAME, ELSEWHERE = NodeStyle("with most of its community", BLUE), NodeStyle("elsewhere", ORANGE, "square")
NOWHERE = NodeStyle("in no group", GREY, "hexagon")
ATTRIBUTE, PASSAGE = NodeStyle("attribute", GREY, "diamond"), NodeStyle("passage", ORANGE, "square")
FEW = EdgeStyle("few relations", GREY, "──", 0.6, opacity=0.35)
MANY = EdgeStyle("many relations", GREY, "━━", 2.5, opacity=0.5)
INSIDE = EdgeStyle("relation", GREY, "──", 0.8, opacity=0.4)
FAINT = INSIDE._replace(width=0.5, opacity=0.15)
SAYS = EdgeStyle("attribute", GREY, "╌╌", 1, (5, 4), opacity=0.8)
STATES = EdgeStyle("stated in", ORANGE, "┈┈", 1, (2, 4), opacity=0.8)
COLOURS = ("type", "structure", "meaning")  # the colourings of an overview, besides other groupings


class Palette(NamedTuple):
    """The styles of a map, the positions of the style of each entity and community, and additions to labels."""

    styles: tuple[NodeStyle, ...]
    points: np.ndarray
    discs: np.ndarray
    notes: Sequence[str] = ()


def type_palette(tree: KnowledgeTree, division: Division) -> Palette:
    """The most frequent types, the same in all maps of a tree; a community has that of most of its members."""
    by_type = type_styles(types_of(tree.index).order)
    marks = {name: by_type.get(name, NONE_KNOWN) for name in set(tree.graph.types)}
    present = set(marks.values())
    styles = tuple(style for style in (*dict.fromkeys(by_type.values()), NONE_KNOWN) if style in present)
    at = {name: styles.index(style) for name, style in marks.items()}
    types = np.array([at[name] for name in tree.graph.types], dtype=np.int32)
    most = [dominant(tree.graph.types[row] for row in rows) for rows in division.rows()]
    return Palette(styles, types, np.array([at.get(name, 0) for name in most], dtype=np.int32))


def tint_palette(values: np.ndarray, division: Division, name: str) -> Palette:
    """How tight communities are, in five tints from the least to the most; labels state it."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    steps = np.linspace(low, high, len(TINTS) + 1)
    styles = tuple(NodeStyle(f"{name} from {step:.2f}", tint) for step, tint in zip(steps, TINTS))
    discs = np.clip(np.searchsorted(steps, values, side="right") - 1, 0, len(TINTS) - 1).astype(np.int32)
    points = np.where(division.groups >= 0, discs[division.groups] if len(discs) else 0, 0).astype(np.int32)
    return Palette(styles, points, discs, [f" · {value:.2f}" for value in values])


def agreement_palette(other: np.ndarray, division: Division, name: str) -> Palette:
    """Where another division differs: entities that it puts elsewhere than most of their community. Labels state the
    share of those that stay together."""
    points = np.full(len(other), 2, dtype=np.int32)
    discs, notes = np.full(len(division.names), 2, dtype=np.int32), [""] * len(division.names)
    for at, rows in enumerate(division.rows()):
        grouped = rows[other[rows] >= 0]
        if len(grouped):
            most = np.bincount(other[grouped]).argmax()
            points[grouped] = np.where(other[grouped] == most, 0, 1)
            discs[at], share = int((points[grouped] == 1).mean() > 0.5), (points[grouped] == 0).mean()
            notes[at] = f" · {share:.0%}"
    styles = (SAME._replace(name=f"{SAME.name}, by {name}"), ELSEWHERE, NOWHERE)
    return Palette(styles, points, discs, notes)


def overview_map(
    tree: KnowledgeTree, division: Division, palette: Palette, marked: Iterable[int] = (), title: str = ""
) -> Map:
    """All communities as discs, close where their members mean the same, with their members as points. `marked` are
    rows of entities with an outline. A click on a disc reports n + its key, one on a point its row."""
    sizes, marked = division.sizes, [row for row in dict.fromkeys(marked) if division.groups[row] >= 0]
    drawn = np.argsort(-sizes, kind="stable")[:DISCS]
    drawn = drawn[sizes[drawn] > 0]
    rows = _sample(division.groups, drawn, marked)
    centres, radii = _disc_places(tree, division, drawn)
    thin = max(1.0, sizes[drawn].sum() / max(1, len(rows))) ** 0.5
    points = _point_places(tree, division, rows, drawn, centres, radii)
    n, at = len(tree.graph.names), {group: position for position, group in enumerate(drawn.tolist())}
    notes = palette.notes or [""] * len(division.names)
    labels = [f"{short(division.names[group], 36)}{notes[group]}" for group in drawn]
    tips = [f"{clean(division.names[group], 120)}\n{sizes[group]:,} entities" for group in drawn.tolist()]
    named = rows if len(rows) <= NAMED else rows[: len(marked)]
    edges, lines = _between(tree, division, at)
    inside = int((division.groups >= 0).sum())
    return Map(
        title or "communities", "overview",
        np.r_[n + np.array(division.keys, dtype=np.int64)[drawn], rows],
        np.r_[centres, points], np.r_[radii, np.full(len(rows), 0.42 * thin)],
        np.r_[palette.discs[drawn], palette.points[rows]].astype(np.int32), palette.styles,
        discs=len(drawn), labels=(*labels, *(tree.graph.names[row] for row in named)),
        tips=(*tips, *(_entity_tip(tree, row) for row in named)),
        rings=tuple(len(drawn) + position for position in range(len(marked))), outlined="marked" if marked else "",
        edges=edges, edge_style=lines, edge_styles=(FEW, MANY) if len(edges) else (),
        left_out=_left_out(
            ((len(division.names) - len(drawn), "of the smallest communities"),
             (inside - len(rows), f"of {inside:,} entities"), (n - inside, "entities in no community"))
        ),
    )  # fmt: skip


def community_map(tree: KnowledgeTree, at: int) -> Map:
    """A community: its members, close where they mean the same, the relations among them, and the keywords outlined. A
    click reports the row of an entity."""
    community = tree.tree.communities[at]
    inside = _inside(tree, community.members)
    degree = np.bincount(inside.ravel(), minlength=len(tree.graph.names))
    first = dict.fromkeys([community.centre, *community.keywords])
    rest = sorted(set(community.members) - set(first), key=lambda row: (-degree[row], row))
    rows = np.array([*first, *rest][:MEMBERS], dtype=np.int64)
    position = {row: here for here, row in enumerate(rows.tolist())}
    radii = 0.5 + 0.22 * np.log1p(degree[rows]) + 0.35 * np.isin(rows, list(first))
    vectors = tree.tree.entity_matrix[rows]
    places = apart(spread(vectors @ principal_plane(vectors)), radii, 2.4)
    drawn = inside[np.isin(inside, rows).all(axis=1)][:LINES]
    palette = type_palette(tree, Division.built(tree))
    hidden, cut = len(community.members) - len(rows), len(inside) - len(drawn)
    return Map(
        tree.name(at), f"community {at}", rows, places, radii, palette.points[rows], palette.styles,
        labels=tuple(tree.graph.names[row] for row in rows), tips=tuple(_entity_tip(tree, row) for row in rows),
        rings=tuple(position[row] for row in community.keywords if row in position), outlined="keyword",
        edges=np.array([[position[end] for end in pair] for pair in drawn.tolist()], np.int32).reshape(-1, 2),
        edge_style=np.zeros(len(drawn), np.int32), edge_styles=(FAINT if len(drawn) > DENSE else INSIDE,),
        left_out=_left_out(((hidden, "members"), (cut, "relations"))),
    )  # fmt: skip


def entity_map(tree: KnowledgeTree, place: EntityPlace) -> Map:
    """An entity in the middle; around it its neighbours, its attributes and the passages that state it. A click on a
    neighbour reports its row, on a passage n + its row."""
    n, graph = len(tree.graph.names), tree.graph
    relations: dict[int, list[str]] = {}
    for triple in place.triples:
        ends = {graph.row[triple.subject], graph.row[triple.object]} - {place.row} or {place.row}
        relations.setdefault(min(ends), []).append(f"{triple.subject} — {triple.relation} → {triple.object}")
    relations.pop(place.row, None)
    neighbours = sorted(relations, key=lambda row: (-len(relations[row]), row))
    passages = [tree.index.passages.row[name] for name in place.passages]
    kinds = [len(neighbours), len(place.attributes), len(passages)]
    parts = [_ring(min(AROUND, count), *ring) for count, ring in zip(kinds, ((11, 0.25), (6, 0.5), (16, 0.8)))]
    near, own, stated = neighbours[:AROUND], place.attributes[:AROUND], passages[:AROUND]
    palette = type_palette(tree, Division.built(tree))
    titles = [tree.passages[row].title or tree.passages[row].id for row in stated]
    far = n + len(tree.passages)  # a click on an attribute leads nowhere
    count = len(palette.styles)
    style = [palette.points[place.row], *palette.points[near], *([count] * len(own)), *([count + 1] * len(stated))]
    edge_style = [0] * len(near) + [1] * len(own) + [2] * len(stated)
    return Map(
        place.name, f"entity {place.row}",
        np.array([place.row, *near, *range(far, far + len(own)), *(n + row for row in stated)], dtype=np.int64),
        np.concatenate([np.zeros((1, 2)), *parts]), np.array([1.3] + [0.7] * len(edge_style)),
        np.array(style, dtype=np.int32), (*palette.styles, ATTRIBUTE, PASSAGE),
        labels=(place.name, *(graph.names[row] for row in near), *(f"{a.type}: {a.value}" for a in own), *titles),
        tips=(_entity_tip(tree, place.row), *("\n".join(relations[row][:4]) for row in near),
              *(f"{a.type}: {a.value}" for a in own), *titles),
        rings=(0,), outlined="chosen", edges=np.array([(0, at + 1) for at in range(len(edge_style))]).reshape(-1, 2),
        edge_style=np.array(edge_style, dtype=np.int32), edge_styles=(INSIDE, SAYS, STATES),
        left_out=_left_out(
            (count - AROUND, what) for count, what in zip(kinds, ("neighbours", "attributes", "passages"))
        ),
    )  # fmt: skip


def palette_of(tree: KnowledgeTree, division: Division, colour: str, others: dict[str, np.ndarray]) -> Palette:
    """The palette of an overview by its name: "type", "structure", "meaning" or a division in `others`."""
    if colour == "type":
        return type_palette(tree, division)
    if colour in others:
        return agreement_palette(others[colour], division, colour)
    if colour not in COLOURS:
        raise SettingError(f"colour={colour!r} is unknown; choose one of {', '.join([*COLOURS, *others])}")
    fit = tree.fit(division.groups, division.centres)[:, [COLOURS.index(colour) - 1]]
    return tint_palette(group_means(fit, division.groups, len(division.names))[:, 0], division, colour)


# -- parts -------------------------------------------------------------------------------------------------------------


def _sample(groups: np.ndarray, drawn: np.ndarray, marked: Sequence[int]) -> np.ndarray:
    """Rows of entities, the marked ones first; if there are too many, every n-th by name, an order that no division
    changes."""
    rows = np.flatnonzero(np.isin(groups, drawn))
    if len(rows) > POINTS:
        rows = rows[np.linspace(0, len(rows) - 1, POINTS).astype(np.int64)]
    first = np.array([row for row in marked if groups[row] in set(drawn.tolist())], dtype=np.int64)
    return np.r_[first, rows[~np.isin(rows, first)]]


def _disc_places(tree: KnowledgeTree, division: Division, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii of discs whose areas are their sizes."""
    grouped = division.groups >= 0
    sums = group_sums(tree.tree.entity_matrix[grouped], division.groups[grouped], len(division.names))[drawn]
    middles = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    radii = np.sqrt(division.sizes[drawn] + 1.0)
    return apart(spread(middles @ tree.plane), radii), radii


def _point_places(
    tree: KnowledgeTree, division: Division, rows: np.ndarray, drawn: np.ndarray, centres: np.ndarray, radii: np.ndarray
) -> np.ndarray:
    """Places of the members of each disc, from the middle outwards by their similarity to their community."""
    fit = cosines(tree.tree.entity_matrix, division.groups)
    places = np.zeros((len(rows), 2))
    for position, group in enumerate(drawn.tolist()):
        here = np.flatnonzero(division.groups[rows] == group)
        here = here[np.lexsort((rows[here], -fit[rows[here]]))]
        places[here] = centres[position] + sunflower(len(here), radii[position])
    return places


def _between(tree: KnowledgeTree, division: Division, at: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Lines between the communities that most relations join, in style `MANY` from half of the most on."""
    joined = joined_by(division.groups, tree.graph.sources, tree.graph.targets, len(division.names)).tocoo()
    first, other = joined.coords
    upper = first < other
    pairs = sorted(zip((-joined.data[upper]).tolist(), first[upper].tolist(), other[upper].tolist()))
    pairs = [pair for pair in pairs if pair[1] in at and pair[2] in at][:JOINED]
    most = -pairs[0][0] if pairs else 0
    edges = np.array([(at[a], at[b]) for _, a, b in pairs], dtype=np.int32).reshape(-1, 2)
    return edges, np.array([int(-count >= most / 2) for count, _, _ in pairs], dtype=np.int32)


def _inside(tree: KnowledgeTree, members: Sequence[int]) -> np.ndarray:
    """Pairs of members that a relation joins, each once, int (e, 2)."""
    held = np.zeros(len(tree.graph.names), dtype=bool)
    held[list(members)] = True
    sources, targets = tree.graph.sources, tree.graph.targets
    joined = held[sources] & held[targets] & (sources != targets)
    pairs = np.sort(np.c_[sources[joined], targets[joined]], axis=1)
    return np.unique(pairs, axis=0).reshape(-1, 2)


def _ring(count: int, radius: float, turn: float) -> np.ndarray:
    angle = 2 * np.pi * (np.arange(count) + turn) / max(1, count)
    return np.c_[1.8 * np.cos(angle), np.sin(angle)] * radius


def _entity_tip(tree: KnowledgeTree, row: int) -> str:
    at = int(tree.tree.community_of[row])
    place = f"\nin {clean(tree.name(at), 80)}" if at != NONE else "\nin no community"
    return f"{clean(tree.graph.names[row], 120)}\n{clean(tree.graph.types[row] or 'no type', 60)}{place}"


def _left_out(counted: Iterable[tuple[int, str]]) -> str:
    words = [f"{count:,} {what}" for count, what in counted if count > 0]
    return f"left out: {', '.join(words)}" if words else ""


# -- disc layout ------------------------------------------------------------------------------------------------------

WIDE = 1.8  # width of a map for each unit of its height
GOLDEN = 2.399963229728653  # the golden angle: points placed by it cover a disc evenly (Vogel, 1979)
ROUNDS = 400


def spread(places: np.ndarray) -> np.ndarray:
    """Places in [-1, 1], moved halfway towards equal distances along each axis, so that no part is crowded."""
    reach = np.abs(places - np.median(places, axis=0)).max(axis=0, initial=0.0)
    scaled = (places - np.median(places, axis=0)) / np.where(reach > 0, reach, 1.0)
    ranks = np.argsort(np.argsort(scaled, axis=0, kind="stable"), axis=0, kind="stable")
    return (scaled + 2 * ranks / max(1, len(places) - 1) - 1) / 2


def apart(places: np.ndarray, radii: np.ndarray, gap: float = 0.12) -> np.ndarray:
    """Discs around `places`, float (n, 2) in [-1, 1], in units of `radii`, float (n,): pushed away from each other
    until at least `gap` mean radii lie between any two."""
    if not len(places):
        return np.zeros((0, 2))
    needed = np.asarray(radii, dtype=float) + gap * np.mean(radii) / 2
    side = np.sqrt(np.pi * np.sum(needed**2) / WIDE) / 1.6  # half the height of a map that discs fill by a half
    at = np.asarray(places, dtype=float) * (side * WIDE, side)
    for _ in range(ROUNDS):
        pairs, away, distance, reach = _overlaps(at, needed)
        if not len(pairs):
            break
        share = ((reach - distance) / 2 / distance)[:, None] * away
        np.add.at(at, pairs[:, 0], -share)
        np.add.at(at, pairs[:, 1], share)
        at *= 1.003  # makes room where it lacks
    while len(_overlaps(at, needed)[0]):
        at *= 1.02
    return at


def sunflower(count: int, radius: float) -> np.ndarray:
    """Places of `count` points that cover a disc evenly, from its middle outwards, float (count, 2)."""
    rank = np.arange(count)
    reach = 0.9 * radius * np.sqrt((rank + 0.5) / max(1, count))
    return np.c_[np.cos(GOLDEN * rank), np.sin(GOLDEN * rank)] * reach[:, None]


def _overlaps(at: np.ndarray, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of discs that are too close, the way from the first to the second, its length, and how long it must be."""
    pairs = cKDTree(at).query_pairs(2 * needed.max(), output_type="ndarray") if len(at) > 1 else np.empty((0, 2), int)
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    away, reach = at[pairs[:, 1]] - at[pairs[:, 0]], needed[pairs].sum(axis=1)
    distance = np.hypot(*away.T)
    same = distance < 1e-9
    turn = GOLDEN * np.arange(len(pairs))
    away[same] = np.c_[np.cos(turn), np.sin(turn)][same] * 1e-6
    distance = np.where(same, 1e-6, distance)
    close = distance < reach * (1 - 1e-6)
    return pairs[close], away[close], distance[close], reach[close]
