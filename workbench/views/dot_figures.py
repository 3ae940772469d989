"""A DOT as a picture: its anchors on the left, then what is one, two, … hops away, and the paths between them.

The same places serve a page of its own for some two hundred nodes and its twin as a figure. They are those of the whole
DOT, so that nothing moves while one steps through it. Shape says what colour says: a type has a mark of its own, kept
paths are thick, partial ones have long dashes and those that were not kept short ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from typing import NamedTuple

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke

from workbench.methods.dotrag.dots import Dot, Dots
from workbench.methods.dotrag.events import Hop, JudgedPath
from workbench.records import Record
from workbench.views.base import NAME, clean, esc, html, page, short, text
from workbench.views.dots import hop_says
from workbench.views.figures import Picture
from workbench.views.graph import HEIGHT, LABEL, SMALL, framed, shown_page, theme_named
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION, Theme

ALL = 10**9  # an iteration after all others
COLUMN, ROW, TALL = 150, 38, 440  # pixels between neighbours; those that few rows may fill
LABELLED = 45  # nodes of a crowded picture that keep their label
_PURPLE, _SKY, _YELLOW = "#CC79A7", "#56B4E9", "#F0E442"  # the rest of Okabe and Ito's
_COLOURS = (BLUE, ORANGE, _PURPLE, _SKY, _YELLOW)
_SHAPES = (  # vis-network's, matplotlib's, as a letter
    *(("dot", "o", "●"), ("square", "s", "■"), ("triangle", "^", "▲"), ("diamond", "D", "◆")),
    *(("triangleDown", "v", "▼"), ("star", "*", "★"), ("hexagon", "h", "⬢")),
)
COMPLETE, PARTIAL, NOT_KEPT = "complete", "partial", "not kept"
_LINES = {  # colour, width, dashes of vis-network, of matplotlib, as letters
    COMPLETE: (GREEN, 5, False, "solid", "━━"),
    PARTIAL: (BLUE, 3.5, [16, 5], (0, (6, 2)), "╍╍"),
    NOT_KEPT: (GREY, 1, [3, 5], (0, (1.5, 2.5)), "┈┈"),
}


class Mark(NamedTuple):
    """How the nodes of one type look: colour, and shape in vis-network, in matplotlib and as a letter."""

    colour: str
    shape: str
    marker: str
    letter: str


OTHER = Mark(GREY, *_SHAPES[0])  # of nodes whose type is not known


def marks(types: Sequence[str]) -> dict[str, Mark]:
    """A mark for each type, in this order; up to 35 differ."""
    made = (Mark(colour, *shape) for colour, shape in zip(cycle(_COLOURS), cycle(_SHAPES)))
    return dict(zip(dict.fromkeys(name for name in types if name), made))


class Spot(NamedTuple):
    """A node of a picture: `role` is `anchor`, `kept` (on a path that is kept), `path` or `candidate`; x is to the
    right and y downwards, in columns and rows from the middle."""

    name: str
    type: str
    role: str
    hop: int
    x: float
    y: float
    gold: bool = False


class Line(NamedTuple):
    """A hop of one or more paths, between positions of spots; `status` is that of the best path over it."""

    source: int
    target: int
    status: str
    relations: Hop
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Drawing(Record):
    """What a picture shows. `left_out` nodes had no room; `types` are those that have a mark, in their order."""

    name: str
    spots: tuple[Spot, ...]
    lines: tuple[Line, ...]
    types: tuple[str, ...]
    left_out: int = 0
    labelled: bool = False  # lines have their relations written on them

    def __len__(self) -> int:
        return len(self.spots)


def drawing(
    shown: Dots, number: int = 0, iteration: int = ALL, *, types: Mapping[str, str] | None = None, limit: int = SMALL
) -> Drawing:
    """A DOT after an iteration: 0 is before the first. Anchors come first, then the nodes of kept paths, of the others,
    and candidates without a path; at most `limit` of them. `types` adds types (name → type) to those of the trace."""
    dot, known = shown.dot(number), {**shown.types, **(types or {})}
    done = [one for one in dot.iterations if one.number <= iteration]
    kept = set(done[-1].kept) if done else set()
    every, now = _names(dot, {path.id for path in dot.kept}), set(_names(dot, kept, iteration))
    placed = dict(list(_places(dot, every[:limit]).items()))
    at = {name: position for position, name in enumerate(name for name in placed if name in now)}
    paths = [path for one in done for path in one.paths]
    on_kept = {node for path in paths if path.id in kept for node in path.nodes}
    anchors = {anchor.name for anchor in dot.anchors}
    ways = {node for path in paths for node in path.nodes}

    def role(name: str) -> str:
        return "anchor" if name in anchors else "kept" if name in on_kept else "path" if name in ways else "candidate"

    spots = (Spot(name, known.get(name, ""), role(name), *placed[name], name in shown.gold) for name in at)
    return Drawing(
        f"{shown.question}: {dot.concept}",
        tuple(spots),
        tuple(_lines(paths, kept, at)),
        tuple(sorted(set(known.values()) - {""})),
        len(now) - len(at),
    )


def path_drawing(shown: Dots, path: JudgedPath, *, types: Mapping[str, str] | None = None) -> Drawing:
    """One path alone, from its anchor to its end, with its relations written on it."""
    known, middle = {**shown.types, **(types or {})}, (len(path.nodes) - 1) / 2
    last = len(path.nodes) - 1
    spots = (
        Spot(name, known.get(name, ""), "kept" if at else "anchor", at, at - middle, 0.0, name in shown.gold)
        for at, name in enumerate(path.nodes)
    )
    status = path.label if path.kept else NOT_KEPT
    lines = (Line(at, at + 1, status, path.relations[at], (path.id,)) for at in range(last))
    return Drawing(path.id, tuple(spots), tuple(lines), tuple(sorted(set(known.values()) - {""})), labelled=True)


# -- where things stand ------------------------------------------------------------------------------------------------


def _names(dot: Dot, kept: set[str], iteration: int = ALL) -> list[str]:
    """The nodes of a DOT after an iteration, most important first."""
    done = [one for one in dot.iterations if one.number <= iteration]
    paths = sorted(
        (path for one in done for path in one.paths), key=lambda path: (path.id not in kept, -path.query_similarity)
    )
    return list(
        dict.fromkeys(
            [
                *(anchor.name for anchor in dot.anchors),
                *(node for path in paths for node in path.nodes),
                *(candidate.name for one in done for candidate in one.candidates),
            ]
        )
    )


def _places(dot: Dot, names: Sequence[str]) -> dict[str, tuple[int, float, float]]:
    """Name → hop, x and y. A column or more for each hop; what no path leads to comes last. In a column a node stands
    near those that lead to it."""
    hops: dict[str, int] = {anchor.name: 0 for anchor in dot.anchors}
    before: dict[str, list[str]] = {}
    for path in dot.paths:
        for hop, (last, node) in enumerate(zip(path.nodes, path.nodes[1:]), 1):
            hops[node] = min(hop, hops.get(node, hop))
            before.setdefault(node, []).append(last)
    beyond = max(hops.values(), default=0) + 1
    layers: dict[int, list[str]] = {}
    for name in names:
        layers.setdefault(hops.get(name, beyond), []).append(name)
    rows = max(14, ceil((8 * len(names)) ** 0.5))  # so that the whole is somewhat wider than high
    placed: dict[str, tuple[int, float, float]] = {}
    column = 0
    for hop in sorted(layers):
        layer = sorted(layers[hop], key=lambda name: _height(before.get(name, ()), placed))
        size = ceil(len(layer) / ceil(len(layer) / rows))
        for start in range(0, len(layer), size):
            part = layer[start : start + size]
            for at, name in enumerate(part):
                placed[name] = hop, column, at - (len(part) - 1) / 2
            column += 1
    return {name: (hop, x - (column - 1) / 2, y) for name, (hop, x, y) in placed.items()}


def _height(names: Sequence[str], placed: Mapping[str, tuple[int, float, float]]) -> float:
    """Where nodes stand on average; in the middle where there is none."""
    found = [placed[name][2] for name in names if name in placed]
    return sum(found) / len(found) if found else 0.0


def _lines(paths: Sequence[JudgedPath], kept: set[str], at: Mapping[str, int]) -> Iterator[Line]:
    found: dict[tuple[str, str], list[tuple[JudgedPath, Hop]]] = {}
    for path in paths:
        for source, target, hop in zip(path.nodes, path.nodes[1:], path.relations):
            if source in at and target in at:
                ends = (source, target) if (target, source) not in found else (target, source)
                found.setdefault(ends, []).append((path, hop))
    for (source, target), ways in found.items():
        statuses = {path.label if path.id in kept else NOT_KEPT for path, _ in ways}
        status = next(status for status in _LINES if status in statuses)
        yield Line(at[source], at[target], status, ways[0][1], tuple(path.id for path, _ in ways))


# -- a page of its own -------------------------------------------------------------------------------------------------


def dot_data(drawn: Drawing, theme: str = "light") -> dict[str, list[dict]]:
    """Nodes and edges as vis-network takes them; ids are positions of spots."""
    return {"nodes": list(_vis_nodes(drawn, theme_named(theme))), "edges": list(_vis_edges(drawn, theme_named(theme)))}


def dot_page(drawn: Drawing, *, height: int = HEIGHT, theme: str = "light") -> str:
    """A whole HTML page that shows the picture and needs nothing besides itself."""
    return shown_page(dot_data(drawn, theme), height=height, theme=theme)


def dot_frame(drawn: Drawing, *, height: int = HEIGHT, theme: str = "light") -> str:
    """The page in a sandboxed frame, as HTML for a notebook's output and for pages made of it."""
    return framed(dot_page(drawn, height=height, theme=theme), height)


