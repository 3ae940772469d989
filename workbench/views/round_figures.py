"""The figures of analyses of iterative methods: their parts, and what their rounds change."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.analyses import Analysis, Cuts, Promotion
from workbench.analyses.rounds import DEPTHS
from workbench.views import charts
from workbench.views.base import number
from workbench.views.figures import Picture, plain_label
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION


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
    canvas = Figure(figsize=(8.8, 3.6), layout="constrained", dpi=110)
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
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
        charts.bare(axes)
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
