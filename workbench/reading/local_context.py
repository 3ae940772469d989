"""Reader `local`: reports, entities, relationships and passages in one context, a short answer (Microsoft GraphRAG's
local search, arXiv 2404.16130; microsoft/graphrag, commit 6dad6d2).

It reads whatever the evidence holds of these: all four from the method `graphrag`, passages alone from `dense`. Each
block has its share of the budget and is filled in the order of the evidence, up to the first that does not fit. Left
out: conversation history, claims, the source's markdown report; the prompts are those of all readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from workbench import tokens
from workbench.reading import base
from workbench.reading.render import Context
from workbench.records import Evidence
from workbench.settings import Budget, Natural, Share, validated

T = TypeVar("T")


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
        given = self.settings
        reports = [(f"{report.content}\n\n", report) for report, _ in evidence.reports]
        reports, _ = _fill("-----Reports-----\n", reports, given.budget * given.reports)
        share = given.budget * (1 - given.reports - given.sources)
        rows = [(_row(e.name, e.type, e.description), e) for e, _ in evidence.entities[: given.entities]]
        entities, _ = _fill("-----Entities-----\nentity|type|description\n", rows, share)
        rows = [(_row(*fact.members), fact) for fact, _ in evidence.facts]
        head = "-----Relationships-----\nsource|relation|target\n"
        relationships, _ = _fill(head, rows, share - tokens.count(entities + "\n"))
        read = [(f"{passage.content}\n\n", passage) for passage, _ in evidence.passages[: evidence.selected]]
        sources, passages = _fill("-----Sources-----\n", read, given.budget * given.sources)
        text = "\n".join(block for block in (reports, entities, relationships, sources) if block).rstrip()
        return Context(text, tokens.count(text), passages)


def _fill(head: str, lines: Iterable[tuple[str, T]], budget: float) -> tuple[str, tuple[T, ...]]:
    """A block of at most `budget` tokens, a line feed after it included, and what it holds; empty if nothing fits."""
    text, items, used = head, [], tokens.count(head + "\n")
    for line, item in lines:
        used += tokens.count(line)
        if used > budget:
            break
        text += line
        items.append(item)
    return (text, tuple(items)) if items else ("", ())


def _row(*cells: str) -> str:
    return "|".join(" ".join(cell.split()).replace("|", "/") for cell in cells) + "\n"