@text.register
def _(drawn: Drawing) -> str:
    cut = f"; {drawn.left_out:,} more had no room" if drawn.left_out else ""
    return f"Drawing of {clean(drawn.name, NAME)!r}: {len(drawn.spots):,} nodes, {len(drawn.lines):,} edges{cut}"


@html.register
def _(drawn: Drawing) -> str:
    return page(f"<p class='q'>{esc(text(drawn))}</p>") + dot_frame(drawn) + dot_legend(drawn)


def dot_legend(drawn: Drawing) -> str:
    """What the marks mean, as HTML."""
    parts = [(mark.colour, mark.letter, name) for name, mark in _shown_marks(drawn).items()]
    parts += [(VERMILION, "◯", "anchor"), *((colour, letter, name) for name, (colour, *_, letter) in _LINES.items())]
    shown = (f"<span style='color:{colour}'>{letter}</span> {esc(name, 40)}" for colour, letter, name in parts)
    return page(f"<p class='q'>{' &nbsp; '.join(shown)}</p>")


def _shown_marks(drawn: Drawing) -> dict[str, Mark]:
    shown = {spot.type for spot in drawn.spots}
    return {name: mark for name, mark in marks(drawn.types).items() if name in shown}


def _vis_nodes(drawn: Drawing, colours: Theme) -> Iterator[dict]:
    looks, named = marks(drawn.types), _labelled(drawn)
    high = _high(drawn)
    zoom, row = max(1.0, high * ROW / TALL) ** 0.5, max(ROW, min(2 * ROW, TALL / (high or 1)))
    for at, spot in enumerate(drawn.spots):
        look, anchor = looks.get(spot.type, OTHER), spot.role == "anchor"
        yield {
            "id": at,
            "label": _label(spot) if at in named else "",
            "says": _says(spot),
            "shape": look.shape,
            "size": {"anchor": 13, "kept": 11, "path": 8, "candidate": 7}[spot.role] * zoom,
            "x": spot.x * COLUMN,
            "y": spot.y * row,
            "borderWidth": 3 * zoom if anchor else 1,
            "color": {"background": look.colour, "border": VERMILION if anchor else colours.paper},
            "font": {
                "color": colours.ink,
                "size": (16 if spot.role in ("anchor", "kept") else 12) * zoom,
                "strokeWidth": 3 * zoom,
                "strokeColor": colours.paper,
            },
        }


