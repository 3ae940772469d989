"""Reader `local`: reports, entities, relationships and passages in one context, a short answer (Microsoft GraphRAG's
local search, arXiv 2404.16130; microsoft/graphrag, commit 6dad6d2).

It reads whatever the evidence holds of these: all four from the method `graphrag`, passages alone from `dense`. Each
table (`workbench.layouts.graphrag`) has its share of the budget and is filled in the order of the evidence, up to the
first row that does not fit. Left out: conversation history, claims, the source's markdown report; the prompts are those
of all readers."""

from __future__ import annotations

from dataclasses import replace

from workbench import tokens
from workbench.layouts import graphrag
from workbench.layouts.evidence import told
from workbench.reading import base
from workbench.reading.render import Context
from workbench.records import ContextEntity, Evidence
from workbench.settings import Budget, Natural, Share, validated


class Local(base.ContextReader):
    """Reads at most `budget` tokens: `reports` and `sources` (passages) are shares of it, entities and relationships
    have the rest; at most `entities` entities."""

    name = "local"
    paper = "From Local to Global (arXiv 2404.16130)"

    @validated
    class Settings(base.Settings):
        budget: Budget = 12_000
        reports: Share = 0.15
        sources: Share = 0.5
        entities: Natural = 20

        def __post_init__(self):
            base.check_shares(self, "reports", "sources")

    def uncompressed(self, evidence: Evidence) -> Context:
        given, held = self.settings, told(evidence)
        entities = tuple(
            ContextEntity(entity.name, entity.description or entity.type)
            for entity, _ in evidence.entities[: given.entities]
        )
        graph = graphrag.filled(replace(held, entities=entities), given.budget, given.reports, given.sources)
        text = graphrag.write(graph)
        passages = tuple(passage for passage, _ in evidence.passages[: len(graph.chunks)])
        return Context(text, tokens.count(text), passages)
