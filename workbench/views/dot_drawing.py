"""The drawing of a DOT: its anchors on the left, then the nodes one, two, … hops away, and the paths between them.

Positions are those of the whole DOT, so that nothing moves between its iterations. Each type of node has its own colour
and shape; kept paths are thick, partial ones dashed, the others dotted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from workbench.methods.dotrag.dots import Dot, Dots, Iteration
from workbench.methods.dotrag.events import Hop, JudgedPath
from workbench.operators.types import Types
from workbench.records import Passage
from workbench.text import clean, short
from workbench.views import dots as dots_view
from workbench.views.dots import hop_text
from workbench.views.drawing import (
    DASHED,
    DOTTED,
    LABEL,
    THICK,
    Drawing,
    DrawnEdge,
    DrawnNode,
    EdgeStyle,
    NodeStyle,
    faded,
    type_styles,
    types_shown,
)
from workbench.views.palette import GREY
from workbench.views.stepped import Stage, stages_part

LAST = 10**9  # an iteration after all others
NODES = 200  # of a drawing, at most
COLUMN, ROW, TALL = 150, 38, 440  # pixels between neighbours; the height that few rows may fill
UNTYPED = NodeStyle("", GREY)
PATHS = tuple(
    style._replace(name=name) for name, style in (("complete", THICK), ("partial", DASHED), ("not kept", DOTTED))
)
COMPLETE, PARTIAL, NOT_KEPT = PATHS
_ROLES = {"anchor": (13, 16), "kept": (11, 16), "path": (8, 12), "candidate": (7, 12)}  # sizes of a mark and a font
_Place = tuple[int, float, float]  # hop, column and row, the latter two from the middle


class _Seat(NamedTuple):
    """A node and its position in pixels."""

    name: str
    role: str
    hop: int
    x: float
    y: float


def dot_drawing(
    dots: Dots, number: int = 0, iteration: int = LAST, *, types: Types | None = None, limit: int = NODES
) -> Drawing:
    """A DOT after an iteration; 0 is before the first. Anchors come first, then the nodes of kept paths, of the others,
    and candidates without a path; at most `limit` of them. `types` are those of the index, which come before those of
    the trace."""
    dot = dots.dot(number)
    done = [one for one in dot.iterations if one.number <= iteration]
    kept = set(done[-1].kept) if done else set()
    places = _places(dot, _names(dot, dot.iterations, {path.id for path in dot.kept})[:limit])
    met = set(_names(dot, done, kept))
    shown = {name: place for name, place in places.items() if name in met}
    paths = [path for one in done for path in one.paths]
    roles = _roles(dot, paths, kept, shown)
    row = _row_height(places.values())
    return _drawing(
        f"{dots.question}: {dot.concept}",
        dots,
        types,
        [_Seat(name, roles[name], hop, COLUMN * x, row * y) for name, (hop, x, y) in shown.items()],
        _edges(paths, kept, {name: at for at, name in enumerate(shown)}),
        left_out=len(met) - len(shown),
    )


def stepped(shown: Dots, passages: Mapping[str, Passage] | None = None) -> str:
    """The DOTs, each with the picture of what every iteration reached, as a part of a page."""

    def stages(dot: Dot) -> str:
        return stages_part(
            [
                Stage(
                    f"iteration {one.number}",
                    dot_drawing(shown, dot.number, one.number),
                    dots_view.iteration_part(one, shown.gold),
                )
                for one in dot.iterations
            ]
        )

    return dots_view.whole(shown, passages, stages, open=True)


def path_drawing(dots: Dots, path: JudgedPath, *, types: Types | None = None) -> Drawing:
    """One path, from its anchor to its end, labelled with its relations."""
    middle, style = (len(path.nodes) - 1) / 2, _style(path.label if path.kept else "")
    seats = [
        _Seat(name, "kept" if at else "anchor", at, COLUMN * (at - middle), 0.0) for at, name in enumerate(path.nodes)
    ]
    edges = (
        DrawnEdge(at, at + 1, style, _edge_tooltip(*ends, hop, style, [path.id]), _relations(hop), _arrows(hop))
        for at, (*ends, hop) in enumerate(zip(path.nodes, path.nodes[1:], path.relations))
    )
    return _drawing(path.id, dots, types, seats, edges, inches=(8.8, 2.2))


def _drawing(
    name: str, dots: Dots, types: Types | None, seats: Sequence[_Seat], edges: Iterable[DrawnEdge], **rest
) -> Drawing:
    traced = Types.of(dots.types.items())
    known = types or Types()
    styles = type_styles((*known.order, *traced.order))
    kinds = [known.type_of(seat.name) or traced.type_of(seat.name) for seat in seats]
    nodes = tuple(
        _node(at, seat, kinds[at], styles, " (gold)" * (seat.name in dots.gold)) for at, seat in enumerate(seats)
    )
    shown = types_shown(nodes, styles)
    return Drawing(name, nodes, tuple(edges), (), PATHS, "anchor", types=shown, **rest)


def _node(at: int, seat: _Seat, kind: str, styles: Mapping[str, NodeStyle], gold: str) -> DrawnNode:
    name, role, hop, x, y = seat
    size, font = _ROLES[role]
    where = {"anchor": "anchor", "candidate": "candidate, no path leads to it"}.get(role, f"at hop {hop}")
    tooltip = f"{clean(name, 300)}{gold}\n{clean(kind, 80) or 'type not in the trace'}, {where}"
    label = short(name, 28) + gold
    return DrawnNode(
        at, name, styles.get(kind, UNTYPED), x, y, label, tooltip, role, size, font, role == "anchor", kind
    )


# -- positions ---------------------------------------------------------------------------------------------------------


def _names(dot: Dot, iterations: Sequence[Iteration], kept: set[str]) -> list[str]:
    """The nodes that a DOT has reached after some iterations, most important first."""
    paths = sorted(
        (path for one in iterations for path in one.paths),
        key=lambda path: (path.id not in kept, -path.query_similarity),
    )
    nodes = [
        *(anchor.name for anchor in dot.anchors),
        *(node for path in paths for node in path.nodes),
        *(candidate.name for one in iterations for candidate in one.candidates),
    ]
    return list(dict.fromkeys(nodes))


def _roles(dot: Dot, paths: Sequence[JudgedPath], kept: set[str], names: Iterable[str]) -> dict[str, str]:
    roles = dict.fromkeys(names, "candidate")
    roles |= {node: "path" for path in paths for node in path.nodes}
    roles |= {node: "kept" for path in paths if path.id in kept for node in path.nodes}
    return roles | {anchor.name: "anchor" for anchor in dot.anchors}


def _places(dot: Dot, names: Sequence[str]) -> dict[str, _Place]:
    """One or more columns for each hop; nodes without a path come last."""
    hops, before = _hops(dot)
    beyond = max(hops.values(), default=0) + 1
    layers: dict[int, list[str]] = {}
    for name in names:
        layers.setdefault(hops.get(name, beyond), []).append(name)
    rows = max(14, ceil((8 * len(names)) ** 0.5))  # somewhat wider than high
    places: dict[str, _Place] = {}
    column = 0
    for hop in sorted(layers):
        for part in _columns(layers[hop], before, places, rows):
            places |= {name: (hop, column, at - (len(part) - 1) / 2) for at, name in enumerate(part)}
            column += 1
    return {name: (hop, x - (column - 1) / 2, y) for name, (hop, x, y) in places.items()}


def _hops(dot: Dot) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Name → least number of hops from an anchor; name → the nodes before it on its paths."""
    hops: dict[str, int] = {anchor.name: 0 for anchor in dot.anchors}
    before: dict[str, list[str]] = {}
    for path in dot.paths:
        for hop, (last, node) in enumerate(zip(path.nodes, path.nodes[1:]), 1):
            hops[node] = min(hop, hops.get(node, hop))
            before.setdefault(node, []).append(last)
    return hops, before


