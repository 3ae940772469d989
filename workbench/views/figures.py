"""The figures of records: of an index, a ranking, a walk, a drawing, a map, curves, and verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle

from workbench.encoding.similarity import top
from workbench.index.graph import Graph
from workbench.operators.neighbourhood import Subgraph
from workbench.operators.walk_distribution import WalkDistribution
from workbench.records import Evidence
from workbench.views import charts
from workbench.views.charts import Label, Picture, plain_label
from workbench.views.drawing import SHAPES, Drawing, DrawnEdge, DrawnNode, Map, NodeStyle, drawing_entries, entry_name
from workbench.views.node_details import graph_drawing
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION

CROWDED = 200  # nodes from which on marks and lines are small
LABELS = 40  # names that a map gets


def degree_figure(graph: Graph) -> Picture:
    """How many phrases have at least a given degree, per kind of edge; both axes logarithmic."""
    curves: dict[str, dict[float, float]] = {}
    kinds = (("relation", graph.relation), ("synonym", graph.synonym), ("context", graph.context.T))
    for name, matrix in kinds:
        degrees = np.diff(matrix.tocsr().indptr)
        values, counts = np.unique(degrees[degrees > 0], return_counts=True)
        if len(values):
            curves[f"{name} edges"] = dict(zip(values.tolist(), counts[::-1].cumsum()[::-1].tolist()))
    figure, (axes,) = charts.panels(5.2, 3.4, ends=curves)
    named = charts.lines(axes, curves)
    axes.set(xscale="log", yscale="log", xlabel="edges of a phrase (at least)", ylabel="phrases")
    description = "how many phrases have at least a given number of edges, per kind of edge"
    data = _long(curves, ("kind", "at least", "phrases"))
    return charts.picture(figure, description, data, named, heading="Degrees of the phrases")


def ranking_figure(evidence: Evidence, other: Evidence, gold: Sequence[str] = (), k: int = 10) -> Picture:
    """The ranks of the best k passages of one evidence in another's ranking; gold passages are marked."""
    best, ranks = evidence.passages[:k], {name: rank for rank, (name, _) in enumerate(other.ranking, 1)}
    figure, (axes,) = charts.bars(4.4, (passage.title or passage.text for passage, _ in best), 40, row=0.3, extra=1.3)
    for at, (passage, _) in enumerate(best):
        look = {"color": VERMILION, "marker": "D"} if passage.id in gold else {"color": BLUE, "marker": "o"}
        if before := ranks.get(passage.id):
            axes.plot([before, at + 1], [at, at], color=GREY, linewidth=1, zorder=1)
            axes.plot(before, at, **look, markerfacecolor="white", linestyle="")
        axes.plot(at + 1, at, **look, linestyle="")
    axes.set_xlabel("rank")
    charts.whole_numbers(axes.xaxis)
    hollow = {"color": BLUE, "marker": "o", "linestyle": "", "markerfacecolor": "white"}
    charts.legend(figure, {
        evidence.method: hollow | {"markerfacecolor": BLUE}, other.method: hollow,
        **({"gold": {"color": VERMILION, "marker": "D", "linestyle": ""}} if gold else {}),
    })  # fmt: skip
    columns = ["passage", "title", evidence.method, f"by {other.method}", "gold"]
    data = charts.table(columns, (
        (passage.id, passage.title, rank, ranks.get(passage.id), passage.id in gold)
        for rank, (passage, _) in enumerate(best, 1)
    ))  # fmt: skip
    description = f"ranks of the best {len(best)} passages of {evidence.method} and of {other.method}"
    return charts.picture(figure, description, data, heading=evidence.question)


