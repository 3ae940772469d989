"""Evaluation of many methods over many questions, as a run that can be stopped, resumed and extended at any point.

`identity` defines what a row depends on, and `book` manages the folder. With the `rules` and `replay` engines all files
except `timings.jsonl` have the same bytes in every run, resumed or not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple, TypedDict

from tqdm.auto import tqdm

from workbench import measures as measures_
from workbench import source
from workbench.encoding import noting_reuse
from workbench.errors import EngineError, FileDamaged, SettingError
from workbench.evaluation import fitting, identity
from workbench.evaluation.book import Book, Parts, Standing, default_name, locked
from workbench.evaluation.retrieved import Retrieved
from workbench.evaluation.run import FORMAT, REPEATS, Run, repeat_folder, summed, varies
from workbench.index.building import versions
from workbench.index.index import Index
from workbench.language.pipeline import nlp
from workbench.llm.call import repeating
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import Engine, break_off, engine
from workbench.llm.meter import Meter, collect
from workbench.llm.step import Usage
from workbench.measures import Measure
from workbench.methods import Method
from workbench.methods.base import CUT_TO_K
from workbench.places import home
from workbench.reading.base import Reader
from workbench.reading.render import Context, joined, unread
from workbench.records import Answer, Evidence, Proof, Question, Reading, record_of
from workbench.spread import Workers, is_spread, over, spread
from workbench.steps import judge as judge_step
from workbench.text import text_hash
from workbench.trace import Trace

Measures = Sequence[str | Measure]
# Code that loads a model when it first runs, by its name among the units of an identity.
_PIPELINE = "workbench.language.pipeline:nlp"
_ENCODING = "workbench.index.index:Index.encode_query"
_loading = Lock()


class Settings(TypedDict, total=False):
    """Settings that a grid passes on to `evaluate`."""

    k: int | None
    budget: int | None
    trace: str
    workers: int | None
    judge: Engine | str | None
    repeats: int


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
    check_repeats(repeats)
    questions, methods = asked_for(questions, methods, limit, by="evaluate")
    if measures is None:
        of_nodes = graph_of(methods) is not None and any(question.answer_set for question in questions)
        of_reader = measures_.of_reader(reader.label) if reader else ()
        measures = [*measures_.DEFAULT, *of_reader, *(measures_.NODES if of_nodes else ())]
    plan = Plan.of(methods, reader, judge, measures, k, budget, trace)
    fitting.check(plan.methods, plan.reader, plan.judge)
    folder = Path(out or home() / "runs" / default_name(plan.config(questions, repeats)))
    config = plan.config(questions, repeats)
    workers = workers or plan.workers
    notes: list[str] = []
    deferrals = Deferrals()
    with over(cluster), locked(folder), _bar(progress, len(questions) * len(methods) * repeats) as bar:
        for number in range(max(repeats, _kept(folder))):
            part, ask = plan.repeated(number), questions if number < repeats else []
            _skip(bar, len(ask) * (len(methods) - len(part.methods)))  # the first stands for them
            if part.methods:
                asked = config if not number else part.config(questions)
                standing = Standing.of(repeat_folder(folder, number), asked, part.parts, questions)
                with deferrals:
                    notes += part.fill(standing, ask, workers, bar)
        deferrals.end()
        if number:  # the summaries are of all repeats
            Run(folder).save_summaries()
    ids = [question.id for question in questions]
    asked = {"methods": methods, "questions": ids, "measures": plan.measures, "repeats": repeats}
    return Run(folder, **asked, notes=(*notes, *plan.sent, *cut_to_k(Run(folder, **asked))))


def cut_to_k(run: Run) -> Iterator[str]:
    """For which methods a final set of passages, whose size they choose, did not fit into the k passages asked for."""
    for name in run.methods:
        mine = [row for row in run.rows if row["method"] == name]
        if cut := sum(CUT_TO_K in (row["fallback"] or "") for row in mine):
            yield (
                f"{name}: the final set of {cut:,} of {len(mine):,} questions is {CUT_TO_K}={run.config['k']}; "
                "evaluate with a larger k for the whole"
            )


def _kept(folder: Path) -> int:
    """The number of repeats that a run has begun; they are measured, and put aside, with the first."""
    begun = [int(one.parent.name) for one in (folder / REPEATS).glob("*/run.json") if one.parent.name.isdigit()]
    return max(begun, default=0) + 1


def check_repeats(repeats: int) -> None:
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
        raise SettingError(
            f"repeats={repeats!r}; it should be a whole number from 1 on: how often each question is asked"
        )


def asked_for(
    questions: Iterable[Question], methods: Mapping[str, Method] | Sequence[Method], limit: int | None, by: str
) -> tuple[list[Question], dict[str, Method]]:
    """The first `limit` questions, each once, and the methods by label. Raises :class:`SettingError` if there are no
    questions or no methods, if something else is among the questions, or if two of them share an id."""
    known: dict[str, Question] = {}
    for question in islice(questions, limit):
        if not isinstance(question, Question):
            raise SettingError(f"{by} takes questions first, then methods; {type(question).__name__} is no Question")
        if known.setdefault(question.id, question) != question:
            raise SettingError(f"two questions have the id {question.id!r}; ids must be unique")
    named = dict(methods) if isinstance(methods, Mapping) else {method.label: method for method in methods}
    if not known or not named:
        raise SettingError(f"{by} needs at least one question and one method")
    return list(known.values()), named


class Outcome(NamedTuple):
    """The outcome of one question and method: its row, seconds, trace, and the contexts that the row names, by file
    name."""

    row: dict
    timing: dict[str, Any] | None
    trace: Trace | None
    contexts: dict[str, str]


@dataclass
class Attempt:
    """The partial results of one question with a method and a reader, if given, up to a failure."""

    evidence: Evidence | None = None
    retrieved: Context | None = None
    shown: Context | None = None
    answer: Answer | None = None
    failure: str | None = None
    reused: bool = False

    @cached_property
    def texts(self) -> dict[str, str]:
        """File → text of the contexts that the row names."""
        return {_file_of(one): one.text for one in (self.named, self.shown) if one}

    @property
    def named(self) -> Context | None:
        """The retrieved context, if its text does not follow from the ranking: a reader, or the method itself, laid it
        out."""
        own = self.evidence is not None and self.evidence.context is not None
        return self.retrieved if self.shown or own else None

    @property
    def layout(self) -> str | None:
        """That of the context which the method lays out itself, if it is what was retrieved."""
        own = self.evidence and self.evidence.context
        return own.layout if own and self.retrieved and self.retrieved.graph is own else None


@dataclass(frozen=True)
class Plan:
    """The configuration of an evaluation, or of its repeat with the number `repeat`. `config` returns it as JSON; `ask`
    runs one question, `fill` all that are missing."""

    methods: Mapping[str, Method]
    reader: Reader | None
    judge: Engine | None
    measures: Mapping[str, Measure]
    k: int
    budget: int | None
    trace: str
    repeat: int = 0
    first: Plan | None = None  # that of the first repeat

    @classmethod
    def of(
        cls,
        methods: Mapping[str, Method],
        reader: Reader | None,
        judge: Engine | str | None,
        measures: Measures,
        k: int | None,
        budget: int | None,
        trace: str,
    ) -> Plan:
        """The plan for the arguments of `evaluate`."""
        judge = engine(judge) if judge is not None else None
        chosen = _measurable(measures, reader, judge)
        return cls(methods, reader, judge, chosen, k or max(20, measures_.deepest(list(chosen))), budget, trace)

    def repeated(self, number: int) -> Plan:
        """The plan of a repeat, from 0: from 1 on, with the methods whose rows can differ."""
        return replace(self, repeat=number, methods=self.varying, first=self) if number else self

    @property
    def varying(self) -> dict[str, Method]:
        """The methods with whose rows a model has to do: by their Steps, the reader, or the judge."""
        always = any(part and varies(part.description["engine"]) for part in (self.parts.reader, self.parts.judge))
        return {
            name: method
            for name, method in self.methods.items()
            if always or varies(self.parts.methods[name].description["engine"])
        }

    def fill(self, standing: Standing, questions: Sequence[Question], workers: int, bar: tqdm) -> tuple[str, ...]:
        """Ask what is missing, judge and measure what was not; returns the notes. Deferred rows are not written."""
        book, deferrals = Book(standing), Deferrals()
        jobs = standing.missing(questions, self.methods)
        _skip(bar, len(questions) * len(self.methods) - len(jobs))
        if jobs and not is_spread():
            started = perf_counter()
            self._loaded  # noqa: B018 (its value is that it is there)
            bar.set_postfix_str(f"models loaded in {perf_counter() - started:.1f} s, apart from the questions")
        with book.open() as add:
            unjudged = self.unjudged(book, questions)
            judge_again = deferrals.tried(lambda row: self.judge_again(row, book))
            ask = self.ask_job if is_spread() else deferrals.tried(self.ask_job)  # a batch is collected here
            for outcome in filter(None, in_order(judge_again, unjudged, workers, self.close)):
                add(*outcome)
            for outcome in filter(None, spread(jobs, ask, here=partial(self._here, workers), side=workers)):
                add(*outcome)
                bar.update()
        deferrals.end()
        self.score_again(book)
        book.close()
        book.keep("sent", self.sent)
        return book.notes

    def ask_job(self, job: tuple[Question, str]) -> Outcome:
        with _loading:
            self._loaded  # noqa: B018 (its value is that it is there)
        return self.ask(*job)

    @cached_property
    def loading(self) -> tuple[bool, tuple[str, ...]]:
        """What is loaded when it is first used, by the code that methods and reader reach: whether the English
        pipeline, and the methods that encode the question."""
        methods, reader = self.parts.methods, self.parts.reader
        reached = [*methods.values(), *([reader] if reader else [])]
        encoding = tuple(name for name, part in methods.items() if _ENCODING in part.units)
        return any(_PIPELINE in part.units for part in reached), encoding

    @cached_property
    def _loaded(self) -> None:
        """Loads these once in each process, apart from the seconds of any question. What cannot be loaded fails where
        it is used; an encoder behind an endpoint, which has `live`, is not asked."""
        pipeline, encoding = self.loading
        with suppress(Exception):
            if pipeline:
                nlp()
        for name in encoding:
            with suppress(Exception):
                encoder = self.methods[name].index.encoder
                if not hasattr(encoder, "live"):
                    encoder.dimension  # noqa: B018 (a SentenceEncoder loads its model for it)

    def _here(self, workers: int, ask: Callable, jobs: Sequence) -> Iterator:
        return in_order(ask, jobs, workers, self.close)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker is given: the plan with its own measures, the names of others, what is loaded, and the keys of
        identities."""
        own = {name: None if _is_ours(one) else one for name, one in self.measures.items()}
        plan = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**plan, "measures": own, "loading": self.loading, "parts": self.parts.keys_only()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        known = {name: one or measures_.measure(name) for name, one in state["measures"].items()}
        vars(self).update(state, measures=known)

    @cached_property
    def graph(self) -> Index | None:
        return self.first.graph if self.first else graph_of(self.methods)

    @property
    def index(self) -> Index:
        """One of the methods' indexes; all contain the same passages."""
        return next(iter(self.methods.values())).index

    @property
    def retrieving(self) -> list[Engine]:
        """The engines of the methods and of their backbones."""
        return [engine for method in self.methods.values() for engine in method.engines]

    @property
    def engines(self) -> list[Engine]:
        """All engines in use, each once."""
        engines = [*self.retrieving, self.reader and self.reader.engine, self.judge]
        return list({id(engine): engine for engine in engines if engine is not None}.values())

    @property
    def seeds(self) -> dict[str, list[int]]:
        """Engine → the seed that its requests carry, of engines that have one; several if two of one name differ."""
        known = [(engine.name, engine.seed + self.repeat) for engine in self.engines if hasattr(engine, "seed")]
        return {name: sorted({seed for of, seed in known if of == name}) for name in sorted({of for of, _ in known})}

    @property
    def sent(self) -> list[str]:
        """How engines were asked otherwise than usual, because their endpoints do not take it, in words."""
        known = {one.name: getattr(one, "sent", ()) for one in self.engines}
        return [f"{name} was asked with {'; '.join(sent)}" for name, sent in known.items() if sent]

    @property
    def workers(self) -> int:
        """The useful number of concurrent questions."""
        return max(getattr(engine, "workers", 1) for engine in self.retrieving)

    @property
    def _own(self) -> dict[str, Method]:
        """The methods themselves, without what keeps the evidence of a grid."""
        return {n: one.method if isinstance(one, Retrieved) else one for n, one in self.methods.items()}

    @cached_property
    def parts(self) -> Parts:
        """The identities that determine the rows."""
        asking = source.units(unread) if self.reader is None else {}  # the context of a row that nobody reads
        methods = {name: identity.of_method(method, asking) for name, method in self._own.items()}
        measured = {name: identity.of_measure(name, one, self.graph).key for name, one in self.measures.items()}
        room = getattr(self.reader, "room", lambda question: None)
        return Parts(methods, identity.of_reader(self.reader), identity.of_judge(self.judge), measured, room)

    def close(self) -> None:
        """Cancel the pending requests of all engines, and of encoders behind an endpoint."""
        for one in (*self.engines, *(method.index.encoder_in_use for method in self.methods.values())):
            getattr(one, "close", lambda: None)()

    def ask(self, question: Question, name: str) -> Outcome:
        """The outcome of one question. Method and reader see its text only; its gold is used for scoring."""
        trace = Trace("ids" if self.trace == "off" else self.trace)  # the source of timings, even if it is not kept
        attempt = Attempt()
        with repeating(self.repeat), collect() as usage, noting_reuse() as encoded:
            self._attempt(attempt, question.question, name, trace)
            row = self._row(attempt, question, name)
            text_of = attempt.texts.__getitem__
            row["judge"] = self.ask_judge(question, self.outcome(row, question, text_of), trace)
        row["usage"] = usage.as_dict(seconds=False)
        row |= _served(usage)
        self.score(row, question, text_of, self.parts.measures)
        reused = {"reused": True} if attempt.reused or any(encoded.values()) else {}
        timing = {"seconds": trace.seconds()} | reused
        return Outcome(row, timing, None if self.trace == "off" else trace, attempt.texts)

    def _attempt(self, attempt: Attempt, question: str, name: str, trace: Trace) -> None:
        """Retrieve and read; stops at the first failure, which it records."""
        method = self.methods[name]
        try:
            attempt.reused = getattr(method, "holds", lambda *_: False)(question, self.k, self.budget, trace.level)
            attempt.evidence = method.retrieve(question, self.k, budget=self.budget, trace=trace)
            if self.reader is None:
                attempt.retrieved = unread(attempt.evidence)
            else:
                self._read(attempt, question, trace)
        except (EngineError, FileDamaged):
            raise
        except Exception as error:
            attempt.failure = f"{type(error).__name__}: {error}"

    def _read(self, attempt: Attempt, question: str, trace: Trace) -> None:
        contexts = self.reader.contexts(attempt.evidence)
        try:
            attempt.answer = self.reader.read(question, attempt.evidence, contexts=contexts, trace=trace)
            attempt.failure = attempt.answer.failure
        finally:  # a reader that fails has seen its context
            attempt.shown, attempt.retrieved = contexts.shown, contexts.retrieved

    def _row(self, attempt: Attempt, question: Question, name: str) -> dict[str, Any]:
        """The row without its measurements."""
        decides = self.parts.methods[name].key, self.parts.reader and self.parts.reader.key
        evidence, retrieved, shown, answer = attempt.evidence, attempt.retrieved, attempt.shown, attempt.answer
        return {
            "question_id": question.id,
            "type": question.type,
            "hops": question.hops,
            "method": name,
            "key": identity.row_key(*decides, question),
            "ranking": [list(pair) for pair in evidence.ranking] if evidence else [],
            "selected": evidence.selected if evidence else None,
            "nodes": list(evidence.nodes) if evidence else [],
            "context": _file_of(shown) if shown else None,
            "retrieved": _file_of(attempt.named) if attempt.named else None,
            "context_tokens": retrieved.tokens if retrieved else None,
            "read": len(shown.passages) if shown else None,
            "read_tokens": shown.tokens if shown else None,
            **({"layout": attempt.layout} if attempt.layout else {}),
            **({"cut_to": shown.cut_to} if shown and shown.cut_to is not None else {}),
            "answer": answer.text if answer else None,
            **({"short": answer.short} if getattr(answer, "short", None) is not None else {}),
            "abstained": answer.abstained if answer else None,
            "scores": {},
            "scored": None,
            "judge": None,
            "reading": asdict(answer.reading) if answer and answer.reading else None,
            "proof": _proof(answer.proof) if answer and answer.proof else None,
            "failure": attempt.failure,
            "fallback": evidence.fallback if evidence else None,
            **({"mixed": True} if evidence and evidence.mixed else {}),
            "usage": {},
        }

    def outcome(self, row: Mapping[str, Any], question: Question, text_of: Callable[[str], str]) -> measures_.Outcome:
        """The input of the measures, from a row; `text_of` returns the text of a context by its name."""
        ranking = [passage_id for passage_id, _ in row["ranking"]]
        answer = row["answer"]
        return measures_.Outcome(
            ranking=ranking,
            answer=(answer or "") if self.reader else None,
            abstained=bool(row["abstained"]),
            failed=row["failure"] is not None,
            context=self._retrieved(row, ranking, text_of),
            context_tokens=row["context_tokens"],
            read=(row["read"] or 0) if self.reader else None,
            usage=row["usage"],
            verdict=row["judge"] and row["judge"]["verdict"],
            nodes=row["nodes"],
            resolved=None if self.graph is None else nodes_of(ranking[: row["selected"]], self.graph),
            titles=self._titles(question),
            shown=text_of(row["context"]) if row["context"] else None,
            shown_tokens=row["read_tokens"],
            reading=record_of(Reading, row["reading"]) if row["reading"] else None,
            mark=row["proof"]["mark"] if row["proof"] else "",
        )

    def score(self, row: dict, question: Question, text_of: Callable[[str], str], measures: Mapping[str, str]) -> None:
        """Compute the measures of a row. Those among `measures` (name → key) that this plan does not have keep their
        values."""
        outcome = self.outcome(row, question, text_of)
        short = replace(outcome, answer=row["short"]) if row.get("short") else outcome
        row["scores"] = {
            name: self.measures[name](question, short if name in measures_.OF_SHORT else outcome)
            if self._applies(name)
            else row["scores"].get(name)
            for name in measures
        }
        row |= {"type": question.type, "hops": question.hops, "scored": identity.scores_key(measures, question)}

    def score_again(self, book: Book) -> None:
        """Compute the measures of all rows that were scored by other measures, or with other gold."""
        measures = book.standing.config["measures"]
        for (question_id, _), row in book.rows.items():
            question = book.standing.questions[question_id]
            if row["scored"] != identity.scores_key(measures, question):
                self.score(row, question, book.context, measures)

    def _applies(self, name: str) -> bool:
        return name in self.measures and (name not in measures_.NODES or self.graph is not None)

    def unjudged(self, book: Book, questions: Iterable[Question]) -> list[dict]:
        """The rows left to the judge that it has not seen."""
        if self.judge is None:
            return []
        return [
            row
            for question in questions
            for name in self.methods
            if (row := book.rows.get((question.id, name)))
            and (row["judge"] or {}).get("key") != identity.judged_key(self.parts.judge.key, question)
            and measures_.left_to_judge(question, self.outcome(row, question, book.context))
        ]

    def judge_again(self, row: dict, book: Book) -> Outcome:
        """An existing row with the judge's verdict."""
        question = book.standing.questions[row["question_id"]]
        trace = Trace("off") if self.trace == "off" else Run(book.folder).trace(row["question_id"], row["method"])
        with repeating(self.repeat), collect() as usage:
            for engine_name, fingerprints in row.get("fingerprints", {}).items():
                for fingerprint in fingerprints:
                    usage.served(engine_name, fingerprint)
            for step, used in row["usage"].items():
                if row["judge"] is None or step != judge_step.STEP.name:
                    usage.add(step, Usage(**used))
            judged = self.ask_judge(question, self.outcome(row, question, book.context), trace)
        row = {**row, "judge": judged, "usage": usage.as_dict(seconds=False), **_served(usage), "scored": None}
        return Outcome(row, None, trace, {})

    def _retrieved(self, row: Mapping[str, Any], ranking: Sequence[str], text_of: Callable[[str], str]) -> str | None:
        """The text on which coverage is measured."""
        if row["retrieved"]:
            return text_of(row["retrieved"])
        if self.reader is not None or row["context_tokens"] is None:
            return None
        known = self.index.passages
        return joined([known.passages[known.row[one]] for one in ranking])

    def _titles(self, question: Question) -> list[str]:
        """The titles of the gold passages; empty if one of them is not in the index."""
        known = self.index.passages
        rows = [known.row.get(one) for one in question.support]
        return [] if None in rows else [known.passages[row].title for row in rows]

    def ask_judge(self, question: Question, outcome: measures_.Outcome, trace: Trace) -> dict | None:
        """The judge's verdict and reason, or its failure, which counts as `unknown`; None if the answer is not left to
        it."""
        if self.judge is None or not measures_.left_to_judge(question, outcome):
            return None
        value = judge_step.Input(question.question, question.answers, outcome.answer)
        verdict, failure = {"verdict": "unknown", "reason": ""}, None
        with trace.span("EVALUATOR", judge_step.STEP.name, engine=self.judge.name) as span:
            try:
                (result,) = self.judge.run(judge_step.STEP, [value], trace=trace)
                verdict, failure = (result.value.model_dump() if result.value else verdict), result.failure
            except EngineError:
                raise
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
            span.set(verdict=verdict["verdict"], **({"failure": failure} if failure else {}))
        return {**verdict, "failure": failure, "key": identity.judged_key(self.parts.judge.key, question)}

    def config(self, questions: Sequence[Question], repeats: int = 1) -> dict[str, Any]:
        """Everything that determines the rows and their comparability with others. `seeds` (engine → seed) and
        `repeats` are there only if they say something."""
        parts, seeds = self.parts, self.seeds
        config = {
            "format": FORMAT,
            "data": self.index.manifest["data"],
            "questions": None,
            "engine": None,
            "methods": {name: {**part.description, "key": part.key} for name, part in parts.methods.items()},
            "reader": self.reader.label if self.reader else None,
            "reading": {**parts.reader.description, "key": parts.reader.key} if parts.reader else None,
            "judge": None,
            "judging": {**parts.judge.description, "key": parts.judge.key} if parts.judge else None,
            "prompts": None,
            "measures": dict(parts.measures),
            "k": self.k,
            "budget": self.budget,
            "trace": self.trace,
            "versions": versions(*(engine.name for engine in self.engines)),
            "package": source.package_hash(),
            **({"seeds": seeds} if any(one != [0] for one in seeds.values()) else {}),
            **({"repeats": repeats} if repeats > 1 else {}),
        }
        return summed(config, questions)


