"""IRGS: what was generated, right or wrong, is the next query.

Follows "Enhancing Retrieval-Augmented Large Language Models with Iterative Retrieval-Generation Synergy" (ITER-RETGEN,
arXiv 2305.15294) in two profiles. `adapted` merges the rankings, as "Beyond Static Retrieval" needs them; in `original`
each round replaces the passages, over a dense retriever, of which five are read. Its three rounds are retrieval and
generation each: the first retrieval and two more, two generations, and the reader's, which is the last.

A query is question, reasoning, answer, in this order (reports of the original differ); like all queries it is cut to
`query_tokens`, which a long reasoning uses up before its answer. The method never stops early; where nothing was
generated, the query is the question again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.methods.iterative import Iterative, Settings, Thought, contents, said
from workbench.methods.iterative.pool import Entry
from workbench.settings import validated
from workbench.steps import generation
from workbench.trace import Trace


class IRGS(Iterative):
    """Retrieval and generation in turn."""

    name = "irgs"
    paper = "Iterative Retrieval-Generation Synergy (arXiv 2305.15294)"
    steps = ("generation",)

    @validated
    class Settings(Settings):
        """Those of all iterative methods; `accumulate`: rankings are merged, else each replaces the one before."""

        profile: str = "adapted"
        accumulate: bool = True

    profiles: Mapping = {"adapted": {}, "original": {"backbone": "dense", "shown": 5, "accumulate": False}}

    @property
    def accumulates(self) -> bool:
        return self.settings.accumulate

    def think(self, question: str, shown: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        result = self.ask(generation.STEP, generation.Input(question, contents(shown)), trace)
        if result.failure:
            return Thought({"reasoning": "", "answer": ""}, failure=result.failure)
        texts = said(result)
        query = " ".join(part for part in (question, texts["reasoning"], texts["answer"]) if part)
        return Thought(texts, (("generation", query),))
