"""What a build or a run will take, before it is started: calls, tokens, money and seconds, per Step, from a sample.

A sample of the passages, or of the questions, is asked for real, and the rest is expected to be like it: completion
tokens in proportion to the length of the passage, prompt tokens in proportion to the prompt, which is counted for every
passage. Low and high are the 95 % interval of that proportion over resampled samples (bootstrap); they hold what chance
does to a sample, not what is unlike it. An unknown price or latency stays unknown; nothing is taken for zero."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from workbench import measures as measures_
from workbench import tokens
from workbench.data import Dataset, Extraction, load
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.errors import SettingError
from workbench.experiments.evaluate import Plan, check_same, in_order
from workbench.experiments.run import read_rows
from workbench.index import Index, extractions
from workbench.index.facts import fact_text
from workbench.index.layer import Build
from workbench.index.store import Store, key_of
from workbench.llm.engine import Engine
from workbench.llm.engine import engine as known_engine
from workbench.llm.meter import collect, money, own_prices
from workbench.llm.step import Step, Usage
from workbench.methods import Method
from workbench.places import home
from workbench.reading.base import Reader
from workbench.records import Passage, Question, Record
from workbench.steps import judge as judge_step
from workbench.steps import named_entities, triples
from workbench.text import PHRASE_RULES

T = TypeVar("T")
RESAMPLES = 1_000
# Completion tokens per token of the passage, with the 5th and 95th percentile of single passages: what
# gpt-3.5-turbo-1106 wrote for 1,500 passages of MuSiQue, in HippoRAG's released extractions, as cl100k tokens of JSON.
ASSUMED = {named_entities.STEP.name: (0.49, 0.21, 0.87), triples.STEP.name: (1.41, 0.81, 2.36)}
TIMED = {"passages": 32, "phrases and facts": 256}  # texts that the encoder is timed with, so often:
TIMES = 3


class Range(NamedTuple):
    """A number, and where it may lie; `low` and `high` are None where one sample cannot tell."""

    value: float
    low: float | None
    high: float | None

    def __add__(self, other: Range) -> Range:
        """Ends are added, so that a sum's range is wide rather than narrow."""
        return Range(*(None if a is None or b is None else a + b for a, b in zip(self, other)))

    def times(self, factor: float | Range) -> Range:
        factor = factor if isinstance(factor, Range) else exactly(factor)
        return Range(*(None if a is None or b is None else a * b for a, b in zip(self, factor)))


def exactly(value: float) -> Range:
    return Range(value, value, value)


NOTHING = exactly(0)


@dataclass(frozen=True, slots=True, repr=False)
class Cost(Record):
    """What a Step takes, or work without a model; `money` in US dollars. What is None is unknown."""

    part: str
    step: str
    calls: Range = NOTHING
    prompt_tokens: Range | None = NOTHING
    completion_tokens: Range | None = NOTHING
    money: Range | None = NOTHING
    seconds: Range | None = NOTHING


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Record):
    """What `what` takes from now on. `measured` says what it rests on, `unknown` what it does not hold; `spent` is what
    the sample has taken."""

    what: str
    engine: str
    costs: tuple[Cost, ...]
    measured: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    spent: Usage = field(default_factory=Usage)

    @property
    def total(self) -> Cost:
        """The sum; what is unknown of one part is unknown of the whole."""
        names = ("calls", "prompt_tokens", "completion_tokens", "money", "seconds")
        return Cost("total", "", *(_sum([getattr(cost, name) for cost in self.costs]) for name in names))


# -- a build ----------------------------------------------------------------------------------------------------------