def walk_figure(walk: WalkDistribution, gold: Sequence[str] = (), k: int = 10) -> Picture:
    """The k passages with the highest probability in the walk, as bars, next to their dense scores and ranks. Gold
    passages are hatched."""
    passages = walk.index.passages.passages
    best = top(walk.on_passages if walk.pagerank else walk.dense, k).tolist()
    ranks = {row: rank for rank, row in enumerate(top(walk.dense, len(passages)).tolist(), 1)}
    names = [passages[row].title or passages[row].text for row in best]
    figure, (left, right) = charts.bars(5.4, names, 40, columns=2, row=0.3, extra=1.3)
    for axes, values, colour, label in (
        (left, walk.on_passages, BLUE, "probability after the walk" if walk.pagerank else "no walk"),
        (right, walk.dense, ORANGE, "dense score, and rank"),
    ):
        for at, row in enumerate(best):
            axes.barh(at, values[row], height=0.7, **charts.bar(colour, "///" if passages[row].id in gold else ""))
        axes.set_xlabel(label)
        axes.margins(x=0.18)
    for at, row in enumerate(best):
        right.text(walk.dense[row], at, f" {ranks[row]}", va="center", fontsize=charts.SMALL, color=GREY)
    data = charts.table(["passage", "title", "probability", "dense score", "dense rank"], (
        (passages[row].id, passages[row].title, walk.on_passages[row], walk.dense[row], ranks[row]) for row in best
    ))  # fmt: skip
    title = walk.question + ("  (hatched: gold)" if gold else "")
    return charts.picture(figure, f"walk and dense score of the best {len(best)} passages", data, heading=title)


def graph_figure(subgraph: Subgraph) -> Picture:
    return drawing_figure(graph_drawing(subgraph))


def drawing_figure(drawing: Drawing) -> Picture:
    """The drawing for print, with the positions, colours and marks of its page."""
    figure, (axes,) = charts.panels(*drawing.inches)
    axes.axis("off")
    axes.margins(0.1)
    places = np.array([(node.x, -node.y) for node in drawing.nodes]).reshape(-1, 2)
    thin = 1.0 if len(drawing) <= CROWDED else 0.35
    _draw_edges(axes, drawing, places, thin)
    for style in dict.fromkeys([*drawing.node_styles, *(node.style for node in drawing.nodes)]):
        _draw_nodes(axes, style, [(node, at) for node, at in zip(drawing.nodes, places) if node.style == style], thin)
    charts.legend(figure, _legend_of(drawing))
    names = [node.name for node in drawing.nodes]
    edges = charts.table(["from", "to", "kind", "label", "text"], (
        (names[edge.source], names[edge.target], edge.style.name, edge.label, edge.tooltip) for edge in drawing.edges
    ))  # fmt: skip
    return charts.picture(figure, repr(drawing), edges, _names(axes, drawing, places), heading=drawing.name)


def map_figure(disc_map: Map, labels: int = LABELS) -> Picture:
    """The map for print, with the places, colours and marks of its page, and its first labels."""
    figure, (axes,) = charts.panels(9.6, 6.4)
    axes.axis("off")
    axes.set_aspect("equal")
    places = disc_map.places * (1, -1)
    for style, look in enumerate(disc_map.edge_styles):
        ends = places[disc_map.edges[disc_map.edge_style == style]]
        axes.add_collection(
            LineCollection(ends, colors=look.colour, linewidths=look.linewidth, alpha=look.opacity, zorder=0)
        )
    for row in range(disc_map.discs):
        colour = disc_map.node_styles[disc_map.style[row]].colour
        axes.add_patch(Circle(places[row], disc_map.radii[row], facecolor=f"{colour}22", edgecolor=colour, zorder=1))
    points = np.arange(len(disc_map)) >= disc_map.discs
    for style, look in enumerate(disc_map.node_styles):
        here = points & (disc_map.style == style)
        axes.scatter(
            *places[here].T, s=6 if disc_map.discs else 22, c=look.colour, marker=SHAPES[look.shape][0], zorder=2
        )
    rings = places[list(disc_map.rings)].reshape(-1, 2)
    axes.scatter(*rings.T, s=60, facecolors="none", edgecolors=VERMILION, linewidths=1.6, zorder=3)
    axes.autoscale_view()
    charts.legend(figure, _legend_of(disc_map))
    named = [row for row, label in enumerate(disc_map.labels) if label][:labels]
    gap = 0 if disc_map.discs else 5
    written = [
        Label(axes, plain_label(disc_map.labels[row], 30), charts.around(*places[row], gap), size=6) for row in named
    ]
    kinds = (disc_map.node_styles[style].name for style in disc_map.style)
    data = charts.table(["kind", "x", "y", "label"], zip_longest(kinds, *places.T.tolist(), disc_map.labels))
    return charts.picture(figure, repr(disc_map), data, written, heading=disc_map.name)


