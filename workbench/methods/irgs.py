"""IRGS: the generated answer, right or wrong, is the next query.

Follows "Enhancing Retrieval-Augmented Large Language Models with Iterative Retrieval-Generation Synergy" (ITER-RETGEN,
arXiv 2305.15294) in two profiles. `adapted` merges the rankings, as "Beyond Static Retrieval" requires; in `original`,
over a dense retriever, each round replaces the passages, and five are read. Its three rounds of retrieval and
generation are here the first retrieval and two more, two generations, and the reader's as the third.

A query consists of question, answer and reasoning, in this order, so that whatever cuts it (an encoder,
`query_tokens`) cuts the end of the reasoning and never the answer; reports of the original differ on the order.
The method never stops early; if generation fails, the query is the question again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.methods.iterative import Iterative, Settings, Thought, contents, texts_of
from workbench.methods.iterative.pool import Entry
from workbench.settings import validated
from workbench.steps import next_thought
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

    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        result = self.ask(next_thought.GENERATION, next_thought.GenerationInput(question, contents(best)), trace)
        if result.failure:
            return Thought({"reasoning": "", "answer": ""}, failure=result.failure)
        texts = texts_of(result)
        query = " ".join(part for part in (question, texts["answer"], texts["reasoning"]) if part)
        return Thought(texts, (("generation", query),))
