"""Fonts of figures: matplotlib's own has Latin, Greek, Cyrillic and Arabic letters and no others, so that names in
Chinese or Hindi would be drawn as empty boxes."""

from __future__ import annotations

from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text

# Fonts that systems have for the other scripts, widely installed ones first.
OTHERS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Noto Sans CJK JP", "Noto Sans JP", "Noto Sans KR", "Source Han Sans SC",
    "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Microsoft YaHei", "SimHei", "Yu Gothic",
    "Malgun Gothic", "PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS",
    "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai", "Noto Sans Hebrew", "Nirmala UI",
)  # fmt: skip


def lacking(figure: Figure) -> str:
    """Give the texts of a figure further fonts where they need some; the letters that no installed font has, sorted."""
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
    known = {font.name for font in fontManager.ttflist}
    return tuple(name for name in OTHERS if name in known)


@cache
def _letters(family: str) -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family=[family]))).get_charmap())