def _names(axes: Axes, drawing: Drawing, places: np.ndarray) -> Iterator[Label]:
    """Labels by precedence: signs and numbers of edges, names of nodes by importance, names that fit on their edges."""
    ends = places[[(edge.source, edge.target) for edge in drawing.edges]].reshape(-1, 2, 2)
    wide, high = (np.ptp(places, axis=0) if len(places) else np.ones(2)) + 1e-9
    point = np.array([wide / (60 * drawing.inches[0]), high / (52 * drawing.inches[1])])  # 1 / 72 inch, without margins
    lengths = np.linalg.norm((ends[:, 0] - ends[:, 1]) / point, axis=1)
    labelled = [
        (edge, _along(*between), bool(re.search(r"[^\W\d]", edge.label)), length)
        for edge, between, length in zip(drawing.edges, ends, lengths)
        if edge.label
    ]
    for edge, spots, words, _ in labelled:
        if not words:
            yield Label(axes, plain_label(edge.label, 40), spots, size=6)
    for at in sorted(range(len(places)), key=lambda at: _importance(drawing.nodes[at]), reverse=True):
        node = drawing.nodes[at]
        if node.label:
            spots = [(*places[at], (0, -4 - 0.3 * node.size), "center", "top"), *charts.around(*places[at], 7)]
            yield Label(axes, plain_label(node.label, 60), spots, size=min(7, 0.55 * node.font))
    for edge, spots, words, length in labelled:
        if words and length >= 4 * len(edge.label):
            yield Label(axes, plain_label(edge.label, 60), spots, size=6)


def _along(start: np.ndarray, end: np.ndarray) -> list[tuple]:
    """The spots above and below an edge, from its middle on."""
    places = [start + share * (end - start) for share in (0.5, 0.38, 0.62, 0.26, 0.74)]
    return [(*place, (0, up), "center", side) for place in places for up, side in ((3, "bottom"), (-3, "top"))]


def _importance(node: DrawnNode) -> tuple[float, ...]:
    """The precedence of a page: outlined nodes, then larger letters, then larger nodes."""
    return (node.outline, node.font, node.size)


def _draw_edges(axes: Axes, drawing: Drawing, places: np.ndarray, thin: float) -> None:
    """Lines by style, the first style on top; edges with a direction as arrows."""
    for depth, style in enumerate(drawing.edge_styles):
        lines = [edge for edge in drawing.edges if edge.style == style and not edge.arrows]
        ends = [places[[edge.source, edge.target]] for edge in lines]
        colours = [to_rgba(style.colour, style.opacity * edge.fade) for edge in lines]
        axes.add_collection(
            LineCollection(ends, colors=colours, linestyles=[style.linestyle], linewidths=thin * style.linewidth,
                           zorder=1 - 0.01 * depth)
        )  # fmt: skip
    for edge in drawing.edges:
        if edge.arrows:
            _draw_arrow(axes, edge, places[edge.source], places[edge.target])


def _draw_arrow(axes: Axes, edge: DrawnEdge, start: np.ndarray, end: np.ndarray) -> None:
    look = {"to": "->", "from": "<-", "to,from": "<->"}[edge.arrows]
    style = {"color": edge.style.colour, "linewidth": edge.style.linewidth, "linestyle": edge.style.linestyle}
    style |= {"connectionstyle": f"arc3,rad={edge.curve}"} if edge.curve else {}
    axes.annotate("", end, start, arrowprops={"arrowstyle": look, "shrinkA": 6, "shrinkB": 6, **style}, zorder=1)


def _draw_nodes(axes: Axes, style: NodeStyle, nodes: Sequence[tuple[DrawnNode, np.ndarray]], thin: float) -> None:
    axes.scatter(
        [x for _, (x, _) in nodes], [y for _, (_, y) in nodes],
        s=[(thin * (0.55 * node.size + 2)) ** 2 for node, _ in nodes],
        c=style.colour, marker=SHAPES[style.shape][0], zorder=2,
        edgecolors=[VERMILION if node.outline else GREY for node, _ in nodes] or None,
        linewidths=[2 if node.outline else 0.5 for node, _ in nodes] or None,
    )  # fmt: skip


