"""Estimates of a build or an evaluation before it starts: requests, tokens and money per Step. No model is asked.

A sample of the passages or questions goes through the real code. In the place of each model stands an engine that
counts: it counts the prompts, and the rules answer. The counts times the rest give the estimate. Two assumptions are
in it, and said: a model asks as often as the rules do, and its answers are as long as theirs, give or take a factor of
two. An unknown price, and the time that a model takes, stay unknown; they never count as zero."""

from __future__ import annotations

import copy
import math
import random
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from workbench import measures as measures_
from workbench import tokens
from workbench.data import Dataset, Extraction, load
from workbench.data.curated import extracted
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.encoding.endpoint import EndpointEncoder
from workbench.errors import SettingError
from workbench.evaluation.book import RunState
from workbench.evaluation.evaluate import asked_for, check_whole
from workbench.evaluation.fitting import fits
from workbench.evaluation.plan import Plan, Settings
from workbench.evaluation.retrieved import Retrieved
from workbench.evaluation.scoring import Measures
from workbench.index import Index, extractions
from workbench.index.building import LAYERS, closure
from workbench.index.index import DEFAULT_LAYERS, place_of
from workbench.index.layer import Build
from workbench.llm.engine import Engine, EngineBase, by_rule, no_model, nominal, note
from workbench.llm.engine import engine as known_engine
from workbench.llm.meter import money, own_prices
from workbench.llm.step import Result, Step, Usage
from workbench.llm.wording import worded
from workbench.methods import Method
from workbench.reading.base import Reader
from workbench.records import Passage, Question, Record
from workbench.trace import Trace

PASSAGES, QUESTIONS = 800, 32  # of a sample whose size is not given
FEWEST = 10  # requests of a Step for a sample of passages, below which they say little of the whole
TIMED = 256  # texts that an encoder of this machine is timed with
CLUSTERED = {"resolved", "skeleton", "summaries", "tree"}  # layers whose requests depend on how near texts are
LONGER = 2  # the factor within which answers are assumed to be as long as the rules'


class Range(NamedTuple):
    """A number and its range; `low` and `high` are None if the range is unknown."""

    value: float
    low: float | None
    high: float | None

    def __add__(self, other: Range) -> Range:
        """Ends are added, so that a sum's range is wide rather than narrow."""
        return Range(*(None if a is None or b is None else a + b for a, b in zip(self, other)))


def exactly(value: float) -> Range:
    return Range(value, value, value)


NOTHING = exactly(0)


@dataclass(frozen=True, slots=True, repr=False)
class Cost(Record):
    """The cost of a Step, or of work without a model; `money` in US dollars, `batched` the same by a batch API. None
    means unknown."""

    part: str
    step: str
    calls: Range = NOTHING
    prompt_tokens: Range | None = NOTHING
    completion_tokens: Range | None = NOTHING
    money: Range | None = NOTHING
    seconds: Range | None = NOTHING
    batched: Range | None = NOTHING


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Record):
    """The remaining cost of `what`. `measured` states the basis, `unknown` what is not included."""

    what: str
    engine: str
    costs: tuple[Cost, ...]
    measured: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def total(self) -> Cost:
        """The sum; a value unknown for one part is unknown for the sum."""
        names = ("calls", "prompt_tokens", "completion_tokens", "money", "seconds", "batched")
        columns = ([getattr(cost, name) for cost in self.costs] for name in names)
        return Cost("total", "", *(None if None in column else sum(column, NOTHING) for column in columns))


ENGINE = {"engine", "_engine"}  # what methods, readers, and what these consist of, call theirs


class Unasked(EngineBase):
    """An engine with the name of a SPEC's model that sends no request. It stands for the model in an estimate, without
    a key; otherwise it refuses to run, because what rules answer must not enter an index or a run under that name."""

    def __init__(self, spec: str, why: str = ""):
        super().__init__()
        self.name, self.why, self.workers = nominal(spec), why, 1

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        raise SettingError(
            f"{self.name} is not asked here{self.why and f' ({self.why})'}, and {step.name} is: build the layers that "
            "a method or reader needs before the run is estimated; estimate the build with workbench estimate DATA "
            "--layers …"
        )


def unasked(engine: Engine | str) -> Engine:
    """Of the SPEC of a model only the name is needed: nothing is connected."""
    if not isinstance(engine, str):
        return engine
    return known_engine(engine) if no_model(engine) else Unasked(engine)


