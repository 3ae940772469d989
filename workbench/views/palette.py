"""The colours of all figures and graphs: Okabe and Ito's, which colour-blind readers can tell apart, in each theme."""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import SettingError

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
PURPLE, SKY, YELLOW = "#CC79A7", "#56B4E9", "#F0E442"
PALE = "#D9B15F"  # orange for lines of which there are many


class Theme(NamedTuple):
    """The background of a drawing and the colour of its text."""

    paper: str
    ink: str


THEMES = {"light": Theme("#ffffff", "#1a1a1a"), "dark": Theme("#111111", "#e8e8e8")}


def theme_named(name: str) -> Theme:
    if name not in THEMES:
        raise SettingError(f"theme={name!r} is unknown; choose one of {', '.join(THEMES)}")
    return THEMES[name]
