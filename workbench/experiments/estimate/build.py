"""What building an index will take."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
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
from workbench.experiments.estimate.written import (
    FACTS,
    of_articles,
    of_profiles,
    of_reports,
    of_skeleton,
    of_summaries,
)
from workbench.index import Index, communities, extractions, journal, pieces, profiles, skeleton, summaries
from workbench.index.facts import fact_text
from workbench.index.index import DEFAULT_LAYERS, closure, tries
from workbench.index.layer import Build
from workbench.index.store import Store, key_of
from workbench.llm.engine import Engine
from workbench.llm.engine import engine as known_engine
from workbench.llm.step import Step, Usage
from workbench.places import home
from workbench.records import Passage
from workbench.steps import named_entities, triples
from workbench.text import PHRASE_RULES

# Completion tokens per token of the passage, with the 5th and 95th percentile of single passages: what
# gpt-3.5-turbo-1106 wrote for 1,500 passages of MuSiQue, in HippoRAG's released extractions, as cl100k tokens of JSON.
ASSUMED = {named_entities.STEP.name: (0.49, 0.21, 0.87), triples.STEP.name: (1.41, 0.81, 2.36)}
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
        costs, said = of_articles(data, engine)
        unknown = ["not in it: encoding, and what is written already"]
        return estimate_of(
            f"articles on the {len(data.triples):,} triples of {data.name}", [engine], costs, [said], unknown, []
        )
    kinds = closure(set(layers or DEFAULT_LAYERS))
    folder = Path(folder or home() / "indexes" / data.name)
    index = Index.open(folder) if (folder / "manifest.json").exists() else None
    encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
    encoder = encoder or (index.encoder if index else known_encoder())
    old = index.extractions if index and "extractions" in index.manifest["layers"] else None
    build = Build(data, encoder, engine)
    answers = extractions.journal(_attempt(build, folder), build, old)
    left = extractions.left(answers, build) if "extractions" in kinds else []
    chosen = spread(left, sample, lambda passage: (_size(passage), passage.id), seed)
    asked = _ask(engine, chosen)
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
    written = []
    if "summaries" in kinds:
        written.append(of_summaries(data.passages, engine, summaries.Settings()))
    if "profiles" in kinds and data.profiles is None:
        written.append(of_profiles(data.passages, engine, profiles.Settings()))
    if "communities" in kinds:
        written.append(of_reports(_facts(data, records, left, asked, seed), engine, communities.Settings()))
    if "skeleton" in kinds:
        written.append(of_skeleton(data.passages, engine, pieces.Settings(), skeleton.Settings()))
    if written:
        unknown.append("not in it: clustering, encoding what is written, and that some of it may stand already")
    if left and not chosen:
        unknown.append("not known: how long an answer takes, and how many facts there will be to encode; ask a sample")
    what = f"the index of {data.name}: {len(data.passages):,} passages, {len(left):,} of them to be extracted"
    costs = [*(extracting if left else ()), *encoding, *(cost for cost, _ in written)]
    return estimate_of(
        what, [engine], costs, [*measured, *timed, *(said for _, said in written)], unknown, asked.usages
    )


def _facts(data: Dataset, records: list[Extraction], left: list[Passage], asked: _Asked, seed: int) -> Range:
    """How many facts the graph will have: of known records they are counted, of the rest expected by the sample."""
    standing = {passage.id for passage in data.passages} - {passage.id for passage in left}
    known = exactly(len(_distinct(record.triples for record in records if record.passage_id in standing)))
    if not asked.passages:
        return known + FACTS.times(len(left))
    found, sizes = [len(_distinct([stated])) for stated in asked.triples], list(map(_size, asked.passages))
    return known + extrapolated(found, sizes, sum(map(_size, left)) - sum(sizes), seed)


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
    return {text for fact in _distinct(found) for text in (fact[0], fact[2], fact_text(fact))}


def _distinct(found: Iterable[Iterable[Sequence[str]]]) -> set[tuple[str, str, str]]:
    """The facts of triples by the default settings of the layer `facts`."""
    normalise = PHRASE_RULES["unicode"]
    facts = {tuple(map(normalise, triple)) for stated in found for triple in stated}
    return {fact for fact in facts if fact[0] and fact[2]}


def _attempt(build: Build, folder: Path) -> Path:
    """Where a stopped build of this layer has left what it extracted."""
    settings, store = extractions.Settings(), Store(folder)
    identity = extractions.ExtractionsLayer.identity(build, settings)
    key = key_of(kind="extractions", settings=asdict(settings), below={}, **identity)
    stands, following = tries(store, "extractions", key)
    part = store.path("extractions", f"{following}.part")
    return part if part.is_dir() or stands is None else store.path("extractions", stands)


def _size(passage: Passage) -> int:
    return max(1, tokens.count(passage.content))


def _prompt(step: Step, passage: Passage) -> int:
    """Tokens of the prompt, for `triples` without the names."""
    names = ((),) if step is triples.STEP else ()
    value = (triples if step is triples.STEP else named_entities).Input(passage.title, passage.text, *names)
    return sum(tokens.count(message["content"]) for message in step.prompt(value))
