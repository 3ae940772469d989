"""Notebook 03: checks that DotRAG's paths are paths of the graph, and whether they led to the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from workbench import analyses
from workbench.analyses.base import Analysis
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.index import Index
from workbench.lessons.sentences import answered, helped, state_run
from workbench.llm.worked import Ask
from workbench.methods.dotrag import DotRAG
from workbench.methods.dotrag.dots import Comparison, Dot, Dots, dots, whole_region
from workbench.methods.dotrag.events import JudgedPath
from workbench.notebooks.lab import Absent, Lab
from workbench.operators.types import types_of
from workbench.records import Question
from workbench.text import counted
from workbench.trace import Trace
from workbench.views.dot_tracer import Tracer
from workbench.views.dots import chain, path_drawing
from workbench.views.drawing import Drawing

MEASURES = ("f1",)
COUNTS = ("passages", "nodes", "paths", "shared nodes")


def rules(dots: Dots) -> pd.DataFrame:
    """What each concept asks of the nodes on a path and at its end."""
    rows = [
        (dot.concept, kind, text)
        for dot in dots.dots
        if dot.rules
        for kind, texts in (("on the way", dot.rules.intermediate_rules), ("at the end", dot.rules.terminal_rules))
        for text in texts
    ]
    return pd.DataFrame(rows, columns=["concept", "rule for nodes", "rule"])


def queries(dots: Dots) -> pd.DataFrame:
    """What each iteration searched for: the first query, or the next question of a path."""
    rows = [
        (dot.concept, iteration.number, origin, text, len(iteration.paths))
        for dot in dots.dots
        for iteration in dot.iterations
        for origin, text in iteration.queries
    ]
    return pd.DataFrame(rows, columns=["concept", "iteration", "from", "query", "paths judged"])


def failed(lab: Lab, question: Question | Absent, spec: str) -> Tracer | Absent:
    """The search for a question that fails."""
    return question and Tracer(lab.index, [question], method=spec, engine=lab.engine, reader=lab.reader)


def as_sets(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Questions whose answers are a set of nodes to be found."""
    return tuple(replace(question, answer_set=True) for question in questions)


def by_hops(run: Run | Absent) -> Analysis | Absent:
    """The measures of nodes by hops, where questions have some."""
    has_hops = run and any(question.hops for question in run.questions)
    return analyses.by_hops(run) if has_hops else run or Absent("No question says how many hops its answer is away.")


def best_path(dots: Dots, index: Index) -> Drawing | Absent:
    """The best of the accepted paths."""
    types = types_of(index)
    return path_drawing(dots, dots.final[0], types=types) if dots.final else Absent("No path was accepted.")


def kept_first(dots: Dots) -> pd.DataFrame:
    """All judged paths, those that were kept first."""
    return dots.frame().sort_values("fate", key=lambda fate: fate != "kept", kind="stable").rename_axis("row")


def verdict(
    title: str,
    dotrag: DotRAG,
    tracer: Tracer,
    moved: Tracer,
    saved: Trace,
    compared: Comparison,
    *,
    run: Run | None = None,
    failed: Tracer | None = None,
    ask: Ask | None = None,
) -> Verdict:
    """What must hold of any data and engine, with the numbers of this run.

    * Every path judged begins at an anchor, is simple, short enough, and made of relations within its region; a region
      computed again from the graph has the size that the trace says.
    * A DOT searches at most `t_max` times, and what is accepted in the end was kept by a DOT.
    * The settings of `moved`, brought back to those of the method, change nothing, and the `saved` trace tells the same
      without index and engine.
    * The question of `failed` ends as its `ask` says, and no question of the `run` failed."""
    verdict, replay, built, settings = Verdict(title), tracer.shown, dotrag.index, dotrag.settings
    regions = {
        dot.number: {node.name: node.hop for node in whole_region(built, dot).nodes}
        for dot in replay.dots
        if dot.region
    }
    paths = [(path, dot) for dot in replay.dots for path in dot.paths]
    longest = settings.path_len_max or settings.h_max
    broken = sum(_broken(path, dot, built, regions.get(dot.number, {}), longest) for path, dot in paths)
    unlike = sum(_sizes(regions[dot.number]) != dot.region.hops for dot in replay.dots if dot.region)
    most = max((len(dot.iterations) for dot in replay.dots), default=0)
    back = moved.set(**{name: getattr(settings, name) for name in ("tau", "h_max", "t_max")})
    verdict.none("paths that break a rule of the graph", broken)
    verdict.none("regions that differ from those of the trace", unlike)
    verdict.check("iterations of a DOT", most, f"<= {settings.t_max}", lambda n: n <= settings.t_max)
    verdict.check("settings that are moved back change nothing", not back, "true", bool)
    verdict.check("the saved trace tells the same", dots(saved, replay.gold) == replay, "true", bool)
    verdict.none("accepted paths that no DOT kept", sum(not replay.path(p.id).kept for p in replay.final))
    if failed and ask:
        verdict.check("the failure ends as was written", failed.answer, ask.answer, lambda text: text == ask.answer)
    state_run(verdict, run)
    counts = compared.frame()[list(COUNTS)].to_dict("index")
    verdict.state(**{f"{name} {what}": value for name, row in counts.items() for what, value in row.items()})
    hops = [list(dot.region.hops) for dot in replay.dots if dot.region]
    verdict.state(**{"nodes per hop": hops, "accepted paths": len(replay.final), "paths": len(paths)})
    verdict.state(answer=tracer.answer)
    return verdict


def seen(
    question: Question,
    tracer: Tracer,
    run: Run | None = None,
    failing: Question | None = None,
    failed: Tracer | None = None,
) -> str:
    """What the search for the `question`, and for the `failing` one, came to, and whether the last method of a
    run, DotRAG, did better than its first."""
    looked = f"Seen: {_sentence(question, tracer)}"
    if failing and failed:
        looked += f" {_sentence(failing, failed)}"
    return f"{looked}\n{helped(run, MEASURES)}"


def _broken(path: JudgedPath, dot: Dot, built: Index, hops: Mapping[str, int], longest: int) -> bool:
    """Whether a path does not begin at an anchor, is not simple or longer than `longest` edges, leaves the region (name
    → hop), or has a hop that is no relation of the graph."""
    rows = [built.typed.row[name] for name in path.nodes]
    return not (
        path.nodes[0] in {anchor.name for anchor in dot.anchors}
        and len(set(rows)) == len(rows) <= longest + 1
        and set(path.nodes) <= hops.keys()
        and all(built.typed.between(a, b) for a, b in pairwise(rows))
    )


def _sizes(hops: Mapping[str, int]) -> tuple[int, ...]:
    """The nodes of a region (name → hop) per hop."""
    return tuple(list(hops.values()).count(hop) for hop in range(max(hops.values()) + 1))


def _sentence(question: Question, tracer: Tracer) -> str:
    """How many paths were judged, which were kept, and the answer."""
    paths = [path for dot in tracer.shown.dots for path in dot.paths]
    complete, final = sum(path.label == "complete" for path in paths), tracer.shown.final
    best = f"; the best that was kept is {final[0].label}: {chain(final[0])}" if final else "; none was kept"
    return (
        f"{question.question!r}: {counted(len(paths), 'path')} judged, {complete:,} complete{best}; "
        f"it {answered(question, tracer.answer)}."
    )
