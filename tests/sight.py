"""Colours as readers see them."""

from __future__ import annotations

import numpy as np

XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """How far one colour stands out from another (WCAG 2), from 1 to 21; 4.5 is asked of letters."""
    light, dark = sorted((float(XYZ[1] @ linear(colour)) + 0.05 for colour in (one, other)), reverse=True)
    return light / dark


def hexadecimal(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