def estimate_build(
    data: Dataset | str | Path,
    engine: Engine | str,
    sample: int = 8,
    folder: str | Path | None = None,
    *,
    encoder: Encoder | str | None = None,
    seed: int = 0,
) -> Estimate:
    """What `Index.build(data, engine, folder)` takes.

    Only passages without an extraction count: those that neither the data nor the index (or the stopped build) in
    `folder` has one for. `sample` of them, spread over their lengths, are asked for real; with 0 none is, and the
    length of the answers is assumed (`ASSUMED`). The encoder is timed with a few of the texts that it has to encode.
    `folder` and `encoder` are by default those of `Index.build`."""
    data = data if isinstance(data, Dataset) else load(data)
    engine = known_engine(engine)
    _whole(sample=sample, least=0)
    folder = Path(folder or home() / "indexes" / data.name)
    index = Index.open(folder) if (folder / "manifest.json").exists() else None
    encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
    encoder = encoder or (index.encoder if index else known_encoder())
    old = index.extractions if index and "extractions" in index.manifest["layers"] else None
    build = Build(data, encoder, engine)
    attempt = _attempt(build, folder)
    left = extractions.left(build, old, attempt)
    chosen = spread(left, sample, lambda passage: (_size(passage), passage.id), seed)
    asked = _ask(engine, chosen)
    extracting = [_extracting(step, engine, left, asked, seed) for step in (named_entities.STEP, triples.STEP)]
    stopped = [made.record for made in extractions.left_behind(attempt).values()]
    records = [*(old.records if old else ()), *stopped, *(data.extractions or ())]
    encoding, timed = _encoding(build, index, records, left, asked, seed)
    measured = [_said_of(len(chosen), len(left), "passages without an extraction", "lengths", seed)] if chosen else []
    if left and not chosen:
        measured.append(
            "no passage was asked: prompts are counted, and answers assumed to have "
            + ", ".join(f"{low:g} to {high:g} ({value:g}) tokens" for value, low, high in ASSUMED.values())
            + " per token of the passage for names and facts, as gpt-3.5-turbo-1106's of MuSiQue have"
        )
    unknown = ["not in it: loading the models, the search for synonyms, writing to the disk"]
    if left and not chosen:
        unknown.append("not known: how long an answer takes, and how many facts there will be to encode; ask a sample")
    what = f"the index of {data.name}: {len(data.passages):,} passages, {len(left):,} of them to be extracted"
    costs = [*extracting, *encoding] if left else encoding
    return _estimate(what, [engine], costs, [*measured, *timed], unknown, asked.usages)


class _Asked(NamedTuple):
    """The sampled passages, and what came of each: usage per Step, and the triples."""

    passages: list[Passage]
    by_step: dict[str, list[Usage]]
    triples: list[list[list[str]]]

    @property
    def usages(self) -> list[Usage]:
        return [usage for usages in self.by_step.values() for usage in usages]


def _ask(engine: Engine, chosen: list[Passage]) -> _Asked:
    """As the build asks: names first, then facts given the names."""
    if not chosen:
        return _Asked([], {}, [])
    if engine.name == "rules":
        engine.run(named_entities.STEP, [named_entities.Input("", "Warm.")])  # loads the pipeline
    found, first = _timed(engine, named_entities.STEP, [named_entities.Input(p.title, p.text) for p in chosen])
    names = [tuple(dict.fromkeys(result.value.named_entities)) if result.value else () for result in found]
    inputs = [triples.Input(p.title, p.text, entities) for p, entities in zip(chosen, names)]
    stated, second = _timed(engine, triples.STEP, inputs)
    by_step = {named_entities.STEP.name: first, triples.STEP.name: second}
    return _Asked(chosen, by_step, [result.value.triples if result.value else [] for result in stated])


def _timed(engine: Engine, step: Step, inputs: list) -> tuple[list, list[Usage]]:
    """Results and their usage; the rules work on all of them at once, so each gets its part of the time."""
    started = time.perf_counter()
    results = engine.run(step, inputs)
    each = (time.perf_counter() - started) / len(inputs)
    usages = [result.usage for result in results]
    return results, [replace(usage, seconds=each) for usage in usages] if engine.name == "rules" else usages