def _vis_edges(drawn: Drawing, colours: Theme) -> Iterator[dict]:
    for line in drawn.lines:
        colour, width, dashes, *_ = _LINES[line.status]
        ends = " — ".join(clean(drawn.spots[end].name, 80) for end in (line.source, line.target))
        yield {
            "from": line.source,
            "to": line.target,
            "says": f"{ends}\n{clean(hop_says(line.relations), 300)}\n{line.status}: {_some(line.paths)}",
            "width": width,
            "dashes": dashes,
            "color": {"color": colour, "opacity": 0.9 if line.status != NOT_KEPT else 0.6},
            **(_written(line, colours) if drawn.labelled else {}),
        }


def _written(line: Line, colours: Theme) -> dict:
    """The relations of a line, written on it, with heads of arrows in the directions of the graph."""
    forward = {way for _, way in line.relations}
    arrows = ",".join(name for name, way in (("to", True), ("from", False)) if way in forward)
    font = {"color": colours.ink, "size": 12, "strokeWidth": 4, "strokeColor": colours.paper, "vadjust": -9}
    return {"arrows": arrows, "label": short(" / ".join(label for label, _ in line.relations), LABEL), "font": font}


def _says(spot: Spot) -> str:
    kind = clean(spot.type, 80) or "type not in the trace"
    where = {"anchor": "anchor", "candidate": "candidate, no path leads to it"}.get(spot.role, f"at hop {spot.hop}")
    return f"{clean(spot.name, 300)}{' (gold)' if spot.gold else ''}\n{kind}, {where}"


