"""What building an index will take. Layers say what they would request (`Layer.forecast`); it is priced here.

Extraction alone is sampled: some of the passages are extracted for real, by the layer's own code.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench import tokens
from workbench.data import Dataset, Extraction, load
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.experiments.estimate.ranges import Range, check_sample, exactly, extrapolated, latency_of, priced, spread
from workbench.experiments.estimate.record import Cost, Estimate, estimate_of, said_of
from workbench.experiments.estimate.unasked import Unasked
from workbench.index import Index, extractions, facts, journal
from workbench.index.extractions import ASSUMED, FACTS
from workbench.index.facts import fact_text
from workbench.index.forecast import Forecast, Requests, prompt_tokens
from workbench.index.index import DEFAULT_LAYERS, LAYERS, closure, resumed
from workbench.index.layer import Build
from workbench.index.store import Store
from workbench.index.textualise import forecast as forecast_of_articles
from workbench.llm.engine import Engine
from workbench.llm.engine import engine as known_engine
from workbench.llm.step import Result, Step, Usage
from workbench.places import home
from workbench.records import Passage
from workbench.steps import named_entities, triples

TIMED = {"passages": 32, "phrases and facts": 256}  # texts that the encoder is timed with, so often:
TIMES = 3


def estimate_build(
    data: Dataset | str | Path,
    engine: Engine | str,
    sample: int = 8,
    folder: str | Path | None = None,
    *,
    encoder: Encoder | str | None = None,
    layers: Iterable[str] | None = None,
    seed: int = 0,
) -> Estimate:
    """What `Index.build(data, engine, folder, layers=layers)` takes.

    Only passages without an extraction count: those that neither the data nor the index (or the stopped build) in
    `folder` has one for. `sample` of them, spread over their lengths, are asked for real; with 0 none is, and the
    length of the answers is assumed (`ASSUMED`); so it is for an `Unasked` engine. The encoder is timed with a few of
    the texts that it has to encode.
    How many summaries and reports are written is not known before the clusters are: a range is given, with its reason,
    for all of them, even if some stand already. So it is for profiles, for a skeleton, and for the articles on a graph
    of triples, for which nothing is asked. `folder` and `encoder` are by default those of `Index.build`."""
    data = data if isinstance(data, Dataset) else load(data)
    engine = known_engine(engine)
    check_sample(sample=sample, least=0)
    sample = 0 if isinstance(engine, Unasked) else sample
    if data.triples and not data.passages:
        articles = forecast_of_articles(data)
        what = f"articles on the {len(data.triples):,} triples of {data.name}"
        unknown = ["not in it: encoding, and what is written already"]
        return estimate_of(what, [engine], _costs("articles", articles, engine), [articles.basis], unknown, [])
    kinds = closure(set(layers or DEFAULT_LAYERS))
    folder = Path(folder or home() / "indexes" / data.name)
    index = Index.open(folder) if (folder / "manifest.json").exists() else None
    encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
    encoder = encoder or (index.encoder if index else known_encoder())
    old = index.extractions if index and "extractions" in index.manifest["layers"] else None
    build = Build(data, encoder, engine)
    answers = extractions.journal(resumed(Store(folder), "extractions", build, extractions.Settings()), build, old)
    left = extractions.left(answers, build) if "extractions" in kinds else []
    chosen = spread(left, sample, lambda passage: (_size(passage), passage.id), seed)
    asked = _sample(engine, chosen)
    extracting = [_extracting(step, engine, left, asked, seed) for step in (named_entities.STEP, triples.STEP)]
    answered = [extracted.record for extracted in answers.known.values()]
    records = [*(old.records if old else ()), *answered, *(data.extractions or ())]
    encoding, timed = _encoding(build, index, records, left, asked, seed)
    measured = [said_of(len(chosen), len(left), "passages without an extraction", "lengths", seed)] if chosen else []
    if left and not chosen:
        measured.append(
            "no passage was asked: prompts are counted, and answers assumed to have "
            + ", ".join(f"{low:g} to {high:g} ({value:g}) tokens" for value, low, high in ASSUMED.values())
            + " per token of the passage for names and facts, as gpt-3.5-turbo-1106's of MuSiQue have"
        )
    unknown = ["not in it: loading the models, the search for synonyms, writing to the disk"]
    forecasts = _forecasts(kinds, data, _facts(data, records, left, asked, seed))
    if forecasts:
        unknown.append("not in it: clustering, encoding what is written, and that some of it may stand already")
    if left and not chosen:
        unknown.append("not known: how long an answer takes, and how many facts there will be to encode; ask a sample")
    what = f"the index of {data.name}: {len(data.passages):,} passages, {len(left):,} of them to be extracted"
    writing = [cost for kind, forecast in forecasts.items() for cost in _costs(kind, forecast, engine)]
    costs = [*(extracting if left else ()), *encoding, *writing]
    basis = [*measured, *timed, *(forecast.basis for forecast in forecasts.values())]
    return estimate_of(what, [engine], costs, basis, unknown, asked.usages)


def _forecasts(kinds: Iterable[str], data: Dataset, facts: Range) -> dict[str, Forecast]:
    """What the layers say that they would request, by kind, with their default settings."""
    found = {kind: LAYERS[kind][0].forecast(data, LAYERS[kind][1](), facts) for kind in kinds}
    return {kind: forecast for kind, forecast in found.items() if forecast is not None}


def _costs(part: str, forecast: Forecast, engine: Engine) -> list[Cost]:
    return [_cost(part, requests, engine) for requests in forecast.requests]


def _cost(part: str, requests: Requests, engine: Engine) -> Cost:
    step, calls, prompt, completion = requests
    if engine.name == "rules":
        return Cost(part, step.name, seconds=None)
    return Cost(part, step.name, calls, prompt, completion, priced(engine.name, prompt, completion), None)


def _facts(data: Dataset, records: list[Extraction], left: list[Passage], asked: _Sample, seed: int) -> Range:
    """How many facts the graph will have: of known records they are counted, of the rest expected by the sample."""
    standing = {passage.id for passage in data.passages} - {passage.id for passage in left}
    known = exactly(len(_distinct(record.triples for record in records if record.passage_id in standing)))
    if not asked.passages:
        return known + FACTS.times(len(left))
    found, sizes = [len(_distinct([stated])) for stated in asked.triples], list(map(_size, asked.passages))
    return known + extrapolated(found, sizes, sum(map(_size, left)) - sum(sizes), seed)


class _Sample(NamedTuple):
    """The sampled passages with what extracting them took and gave: usage per Step, and the triples."""

    passages: list[Passage]
    by_step: dict[str, list[Usage]]
    triples: list[tuple[tuple[str, ...], ...]]

    @property
    def usages(self) -> list[Usage]:
        return [usage for usages in self.by_step.values() for usage in usages]


class _Metered:
    """An engine that notes the usage of each input. The rules work on a whole batch at once, so each input gets its
    share of the time."""

    def __init__(self, engine: Engine):
        self.engine, self.name, self.by_step = engine, engine.name, defaultdict(list)

    def run(self, step: Step, inputs: Sequence) -> list[Result]:
        started = time.perf_counter()
        results = self.engine.run(step, inputs)
        each = (time.perf_counter() - started) / len(inputs)
        usages = [result.usage for result in results]
        self.by_step[step.name] += [replace(u, seconds=each) for u in usages] if self.name == "rules" else usages
        return results


def _sample(engine: Engine, chosen: list[Passage]) -> _Sample:
    if not chosen:
        return _Sample([], {}, [])
    if engine.name == "rules":
        engine.run(named_entities.STEP, [named_entities.Input("", "Warm.")])  # loads the pipeline
    metered = _Metered(engine)
    records = [extracted.record for extracted in extractions.extract(metered, chosen)]
    return _Sample(chosen, metered.by_step, [record.triples for record in records])


def _extracting(step: Step, engine: Engine, left: list[Passage], asked: _Sample, seed: int) -> Cost:
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
        dollars = priced(engine.name, prompt, completion)
        return Cost("extraction", step.name, exactly(len(left)), prompt, completion, dollars, None)
    usages, chosen = asked.by_step[step.name], [passage.id for passage in asked.passages]
    told = any(usage.prompt_tokens for usage in usages)

    def whole(values: list[float], by: dict[str, int]) -> Range:
        sampled = [by[passage_id] for passage_id in chosen]
        return extrapolated(values, sampled, sum(by.values()) - sum(sampled), seed)

    prompt = whole([usage.prompt_tokens for usage in usages], prompts) if told else exactly(sum(prompts.values()))
    completion = whole([usage.completion_tokens for usage in usages], sizes) if told else None
    groups = [min(journal.GROUP, len(left) - start) for start in range(0, len(left), journal.GROUP)]
    rounds = sum(math.ceil(group / getattr(engine, "concurrency", 1)) for group in groups)
    latency = latency_of(usages, seed)
    return Cost(
        "extraction", step.name, exactly(len(left)), prompt, completion,
        priced(engine.name, prompt, completion), latency and latency.times(rounds),
    )  # fmt: skip


def _encoding(
    build: Build, index: Index | None, records: list[Extraction], left: list[Passage], asked: _Sample, seed: int
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
    """The phrases and facts of triples, as the layer `facts` encodes them."""
    return {text for fact in _distinct(found) for text in (fact[0], fact[2], fact_text(fact))}


def _distinct(found: Iterable[Iterable[Sequence[str]]]) -> set[tuple[str, str, str]]:
    """The facts of triples by the default settings of the layer `facts`."""
    return {fact for stated in found for fact in facts.normalised(stated, facts.Settings())}


def _size(passage: Passage) -> int:
    return max(1, tokens.count(passage.content))


def _prompt(step: Step, passage: Passage) -> int:
    """Tokens of the prompt, for `triples` without the names."""
    return prompt_tokens(step, extractions.inputs(passage)[step])
