"""The colours of all figures and graphs: Okabe and Ito's, which colour-blind readers can tell apart, in each theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from workbench.errors import SettingError

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
PURPLE, SKY, YELLOW = "#CC79A7", "#56B4E9", "#F0E442"
WINE, BROWN, INDIGO = "#A0204E", "#8A5A2B", "#6A4FC8"  # three more that differ clearly from those above
PALE = "#D9B15F"  # orange for lines of which there are many


# Orange is reserved for passages, vermilion for the starts of a picture, grey for types without a colour of their own.
TYPES = (BLUE, GREEN, PURPLE, SKY, YELLOW, WINE, BROWN, INDIGO)
TYPE_SHAPES = ("dot", "triangle", "diamond", "triangleDown", "star", "hexagon")  # squares are passages


def type_marks(order: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and shape of each type of an index, the most frequent first; all its pictures have the same. The hash of a
    type's name selects its colour, or the next one that is free, so that a type mostly has the same colour in other
    indexes too. When all colours are taken, further types are grey.

    >>> marks = type_marks(["person", "place"])
    >>> marks["person"] == type_marks(["person"])["person"]
    True
    """
    marks: dict[str, tuple[str, str]] = {}
    free = list(range(len(TYPES)))
    for name in dict.fromkeys(order):
        digest = crc32(name.encode("utf-8", "replace"))
        if free:
            at = min(free, key=lambda slot: (slot - digest) % len(TYPES))
            free.remove(at)
            marks[name] = TYPES[at], TYPE_SHAPES[at % len(TYPE_SHAPES)]
        else:
            marks[name] = GREY, TYPE_SHAPES[digest % len(TYPE_SHAPES)]
    return marks


class Theme(NamedTuple):
    """The background of a drawing, the colour of its text, and that of what is less important."""

    paper: str
    ink: str
    faint: str = GREY


THEMES = {"light": Theme("#ffffff", "#1a1a1a", "#666666"), "dark": Theme("#111111", "#e8e8e8", "#9e9e9e")}
AUTO = "auto"  # the theme of the page around a picture
# A frame or an image cannot see the page around it; browsers tell it the `color-scheme` of its element, which this sets
# to JupyterLab's theme. On any other page it is that of the page.
THEMED = "hopscope-themed"
THEMED_CSS = "".join(
    f'[data-jp-theme-light="{light}"] .{THEMED}{{color-scheme:{name}}}'
    for light, name in (("true", "light"), ("false", "dark"))
)


AROUND = Theme("var(--jp-layout-color0, Canvas)", "CanvasText")  # of the page around a view that lies in it


def surface(theme: str) -> Theme:
    """The colours of a view inside another page."""
    if theme not in (AUTO, *THEMES):
        raise SettingError(f"theme={theme!r} is unknown; choose one of {', '.join((AUTO, *THEMES))}")
    return THEMES.get(theme, AROUND)


def theme_css(theme: str = AUTO) -> str:
    """The custom properties `--paper`, `--ink` and `--faint` of a page or an image of its own: those of one theme, or
    of the page around it."""
    colours = surface(theme)
    if theme == AUTO:
        return f"{theme_css('light')}@media (prefers-color-scheme:dark){{{theme_css('dark')}}}"
    return ":root{{color-scheme:{};--paper:{};--ink:{};--faint:{}}}".format(theme, *colours)
