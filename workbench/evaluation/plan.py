"""The plan of an evaluation: what asks the questions of a run, judges the answers, and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cached_property, partial
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple, TypedDict, Unpack

from tqdm.auto import tqdm

from workbench import measures as measures_
from workbench import source
from workbench.encoding import noting_reuse
from workbench.errors import EngineError, FileDamaged
from workbench.evaluation import claims, identity
from workbench.evaluation.book import Book, Job, Parts, RunState
from workbench.evaluation.retrieved import Retrieved
from workbench.evaluation.run import read_trace, summed, varies
from workbench.evaluation.scoring import Measures, Scoring, measurable
from workbench.evaluation.sums import FORMAT, cell_of
from workbench.index.building import versions
from workbench.index.journal import is_rules
from workbench.language.pipeline import nlp
from workbench.llm.call import repeating
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import Engine, engine, rules_stand_in
from workbench.llm.meter import Meter, collect
from workbench.llm.step import Usage
from workbench.measures.graphrag_bench import JUDGED, of_level
from workbench.methods import Method
from workbench.reading.base import Reader
from workbench.reading.render import Context, unread
from workbench.records import Answer, Evidence, Proof, Question
from workbench.spread import is_spread, spread
from workbench.steps import judge as judge_step
from workbench.text import text_hash
from workbench.threads import in_order
from workbench.trace import Trace

_PIPELINE = "workbench.language.pipeline"
_loading = Lock()


class Settings(TypedDict, total=False):
    """How questions are asked: settings that `evaluate`, a grid and an estimate share."""

    k: int | None
    budget: int | None
    trace: str
    workers: int | None
    judge: Engine | str | None
    repeats: int


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
    context: Context | None = None
    answer: Answer | None = None
    failure: str | None = None
    reused: bool = False

    @cached_property
    def texts(self) -> dict[str, str]:
        """File → text of the contexts that the row names."""
        return {_file_of(text): text.text for text in (self.named, self.context) if text}

    @property
    def named(self) -> Context | None:
        """The retrieved context, if its text does not follow from the ranking: a reader, or the method itself, laid it
        out."""
        own = self.evidence is not None and self.evidence.context is not None
        return self.retrieved if self.context or own else None

    @property
    def layout(self) -> str | None:
        """The layout of the context that the method writes itself, if that is what was retrieved."""
        own = self.evidence and self.evidence.context
        return own.layout if own and self.retrieved and self.retrieved.graph is own else None


@dataclass(frozen=True)
class Plan(Scoring):
    """The configuration of an evaluation. `config` returns it as JSON; `ask` runs one question, `fill` all that are
    missing."""

    @classmethod
    def of(
        cls,
        methods: Mapping[str, Method],
        reader: Reader | None,
        measures: Measures,
        **settings: Unpack[Settings],
    ) -> Plan:
        """The plan for the arguments of `evaluate`."""
        judge, k = settings.get("judge"), settings.get("k")
        judge = engine(judge) if judge is not None else None
        chosen = measurable(measures, reader, judge)
        depth = k or max(20, measures_.deepest(list(chosen)))
        return cls(methods, reader, judge, chosen, depth, settings.get("budget"), settings.get("trace", "full"))

    def jobs(self, questions: Sequence[Question], repeats: int) -> list[Job]:
        """All jobs, in the order of repeats, questions and methods; after the first repeat only for methods whose rows
        can differ."""
        methods = [self.methods, *[self.varying] * (repeats - 1)]
        rounds = enumerate(methods)
        return [Job(question, name, number) for number, names in rounds for question in questions for name in names]

    @property
    def varying(self) -> dict[str, Method]:
        """The methods with whose rows a model has to do: by their Steps, the reader, or the judge."""
        always = any(part and varies(part.description["engine"]) for part in (self.parts.reader, self.parts.judge))
        return {
            name: method
            for name, method in self.methods.items()
            if always or varies(self.parts.methods[name].description["engine"])
        }

    def fill(self, standing: RunState, wanted: Sequence[Job], workers: int, bar: tqdm) -> tuple[str, ...]:
        """Do the missing jobs, and judge and measure what was not; returns the notes. Deferred rows are not written."""
        book, deferrals = Book(standing), Deferrals()
        jobs = standing.missing(wanted)
        skip(bar, len(wanted) - len(jobs))
        if jobs and not is_spread():
            started = perf_counter()
            self._loaded  # noqa: B018 (its value is that it is there)
            bar.set_postfix_str(f"models loaded in {perf_counter() - started:.1f} s, apart from the questions")
        with book.open() as add:
            unjudged = self.unjudged(book, wanted)
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

    def ask_job(self, job: Job) -> Outcome:
        with _loading:
            self._loaded  # noqa: B018 (its value is that it is there)
        return self.ask(*job)

    @cached_property
    def loading(self) -> tuple[bool, tuple[str, ...]]:
        """What is loaded when it is first used: whether the English pipeline, and the methods that encode the
        question."""
        parts = [(method, method.engines) for method in self._own.values()]
        parts += [(self.reader, (self.reader.engine,))] if self.reader else []
        return any(map(_reads_english, *zip(*parts))), tuple(
            name for name, method in self._own.items() if method.encodes
        )

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
        """What a worker is given: the plan with its own measures, the names of others, and identities."""
        modules = {name: getattr(measure, "__module__", "") for name, measure in self.measures.items()}
        ours = {name for name, module in modules.items() if module.startswith("workbench.")}
        own = {name: None if name in ours else measure for name, measure in self.measures.items()}
        plan = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**plan, "measures": own, "parts": self.parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        measures_by_name = {name: measure or measures_.measure(name) for name, measure in state["measures"].items()}
        vars(self).update(state, measures=measures_by_name)

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
        seeded = [(engine.name, engine.seed) for engine in self.engines if hasattr(engine, "seed")]
        return {name: sorted({seed for of, seed in seeded if of == name}) for name in sorted({of for of, _ in seeded})}

    @property
    def sent(self) -> list[str]:
        """How requests differed from the usual because an endpoint does not accept it, in words."""
        notes = {engine.name: getattr(engine, "sent", ()) for engine in self.engines}
        return [f"{name} was asked with {'; '.join(sent)}" for name, sent in notes.items() if sent]

    @property
    def workers(self) -> int:
        """The useful number of concurrent questions."""
        return max(getattr(engine, "workers", 1) for engine in self.retrieving)

    @property
    def _own(self) -> dict[str, Method]:
        """The methods themselves, without what keeps the evidence of a grid."""
        return {n: method.method if isinstance(method, Retrieved) else method for n, method in self.methods.items()}

    @cached_property
    def parts(self) -> Parts:
        """The identities that determine the rows."""
        asking = source.depends(unread).units if self.reader is None else {}  # the context of a row without a reader
        methods = {name: identity.of_method(method, asking) for name, method in self._own.items()}
        measured = {name: identity.of_measure(name, measure, self.graph).key for name, measure in self.measures.items()}
        judge = identity.of_judge(self.judge, claims.STEPS if self.claims else ())
        return Parts(methods, identity.of_reader(self.reader), judge, measured)

    @property
    def claims(self) -> tuple[str, ...]:
        """The measures for which a judge is asked about claims."""
        return tuple(name for name in JUDGED if self.judge is not None and name in self.measures)

    def room(self, question: str) -> int | None:
        """The tokens of context that fit into the window of the reader's engine; None if no window is known."""
        return getattr(self.reader, "room", lambda question: None)(question)

    def close(self) -> None:
        """Cancel the pending requests of all engines, and of encoders behind an endpoint."""
        for resource in (*self.engines, *(method.index.encoder_in_use for method in self.methods.values())):
            getattr(resource, "close", lambda: None)()

    def ask(self, question: Question, name: str, repeat: int = 0) -> Outcome:
        """The outcome of one question. Method and reader see its text only; its gold is used for scoring."""
        trace = Trace("ids" if self.trace == "off" else self.trace)  # the source of timings, even if it is not kept
        attempt = Attempt()
        with repeating(repeat), collect() as usage, noting_reuse() as encoded:
            self._attempt(attempt, question.question, name, trace)
            row = self._row(attempt, Job(question, name, repeat))
            text_of = attempt.texts.__getitem__
            row |= self.ask_judge(question, self.outcome(row, question, text_of), trace)
        row["usage"] = usage.as_dict(seconds=False)
        row |= _served(usage)
        self.score(row, question, text_of, self.parts.measures)
        reused = {"reused": True} if attempt.reused or any(encoded.values()) else {}
        timing = {"seconds": trace.seconds()} | reused | _answers_of(usage)
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
            attempt.context, attempt.retrieved = contexts.shown, contexts.retrieved

    def _row(self, attempt: Attempt, job: Job) -> dict[str, Any]:
        """The row without its measurements."""
        question, name, repeat = job
        decides = self.parts.methods[name].key, self.parts.reader and self.parts.reader.key
        evidence, retrieved, context, answer = attempt.evidence, attempt.retrieved, attempt.context, attempt.answer
        return {
            "question_id": question.id,
            "type": question.type,
            "hops": question.hops,
            "method": name,
            **({"repeat": repeat} if repeat else {}),
            "key": identity.row_key(*decides, question),
            "ranking": [list(pair) for pair in evidence.ranking] if evidence else [],
            "selected": evidence.selected if evidence else None,
            "nodes": list(evidence.nodes) if evidence else [],
            "context": _file_of(context) if context else None,
            "retrieved": _file_of(attempt.named) if attempt.named else None,
            "context_tokens": retrieved.tokens if retrieved else None,
            "read": len(context.passages) if context else None,
            "read_tokens": context.tokens if context else None,
            **({"layout": attempt.layout} if attempt.layout else {}),
            **({"cut_to": context.cut_to} if context and context.cut_to is not None else {}),
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

    def score_again(self, book: Book) -> None:
        """Compute the measures of all rows that were scored by other measures, or with other gold."""
        measures = book.standing.config["measures"]
        for (question_id, *_), row in book.rows.items():
            question = book.standing.questions[question_id]
            if row["scored"] != identity.scores_key(measures, question):
                self.score(row, question, book.context, measures)

    def unjudged(self, book: Book, jobs: Iterable[Job]) -> list[dict]:
        """The rows left to the judge that it has not seen."""
        if self.judge is None:
            return []
        return [
            row
            for question, name, repeat in jobs
            if (row := book.rows.get((question.id, name, repeat))) and self._left_to_judge(row, question, book)
        ]

    def _left_to_judge(self, row: dict, question: Question, book: Book) -> bool:
        key = identity.judged_key(self.parts.judge.key, question)
        if self.claims and (row.get("claims") or {}).get("key") != key:
            return True
        unseen = (row["judge"] or {}).get("key") != key
        return unseen and measures_.left_to_judge(question, self.outcome(row, question, book.context))

    def judge_again(self, row: dict, book: Book) -> Outcome:
        """An existing row with the judge's verdict."""
        question = book.standing.questions[row["question_id"]]
        cell = cell_of(row)
        trace = Trace("off") if self.trace == "off" else read_trace(book.folder, *cell)
        with repeating(cell[-1]), collect() as usage:
            for engine_name, fingerprints in row.get("fingerprints", {}).items():
                for fingerprint in fingerprints:
                    usage.served(engine_name, fingerprint)
            for step, used in row["usage"].items():
                if (row["judge"] is None or step != judge_step.STEP.name) and step not in claims.STEPS:
                    usage.add(step, Usage(**used))
            judged = self.ask_judge(question, self.outcome(row, question, book.context), trace)
        row = {**row, **judged, "usage": usage.as_dict(seconds=False), **_served(usage), "scored": None}
        return Outcome(row, _answers_of(usage) or None, trace, {})

    def ask_judge(self, question: Question, outcome: measures_.Outcome, trace: Trace) -> dict[str, dict | None]:
        """What the judge adds to a row: its verdict, and `claims` where a measure needs them."""
        added: dict[str, dict | None] = {"judge": self._verdict(question, outcome, trace)}
        if self.claims:
            names = [name for name in self.claims if name in of_level(question.type)]
            values = claims.judged(self.judge, question, outcome, names, self.similarity, trace)
            added["claims"] = {**values, "key": identity.judged_key(self.parts.judge.key, question)}
        return added

    def _verdict(self, question: Question, outcome: measures_.Outcome, trace: Trace) -> dict | None:
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
            **({"seeds": seeds} if any(seed != [0] for seed in seeds.values()) else {}),
            **({"repeats": repeats} if repeats > 1 else {}),
        }
        return summed(config, questions)


