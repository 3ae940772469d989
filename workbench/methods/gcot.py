"""GCoT: the missing information is the next query.

Graph-CoT (arXiv 2404.07103) as "Beyond Static Retrieval" adapts it to retrievers: like IRCoT, but a thought names only
the evidence to fetch next, without reasoning or answer. The method `graph_cot` is the original, which acts in a
graph."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.methods.ircot import concluded, earlier
from workbench.methods.iterative import Iterative, Thought, contents
from workbench.methods.iterative.pool import Entry
from workbench.steps import next_thought
from workbench.trace import Trace


class GCoT(Iterative):
    """Retrieval of the evidence that a thought finds missing."""

    name = "gcot"
    paper = 'Graph Chain-of-Thought (arXiv 2404.07103), as adapted in "Beyond Static Retrieval"'
    steps = ("missing_evidence",)

    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        value = next_thought.Input(question, contents(best), earlier(before))
        return concluded(self.ask(next_thought.MISSING, value, trace))
