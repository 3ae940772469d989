"""The figures of analyses of quality: by kind of question, by depth, of two methods, by a judge, over the rounds
of iterative methods, and of their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.ticker import MaxNLocator

from workbench.analyses import Analysis, Complementarity, Cuts, HubBias, JudgedAccuracy, Promotion, WinRate
from workbench.analyses.hub_bias import STATIC
from workbench.analyses.rounds import DEPTHS
from workbench.views import charts
from workbench.views.base import number
from workbench.views.figures import Picture, plain_label, recall_figure
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION


def by_hops(found: Analysis) -> Picture:
    """A panel per measure of the headline, a line per method."""
    frame = found.frame()
    measures = [name for name in ("node_recall", "node_precision", "node_f1") if name in frame] or ["failures"]
    canvas, panels = charts.panels(2.9 * len(measures) + 0.6, 3.2, len(measures))
    for axes, measure in zip(panels, measures):
        charts.over_hops(axes, found.rows, measure)
    panels[0].legend(frameon=False, fontsize=7)
    return charts.picture(canvas, found.title)


def at_equal_nodes(found: Analysis) -> Picture:
    canvas, axes = charts.canvas(5.6, 3.4)
    charts.over_hops(axes, found.rows, "recall")
    charts.titled(axes, found.title, [row["method"] for row in found.rows])
    return charts.picture(canvas, found.title)


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
    canvas, axes = charts.canvas(5.6, 3.4)
    charts.lines(axes, {name: dict(zip(frame["k"], frame[name])) for name in ("em", "f1")})
    axes.set(xlabel="passages read", ylabel="mean", xscale="log", ylim=(0, 1.02))
    axes.set_xticks(list(frame["k"]), [str(k) for k in frame["k"]])
    axes.minorticks_off()
    charts.titled(axes, quality.notes[0] if quality.notes else quality.title, ["em", "f1"])
    return charts.picture(canvas, quality.title)


def recall_curve(curve: Analysis) -> Picture:
    curves: dict[str, dict[int, float]] = {}
    for row in curve.rows:
        if row["recall"] is not None:
            curves.setdefault(row["method"], {})[row["k"]] = row["recall"]
    return recall_figure(curves)


def complementarity(square: Complementarity) -> Picture:
    """The first rule's 2x2 table; darker is more."""
    row = square.rows[0]
    canvas, axes = charts.canvas(4.6, 3.4)
    cells = [[row["both"], row["only_a"]], [row["only_b"], row["neither"]]]
    n = max(1, row["n"])
    for y, line in enumerate(cells):
        for x, count in enumerate(line):
            axes.fill_between([x - 0.48, x + 0.48], y - 0.48, y + 0.48, color=BLUE, alpha=0.08 + 0.6 * count / n)
            axes.text(x, y, f"{count}\n{count / n:.1%}", ha="center", va="center")
    axes.set(xlim=(-0.5, 1.5), ylim=(1.5, -0.5))
    axes.set_xticks([0, 1], [plain_label(f"{square.b} right", 34), "wrong"])
    axes.set_yticks([0, 1], [plain_label(f"{square.a} right", 34), "wrong"], rotation=90, va="center")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    either = (row["n"] - row["neither"]) / n
    charts.titled(axes, f"{row['rule']}: either {either:.1%}, phi {number(row['phi'], 2)}")
    return charts.picture(canvas, f"questions that {square.a} and {square.b} answer")


def decomposition(
    parts: Analysis, same: Mapping[tuple[str, str], list[str]] | None = None, notes: Iterable[str] = ()
) -> Picture:
    """The origins of right and wrong answers, as shares of the questions: a bar per configuration and kind. Readers of
    a method that gave the `same` answers share one, as they share a row of `Grid.distinct`. Below it stand `notes`."""
    shown = _bars(parts.rows, same or {})
    canvas, axes = charts.canvas(7.6, 1.3 + 0.32 * max(1, len(shown)))
    names = ("correct_covered", "lucky", "reasoning", "cut", "retrieval")
    colours = (BLUE, GREEN, ORANGE, VERMILION, GREY)
    for at, row in enumerate(shown.values()):
        left = 0.0
        for name, colour, hatch in zip(names, colours, ("", "//", "", "xx", "..")):
            share = (row[name] or 0) / max(1, row["n"])
            axes.barh(at, share, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5, height=0.72)
            left += share
    charts.rows(axes, (f"{name}  (n={row['n']})" for name, row in shown.items()), 90, fontsize=7)
    axes.set(xlim=(0, 1), xlabel="\n".join(["share of the questions", *notes]))
    handles = axes.patches[: len(names)]
    labels = ("right, covered", "right by luck", "reasoning failed", "cut by compression", "not retrieved")
    canvas.legend(handles, labels, frameon=False, fontsize=7, ncols=5, loc="outside upper center")
    return charts.picture(canvas, parts.title)


