"""The two modes of reading: `reject` answers from the context or refuses; `open` falls back on the model's knowledge
(Youtu-GraphRAG, arXiv 2508.19855, appendix A.6). The paper keeps a pair of prompts identical except for that clause, so
that their difference is that of the clause; `opened` makes the second prompt of a pair from the first."""

from __future__ import annotations

from typing import Literal, get_args

Mode = Literal["reject", "open"]
MODES: tuple[str, ...] = get_args(Mode)
OWN_KNOWLEDGE = "answer from your own knowledge"


def opened(text: str, *clauses: tuple[str, str]) -> str:
    """Instructions with their clauses (as in `reject`, as in `open`) exchanged; ValueError if one is not in them once.

    >>> opened("Answer from the text alone.", ("the text alone", "the text first"))
    'Answer from the text first.'
    """
    for closed, wide in clauses:
        if text.count(closed) != 1:
            raise ValueError(f"the instructions hold {closed!r} {text.count(closed)} times; a clause stands there once")
        text = text.replace(closed, wide)
    return text
