"""Shared by the figures of analyses: canvas, labels, colours and markers. The figures stand in `quality_figures`,
`cost_figures` and `round_figures`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, floor, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.text import short
from workbench.views.figures import Picture, plain_label
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION

_OURS = {"color": BLUE, "marker": "o", "linestyle": ""}
BASES = {  # what a number of cost rests on
    "measured": _OURS,
    "forecast": {**_OURS, "markerfacecolor": "none"},
    "published": {"color": ORANGE, "marker": "s", "linestyle": "", "markersize": 4.5},
}
COLOURS, MARKERS = (BLUE, ORANGE, GREEN, VERMILION, GREY), "os^Dv"


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of one panel; inches."""
    figure, (axes,) = panels(width, height, 1)
    return figure, axes


def panels(width: float, height: float, columns: int, rows: int = 1, **settings: Any) -> tuple[Figure, list[Axes]]:
    """A figure of several panels; inches."""
    figure = Figure(figsize=(width, height), layout="constrained", dpi=110)
    made = list(figure.subplots(rows, columns, squeeze=False, **settings).flat)
    for axes in made:
        bare(axes)
    return figure, made


def bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def picture(figure: Figure, title: str) -> Picture:
    return Picture(figure, short(title, 200))


def lines(axes: Axes, curves: Mapping[str, Mapping[int, float]]) -> None:
    """name → {x: y}, a line each."""
    for at, (name, curve) in enumerate(curves.items()):
        axes.plot(list(curve), list(curve.values()), **style(at), label=plain_label(name, 60))


def differences(
    series: Mapping[str, Mapping[str, tuple[float, float | None, float | None]]], label: str, title: str
) -> Picture:
    """A picture of differences with intervals: name → place → (difference, low, high), a row per place. Too few
    questions have no interval (None or NaN) and are a mark alone."""
    places = list(dict.fromkeys(place for one in series.values() for place in one))
    figure, axes = canvas(7.2, 1.4 + 0.26 * len(places) * max(1, len(series)))
    for at, (name, found) in enumerate(series.items()):
        ys = [places.index(place) + (at - (len(series) - 1) / 2) * 0.7 / len(series) for place in found]
        middle, low, high = zip(*found.values())
        # If all differences are equal, rounding may put the mean slightly outside its interval.
        middle, low, high = (np.array(one, dtype=float) for one in (middle, low, high))
        spread = np.nan_to_num(np.maximum(0, [middle - low, high - middle]))
        axes.errorbar(middle, ys, xerr=spread, linestyle="", **style(at), capsize=2, label=plain_label(name, 60))
    axes.axvline(0, color=GREY, linewidth=0.8)
    rows(axes, places, 40)
    axes.set_xlabel(label)
    titled(axes, title, series)
    return picture(figure, title)


def over_hops(axes: Axes, rows: Iterable[Mapping], measure: str) -> None:
    """A measure over the number of hops, a line per method."""
    curves: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["hops"] is not None and row[measure] is not None:
            curves.setdefault(row["method"], {})[row["hops"]] = row[measure]
    lines(axes, curves)
    axes.set(xlabel="hops", ylabel=measure.replace("node_", ""), ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def rows(axes: Axes, names: Iterable[str], limit: int, **settings: Any) -> None:
    """Names the rows of a chart of bars, the first on top."""
    labels = [plain_label(name, limit) for name in names]
    axes.set_yticks(range(len(labels)), labels, **settings)
    axes.invert_yaxis()


def bases(figure: Figure, axes: Axes) -> None:
    """The legend of `BASES`."""
    handles = [axes.plot([], [], **look, label=name)[0] for name, look in BASES.items()]
    figure.legend(handles=handles, frameon=False, fontsize=7, ncols=len(handles), loc="outside upper right")


def logarithmic(axes: Axes, values: Iterable[float | None]) -> None:
    """A logarithmic x axis for values from 0 on, with a place for 0 where one of them is 0."""
    known = [value for value in values if value is not None]
    powers = [log10(value) for value in known if value] or [0]
    low, high = floor(min(powers)), ceil(max(powers))
    if 0 in known:
        axes.set_xscale("symlog", linthresh=10**low, linscale=0.4)
    else:
        axes.set_xscale("log")
    axes.set_xticks([*([0] if 0 in known else []), *(10.0**power for power in range(low, high + 1))])
    axes.minorticks_off()


def titled(axes: Axes, title: str, named: Iterable[str] = ()) -> None:
    """The title, and a legend where anything is `named`."""
    axes.set_title(plain_label(title, 90), loc="left", fontsize=9)
    if list(named):
        axes.legend(frameon=False, fontsize=8)


def style(at: int) -> dict[str, str]:
    """Colour and marker of the line at this place."""
    return {"color": colour(at), "marker": marker(at)}


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def marker(at: int) -> str:
    return MARKERS[at % len(MARKERS)]
