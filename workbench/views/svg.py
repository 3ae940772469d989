"""A drawing as SVG: a still picture for pages that run no program. It takes ink and paper from the page around it, so
the same picture fits a light and a dark one; tooltips are titles, and nothing in it loads or runs anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from workbench.views.base import esc
from workbench.views.drawing import Drawing, DrawnEdge, DrawnNode, EdgeStyle
from workbench.views.palette import VERMILION

WIDTH = 720  # units of the picture; a page scales it to its own width
FONT, LETTER = 12, 6.6  # of labels, and the width of a letter in them
SIDE, EDGE = 70, 34  # margins: at the sides there are labels, above and below marks only
LETTERS = 30  # of a label
TOOLTIP = 240  # letters
FAINT = 0.6  # opacity of the lines of which there are many
TURN = {"square": 4, "diamond": 4, "triangle": 3, "triangleDown": 3, "hexagon": 6}  # corners


def drawing_svg(drawing: Drawing, whole: Drawing | None = None) -> str:
    """The picture without its legend; empty for a drawing without nodes. `whole` is the last of a series, in which
    every node keeps its place."""
    if not drawing.nodes:
        return ""
    height = max(120, round(WIDTH * drawing.inches[1] / drawing.inches[0]))
    places = list(_places(drawing, whole or drawing, height))
    return (
        f'<svg class="hopscope-drawing" viewBox="0 0 {WIDTH} {height}" role="img" font-size="{FONT}" '
        'fill="currentColor">'
        f"<title>{esc(drawing.name, 200)}</title>"
        + "".join(_edges(drawing, places))
        + f"<g class='marks'>{''.join(map(_mark, drawing.nodes, places))}</g>"
        + "".join(_labels(drawing, places))
        + "</svg>"
    )


def _places(drawing: Drawing, whole: Drawing, height: float) -> Iterator[tuple[float, float]]:
    """Positions with which the whole fills the picture; a row or a column of nodes stands in its middle."""
    scale = [
        _scale([getattr(node, axis) for node in whole.nodes], least, most)
        for axis, least, most in (("x", SIDE, WIDTH - SIDE), ("y", EDGE, height - EDGE))
    ]
    yield from ((scale[0](node.x), scale[1](node.y)) for node in drawing.nodes)


def _scale(values: list[float], least: float, most: float) -> Callable[[float], float]:
    low, high = min(values), max(values)
    if high - low < 1e-9:
        return lambda value: (least + most) / 2
    return lambda value: least + (value - low) / (high - low) * (most - least)


def _radius(node: DrawnNode) -> float:
    return max(3.0, 0.75 * node.points)


def _mark(node: DrawnNode, place: tuple[float, float]) -> str:
    (x, y), radius = place, _radius(node)
    border = f' stroke="{VERMILION}" stroke-width="2.5"' if node.outline else ""
    shape, title = node.style.shape, f"<title>{esc(node.tooltip or node.name, TOOLTIP)}</title>"
    if shape in TURN or shape == "star":
        points = " ".join(f"{x + dx:.0f},{y + dy:.0f}" for dx, dy in _corners(shape, 1.25 * radius))
        return f'<polygon points="{points}" fill="{node.style.colour}"{border}>{title}</polygon>'
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:.3g}" fill="{node.style.colour}"{border}>{title}</circle>'


def _corners(shape: str, radius: float) -> Iterator[tuple[float, float]]:
    count = 10 if shape == "star" else TURN[shape]
    start = {"square": math.pi / 4, "triangleDown": math.pi / 2}.get(shape, -math.pi / 2)
    for at in range(count):
        reach = radius * (0.45 if shape == "star" and at % 2 else 1)
        angle = start + 2 * math.pi * at / count
        yield reach * math.cos(angle), reach * math.sin(angle)


def _edges(drawing: Drawing, places: list[tuple[float, float]]) -> Iterator[str]:
    """The lines, each style in a group of its own, and then their labels. Those that are faint have no tooltip: there
    may be hundreds, and the tables beside the picture name them."""
    groups: dict[EdgeStyle, list[str]] = {}
    labels = []
    for edge in drawing.edges:
        ends = places[edge.source], places[edge.target]
        if ends[0] != ends[1]:
            groups.setdefault(edge.style, []).append(_edge(edge, *ends, drawing.nodes))
            if edge.label:
                x, y = ((one + other) / 2 for one, other in zip(*ends))
                labels.append(_text(edge.label, x, y - 5, ' text-anchor="middle" font-size="11"'))
    for style, lines in groups.items():
        yield (
            f'<g opacity="{style.opacity:g}" fill="{style.colour}" stroke="{style.colour}" '
            f'stroke-width="{_thickness(style.width):g}">{"".join(lines)}</g>'
        )
    yield from labels


def _thickness(width: float) -> float:
    return round(max(0.6, 0.6 * width), 1)


def _edge(edge: DrawnEdge, start: tuple[float, float], end: tuple[float, float], nodes: tuple[DrawnNode, ...]) -> str:
    """A line, or a bow, that ends at the marks; arrow heads are drawn by hand, because a marker needs a name."""
    (x1, y1), (x2, y2), style = start, end, edge.style
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    bend = (x1 + x2) / 2 + dy * edge.curve * length, (y1 + y2) / 2 - dx * edge.curve * length
    way = f"Q{bend[0]:.0f} {bend[1]:.0f} {x2:.0f} {y2:.0f}" if edge.curve else f"L{x2:.0f} {y2:.0f}"
    dashes = f' stroke-dasharray="{style.dashes[0] / 2:g} {style.dashes[1]:g}"' if style.dashes else ""
    own = "" if edge.width is None else f' stroke-width="{_thickness(edge.width):g}"'
    own += f' opacity="{edge.fade:g}"' if edge.fade < 1 else ""
    title = f"<title>{esc(edge.tooltip, TOOLTIP)}</title>" if style.opacity > FAINT and edge.tooltip else ""
    line = f'<path d="M{x1:.0f} {y1:.0f}{way}" fill="none"{dashes}{own}>{title}</path>'
    ends = {"to": (edge.target, end, (dx, dy)), "from": (edge.source, start, (-dx, -dy))}
    return line + "".join(
        _head(place, toward, _radius(nodes[at]), 5 + _thickness(edge.width or style.width))
        for name, (at, place, toward) in ends.items()
        if name in edge.arrows.split(",")
    )


def _head(place: tuple[float, float], toward: tuple[float, float], radius: float, size: float) -> str:
    (x, y), (dx, dy) = place, toward
    x, y = x - dx * (radius + 1), y - dy * (radius + 1)
    left, right = ((x - dx * size + side * dy * size / 2, y - dy * size - side * dx * size / 2) for side in (1, -1))
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((x, y), left, right))
    return f'<polygon points="{points}" stroke="none"/>'


def _text(words: str, x: float, y: float, look: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}"{look}>{esc(words, LETTERS + 20)}</text>'


def _labels(drawing: Drawing, places: list[tuple[float, float]]) -> Iterator[str]:
    """The labels that find room beside their mark, the larger marks first; the tooltip has the others."""
    taken: list[tuple[float, float, float, float]] = [
        (x - _radius(node), y - _radius(node), x + _radius(node), y + _radius(node))
        for node, (x, y) in zip(drawing.nodes, places)
    ]
    order = sorted(range(len(places)), key=lambda at: (-bool(drawing.nodes[at].outline), -drawing.nodes[at].points))
    for at in order:
        node, (x, y) = drawing.nodes[at], places[at]
        if not node.label:
            continue
        label = node.label if len(node.label) <= LETTERS else node.label[: LETTERS - 1] + "…"
        width, radius = LETTER * len(label), _radius(node)
        middle = min(max(x, width / 2 + 2), WIDTH - width / 2 - 2) - width / 2
        seats = (
            (middle, y + radius + FONT),
            (x + radius + 4, y + 4),
            (middle, y - radius - 4),
            (x - radius - 4 - width, y + 4),
        )
        for left, baseline in seats:
            box = (left, baseline - FONT + 3, left + width, baseline + 3)
            if left >= 0 and box[2] <= WIDTH and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield _text(label, left, baseline)
                break


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def drawing_legend_svg(drawing: Drawing) -> str:
    """The meaning of the marks, each drawn as in the picture."""
    size, entries = 15, []
    for style in (*drawing.node_styles, *drawing.types):
        entries.append((_mark(DrawnNode(0, style.name, style, 0, 0, points=6), (size / 2, size / 2)), size, style.name))
    if drawing.outlined:
        ring = f'<circle cx="7.5" cy="7.5" r="5" fill="none" stroke="{VERMILION}" stroke-width="2.5"/>'
        entries.append((ring, size, drawing.outlined))
    for style in drawing.edge_styles:
        dashes = f' stroke-dasharray="{style.dashes[0] / 2:g} {style.dashes[1]:g}"' if style.dashes else ""
        line = (
            f'<line x1="0" y1="7.5" x2="30" y2="7.5" stroke="{style.colour}" '
            f'stroke-width="{_thickness(style.width):g}" opacity="{style.opacity:g}"{dashes}/>'
        )
        entries.append((line, 2 * size, style.name))
    shown = (
        f'<span><svg width="{width}" height="{size}" viewBox="0 0 {width} {size}" aria-hidden="true">{mark}</svg>'
        f"{esc(name, 40)}</span>"
        for mark, width, name in entries
    )
    left_out = f" &nbsp; {drawing.left_out:,} more had no room" if drawing.left_out else ""
    return f"<p class='legend'>{' '.join(shown)}{left_out}</p>"
