"""The one style of all figures for print: a picture that shows and saves itself, panels with room for their names, and
the marks that figures share. Names are written beside their marks and never overlap; one legend below explains the
colours. matplotlib's own font has only Latin, Greek, Cyrillic and Arabic letters: a figure with other letters gets
further fonts of the system, because names in Chinese would otherwise be drawn as empty boxes."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import Normal, Stroke
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from workbench.errors import SettingError
from workbench.text import clean, short
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, THEMED_CSS, VERMILION, theme_css
from workbench.views.parts import Part, image
from workbench.views.render import html_of

SIZE, SMALL = 8, 7  # font sizes in points: of names and titles, and of frequent texts
ROW = 0.26  # inches of a row of a chart of bars
LETTER = 0.57  # the width of a letter, as a share of its size
COLOURS, MARKERS = (BLUE, ORANGE, GREEN, VERMILION, GREY, PURPLE), "os^Dvp"
HALO = (Stroke(linewidth=2, foreground="white"), Normal())
# The metadata, by suffix, that would make every file different.
_DATES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
# The colours of a theme that replace matplotlib's black, white and grey.
_DYES = {"#000000": "var(--ink)", "#ffffff": "var(--paper)", GREY: "var(--faint)"}


class Label(NamedTuple):
    """A name that is written where there is room, after the layout: at the first of its `spots` (x, y in the
    coordinates of `axes`, an offset in points, and how letters are aligned) where it meets no other text. It stays in
    its axes, or at least in the figure if `outside`; where there is no room, it is left out unless it is `needed`."""

    axes: Axes
    text: str
    spots: Sequence[tuple[Any, Any, tuple[float, float], str, str]]
    colour: str = "#000000"
    size: float = SMALL
    outside: bool = False
    needed: bool = False


class Picture:
    """A matplotlib figure that shows itself in a notebook, without the state of pyplot: in the theme of the page around
    it, and in files in black on white. `data` is the drawn data. In SVG, letters that no installed font has remain
    text, so that the program that shows the file draws them."""

    def __init__(
        self, figure: Figure, description: str, data: pd.DataFrame | None = None, labels: Iterable[Label] = ()
    ):
        FigureCanvasAgg(figure)  # measures drawn texts
        # Labels shift the layout slightly at every drawing, so it is settled once.
        with _quiet_on_glyphs():
            self._lacking = lacking(figure)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            _place(figure, labels)
            self._lacking = lacking(figure)
        self.figure, self.description, self.data = figure, description, data

    def save(self, path: str | Path) -> Path:
        """Write it as PNG, SVG or PDF, by the suffix; without a suffix as all three, and its data as CSV beside them.
        The same data give the same bytes."""
        path = Path(path)
        if path.suffix and path.suffix not in _DATES:
            raise SettingError(
                f"{path.name} has no suffix of a picture; end it in one of {', '.join(_DATES)}, or give none"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in [path.suffix] if path.suffix else _DATES:
            self._write(path.with_suffix(suffix), suffix)
        if self.data is not None and not path.suffix:
            self.data.to_csv(path.with_suffix(".csv"), index=False, errors="replace", lineterminator="\n")
        return path

    def svg(self) -> str:
        """The picture as an SVG file in the theme of the page that shows it as an image."""
        out = io.BytesIO()
        self._write(out, ".svg")
        dyed = re.sub("|".join(_DYES), lambda match: _DYES[match[0]], out.getvalue().decode())
        return dyed.replace("<style", f"<style>{theme_css()}svg{{fill:var(--ink)}}</style><style", 1)

    def _write(self, out: Path | io.BytesIO, suffix: str) -> None:
        settings = {"svg.hashsalt": "hopscope"} | ({"svg.fonttype": "none"} if self._lacking else {})
        if self._lacking and suffix != ".svg":
            problem = f"no installed font draws {self._lacking[:20]!r}"
            warnings.warn(f"{problem}; install one, such as Noto Sans CJK, or save the figure as SVG", stacklevel=3)
        with matplotlib.rc_context(settings), _quiet_on_glyphs():
            self.figure.savefig(out, format=suffix[1:], metadata={_DATES[suffix]: None})

    def part(self) -> Part:
        """The picture as a part of a page."""
        return image(self.svg(), round(self.figure.get_figwidth() * self.figure.dpi), self.description)

    def _repr_html_(self) -> str:
        return f"<style>{THEMED_CSS}</style>{html_of(self.part())}"

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self._write(out, ".png")
        return out.getvalue()

    def __repr__(self) -> str:
        return f"Picture: {self.description}"


@contextmanager
def _quiet_on_glyphs() -> Iterator[None]:
    """Suppress matplotlib's warnings about letters that no font has."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