def graph_of(methods: Mapping[str, Method]) -> Index | None:
    """The index whose graph defines, for all methods, which nodes a passage represents; None without one."""
    return next((method.index for method in methods.values() if "typed" in method.index.manifest["layers"]), None)


def _is_ours(measure: Measure) -> bool:
    return getattr(measure, "__module__", "").startswith("workbench.")


def _file_of(context: Context) -> str:
    return f"{text_hash(context.text)}.txt"


def _proof(proof: Proof) -> dict[str, Any]:
    """The proof as stored in a row; the trace has the rest."""
    return {
        "mark": proof.mark,
        "broken": proof.broken,
        "score": proof.bindings[0].score if proof.bindings else None,
        "answers": [list(one) for one in proof.answers],
        "flaw": proof.flaw,
    }


def in_order(ask: Callable, jobs: Sequence, workers: int, close: Callable[[], None]) -> Iterator:
    """Results in the order of the jobs, with at most `workers` running and few queued, so that a stop loses little.

    After an error, running jobs finish, because their answers are paid for and may be recorded. An interrupt ends at
    once; `close` cancels pending requests."""
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
    except (KeyboardInterrupt, GeneratorExit):  # the latter if the caller was interrupted
        pool.shutdown(wait=False, cancel_futures=True)
        break_off(waiting, close)
        raise
    except Exception:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