def _columns(
    layer: Sequence[str], before: Mapping[str, Sequence[str]], places: Mapping[str, _Place], rows: int
) -> Iterator[list[str]]:
    """A layer in columns of equal length, at most `rows` each; a node stands near those that lead to it."""

    def height(name: str) -> float:
        found = [places[other][2] for other in before.get(name, ()) if other in places]
        return sum(found) / len(found) if found else 0.0

    ordered = sorted(layer, key=height)
    size = ceil(len(layer) / ceil(len(layer) / rows))
    yield from (ordered[start : start + size] for start in range(0, len(ordered), size))


def _row_height(places: Iterable[_Place]) -> float:
    """Pixels, so that few rows are far apart."""
    ys = [y for *_, y in places] or [0.0]
    return max(ROW, min(2 * ROW, TALL / ((max(ys) - min(ys)) or 1)))


# -- edges -------------------------------------------------------------------------------------------------------------


def _edges(paths: Sequence[JudgedPath], kept: set[str], at: Mapping[str, int]) -> Iterator[DrawnEdge]:
    """One edge for all paths over a hop, in either direction; its style is that of the best of them, and among many
    edges it fades by the similarity of the closest to the question."""
    found: dict[tuple[str, str], list[tuple[JudgedPath, Hop]]] = {}
    for path in paths:
        for source, target, hop in zip(path.nodes, path.nodes[1:], path.relations):
            if source in at and target in at:
                ends = (source, target) if (target, source) not in found else (target, source)
                found.setdefault(ends, []).append((path, hop))
    drawn, weights = [], []
    for (source, target), hops in found.items():
        style = min((_style(path.label if path.id in kept else "") for path, _ in hops), key=PATHS.index)
        tooltip = _edge_tooltip(source, target, hops[0][1], style, [path.id for path, _ in hops])
        label = "" if style is NOT_KEPT else _relations(hops[0][1])  # kept paths can be read in the picture
        drawn.append(DrawnEdge(at[source], at[target], style, tooltip, label))
        weights.append(max(path.query_similarity for path, _ in hops))
    yield from faded(drawn, weights)


def _style(label: str) -> EdgeStyle:
    return next((style for style in PATHS if style.name == label), NOT_KEPT)


def _edge_tooltip(source: str, target: str, hop: Hop, style: EdgeStyle, paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    ends = " — ".join(clean(end, 80) for end in (source, target))
    return f"{ends}\n{clean(hop_text(hop), 300)}\n{style.name}: {', '.join(paths[:5])}{more}"


def _relations(hop: Hop) -> str:
    return short(" / ".join(label for label, _ in hop), LABEL)


def _arrows(hop: Hop) -> str:
    """Arrowheads in the directions of the graph."""
    directions = {forward for _, forward in hop}
    return ",".join(name for name, forward in (("to", True), ("from", False)) if forward in directions)