class Counting(EngineBase):
    """The rules under the name of another engine, with its wording and its window; its meter counts what that engine
    would be asked."""

    def __init__(self, of: Engine):
        super().__init__()
        self.name, self.workers = of.name, 1
        self.prompts, self._window = getattr(of, "prompts", {}), getattr(of, "window", None)

    @property
    def window(self) -> int | None:
        return self._window

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        prompt_step = worded(step, self.prompts)
        results = [
            replace(result, usage=_usage(prompt_step, value, result))
            for value, result in zip(inputs, by_rule(step, inputs))
        ]
        for result in results:
            self.meter.add(step.name, result.usage)
        note(trace, self.name, step, results)
        return results


def _usage(step: Step, value: Any, result: Result) -> Usage:
    completion = tokens.count(result.value.model_dump_json()) if result.value is not None else 0
    return Usage(1, prompt_tokens(step, value), min(completion, step.max_tokens), failed=result.usage.failed)


def prompt_tokens(step: Step, value: Any) -> int:
    """cl100k tokens of the prompt for one input."""
    return sum(tokens.count(message["content"]) for message in step.messages(value))


def in_place_of(engine: Engine, counting: dict[int, Counting]) -> Engine:
    """The counting stand-in of an engine; engines that ask no model stand for themselves."""
    return engine if no_model(engine.name) else counting.setdefault(id(engine), Counting(engine))


def _asks(value: Any) -> bool:
    """Whether a part has an engine of its own."""
    return not ENGINE.isdisjoint(getattr(value, "__dict__", ()))


def counted_by(counting: dict[int, Counting], part: Any) -> Any:
    """A copy of a method or a reader, and of what it consists of, whose engines count."""
    if part is None:
        return None
    part = copy.copy(part.method if isinstance(part, Retrieved) else part)
    for name, value in vars(part).items():
        if isinstance(value, EngineBase) or name in ENGINE:
            vars(part)[name] = in_place_of(value, counting)
        elif _asks(value):  # what was prepared with the engine
            vars(part)[name] = counted_by(counting, value)
        elif isinstance(value, tuple) and any(map(_asks, value)):  # the methods that it is over
            vars(part)[name] = tuple(counted_by(counting, item) if _asks(item) else item for item in value)
    return part


class _CountingEncoder:
    """In place of an encoder: keeps the texts. Unless it is `exact`, their words are hashed into vectors."""

    stored = False  # under the encoder's name, although its vectors differ

    def __init__(self, of: Encoder | None, exact: bool):
        self.of, self.name, self.texts, self.exact = of, of.name if of else "words", list[str](), exact
        self.dimension = of.dimension if exact else 384

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        if self.exact:
            return self.of.encode(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts):
            for word in text.lower().split() or [""]:
                row[zlib.crc32(word.encode()) % self.dimension] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([text])[0]

    def cost(self, times: float) -> Cost:
        """The cost of `times` as many texts: requests of an endpoint, or seconds of an encoder on this machine."""
        if isinstance(self.of, EndpointEncoder):
            size = times * sum(text.tokens for batch in self.of.batches(self.texts) for text in batch)
            calls = max(times * len(self.texts) / self.of.batch_size, size / self.of.batch_tokens)
            return _encoding(self.of, math.ceil(calls), math.ceil(size))
        chosen = stratified(self.texts, TIMED, lambda text: (len(text), text))
        share = sum(map(len, self.texts)) / max(1, sum(map(len, chosen)))
        started = time.perf_counter()
        self.of.encode(chosen)
        return Cost("encoding", "texts", seconds=exactly((time.perf_counter() - started) * share * times))


def _encoding(encoder: EndpointEncoder, calls: float, size: float) -> Cost:
    price = _price(encoder.engine, size, NOTHING)
    return Cost("encoding", "texts", exactly(calls), exactly(size), NOTHING, price, None, price)  # asked for at once