def _bars(rows: Iterable[Mapping[str, Any]], same: Mapping[tuple[str, str], list[str]]) -> dict[str, Mapping[str, Any]]:
    """The name of each bar → its row. Readers of a method that gave the same answers share a bar, which names them."""
    bars = {}
    for row in rows:
        if labels := same.get((row["reader"], row["method"])):
            readers = ", ".join(filter(None, labels))
            bars[" / ".join(filter(None, (readers, row["method"], row["kind"])))] = row
    return bars


def covered_only(found: Analysis) -> Picture:
    """The first measure over all questions and over those that could be answered."""
    measure = found.rows[0]["measure"] if found.rows else ""
    mine = [row for row in found.rows if row["measure"] == measure]
    canvas, axes = charts.canvas(6.8, 1.2 + 0.36 * max(1, len(mine)))
    for which, name in enumerate(("value", "covered", "read")):
        known = [(row[name], at) for at, row in enumerate(mine) if row[name] is not None]
        label = ("all", "retrieved", "read")[which]
        axes.plot(*(zip(*known) if known else ((), ())), **charts.style(which), linestyle="",
                  label=label)  # fmt: skip
    charts.rows(axes, (f"{row['reader']} / {row['method']}" for row in mine), 60, fontsize=7)
    axes.set(xlim=(0, 1.02), xlabel=measure)
    charts.titled(axes, found.title, mine)
    return charts.picture(canvas, found.title)


def judged_accuracy(accuracy: JudgedAccuracy) -> Picture:
    """The accuracy over the answerable questions, with its interval."""
    rows = [row for row in accuracy.rows if row["over"] == "answerable"]
    names = [f"{row['reader']}: {row['method']}" for row in rows]
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
    canvas, axes = charts.canvas(6.0, 1.2 + 0.36 * max(1, len(rows)))
    for at, row in enumerate(rows):
        if row[column] is not None:
            axes.plot([row["low"], row["high"]], [at, at], color=BLUE)
            axes.plot([row[column]], [at], color=BLUE, marker="o")
    if even is not None:
        axes.axvline(even, color=GREY, linewidth=0.8)
    charts.rows(axes, (f"{name}  (n={row['n']})" for name, row in zip(names, rows)), 40)
    axes.set(xlim=(0, 1), xlabel=f"{label}, with 95 % interval")
    charts.titled(axes, title)
    return charts.picture(canvas, title)


def recomputed_routing(routing: Analysis) -> Picture:
    """Accuracy and abstentions of each configuration."""
    canvas, axes = charts.canvas(6.4, 1.2 + 0.42 * len(routing.rows))
    for at, row in enumerate(routing.rows):
        for offset, name, colour in ((-0.18, "accuracy", BLUE), (0.18, "abstained", GREY)):
            axes.barh(at + offset, row[name] or 0, height=0.34, color=colour)
    handles = [axes.barh([0], [0], color=colour) for colour in (BLUE, GREY)]
    axes.legend(handles, [routing.rows[0]["measure"], "abstained"], frameon=False, fontsize=8)
    several = len({row["method"] for row in routing.rows}) > 1
    charts.rows(axes, (row["configuration"] + f", {row['method']}" * several for row in routing.rows), 48)
    axes.set(xlim=(0, 1), xlabel="share of questions")
    charts.titled(axes, routing.title)
    return charts.picture(canvas, routing.title)


def hub_bias(bias: HubBias) -> Picture:
    """S_ppr and the two shares per method, the dashed line being the share of the static graph; and how S_ppr is
    distributed over the questions, as the paper argues: less bias is a curve further to the left."""
    rows = [row for row in bias.rows if row["method"] != STATIC]
    canvas, (left, right, spread) = charts.panels(13.6, 1.6 + 0.36 * len(rows), 3)
    right.sharey(left)
    right.tick_params(labelleft=False)
    left.barh(range(len(rows)), [row["strength"] or 0 for row in rows], color=BLUE, height=0.7)
    left.set_xlabel("S_ppr of the ten best phrases")
    for at, (measure, name) in enumerate((("share_top", "over these ten"), ("share_all", "over all phrases"))):
        places = [row + 0.36 * (at - 0.5) for row in range(len(rows))]
        right.barh(places, [row[measure] or 0 for row in rows], color=charts.colour(at), height=0.34, label=name)
    right.axvline(bias.rows[-1]["expected"], color=GREY, linestyle="--", label="static graph, all phrases")
    right.set_xlabel("probability on super hubs")
    canvas.legend(*right.get_legend_handles_labels(), frameon=False, fontsize=7, ncols=3, loc="outside upper right")
    for at, row in enumerate(rows):
        values = sorted(
            walk["strength"] for walk in bias.walks if walk["method"] == row["method"] and walk["strength"] is not None
        )
        shares = [(number + 1) / len(values) for number in range(len(values))]
        spread.step(values, shares, where="post", color=charts.colour(at), label=plain_label(row["method"], 40))
    spread.set_xlabel("S_ppr of a question")
    spread.set_ylabel("questions with as much or less")
    spread.legend(frameon=False, fontsize=6)
    charts.rows(left, (row["method"] for row in rows), 64, fontsize=7)
    return charts.picture(canvas, bias.title)


