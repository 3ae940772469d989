"""Step `reflect`: is the knowledge found so far enough for an answer, or what should be searched for next? (The agent's
loop of Youtu-GraphRAG; our wording, its two markers.)

`reading` takes a reply as the released code does or as we do: any case, and only the line behind a marker."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.next_thought import CONCLUSION
from workbench.steps.prose import plain, query

ANSWER, QUERY = CONCLUSION, "The new query is:"  # markers
_QUOTES = " \t*_`\"'“”‘’"  # that models put around a query or an answer


@dataclass(frozen=True)
class Input:
    """`query` is what was searched for last; `context` the knowledge found, and `passages` its texts as (title, text),
    for the rule body; `searched` the queries so far, which the released prompt does not show."""

    question: str
    query: str
    context: str
    passages: tuple[tuple[str, str], ...]
    thoughts: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    step: int = 1


class Output(BaseModel):
    reply: str


class Reflection(NamedTuple):
    """`done` with an `answer`, or the next `query`. `marked`: the reply has one of the markers; without one it is the
    query itself."""

    done: bool
    answer: str = ""
    query: str = ""
    marked: bool = True


def reading(reply: str, *, released: bool = False) -> Reflection:
    """What a reply decides. The answer's marker comes first wherever it stands. `released`: markers in their own case,
    and all that follows.

    >>> reading("Nora founded it.\\nthe NEW query is: where was Nora born?\\nI am sure.")
    Reflection(done=False, answer='', query='where was Nora born?', marked=True)
    >>> reading("so the answer is: Oslo.", released=True).query
    'so the answer is: Oslo.'
    """
    flags = 0 if released else re.IGNORECASE
    answer, query = (re.split(re.escape(marker), reply, maxsplit=1, flags=flags)[1:] for marker in (ANSWER, QUERY))
    if answer:
        return Reflection(True, _rest(answer[0], released))
    return Reflection(False, query=_searched(query[0] if query else reply, released), marked=bool(query))


def _rest(text: str, whole: bool) -> str:
    if whole:
        return text.strip()
    return next((bare for line in text.splitlines() if (bare := line.strip(_QUOTES))), "")


def _searched(text: str, released: bool) -> str:
    """The query in a text; empty where it says that nothing is missing."""
    rest = _rest(text, released)
    try:
        return rest if released else query(rest)
    except ValueError:  # JSON or a form, for which nothing can be found
        return ""


def read(text: str) -> Output:
    """The whole reply. Raises ValueError for one that says nothing."""
    if not text.strip(_QUOTES + "\r\n"):
        raise ValueError("the reply says nothing")
    return Output(reply=plain(text, "thought", names=["reply", "thought"]))


STEP = Step.from_text("reflect", Input, Output, read=read, max_tokens=256)
