"""The figures of analyses of time and cost: of questions and of indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from workbench.analyses import Analysis, ConstructionCost, CostQuality
from workbench.analyses.construction_cost import FREE, MEASURED, PUBLISHED, published_as
from workbench.analyses.cost_quality import CONSTRUCTION
from workbench.views import charts
from workbench.views.figures import Picture, plain_label
from workbench.views.palette import BLUE, GREY, ORANGE


def running_time(times: Analysis) -> Picture:
    canvas, axes = charts.canvas(6.8, 1.1 + 0.36 * max(1, len(times.rows)))
    for at, row in enumerate(times.rows):
        rest = max(0.0, row["seconds"] - row["thinking"] - row["searching"])
        left = 0.0
        for part, colour in ((row["thinking"], ORANGE), (row["searching"], BLUE), (rest, GREY)):
            axes.barh(at, part, left=left, color=colour, height=0.7)
            left += part
    handles = [axes.barh([0], [0], color=colour) for colour in (ORANGE, BLUE, GREY)]
    axes.legend(handles, ["thinking", "searching", "the rest"], frameon=False, fontsize=8)
    charts.rows(axes, (row["method"] for row in times.rows), 48)
    axes.set_xlabel("seconds per question")
    charts.titled(axes, times.title)
    return charts.picture(canvas, times.title)


def wall_clock(times: Analysis) -> Picture:
    curves: dict[str, dict[int, float]] = {}
    for row in times.rows:
        curves.setdefault(row["method"], {})[row["workers"]] = row["seconds"]
    canvas, axes = charts.canvas(5.6, 3.4)
    charts.lines(axes, curves)
    axes.set(xlabel="questions in flight", ylabel="seconds per question", xscale="log", ylim=(0, None))
    axes.set_xticks(*zip(*((one, str(one)) for one in sorted({row["workers"] for row in times.rows}))))
    axes.minorticks_off()
    charts.titled(axes, times.title, curves)
    return charts.picture(canvas, times.title)


def construction_cost(costs: ConstructionCost) -> Picture:
    """Tokens of construction, tokens of communities, and minutes; a row per data set and method. Filled circles are
    measured, hollow ones a forecast, squares published."""
    rows = _shown(costs)
    canvas, panels = charts.panels(10.4, 1.5 + 0.24 * max(4, len(rows)), 3, sharey=True)
    for axes, (column, label) in zip(panels, _PANELS.items()):
        for at, row in enumerate(rows):
            _mark(axes, row, column, at)
        axes.set_xlabel(label, fontsize=8)
        axes.tick_params(labelsize=7)
        if column != "minutes":
            charts.logarithmic(axes, (row[column] for row in rows))
    charts.bases(canvas, panels[0])
    charts.rows(panels[0], (f"{row['data']}  {row['method']}" for row in rows), 60, fontsize=7)
    return charts.picture(canvas, costs.title)


_PANELS = {"construction": "tokens of construction", "community": "tokens of communities", "minutes": "minutes"}


def _shown(costs: ConstructionCost) -> list[Mapping[str, Any]]:
    """Of each method what is measured, else the forecast."""
    best: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in costs.rows:
        best.setdefault((row["data"], row["method"], row["basis"] == PUBLISHED), row)
    return list(best.values())


def _mark(axes: Any, row: Mapping[str, Any], column: str, at: int) -> None:
    if row[column] is not None:
        axes.plot(row[column], at, **charts.BASES[MEASURED if row["basis"] == FREE else row["basis"]])


def cost_quality(costs: CostQuality) -> Picture:
    """Quality against cost. Configurations on the front are numbered by cost; coincident ones share a number."""
    canvas, axes = charts.canvas(6.8, 4.6)
    known = [row for row in costs.rows if row["cost"] is not None and row["quality"] is not None]
    behind = [(row["cost"], row["quality"]) for row in known if not row["front"]]
    axes.plot(*(zip(*behind) if behind else ((), ())), color=GREY, marker="s", linestyle="")
    places: dict[tuple[float, float], list[str]] = {}
    for row in sorted((row for row in known if row["front"]), key=lambda row: row["cost"]):
        places.setdefault((row["cost"], row["quality"]), []).append(f"{row['reader']} / {row['method']}")
    front = zip(*places) if places else ((), ())
    axes.plot(*front, color=BLUE, marker="o", linewidth=0.8, drawstyle="steps-post")
    for at, (place, names) in enumerate(places.items(), 1):
        axes.annotate(str(at), place, fontsize=8, xytext=(0, (5, -13)[at % 2]), textcoords="offset points", ha="center")
        axes.plot([], [], linestyle="", label=plain_label(f"{at}  {', '.join(names)}", 110))
    axes.margins(y=0.12)
    axes.set(xlabel=f"{costs.unit} per question", ylabel=costs.measure)
    axes.set_title(plain_label(costs.title, 90), loc="left", fontsize=9)
    if places:
        canvas.legend(frameon=False, fontsize=7, loc="outside lower left", handlelength=0)
    return charts.picture(canvas, costs.title)


def pareto(costs: CostQuality) -> Picture:
    """Quality against the cost of the index, a panel per data set, with a logarithmic axis. Ours are circles (hollow: a
    forecast, its range a line) with numbers, published ones squares with names; the lines are the two fronts."""
    panels: dict[str, list[Mapping[str, Any]]] = {}
    for row in costs.rows:
        if row["cost"] is not None and row["quality"] is not None:
            panels.setdefault(published_as(row["data"]) or row["data"], []).append(row)
    numbers = _numbers(row for rows in panels.values() for row in rows)
    width = max(7.2, 4.4 * len(panels))
    canvas = Figure(figsize=(width, 4.0 + 0.16 * -(-len(numbers) // 3)), layout="constrained", dpi=110)
    for at, rows in enumerate(panels.values(), 1):
        axes = canvas.add_subplot(1, len(panels), at)
        charts.bare(axes)
        _panel(axes, rows, numbers)
        named = ", ".join(dict.fromkeys(row["data"] for row in rows))
        axes.set_title(plain_label(named, 60), loc="left", fontsize=9)
        axes.set_xlabel(_axis(costs, rows), fontsize=8)
        axes.set_ylabel(plain_label(costs.measure, 40), fontsize=8)
        axes.tick_params(labelsize=7)
    if panels:
        _legends(canvas, axes, numbers)
    return charts.picture(canvas, costs.title)


def _axis(costs: CostQuality, rows: Iterable[Mapping[str, Any]]) -> str:
    """What the x axis of a panel shows; `unit` says what ours rest on."""
    sides = {row["basis"] == PUBLISHED for row in rows}
    if sides == {True}:
        return f"{CONSTRUCTION} ({PUBLISHED})"
    return f"{costs.unit[:-1]}; squares: {PUBLISHED})" if len(sides) == 2 else costs.unit


def _numbers(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Our configurations by cost → their number in the figure."""
    ours = sorted((row for row in rows if row["basis"] != PUBLISHED), key=lambda row: (row["cost"], _name(row)))
    return {name: number for number, name in enumerate(dict.fromkeys(map(_name, ours)), 1)}


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['reader']} / {row['method']}"