def _extracting(step: Step, engine: Engine, left: list[Passage], asked: _Asked, seed: int) -> Cost:
    if engine.name == "rules":
        if not asked.passages:
            return Cost("extraction", step.name, seconds=None)
        spent = sum(usage.seconds for usage in asked.by_step[step.name])  # on one batch, which tells no spread
        seconds = spent * sum(map(_size, left)) / sum(map(_size, asked.passages))
        return Cost("extraction", step.name, seconds=Range(seconds, None, None))
    prompts, sizes = {p.id: _prompt(step, p) for p in left}, {p.id: _size(p) for p in left}
    if not asked.passages:
        value, low, high = (factor * sum(sizes.values()) for factor in ASSUMED[step.name])
        completion, prompt = Range(value, low, high), exactly(sum(prompts.values()))
        if step is triples.STEP:  # its prompt shows the names that were found
            prompt += Range(*(factor * sum(sizes.values()) for factor in ASSUMED[named_entities.STEP.name]))
        dollars = _money(engine.name, prompt, completion)
        return Cost("extraction", step.name, exactly(len(left)), prompt, completion, dollars, None)
    usages, chosen = asked.by_step[step.name], [passage.id for passage in asked.passages]
    told = any(usage.prompt_tokens for usage in usages)

    def whole(values: list[float], by: dict[str, int]) -> Range:
        sampled = [by[passage_id] for passage_id in chosen]
        return extrapolated(values, sampled, sum(by.values()) - sum(sampled), seed)

    prompt = whole([usage.prompt_tokens for usage in usages], prompts) if told else exactly(sum(prompts.values()))
    completion = whole([usage.completion_tokens for usage in usages], sizes) if told else None
    groups = [min(extractions.GROUP, len(left) - start) for start in range(0, len(left), extractions.GROUP)]
    rounds = sum(math.ceil(group / getattr(engine, "concurrency", 1)) for group in groups)
    latency = _latency(usages, seed)
    return Cost(
        "extraction", step.name, exactly(len(left)), prompt, completion,
        _money(engine.name, prompt, completion), latency and latency.times(rounds),
    )  # fmt: skip


def _encoding(
    build: Build, index: Index | None, records: list[Extraction], left: list[Passage], asked: _Asked, seed: int
) -> tuple[list[Cost], list[str]]:  # fmt: skip
    """The time for passages, and for phrases and facts: of known records they are counted, of the rest extrapolated.
    What recurs in several passages is encoded once, which a sample does not show."""
    encoder, data = build.encoder, build.data
    same = index is not None and index.manifest["encoder"]["name"] == encoder.name
    encoded = {p.content for p in index.passages.passages} if same else set()
    texts = {p.content for p in data.passages} - encoded
    encoder.encode(["warm"])
    passages, n = _encoder_seconds(encoder, "passages", texts, sum(map(len, texts)), seed)
    said = [f"{n:,} passages"] if n else []
    standing = {passage.id for passage in data.passages} - {passage.id for passage in left}
    known = _short_texts(record.triples for record in records if record.passage_id in standing)
    if same and "facts" in index.manifest["layers"]:
        known -= {*index.facts.phrases, *map(fact_text, index.facts.facts)}
    short, n = Cost("encoding", "phrases and facts", seconds=None), 0
    if asked.passages or not left:
        sampled = _short_texts(asked.triples)
        scale = sum(map(_size, left)) / sum(map(_size, asked.passages)) if left else 0.0
        characters = sum(map(len, known)) + scale * sum(map(len, sampled))
        short, n = _encoder_seconds(encoder, "phrases and facts", known | sampled, characters, seed)
    said += [f"{n:,} phrases and facts"] if n else []
    return [passages, short], [f"the encoder was timed {TIMES} times with {' and '.join(said)}"] if said else []


def _encoder_seconds(encoder: Encoder, what: str, texts: set[str], characters: float, seed: int) -> tuple[Cost, int]:
    """The time for so many characters of texts like these, and with how many texts it was measured: several times, of
    which the median counts and the ends are low and high, since anything else that the machine does makes one slow."""
    chosen = spread(list(texts), TIMED[what], lambda text: (len(text), text), seed)
    if not chosen:
        return Cost("encoding", what), 0
    seconds = []
    for _ in range(TIMES):
        started = time.perf_counter()
        encoder.encode(chosen)
        seconds.append(time.perf_counter() - started)
    measured = Range(float(np.median(seconds)), min(seconds), max(seconds))
    return Cost("encoding", what, seconds=measured.times(characters / max(1, sum(map(len, chosen))))), len(chosen)