# -- canvas ------------------------------------------------------------------------------------------------------------


def panels(
    width: float, height: float, columns: int = 1, rows: int = 1, *, names: Iterable[str] = (),
    ends: Iterable[str] = (), **settings: Any,
) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """A figure of several panels, together `width` inches wide, with additional room on the left for the `names` of
    rows and on the right for the names of lines at their `ends`."""
    names, ends = list(names), list(ends)
    right = max((inches(name) + 0.25 for name in ends), default=0.0)
    figure = Figure(layout="none", dpi=110)
    FigureCanvasAgg(figure)
    width += max(map(inches, names), default=0.0) + right
    figure.set_size_inches(width, max(height, 0.9 + 0.14 * len(ends)))
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0, 0, 1 - right / width, 1)))
    made = list(figure.subplots(rows, columns, squeeze=False, sharey=bool(names), **settings).flat)
    for axes in made:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=SMALL)
        axes.xaxis.label.set_fontsize(SIZE)
        axes.yaxis.label.set_fontsize(SIZE)
    if names:
        made[0].set_yticks(range(len(names)), names)
        made[0].set_ylim(len(names) - 0.4, -0.6)
        for axes in made:
            axes.grid(axis="y", visible=False)
            axes.xaxis.set_major_locator(MaxNLocator(4))
    return figure, made


def bars(
    width: float, names: Iterable[str], limit: int = 60, *, row: float = ROW, extra: float = 1.0, **settings: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with a row for each name, the first on top; its height grows with them. `extra` inches are for axes."""
    labels = [plain_label(name, limit) for name in names]
    return panels(width, extra + row * max(1, len(labels)), names=labels, **settings)


def picture(
    figure: Figure, title: str, data: pd.DataFrame | None = None, labels: Iterable[Label] = (), *, heading: str = ""
) -> Picture:
    """The picture under its title, or under a `heading` instead."""
    text = wrapped(heading or title, figure.get_figwidth() - 0.2, SIZE + 1)
    figure.suptitle(text, x=0.1 / figure.get_figwidth(), ha="left", fontsize=SIZE + 1)
    return Picture(figure, short(title, 200), data, labels)


def legend(figure: Figure, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Explain colours and marks below the figure: name → its look, that of a bar if it has a `facecolor`, otherwise
    that of a line."""
    handles = [
        (Patch if "facecolor" in look else Line2D)(*(() if "facecolor" in look else ((), ())), label=name, **look)
        for name, look in ((plain_label(name, 60), look) for name, look in entries.items())
    ]
    wide = max((inches(handle.get_label(), SMALL) + 0.45 for handle in handles), default=1.0)
    columns = max(1, min(len(handles), int((figure.get_figwidth() - 0.2) / wide)))
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=columns, frameon=False, fontsize=SMALL,
                      handlelength=1.2)  # fmt: skip


def plain_label(value: str, limit: int) -> str:
    """A label: matplotlib reads dollar signs as mathematics, and leaves names that begin with `_` out of legends."""
    label = short(value, limit).replace("$", r"\$")
    return f" {label}" if not label or label.startswith("_") else label


def wrapped(text: str, width: float, size: float = SIZE) -> str:
    """A label, wrapped to at most three lines of `width` inches."""
    letters = max(12, int(72 * width / (LETTER * size)))
    return "\n".join(textwrap.wrap(plain_label(text, 3 * letters), letters)[:3])


def table(columns: Sequence[str], rows: Iterable[Sequence]) -> pd.DataFrame:
    """The data of a picture, whose texts are safe in a file."""
    safe = [[clean(value) if isinstance(value, str) else value for value in row] for row in rows]
    return pd.DataFrame(safe, columns=list(map(clean, columns)))


