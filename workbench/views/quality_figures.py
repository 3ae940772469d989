"""The figures of analyses of quality: by kind of question, by depth, of two methods, by a judge, over the rounds
of iterative methods, and of their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from workbench.analyses import Analysis, Complementarity, Cuts, HubBias, JudgedAccuracy, Promotion, WinRate
from workbench.analyses.base import frame_of
from workbench.analyses.hub_bias import STATIC
from workbench.analyses.rounds import DEPTHS
from workbench.views import charts
from workbench.views.charts import Label, Picture, plain_label
from workbench.views.figures import recall_figure
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION
from workbench.views.parts import number

Curves = dict[str, dict[float, float]]


def by_hops(analysis: Analysis) -> Picture:
    """A panel per measure of the headline, a line per method."""
    frame = analysis.frame()
    measures = [name for name in ("node_recall", "node_precision", "node_f1") if name in frame] or ["failures"]
    return _over_hops(analysis, measures)


def at_equal_nodes(analysis: Analysis) -> Picture:
    return _over_hops(analysis, ["recall"])


def _over_hops(analysis: Analysis, measures: Sequence[str]) -> Picture:
    canvas, panels = charts.panels(2.7 * len(measures) + 1, 3.0, len(measures), ends=_methods(analysis.rows))
    labels: list[Label] = []
    for axes, measure in zip(panels, measures):
        labels = charts.lines(axes, _curves(analysis.rows, "hops", measure))
        axes.set(xlabel="hops", ylabel=measure.replace("node_", ""), ylim=(0, None))
        axes.set_xticks(sorted({row["hops"] for row in analysis.rows if row["hops"] is not None}))
    return charts.picture(canvas, analysis.title, labels=labels)


def _methods(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(plain_label(row["method"], 80) for row in rows))


def _curves(rows: Iterable[Mapping[str, Any]], x: str, y: str) -> Curves:
    """method → {x: y}, as far as both are known; a method keeps its place, and so its colour."""
    curves: Curves = {}
    for row in rows:
        curve = curves.setdefault(row["method"], {})
        if not pd.isna(row[x]) and not pd.isna(row[y]):
            curve[row[x]] = row[y]
    return curves


def by_kind(kinds: Analysis) -> Picture:
    """Differences to the baseline in the first measure, with their intervals."""
    return _differences(kinds.frame().to_dict("records"), lambda row: row["method"], _kind, "difference", kinds.title)


def gains_by_kind(gains: Analysis) -> Picture:
    """The gains in the first measure, with their intervals."""
    several = len({row["method"] for row in gains.rows}) > 1
    name = lambda row: f"{row['reader']} - {row['against']}" + f", {row['method']}" * several  # noqa: E731
    return _differences(gains.rows, name, _kind, "gain", gains.title)


def gains_over_static(gains: Analysis) -> Picture:
    """The gains in the first measure, with their intervals."""
    place = lambda row: f"{row['data']}, {row['run']}"  # noqa: E731
    return _differences(gains.rows, lambda row: row["method"], place, "gain", gains.title)


def _kind(row: Mapping[str, Any]) -> str:
    return f"{row['kind']}{' hops' * (row['by'] == 'hops')}"


def _differences(
    rows: Sequence[Mapping[str, Any]], name: Callable[[Mapping], str], place: Callable[[Mapping], str], what: str,
    title: str,
) -> Picture:  # fmt: skip
    """Differences in the first measure with their intervals, by the name of a series and by its place."""
    measure, series = rows[0]["measure"], {}
    for row in rows:
        if row["measure"] == measure and not pd.isna(row["difference"]):
            spot = f"{place(row)}  (n={row['n']})"
            series.setdefault(name(row), {})[spot] = (row["difference"], row["low"], row["high"])
    return charts.differences(series, f"{what} in {measure}, with 95 % interval", title)


def quality_against_k(quality: Analysis) -> Picture:
    frame = quality.frame()
    canvas, (axes,) = charts.panels(4.8, 3.2, ends=("em", "f1"))
    labels = charts.lines(axes, {name: dict(zip(frame["k"], frame[name])) for name in ("em", "f1")})
    axes.set(xlabel="passages read", ylabel="mean", ylim=(0, 1.02))
    charts.spaced(axes, frame["k"])
    return charts.picture(canvas, quality.title, labels=labels, heading=quality.notes[0] if quality.notes else "")


def recall_curve(curve: Analysis) -> Picture:
    return recall_figure(_curves(curve.rows, "k", "recall"))


def complementarity(square: Complementarity) -> Picture:
    """The first rule's 2x2 table; darker is more."""
    row = square.rows[0]
    names = [plain_label(f"{square.a} right", 44), plain_label(f"{square.a} wrong", 44)]
    canvas, (axes,) = charts.panels(4.4, 2.6, names=names)
    n = max(1, row["n"])
    for y, line in enumerate([[row["both"], row["only_a"]], [row["only_b"], row["neither"]]]):
        for x, count in enumerate(line):
            axes.fill_between([x - 0.48, x + 0.48], y - 0.48, y + 0.48, color=BLUE, alpha=0.08 + 0.6 * count / n)
            axes.text(x, y, f"{count}\n{count / n:.1%}", ha="center", va="center", fontsize=charts.SIZE)
    axes.set_xlim(-0.5, 1.5)
    axes.set_xticks([0, 1], [charts.wrapped(f"{square.b} {ends}", 2) for ends in ("right", "wrong")])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    either = f"either {(row['n'] - row['neither']) / n:.1%}, phi {number(row['phi'], 2)}"
    description = f"questions that {square.a} and {square.b} answer"
    return charts.picture(canvas, description, heading=f"{row['rule']}: {either}")


