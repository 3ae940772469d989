"""Functions from data to figures. matplotlib's own font has Latin, Greek, Cyrillic and Arabic letters and no others:
where a figure has more, it gets further fonts of the system, else names in Chinese would be drawn as empty boxes."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.patheffects import Normal, Stroke
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.index.graph import Graph
from workbench.operators.neighbourhood import Subgraph
from workbench.operators.walk_distribution import WalkDistribution
from workbench.records import Evidence
from workbench.text import short
from workbench.views.base import NAME, esc
from workbench.views.drawing import SHAPES, Drawing, DrawnEdge, DrawnNode, Map, NodeStyle, drawing_entries, entry_name
from workbench.views.node_details import graph_drawing
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, THEMED, THEMED_CSS, VERMILION, theme_css

CROWDED = 200  # nodes from which on marks and lines are small
# Metadata that would make every file different.
_DATES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
# What matplotlib draws in black, white and grey takes these colours of a theme.
_DYES = {"#000000": "var(--ink)", "#ffffff": "var(--paper)", GREY: "var(--faint)"}


class Picture:
    """A matplotlib figure that shows itself in a notebook, with no plotting state behind it: in the theme of the page
    around it, and in files in black on white. Letters that no installed font has stay text in SVG, so that whoever
    shows it draws them."""

    def __init__(self, figure: Figure, description: str):
        self._lacking = lacking(figure)
        # Labels shift the layout slightly at every drawing, so it is settled once.
        with _quiet_on_glyphs():
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
        self.figure, self.description = figure, description

    def save(self, path: str | Path) -> Path:
        """Write it as PNG, SVG or PDF, by the suffix. The same data give the same bytes."""
        path = Path(path)
        if path.suffix not in _DATES:
            raise SettingError(f"{path.name} has no suffix of a picture; choose one of {', '.join(_DATES)}")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, path.suffix)
        return path

    def svg(self) -> str:
        """The picture as an SVG file in the theme of the page that shows it as an image."""
        out = io.BytesIO()
        self._write(out, ".svg")
        dyed = re.sub("|".join(_DYES), lambda found: _DYES[found[0]], out.getvalue().decode())
        return dyed.replace("<style", f"<style>{theme_css()}svg{{fill:var(--ink)}}</style><style", 1)

    def _write(self, out: Path | io.BytesIO, suffix: str) -> None:
        settings = {"svg.hashsalt": "hopscope"} | ({"svg.fonttype": "none"} if self._lacking else {})
        if self._lacking and suffix != ".svg":
            said = f"no installed font draws {self._lacking[:20]!r}"
            warnings.warn(f"{said}; install one, such as Noto Sans CJK, or save the figure as SVG", stacklevel=3)
        with matplotlib.rc_context(settings), _quiet_on_glyphs():
            self.figure.savefig(out, format=suffix[1:], metadata={_DATES[suffix]: None})

    def _repr_html_(self) -> str:
        width = round(self.figure.get_figwidth() * self.figure.dpi)
        return (
            f'<style>{THEMED_CSS}</style><img class="{THEMED}" width="{width}" alt="{esc(self.description, NAME)}" '
            f'src="data:image/svg+xml;base64,{base64.b64encode(self.svg().encode()).decode()}">'
        )

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self._write(out, ".png")
        return out.getvalue()

    def __repr__(self) -> str:
        return f"Picture: {self.description}"


@contextmanager
def _quiet_on_glyphs() -> Iterator[None]:
    """Without a warning of matplotlib for each letter that no font has."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def degree_figure(graph: Graph) -> Picture:
    """How many phrases have at least a given degree, per kind of edge; both axes logarithmic."""
    figure, axes = _figure(6.4, 3.6)
    kinds = (
        ("relation", graph.relation, BLUE, "o"),
        ("synonym", graph.synonym, ORANGE, "s"),
        ("context", graph.context.T, GREEN, "^"),
    )
    for name, matrix, colour, marker in kinds:
        degrees = np.diff(matrix.tocsr().indptr)
        values, counts = np.unique(degrees[degrees > 0], return_counts=True)
        if len(values):
            at_least = counts[::-1].cumsum()[::-1]
            axes.plot(values, at_least, marker=marker, markersize=3.5, linewidth=1, color=colour, label=f"{name} edges")
    axes.set(xscale="log", yscale="log", xlabel="edges of a phrase (at least)", ylabel="phrases")
    axes.set_title("Degrees of the phrases", loc="left")
    if axes.lines:
        axes.legend(frameon=False)
    return Picture(figure, "how many phrases have at least a given number of edges, per kind of edge")