def _short_texts(found: Iterable[Iterable[Sequence[str]]]) -> set[str]:
    """The phrases and facts of triples, as the layer `facts` encodes them by its default settings."""
    normalise, texts = PHRASE_RULES["unicode"], set()
    for triple in (triple for stated in found for triple in stated):
        subject, relation, obj = map(normalise, triple)
        if subject and obj:
            texts |= {subject, obj, fact_text((subject, relation, obj))}
    return texts


def _attempt(build: Build, folder: Path) -> Path:
    """Where a stopped build of this layer has left what it extracted."""
    settings = extractions.Settings()
    identity = extractions.ExtractionsLayer.identity(build, settings)
    key = key_of(kind="extractions", settings=asdict(settings), below={}, **identity)
    whole = Store(folder).path("extractions", key)
    return whole if whole.is_dir() else whole.with_name(whole.name + ".part")


def _size(passage: Passage) -> int:
    return max(1, tokens.count(passage.content))


def _prompt(step: Step, passage: Passage) -> int:
    """Tokens of the prompt, for `triples` without the names."""
    names = ((),) if step is triples.STEP else ()
    value = (triples if step is triples.STEP else named_entities).Input(passage.title, passage.text, *names)
    return sum(tokens.count(message["content"]) for message in step.prompt(value))


# -- a run ------------------------------------------------------------------------------------------------------------


