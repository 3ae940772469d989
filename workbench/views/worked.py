"""The view of worked examples: the question, what it shows, and where its configurations end."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.display import html, text
from workbench.evaluation.endings import Endings, ending
from workbench.llm.engine import whose_words
from workbench.text import CLIP, clean
from workbench.views.base import NAME, aligned, esc, page, table

HEADERS = ["method", "reader", "ends in", "why"]


@text.register
def _(shown: Endings) -> str:
    head = f"{clean(shown.example.question, 300)} ({_by(shown)})"
    return "\n".join([head, *aligned([HEADERS, *map(list, _rows(shown))])])


@html.register
def _(shown: Endings) -> str:
    return page(
        f"<p><b>{esc(shown.example.question)}</b> <span class='tag'>{esc(_by(shown), NAME)}</span></p>",
        f"<p>{esc(shown.example.shows)}</p>",
        table(HEADERS, _rows(shown)),
    )


def _rows(shown: Endings) -> Iterator[tuple[str, ...]]:
    for ask, answer in zip(shown.example.asks, shown.answers):
        why = f"not {ask.answer}, as was written" if ask in shown.otherwise else ask.fails or "right"
        yield (*(clean(one, NAME) for one in (ask.method, ask.reader, ending(answer))), clean(why, CLIP))


def _by(shown: Endings) -> str:
    """Whose words the answers are."""
    return whose_words(name for answer in shown.answers for name in answer.engines)
