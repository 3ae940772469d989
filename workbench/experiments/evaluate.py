"""Ask many questions of many methods, and write a run that can be stopped and resumed at any point.

Rows are written in the order of questions and methods, each flushed before the next counts as done. With the `rules`
and `replay` engines everything but `timings.jsonl` has the same bytes in every run, resumed or not."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from filelock import FileLock, Timeout
from tqdm.auto import tqdm

from workbench import measures as measures_
from workbench import tokens
from workbench.errors import EngineError, SettingError
from workbench.experiments.run import FORMAT, Run, read_rows, trace_name
from workbench.index.index import Index, versions
from workbench.index.store import key_of, write_atomically
from workbench.llm.engine import Engine, break_off, engine
from workbench.llm.meter import collect
from workbench.methods import Method
from workbench.places import home
from workbench.reading.base import Reader
from workbench.reading.render import Context
from workbench.records import Evidence, Proof, Question
from workbench.steps import judge as judge_step
from workbench.text import text_hash
from workbench.trace import Trace


def evaluate(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    reader: Reader | None = None,
    out: str | Path | None = None,
    *,
    measures: Sequence[str] | None = None,
    k: int | None = None,
    budget: int | None = None,
    trace: str = "full",
    workers: int | None = None,
    limit: int | None = None,
    judge: Engine | str | None = None,
    progress: bool | tqdm = True,
) -> Run:
    """Run every method (and the reader, if one is given) over the questions, and return the run.

    `measures` are by default `workbench.measures.DEFAULT`, what the reader's settings call for
    (`workbench.measures.of_reader`), and where the answers of questions are sets and an index has the graph to find
    them in (the layer `typed`) those of nodes as well.
    `k` passages are ranked: by default 20, or what the measures need. `workers` questions are asked side by side (by
    default as many as the engine takes). A question that breaks is a row with its `failure`, and scores 0. An engine
    that cannot go on stops the run; the same call goes on where it stopped. `out` is by default a folder in `runs/`
    that is named after the data and after everything that determines the rows; a folder that holds another run is
    refused. `progress` may be a bar that counts more than this run.

    `judge` is the engine that `accuracy:thesis` asks about answers which its heuristic leaves open; giving one adds
    that measure, `judged` and `judge_unknown`. Without one `accuracy:thesis` is measured, and named, as
    `accuracy:heuristic`. Coverage is measured on the retrieved context: what the reader starts from, which is its
    `uncompressed(evidence)` where it compresses, else its `context(evidence)`; without a reader all ranked passages."""
    questions = list(islice(questions, limit))
    methods = dict(methods) if isinstance(methods, Mapping) else {method.label: method for method in methods}
    if not questions or not methods:
        raise SettingError("evaluate needs at least one question and one method")
    if measures is None:
        of_nodes = graph_of(methods) is not None and any(question.answer_set for question in questions)
        of_reader = measures_.of_reader(reader.label) if reader else ()
        measures = [*measures_.DEFAULT, *of_reader, *(measures_.NODES if of_nodes else ())]
    plan = Plan.of(methods, reader, judge, measures, k, budget, trace)
    config = plan.config(questions)
    folder = Path(out or home() / "runs" / f"{config['data']['name']}-{key_of(**config)}")
    jobs = [(question, name) for question in questions for name in methods]
    workers = workers or plan.workers
    with locked(folder):
        done = _start(folder, config)
        with (
            (folder / "results.jsonl").open("a", encoding="ascii") as results,
            (folder / "timings.jsonl").open("a", encoding="ascii") as timings,
            _bar(progress, len(jobs), done) as bar,
        ):
            for outcome in in_order(lambda job: plan.ask(*job), jobs[done:], workers, plan.close):
                _write(outcome, folder, results, timings)
                bar.update()
        run = Run(folder)
        run.save_summaries()
    return run


class Outcome(NamedTuple):
    """What became of one question and method: its row, seconds per stage, trace, and the contexts that the row names,
    by their file's name."""

    row: dict
    seconds: dict[str, float]
    trace: Trace
    contexts: dict[str, str]


