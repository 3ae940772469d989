"""Agentic search: a model decides after each search whether it can answer or what to search for next.

    search(question)
    repeat: from the best passages so far and its notes, the Step search_or_answer
            writes what the passages add to the notes, and then either the next query or the answer
    until it answers, names no query, or has searched `iterations` times more

The inference of Search-o1 (arXiv 2501.05366: search while reasoning, and notes in the place of whole documents) and of
Graph-R1 (arXiv 2507.21892: think, query, retrieve, rethink), without their training, over any method. The searches are
merged by rank, since each was for something else: the first passages of each come first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from workbench.methods.iterative import Iterative, Thought, contents, texts_of
from workbench.methods.iterative.pool import SCALES, Entry
from workbench.settings import Natural, Positive, validated
from workbench.steps import search_or_answer
from workbench.trace import Trace


class Agentic(Iterative):
    """Search, read, and search again until the question is answered."""

    name = "agentic"
    paper = "the inference of Search-o1 (arXiv 2501.05366) and Graph-R1 (arXiv 2507.21892)"
    steps = ("search_or_answer",)
    of = "over"

    @validated
    class Settings:
        """`over` is a method or its SPEC, which is searched at most `iterations` times after the first; each search
        fetches `depth` passages, and the model reads the first `shown` of all. A query is cut to `query_tokens`.
        `scale`, `grounds`: as for the other iterative methods."""

        over: Any = "rrf"
        iterations: Natural = 4
        depth: Positive = 50
        shown: Positive = 10
        query_tokens: Positive | None = None
        scale: Annotated[Literal[*SCALES], BeforeValidator(lambda scale: scale or "none")] = "rank"
        grounds: bool = False

    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        queries = (question, *(query for thought in before for _, query in thought.queries))
        notes = tuple(note for thought in before if (note := thought.texts.get("notes", "").strip()))
        value = search_or_answer.Input(question, contents(best), notes, queries)
        result = self.ask(search_or_answer.STEP, value, trace)
        texts = texts_of(result) if result.value else {"notes": "", "query": "", "answer": ""}
        query, done = texts["query"].strip(), bool(texts["answer"].strip() or not texts["query"].strip())
        return Thought(texts, () if done else (("query", query),), done and not result.failure, result.failure)