OUTCOMES = {  # the column of each outcome → its name and its look
    "correct_covered": ("right, covered", charts.bar(BLUE)),
    "lucky": ("right by luck", charts.bar(GREEN, "//")),
    "reasoning": ("reasoning failed", charts.bar(ORANGE)),
    "cut": ("cut by compression", charts.bar(VERMILION, "xx")),
    "retrieval": ("not retrieved", charts.bar(GREY, "..")),
}


def decomposition(
    parts: Analysis, same: Mapping[tuple[str, str], list[str]] | None = None, notes: Iterable[str] = ()
) -> Picture:
    """The origins of right and wrong answers, as shares of the questions: a bar per configuration and kind. Readers of
    a method that gave the `same` answers share a bar, as they share a row of `Grid.distinct`. `notes` are below it."""
    bars = _bars(parts.rows, same or {})
    canvas, (axes,) = charts.bars(4.8, (f"{name}  (n={row['n']})" for name, row in bars.items()), 90, extra=1.4)
    counted = [[row[name] or 0 for name in OUTCOMES] for row in bars.values()]
    charts.stacked(axes, counted, [look for _, look in OUTCOMES.values()], shares=True)
    axes.set_xlabel("\n".join(charts.wrapped(note, 4.6) for note in ("share of the questions", *notes)))
    charts.legend(canvas, dict(OUTCOMES.values()))
    return charts.picture(canvas, parts.title)


def _bars(rows: Iterable[Mapping[str, Any]], same: Mapping[tuple[str, str], list[str]]) -> dict[str, Mapping[str, Any]]:
    """The name of each bar → its row. Readers of a method that gave the same answers share a bar, which names them."""
    bars = {}
    for row in rows:
        if labels := same.get((row["reader"], row["method"])):
            readers = ", ".join(filter(None, labels))
            bars[" / ".join(filter(None, (readers, row["method"], row["kind"])))] = row
    return bars


def covered_only(analysis: Analysis) -> Picture:
    """The first measure over all questions and over those that could be answered."""
    measure = analysis.rows[0]["measure"] if analysis.rows else ""
    mine = [row for row in analysis.rows if row["measure"] == measure]
    canvas, (axes,) = charts.bars(4.4, (f"{row['reader']} / {row['method']}" for row in mine), extra=1.4)
    looks = {}
    for which, (column, name) in enumerate((("value", "all"), ("covered", "retrieved"), ("read", "read"))):
        looks[name] = {**charts.style(which), "linestyle": ""}
        points = [(row[column], at + 0.22 * (which - 1)) for at, row in enumerate(mine) if row[column] is not None]
        axes.plot(*(zip(*points) if points else ((), ())), **looks[name], markersize=4.5)
    axes.set(xlim=(0, 1.02), xlabel=f"{measure} over the questions whose answer was …")
    charts.legend(canvas, looks)
    return charts.picture(canvas, analysis.title)


def judged_accuracy(accuracy: JudgedAccuracy) -> Picture:
    """The accuracy over the answerable questions, with its interval."""
    rows = [row for row in accuracy.rows if row["over"] == "answerable"]
    names = (f"{row['reader']}: {row['method']}" for row in rows)
    return _shares(rows, "accuracy", names, "share of answers judged right", accuracy.title)


