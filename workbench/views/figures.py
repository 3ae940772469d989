"""Figures: data in, a picture out."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import MaxNLocator

from workbench.errors import SettingError
from workbench.graph.neighbourhood import Subgraph
from workbench.graph.walk_distribution import WalkDistribution
from workbench.index.graph import Graph
from workbench.ranking.similarity import top
from workbench.records import Evidence
from workbench.views.base import short
from workbench.views.graph import EDGES, NODES, SMALL, named, node_size
from workbench.views.layout import layout
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION

# What a file of a picture would say of its making, so that no two were the same.
_DATES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}


class Picture:
    """A matplotlib figure that shows itself in a notebook, with no plotting state behind it."""

    def __init__(self, figure: Figure, says: str):
        # Labels make the layout move a little at every drawing; it is settled once.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        self.figure, self.says = figure, says

    def save(self, path: str | Path) -> Path:
        """Write it as PNG, SVG or PDF, by the suffix. The same data give the same bytes."""
        path = Path(path)
        if path.suffix not in _DATES:
            raise SettingError(f"{path.name} has no suffix of a picture; choose one of {', '.join(_DATES)}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "hopscope"}):
            self.figure.savefig(path, metadata={_DATES[path.suffix]: None})
        return path

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, format="png", metadata={"Software": None})
        return out.getvalue()

    def __repr__(self) -> str:
        return f"Picture: {self.says}"


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
    """Where the best k passages of one evidence stand in another's ranking; gold passages are marked."""
    figure, axes = _figure(6.8, 0.34 * k + 1.2)
    there = {passage_id: rank for rank, (passage_id, _) in enumerate(other.ranking, 1)}
    shown = evidence.passages[:k]
    for rank, (passage, _) in enumerate(shown, 1):
        colour = VERMILION if passage.id in gold else BLUE
        before = there.get(passage.id)
        if before:
            axes.plot([before, rank], [rank, rank], color=GREY, linewidth=1, zorder=1)
            axes.plot(before, rank, marker="o", markerfacecolor="white", markeredgecolor=colour, linestyle="")
        axes.plot(rank, rank, marker="D" if passage.id in gold else "o", color=colour, linestyle="")
    axes.set_yticks(range(1, len(shown) + 1), [_plain(p.title or p.text, 40) for p, _ in shown])
    axes.invert_yaxis()
    axes.set_xlabel(
        _plain(f"rank: filled by {evidence.method}, hollow by {other.method}", 120)
        + ("; diamonds are gold" if gold else "")
    )
    axes.set_title(_plain(evidence.question, 90), loc="left", fontsize=9)
    return Picture(figure, f"ranks of the best {len(shown)} passages of {evidence.method} and of {other.method}")


def spread_figure(spread: WalkDistribution, gold: Sequence[str] = (), k: int = 10) -> Picture:
    """The k passages with most of the walk's probability, as bars, and the dense score of the same passages beside
    them, with their dense ranks. Gold passages are hatched."""
    figure = Figure(figsize=(8.6, 0.34 * k + 1.3), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2, sharey=True)
    passages = spread.index.passages.passages
    shown = top(spread.on_passages if spread.mass else spread.dense, k).tolist()
    ranks = {row: rank for rank, row in enumerate(top(spread.dense, len(passages)).tolist(), 1)}
    for axes, values, colour, label in (
        (left, spread.on_passages, BLUE, "probability after the walk" if spread.mass else "no walk"),
        (right, spread.dense, ORANGE, "dense score (cosine, min-max), and rank"),
    ):
        bars = axes.barh(range(len(shown)), values[shown], color=colour, height=0.7)
        for bar, row in zip(bars, shown):
            bar.set_hatch("///" if passages[row].id in gold else "")
            bar.set_edgecolor("white")
        axes.set_xlabel(label, fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.spines[["top", "right"]].set_visible(False)
    for at, row in enumerate(shown):
        right.text(spread.dense[row], at, f" {ranks[row]}", va="center", fontsize=8, color=GREY)
    left.set_yticks(range(len(shown)), [_plain(passages[row].title or passages[row].text, 40) for row in shown])
    left.invert_yaxis()
    figure.suptitle(_plain(spread.question, 100) + ("  (hatched: gold)" if gold else ""), fontsize=9, x=0.01, ha="left")
    return Picture(figure, f"walk and dense score of the best {len(shown)} passages")


def graph_figure(subgraph: Subgraph) -> Picture:
    """The static twin of a graph view: the same positions, colours and marks."""
    figure, axes = _figure(8.6, 5.2)
    axes.axis("off")
    positions = layout(subgraph) * (1, -1)
    for kind, (colour, dashes) in EDGES.items():
        lines = [positions[[edge.source, edge.target]] for edge in subgraph.edges if edge.kind == kind]
        style = "solid" if not dashes else (0, tuple(dashes))
        thin = 0.9 if len(subgraph) <= SMALL else 0.3
        axes.add_collection(LineCollection(lines, colors=colour, linestyles=[style], linewidths=thin, alpha=0.7))
    for kind, (colour, shape) in NODES.items():
        rows = [at for at, node in enumerate(subgraph.nodes) if node.kind == kind]
        nodes = [subgraph.nodes[at] for at in rows]
        axes.scatter(
            *positions[rows].T,
            s=[0.35 * node_size(node) ** 2 if len(subgraph) <= SMALL else 3 for node in nodes],
            c=colour,
            marker="s" if shape == "square" else "o",
            edgecolors=[VERMILION if node.hop == 0 else "white" for node in nodes],
            linewidths=[1.8 if node.hop == 0 else 0.5 for node in nodes],
            zorder=2,
        )
    for at in sorted(named(subgraph, 45 if len(subgraph) <= SMALL else 20)):
        axes.annotate(
            _plain(subgraph.nodes[at].label, 32),
            positions[at],
            xytext=(0, -9),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7,
            path_effects=[Stroke(linewidth=2, foreground="white"), Normal()],
        )
    axes.set_title(_plain(subgraph.name, 100), loc="left", fontsize=9)
    return Picture(figure, f"{len(subgraph.nodes)} nodes and {len(subgraph.edges)} edges around {subgraph.name}")


def recall_figure(curves: Mapping[str, Mapping[int, float]], measure: str = "recall") -> Picture:
    """method → {k: value}, as lines over k."""
    figure, axes = _figure(5.6, 3.4)
    for (name, curve), colour, marker in zip(curves.items(), _cycle((BLUE, ORANGE, GREEN, VERMILION)), _cycle("os^D")):
        axes.plot(list(curve), list(curve.values()), color=colour, marker=marker, label=_plain(name, 80))
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


def _plain(text: str, limit: int) -> str:
    """A label: matplotlib would read dollar signs as mathematics."""
    return short(text, limit).replace("$", r"\$")


def _cycle(values: Sequence):
    while True:
        yield from values


def _figure(width: float, height: float):
    figure = Figure(figsize=(width, height), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    return figure, axes
