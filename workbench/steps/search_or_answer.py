"""Step `search_or_answer`: what documents add to the notes on a question, and then the next query or the answer (the
inference of Search-o1, arXiv 2501.05366, and Graph-R1, arXiv 2507.21892; our wording).

Both sources mark queries and documents in one long reply; here each turn is a request of its own with the notes so far,
so that any endpoint can answer it and each turn is seen."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.llm.step import Step


@dataclass(frozen=True)
class Input:
    """The best passages so far as (title, text), the notes of the turns before, and all queries that were searched
    for."""

    question: str
    passages: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


class Output(BaseModel):
    """Either `query` or `answer` is empty; without either the search ends."""

    model_config = ConfigDict(str_strip_whitespace=True, coerce_numbers_to_str=True)

    notes: str
    query: str = ""
    answer: str = ""


STEP = Step.from_text("search_or_answer", Input, Output, max_tokens=512, longest=1_200)
