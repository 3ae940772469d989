"""The figures of the analyses: one per kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.experiments.analyses import (
    Ablation,
    Analysis,
    AtEqualNodes,
    ByHops,
    ByKind,
    Complementarity,
    CostQuality,
    CoveredOnly,
    Cuts,
    Decomposition,
    Promotion,
    QualityAgainstK,
    RecallCurve,
    RoundsCurve,
    RunningTime,
    WinRate,
)
from workbench.experiments.analyses.promotion import DEPTHS
from workbench.views.base import number, short
from workbench.views.figures import Picture, plain_label, recall_figure
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION

COLOURS, MARKERS = (BLUE, ORANGE, GREEN, VERMILION, GREY), "os^Dv"


@singledispatch
def figure(analysis: Analysis) -> Picture:
    """The static figure of an analysis."""
    raise NotImplementedError(f"{type(analysis).__name__} has no figure; register one in {__name__}")


@figure.register
def _(kinds: ByKind) -> Picture:
    """Differences to the baseline in the first measure, with their intervals."""
    frame = kinds.frame()
    measure = frame["measure"].iloc[0]
    mine = frame[(frame["measure"] == measure) & frame["difference"].notna()]
    places = list(dict.fromkeys(zip(mine["by"], mine["kind"])))
    methods = list(dict.fromkeys(mine["method"]))
    canvas, axes = _canvas(7.2, 1.4 + 0.26 * len(places) * max(1, len(methods)))
    for at, method in enumerate(methods):
        rows = mine[mine["method"] == method]
        ys = [
            places.index(place) + (at - (len(methods) - 1) / 2) * 0.7 / len(methods)
            for place in zip(rows["by"], rows["kind"])
        ]
        # Where all differences are equal, rounding may put the mean a little outside its interval.
        errors = [(rows["difference"] - rows["low"]).clip(lower=0), (rows["high"] - rows["difference"]).clip(lower=0)]
        axes.errorbar(
            rows["difference"], ys, xerr=errors, linestyle="", color=_colour(at), marker=_marker(at), capsize=2,
            label=plain_label(method, 60),
        )  # fmt: skip
    axes.axvline(0, color=GREY, linewidth=0.8)
    counts = {(row.by, row.kind): row.n for row in mine.itertuples()}
    axes.set_yticks(
        range(len(places)),
        [plain_label(f"{kind}{' hops' * (by == 'hops')}  (n={counts[by, kind]})", 40) for by, kind in places],
    )
    axes.invert_yaxis()
    axes.set_xlabel(f"difference in {measure}, with 95 % interval")
    _titled(axes, kinds.title, methods)
    return Picture(canvas, short(kinds.title, 200))


@figure.register
def _(curve: RecallCurve) -> Picture:
    curves: dict[str, dict[int, float]] = {}
    for row in curve.rows:
        if row["recall"] is not None:
            curves.setdefault(row["method"], {})[row["k"]] = row["recall"]
    return recall_figure(curves)


@figure.register
def _(quality: QualityAgainstK) -> Picture:
    frame = quality.frame()
    canvas, axes = _canvas(5.6, 3.4)
    _lines(axes, {name: dict(zip(frame["k"], frame[name])) for name in ("em", "f1")})
    axes.set(xlabel="passages read", ylabel="mean", xscale="log", ylim=(0, 1.02))
    axes.set_xticks(list(frame["k"]), [str(k) for k in frame["k"]])
    axes.minorticks_off()
    _titled(axes, quality.notes[0] if quality.notes else quality.title, ["em", "f1"])
    return Picture(canvas, short(quality.title, 200))


@figure.register
def _(curve: RoundsCurve) -> Picture:
    """Left the measures over rounds, a line style per method; right how many questions stopped early."""
    frame = curve.frame()
    canvas = Figure(figsize=(8.8, 3.6), layout="constrained", dpi=110)
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    measures = [name for name in ("em", "f1", "recall@5") if name in frame]
    for at, (method, rows) in enumerate(frame.groupby("method", sort=False)):
        for which, measure in enumerate(measures):
            left.plot(
                rows["iterations"], rows[measure].astype(float), color=_colour(which), marker=_marker(which),
                linestyle=("-", "--", ":", "-.")[at % 4], label=f"{measure}, {plain_label(method, 50)}",
            )  # fmt: skip
        right.plot(rows["iterations"], rows["stopped"].astype(float), color=_colour(at), marker=_marker(at))
    left.set(ylim=(0, 1.02), ylabel="mean")
    right.set_ylabel("questions that stopped early")
    for axes in (left, right):
        axes.set_xlabel("rounds after the first retrieval")
        axes.set_xticks(sorted(set(frame["iterations"])))
        _bare(axes)
    left.legend(frameon=False, fontsize=7)
    return Picture(canvas, short(curve.title, 200))


@figure.register
def _(square: Complementarity) -> Picture:
    """The first rule's 2x2 table; darker is more."""
    row = square.rows[0]
    canvas, axes = _canvas(4.6, 3.4)
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
    _titled(axes, f"{row['rule']}: either {either:.1%}, phi {number(row['phi'], 2)}", [])
    return Picture(canvas, short(f"questions that {square.a} and {square.b} answer", 200))