def win_rate(rates: WinRate) -> Picture:
    """The rate in each dimension over all questions, with its interval."""
    rows = [row for row in rates.rows if row["hops"] is None]
    names = [row["dimension"] for row in rows]
    return _shares(rows, "win_rate", names, "share of comparisons won", rates.title, even=0.5)


def _shares(
    rows: Sequence[Mapping[str, Any]],
    column: str,
    names: Iterable[str],
    label: str,
    title: str,
    even: float | None = None,
) -> Picture:
    """Shares with their intervals, a row each; a line at `even`."""
    canvas, (axes,) = charts.bars(4.4, (f"{name}  (n={row['n']})" for name, row in zip(names, rows)))
    for at, row in enumerate(rows):
        if row[column] is not None:
            axes.plot([row["low"], row["high"]], [at, at], color=BLUE)
            axes.plot([row[column]], [at], color=BLUE, marker="o")
    if even is not None:
        axes.axvline(even, color=GREY, linewidth=0.8)
    axes.set(xlim=(0, 1), xlabel=f"{label}, with 95 % interval")
    return charts.picture(canvas, title)


def recomputed_routing(routing: Analysis) -> Picture:
    """Accuracy and abstentions of each configuration."""
    several = len({row["method"] for row in routing.rows}) > 1
    names = (row["configuration"] + f", {row['method']}" * several for row in routing.rows)
    canvas, (axes,) = charts.bars(4.4, names, row=0.4, extra=1.3)
    looks = {"accuracy": charts.bar(BLUE), "abstained": charts.bar(GREY)}
    for at, row in enumerate(routing.rows):
        for offset, (name, look) in zip((-0.18, 0.18), looks.items()):
            axes.barh(at + offset, row[name] or 0, height=0.34, **look)
    axes.set(xlim=(0, 1), xlabel="share of questions")
    charts.legend(canvas, {routing.rows[0]["measure"]: looks["accuracy"], "abstained": looks["abstained"]})
    return charts.picture(canvas, routing.title)


def hub_bias(bias: HubBias) -> Picture:
    """S_ppr and the two shares per method, the dashed line being the share of the static graph; and how S_ppr is
    distributed over the questions, as the paper argues: less bias is a curve further to the left."""
    rows = [row for row in bias.rows if row["method"] != STATIC]
    names = [plain_label(row["method"], 64) for row in rows]
    wide = 8.6 + max(map(charts.inches, names), default=0)
    canvas, (left, right, spread) = charts.panels(wide, 1.9 + 0.3 * len(rows), 3)
    for axes, labels in ((left, names), (right, [""] * len(rows))):
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
    for at, row in enumerate(rows):
        left.barh(at, row["strength"] or 0, height=0.7, **charts.bar(charts.colour(at)))
        values = sorted(walk["strength"] for walk in bias.walks
                        if walk["method"] == row["method"] and walk["strength"] is not None)  # fmt: skip
        shares = [(number + 1) / len(values) for number in range(len(values))]
        spread.step(values, shares, where="post", color=charts.colour(at), label=plain_label(row["method"], 40))
    looks = {"over these ten": charts.bar(BLUE), "over all phrases": charts.bar(ORANGE)}
    for offset, measure, look in zip((-0.18, 0.18), ("share_top", "share_all"), looks.values()):
        right.barh([at + offset for at in range(len(rows))], [row[measure] or 0 for row in rows], height=0.34, **look)
    right.axvline(bias.rows[-1]["expected"], color=GREY, linestyle="--")
    left.set_xlabel("S_ppr of the ten best phrases")
    right.set_xlabel("probability on super hubs")
    spread.set(xlabel="S_ppr of a question", ylabel="questions with as much or less")
    charts.legend(canvas, {**looks, "static graph, all phrases": {"color": GREY, "linestyle": "--"}})
    return charts.picture(canvas, bias.title, frame_of(bias.walks))


# -- iterative methods ------------------------------------------------------------------------------------------------