def inches(text: str, size: float = SMALL) -> float:
    """The approximate width of a drawn text."""
    return LETTER * size * max(map(len, text.split("\n")), default=0) / 72


# -- marks -------------------------------------------------------------------------------------------------------------


def style(at: int) -> dict[str, str]:
    """Colour and marker of the line at this position."""
    return {"color": colour(at), "marker": MARKERS[at % len(MARKERS)]}


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def bar(colour: str, hatch: str = "") -> dict[str, Any]:
    """The look of a bar."""
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.5}


def lines(axes: Axes, curves: Mapping[str, Mapping[float, float]], **look: Any) -> list[Label]:
    """Draw a line for each name → {x: y}. Returns the names as labels for the right margin of the last panel (`ends` of
    `panels`)."""
    for at, (name, curve) in enumerate(curves.items()):
        axes.plot(list(curve), list(curve.values()), **{**style(at), "markersize": 4.5, "linewidth": 1.3, **look},
                  label=plain_label(name, 80))  # fmt: skip
    return [
        end(axes, name, list(curve.values())[-1], colour(at))
        for at, (name, curve) in enumerate(curves.items())
        if curve
    ]


def end(axes: Axes, name: str, y: float, colour: str) -> Label:
    """The label of a line beside the axes, as close to its height `y` as the other labels permit."""
    steps = sorted(range(-40, 41), key=abs)
    spots = [(1.0, y, (6, 4.5 * step), "left", "center") for step in steps]
    return Label(axes, plain_label(name, 80), spots, colour, outside=True, needed=True)


def around(x: float, y: float, gap: float = 5) -> list[tuple[Any, Any, tuple[float, float], str, str]]:
    """The spots around a mark, nearest first."""
    turns = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
    return [
        (x, y, (gap * far * right, gap * far * up), ("right", "center", "left")[right + 1],
         ("top", "center", "bottom")[up + 1])
        for far in (1, 2.2, 3.4)
        for right, up in turns
    ]  # fmt: skip


def stacked(axes: Axes, rows: Sequence[Sequence[float]], looks: Sequence[Mapping[str, Any]], *,
            shares: bool = False, counts: bool = True) -> None:  # fmt: skip
    """Draw a stacked bar per row, of its values or of their `shares`. With `counts`, parts with enough room show their
    value."""
    whole = max(map(sum, rows), default=0) or 1
    for at, parts in enumerate(rows):
        left, unit = 0.0, (sum(parts) or 1) if shares else 1
        for value, look in zip(parts, looks):
            axes.barh(at, value / unit, left=left, height=0.72, **look)
            if counts and value / (unit if shares else whole) >= 0.035:
                axes.text(left + value / unit / 2, at, f"{value:,}", ha="center", va="center", fontsize=SMALL,
                          path_effects=HALO)  # fmt: skip
            left += value / unit
    axes.set_xlim(0, 1 if shares else whole)


