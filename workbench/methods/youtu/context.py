"""The evidence of all queries of a question: gathered, ranked, and laid out for a reader."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.methods.youtu import fusion
from workbench.methods.youtu.events import Ranking
from workbench.methods.youtu.routes import Found, Tree
from workbench.records import (
    ContextEntity,
    ContextGraph,
    ContextRelation,
    Entity,
    Evidence,
    Passage,
    Path,
    Report,
    Scored,
    Unit,
)
from workbench.trace import Trace


class Gathered:
    """What the queries of a question found, in the order of the searches."""

    def __init__(self, tree: Tree, question: str):
        self.tree, self.question = tree, question
        self.found: list[Found] = []

    def add(self, found: Found) -> None:
        self.found.append(found)

    def triples(self) -> dict[int, float]:
        """The K best of all queries (row → score), best first."""
        return self.tree.all_triples(self.question, self.found)

    def passages(self) -> dict[int, float]:
        """Those of all queries (row → score), best first."""
        return self.tree.all_passages(self.question, self.found)

    def communities(self) -> dict[int, float]:
        """The best communities (id → score), best first."""
        return self._best("community", self.tree.settings.top_communities)

    def entities(self) -> dict[int, float]:
        """The K best entities of the entity route (row → score), best first."""
        return self._best("entity", self.tree.settings.top_k)

    def paths(self) -> list[Scored[Path]]:
        """The K best paths, those that join two seeds or reach a keyword first."""
        paths = (path for one in self.found for brought in one.brought for path in brought.paths)
        found = {min(path.triples, path.triples[::-1]): path for path in paths}  # one of both directions
        best = sorted(found.values(), key=lambda path: (not path.joined, -path.score, path.entities, path.triples))
        return [Scored(self.tree.path_record(path), path.score) for path in best[: self.tree.settings.top_k]]

    def graph(self, passages: int, ranked: Sequence[Passage] | None = None) -> ContextGraph:
        """The evidence as tables with so many passages."""
        if ranked is None:
            ranked = [self.tree.triples.passages[row] for row in self.passages()]
        rows = self.triples()
        triples, graph = self.tree.triples, self.tree.graph
        ends = dict.fromkeys(int(end) for row in rows for end in (triples.heads[row], triples.tails[row]) if end >= 0)
        return ContextGraph(
            tuple(ContextEntity(graph.names[row], graph.types[row]) for row in ends),
            tuple(self._relation(row, score) for row, score in rows.items()),
            tuple(Unit(str(id), f"{self.tree.community_name(id)}: {self._summary(id)}") for id in self.communities()),
            tuple(Unit(passage.id, passage.text, passage.title, (passage.id,)) for passage in ranked[:passages]),
        )

    def _relation(self, row: int, score: float) -> ContextRelation:
        fact = self.tree.triples.record(row)
        return ContextRelation(fact.subject, fact.object, fact.relation, score, passages=fact.passages)

    def _summary(self, id: int) -> str:
        return self.tree.tree.named[id].summary

    def _best(self, route: str, k: int) -> dict[int, float]:
        through = [brought.through for one in self.found for brought in one.brought if brought.route == route]
        scores = fusion.joined(through)
        best = sorted(scores, key=lambda row: (-scores[row], row))[:k]
        return {row: scores[row] for row in best}

    def report(self, id: int) -> Report:
        tree = self.tree
        passages = tuple(tree.triples.passages[row].id for row in tree.passages_of_community(id).tolist())
        return Report(f"community-{id}", tree.community_name(id), self._summary(id), passages)


def evidence_of(gathered: Gathered, label: str, scale: str, k: int, notes: Sequence[str], trace: Trace) -> Evidence:
    """The evidence: at most k passages, those that the queries found before the others."""
    tree = gathered.tree
    with Ranking.open(trace) as write:
        triples, communities = gathered.triples(), gathered.communities()
        ranked = tree.ranked(gathered.question, gathered.passages(), k)
        write(
            triples=tree.facts(triples),
            communities=tuple((tree.community_name(id), score) for id, score in communities.items()),
            passages=tuple((passage.id, score) for passage, score in ranked),
        )
    records = [passage for passage, _ in ranked]
    names = tree.graph
    return Evidence(
        gathered.question,
        label,
        scale,
        ranked,
        entities=tuple(
            Scored(Entity(names.names[row], names.types[row]), score) for row, score in gathered.entities().items()
        ),
        facts=tuple(Scored(tree.triples.record(row), score) for row, score in triples.items()),
        paths=tuple(gathered.paths()),
        reports=tuple(Scored(gathered.report(id), score) for id, score in communities.items()),
        fallback="; ".join(notes) or None,
        context=gathered.graph(tree.settings.top_k, records),
    )