def ranking_figure(evidence: Evidence, other: Evidence, gold: Sequence[str] = (), k: int = 10) -> Picture:
    """The ranks of the best k passages of one evidence in another's ranking; gold passages are marked."""
    figure, axes = _figure(6.8, 0.34 * k + 1.2)
    other_ranks = {passage_id: rank for rank, (passage_id, _) in enumerate(other.ranking, 1)}
    shown = evidence.passages[:k]
    for rank, (passage, _) in enumerate(shown, 1):
        colour = VERMILION if passage.id in gold else BLUE
        before = other_ranks.get(passage.id)
        if before:
            axes.plot([before, rank], [rank, rank], color=GREY, linewidth=1, zorder=1)
            axes.plot(before, rank, marker="o", markerfacecolor="white", markeredgecolor=colour, linestyle="")
        axes.plot(rank, rank, marker="D" if passage.id in gold else "o", color=colour, linestyle="")
    axes.set_yticks(range(1, len(shown) + 1), [plain_label(p.title or p.text, 40) for p, _ in shown])
    axes.invert_yaxis()
    axes.set_xlabel(
        plain_label(f"rank: filled by {evidence.method}, hollow by {other.method}", 120)
        + ("; diamonds are gold" if gold else "")
    )
    axes.set_title(plain_label(evidence.question, 90), loc="left", fontsize=9)
    return Picture(figure, f"ranks of the best {len(shown)} passages of {evidence.method} and of {other.method}")