def differences(
    series: Mapping[str, Mapping[str, tuple[float, float | None, float | None]]], label: str, title: str
) -> Picture:
    """A picture of differences with intervals: name → place → (difference, low, high). Names are rows, and each place
    is a panel, or the other way round if there are more places. Differences over too few questions have no interval
    (None or NaN) and are a mark alone."""
    places = list(dict.fromkeys(place for values in series.values() for place in values))
    turned = len(places) > len(series)
    rows, titles = (places, list(series)) if turned else (list(series), places)
    columns = max(1, min(4, len(titles)))
    deep = -(-max(1, len(titles)) // columns)
    size = {"columns": columns, "rows": deep, "row": 0.2 * deep, "extra": 0.6 + 0.5 * deep}
    figure, made = bars(1.7 * columns + 0.8, rows, **size, sharex=True)
    for axes, heading in zip(made, titles):
        axes.set_title(wrapped(heading, 1.6, SMALL), loc="left", fontsize=SMALL)
        axes.axvline(0, color=GREY, linewidth=0.8)
        for at, row in enumerate(rows):
            values = series.get(heading if turned else row, {}).get(row if turned else heading)
            if values:
                middle, low, high = np.array(values, dtype=float)
                # If all differences are equal, rounding may put the mean slightly outside its interval.
                spread = np.nan_to_num(np.maximum(0, [[middle - low], [high - middle]]))
                axes.errorbar(
                    [middle], [at], xerr=spread, linestyle="", color=BLUE, marker="o", markersize=4, capsize=2
                )
    for axes in made[len(titles) :]:
        axes.set_visible(False)
    figure.supxlabel(wrapped(label, 4), fontsize=SIZE)
    return picture(figure, title)


def spaced(axes: Axes, values: Iterable[float]) -> None:
    """Make the x axis logarithmic, with these values as ticks where they have room."""
    ticks: list[float] = []
    for value in sorted(set(values), reverse=True):
        if value > 0 and (not ticks or ticks[-1] >= 1.4 * value):
            ticks.append(value)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
    axes.minorticks_off()


def logarithmic(axes: Axes, values: Iterable[float | None]) -> None:
    """Make the x axis logarithmic for values from 0 on, with a tick at 0 if one of them is 0."""
    numbers = [value for value in values if value is not None]
    powers = [log10(value) for value in numbers if value] or [0]
    low, high = floor(min(powers)), ceil(max(powers))
    if 0 in numbers:
        axes.set_xscale("symlog", linthresh=10**low, linscale=max(0.4, 0.25 * (high - low)))
    else:
        axes.set_xscale("log")
    step = max(1, ceil((high - low) / 3))
    axes.set_xticks([*([0] if 0 in numbers else []), *(10.0**power for power in range(low, high + 1, step))])
    axes.minorticks_off()


def whole_numbers(axis: Any) -> None:
    axis.set_major_locator(MaxNLocator(5, integer=True))


# -- labels ------------------------------------------------------------------------------------------------------------


def _place(figure: Figure, labels: Iterable[Label]) -> None:
    """Write each label at its first spot that overlaps no other text."""
    renderer = figure.canvas.get_renderer()
    taken = [text.get_window_extent(renderer) for axes in figure.axes for text in axes.texts]
    for label in labels:
        written = label.axes.annotate(
            label.text, (0, 0), xytext=(0, 0), textcoords="offset points", color=label.colour, fontsize=label.size,
            xycoords=label.axes.get_yaxis_transform() if label.outside else "data", annotation_clip=False,
            path_effects=HALO, zorder=5,
        )  # fmt: skip
        frame = label.axes.get_window_extent(renderer)
        if label.outside:
            frame = Bbox.from_extents(0, frame.y0 - 6, figure.bbox.x1, frame.y1 + 6)
        boxes = (_moved(written, spot, renderer) for spot in label.spots)
        free = next((box for box in boxes if _inside(box, frame) and not any(map(box.overlaps, taken))), None)
        if free is None and not label.needed:
            written.remove()
            continue
        taken.append(_moved(written, label.spots[0], renderer) if free is None else free)


def _moved(written: Any, spot: tuple, renderer: Any) -> Bbox:
    """Move a label to a spot. Returns its frame, a little wider than its letters."""
    x, y, offset, horizontal, vertical = spot
    written.xy = (x, y)
    written.set(position=offset, ha=horizontal, va=vertical)
    return written.get_window_extent(renderer).padded(1.0)


def _inside(box: Bbox, frame: Bbox) -> bool:
    return frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


# -- fonts -------------------------------------------------------------------------------------------------------------


# System fonts for other scripts, the most widely installed first.
OTHERS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Noto Sans CJK JP", "Noto Sans JP", "Noto Sans KR", "Source Han Sans SC",
    "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Microsoft YaHei", "SimHei", "Yu Gothic",
    "Malgun Gothic", "PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS",
    "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai", "Noto Sans Hebrew", "Nirmala UI",
)  # fmt: skip


def lacking(figure: Figure) -> str:
    """Give the texts of a figure the further fonts that they need. Returns the letters that no installed font has,
    sorted."""
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
    families = {font.name for font in fontManager.ttflist}
    return tuple(name for name in OTHERS if name in families)


@cache
def _letters(family: str) -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family=[family]))).get_charmap())