def _panel(axes: Any, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> None:
    charts.logarithmic(axes, (row["cost"] for row in rows))
    labels: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        look = charts.BASES[MEASURED if row["basis"] == FREE else row["basis"]]
        place = (row["cost"], row["quality"])
        axes.plot(*place, **look)
        if row["low"] != row["high"]:
            axes.plot([row["low"], row["high"]], [place[1]] * 2, color=look["color"], linewidth=0.7, alpha=0.5)
        labels.setdefault(place, []).append(str(numbers.get(_name(row), row["method"])))
    for place, names in labels.items():
        axes.annotate(plain_label(", ".join(names), 40), place, fontsize=7, xytext=(0, 5),
                      textcoords="offset points", ha="center")  # fmt: skip
    for published, colour in ((False, BLUE), (True, ORANGE)):
        front = [row for row in rows if row["front"] and (row["basis"] == PUBLISHED) == published]
        places = sorted((row["cost"], row["quality"]) for row in front)
        axes.plot(*(zip(*places) if places else ((), ())), color=colour, linewidth=0.8, drawstyle="steps-post")
    axes.margins(0.08, 0.12)


def _legends(canvas: Any, axes: Any, numbers: Mapping[str, int]) -> None:
    charts.bases(canvas, axes)
    named = [plain_label(f"{number}  {name}", 60) for name, number in numbers.items()]
    handles = [axes.plot([], [], linestyle="")[0] for _ in named]
    canvas.legend(handles, named, frameon=False, fontsize=7, loc="outside lower left", handlelength=0, ncols=3)
