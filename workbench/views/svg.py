"""A drawing as SVG: a still picture for pages that run no program. It takes ink and paper from the page around it, so
the same picture fits a light and a dark one; tooltips are titles, and nothing in it loads or runs anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from workbench.views.base import esc
from workbench.views.drawing import Drawing, DrawnEdge, DrawnNode
from workbench.views.palette import VERMILION

WIDTH = 880  # units of the picture; a page scales it to its own width
FONT, ROW = 12, 15  # of labels
SIDE, EDGE = 70, 34  # margins: at the sides there are labels, above and below marks only
LETTERS = 30  # of a label
TURN = {"square": 4, "diamond": 4, "triangle": 3, "triangleDown": 3, "hexagon": 6}  # corners


def drawing_svg(drawing: Drawing) -> str:
    """The picture without its legend; empty for a drawing without nodes."""
    if not drawing.nodes:
        return ""
    height = max(120, round(WIDTH * drawing.inches[1] / drawing.inches[0]))
    places = list(_places(drawing, height))
    return (
        f'<svg class="hopscope-drawing" viewBox="0 0 {WIDTH} {height}" role="img" font-size="{FONT}">'
        f"<title>{esc(drawing.name, 200)}</title>"
        + "".join(_edge(edge, places, drawing.nodes) for edge in drawing.edges)
        + "".join(_mark(node, place) for node, place in zip(drawing.nodes, places))
        + "".join(_labels(drawing, places))
        + "</svg>"
    )


def _places(drawing: Drawing, height: float) -> Iterator[tuple[float, float]]:
    """Positions that fill the picture; a row or a column of nodes stands in its middle."""
    scale = [
        _scale([getattr(node, axis) for node in drawing.nodes], least, most)
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
    border = f' stroke="{VERMILION}" stroke-width="2.5"' if node.outline else ' class="paper-line"'
    shape = node.style.shape
    if shape in TURN or shape == "star":
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in _corners(shape, 1.25 * radius))
        drawn = f'<polygon points="{points}" fill="{node.style.colour}"{border}>'
        end = "</polygon>"
    else:
        drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{node.style.colour}"{border}>'
        end = "</circle>"
    return f"{drawn}<title>{esc(node.tooltip or node.name, 600)}</title>{end}"


def _corners(shape: str, radius: float) -> Iterator[tuple[float, float]]:
    count = 10 if shape == "star" else TURN[shape]
    start = {"square": math.pi / 4, "triangleDown": math.pi / 2}.get(shape, -math.pi / 2)
    for at in range(count):
        reach = radius * (0.45 if shape == "star" and at % 2 else 1)
        angle = start + 2 * math.pi * at / count
        yield reach * math.cos(angle), reach * math.sin(angle)


def _edge(edge: DrawnEdge, places: list[tuple[float, float]], nodes: tuple[DrawnNode, ...]) -> str:
    """A line, or a bow, that ends at the marks; arrow heads are drawn by hand, because a marker needs a name."""
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    length = math.hypot(x2 - x1, y2 - y1)
    if length < 1e-9:
        return ""
    width = max(0.6, 0.6 * (edge.style.width if edge.width is None else edge.width))
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    bend = (x1 + x2) / 2 + dy * edge.curve * length, (y1 + y2) / 2 - dx * edge.curve * length
    dashes = f' stroke-dasharray="{edge.style.dashes[0] / 2:g} {edge.style.dashes[1]:g}"' if edge.style.dashes else ""
    way = f"Q{bend[0]:.1f} {bend[1]:.1f} {x2:.1f} {y2:.1f}" if edge.curve else f"L{x2:.1f} {y2:.1f}"
    ends = {"to": (edge.target, (dx, dy)), "from": (edge.source, (-dx, -dy))}
    heads = "".join(
        _head(places[at], toward, _radius(nodes[at]), width, edge.style.colour)
        for name, (at, toward) in ends.items()
        if name in edge.arrows.split(",")
    )
    label = (
        f'<text class="halo" x="{(x1 + x2) / 2:.1f}" y="{(y1 + y2) / 2 - 5:.1f}" text-anchor="middle" '
        f'fill="currentColor" font-size="11">{esc(edge.label, LETTERS)}</text>'
        if edge.label
        else ""
    )
    return (
        f'<g opacity="{edge.style.opacity:g}"><title>{esc(edge.tooltip, 600)}</title>'
        f'<path d="M{x1:.1f} {y1:.1f}{way}" fill="none" stroke="{edge.style.colour}" '
        f'stroke-width="{width:.1f}"{dashes}/>{heads}</g>{label}'
    )


def _head(
    place: tuple[float, float], toward: tuple[float, float], radius: float, width: float, colour: str
) -> str:
    (x, y), (dx, dy), size = place, toward, 5 + width
    x, y = x - dx * (radius + 1), y - dy * (radius + 1)
    left, right = (
        (x - dx * size + side * dy * size / 2, y - dy * size - side * dx * size / 2) for side in (1, -1)
    )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((x, y), left, right))
    return f'<polygon points="{points}" fill="{colour}"/>'


def _labels(drawing: Drawing, places: list[tuple[float, float]]) -> Iterator[str]:
    """The labels that find room below or above their mark, the larger marks first; the tooltip has the others."""
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
        half, radius = 0.29 * FONT * len(label), _radius(node)
        x = min(max(x, half + 2), WIDTH - half - 2)
        for baseline in (y + radius + FONT, y - radius - 4):
            box = (x - half, baseline - FONT + 2, x + half, baseline + 3)
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield (
                    f'<text class="halo" x="{x:.1f}" y="{baseline:.1f}" text-anchor="middle" fill="currentColor">'
                    f"{esc(label, LETTERS)}</text>"
                )
                break


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def drawing_legend_svg(drawing: Drawing) -> str:
    """The meaning of the marks, each drawn as in the picture."""
    size, entries = 15, []
    for style in drawing.node_styles:
        entries.append((_mark(DrawnNode(0, style.name, style, 0, 0, points=6), (size / 2, size / 2)), size, style.name))
    if drawing.outlined:
        ring = f'<circle cx="7.5" cy="7.5" r="5" fill="none" stroke="{VERMILION}" stroke-width="2.5"/>'
        entries.append((ring, size, drawing.outlined))
    for style in drawing.edge_styles:
        dashes = f' stroke-dasharray="{style.dashes[0] / 2:g} {style.dashes[1]:g}"' if style.dashes else ""
        line = (
            f'<line x1="0" y1="7.5" x2="30" y2="7.5" stroke="{style.colour}" '
            f'stroke-width="{max(0.8, 0.6 * style.width):.1f}" opacity="{style.opacity:g}"{dashes}/>'
        )
        entries.append((line, 2 * size, style.name))
    shown = (
        f'<svg width="{width}" height="{size}" viewBox="0 0 {width} {size}" aria-hidden="true">{mark}</svg>'
        f"{esc(name, 40)}"
        for mark, width, name in entries
    )
    left_out = f" &nbsp; {drawing.left_out:,} more had no room" if drawing.left_out else ""
    return f"<p class='legend'>{' &nbsp; '.join(shown)}{left_out}</p>"