@figure.register
def _(promotion: Promotion) -> Picture:
    """A bar per method and stage: how high the gold passages stand."""
    canvas, axes = _canvas(7.6, 1.3 + 0.32 * max(1, len(promotion.rows)))
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
    axes.set_yticks(
        range(len(promotion.rows)), [plain_label(f"{row['method']}: {row['stage']}", 48) for row in promotion.rows]
    )
    axes.invert_yaxis()
    axes.set_xlabel("gold passages, by rank")
    handles = [axes.barh([0], [0], color=shade, edgecolor=GREY, linewidth=0.5) for shade in shades]
    canvas.legend(handles, names, frameon=False, fontsize=7, ncols=6, loc="outside upper center")
    return Picture(canvas, short(promotion.title, 200))


@figure.register
def _(cuts: Cuts) -> Picture:
    """How many questions are read with how many passages."""
    canvas, axes = _canvas(5.6, 3.2)
    methods = list(dict.fromkeys(row["method"] for row in cuts.sizes))
    for at, method in enumerate(methods):
        mine = [(row["read"], row["questions"]) for row in cuts.sizes if row["method"] == method]
        axes.plot(*zip(*mine), color=_colour(at), marker=_marker(at), linestyle=":", label=plain_label(method, 60))
    axes.set(xlabel="passages chosen for the reader", ylabel="questions", ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _titled(axes, cuts.title, methods)
    return Picture(canvas, short(cuts.title, 200))


@figure.register
def _(parts: Ablation) -> Picture:
    frame = parts.frame()
    measure = next(name for name in ("f1", "em", "recall@5") if name in frame)
    canvas, axes = _canvas(6.8, 1.1 + 0.36 * len(frame))
    axes.barh(
        range(len(frame)),
        frame[measure].astype(float),
        color=[GREY if v == "static" else BLUE for v in frame["variant"]],
        height=0.7,
    )
    for at, row in enumerate(frame.to_dict("records")):
        read = f"  {number(row['read'], 1)} read" if row.get("read") is not None else ""
        axes.text(row[measure] or 0, at, f" {number(row[measure], 3)}{read}", va="center", fontsize=8)
    axes.set_yticks(range(len(frame)), [plain_label(name, 40) for name in frame["variant"]])
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.set_xlabel(measure)
    _titled(axes, parts.title, [])
    return Picture(canvas, short(parts.title, 200))


@figure.register
def _(times: RunningTime) -> Picture:
    canvas, axes = _canvas(6.8, 1.1 + 0.36 * max(1, len(times.rows)))
    for at, row in enumerate(times.rows):
        rest = max(0.0, row["seconds"] - row["thinking"] - row["searching"])
        left = 0.0
        for part, colour in ((row["thinking"], ORANGE), (row["searching"], BLUE), (rest, GREY)):
            axes.barh(at, part, left=left, color=colour, height=0.7)
            left += part
    handles = [axes.barh([0], [0], color=colour) for colour in (ORANGE, BLUE, GREY)]
    axes.legend(handles, ["thinking", "searching", "the rest"], frameon=False, fontsize=8)
    axes.set_yticks(range(len(times.rows)), [plain_label(row["method"], 48) for row in times.rows])
    axes.invert_yaxis()
    axes.set_xlabel("seconds per question")
    _titled(axes, times.title, [])
    return Picture(canvas, short(times.title, 200))


@figure.register
def _(found: ByHops) -> Picture:
    """A panel per measure of the headline, a line per method."""
    frame = found.frame()
    measures = [name for name in ("node_recall", "node_precision", "node_f1") if name in frame] or ["failures"]
    canvas = Figure(figsize=(2.9 * len(measures) + 0.6, 3.2), layout="constrained", dpi=110)
    panels = canvas.subplots(1, len(measures), squeeze=False)[0]
    for axes, measure in zip(panels, measures):
        _bare(axes)
        _over_hops(axes, found, measure)
    panels[0].legend(frameon=False, fontsize=7)
    return Picture(canvas, short(found.title, 200))


@figure.register
def _(found: AtEqualNodes) -> Picture:
    canvas, axes = _canvas(5.6, 3.4)
    _over_hops(axes, found, "recall")
    _titled(axes, found.title, [row["method"] for row in found.rows])
    return Picture(canvas, short(found.title, 200))


@figure.register
def _(rates: WinRate) -> Picture:
    """The rate in each dimension over all questions, with its interval."""
    mine = [row for row in rates.rows if row["hops"] is None]
    canvas, axes = _canvas(6.0, 1.2 + 0.36 * max(1, len(mine)))
    for at, row in enumerate(mine):
        if row["win_rate"] is not None:
            axes.plot([row["low"], row["high"]], [at, at], color=BLUE)
            axes.plot([row["win_rate"]], [at], color=BLUE, marker="o")
    axes.axvline(0.5, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(mine)), [plain_label(f"{row['dimension']}  (n={row['n']})", 40) for row in mine])
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of comparisons won, with 95 % interval")
    _titled(axes, rates.title, [])
    return Picture(canvas, short(rates.title, 200))


