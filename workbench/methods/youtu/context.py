"""The evidence of all queries of a question: gathered, ranked, and laid out for a reader.

The reflection loop: a first answer, then rounds that either give the answer or say what to search for next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.llm.engine import Engine
from workbench.methods.iterative import normal
from workbench.methods.youtu import fusion
from workbench.methods.youtu.routed import Initial, Ranking, Round
from workbench.methods.youtu.routes import SearchResult, Tree
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
from workbench.steps import answer as answering
from workbench.steps import reflect
from workbench.text import storable
from workbench.trace import Trace


class Gathered:
    """The results of all queries of a question, in the order of the searches."""

    def __init__(self, tree: Tree, question: str):
        self.tree, self.question = tree, question
        self.results: list[SearchResult] = []

    def add(self, search_result: SearchResult) -> None:
        self.results.append(search_result)

    def triples(self) -> dict[int, float]:
        """The K best of all queries (row → score), best first."""
        return self.tree.all_triples(self.question, self.results)

    def passages(self) -> dict[int, float]:
        """Those of all queries (row → score), best first."""
        return self.tree.all_passages(self.question, self.results)

    def communities(self) -> dict[int, float]:
        """The best communities (id → score), best first."""
        return self._best("community", self.tree.settings.top_communities)

    def entities(self) -> dict[int, float]:
        """The K best entities of the entity route (row → score), best first."""
        return self._best("entity", self.tree.settings.top_k)

    def paths(self) -> list[Scored[Path]]:
        """The K best paths, those that join two seeds or reach a keyword first."""
        paths = (path for result in self.results for brought in result.brought for path in brought.paths)
        by_ends = {min(path.triples, path.triples[::-1]): path for path in paths}  # one of both directions
        best = sorted(by_ends.values(), key=lambda path: (not path.joined, -path.score, path.entities, path.triples))
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
        through = [brought.through for result in self.results for brought in result.brought if brought.route == route]
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


class Knowledge(NamedTuple):
    """The evidence so far as a Step sees it: one text, and its passages as (title, text) for the rules."""

    text: str
    passages: tuple[tuple[str, str], ...]


class Reflection:
    """One question's loop over an engine. `released`: a round sees the last query instead of the question and not what
    was searched; only a reply that is the last query ends the loop, spelled as it is."""

    def __init__(self, engine: Engine, question: str, searched: Sequence[str], released: bool, trace: Trace):
        self.engine, self.trace, self.released = engine, trace, released
        self.question = self.query = storable(question)
        self.searched, self.thoughts, self.notes = [storable(query) for query in searched], [], []

    def run(self, steps: int, knowledge: Callable[[], Knowledge], search: Callable[[str, str], None]) -> None:
        """At most so many rounds. `search(query, origin)` adds to the knowledge."""
        self.answer(knowledge())
        for number in range(1, steps + 1):
            with Round.open(self.trace, round=number) as write:
                thought = self.think(number, knowledge(), last=number == steps)
                if thought.stopped in ("", LAST):
                    search(thought.query, f"round {number}")
                write(thought)
            if thought.stopped:
                return

    def answer(self, knowledge: Knowledge) -> None:
        """The first thought: an answer from the evidence of the decomposition."""
        with Initial.open(self.trace) as write:
            value = answering.Input(self.question, knowledge.text, knowledge.passages)
            (result,) = self.engine.run(answering.STEP, [value], trace=self.trace)
            text = result.value.answer or result.value.thought if result.value else ""
            write(answer=text, failure=result.failure or None)
        if result.failure:
            self.notes.append(f"the initial answer failed: {result.failure}")
        self.thoughts += [text] if text else []

    def think(self, number: int, knowledge: Knowledge, last: bool) -> Round:
        """One request, and what its reply decides."""
        question = self.query if self.released else self.question
        searched = () if self.released else tuple(self.searched)
        value = reflect.Input(
            question, self.query, knowledge.text, knowledge.passages, tuple(self.thoughts), searched, number
        )
        (result,) = self.engine.run(reflect.STEP, [value], trace=self.trace)
        if result.failure:
            self.notes.append(f"round {number} of the reflection failed: {result.failure}")
            return Round(number, stopped=FAILED, failure=result.failure)
        reply = result.value.reply
        self.thoughts.append(reply)
        read = reflect.reading(reply, released=self.released)
        if not (read.done or read.marked):
            self.notes.append(f"the reply of round {number} has no marker, and is the query itself")
        stopped = self._stopped(read, last)
        if stopped in ("", LAST):
            self.query = storable(read.query)
            self.searched.append(self.query)
        return Round(number, reply, read.answer, read.query, read.marked, stopped)

    def _stopped(self, read: reflect.Reflection, last: bool) -> str:
        if read.done:
            return ANSWERED
        if not read.query:
            return EMPTY
        if self.released:
            repeated = read.query == self.query
        else:
            repeated = normal(read.query) in map(normal, (self.query, *self.searched))
        return REPEATED if repeated else LAST if last else ""


ANSWERED, EMPTY, REPEATED, FAILED, LAST = "answered", "empty", "repeated", "failed", "last round"
