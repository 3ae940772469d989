"""Stage 3, neighbourhood search: the loop of one DOT that finds nodes, draws paths to them and has the paths judged."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.methods.dotrag.events import (
    Candidates,
    DrawnPaths,
    IterationEvent,
    JudgedPath,
    KeptPaths,
    Rows,
    SelectedDot,
    Verdicts,
)
from workbench.methods.dotrag.neighbourhood import DotContext, Store
from workbench.methods.dotrag.paths import PathReader, SimplePaths
from workbench.operators.region import Region
from workbench.steps import dot_rules, judge_paths
from workbench.steps.judge_paths import Verdict
from workbench.text import normalized
from workbench.trace import Trace

T_MAX, EXHAUSTED, NO_QUERY, COMPLETE = "t_max", "exhausted", "no_query", "complete"  # why a search ends


class Query(NamedTuple):
    """`origin` is `initial`, `partial:<id of a path>` or `fallback`."""

    origin: str
    text: str


class Search:
    """The search of one DOT. It reads only the region, its store, and the descriptions of its relations.

    history     all queries so far
    evaluated   entities that are no longer candidates: a path to them was judged, or none exists
    kept        id → kept path
    notes       failures, in words"""

    def __init__(
        self,
        context: DotContext,
        question: str,
        dot: SelectedDot,
        rules: dot_rules.Output,
        part: Region,
        store: Store,
    ):
        self.context, self.settings = context, context.settings
        self.question, self.dot, self.rules = question, dot, rules
        self.part, self.store = part, store
        self.simple_paths, self.reader = SimplePaths(part.graph), PathReader(context, question)
        self.history: list[str] = []
        self.evaluated: set[int] = set()
        self.kept: dict[str, JudgedPath] = {}
        self.notes: list[str] = []
        self._vectors: dict[str, np.ndarray] = {}  # normal form of each query so far → its vector

    def run(self, trace: Trace) -> str:
        """Search until the iterations are used up or nothing is left to do; returns the reason for the end."""
        proposed = [self.first_query()]
        for iteration in range(1, self.settings.t_max + 1):
            queries = self.fresh(proposed)
            dropped = [query.text for query in proposed if query not in queries]
            queries = queries or self.fall_back(self.settings.t_max - iteration + 1, trace)
            if not queries:
                return NO_QUERY
            with IterationEvent.open(trace, iteration=iteration, queries=queries, dropped=dropped):
                candidates = self.find(queries, trace)
                if not candidates:
                    return EXHAUSTED
                paths = self.judge(iteration, self.draw(iteration, candidates, trace), trace)
                self.keep(paths, trace)
            if self.settings.stop_on_complete and any(path.complete for path in self.kept.values()):
                return COMPLETE
            proposed = follow_ups(paths)
        return T_MAX

    def first_query(self) -> Query:
        first = self.rules.initial_query if self.settings.first_query == "rules" else ""
        return Query("initial", first if normal(first) else self.question)

    def fresh(self, proposed: Sequence[Query]) -> list[Query]:
        """The first `queries_max` new queries, without those too similar to an earlier one (`same_query`); added to the
        history."""
        new: dict[str, Query] = {}
        for query in proposed:
            if (form := normal(query.text)) and form not in self._vectors:
                new.setdefault(form, query)
        if not new:
            return []
        new = dict(list(new.items())[: self.settings.queries_max])
        queries = []
        for (form, query), vector in zip(new.items(), self.context.encode([query.text for query in new.values()])):
            if not self._searched(vector):
                self._vectors[form] = vector
                queries.append(query)
        self.history += [query.text for query in queries]
        return queries

    def _searched(self, vector: np.ndarray) -> bool:
        """Whether a query is too similar to an earlier one."""
        closest = max((float(vector @ other) for other in self._vectors.values()), default=-1.0)
        return self.settings.same_query is not None and closest >= self.settings.same_query

    def fall_back(self, tries: int, trace: Trace) -> list[Query]:
        """A query in another direction, or the question itself if that query is not new; empty if neither is."""
        passages = tuple(path.passage for path in self.kept.values())
        value = judge_paths.Search(self.question, self.rules.query_constraints, tuple(self.history), passages, tries)
        result = self.context.ask(judge_paths.FALLBACK, value, trace)
        if result.failure:
            self.notes.append(f"no fallback query was found ({result.failure})")
        queries = self.fresh([Query("fallback", result.value.query)]) if result.value else []
        return queries or self.fresh([Query("fallback", self.question)])

    def find(self, queries: Sequence[Query], trace: Trace) -> dict[int, float]:
        """The candidates: the entities of the store most similar to one of the queries, with that cosine, best
        first."""
        names, types = self.context.typed.names, self.context.typed.types
        with Candidates.open(trace) as write:
            best = self._nearest(queries)  # entity → cosine, position of the query
            candidates = {row: best[row][0] for row in sorted(best, key=lambda row: (-best[row][0], row))}
            write(
                types={names[row]: types[row] for row in candidates},
                excluded=len(self.evaluated),
                query={names[row]: best[row][1] for row in candidates},
                similarities=tuple((names[row], cosine) for row, cosine in candidates.items()),
            )
        if self.settings.evaluated == "retrieved":
            self.evaluated |= candidates.keys()
        return candidates

    def _nearest(self, queries: Sequence[Query]) -> dict[int, tuple[float, int]]:
        """Entity → its best cosine with a query, and the position of that query."""
        vectors = np.stack([self._vectors[normal(query.text)] for query in queries])
        excluded = self.evaluated | set(self.dot.rows)
        best: dict[int, tuple[float, int]] = {}
        for at, nearest in enumerate(self.store.search(vectors, self.settings.candidates, excluded)):
            for row, cosine in nearest:
                if row not in best or cosine > best[row][0]:
                    best[row] = (cosine, at)
        return best

    def draw(self, iteration: int, candidates: Mapping[int, float], trace: Trace) -> list[JudgedPath]:
        """At most `cap` of the shortest simple paths from each anchor to each candidate, ordered by the similarity of
        the candidate, then by length."""
        with DrawnPaths.open(trace) as write:
            by_candidate = {row: self._paths_to(row) for row in candidates}
            without = [row for row, paths in by_candidate.items() if not paths]
            self.evaluated.update(without)
            order = [rows for paths in by_candidate.values() for rows in paths]
            order.sort(key=lambda rows: (-candidates[rows[-1]], len(rows), rows))
            cap = self.settings.cap
            paths = [
                self.reader.path(f"{self.dot.number}.{iteration}.{number}", rows, candidates[rows[-1]])
                for number, rows in enumerate(order if trace else order[:cap], 1)
            ]
            write(
                paths={path.id: DrawnPaths.stored(path) for path in paths},
                cut=[path.id for path in paths[cap:]],
                without=[self.context.typed.names[row] for row in without],
            )
        return paths[:cap]

    def _paths_to(self, row: int) -> list[Rows]:
        rows = self.part.rows
        end, *starts = self.part.positions([row, *self.dot.rows])
        longest = self.settings.path_len_max or self.settings.h_max
        routes = (self.simple_paths.shortest(start, end, self.settings.paths_per_pair, longest) for start in starts)
        return [tuple(rows[list(path)].tolist()) for paths in routes for path in paths]

    def judge(self, iteration: int, paths: Sequence[JudgedPath], trace: Trace) -> list[JudgedPath]:
        """The paths with their verdicts. The last entities of judged paths become evaluated. Missing verdicts are
        requested again, without the other paths, at most `retries` times."""
        with Verdicts.open(trace) as write:
            verdicts, failure = self._verdicts(paths, trace)
            judged = [path.judged(verdicts[path.id]) if path.id in verdicts else path for path in paths]
            unjudged = [path.id for path in paths if path.id not in verdicts]
            write(
                verdicts={path.id: Verdicts.stored(path) for path in judged if path.label},
                passages={path.id: path.passage for path in paths},
                unjudged=unjudged,
                similarities={path.id: path.similarity for path in paths},
            )
        self.evaluated |= {path.entities[-1] for path in judged if path.label}
        if unjudged:
            why = failure or "the judge left them out"
            self.notes.append(f"{len(unjudged)} paths of iteration {iteration} were not judged ({why})")
        return judged

    def _verdicts(self, paths: Sequence[JudgedPath], trace: Trace) -> tuple[dict[str, Verdict], str | None]:
        """Path id → verdict, and why the last attempt failed."""
        verdicts, failure, size = {}, None, self.settings.judge_batch
        for _ in range(1 + self.settings.retries):
            pending = [path for path in paths if path.id not in verdicts]
            if not pending:
                break
            replies, failure = self._ask_judge(pending, size, trace)
            verdicts |= replies
            size = max(1, size // 2)  # the same batch would fail again
        return verdicts, failure

    def _ask_judge(self, paths: Sequence[JudgedPath], size: int, trace: Trace) -> tuple[dict[str, Verdict], str | None]:
        """The first verdict on each path, and why a batch failed. Ids from outside the batch are dropped."""
        batches = [tuple(paths[start : start + size]) for start in range(0, len(paths), size)]
        chain, terminal = self.settings.chain, self.settings.terminal_only == "complete"
        inputs = [
            judge_paths.Input(self.question, self.rules, tuple(self.history), batch, chain, terminal)
            for batch in batches
        ]
        verdicts: dict[str, Verdict] = {}
        failure = None
        for batch, result in zip(batches, self.context.engine.run(judge_paths.STEP, inputs, trace=trace), strict=True):
            failure = failure or result.failure
            ids = {path.id for path in batch}
            for verdict in result.value.verdicts if result.value else ():
                if verdict.id in ids:
                    verdicts.setdefault(verdict.id, verdict)
        return verdicts, failure

    def keep(self, paths: Sequence[JudgedPath], trace: Trace) -> None:
        """Keep complete and partial paths that are no prefix of another."""
        with KeptPaths.open(trace) as write:
            dropped = {path.id: "unjudged" for path in paths if not path.label}
            dropped |= {path.id: "irrelevant" for path in paths if path.label == "irrelevant"}
            together = self.kept | {path.id: path for path in paths if path.id not in dropped}
            gone = without_prefixes(list(together.values()), self.settings.prefixes, self.kept)
            dropped |= {id: "superseded" if id in self.kept else "prefix" for id in gone}
            self.kept = {id: path for id, path in together.items() if id not in gone}
            write(kept=list(self.kept), dropped=dropped)


def without_prefixes(paths: Sequence[JudgedPath], which: str, kept_ids: Container[str] = ()) -> dict[str, str]:
    """Id of each path that is dropped because another goes on from it → the id of the longer one; `which`: the setting
    `prefixes`. Ours keeps every complete path, because it ends at an answer. The paper drops a path that begins one of
    those already `kept`; it leaves open what becomes of a kept path that a later one extends: it is dropped, unless it
    alone is complete. The order of the paths does not matter."""
    if which == "keep":
        return {}
    return {
        path.id: longer.id
        for path in paths
        for longer in paths
        if len(path.entities) < len(longer.entities)
        and longer.entities[: len(path.entities)] == path.entities
        and not (path.complete and (which == "incomplete" or not (longer.complete or _later(path, longer, kept_ids))))
    }


def _later(path: JudgedPath, longer: JudgedPath, kept_ids: Container[str]) -> bool:
    """Whether the path was found after the longer one had been kept."""
    return longer.id in kept_ids and path.id not in kept_ids


def follow_ups(paths: Sequence[JudgedPath]) -> list[Query]:
    """The next questions of partial paths, the most confident first."""
    partial = [path for path in paths if path.label == "partial" and path.next_question]
    partial.sort(key=lambda path: -path.confidence)
    return [Query(f"partial:{path.id}", path.next_question) for path in partial]


def normal(query: str) -> str:
    """The normal form by which queries are compared: NFKC, case-folded, without punctuation and extra blanks.

    >>> normal(" Who  directed “Dune”?") == normal("who directed dune")
    True
    """
    folded = normalized("NFKC", query).casefold()
    return " ".join("".join(" " if unicodedata.category(c)[0] == "P" else c for c in folded).split())