@dataclass(frozen=True)
class Plan:
    """How questions are asked. `config` says it in JSON; `ask` does it."""

    methods: Mapping[str, Method]
    reader: Reader | None
    judge: Engine | None
    measures: Sequence[str]
    k: int
    budget: int | None
    trace: str

    @classmethod
    def of(
        cls,
        methods: Mapping[str, Method],
        reader: Reader | None,
        judge: Engine | str | None,
        measures: Sequence[str],
        k: int | None,
        budget: int | None,
        trace: str,
    ) -> Plan:
        """The plan that arguments of `evaluate` mean."""
        judge = engine(judge) if judge is not None else None
        measures = _measurable(measures, reader, judge)
        return cls(methods, reader, judge, measures, k or max(20, measures_.deepest(measures)), budget, trace)

    @cached_property
    def graph(self) -> Index | None:
        return graph_of(self.methods)

    @property
    def retrieving(self) -> list[Engine]:
        """Those of the methods and of their backbones."""
        return [engine for method in self.methods.values() for engine in method.engines]

    @property
    def engines(self) -> list[Engine]:
        """All that are asked, each once."""
        asked = [*self.retrieving, self.reader and self.reader.engine, self.judge]
        return list({id(one): one for one in asked if one is not None}.values())

    @property
    def workers(self) -> int:
        """How many questions are worth asking side by side."""
        return max(getattr(engine, "workers", 1) for engine in self.retrieving)

    def close(self) -> None:
        """Break off what the engines are being asked."""
        for asked in self.engines:
            getattr(asked, "close", lambda: None)()

    def ask(self, question: Question, name: str) -> Outcome:
        """One question. It is asked by its text; its gold is looked at only when the scores are taken."""
        trace = Trace("ids" if self.trace == "off" else self.trace)  # timings are read off it even if it is not kept
        evidence = retrieved = shown = answer = failure = None
        resolved = None if self.graph is None else []
        with collect() as usage:
            try:
                evidence = self.methods[name].retrieve(question.question, self.k, budget=self.budget, trace=trace)
                resolved = resolved if self.graph is None else nodes_of(evidence, self.graph)
                retrieved, shown = _contexts(self.reader, evidence)
                answer = self.reader.read(question.question, evidence, trace=trace) if self.reader else None
                failure = answer.failure if answer else None
            except EngineError:
                raise
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
            measured = measures_.Outcome(
                ranking=[passage_id for passage_id, _ in evidence.ranking] if evidence else [],
                answer=(answer.text if answer else "") if self.reader else None,
                abstained=bool(answer and answer.abstained),
                failed=failure is not None,
                context=retrieved.text if retrieved else None,
                context_tokens=retrieved.tokens if retrieved else None,
                read=(len(shown.passages) if shown else 0) if self.reader else None,
                nodes=evidence.nodes if evidence else [],
                resolved=resolved,
                titles=self._titles(question, name),
                shown=shown.text if shown else None,
                shown_tokens=shown.tokens if shown else None,
                reading=answer.reading if answer else None,
                mark=answer.proof.mark if answer and answer.proof else "",
            )
            judgement = self.ask_judge(question, measured, trace)
        measured = replace(measured, usage=usage.as_dict(seconds=False), verdict=judgement and judgement["verdict"])
        row = {
            "question_id": question.id,
            "type": question.type,
            "hops": question.hops,
            "method": name,
            "ranking": [list(pair) for pair in evidence.ranking] if evidence else [],
            "nodes": list(measured.nodes),
            "context": _file_of(shown) if shown else None,
            "retrieved": _file_of(retrieved) if shown else None,
            "context_tokens": measured.context_tokens,
            "answer": answer.text if answer else None,
            "abstained": answer.abstained if answer else None,
            "scores": {measure: measures_.measure(measure)(question, measured) for measure in self.measures},
            "judge": judgement,
            "reading": asdict(answer.reading) if answer and answer.reading else None,
            "proof": _proof(answer.proof) if answer and answer.proof else None,
            "failure": failure,
            "fallback": evidence.fallback if evidence else None,
            "usage": measured.usage,
        }
        kept = Trace("off") if self.trace == "off" else trace
        contexts = {_file_of(one): one.text for one in (retrieved, shown)} if shown else {}
        return Outcome(row, trace.seconds(), kept, contexts)

    def _titles(self, question: Question, name: str) -> list[str]:
        """Of the gold passages; none where one of them is not in the index."""
        known = self.methods[name].index.passages
        rows = [known.row.get(one) for one in question.support]
        return [] if None in rows else [known.passages[row].title for row in rows]

    def ask_judge(self, question: Question, outcome: measures_.Outcome, trace: Trace) -> dict | None:
        """The judge's verdict and reason, and its failure, which counts as `unknown`; None where it has no say."""
        if self.judge is None or not measures_.left_to_judge(question, outcome):
            return None
        asked = judge_step.Input(question.question, question.answers, outcome.answer)
        said, failure = {"verdict": "unknown", "reason": ""}, None
        with trace.span("EVALUATOR", judge_step.STEP.name, engine=self.judge.name) as span:
            try:
                (result,) = self.judge.run(judge_step.STEP, [asked], trace=trace)
                said, failure = (result.value.model_dump() if result.value else said), result.failure
            except EngineError:
                raise
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
            span.set(verdict=said["verdict"], **({"failure": failure} if failure else {}))
        return {**said, "failure": failure}

    def config(self, questions: Sequence[Question]) -> dict[str, Any]:
        """All that determines the rows, and what makes them comparable with others."""
        methods = list(self.methods.values())
        engines = {engine.name for engine in self.retrieving}
        engines |= {self.reader.engine.name} if self.reader else set()
        steps = {step for method in methods for step in method.steps} | set(self.reader.steps if self.reader else ())
        steps |= {judge_step.STEP.name} if self.judge else set()
        return {
            "format": FORMAT,
            "data": methods[0].index.manifest["data"],
            "questions": {"n": len(questions), "hash": key_of(questions=[asdict(question) for question in questions])},
            "engine": ", ".join(sorted(engines)),
            "methods": {name: _described(method) for name, method in self.methods.items()},
            "reader": self.reader.label if self.reader else None,
            "judge": self.judge.name if self.judge else None,
            "prompts": _prompts(steps),
            "measures": list(self.measures),
            "k": self.k,
            "budget": self.budget,
            "trace": self.trace,
            "versions": versions(*(asked.name for asked in self.engines)),
        }