def walk_figure(walk: WalkDistribution, gold: Sequence[str] = (), k: int = 10) -> Picture:
    """The k passages with the highest probability in the walk, as bars, next to their dense scores and ranks. Gold
    passages are hatched."""
    figure = Figure(figsize=(8.6, 0.34 * k + 1.3), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2, sharey=True)
    passages = walk.index.passages.passages
    shown = top(walk.on_passages if walk.pagerank else walk.dense, k).tolist()
    ranks = {row: rank for rank, row in enumerate(top(walk.dense, len(passages)).tolist(), 1)}
    for axes, values, colour, label in (
        (left, walk.on_passages, BLUE, "probability after the walk" if walk.pagerank else "no walk"),
        (right, walk.dense, ORANGE, "dense score (cosine, min-max), and rank"),
    ):
        bars = axes.barh(range(len(shown)), values[shown], color=colour, height=0.7)
        for bar, row in zip(bars, shown):
            bar.set_hatch("///" if passages[row].id in gold else "")
            bar.set_edgecolor("white")
        axes.set_xlabel(label, fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.spines[["top", "right"]].set_visible(False)
    for at, row in enumerate(shown):
        right.text(walk.dense[row], at, f" {ranks[row]}", va="center", fontsize=8, color=GREY)
    left.set_yticks(range(len(shown)), [plain_label(passages[row].title or passages[row].text, 40) for row in shown])
    left.invert_yaxis()
    figure.suptitle(
        plain_label(walk.question, 100) + ("  (hatched: gold)" if gold else ""), fontsize=9, x=0.01, ha="left"
    )
    return Picture(figure, f"walk and dense score of the best {len(shown)} passages")


def graph_figure(subgraph: Subgraph) -> Picture:
    return drawing_figure(graph_drawing(subgraph))


def drawing_figure(drawing: Drawing) -> Picture:
    """The drawing for print, with the positions, colours and marks of its page."""
    figure = Figure(figsize=drawing.inches, layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.axis("off")
    axes.margins(0.1)
    places = np.array([(node.x, -node.y) for node in drawing.nodes]).reshape(-1, 2)
    thin = 1.0 if len(drawing) <= CROWDED else 0.35
    _draw_edges(axes, drawing, places, thin)
    for style in dict.fromkeys([*drawing.node_styles, *(node.style for node in drawing.nodes)]):
        _draw_nodes(axes, style, [(node, at) for node, at in zip(drawing.nodes, places) if node.style == style], thin)
    _write_labels(axes, drawing, places)
    axes.set_title(plain_label(drawing.name, 110), loc="left", fontsize=9)
    figure.legend(handles=_handles(drawing), loc="outside lower left", ncols=6, frameon=False, fontsize=7)
    return Picture(figure, repr(drawing))


def map_figure(shown: Map, labels: int = 40) -> Picture:
    """The map for print, with the places, colours and marks of its page, and its first labels."""
    figure = Figure(figsize=(9.6, 6.0), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.axis("off")
    axes.set_aspect("equal")
    places = shown.places * (1, -1)
    for style, look in enumerate(shown.edge_styles):
        ends = places[shown.edges[shown.edge_style == style]]
        axes.add_collection(
            LineCollection(ends, colors=look.colour, linewidths=look.linewidth, alpha=look.opacity, zorder=0)
        )
    for row in range(shown.discs):
        colour = shown.node_styles[shown.style[row]].colour
        axes.add_patch(Circle(places[row], shown.radii[row], facecolor=f"{colour}22", edgecolor=colour, zorder=1))
    points = np.arange(len(shown)) >= shown.discs
    for style, look in enumerate(shown.node_styles):
        here = points & (shown.style == style)
        axes.scatter(*places[here].T, s=6 if shown.discs else 22, c=look.colour, marker=SHAPES[look.shape][0], zorder=2)
    rings = places[list(shown.rings)].reshape(-1, 2)
    axes.scatter(*rings.T, s=60, facecolors="none", edgecolors=VERMILION, linewidths=1.6, zorder=3)
    unit = float(np.ptp(places[:, 0])) / 600 if len(places) else 1.0  # a figure is some 600 points wide
    for row in _roomy([label[:30] for label in shown.labels], places, np.array([unit, unit]))[:labels]:
        _write(axes, plain_label(shown.labels[row], 30), places[row], (0, 0 if shown.discs else -6), "center", 6)
    axes.autoscale_view()
    axes.set_title(plain_label(shown.name, 110), loc="left", fontsize=9)
    figure.legend(handles=_handles(shown), loc="outside lower left", ncols=6, frameon=False, fontsize=7)
    return Picture(figure, repr(shown))


def _write_labels(axes: Axes, drawing: Drawing, places: np.ndarray) -> None:
    """The labels of nodes, then of edges, that have room; signs and numbers of edges in any case."""
    order = sorted(range(len(places)), key=lambda at: _importance(drawing.nodes[at]), reverse=True)
    texts = [drawing.nodes[at].label for at in order] + [edge.label for edge in drawing.edges]
    ends = places[[(edge.source, edge.target) for edge in drawing.edges]].reshape(-1, 2, 2)
    wide, high = (np.ptp(places, axis=0) if len(places) else np.ones(2)) + 1e-9
    point = np.array([wide / (60 * drawing.inches[0]), high / (52 * drawing.inches[1])])  # 1 / 72 inch, without margins
    spots = np.concatenate([places[order] - [0, 11 * point[1]], ends.mean(axis=1) + [0, 8 * point[1]]])  # noqa: RUF005
    lengths = np.linalg.norm((ends[:, 0] - ends[:, 1]) / point, axis=1)
    short_edges = {len(order) + row for row, one in enumerate(drawing.edges) if lengths[row] < 4 * len(one.label)}
    signs = [row for row in range(len(order), len(texts)) if texts[row] and not re.search(r"[^\W\d]", texts[row])]
    for row in dict.fromkeys([*signs, *(row for row in _roomy(texts, spots, point) if row not in short_edges)]):
        if row < len(order):
            size = min(7, 0.55 * drawing.nodes[order[row]].font)
            _write(axes, texts[row], places[order[row]], (0, -8), "top", size)
        else:
            _write(axes, texts[row], ends[row - len(order)].mean(axis=0), (0, 5), "bottom", 6)


def _importance(node: DrawnNode) -> tuple[float, ...]:
    """As on a page: outlined, large letters, large."""
    return (node.outline, node.font, node.size)


def _roomy(labels: Sequence[str], places: np.ndarray, point: np.ndarray) -> list[int]:
    """Rows whose labels do not meet one of an earlier row, by the estimated sizes of their letters. `point`: the size
    of a point along each axis."""
    taken: list[tuple[float, float, float]] = []
    found = []
    for row, label in enumerate(labels):
        half, (x, y) = 1.9 * len(label), places[row] / point
        if label and all(abs(x - a) > half + b or abs(y - c) > 8 for a, c, b in taken):
            taken.append((x, y, half))
            found.append(row)
    return found


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


def _write(axes: Axes, label: str, at: np.ndarray, offset: tuple[int, int], align: str, size: float) -> None:
    axes.annotate(
        label.replace("$", r"\$"), at, xytext=offset, textcoords="offset points", ha="center", va=align, fontsize=size,
        path_effects=[Stroke(linewidth=2, foreground="white"), Normal()],
    )  # fmt: skip


def _handles(drawing: Drawing | Map) -> list[Line2D]:
    """The legend, of what the picture shows."""
    marks, shown = {"linestyle": "", "markersize": 6}, {entry["name"] for entry in drawing_entries(drawing)}
    handles = [
        Line2D([], [], marker=SHAPES[style.shape][0], color=style.colour, label=plain_label(style.name, 30), **marks)
        for style in (*drawing.node_styles, *getattr(drawing, "types", ()))  # a map has its types among its styles
        if entry_name(style.name) in shown
    ]
    if drawing.outlined and entry_name(drawing.outlined) in shown:
        ring = {"color": "white", "markeredgecolor": VERMILION}
        handles.append(Line2D([], [], marker="o", label=plain_label(drawing.outlined, 30), **ring, **marks))
    return handles + [
        Line2D([], [], color=style.colour, linewidth=style.linewidth, linestyle=style.linestyle, label=style.name)
        for style in drawing.edge_styles
        if entry_name(style.name) in shown
    ]


def recall_figure(curves: Mapping[str, Mapping[int, float]], measure: str = "recall") -> Picture:
    """method → {k: value}, as lines over k."""
    figure, axes = _figure(5.6, 3.4)
    for (name, curve), colour, marker in zip(curves.items(), _cycle((BLUE, ORANGE, GREEN, VERMILION)), _cycle("os^D")):
        axes.plot(list(curve), list(curve.values()), color=colour, marker=marker, label=plain_label(name, 80))
    axes.set(xlabel="k", ylabel=f"{measure}@k", ylim=(0, 1.02), xscale="log")
    ks = sorted({k for curve in curves.values() for k in curve})
    axes.set_xticks(ks, [str(k) if ks[at + 1 :] == [] or ks[at + 1] >= 1.4 * k else "" for at, k in enumerate(ks)])
    axes.minorticks_off()
    if any(curves.values()):
        axes.legend(frameon=False)
    else:
        axes.text(
            0.5, 0.5, "no gold passages: recall is not defined", transform=axes.transAxes, ha="center", color=GREY
        )
    return Picture(figure, f"{measure} over k of {', '.join(curves) or 'no method'}")


def hubs_figure(curves: Mapping[str, Mapping[float, float]], expected: float) -> Picture:
    """walk → {damping: the share of hubs in the phrases' mass}; dashed: their share without a question."""
    figure, axes = _figure(6.4, 3.6)
    for (name, curve), colour, marker in zip(curves.items(), _cycle((GREY, GREEN, BLUE, ORANGE)), _cycle("os^D")):
        axes.plot(list(curve), list(curve.values()), color=colour, marker=marker, label=plain_label(name, 60))
    axes.axhline(expected, color=VERMILION, linewidth=1, linestyle="--", label="without a question")
    axes.set(xlabel="damping: probability of following an edge", ylabel="share of the mass on hubs", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    return Picture(figure, f"mass on hubs by damping, of {', '.join(curves) or 'no walk'}")


def verdict_figure(counts: pd.DataFrame) -> Picture:
    """How many numbers of each paper have which verdict: a row per paper, a column per verdict, as bars of shares with
    the counts written in them."""
    figure, axes = _figure(8.4, 0.5 * len(counts) + 1.5)
    looks = {
        "reproduced": (GREEN, ""), "differs": (VERMILION, "xx"), "not comparable": (ORANGE, "//"),
        "not measured": ("#DDDDDD", ""),
    }  # fmt: skip
    shares = counts.div(counts.sum(axis=1).clip(lower=1), axis=0)
    left = np.zeros(len(counts))
    for name, (colour, hatch) in looks.items():
        axes.barh(range(len(counts)), shares[name], left=left, color=colour, hatch=hatch, edgecolor="white", label=name)
        for at, (share, count) in enumerate(zip(shares[name], counts[name])):
            if share > 0.03:
                place = left[at] + share / 2
                text = axes.text(place, at, f"{count:,}", ha="center", va="center", fontsize=8)
                text.set_path_effects([Stroke(linewidth=2, foreground="white"), Normal()])
        left += shares[name].to_numpy()
    axes.set_yticks(range(len(counts)), [plain_label(str(name), 40) for name in counts.index])
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of the printed numbers")
    axes.set_title("Verdicts by paper", loc="left", fontsize=10)
    axes.set_axisbelow(True)
    figure.legend(frameon=False, fontsize=8, ncols=4, loc="outside lower center")
    return Picture(figure, f"verdicts on the numbers of {', '.join(map(str, counts.index)) or 'no paper'}")


def plain_label(value: str, limit: int) -> str:
    """A label: matplotlib reads dollar signs as mathematics, and leaves names that begin with `_` out of legends."""
    label = short(value, limit).replace("$", r"\$")
    return f" {label}" if not label or label.startswith("_") else label


def _cycle(values: Sequence):
    while True:
        yield from values


def _figure(width: float, height: float):
    figure = Figure(figsize=(width, height), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    return figure, axes


# -- fonts ------------------------------------------------------------------------------------------------------------


# Fonts that systems have for the other scripts, widely installed ones first.
OTHERS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Noto Sans CJK JP", "Noto Sans JP", "Noto Sans KR", "Source Han Sans SC",
    "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Microsoft YaHei", "SimHei", "Yu Gothic",
    "Malgun Gothic", "PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS",
    "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai", "Noto Sans Hebrew", "Nirmala UI",
)  # fmt: skip


def lacking(figure: Figure) -> str:
    """Give the texts of a figure further fonts where they need some; the letters that no installed font has, sorted."""
    missing: set[str] = set()
    for text in figure.findobj(Text):
        if text.get_text().isascii():
            continue
        needed = _unknown(text.get_text(), tuple(text.get_fontfamily()))
        fonts = [name for name in _installed() if needed & _letters(name)] if needed else []
        if fonts:
            text.set_fontfamily([*text.get_fontfamily(), *fonts])
        missing |= needed.difference(*map(_letters, fonts))
    return "".join(map(chr, sorted(missing)))


def _unknown(text: str, families: tuple[str, ...]) -> set[int]:
    return {ord(letter) for letter in text if letter.isprintable()} - set().union(*map(_letters, families))


@cache
def _installed() -> tuple[str, ...]:
    known = {font.name for font in fontManager.ttflist}
    return tuple(name for name in OTHERS if name in known)


@cache
def _letters(family: str) -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family=[family]))).get_charmap())
