"""DotRAG: a model writes rules for the paths that answer the question, and a search finds paths that satisfy them.

Follows "DotRAG: Retrieval-Time Reasoning Along Paths" (arXiv 2605.18760; its code is not public). A question is divided
into DOTs (divisions of thought), one for each of its concepts; each DOT has anchors in the graph, a region around them,
and its own rules:

    DOTs = select(question)                                    1  neighbourhood selection
    for each DOT, independent of the others:
        rules         = build_rules(question, DOT)             2  neighbourhood construction
        region, store = build_region(DOT, rules)
        for t in 1..t_max:                                     3  neighbourhood search
            candidates = find(queries)                            nodes of the store similar to the queries
            paths      = draw(candidates)                         the shortest from the anchors to them
            verdicts   = judge(paths)                             complete, partial, irrelevant, by the rules
            kept       = keep(paths, verdicts)                    none that is a prefix of another
            queries    = follow_ups(verdicts) or fall_back()      of the partial paths, or in another direction
    evidence = aggregate(kept paths of all DOTs)               4  path aggregation

The stages are in `neighbourhood.py` (1 and 2), `search.py` and `aggregation.py`. Most points that the paper leaves open
are settings (docs/dotrag.md#what-the-paper-leaves-open). Further decisions:

- By default (`prefixes`), the prefix rule removes the shorter path, unless it is complete: it ends at an answer, and
  the longer one goes on from there. So the kept paths do not depend on the order in which paths are found.
- Where rule bodies say that an answer satisfies the conditions of several concepts, complete paths count that end where
  complete paths of all these DOTs end. If no such node was found, all paths are kept, and the evidence says so.
- If a name in the question is the name of a node, only nodes of that name are anchors, whatever their similarity.
- If no concept has an anchor, the question itself is the topic of one DOT, and the evidence says so.
- If a reply is unusable, the search continues with the defaults of `Settings` or of the Step, and the evidence says so
  (`fallback`). An `EngineError` stops the search, as in every method.

Not included: the answer, which is a reader's task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from workbench.llm.deferrals import each
from workbench.methods.base import Method
from workbench.methods.dotrag.aggregation import aggregate, meeting
from workbench.methods.dotrag.events import DotEvent, JudgedPath, SelectedDot
from workbench.methods.dotrag.neighbourhood import (
    PAPERS,
    DotContext,
    admitted,
    build_region,
    build_rules,
    calibrated_tau,
    select,
    show_anchors,
)
from workbench.methods.dotrag.search import Search
from workbench.records import Evidence
from workbench.settings import Cosine, Natural, Positive, validated
from workbench.text import storable
from workbench.threads import in_order
from workbench.trace import Trace


class SearchResult(NamedTuple):
    """The paths that the search of a DOT kept, its failures in words, and whether answers are only those of its ends
    where complete paths of the other DOTs end as well."""

    kept: list[JudgedPath]
    notes: list[str]
    meets: bool = False


class DotRAG(Method):
    """Paths of the typed graph that satisfy rules written by a model for the question."""

    name = "dotrag"
    paper = "DotRAG (arXiv 2605.18760)"
    layers = ("passages", "typed")
    steps = ("select_regions", "dot_rules", "judge_paths", "fallback_query")
    scale = "cosine"

    @validated
    class Settings:
        """`h_max`, `t_max` and `max_concepts` have the paper's values. The paper names most other settings without a
        value and leaves those marked * open (docs/dotrag.md#what-the-paper-leaves-open); their values are ours.

        h_max, max_region   hops of a region from its anchors; its maximum number of entities, before which the last hop
                            is omitted (none: no limit)
        t_max               search iterations per DOT
        max_concepts        maximum number of names in the question that become DOTs, at most 3
        broad *             the DOTs of a broad question: names and topics (`both`), or topics alone (`high`)
        prompts             `paper`: what the paper shows its model, and asks of it, in our words; `workbench`: also the
                            names of the graph in the question and its relations, and in the reply the type of a name
                            and a first query. Only rules read names and relations either way
        metadata            the description of the graph and the definitions of its types: those of the `graph`, or
                            those of the `paper` if it is one of the paper's graphs (its types have the same names)
        exact_anchor        a node with exactly the name is always an anchor; with `exact_alone`, the only one
        tau, k_high         least cosine of a name and an anchor (none: that at which 95 % of the index's own names find
                            their node, for its encoder); number of anchors of a topic
        weak_anchor         if no node is as similar as `tau`, whether the most similar one is an anchor, or the concept
                            has no DOT
        merge_anchors       whether concepts with the same anchors share one DOT
        max_sources         anchors of a DOT (none: no limit)
        filter_anchors *    whether anchors must have an allowed type, if any has one
        relax               whether the allowed types are ignored if they admit fewer than three entities
        untyped             whether entities without a known type are always admitted
        first_query *       the first query of a DOT: from its `rules`, or the `question`
        queries_max *       follow-up queries per iteration (none: all)
        same_query          least cosine at which two queries are the same (none: compare their words)
        candidates          nodes per query
        relation_boost *    whether a node is as similar to a query as its most similar relation
        evaluated *         nodes that are no longer candidates: those `judged` as the end of a path, or all `retrieved`
        paths_per_pair      shortest paths from an anchor to a candidate
        path_len_max *      maximum number of edges of a path (none: h_max)
        cap                 paths judged per iteration, those to the most similar candidates
        judge_batch         paths per call; missing verdicts are requested again at most `retries` times
        prefixes *          which paths are dropped if another goes on from them: `incomplete` ones; with `drop` also a
                            complete one whose longer path is complete; with `keep` none
        prefixes_across     whether `prefixes` also holds between the paths of different DOTs
        merge_reversed      whether a path and its reverse, which two DOTs may find, count once
        parallel *          which of several relations of a pair the path states: `all`, or the `best`
        chain               whether the passage of a path begins with the names of its entities
        description_chars   characters of each relation's description (none: all)
        terminal_only *     a path that satisfies the rules of the end alone is `complete`, or `irrelevant`
        stop_on_complete    end a DOT once it has a complete path; not for comparisons with the paper
        without_paths *     passages if no path was kept: those of the `anchors`, or a `dense` ranking
        chunks              passages of the evidence, at most k of `retrieve`
        chunk_tokens        cl100k tokens of these passages together

        Profile `paper` leaves out what is ours: docs/dotrag.md#the-profile-paper."""

        profile: str = "workbench"
        h_max: Positive = 3
        t_max: Positive = 3
        max_concepts: Annotated[int, Field(ge=1, le=3, description="the Step select_regions names 3 at most")] = 3
        tau: Cosine | None = None
        k_high: Positive = 5
        max_sources: Positive | None = 5
        candidates: Positive = 10
        paths_per_pair: Positive = 3
        cap: Positive = 30
        queries_max: Positive | None = 5
        judge_batch: Positive = 10
        path_len_max: Positive | None = None
        chunks: Positive = 5
        chunk_tokens: Positive = 4000
        max_region: Positive | None = 20_000
        exact_anchor: bool = True
        exact_alone: bool = True
        filter_anchors: bool = False
        relation_boost: bool = True
        stop_on_complete: bool = False
        broad: Literal["both", "high"] = "both"
        first_query: Literal["rules", "question"] = "rules"
        evaluated: Literal["judged", "retrieved"] = "judged"
        prefixes: Literal["incomplete", "drop", "keep"] = "incomplete"
        parallel: Literal["all", "best"] = "all"
        without_paths: Literal["anchors", "dense"] = "anchors"
        same_query: Cosine | None = None
        description_chars: Positive | None = 300
        retries: Natural = 2
        prompts: Literal["workbench", "paper"] = "workbench"
        metadata: Literal["graph", "paper"] = "graph"
        weak_anchor: bool = True
        relax: bool = True
        untyped: bool = True
        chain: bool = True
        terminal_only: Literal["complete", "irrelevant"] = "complete"
        merge_anchors: bool = True
        merge_reversed: bool = True
        prefixes_across: bool = True

    # `paper` omits our additions.
    profiles: Mapping[str, Mapping[str, Any]] = {
        "workbench": {},
        "paper": {
            "prompts": "paper",
            "metadata": "paper",
            "exact_anchor": False,
            "weak_anchor": False,
            "relation_boost": False,
            "max_sources": None,
            "queries_max": None,
            "max_region": None,
            "relax": False,
            "untyped": False,
            "chain": False,
            "description_chars": None,
            "terminal_only": "irrelevant",
            "prefixes": "drop",
            "merge_anchors": False,
            "merge_reversed": False,
            "prefixes_across": False,
            "first_query": "question",
        },
    }

    def prepare(self) -> None:
        if self.settings.prompts == "paper":
            self.steps = tuple(PAPERS.get(name, name) for name in self.steps)
        self._context = DotContext(self.index, self.engine, self.settings)
        if self.settings.tau is None:
            self.settings = replace(self.settings, tau=calibrated_tau(self._context))
            self._context.settings = self.settings

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        text = storable(question)  # the Steps take no half characters
        dots, notes = select(self._context, text, trace)
        results = self.connect(text, dots, trace)
        notes += [f"DOT {dot.number}: {note}" for dot, result in zip(dots, results) for note in result.notes]
        all_kept = [path for result in results for path in result.kept]
        if len(results) > 1 and all(result.meets for result in results):
            all_kept, apart = meeting([result.kept for result in results])
            notes += [apart] if apart else []
        evidence = aggregate(self._context, text, self.label, dots, all_kept, k, trace)
        notes += [evidence.fallback] if evidence.fallback else []
        return replace(evidence, question=question, fallback="; ".join(notes) or None)

    def connect(self, question: str, dots: Sequence[SelectedDot], trace: Trace) -> list[SearchResult]:
        """Stages 2 and 3 of every DOT, in the order of their numbers; concurrently if the engine takes several calls at
        once. Each DOT has its own trace, so the order of events is the same either way."""
        traces = [Trace(trace.level) for _ in dots]
        names = [dot.concept for dot in dots if dot.level == "low"]
        others = [tuple(name for name in names if name != dot.concept) for dot in dots]
        workers = min(getattr(self.engine, "workers", 1), len(dots))
        try:
            if workers > 1:
                return list(in_order(lambda args: self.explore(question, *args), zip(dots, traces, others), workers))
            return each(lambda *args: self.explore(question, *args), dots, traces, others)
        finally:
            for own in traces:
                trace.graft(own)

    def explore(self, question: str, dot: SelectedDot, trace: Trace, others: Sequence[str] = ()) -> SearchResult:
        """Stages 2 and 3 of one DOT; `others` are the names of the other ones."""
        context = self._context
        with DotEvent.open(trace, dot=dot.number, concept=dot.concept, level=dot.level) as write:
            show_anchors(dot, trace)
            rules, failure = build_rules(context, question, dot, trace, others)
            dot = admitted(context, dot, rules)
            region, store = build_region(context, dot, rules, trace)
            search = Search(context, question, dot, rules, region, store)
            reason = search.run(trace)
            write(reason=reason, kept=len(search.kept))
        notes = [f"its rules are general ones ({failure})"] if failure else []
        if region.truncated:
            reached, most = int(region.hops.max(initial=0)), context.settings.max_region
            notes.append(f"its region ends after {reached} of {context.settings.h_max} hops (max_region={most})")
        notes += [rules.beyond] if rules.beyond else []
        return SearchResult(list(search.kept.values()), notes + search.notes, rules.meets)