def _legend_of(drawing: Drawing | Map) -> dict[str, dict]:
    """The looks of the marks in the picture, by name."""
    marks, entries = {"linestyle": "", "markersize": 6}, {entry["name"] for entry in drawing_entries(drawing)}
    looks: dict[str, dict] = {
        style.name: {"marker": SHAPES[style.shape][0], "color": style.colour, **marks}
        for style in (*drawing.node_styles, *getattr(drawing, "types", ()))  # a map has its types among its styles
        if entry_name(style.name) in entries
    }
    if drawing.outlined and entry_name(drawing.outlined) in entries:
        looks[drawing.outlined] = {"marker": "o", "color": "white", "markeredgecolor": VERMILION, **marks}
    for style in drawing.edge_styles:
        if entry_name(style.name) in entries:
            looks[style.name] = {"color": style.colour, "linewidth": style.linewidth, "linestyle": style.linestyle}
    return looks


def recall_figure(curves: Mapping[str, Mapping[int, float]], measure: str = "recall") -> Picture:
    """method → {k: value}, as lines over k."""
    figure, (axes,) = charts.panels(4.6, 3.2, ends=(plain_label(name, 80) for name in curves))
    named = charts.lines(axes, curves)
    axes.set(xlabel="k, passages", ylabel=f"{measure}@k", ylim=(0, 1.02))
    charts.spaced(axes, (k for curve in curves.values() for k in curve))
    if not any(curves.values()):
        missing = "no gold passages:\nrecall is not defined"
        axes.text(0.5, 0.5, missing, transform=axes.transAxes, ha="center", color=GREY, fontsize=charts.SIZE)
    data = _long(curves, ("method", "k", measure))
    description = f"{measure} over k of {', '.join(curves) or 'no method'}"
    return charts.picture(figure, description, data, named, heading=f"{measure} at k")


def hubs_figure(curves: Mapping[str, Mapping[float, float]], expected: float) -> Picture:
    """walk → {damping: the share of hubs in the phrases' mass}; dashed: their share without a question."""
    alone = "without a question"
    figure, (axes,) = charts.panels(5.2, 3.4, ends=[*curves, alone])
    named = charts.lines(axes, curves)
    axes.axhline(expected, color=VERMILION, linewidth=1, linestyle="--")
    axes.set(xlabel="damping: probability of following an edge", ylabel="share of the mass on hubs", ylim=(0, None))
    data = _long({**curves, alone: {float("nan"): expected}}, ("walk", "damping", "share on hubs"))
    description = f"mass on hubs by damping, of {', '.join(curves) or 'no walk'}"
    ends = [charts.end(axes, alone, expected, VERMILION), *named]
    return charts.picture(figure, description, data, ends, heading="Mass on hubs by the length of the walk")


def verdict_figure(counts: pd.DataFrame) -> Picture:
    """How many numbers of each paper have which verdict: a row per paper, a column per verdict, as bars of shares with
    the counts written in them."""
    looks = {
        "reproduced": charts.bar(GREEN), "differs": charts.bar(VERMILION, "xx"),
        "not comparable": charts.bar(ORANGE, "//"), "not measured": charts.bar("#DDDDDD"),
    }  # fmt: skip
    figure, (axes,) = charts.bars(6.4, map(str, counts.index), 40, row=0.4, extra=1.4)
    charts.stacked(axes, counts[list(looks)].to_numpy().tolist(), list(looks.values()), shares=True)
    axes.set_xlabel("share of the printed numbers")
    charts.legend(figure, looks)
    description = f"verdicts on the numbers of {', '.join(map(str, counts.index)) or 'no paper'}"
    return charts.picture(figure, description, counts.reset_index(), heading="Verdicts by paper")


def _long(curves: Mapping[str, Mapping[float, float]], columns: Sequence[str]) -> pd.DataFrame:
    """Curves as rows."""
    return charts.table(columns, ((name, x, y) for name, curve in curves.items() for x, y in curve.items()))
