"""The view of the analyses: their tables and notes."""

from __future__ import annotations

import pandas as pd

from workbench.analyses import Analysis
from workbench.display import html
from workbench.text import counted, short
from workbench.views.base import NAME, esc, page, table

SHOWN = 60  # rows of a table; frame() has all


@html.register
def _(analysis: Analysis) -> str:
    parts = []
    for title, frame in analysis.tables().items():
        parts += [f"<p>{esc(title)}</p>"] if title else []
        parts.append(frame_part(frame))
    notes = [f"<p class='q'>{esc(note, 400)}</p>" for note in analysis.notes]
    return page(f"<p><b>{esc(analysis.title, NAME)}</b></p>", *parts, *notes)


def frame_part(frame: pd.DataFrame) -> str:
    """A table of pandas as HTML, its index left out; texts are short enough for a table."""
    shown = frame.head(SHOWN).astype(object)
    plain = shown.where(shown.notna(), None).values
    rows = [
        [short(cell, 100) if isinstance(cell, str) else cell.item() if hasattr(cell, "item") else cell for cell in row]
        for row in plain
    ]
    more = f"… {counted(len(frame) - SHOWN, 'more row')}; see frame()" if len(frame) > SHOWN else ""
    return table([str(name).replace("_", " ") for name in frame], rows) + f"<p class='q'>{more}</p>"
