"""The colours of all figures and graphs: Okabe and Ito's, which colour-blind readers can tell apart, on either
theme."""

from __future__ import annotations

from typing import NamedTuple

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"

PALE = "#D9B15F"  # orange for lines of which there are many


class Theme(NamedTuple):
    """The ground that something is drawn on, and what is written on it."""

    paper: str
    ink: str


THEMES = {"light": Theme("#ffffff", "#1a1a1a"), "dark": Theme("#111111", "#e8e8e8")}
