"""Ask many questions of many methods, and write a run that can be stopped and resumed at any point.

Rows are written in the order of questions and methods, each flushed before the next counts as done. With the `rules`
and `replay` engines everything but `timings.jsonl` has the same bytes in every run, resumed or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from tqdm.auto import tqdm

from workbench import measures as measures_
from workbench.errors import EngineError, SettingError
from workbench.experiments.run import Run, read_rows, trace_name
from workbench.index.index import versions
from workbench.index.store import key_of, write_atomically
from workbench.llm.meter import collect
from workbench.methods import Method
from workbench.places import home
from workbench.reading.base import Reader
from workbench.records import Answer, Evidence, Question
from workbench.text import text_hash
from workbench.trace import Trace


def evaluate(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    reader: Reader | None = None,
    out: str | Path | None = None,
    *,
    measures: Sequence[str] = measures_.DEFAULT,
    k: int | None = None,
    budget: int | None = None,
    trace: str = "full",
    workers: int | None = None,
    limit: int | None = None,
    progress: bool = True,
) -> Run:
    """Run every method (and the reader, if one is given) over the questions, and return the run.

    `k` passages are ranked: by default 20, or what the measures need. `workers` questions are asked side by side (by
    default as many as the engine takes). A question that breaks is a row with its `failure`, and scores 0. An engine
    that cannot go on stops the run; the same call goes on where it stopped. `out` is by default a folder in `runs/`
    that is named after the data and after everything that determines the rows; a folder that holds another run is
    refused."""
    questions = list(islice(questions, limit))
    methods = dict(methods) if isinstance(methods, Mapping) else {method.label: method for method in methods}
    if not questions or not methods:
        raise SettingError("evaluate needs at least one question and one method")
    measures = tuple(name for name in measures if reader is not None or name not in measures_.ANSWER)
    plan = Plan(methods, reader, measures, k or max(20, measures_.deepest(measures)), budget, trace)
    config = plan.config(questions)
    folder = Path(out or home() / "runs" / f"{config['data']['name']}-{key_of(**config)}")
    done = _start(folder, config)
    jobs = [(question, name) for question in questions for name in methods]
    workers = workers or max(getattr(method.engine, "workers", 1) for method in methods.values())
    with (
        (folder / "results.jsonl").open("a", encoding="ascii") as results,
        (folder / "timings.jsonl").open("a", encoding="ascii") as timings,
        tqdm(total=len(jobs), initial=done, desc="evaluate", unit="question", disable=not progress) as bar,
    ):
        for outcome in _in_order(lambda job: plan.ask(*job), jobs[done:], workers):
            _write(outcome, folder, results, timings)
            bar.update()
    run = Run(folder)
    run.save_summaries()
    return run


class Outcome(NamedTuple):
    """What became of one question and method: its row, seconds per stage, trace, and what the reader saw."""

    row: dict
    seconds: dict[str, float]
    trace: Trace
    context: str | None


@dataclass(frozen=True)
class Plan:
    """How questions are asked. `config` says it in JSON; `ask` does it."""

    methods: Mapping[str, Method]
    reader: Reader | None
    measures: Sequence[str]
    k: int
    budget: int | None
    trace: str

    def ask(self, question: Question, name: str) -> Outcome:
        """One question. It is asked by its text; its gold is looked at only when the scores are taken."""
        trace = Trace("ids" if self.trace == "off" else self.trace)  # timings are read off it even if it is not kept
        evidence, answer, failure = None, None, None
        with collect() as usage:
            try:
                evidence = self.methods[name].retrieve(question.question, self.k, budget=self.budget, trace=trace)
                answer = self.reader.read(question.question, evidence, trace=trace) if self.reader else None
                failure = answer.failure if answer else None
            except EngineError:
                raise
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
        context = self.reader.context(evidence).text if self.reader and evidence else None
        row = {
            "question_id": question.id,
            "method": name,
            "ranking": [list(pair) for pair in evidence.ranking] if evidence else [],
            "nodes": evidence.nodes if evidence else [],
            "context": f"{text_hash(context)}.txt" if context is not None else None,
            "answer": answer.text if answer else None,
            "abstained": answer.abstained if answer else None,
            "scores": self.score(question, evidence, answer),
            "failure": failure,
            "fallback": evidence.fallback if evidence else None,
            "usage": usage.as_dict(seconds=False),
        }
        return Outcome(row, trace.seconds(), Trace("off") if self.trace == "off" else trace, context)

    def score(self, question: Question, evidence: Evidence | None, answer: Answer | None) -> dict[str, float | None]:
        """A failure scores 0 wherever the measure is defined; it does not go missing."""
        ranking = [passage_id for passage_id, _ in evidence.ranking] if evidence else []
        said = (answer.text if answer else "") if self.reader else None
        return {name: measures_.measure(name)(question, measures_.Outcome(ranking, said)) for name in self.measures}

    def config(self, questions: Sequence[Question]) -> dict[str, Any]:
        """All that determines the rows, and what makes them comparable with others."""
        methods = list(self.methods.values())
        engines = {method.engine.name for method in methods} | ({self.reader.engine.name} if self.reader else set())
        steps = {step for method in methods for step in method.steps} | ({"answer"} if self.reader else set())
        return {
            "format": 1,
            "data": methods[0].index.manifest["data"],
            "questions": {"n": len(questions), "hash": key_of(questions=[asdict(question) for question in questions])},
            "engine": ", ".join(sorted(engines)),
            "methods": {name: _described(method) for name, method in self.methods.items()},
            "reader": self.reader.label if self.reader else None,
            "prompts": _prompts(steps),
            "measures": list(self.measures),
            "k": self.k,
            "budget": self.budget,
            "trace": self.trace,
            "versions": versions(),
        }


_IDENTITY = ("key", "settings", "made_by", "failures")  # of a layer; how much work it was does not matter


def _described(method: Method) -> dict[str, Any]:
    manifest = method.index.manifest
    return {
        "label": method.label,
        "paper": method.paper,
        "scale": method.scale,
        "settings": {name: getattr(value, "label", value) for name, value in asdict(method.settings).items()},
        "encoder": manifest["encoder"]["name"],
        "layers": {kind: {n: layer[n] for n in _IDENTITY if n in layer} for kind, layer in manifest["layers"].items()},
    }


def _write(outcome: Outcome, folder: Path, results: TextIO, timings: TextIO) -> None:
    """The row goes last, so that it never names a file which is not there."""
    row = outcome.row
    if outcome.context is not None:
        (folder / "contexts" / row["context"]).write_text(outcome.context, encoding="utf-8")
    if outcome.trace:
        outcome.trace.save(folder / "traces" / trace_name(row["question_id"], row["method"]))
    seconds = {"question_id": row["question_id"], "method": row["method"], "seconds": outcome.seconds}
    for out, line in ((timings, seconds), (results, row)):
        out.write(json.dumps(line) + "\n")
        out.flush()


def _in_order(ask, jobs: Sequence, workers: int) -> Iterator[Outcome]:
    """Results in the order of the jobs, at most `workers` at a time and few waiting, so that a stop loses little."""
    if workers == 1:
        yield from map(ask, jobs)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        waiting, rest = [], iter(jobs)
        for job in islice(rest, 2 * workers):
            waiting.append(pool.submit(ask, job))
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(ask, job) for job in islice(rest, 1)]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _prompts(steps: Iterable[str]) -> dict[str, str]:
    """Step → version and hash of the prompt's wording."""
    from workbench.steps import catalogue

    known = catalogue()
    return {name: f"{known[name].identity} {known[name].prompt_hash}" for name in sorted(steps) if name in known}


def _start(folder: Path, config: dict) -> int:
    """How many rows stand already. Refuses a folder whose run was asked otherwise."""
    for name in ("traces", "contexts"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    path = folder / "run.json"
    text = json.dumps(config, indent=1, ensure_ascii=False) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        before = json.loads(path.read_text(encoding="utf-8"))
        differing = [name for name in config if before.get(name) != json.loads(text)[name]]
        raise SettingError(
            f"{folder} holds another run (it differs in {', '.join(differing)}); "
            "choose another folder, or delete this one"
        )
    write_atomically(path, text)
    done = read_rows(folder / "results.jsonl", mend=True)
    timed = read_rows(folder / "timings.jsonl", mend=True)
    if len(timed) > len(done):  # killed between the two: the row counts, its timing is measured again
        kept = "".join(json.dumps(row) + "\n" for row in timed[: len(done)])
        (folder / "timings.jsonl").write_text(kept, encoding="ascii")
    return len(done)
