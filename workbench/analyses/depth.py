"""The effect of more passages on the answer, and the time that retrieval takes ("Beyond Static Retrieval").

* `quality_against_k`: quality by the number read, over the same evidence (figure 4c).
* `recall_curve`: recall@k over k, from the rankings that a run keeps (figures 4a and 4b).
* `running_time`: seconds per question, split into thinking and searching (Table 4).
* `wall_clock`: the same with several questions in flight."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heapreplace
from math import inf

import numpy as np

from workbench import measures, published
from workbench.analyses.base import Analysis, cautions, known_methods, questions_of
from workbench.display import tqdm
from workbench.errors import EngineError, SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import mean_of
from workbench.llm.engine import Engine
from workbench.measures.ranking import recall
from workbench.methods import Method
from workbench.reading.direct import Direct
from workbench.records import Evidence, Question
from workbench.threads import in_order

READ = (1, 3, 5, 10, 20, 50, 100)
KS = (1, 2, 5, 10, 20, 30, 50, 100, 150, 200)


def quality_against_k(
    questions: Iterable[Question],
    method: Method,
    reader_engine: Engine,
    ks: Sequence[int] = READ,
    *,
    progress: bool = True,
) -> Analysis:
    """Retrieve once per question, and let the reader `direct` read the first K passages, for every K, regardless of the
    method's own selection. Nothing is written; a recording engine repeats no request. A failed question scores 0 and is
    counted.

    Rows: k, em, f1, read (passages really read), context_tokens, failures, n (questions with a gold answer)."""
    questions = [question for question in questions if question.answers]
    if not questions or not ks or not all(isinstance(k, int) and k > 0 for k in ks):
        raise SettingError(
            f"{len(questions)} questions have an answer and ks={list(ks)!r}; pass at least one such question and one k"
        )
    readers = {k: Direct(reader_engine, k=k, layout="passages") for k in sorted(set(ks))}

    def ask(question: Question) -> dict[int, measures.Outcome]:
        try:
            evidence = method.retrieve(question.question, max(ks), trace="off")
        except EngineError:
            raise
        except Exception:
            return dict.fromkeys(readers, measures.Outcome([], answer="", failed=True, read=0))
        return {k: _read(reader, question.question, evidence) for k, reader in readers.items()}

    def close() -> None:
        for engine in (method.engine, reader_engine):
            getattr(engine, "close", lambda: None)()

    workers = max(getattr(engine, "workers", 1) for engine in (method.engine, reader_engine))
    bar = tqdm(total=len(questions), desc="read", unit="question", disable=not progress)
    outcomes = []
    with bar:
        for outcome in in_order(ask, questions, workers, close):
            outcomes.append(outcome)
            bar.update()
    rows = []
    for k in readers:
        taken = {
            name: mean_of(
                measures.measure(name)(question, outcome[k]) for question, outcome in zip(questions, outcomes)
            )
            for name in ("em", "f1", "read", "context_tokens")
        }
        rows.append({"k": k, **taken, "failures": sum(outcome[k].failed for outcome in outcomes), "n": len(questions)})
    notes = [f"{method.label}, read by {reader_engine.name}."]
    notes += ["Rules are no language model, and are not distracted as one is."] * (reader_engine.name == "rules")
    return Analysis("Quality against the number of passages read", tuple(rows), tuple(notes), draw="quality_against_k")


def _read(reader: Direct, question: str, evidence: Evidence) -> measures.Outcome:
    evidence = replace(evidence, selected=None)
    contexts = reader.contexts(evidence)
    context, answer = contexts.shown, reader.read(question, evidence, contexts=contexts)
    return measures.Outcome(
        [], answer.text, answer.abstained, answer.failure is not None, context.text, context.tokens,
        len(context.passages),
    )  # fmt: skip


def recall_curve(
    run: Run, questions: Iterable[Question], *, ks: Sequence[int] = KS, methods: Iterable[str] | None = None
) -> Analysis:
    """recall@k of every method. A run ranks 20 passages by default (`evaluate(…, k=200)` ranks more); recall at a
    larger k is unknown, and a note says so.

    Rows: method, k, recall (None where the run did not rank so many passages), n."""
    if not all(isinstance(k, int) and k > 0 for k in ks):
        raise SettingError(f"ks={list(ks)!r}; each should be a whole number of at least 1")
    gold = {id: set(question.support) for id, question in questions_of(run, questions).items() if question.support}
    rows, cut = [], False
    for method in known_methods(run, methods):
        mine = [row for row in run.rows if row["method"] == method and row["question_id"] in gold]
        depth = _depth(run, mine)
        for k in sorted(set(ks)):
            recalls = [recall([passage for passage, _ in row["ranking"]], gold[row["question_id"]], k) for row in mine]
            rows.append(
                {"method": method, "k": k, "recall": mean_of(recalls) if k <= depth else None, "n": len(recalls)}
            )
        cut |= max(ks) > depth
    notes = list(cautions(run))
    if not gold:
        notes.append("No question has gold passages, so recall is not defined.")
    if cut:
        limit = f"k={run.config['k']}" + (f", budget={run.config['budget']}" if run.config["budget"] else "")
        notes.append(f"The run ranked with {limit}; for the rest of the curve evaluate again with k={max(ks)}.")
    return Analysis("recall@k", tuple(rows), tuple(notes), draw="recall_curve")


def _depth(run: Run, rows: Sequence[dict]) -> float:
    """The largest k up to which the rankings are known; infinite if the method had no more to rank."""
    lengths = [len(row["ranking"]) for row in rows if row["failure"] is None]
    if run.config["budget"] is not None:  # a ranking ends where the budget does
        return min(lengths, default=0)
    return inf if all(length < run.config["k"] for length in lengths) else run.config["k"]


# -- seconds ----------------------------------------------------------------------------------------------------------

# Stages of an iterative method as a trace numbers them; all but the search ask the engine.
_STAGE = re.compile(r"(?:round \d+ / )?(think|search|reasoning chain|verify)(?: #\d+)?")
WORKERS = (1, 2, 4, 8, 16)


def running_time(run: Run, methods: Iterable[str] | None = None) -> Analysis:
    """Times from `timings.jsonl`, without reading and judging. With several workers, the seconds of a question include
    waiting for the machine or the endpoint, so their sum is not the duration of the run.

    Rows: method, n, seconds (mean), median, p90, thinking, searching (means; 0 for a method without rounds), hours (of
    all questions, one after the other)."""
    rows = []
    for name, stages in seconds_of(run, methods).items():
        root = run.config["methods"][name]["label"]
        whole = np.array([stage[root] for stage in stages])
        parts = [_parts(root, stage) for stage in stages]
        rows.append(
            {
                "method": name,
                "n": len(whole),
                "seconds": float(whole.mean()),
                "median": float(np.median(whole)),
                "p90": float(np.quantile(whole, 0.9)),
                "thinking": float(np.mean([thinking for thinking, _ in parts])),
                "searching": float(np.mean([searching for _, searching in parts])),
                "hours": float(whole.sum() / 3600),
            }
        )
    notes = ["Questions asked side by side wait for one another; compare runs with workers=1."]
    return Analysis("Seconds of retrieval", tuple(rows), (*cautions(run), *notes), draw="running_time")


def seconds_of(run: Run, methods: Iterable[str] | None = None) -> dict[str, list[Mapping[str, float]]]:
    """Method → stage → seconds of each question that was timed, in the order in which they were done; methods without
    any are left out. The whole of a retrieval has the label of its method. Raises :class:`SettingError` for a run
    without timings."""
    timed = run.timed
    if not timed:
        raise SettingError(f"the run {run.folder} has no timings.jsonl; make it again, seconds are written as it runs")
    by_row = {
        name: [row["seconds"] for row in timed
               if row["method"] == name and run.config["methods"][name]["label"] in row["seconds"]]
        for name in known_methods(run, methods)
    }  # fmt: skip
    return {name: stages for name, stages in by_row.items() if stages}


def _parts(root: str, stages: Mapping[str, float]) -> tuple[float, float]:
    """Seconds of thinking and of searching."""
    seconds = {"think": 0.0, "search": 0.0}
    for place, taken in stages.items():
        if match := _STAGE.fullmatch(place.removeprefix(f"{root} / ")):
            seconds["search" if match[1] == "search" else "think"] += taken
    return seconds["think"], seconds["search"]


def wall_clock(run: Run, methods: Iterable[str] | None = None, *, workers: Sequence[int] = WORKERS) -> Analysis:
    """The stored seconds of retrieval, without reading and judging, laid out over workers: each takes the next question
    of the run when it is done, as `evaluate(…, workers=n)` does. It is the time if machine and endpoint answer many
    requests as fast as one, so a lower bound; `workers=1` is the sum. The paper compares parallel BDTR with sequential
    IRCoT; compare rows of the same number of workers.

    Rows: method, workers, n, hours (until the last question is done), seconds (the same per question), speed_up (over
    one worker), waiting (the share of the workers' time in which they have nothing left to do)."""
    if not workers or not all(isinstance(worker, int) and worker > 0 for worker in workers):
        raise SettingError(f"workers={list(workers)!r}; each should be a whole number of at least 1")
    rows = []
    for name, stages in seconds_of(run, methods).items():
        root = run.config["methods"][name]["label"]
        taken = [stage[root] for stage in stages]
        for many in sorted(set(workers)):
            lasts = makespan(taken, many)
            rows.append({
                "method": name, "workers": many, "n": len(taken), "hours": lasts / 3600, "seconds": lasts / len(taken),
                "speed_up": sum(taken) / lasts if lasts else None,
                "waiting": 1 - sum(taken) / (many * lasts) if lasts else None,
            })  # fmt: skip
    notes = [
        "A lower bound, from the seconds of each question; measure these with workers=1, for questions asked side by "
        "side wait for one another.",
        _printed(),
    ]
    return Analysis("Wall-clock time of retrieval", tuple(rows), (*cautions(run), *notes), draw="wall_clock")


def makespan(seconds: Iterable[float], workers: int) -> float:
    """Seconds until the last question is done, if each worker takes the next one as soon as it is free.

    >>> makespan([3, 1, 1, 1], 2), makespan([3, 1, 1, 1], 1), makespan([1, 1, 3], 2)
    (3.0, 6.0, 4.0)
    """
    free = [0.0] * workers  # when each worker is free again, the first one on top
    heapify(free)
    for second in seconds:
        heapreplace(free, free[0] + second)
    return max(free)


def _printed() -> str:
    rows = published.paper("bdtr").printed
    hours = rows[rows["measure"] == "hours"]
    shares = ", ".join(f"{row.method} {row.value:g} h" for row in hours.itertuples())
    return (
        f"Printed for 1,000 questions of MuSiQue on HippoRAG2 (Table 4): {shares}; the number of workers is not given."
    )