def graph_of(methods: Mapping[str, Method]) -> Index | None:
    """The index whose graph says, for all the methods alike, which nodes a passage stands for; None without one."""
    return next((method.index for method in methods.values() if "typed" in method.index.manifest["layers"]), None)


def nodes_of(evidence: Evidence, graph: Index) -> list[str]:
    """Names of the nodes that the passages stand for, of those that the method chose where it did."""
    rows = [graph.passages.row[passage.id] for passage, _ in evidence.passages[: evidence.selected]]
    return [graph.typed.names[node] for node in graph.typed.nodes_of(rows)]


def _file_of(context: Context) -> str:
    return f"{text_hash(context.text)}.txt"


def _proof(proof: Proof) -> dict[str, Any]:
    """What a row says of it; the trace has the rest."""
    return {
        "mark": proof.mark,
        "broken": proof.broken,
        "score": proof.bindings[0].score if proof.bindings else None,
        "answers": [list(one) for one in proof.answers],
        "flaw": proof.flaw,
    }


# Of a layer; how much work it was does not matter.
_IDENTITY = ("key", "settings", "made_by", "failures", "cut", "repaired")


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
    for name, text in outcome.contexts.items():
        if not (path := folder / "contexts" / name).exists():
            _whole(path, lambda part, text=text: part.write_text(text, encoding="utf-8"))
    if outcome.trace:
        _whole(folder / "traces" / trace_name(row["question_id"], row["method"]), outcome.trace.save)
    seconds = {"question_id": row["question_id"], "method": row["method"], "seconds": outcome.seconds}
    for out, line in ((timings, seconds), (results, row)):
        out.write(json.dumps(line) + "\n")
        out.flush()


def _whole(path: Path, write: Callable[[Path], Any]) -> None:
    """A file takes its name when it is whole. It is not flushed to disk as a layer is: rows are many, and are asked
    again."""
    part = path.with_name(path.name + ".tmp")
    write(part)
    os.replace(part, path)