def _reads_english(part: Method | Reader, engines: Iterable[Engine]) -> bool:
    """Whether the spaCy pipeline is used: by rules that answer Steps, or by a part's own code beside its index."""
    by_rules = part.steps and any(is_rules(engine) or rules_stand_in(engine.name) for engine in engines)
    return bool(by_rules) or _PIPELINE in source.closure(type(part).__module__, apart=("index",))


def _file_of(context: Context) -> str:
    return f"{text_hash(context.text)}.txt"


def _proof(proof: Proof) -> dict[str, Any]:
    """The proof as stored in a row; the trace has the rest."""
    return {
        "mark": proof.mark,
        "broken": proof.broken,
        "score": proof.bindings[0].score if proof.bindings else None,
        "answers": [list(answer) for answer in proof.answers],
        "flaw": proof.flaw,
    }


def skip(bar: tqdm, done: int) -> None:
    """Count what exists already, without taking it for the pace of the rest."""
    if not bar.disable:
        bar.initial += done
        bar.n += done
        bar.refresh()


def _answers_of(usage: Meter) -> dict[str, Any]:
    """`answers`: recording → keys of the requests that it answered; nothing where none did."""
    return {"answers": usage.answers} if usage.answers else {}


def _served(usage: Meter) -> dict[str, dict[str, list[str]]]:
    """`fingerprints`: engine → the configurations that its servers report; empty if none does."""
    fingerprints_of = {name: sorted(fingerprints) for name, fingerprints in sorted(usage.fingerprints.items())}
    return {"fingerprints": fingerprints_of} if fingerprints_of else {}
