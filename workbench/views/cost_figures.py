"""The figures of analyses of time and cost: of questions and of indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analyses import Analysis, ConstructionCost, CostQuality
from workbench.analyses.construction_cost import FREE, MEASURED, PUBLISHED, published_as
from workbench.analyses.cost_quality import CONSTRUCTION
from workbench.views import charts
from workbench.views.charts import Label, Picture, plain_label
from workbench.views.palette import BLUE, GREY, ORANGE

_OURS = {"color": BLUE, "marker": "o", "linestyle": ""}
BASES = {  # the basis of a cost → its look
    "measured": _OURS,
    "forecast": {**_OURS, "markerfacecolor": "none"},
    "published": {"color": ORANGE, "marker": "s", "linestyle": "", "markersize": 4.5},
}


def running_time(times: Analysis) -> Picture:
    looks = {"thinking": charts.bar(ORANGE), "searching": charts.bar(BLUE), "the rest": charts.bar(GREY)}
    canvas, (axes,) = charts.bars(4.6, (row["method"] for row in times.rows), row=0.3, extra=1.3)
    parts = [
        [row["thinking"], row["searching"], max(0.0, row["seconds"] - row["thinking"] - row["searching"])]
        for row in times.rows
    ]
    charts.stacked(axes, parts, list(looks.values()), counts=False)
    axes.set_xlabel("seconds per question")
    charts.legend(canvas, looks)
    return charts.picture(canvas, times.title)


def wall_clock(times: Analysis) -> Picture:
    curves: dict[str, dict[float, float]] = {}
    for row in times.rows:
        curves.setdefault(row["method"], {})[row["workers"]] = row["seconds"]
    canvas, (axes,) = charts.panels(4.8, 3.2, ends=(plain_label(name, 80) for name in curves))
    labels = charts.lines(axes, curves)
    axes.set(xlabel="questions in flight", ylabel="seconds per question", ylim=(0, None))
    charts.spaced(axes, {row["workers"] for row in times.rows})
    return charts.picture(canvas, times.title, labels=labels)


def construction_cost(costs: ConstructionCost) -> Picture:
    """Tokens of construction, tokens of communities, and minutes; a row per data set and method. Filled circles are
    measured, hollow ones a forecast, squares published."""
    rows = _best_rows(costs)
    names = (f"{row['data']}  {row['method']}" for row in rows)
    canvas, panels = charts.bars(7.8, names, columns=len(_PANELS), extra=1.4)
    for axes, (column, label) in zip(panels, _PANELS.items()):
        for at, row in enumerate(rows):
            if row[column] is not None:
                axes.plot(row[column], at, **_look(row))
        axes.set_xlabel(label)
        if column != "minutes":
            charts.logarithmic(axes, (row[column] for row in rows))
    charts.legend(canvas, BASES)
    return charts.picture(canvas, costs.title)


_PANELS = {"construction": "tokens of construction", "community": "tokens of communities", "minutes": "minutes"}


def _look(row: Mapping[str, Any]) -> dict[str, Any]:
    return BASES[MEASURED if row["basis"] == FREE else row["basis"]]


def _best_rows(costs: ConstructionCost) -> list[Mapping[str, Any]]:
    """The measured row of each method, otherwise its forecast; and the published rows."""
    best: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in costs.rows:
        best.setdefault((row["data"], row["method"], row["basis"] == PUBLISHED), row)
    return list(best.values())


def cost_quality(costs: CostQuality) -> Picture:
    """Quality against cost, with the intervals of the quality. Configurations on the front are numbered by cost;
    coincident ones share a number, and the others are squares. A thin line joins the settings of a method."""
    complete = [row for row in costs.rows if row["cost"] is not None and row["quality"] is not None]
    places: dict[tuple[float, float], list[str]] = {}
    for row in sorted((row for row in complete if row["front"]), key=lambda row: row["cost"]):
        places.setdefault((row["cost"], row["quality"]), []).append(_name(row))
    numbers = {", ".join(names): at for at, names in enumerate(places.values(), 1)}
    canvas, (axes,) = charts.panels(6.4, 3.6 + 0.17 * len(numbers))
    for row in complete:
        axes.plot([row["cost"]] * 2, [row["low"], row["high"]], color=BLUE if row["front"] else GREY, linewidth=0.7)
    for rows in _settings_of(complete):
        axes.plot(*np.transpose([(row["cost"], row["quality"]) for row in rows]), color=GREY, linewidth=0.5)
    behind = [(row["cost"], row["quality"]) for row in complete if not row["front"]]
    axes.plot(*np.reshape(behind, (-1, 2)).T, color=GREY, marker="s", linestyle="")
    axes.plot(*np.reshape(list(places), (-1, 2)).T, color=BLUE, marker="o", linewidth=0.8, drawstyle="steps-post")
    labels = [Label(axes, str(at), charts.around(*place), needed=True) for at, place in enumerate(places, 1)]
    axes.margins(0.08, 0.15)
    axes.set(xlabel=f"{costs.unit} per question", ylabel=costs.measure)
    _list(canvas, numbers)
    return charts.picture(canvas, costs.title, labels=labels)


def _settings_of(rows: Iterable[Mapping[str, Any]]) -> Iterable[list[Mapping[str, Any]]]:
    """The configurations of each method, which may differ in settings or readers, by their cost."""
    of: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["cost"]):
        of.setdefault(row["method"].partition("[")[0], []).append(row)
    return of.values()


def pareto(costs: CostQuality) -> Picture:
    """Quality against the cost of the index, a panel per data set, with a logarithmic axis. Ours are circles (hollow: a
    forecast, its range a line) with numbers, published ones squares with names; the lines are the two fronts."""
    by_data: dict[str, list[Mapping[str, Any]]] = {}
    for row in costs.rows:
        if row["cost"] is not None and row["quality"] is not None:
            by_data.setdefault(published_as(row["data"]) or row["data"], []).append(row)
    numbers = _numbers(row for rows in by_data.values() for row in rows)
    count = max(1, len(by_data))
    canvas, panels = charts.panels(max(6.4, 4.2 * count), 3.6 + 0.17 * len(numbers), count)
    labels: list[Label] = []
    for axes, rows in zip(panels, by_data.values()):
        labels += _panel(axes, rows, numbers)
        named = ", ".join(dict.fromkeys(row["data"] for row in rows))
        axes.set_title(charts.wrapped(named, 3.4), loc="left", fontsize=charts.SIZE)
        axes.set_xlabel(charts.wrapped(_axis(costs, rows), 3.2))
        axes.set_ylabel(plain_label(costs.measure, 40))
    _list(canvas, numbers, BASES)
    return charts.picture(canvas, costs.title, labels=labels)


def _list(canvas: Any, numbers: Mapping[str, int], looks: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Explain the numbers of a figure below it."""
    none = {"linestyle": "", "marker": ""}
    charts.legend(canvas, {**(looks or {}), **{f"{number}  {name}": none for name, number in numbers.items()}})


def _axis(costs: CostQuality, rows: Iterable[Mapping[str, Any]]) -> str:
    """The label of a panel's x axis; `unit` names the basis of our costs."""
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


def _panel(axes: Any, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> list[Label]:
    """Draw the marks of a panel. Returns the labels with their names."""
    charts.logarithmic(axes, (row["cost"] for row in rows))
    names: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        look, place = _look(row), (row["cost"], row["quality"])
        axes.plot(*place, **look)
        if row["low"] != row["high"]:
            axes.plot([row["low"], row["high"]], [place[1]] * 2, color=look["color"], linewidth=0.7, alpha=0.5)
        names.setdefault(place, []).append(str(numbers.get(_name(row), row["method"])))
    for published, colour in ((False, BLUE), (True, ORANGE)):
        front = [row for row in rows if row["front"] and (row["basis"] == PUBLISHED) == published]
        places = sorted((row["cost"], row["quality"]) for row in front)
        axes.plot(*np.reshape(list(places), (-1, 2)).T, color=colour, linewidth=0.8, drawstyle="steps-post")
    axes.margins(0.15, 0.2)
    return [
        Label(axes, plain_label(", ".join(named), 40), charts.around(*place), size=6.5)
        for place, named in names.items()
    ]
