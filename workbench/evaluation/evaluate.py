"""Evaluation of many methods over many questions, as a run that can be stopped, resumed and extended at any point.

`identity` defines what a row depends on, `plan` asks, and `book` manages the folder. With the `rules` and `replay`
engines all files except `timings.jsonl` have the same bytes in every run, resumed or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from workbench import measures as measures_
from workbench.display import tqdm
from workbench.errors import SettingError
from workbench.evaluation import fitting
from workbench.evaluation.book import RunState, default_name, locked
from workbench.evaluation.plan import Plan, skip
from workbench.evaluation.run import Run
from workbench.evaluation.scoring import Measures, graph_of
from workbench.llm.engine import Engine
from workbench.methods import Method
from workbench.methods.base import CUT_TO_K
from workbench.places import home
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.spread import Workers, over


def evaluate(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    reader: Reader | None = None,
    out: str | Path | None = None,
    *,
    measures: Measures | None = None,
    k: int | None = None,
    budget: int | None = None,
    trace: str = "full",
    workers: int | None = None,
    limit: int | None = None,
    judge: Engine | str | None = None,
    repeats: int = 1,
    cluster: Workers | str | None = None,
    progress: bool | tqdm = True,
) -> Run:
    """Run every method (and the reader, if given) over the questions, and return the requested part of the run.

    `measures` are names, or functions of a question and a :class:`workbench.measures.Outcome`, used under their own
    name. The default is `workbench.measures.DEFAULT`, the measures for the reader's settings
    (`workbench.measures.of_reader`), and, if answers are sets and an index has the layer `typed`, those of nodes. `k`
    is the number of ranked passages, by default 20 or as many as the measures need. `workers` is the number of
    concurrent questions, by default that of the engine. A question that fails becomes a row with its `failure` and
    scores 0. An engine that cannot continue stops the run; the same call resumes it.

    `out` is by default a folder in `runs/`, named after the data and the conditions shared by all rows. Existing rows
    are reused; methods, questions and measures can be added. A row whose method, reader, Steps, layers or question have
    changed since, in code or settings, is computed again, and the earlier row moves to `before/` (see `notes` of the
    run). Raises :class:`SettingError` for a folder whose run has another reader, k, budget or level of trace.
    `progress` may be a bar that also counts other work.

    `cluster` spreads the rows over processes, each of which asks `workers` of them at a time (`workbench.spread.over`);
    the run has the same bytes.

    `judge` is the engine that decides the answers which the heuristic of `accuracy:thesis` leaves open; it adds this
    measure, `judged` and `judge_unknown`. Without a judge, `accuracy:thesis` is measured, and named, as
    `accuracy:heuristic`. Coverage is measured on the retrieved context, from which the reader starts, before any
    compression (`reader.contexts(evidence).retrieved`); without a reader, on the context that the method lays out
    itself, else on all ranked passages.

    With `repeats`, every question is asked so many times, each time with another seed: that of the engine, then 1 more,
    2 more. They are one run, which can be stopped in any of them and grow from few to many; `run.scores` gives the mean
    of the repeats of each question. A method that asks no model, with a reader and a judge that do not, is asked once:
    its repeats cannot differ."""
    check_whole(repeats=repeats)
    questions, methods = asked_for(questions, methods, limit, by="evaluate")
    if measures is None:
        of_nodes = graph_of(methods) is not None and any(question.answer_set for question in questions)
        of_reader = measures_.of_reader(reader.label) if reader else ()
        measures = [*measures_.DEFAULT, *of_reader, *(measures_.NODES if of_nodes else ())]
    plan = Plan.of(methods, reader, measures, judge=judge, k=k, budget=budget, trace=trace)
    fitting.check(plan.methods, plan.reader, plan.judge)
    folder = Path(out or home() / "runs" / default_name(plan.config(questions, repeats)))
    config = plan.config(questions, repeats)
    workers = workers or plan.workers
    with over(cluster), locked(folder), _bar(progress, len(questions) * len(methods) * repeats) as bar:
        standing, jobs = RunState.of(folder, config, plan.parts, questions, plan.room), plan.jobs(questions, repeats)
        skip(bar, len(questions) * len(methods) * repeats - len(jobs))  # the first repeat stands for them
        notes = plan.fill(standing, jobs, workers, bar)
    ids = [question.id for question in questions]
    selection = {"methods": methods, "questions": ids, "measures": plan.measures, "repeats": repeats}
    return Run(folder, **selection, notes=(*notes, *plan.sent, *cut_to_k(Run(folder, **selection))))


def cut_to_k(run: Run) -> Iterator[str]:
    """The methods that choose the size of their final set, and for which that set did not fit into k passages."""
    for name in run.methods:
        mine = [row for row in run.rows if row["method"] == name]
        if cut := sum(CUT_TO_K in (row["fallback"] or "") for row in mine):
            yield (
                f"{name}: the final set of {cut:,} of {len(mine):,} questions is {CUT_TO_K}={run.config['k']}; "
                "evaluate with a larger k for the whole"
            )


def check_whole(**settings: Any) -> None:
    for name, value in settings.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise SettingError(f"{name}={value!r}; it should be a whole number of at least 1")


def asked_for(
    questions: Iterable[Question], methods: Mapping[str, Method] | Sequence[Method], limit: int | None, by: str
) -> tuple[list[Question], dict[str, Method]]:
    """The first `limit` questions, each once, and the methods by label. Raises :class:`SettingError` if there are no
    questions or no methods, if something else is among the questions, or if two questions share an id."""
    by_id: dict[str, Question] = {}
    for question in islice(questions, limit):
        if not isinstance(question, Question):
            raise SettingError(f"{by} takes questions first, then methods; got {type(question).__name__} as a question")
        if by_id.setdefault(question.id, question) != question:
            raise SettingError(f"two questions have the id {question.id!r}; ids must be unique")
    named = dict(methods) if isinstance(methods, Mapping) else {method.label: method for method in methods}
    if not by_id or not named:
        raise SettingError(f"{by} got {len(by_id):,} questions and {len(named):,} methods; pass at least one of each")
    return list(by_id.values()), named


@contextmanager
def _bar(progress: bool | tqdm, total: int) -> Iterator[tqdm]:
    """A new bar, or the given one, which also counts other work."""
    if not isinstance(progress, bool):
        yield progress
        return
    with tqdm(total=total, desc="evaluate", unit="question", disable=not progress) as bar:
        yield bar
