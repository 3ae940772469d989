"""The colours of all figures and graphs: Okabe and Ito's, which colour-blind readers can tell apart, in each theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from workbench.errors import SettingError

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
PURPLE, SKY, YELLOW = "#CC79A7", "#56B4E9", "#F0E442"
WINE, BROWN, INDIGO = "#A0204E", "#8A5A2B", "#6A4FC8"  # three more that stay apart from those above
PALE = "#D9B15F"  # orange for lines of which there are many


# Orange is kept for passages, vermilion for where a picture starts, grey for what has no colour of its own.
TYPES = (BLUE, GREEN, PURPLE, SKY, YELLOW, WINE, BROWN, INDIGO)
TYPE_SHAPES = ("dot", "triangle", "diamond", "triangleDown", "star", "hexagon")  # squares are passages


def type_marks(order: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and shape of each type of an index, from the most frequent on: the same in every picture of it. Each of
    the first takes the colour that its name asks for, or the next one that is free, so that a type mostly keeps its
    colour in another index too; all the others are grey.

    >>> marks = type_marks(["person", "place"])
    >>> marks["person"] == type_marks(["person"])["person"]
    True
    """
    marks: dict[str, tuple[str, str]] = {}
    free = list(range(len(TYPES)))
    for name in dict.fromkeys(order):
        asked = crc32(name.encode("utf-8", "replace"))
        if free:
            at = min(free, key=lambda one: (one - asked) % len(TYPES))
            free.remove(at)
            marks[name] = TYPES[at], TYPE_SHAPES[at % len(TYPE_SHAPES)]
        else:
            marks[name] = GREY, TYPE_SHAPES[asked % len(TYPE_SHAPES)]
    return marks


class Theme(NamedTuple):
    """The background of a drawing and the colour of its text."""

    paper: str
    ink: str


THEMES = {"light": Theme("#ffffff", "#1a1a1a"), "dark": Theme("#111111", "#e8e8e8")}


def theme_named(name: str) -> Theme:
    if name not in THEMES:
        raise SettingError(f"theme={name!r} is unknown; choose one of {', '.join(THEMES)}")
    return THEMES[name]