def estimate_run(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    reader: Reader | None = None,
    sample: int = 4,
    judge: Engine | str | None = None,
    *,
    out: str | Path | None = None,
    measures: Sequence[str] = measures_.DEFAULT,
    k: int | None = None,
    budget: int | None = None,
    trace: str = "full",
    workers: int | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Estimate:
    """What `evaluate` with the same arguments takes.

    `sample` questions, spread over hops, types and lengths, are asked of every method for real, `workers` side by side.
    Rows that stand in the folder `out` do not count; a folder that holds another run is refused, as `evaluate` does."""
    questions = list(islice(questions, limit))
    methods = dict(methods) if isinstance(methods, Mapping) else {method.label: method for method in methods}
    if not questions or not methods:
        raise SettingError("estimate_run needs at least one question and one method")
    _whole(sample=sample, least=1)
    plan = Plan.of(methods, reader, judge, measures, k, budget, trace)
    workers = workers or plan.workers
    jobs = [(question, name) for question in questions for name in methods]
    if out is not None:
        check_same(Path(out), plan.config(questions))
        jobs = jobs[len(read_rows(Path(out) / "results.jsonl")) :]
    left = Counter(name for _, name in jobs)
    unasked = list({id(question): question for question, _ in jobs}.values())
    each = Counter(question.id for question, _ in jobs)
    whole = [question for question in unasked if each[question.id] == len(methods)]  # a stopped run may have begun one
    pool = unasked if sample >= len(unasked) else whole or unasked
    chosen = spread(pool, sample, lambda q: (q.hops or 0, q.type or "", len(q.question), q.id), seed)
    ids = {question.id for question in chosen}
    sampled = [(question, name) for question, name in jobs if question.id in ids]
    _warm(methods.values(), plan)
    asked = dict(zip(sampled, in_order(lambda job: _measure(plan, *job), sampled, workers, plan.close)))
    costs, failed = [], sum(measured.failed for measured in asked.values())
    for name in left:
        mine = [measured for (_, method), measured in asked.items() if method == name]
        costs += _costs_of(name, mine, left[name], plan, workers, seed)
    measured = [_said_of(len(chosen), len(unasked), "questions", "hops, types and lengths", seed)] if chosen else []
    measured += [f"{workers} questions are asked side by side, as in the sample"] if workers > 1 else []
    measured += [f"{failed} of {len(asked)} sampled questions failed"] if failed else []
    standing = len(questions) * len(methods) - len(jobs)
    what = f"a run of {len(questions):,} questions and {len(methods)} methods" + (
        f", of which {standing:,} rows are done" if standing else ""
    )
    usages = [usage for one in asked.values() for step, usage in one.steps.items() if not one.by_rules[step]]
    unknown = ["not in it: loading the models"]
    for name in left:
        seen = {step for (_, method), one in asked.items() if method == name for step in one.steps}
        steps = {*methods[name].steps, *([judge_step.STEP.name] if plan.judge else [])}
        unknown += [
            f"not known: how often {step} is asked for {name}, which the sample did not show"
            for step in sorted(steps - seen)
        ]
    return _estimate(what, plan.engines, costs, measured, unknown, usages)


class _Measured(NamedTuple):
    """One question and method: usage per Step, which of them the rules did, seconds in all, and whether it failed."""

    steps: dict[str, Usage]
    by_rules: dict[str, bool]
    seconds: float
    failed: bool


def _measure(plan: Plan, question: Question, name: str) -> _Measured:
    started = time.perf_counter()
    with collect() as usage:
        outcome = plan.ask(question, name)
    seconds = time.perf_counter() - started
    by_rules = {step: _engine_of(step, plan, name) == "rules" for step in usage.steps}
    return _Measured(dict(usage.steps), by_rules, seconds, outcome.row["failure"] is not None)


def _engine_of(step: str, plan: Plan, method: str) -> str:
    if step in plan.methods[method].steps or plan.reader is None:
        return plan.methods[method].engine.name
    return plan.judge.name if plan.judge and step == judge_step.STEP.name else plan.reader.engine.name


def _costs_of(name: str, mine: list[_Measured], left: int, plan: Plan, workers: int, seed: int) -> list[Cost]:
    """A row per Step, and one for all the rest of the work: the method's own, the reader's, the measures'."""
    costs, ones = [], [1] * len(mine)

    def whole(values: list[float]) -> Range:
        return extrapolated(values, ones, left - len(mine), seed)

    own = [measured.seconds for measured in mine]
    for step in sorted({step for measured in mine for step in measured.steps}):
        usages = [measured.steps.get(step, Usage()) for measured in mine]
        own = [seconds - usage.seconds for seconds, usage in zip(own, usages)]
        engine = _engine_of(step, plan, name)
        if engine == "rules":
            seconds = whole([usage.seconds for usage in usages])
            costs.append(Cost(name, step, seconds=seconds.times(1 / workers)))
            continue
        calls = whole([usage.calls for usage in usages])
        told = any(usage.prompt_tokens for usage in usages)
        prompt, completion = (
            whole([getattr(usage, what) for usage in usages]) if told else None
            for what in ("prompt_tokens", "completion_tokens")
        )
        latency = _latency(usages, seed)
        seconds = latency and latency.times(calls).times(1 / workers)
        costs.append(Cost(name, step, calls, prompt, completion, _money(engine, prompt, completion), seconds))
    return [*costs, Cost(name, "all else", seconds=whole([max(0.0, one) for one in own]).times(1 / workers))]


def _warm(methods: Iterable[Method], plan: Plan) -> None:
    """Load what is loaded once: it would be taken for the time of each question."""
    for index in {id(method.index): method.index for method in methods}.values():
        index.encode_query("warm")
    tokens.count("warm")
    if any(engine.name == "rules" for engine in plan.engines):
        from workbench.rules.language import nlp

        nlp()


# -- samples ----------------------------------------------------------------------------------------------------------


def spread(items: Sequence[T], n: int, key: Callable[[T], Any], seed: int = 0) -> list[T]:
    """At most `n` items, one by chance from each of `n` equal parts of them in the order of `key`."""
    ordered, chance = sorted(items, key=key), random.Random(seed)
    n = min(n, len(ordered))
    ends = [len(ordered) * part // n for part in range(n + 1)] if n else []
    return [ordered[chance.randrange(begin, end)] for begin, end in pairwise(ends)]


def extrapolated(values: Sequence[float], sizes: Sequence[float], rest: float, seed: int = 0) -> Range:
    """The sum of the sample's `values` and of what is expected of the rest, whose sizes sum up to `rest`.

    >>> extrapolated([10, 20], [1, 2], 30)
    Range(value=330.0, low=330.0, high=330.0)
    """
    known = float(sum(values))
    return exactly(known) if rest <= 0 else exactly(known) + _proportion(values, sizes, seed).times(rest)


def _proportion(values: Sequence[float], sizes: Sequence[float], seed: int) -> Range:
    """Values per size, with the 95 % bootstrap interval; of one value none can be told."""
    values, sizes = np.asarray(values, dtype=float), np.asarray(sizes, dtype=float)
    ratio = float(values.sum() / sizes.sum())
    if len(values) < 2:
        return Range(ratio, None, None)
    rows = np.random.default_rng(seed).integers(0, len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[rows].sum(axis=1) / sizes[rows].sum(axis=1), [0.025, 0.975])
    return Range(ratio, float(low), float(high))


def _latency(usages: Sequence[Usage], seed: int) -> Range | None:
    """Seconds per call that was really made: a recording answers at once."""
    live = [(usage.seconds, usage.calls - usage.recorded) for usage in usages if usage.calls > usage.recorded]
    return _proportion(*zip(*live), seed) if live else None


def _money(engine: str, prompt: Range | None, completion: Range | None) -> Range | None:
    if money(engine, 0, 0) is None or None in (prompt, completion):
        return None
    return Range(*(None if p is None or c is None else money(engine, p, c) for p, c in zip(prompt, completion)))


def _sum(ranges: Sequence[Range | None]) -> Range | None:
    return None if None in ranges else sum(ranges, exactly(0))


# -- what is said -----------------------------------------------------------------------------------------------------


def _said_of(n: int, of: int, what: str, over: str, seed: int) -> str:
    return f"{n:,} of {of:,} {what} were asked, spread over {over} (seed {seed})"


def _estimate(
    what: str, engines: list[Engine], costs: list[Cost], measured: list[str], unknown: list[str], usages: list[Usage]
) -> Estimate:
    names = dict.fromkeys(engine.name for engine in engines)
    asking = [engine for engine in engines if engine.name != "rules"]
    spent = sum(usages, Usage()) if asking else Usage()
    if asking and spent.calls:
        odd = [f"{n:,} {how}" for n, how in ((spent.failed, "failed"), (spent.recorded, "were recorded before")) if n]
        cost = "" if spent.money is None else f", ${spent.money:.4f}"
        measured.append(f"the sample took {spent.calls:,} calls{cost}{''.join(f'; {part}' for part in odd)}")
    if spent.calls > spent.recorded:
        files = [engine.record for engine in asking if getattr(engine, "record", None)]
        measured.append(
            f"its answers are in {', '.join(map(str, dict.fromkeys(files)))} and are not asked for again"
            if files
            else "its answers are not kept, so they will be asked for again; give the engine record=FILE"
        )
    if spent.calls and not spent.prompt_tokens:
        unknown.append("not known: how many tokens the endpoint reads and writes, which it does not tell")
    if any(cost.money is None for cost in costs):
        unpriced = [name for name in names if name != "rules" and money(name, 0, 0) is None]
        if unpriced:
            unknown.append(f"not known: the price of {', '.join(unpriced)}, which is not in {own_prices()}")
    if any(cost.seconds is None for cost in costs) and spent.calls and spent.recorded == spent.calls:
        unknown.append("not known: how long an answer takes; all of the sample were recorded before")
    return Estimate(what, ", ".join(names), tuple(costs), tuple(measured), tuple(unknown), spent)


def _whole(*, sample: int, least: int) -> None:
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < least:
        raise SettingError(f"sample={sample!r}; it should be a whole number from {least} on")