def nodes_of(ranking: Iterable[str], graph: Index) -> list[str]:
    """Names of the nodes that passages represent."""
    rows = [graph.passages.row[passage_id] for passage_id in ranking]
    return [graph.typed.names[node] for node in graph.typed.nodes_of(rows)]


def _measurable(measures: Measures, reader: Reader | None, judge: Engine | None) -> dict[str, Measure]:
    """Name → measure, for those that apply; raises :class:`SettingError` for an unknown one before any work."""
    if judge is not None and reader is None:
        raise SettingError("a judge has no answers to judge without a reader; pass reader=wb.reader('direct', engine)")
    chosen = dict(_named(measure) for measure in measures)
    if reader is None:
        return {name: measure for name, measure in chosen.items() if not measures_.needs_reader(name)}
    if judge is not None:
        return chosen | {name: measures_.measure(name) for name in measures_.JUDGED}
    if asked := [name for name in chosen if name in measures_.JUDGED[1:]]:
        raise SettingError(f"{asked[0]} needs a judge; pass judge=wb.engine(…), or leave the measure out")
    names = dict.fromkeys(name.replace("accuracy:thesis", "accuracy:heuristic") for name in chosen)
    return {name: chosen.get(name) or measures_.measure(name) for name in names}


def _named(measure: str | Measure) -> tuple[str, Measure]:
    """A measure with its name; the user's own has the name of its function, which must be free."""
    if isinstance(measure, str):
        return measure, measures_.measure(measure)
    name = getattr(measure, "__name__", "<lambda>")
    if name == "<lambda>" or (measures_.is_known(name) and measures_.EVIDENCE.get(name) is not measure):
        raise SettingError(
            f"a measure of your own needs a name of its own, and {name!r} is none; define it with "
            "`def my_measure(question, outcome): …`"
        )
    return name, measure


@contextmanager
def _bar(progress: bool | tqdm, total: int) -> Iterator[tqdm]:
    """A new bar, or the given one, which also counts other work."""
    if not isinstance(progress, bool):
        yield progress
        return
    with tqdm(total=total, desc="evaluate", unit="question", disable=not progress) as bar:
        yield bar


def _skip(bar: tqdm, done: int) -> None:
    """Count what exists already, without taking it for the pace of the rest."""
    if not bar.disable:
        bar.initial += done
        bar.n += done
        bar.refresh()


def _served(usage: Meter) -> dict[str, dict[str, list[str]]]:
    """`fingerprints`: engine → what its servers say of their configuration; nothing if none says it."""
    found = {name: sorted(fingerprints) for name, fingerprints in sorted(usage.fingerprints.items())}
    return {"fingerprints": found} if found else {}