# -- iterative methods ------------------------------------------------------------------------------------------------


def ablation(parts: Analysis) -> Picture:
    frame = parts.frame()
    measure = next(name for name in ("f1", "em", "recall@5") if name in frame)
    canvas, axes = charts.canvas(6.8, 1.1 + 0.36 * len(frame))
    axes.barh(
        range(len(frame)),
        frame[measure].astype(float),
        color=[GREY if v == "static" else BLUE for v in frame["variant"]],
        height=0.7,
    )
    for at, row in enumerate(frame.to_dict("records")):
        read = f"  {number(row['read'], 1)} read" if row.get("read") is not None else ""
        axes.text(row[measure] or 0, at, f" {number(row[measure], 3)}{read}", va="center", fontsize=8)
    charts.rows(axes, frame["variant"], 40)
    axes.margins(x=0.25)
    axes.set_xlabel(measure)
    charts.titled(axes, parts.title)
    return charts.picture(canvas, parts.title)


def rounds_curve(curve: Analysis) -> Picture:
    """Left the measures over rounds, a line style per method; right how many questions stopped early."""
    frame = curve.frame()
    canvas, (left, right) = charts.panels(8.8, 3.6, 2, width_ratios=(3, 2))
    measures = [name for name in ("em", "f1", "recall@5") if name in frame]
    for at, (name, rows) in enumerate(frame.groupby("method", sort=False)):
        for which, measure in enumerate(measures):
            left.plot(
                rows["iterations"], rows[measure].astype(float), **charts.style(which),
                linestyle=("-", "--", ":", "-.")[at % 4], label=f"{measure}, {plain_label(name, 50)}",
            )  # fmt: skip
        right.plot(rows["iterations"], rows["stopped"].astype(float), **charts.style(at))
    left.set(ylim=(0, 1.02), ylabel="mean")
    right.set_ylabel("questions that stopped early")
    for axes in (left, right):
        axes.set_xlabel("rounds after the first retrieval")
        axes.set_xticks(sorted(set(frame["iterations"])))
    left.legend(frameon=False, fontsize=7)
    return charts.picture(canvas, curve.title)


def promotion(promotion: Promotion) -> Picture:
    """A bar per method and stage: the ranks of the gold passages."""
    canvas, axes = charts.canvas(7.6, 1.3 + 0.32 * max(1, len(promotion.rows)))
    edges = [f"first {depth}" for depth in DEPTHS]
    names = [f"first {DEPTHS[0]}", *(f"to {depth}" for depth in DEPTHS[1:]), "further down", "not found"]
    shades = (VERMILION, ORANGE, BLUE, GREEN, GREY, "white")
    for at, row in enumerate(promotion.rows):
        sums = [0, *(row[edge] for edge in edges), row["found"], row["gold"]]
        for start, end, shade in zip(sums, sums[1:], shades):
            axes.barh(at, end - start, left=start, color=shade, edgecolor=GREY, linewidth=0.5, height=0.72)
            if end - start >= 0.04 * row["gold"]:
                axes.text(
                    (start + end) / 2, at, str(end - start), ha="center", va="center", fontsize=7, color="#1a1a1a"
                )
    charts.rows(axes, (f"{row['method']}: {row['stage']}" for row in promotion.rows), 48)
    axes.set_xlabel("gold passages, by rank")
    handles = [axes.barh([0], [0], color=shade, edgecolor=GREY, linewidth=0.5) for shade in shades]
    canvas.legend(handles, names, frameon=False, fontsize=7, ncols=6, loc="outside upper center")
    return charts.picture(canvas, promotion.title)


def cuts(cuts: Cuts) -> Picture:
    """The distribution of the number of passages read."""
    canvas, axes = charts.canvas(5.6, 3.2)
    methods = list(dict.fromkeys(row["method"] for row in cuts.sizes))
    for at, method in enumerate(methods):
        mine = [(row["read"], row["questions"]) for row in cuts.sizes if row["method"] == method]
        axes.plot(*zip(*mine), **charts.style(at), linestyle=":", label=plain_label(method, 60))
    axes.set(xlabel="passages chosen for the reader", ylabel="questions", ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    charts.titled(axes, cuts.title, methods)
    return charts.picture(canvas, cuts.title)
