"""ToG: the entities and relations worth exploring are the next queries.

Think-on-Graph (arXiv 2307.07697) as "Beyond Static Retrieval" runs it over retrievers: the model reads the passages and
names up to `width` directions, which are searched for as "entity relation", until the passages suffice or no direction
is left. As in the original, directions of score 0 are dropped. The method `think_on_graph` is the original, a beam
search over the graph."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.methods.iterative import Iterative, Settings, Thought, contents
from workbench.methods.iterative.pool import Entry
from workbench.settings import Positive, validated
from workbench.steps import exploring
from workbench.trace import Trace


class ToG(Iterative):
    """Retrieval of the directions that are worth exploring."""

    name = "tog"
    paper = 'Think-on-Graph (arXiv 2307.07697), as adapted in "Beyond Static Retrieval"'
    steps = ("directions",)

    @validated
    class Settings(Settings):
        """Those of all iterative methods; `width` directions are explored per round."""

        width: Positive = 3

    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        explored = tuple(query for thought in before for _, query in thought.queries)
        value = exploring.DirectionsInput(question, contents(best), explored, self.settings.width)
        result = self.ask(exploring.DIRECTIONS, value, trace)
        if result.failure:
            return Thought({"targets": ""}, failure=result.failure)
        targets = [target for target in result.value.targets if target.score > 0 and (target.entity or target.relation)]
        targets = sorted(targets, key=lambda target: -target.score)[: self.settings.width]
        queries = tuple(("target", f"{target.entity} {target.relation}".strip()) for target in targets)
        lines = "\n".join(f"{query} ({target.score:g})" for (_, query), target in zip(queries, targets))
        done = result.value.sufficient or not targets
        return Thought({"targets": lines}, () if done else queries, done)