def stratified(items: Sequence[Any], n: int, key: Callable[[Any], Any], seed: int = 0) -> list[Any]:
    """At most `n` items, one at random from each of `n` equal parts in the order of `key`."""
    ordered, chance = sorted(items, key=key), random.Random(seed)
    n = min(n, len(ordered))
    ends = [len(ordered) * part // n for part in range(n + 1)] if n else []
    return [ordered[chance.randrange(begin, end)] for begin, end in pairwise(ends)]


def estimate_build(
    data: Dataset | str | Path,
    engine: Engine | str,
    sample: int = PASSAGES,
    folder: str | Path | None = None,
    *,
    encoder: Encoder | str | None = None,
    layers: Iterable[str] | None = None,
    extraction: str | None = None,
) -> Estimate:
    """The estimated cost of `Index.build(data, engine, folder, layers=layers, extraction=extraction)`.

    The layers are really built in a temporary folder, by rules, from at most `sample` passages, spread over their
    lengths; what would have been asked is scaled by tokens. What is asked once enough is said of a name needs a large
    sample: among 200 passages few names are named often. Of extraction, only passages count that have none in the data,
    in the index in `folder`, or in a stopped build there; of other layers, all, even if some exist already. Of a graph
    of triples, articles are written about a part of it. The defaults of `folder` and `encoder` are those of
    `Index.build`; an encoder behind an endpoint is not asked."""
    data = extracted(data if isinstance(data, Dataset) else load(data), extraction)
    engine = unasked(engine)
    check_whole(sample=sample)
    if data.triples and not data.passages:
        return _articles(data, engine, sample)
    kinds = closure(set(layers or DEFAULT_LAYERS))
    folder = Path(folder or place_of(data))
    index = Index.open(folder) if (folder / "manifest.json").exists() else None
    encoder = encoder or (index.encoder if index else known_encoder())
    encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
    left, records = _extracted(Build(data, encoder, engine), index, kinds)
    how = {"left": left, "records": records, "index": index}
    costs, seldom = _counted(data, engine, encoder, kinds, sample, **how)
    return _estimate(
        f"the index of {data.name}: {len(data.passages):,} passages, {len(left):,} of them to be extracted",
        [engine, *([encoder] if isinstance(encoder, EndpointEncoder) else [])],
        costs,
        [
            f"built by rules from {min(sample, len(data.passages)):,} of {len(data.passages):,} passages, spread over "
            "lengths, and scaled by tokens"
        ],
        [
            "not in it: loading the models, and that some of what is not extraction may exist already",
            *(f"hardly known: how often {step} is asked; the sample asked it under {FEWEST} times" for step in seldom),
        ],
    )


def forecast_layers(index: Index, sample: int = PASSAGES) -> dict[str, list[Cost]]:
    """What a model would be asked to write the layers of an index, whoever wrote them: a Cost per Step, by kind.
    Nothing is requested or encoded; money and seconds are not known. Layers that ask no model have none."""
    data, engine = replace(index.data, extractions=None), Unasked("openai:a model")
    settings = {kind: layer["settings"] for kind, layer in index.manifest["layers"].items() if kind in LAYERS}
    costs, _ = _counted(data, engine, None, [*settings], sample, left=data.passages, settings=settings)
    return {kind: mine for kind in settings if (mine := [cost for cost in costs if cost.part == kind and cost.step])}


def _counted(
    data: Dataset, engine: Engine, encoder: Encoder | None, kinds: Sequence[str], sample: int, *,
    left: Sequence[Passage], records: Iterable[Extraction] = (), index: Index | None = None,
    settings: Mapping[str, Mapping] | None = None,
) -> tuple[list[Cost], list[str]]:  # fmt: skip
    """The costs of these layers for all of `data`, extrapolated from a build of a sample; and the Steps for which the
    sample is too small."""

    def spread(passages: Iterable[Passage], n: int) -> list[Passage]:
        return stratified(list(passages), n, lambda passage: (tokens.count(passage.content), passage.id))

    unread = {passage.id for passage in left}
    fresh = spread(left, sample)
    done = spread((passage for passage in data.passages if passage.id not in unread), sample - len(fresh))
    passages, names = (*fresh, *done), {passage.id for passage in done}
    extracted = tuple({record.passage_id: record for record in records if record.passage_id in names}.values())
    small = replace(data, passages=passages, questions=(), extractions=extracted, graph=None)
    exact = not CLUSTERED.isdisjoint(kinds) and not isinstance(encoder, EndpointEncoder | None)
    vectors, times = _CountingEncoder(encoder, exact), _size(data.passages) / max(1, _size(passages))
    costs: list[Cost] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for kind in (kind for kind in LAYERS if kind in kinds):
            counting = engine if no_model(engine.name) else Counting(engine)
            how = {"encoder": vectors, "layers": [kind], "settings": settings, "keep_going": True, "progress": False}
            Index.build(small, counting, folder, **how)  # replies to a sample say nothing of the whole
            costs += _costs(kind, counting, _size(left) / max(1, _size(fresh)) if kind == "extractions" else times)
    often = {cost.step for cost in costs if cost.calls.value >= FEWEST * times or cost.part == "extractions"}
    steps = [step.name for kind in dict.fromkeys(cost.part for cost in costs) for step in LAYERS[kind][0].steps]
    seldom = [step for step in steps if step not in often] if len(passages) < len(data.passages) else []
    seconds = (time.perf_counter() - started) * times
    if isinstance(encoder, EndpointEncoder) or (encoder is not None and no_model(engine.name)):
        standing = index.passages.passages if index and index.manifest["encoder"]["name"] == encoder.name else ()
        encoded = {passage.content for passage in standing}
        share = _size(passage for passage in data.passages if passage.content not in encoded) / max(1, _size(passages))
        costs.append(vectors.cost(share))
    return [*costs, Cost("this machine", "", seconds=exactly(seconds))], seldom


def _extracted(build: Build, index: Index | None, kinds: Sequence[str]) -> tuple[list[Passage], list[Extraction]]:
    """The passages that a build would extract, and the existing records of the index and of the data."""
    old = index.extractions if index and "extractions" in index.manifest["layers"] else None
    answers = extractions.journal(build, old.extracted.values() if old else ())
    records = [*(old.records if old else ()), *(build.data.extractions or ())]
    return extractions.left(answers, build) if "extractions" in kinds else [], records


def _articles(data: Dataset, engine: Engine, sample: int) -> Estimate:
    from workbench.index.textualise import induced, textualise

    whole = _entities(data)
    small = data if len(whole) <= sample else induced(data, stratified(whole, sample // 4, str), hops=1, cap=4 * sample)
    counting, part = Counting(engine), _entities(small)
    with tempfile.TemporaryDirectory() as folder:
        textualise(small, counting, folder, progress=False)
    return _estimate(
        f"articles on the {len(data.triples):,} triples of {data.name}",
        [engine],
        _costs("articles", engine if no_model(engine.name) else counting, len(whole) / len(part)),
        [f"written by rules about {len(part):,} of {len(whole):,} entities, and scaled by their number"],
        ["not in it: encoding, and what is written already"],
    )


def _entities(data: Dataset) -> list[str]:
    return sorted({name for triple in data.triples for name in (triple.subject, triple.object)})


def _size(passages: Iterable[Passage]) -> int:
    return sum(max(1, tokens.count(passage.content)) for passage in passages)


def estimate_run(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    reader: Reader | None = None,
    sample: int = QUESTIONS,
    *,
    out: str | Path | None = None,
    measures: Measures = measures_.DEFAULT,
    limit: int | None = None,
    **settings: Unpack[Settings],
) -> Estimate:
    """The estimated cost of `evaluate` with the same arguments; `settings` are k, budget, trace, workers, judge and
    repeats.

    Every method runs over at most `sample` questions, spread over hops, types and lengths, with its reader and judge,
    while the rules answer in the place of their models. The counts are scaled by the number of questions, and repeats
    multiply what can differ. Existing rows in the folder `out` do not count. Like `evaluate`, it raises
    :class:`SettingError` for a folder with another run."""
    questions, methods = asked_for(questions, methods, limit, by="estimate_run")
    judge, repeats = settings.get("judge"), settings.get("repeats", 1)
    plan_options = {**settings, "judge": None if judge is None else unasked(judge)}
    plan = Plan.of(methods, reader, measures, **plan_options)
    check_whole(sample=sample, repeats=repeats)
    shortened = fits(plan.methods, plan.reader, plan.judge)
    jobs = missing = plan.jobs(questions, repeats)
    if out is not None:
        config = plan.config(questions, repeats)
        missing = RunState.of(Path(out), config, plan.parts, questions, plan.room).missing(jobs)
    left, costs, unknown = Counter(job.method for job in missing), [], []
    for name in left:
        mine = list({job.question.id: job.question for job in missing if job.method == name}.values())
        mine = stratified(mine, sample, lambda q: (q.hops or 0, q.type or "", len(q.question), q.id))
        run_costs, unseen = _run(plan, name, mine, left[name] / len(mine))
        costs += run_costs
        unknown += [f"not known: how often {name} asks {step}, which the sample did not show" for step in unseen]
    standing = len(jobs) - len(missing)
    what = (
        f"a run of {len(questions):,} questions and {len(methods)} methods"
        f"{f', each asked {repeats} times' if repeats > 1 else ''}{f', {standing:,} rows are done' if standing else ''}"
    )
    basis = [f"of each method, at most {sample:,} of the questions that are left, spread over hops, types and lengths"]
    if plan.judge and not no_model(plan.judge.name):
        basis.append("the judge is asked about as many answers as the rules leave open, and at most about all")
    if fixed := [name for name in methods if repeats > 1 and name not in plan.varying]:
        basis.append(f"{', '.join(fixed)} asks no model, so its first repeat stands for all")
    engines = [*plan.engines, *_behind_endpoints(methods.values())]
    return _estimate(what, engines, costs, [*basis, *shortened], ["not in it: loading the models", *unknown])


def _run(plan: Plan, name: str, sample: Sequence[Question], times: float) -> tuple[list[Cost], list[str]]:
    """The costs of a method, given how many times the sample they are; and its Steps that the sample did not ask."""
    counting: dict[int, Counting] = {}
    method, reader = counted_by(counting, plan.methods[name]), counted_by(counting, plan.reader)
    judge = plan.judge and in_place_of(plan.judge, counting)
    counted = replace(plan, methods={name: method}, reader=reader, judge=judge)
    spent = [(encoder, encoder.meter.total) for encoder in _behind_endpoints([method])]
    started = time.perf_counter()
    for question in sample:
        counted.ask(question, name)
    seconds = (time.perf_counter() - started) * times
    costs = [cost for engine in counting.values() for cost in _costs(name, engine, times)]
    for encoder, before in spent:
        now = encoder.meter.total
        calls, prompt = now.calls - before.calls, now.prompt_tokens - before.prompt_tokens
        costs.append(_encoding(encoder, times * calls, times * prompt))
    seen = {step for engine in counted.engines for step in engine.meter.steps}
    steps = {*plan.methods[name].steps, *(plan.reader.steps if plan.reader else ())}
    return [*costs, Cost(name, "this machine", seconds=exactly(seconds))], sorted(steps - seen)


def _behind_endpoints(methods: Iterable[Method]) -> list[EndpointEncoder]:
    """The methods' encoders that are behind an endpoint, each once."""
    encoders = {id(method.index.encoder): method.index.encoder for method in methods}
    return [encoder for encoder in encoders.values() if isinstance(encoder, EndpointEncoder)]


def _costs(part: str, engine: Engine, times: float) -> list[Cost]:
    """The counts of a counting engine, multiplied, with a row per Step; none for rules."""
    costs = []
    for step, used in engine.meter.steps.items() if isinstance(engine, Counting) and times else ():
        prompt, answers = times * used.prompt_tokens, times * used.completion_tokens
        completion = Range(answers, answers / LONGER, answers * LONGER)
        singly, batched = (_price(engine.name, prompt, completion, batch) for batch in (False, True))
        costs.append(Cost(part, step, exactly(times * used.calls), exactly(prompt), completion, singly, None, batched))
    return costs


def _price(engine: str, prompt: float, completion: Range, batch: bool = False) -> Range | None:
    """None for an unknown price."""
    prices = [money(engine, prompt, tokens, batch=batch) for tokens in completion]
    return None if None in prices else Range(*prices)


def _estimate(what: str, parts: Sequence[Any], costs: list[Cost], basis: list[str], unknown: list[str]) -> Estimate:
    """`parts`: the engines, and the encoders that are priced."""
    engines = [part for part in parts if not isinstance(part, EndpointEncoder)]
    names = list(dict.fromkeys(engine.name for engine in engines))
    models = [name for name in names if not no_model(name)]
    basis = [
        *dict.fromkeys(f"no model was asked: {engine.why}" for engine in engines if getattr(engine, "why", "")),
        *basis,
    ]
    if models:
        basis.append(
            f"assumed: {', '.join(models)} asks as often as the rules do, and answers as long as theirs, as JSON, "
            f"give or take a factor of {LONGER}; tokens are cl100k's"
        )
        unknown = [*unknown, "not known: how long an answer takes"]
    priced = dict.fromkeys([*models, *(part.engine for part in parts if isinstance(part, EndpointEncoder))])
    if unpriced := [name for name in priced if money(name, 0, 0) is None]:
        unknown = [*unknown, f"not known: the price of {', '.join(unpriced)}, which is not in {own_prices()}"]
    if len(engines) < len(parts):
        unknown = [*unknown, "not known: how long the endpoint takes for vectors"]
    names += [part.engine for part in parts if isinstance(part, EndpointEncoder)]
    return Estimate(what, ", ".join(dict.fromkeys(names)), tuple(costs), tuple(basis), tuple(unknown))