def in_order(ask: Callable, jobs: Sequence, workers: int, close: Callable[[], None]) -> Iterator:
    """Results in the order of the jobs, at most `workers` at a time and few waiting, so that a stop loses little.

    After an error what has begun is let finish: its answers are paid for, and may be recorded. An interrupt leaves at
    once; `close` breaks off what is being asked."""
    if workers == 1:
        yield from map(ask, jobs)
        return
    pool, rest = ThreadPoolExecutor(workers), iter(jobs)
    waiting = deque(pool.submit(ask, job) for job in islice(rest, 2 * workers))
    try:
        while waiting:
            yield waiting[0].result()
            waiting.popleft()
            waiting.extend(pool.submit(ask, job) for job in islice(rest, 1))
    except (KeyboardInterrupt, GeneratorExit):  # the latter where it was the caller who was interrupted
        pool.shutdown(wait=False, cancel_futures=True)
        break_off(waiting, close)
        raise
    except Exception:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


def _measurable(measures: Sequence[str], reader: Reader | None, judge: Engine | None) -> tuple[str, ...]:
    """The measures that can be taken, under the names of what is taken; an unknown one is refused before any work."""
    for name in measures:
        measures_.measure(name)
    if judge is not None and reader is None:
        raise SettingError("a judge has no answers to judge without a reader; pass reader=wb.reader('direct', engine)")
    if reader is None:
        return tuple(name for name in measures if name not in measures_.ANSWER)
    if judge is not None:
        return tuple(dict.fromkeys([*measures, *measures_.JUDGED]))
    if asked := [name for name in measures if name in measures_.JUDGED[1:]]:
        raise SettingError(f"{asked[0]} needs a judge; pass judge=wb.engine(…), or leave the measure out")
    return tuple(dict.fromkeys(name.replace("accuracy:thesis", "accuracy:heuristic") for name in measures))


def _contexts(reader: Reader | None, evidence: Evidence) -> tuple[Context, Context | None]:
    """What was retrieved, before any compression, and what the reader is shown."""
    if reader is None:
        passages = tuple(passage for passage, _ in evidence.passages)
        text = "\n\n".join(passage.content for passage in passages)  # as `render` does; counted once, at its end
        return Context(text, tokens.count(text), passages), None
    shown = reader.context(evidence)
    return (reader.uncompressed(evidence) if hasattr(reader, "uncompressed") else shown), shown


def _prompts(steps: Iterable[str]) -> dict[str, str]:
    """Step → version and hash of the prompt's wording."""
    from workbench.steps import catalogue

    known = catalogue()
    return {name: f"{known[name].identity} {known[name].prompt_hash}" for name in sorted(steps) if name in known}


@contextmanager
def _bar(progress: bool | tqdm, total: int, done: int) -> Iterator[tqdm]:
    """A bar of its own, or the one that is given, which counts more than this."""
    if not isinstance(progress, bool):
        progress.update(done)
        yield progress
        return
    with tqdm(total=total, initial=done, desc="evaluate", unit="question", disable=not progress) as bar:
        yield bar


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Two processes must not add rows to one run; the second is told so. The lock of a killed one is gone with it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SettingError(f"another process is writing the run {folder}; wait, or choose another folder") from None
    try:
        yield
    finally:
        lock.release()


def check_same(folder: Path, config: dict) -> str:
    """Refuse a folder whose run was asked otherwise; the text of this one's run.json."""
    path, text = folder / "run.json", json.dumps(config, indent=1, ensure_ascii=False) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        before = json.loads(path.read_text(encoding="utf-8"))
        differing = [name for name in config if before.get(name) != json.loads(text)[name]]
        raise SettingError(
            f"{folder} holds another run (it differs in {', '.join(differing)}); "
            "choose another folder, or delete this one"
        )
    return text


def _start(folder: Path, config: dict) -> int:
    """How many rows stand already; removes what a killed process was about to write."""
    for name in ("traces", "contexts"):
        (folder / name).mkdir(exist_ok=True)
    text = check_same(folder, config)
    for torn in folder.rglob("*.tmp"):
        torn.unlink()
    write_atomically(folder / "run.json", text)
    done = read_rows(folder / "results.jsonl", mend=True)
    timings = folder / "timings.jsonl"
    if len(read_rows(timings, mend=True)) > len(done):  # killed between the two: the row is asked and timed again
        lines = timings.read_bytes().splitlines(keepends=True)
        os.truncate(timings, sum(map(len, lines[: len(done)])))
    return len(done)
