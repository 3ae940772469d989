"""Reader `local`: reports, entities, relationships and passages in one context, a short answer (Microsoft GraphRAG's
local search, spec 3.4, microsoft/graphrag, commit 6dad6d2).

It reads whatever the evidence holds of these: all four from the method `graphrag`, passages alone from `dense`. Each
block has its share of the budget and is filled in the order of the evidence, up to the first that does not fit. Left
out: conversation history, claims, the source's markdown report; the question is the one of the Step `answer`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from workbench import tokens
from workbench.errors import SettingError
from workbench.llm.engine import Engine, RulesEngine
from workbench.reading.direct import Direct
from workbench.reading.render import Context
from workbench.records import Evidence

T = TypeVar("T")


class Local(Direct):
    """Reads at most `budget` tokens: `reports` and `sources` (passages) are shares of it, entities and relationships
    have the rest; at most `entities` entities."""

    name = "local"

    def __init__(
        self,
        engine: Engine | None = None,
        *,
        budget: int = 12_000,
        reports: float = 0.15,
        sources: float = 0.5,
        entities: int = 20,
    ):
        given = {"budget": budget, "reports": reports, "sources": sources, "entities": entities}
        for name, least in (("budget", 1), ("entities", 0)):
            if not isinstance(given[name], int) or given[name] < least:
                raise SettingError(f"{name}={given[name]!r}; it should be a whole number from {least} on")
        for name in ("reports", "sources"):
            if not isinstance(given[name], int | float) or not 0 <= given[name] <= 1:
                raise SettingError(f"{name}={given[name]!r}; it should be a share of the budget, from 0 to 1")
        if reports + sources > 1:
            raise SettingError(f"reports={reports!r} and sources={sources!r} are more than the whole budget")
        self.engine, self.budget, self.reports, self.sources = engine or RulesEngine(), budget, reports, sources
        self.entities = entities
        changed = [f"{name}={value}" for name, value in given.items() if value != _DEFAULTS[name]]
        self.label = f"local[{','.join(changed)}]" if changed else "local"

    def context(self, evidence: Evidence) -> Context:
        """What `read` shows to the engine."""
        reports = [(f"{report.content}\n\n", report) for report, _ in evidence.reports]
        reports, _ = _fill("-----Reports-----\n", reports, self.budget * self.reports)
        share = self.budget * (1 - self.reports - self.sources)
        told = [(_row(e.name, e.type, e.description), e) for e, _ in evidence.entities[: self.entities]]
        entities, _ = _fill("-----Entities-----\nentity|type|description\n", told, share)
        told = [(_row(*fact.members), fact) for fact, _ in evidence.facts]
        head = "-----Relationships-----\nsource|relation|target\n"
        relationships, _ = _fill(head, told, share - tokens.count(entities + "\n"))
        read = [(f"{passage.content}\n\n", passage) for passage, _ in evidence.passages[: evidence.selected]]
        sources, passages = _fill("-----Sources-----\n", read, self.budget * self.sources)
        text = "\n".join(block for block in (reports, entities, relationships, sources) if block).rstrip()
        return Context(text, tokens.count(text), passages)


_DEFAULTS = Local.__init__.__kwdefaults__


def _fill(head: str, told: Iterable[tuple[str, T]], budget: float) -> tuple[str, tuple[T, ...]]:
    """A block of at most `budget` tokens, a line feed after it included, and what it holds; empty if nothing fits."""
    text, held, used = head, [], tokens.count(head + "\n")
    for line, item in told:
        used += tokens.count(line)
        if used > budget:
            break
        text += line
        held.append(item)
    return (text, tuple(held)) if held else ("", ())


def _row(*cells: str) -> str:
    return "|".join(" ".join(cell.split()).replace("|", "/") for cell in cells) + "\n"
