"""Stage 3, neighbourhood search: the loop of one DOT that finds nodes, draws paths to them and has the paths judged."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.graph.region import Region, Store
from workbench.methods.dotrag.parts import Dot, Ground, KeptPath, Nodes, without_prefixes
from workbench.methods.dotrag.simple_paths import SimplePaths
from workbench.methods.dotrag.wording import Wording
from workbench.steps import dot_rules, fallback_query, judge_paths
from workbench.steps.judge_paths import PathShown, Verdict
from workbench.trace import Trace

T_MAX, EXHAUSTED, NO_QUERY, COMPLETE = "t_max", "exhausted", "no_query", "complete"  # why a search ends


class Query(NamedTuple):
    """`origin` is `initial`, `partial:<id of a path>` or `fallback`."""

    origin: str
    text: str


class Search:
    """The search of one DOT. It reads the region, its store, what is said of its relations, and nothing else.

    history     all queries so far
    evaluated   entities that are candidates no more: a path to them was judged, or there is none
    kept        paths by id
    notes       what failed, in words"""

    def __init__(self, ground: Ground, question: str, dot: Dot, rules: dot_rules.Output, part: Region, store: Store):
        self.ground, self.question, self.dot, self.rules = ground, question, dot, rules
        self.part, self.store = part, store
        self.simple_paths, self.wording = SimplePaths(part.graph), Wording(ground, question)
        self.history: list[str] = []
        self.evaluated: set[int] = set()
        self.kept: dict[str, KeptPath] = {}
        self.notes: list[str] = []
        self._vectors: dict[str, np.ndarray] = {}  # normal form of each query so far → its vector

    def run(self, trace: Trace) -> str:
        """Search until the iterations are used up or there is nothing left to do; why it ended."""
        settings = self.ground.settings
        first = self.rules.initial_query if settings.first_query == "rules" else ""
        proposed = [Query("initial", first if normal(first) else self.question)]
        for iteration in range(1, settings.t_max + 1):
            queries = self.fresh(proposed)
            dropped = [query.text for query in proposed if query not in queries]
            queries = queries or self.fall_back(settings.t_max - iteration + 1, trace)
            if not queries:
                return NO_QUERY
            with trace.span("CHAIN", "iteration", iteration=iteration, queries=queries, dropped=dropped):
                candidates = self.find(queries, trace)
                if not candidates:
                    return EXHAUSTED
                paths = self.draw(iteration, candidates, trace)
                verdicts = self.judge(iteration, paths, trace)
                self.keep(paths, verdicts, trace)
            if settings.stop_on_complete and any(path.complete for path in self.kept.values()):
                return COMPLETE
            proposed = follow_ups(verdicts)
        return T_MAX

    def fresh(self, proposed: Sequence[Query]) -> list[Query]:
        """Those of the first `queries_max` new queries that are not too similar to an earlier one (`same_query`). They
        are taken into the history."""
        settings = self.ground.settings
        new: dict[str, Query] = {}
        for query in proposed:
            if (form := normal(query.text)) and form not in self._vectors:
                new.setdefault(form, query)
        if not new:
            return []
        new = dict(list(new.items())[: settings.queries_max])
        queries = []
        for (form, query), vector in zip(new.items(), self.ground.encode([query.text for query in new.values()])):
            closest = max((float(vector @ other) for other in self._vectors.values()), default=-1.0)
            if settings.same_query is None or closest < settings.same_query:
                self._vectors[form] = vector
                queries.append(query)
        self.history += [query.text for query in queries]
        return queries

    def fall_back(self, tries: int, trace: Trace) -> list[Query]:
        """A query in another direction; the question itself where none is new; nothing where that was asked too."""
        kept = tuple(path.passage for path in self.kept.values())
        value = fallback_query.Input(self.question, self.rules.query_constraints, tuple(self.history), kept, tries)
        result = self.ground.ask(fallback_query.STEP, value, trace)
        if result.failure:
            self.notes.append(f"no fallback query was found ({result.failure})")
        found = self.fresh([Query("fallback", result.value.query)]) if result.value else []
        return found or self.fresh([Query("fallback", self.question)])

    def find(self, queries: Sequence[Query], trace: Trace) -> dict[int, float]:
        """The candidates: entities of the store that are most similar to one of the queries, with that cosine, best
        first."""
        names, types = self.ground.typed.names, self.ground.typed.types
        with trace.span("RETRIEVER", "candidates") as span:
            vectors = np.stack([self._vectors[normal(query.text)] for query in queries])
            excluded = self.evaluated | set(self.dot.rows)
            best: dict[int, tuple[float, int]] = {}  # entity → cosine, position of the query
            for at, nearest in enumerate(self.store.search(vectors, self.ground.settings.candidates, excluded)):
                for row, cosine in nearest:
                    if row not in best or cosine > best[row][0]:
                        best[row] = (cosine, at)
            found = {row: best[row][0] for row in sorted(best, key=lambda row: (-best[row][0], row))}
            span.set(types={names[row]: types[row] for row in found}, excluded=len(self.evaluated))
            span.set(query={names[row]: best[row][1] for row in found})
            span.score((names[row], cosine) for row, cosine in found.items())
        if self.ground.settings.evaluated == "retrieved":
            self.evaluated |= found.keys()
        return found

    def draw(self, iteration: int, candidates: Mapping[int, float], trace: Trace) -> dict[str, Nodes]:
        """The shortest simple paths from each anchor to each candidate, by id: those to the most similar candidates
        first, then the shorter ones, at most `cap`."""
        names = self.ground.typed.names
        with trace.span("CHAIN", "paths") as span:
            paths = {row: self._paths_to(row) for row in candidates}
            without = [row for row, found in paths.items() if not found]
            self.evaluated.update(without)
            order = [path for found in paths.values() for path in found]
            order.sort(key=lambda path: (-candidates[path[-1]], len(path), path))
            drawn = {f"{self.dot.number}.{iteration}.{number}": path for number, path in enumerate(order, 1)}
            ids = list(drawn)
            cut = ids[self.ground.settings.cap :]
            if trace:
                shown = {id: {**self.wording.traced(p), "similarity": candidates[p[-1]]} for id, p in drawn.items()}
                span.set(paths=shown, cut=cut, without=[names[row] for row in without])
        return {id: drawn[id] for id in ids[: self.ground.settings.cap]}

    def _paths_to(self, row: int) -> list[Nodes]:
        settings, rows = self.ground.settings, self.part.rows
        end, *starts = self.part.positions([row, *self.dot.rows])
        longest = settings.path_len_max or settings.h_max
        found = (self.simple_paths.shortest(start, end, settings.paths_per_pair, longest) for start in starts)
        return [tuple(rows[list(path)].tolist()) for paths in found for path in paths]

    def judge(self, iteration: int, paths: Mapping[str, Nodes], trace: Trace) -> dict[str, Verdict]:
        """The verdict on each path that got one; their last entities are then evaluated. What is missing of a reply is
        asked for again, without the others, at most `retries` times."""
        with trace.span("CHAIN", "judge") as span:
            shown = {id: self.wording.shown(id, nodes) for id, nodes in paths.items()}
            verdicts, failure, size = {}, None, self.ground.settings.judge_batch
            for _ in range(1 + self.ground.settings.retries):
                pending = [path for id, path in shown.items() if id not in verdicts]
                if not pending:
                    break
                found, failure = self._verdicts(pending, size, trace)
                verdicts |= found
                size = max(1, size // 2)  # a batch that failed would fail again as it is
            verdicts = {id: verdicts[id] for id in paths if id in verdicts}
            unjudged = [id for id in paths if id not in verdicts]
            span.set(verdicts={id: said.model_dump(exclude={"id"}) for id, said in verdicts.items()})
            span.set(passages={id: path.passage for id, path in shown.items()}, unjudged=unjudged)
            span.set(similarities={id: path.similarity for id, path in shown.items()})
        self.evaluated |= {paths[id][-1] for id in verdicts}
        if unjudged:
            why = failure or "the judge left them out"
            self.notes.append(f"{len(unjudged)} paths of iteration {iteration} were not judged ({why})")
        return verdicts

    def _verdicts(self, paths: Sequence[PathShown], size: int, trace: Trace) -> tuple[dict[str, Verdict], str | None]:
        """The first verdict on each path, and why a batch failed. Ids that are not in a batch are dropped."""
        batches = [tuple(paths[start : start + size]) for start in range(0, len(paths), size)]
        asked = [judge_paths.Input(self.question, self.rules, tuple(self.history), batch) for batch in batches]
        verdicts: dict[str, Verdict] = {}
        failure = None
        for batch, result in zip(batches, self.ground.engine.run(judge_paths.STEP, asked, trace=trace), strict=True):
            failure = failure or result.failure
            ids = {path.id for path in batch}
            for verdict in result.value.verdicts if result.value else ():
                if verdict.id in ids:
                    verdicts.setdefault(verdict.id, verdict)
        return verdicts, failure

    def keep(self, paths: Mapping[str, Nodes], verdicts: Mapping[str, Verdict], trace: Trace) -> None:
        """Keep complete and partial paths, but none that another one goes on from."""
        with trace.span("CHAIN", "keep") as span:
            dropped = {id: "unjudged" for id in paths if id not in verdicts}
            dropped |= {id: "irrelevant" for id, said in verdicts.items() if said.label == "irrelevant"}
            new = {
                id: KeptPath(id, nodes, self.wording.passage(nodes), verdicts[id])
                for id, nodes in paths.items()
                if id not in dropped
            }
            together = self.kept | new
            gone = without_prefixes(list(together.values())) if self.ground.settings.prefixes == "drop" else {}
            dropped |= {id: "superseded" if id in self.kept else "prefix" for id in gone}
            self.kept = {id: path for id, path in together.items() if id not in gone}
            span.set(kept=list(self.kept), dropped=dropped)


def follow_ups(verdicts: Mapping[str, Verdict]) -> list[Query]:
    """The next questions of partial paths, the most confident first."""
    partial = [(id, said) for id, said in verdicts.items() if said.label == "partial" and said.next_question]
    return [Query(f"partial:{id}", said.next_question) for id, said in sorted(partial, key=lambda p: -p[1].confidence)]


def normal(query: str) -> str:
    """Queries of one normal form are one query: composed, without case, punctuation and blanks.

    >>> normal(" Who  directed “Dune”?") == normal("who directed dune")
    True
    """
    folded = unicodedata.normalize("NFKC", query).casefold()
    return " ".join("".join(" " if unicodedata.category(c)[0] == "P" else c for c in folded).split())
