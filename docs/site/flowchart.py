"""Flow charts of the documents, written for mermaid, as pictures: a page that opens from a disk runs no program for
them."""

from __future__ import annotations

import re
import textwrap
from html import escape

import igraph

ACROSS, DOWN, LETTER, LINE, EDGE = 92, 62, 6.6, 14, 4  # pixels: between boxes, of a letter, a line, the margin
WIDEST = 34  # letters of a line in a box
_CHART = re.compile(r"```mermaid\nflowchart BT\n(.*?)```", re.DOTALL)


def drawn(document: str) -> str:
    """The document with every flow chart in place of its source."""
    return _CHART.sub(lambda found: svg(found[1]), document)


def svg(chart: str) -> str:
    """A chart of lines `a --> b` and `a["label"]`, from the bottom up; colours are those of the page."""
    labels = dict(re.findall(r'(\w+)\["(.*?)"\]', chart))
    arrows = re.findall(r"(\w+) --> (\w+)", chart)
    names = list(dict.fromkeys([*labels, *(name for arrow in arrows for name in arrow)]))
    graph = igraph.Graph(len(names), [(names.index(a), names.index(b)) for a, b in arrows], directed=True)
    places = graph.layout_sugiyama(maxiter=1000).coords[: len(names)]
    lines = [textwrap.wrap(labels.get(name, name), WIDEST) for name in names]
    half = [(max(map(len, text)) * LETTER / 2 + 8, len(text) * LINE / 2 + 5) for text in lines]
    left = min(x * ACROSS - w for (x, _), (w, _) in zip(places, half))
    top = min(y * DOWN - h for (_, y), (_, h) in zip(places, half))
    at = [(EDGE + x * ACROSS - left, EDGE + y * DOWN - top) for x, y in places]
    width, height = (EDGE + max(one[axis] + of[axis] for one, of in zip(at, half)) for axis in (0, 1))
    parts = [
        f'<svg class="flowchart" viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-size="12" fill="none">',
        "<title>Which part imports which</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>',
    ]
    for one, other in graph.get_edgelist():
        (x, y), (u, v) = at[one], at[other]
        parts.append(
            f'<path d="M{x:.0f} {y + half[one][1]:.0f}L{u:.0f} {v - half[other][1]:.0f}" stroke="currentColor" '
            'opacity=".45" marker-end="url(#tip)"/>'
        )
    for (x, y), (w, h), text in zip(at, half, lines):
        box = f'x="{x - w:.0f}" y="{y - h:.0f}" width="{2 * w:.0f}" height="{2 * h:.0f}" rx="4"'
        parts.append(f'<rect {box} class="box" stroke="currentColor"/>')
        for row, line in enumerate(text):
            middle = y + (row - (len(text) - 1) / 2) * LINE + 4
            parts.append(
                f'<text x="{x:.0f}" y="{middle:.0f}" fill="currentColor" text-anchor="middle">{escape(line)}</text>'
            )
    return "".join([*parts, "</svg>"]) + "\n"