@figure.register
def _(parts: Decomposition) -> Picture:
    """A bar per configuration and kind: where right and wrong answers come from, as shares of the questions."""
    canvas, axes = _canvas(7.6, 1.3 + 0.32 * max(1, len(parts.rows)))
    names = ("correct_covered", "lucky", "reasoning", "cut", "retrieval")
    for at, row in enumerate(parts.rows):
        left = 0.0
        for name, colour, hatch in zip(names, (BLUE, GREEN, ORANGE, VERMILION, GREY), ("", "//", "", "xx", "..")):
            share = (row[name] or 0) / max(1, row["n"])
            axes.barh(at, share, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5, height=0.72)
            left += share
    labels = [" / ".join(filter(None, (row["reader"], row["method"], row["kind"]))) for row in parts.rows]
    axes.set_yticks(
        range(len(labels)),
        [plain_label(f"{name}  (n={row['n']})", 60) for name, row in zip(labels, parts.rows)],
        fontsize=7,
    )
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of the questions")
    handles = axes.patches[: len(names)]
    labels = ("right, covered", "right by luck", "reasoning failed", "cut by compression", "not retrieved")
    canvas.legend(handles, labels, frameon=False, fontsize=7, ncols=5, loc="outside upper center")
    return Picture(canvas, short(parts.title, 200))


@figure.register
def _(found: CoveredOnly) -> Picture:
    """The first measure over all questions and over those that could be answered."""
    measure = found.rows[0]["measure"] if found.rows else ""
    mine = [row for row in found.rows if row["measure"] == measure]
    canvas, axes = _canvas(6.8, 1.2 + 0.36 * max(1, len(mine)))
    for which, name in enumerate(("value", "covered", "read")):
        known = [(row[name], at) for at, row in enumerate(mine) if row[name] is not None]
        label = ("all", "retrieved", "read")[which]
        axes.plot(*(zip(*known) if known else ((), ())), color=_colour(which), marker=_marker(which), linestyle="",
                  label=label)  # fmt: skip
    axes.set_yticks(
        range(len(mine)), [plain_label(f"{row['reader']} / {row['method']}", 60) for row in mine], fontsize=7
    )
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.02), xlabel=measure)
    _titled(axes, found.title, mine)
    return Picture(canvas, short(found.title, 200))


@figure.register
def _(costs: CostQuality) -> Picture:
    """Quality against cost. Configurations on the front are numbered by cost; those at one place share a number."""
    canvas, axes = _canvas(6.8, 4.6)
    known = [row for row in costs.rows if row["cost"] is not None and row["quality"] is not None]
    behind = [(row["cost"], row["quality"]) for row in known if not row["front"]]
    axes.plot(*(zip(*behind) if behind else ((), ())), color=GREY, marker="s", linestyle="")
    places: dict[tuple[float, float], list[str]] = {}
    for row in sorted((row for row in known if row["front"]), key=lambda row: row["cost"]):
        places.setdefault((row["cost"], row["quality"]), []).append(f"{row['reader']} / {row['method']}")
    axes.plot(*(zip(*places) if places else ((), ())), color=BLUE, marker="o", linewidth=0.8, drawstyle="steps-post")
    for at, (place, names) in enumerate(places.items(), 1):
        axes.annotate(str(at), place, fontsize=8, xytext=(0, (5, -13)[at % 2]), textcoords="offset points", ha="center")
        axes.plot([], [], linestyle="", label=plain_label(f"{at}  {', '.join(names)}", 110))
    axes.margins(y=0.12)
    axes.set(xlabel=f"{costs.unit} per question", ylabel=costs.measure)
    axes.set_title(plain_label(costs.title, 90), loc="left", fontsize=9)
    if places:
        canvas.legend(frameon=False, fontsize=7, loc="outside lower left", handlelength=0)
    return Picture(canvas, short(costs.title, 200))


def _over_hops(axes: Axes, found: Analysis, measure: str) -> None:
    lines: dict[str, dict[int, float]] = {}
    for row in found.rows:
        if row["hops"] is not None and row[measure] is not None:
            lines.setdefault(row["method"], {})[row["hops"]] = row[measure]
    _lines(axes, lines)
    axes.set(xlabel="hops", ylabel=measure.replace("node_", ""), ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _lines(axes: Axes, lines: Mapping[str, Mapping[int, float]]) -> None:
    for at, (name, line) in enumerate(lines.items()):
        axes.plot(list(line), list(line.values()), color=_colour(at), marker=_marker(at), label=plain_label(name, 60))


def _titled(axes: Axes, title: str, named: Iterable[str]) -> None:
    axes.set_title(plain_label(title, 90), loc="left", fontsize=9)
    if list(named):
        axes.legend(frameon=False, fontsize=8)


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    canvas = Figure(figsize=(width, height), layout="constrained", dpi=110)
    axes = canvas.subplots()
    _bare(axes)
    return canvas, axes


def _bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def _marker(at: int) -> str:
    return MARKERS[at % len(MARKERS)]