def ablation(parts: Analysis) -> Picture:
    frame = parts.frame()
    measure = next(name for name in ("f1", "em", "recall@5") if name in frame)
    canvas, (axes,) = charts.bars(5.2, frame["variant"], 40)
    for at, row in enumerate(frame.to_dict("records")):
        axes.barh(at, row[measure] or 0, height=0.7, **charts.bar(GREY if row["variant"] == "static" else BLUE))
        read = f"  {number(row['read'], 1)} read" if row.get("read") is not None else ""
        axes.text(row[measure] or 0, at, f" {number(row[measure], 3)}{read}", va="center", fontsize=charts.SMALL)
    axes.margins(x=0.4)
    axes.set_xlabel(measure)
    return charts.picture(canvas, parts.title)


def rounds_curve(curve: Analysis) -> Picture:
    """A panel for how many questions stopped early, then one per measure, with a line per method."""
    frame = curve.frame()
    measures = [name for name in ("em", "f1", "recall@5") if name in frame]
    canvas, (stopped, *panels) = charts.panels(2.5 * len(measures) + 2.9, 3.0, len(measures) + 1,
                                               ends=_methods(curve.rows))  # fmt: skip
    labels: list[Label] = []
    for axes, measure in zip(panels, measures):
        curves = _curves(curve.rows, "iterations", measure)
        labels = charts.lines(axes, curves) or labels
        axes.set(ylabel=f"mean {measure}", ylim=(0, 1.02))
    methods = list(dict.fromkeys(row["method"] for row in curve.rows))
    for row in curve.rows:
        at = methods.index(row["method"])
        place = row["iterations"] + (at - (len(methods) - 1) / 2) * 0.8 / len(methods)
        stopped.bar(place, row["stopped"] or 0, 0.75 / len(methods), **charts.bar(charts.colour(at)))
    stopped.set(ylabel="questions that stopped early", ylim=(0, max([1, *frame["stopped"].dropna()]) * 1.05))
    charts.whole_numbers(stopped.yaxis)
    for axes in (stopped, *panels):
        axes.set_xlabel("rounds after the first")
        axes.set_xticks(sorted(set(frame["iterations"])))
        axes.set_xlim(min(frame["iterations"]) - 0.5, max(frame["iterations"]) + 0.5)
    return charts.picture(canvas, curve.title, labels=labels)


def promotion(promotion: Promotion) -> Picture:
    """A bar per method and stage: the ranks of the gold passages."""
    edges = [f"first {depth}" for depth in DEPTHS]
    names = [f"first {DEPTHS[0]}", *(f"to {depth}" for depth in DEPTHS[1:]), "further down", "not found"]
    shades = (VERMILION, ORANGE, BLUE, GREEN, GREY, "#f4f4f4")
    looks = {name: charts.bar(shade) | {"edgecolor": GREY} for name, shade in zip(names, shades)}
    canvas, (axes,) = charts.bars(4.8, (f"{row['method']}: {row['stage']}" for row in promotion.rows), extra=1.4)
    counted = []
    for row in promotion.rows:
        sums = [0, *(row[edge] for edge in edges), row["found"], row["gold"]]
        counted.append([end - start for start, end in pairwise(sums)])
    charts.stacked(axes, counted, list(looks.values()))
    axes.set_xlabel("gold passages, by rank")
    charts.legend(canvas, looks)
    return charts.picture(canvas, promotion.title)


def cuts(cuts: Cuts) -> Picture:
    """A panel per method: the number of questions by the number of passages chosen for the reader."""
    methods = list(dict.fromkeys(row["method"] for row in cuts.sizes))
    canvas, panels = charts.panels(5.6, 0.8 + 1.15 * max(1, len(methods)), 1, max(1, len(methods)), sharex=True)
    for axes, method in zip(panels, methods):
        mine = [row for row in cuts.sizes if row["method"] == method]
        bars = axes.bar([row["read"] for row in mine], [row["questions"] for row in mine], 0.8, **charts.bar(BLUE))
        axes.bar_label(bars, fontsize=charts.SMALL, padding=1)
        axes.set_title(charts.wrapped(method, 5), loc="left", fontsize=charts.SIZE)
        axes.set_ylabel("questions")
        axes.margins(y=0.25)
        _whole(axes)
    panels[-1].set_xlabel("passages chosen for the reader")
    # From 0 on, so that a single bar does not fill the panel.
    panels[-1].set_xlim(0, 1 + max((row["read"] for row in cuts.sizes), default=1))
    return charts.picture(canvas, cuts.title, frame_of(cuts.sizes))


def _whole(axes: Axes) -> None:
    charts.whole_numbers(axes.xaxis)
    charts.whole_numbers(axes.yaxis)