def _label(spot: Spot) -> str:
    return short(spot.name, 28) + (" (gold)" if spot.gold else "")


def _labelled(drawn: Drawing) -> set[int]:
    """Positions of the spots that keep their label: anchors and kept ones, then as many as there is room for."""
    order = sorted(
        range(len(drawn)), key=lambda at: ("anchor", "kept", "path", "candidate").index(drawn.spots[at].role)
    )
    return set(order[:LABELLED])


def _high(drawn: Drawing) -> float:
    """Rows from the highest to the lowest. The page shrinks until all fits, so marks and words of many are larger."""
    ys = [spot.y for spot in drawn.spots] or [0.0]
    return max(ys) - min(ys)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


# -- the figure --------------------------------------------------------------------------------------------------------


def dot_figure(drawn: Drawing) -> Picture:
    """The static twin: the same places, colours and marks."""
    figure = Figure(figsize=(8.8, 2.2 if drawn.labelled else 5.2), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.axis("off")
    axes.margins(0.12)
    places = [(spot.x, -spot.y) for spot in drawn.spots]
    for status, (colour, width, _, dashes, _) in reversed(_LINES.items()):
        lines = [(places[line.source], places[line.target]) for line in drawn.lines if line.status == status]
        axes.add_collection(
            LineCollection(lines, colors=colour, linestyles=[dashes], linewidths=0.7 * width, alpha=0.9)
        )
    looks = marks(drawn.types)
    for spot, place in zip(drawn.spots, places):
        look, anchor = looks.get(spot.type, OTHER), spot.role == "anchor"
        axes.plot(
            *place, linestyle="", marker=look.marker, color=look.colour, zorder=3,
            markersize={"anchor": 10, "kept": 9, "path": 6, "candidate": 5}[spot.role],
            markeredgecolor=VERMILION if anchor else "white", markeredgewidth=2 if anchor else 0.5,
        )  # fmt: skip
    around = [Stroke(linewidth=2, foreground="white"), Normal()]
    for at in sorted(_labelled(drawn)):
        axes.annotate(
            _plain(_label(drawn.spots[at])), places[at], xytext=(0, -8), textcoords="offset points", ha="center",
            va="top", fontsize=7, path_effects=around,
        )  # fmt: skip
    for line in drawn.lines if drawn.labelled else ():
        (x, y), (to, _) = places[line.source], places[line.target]
        axes.annotate(
            _plain(short(hop_says(line.relations), LABEL)), ((x + to) / 2, y), xytext=(0, 5),
            textcoords="offset points", ha="center", fontsize=7, path_effects=around,
        )  # fmt: skip
    axes.set_title(_plain(short(drawn.name, 110)), loc="left", fontsize=9)
    figure.legend(handles=list(_handles(drawn)), loc="outside lower left", ncols=6, frameon=False, fontsize=7)
    return Picture(figure, text(drawn))


def _handles(drawn: Drawing) -> Iterator[Line2D]:
    for name, look in _shown_marks(drawn).items():
        yield Line2D([], [], linestyle="", marker=look.marker, color=look.colour, label=_plain(short(name, 30)))
    yield Line2D([], [], linestyle="", marker="o", color="white", markeredgecolor=VERMILION, label="anchor")
    for name, (colour, width, _, dashes, _) in _LINES.items():
        yield Line2D([], [], color=colour, linewidth=0.7 * width, linestyle=dashes, label=name)


def _plain(label: str) -> str:
    """A label: matplotlib would read dollar signs as mathematics."""
    return label.replace("$", r"\$")
