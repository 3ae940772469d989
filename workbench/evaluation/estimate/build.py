"""Estimates of index builds. Layers state what they would request (`Layer.forecast`); this module prices it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from workbench.data import Dataset, Extraction, load
from workbench.data.curated import extracted
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.encoding.endpoint import EndpointEncoder
from workbench.evaluation.estimate.encoding import encoding, unknown_of
from workbench.evaluation.estimate.extraction import Sample
from workbench.evaluation.estimate.ranges import Range, check_sample, exactly, priced
from workbench.evaluation.estimate.record import Cost, Estimate, estimate_of
from workbench.evaluation.estimate.rehearsal import Rehearsal, rehearse
from workbench.evaluation.estimate.unasked import Unasked
from workbench.index import Index, extractions
from workbench.index.forecast import Forecast, Requests
from workbench.index.index import DEFAULT_LAYERS, LAYERS, closure, place_of, resumed
from workbench.index.layer import Build
from workbench.index.store import Store
from workbench.index.textualise import forecast as forecast_of_articles
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.engine import engine as known_engine
from workbench.records import Passage
from workbench.settings import settle


def estimate_build(
    data: Dataset | str | Path,
    engine: Engine | str,
    sample: int = 8,
    folder: str | Path | None = None,
    *,
    encoder: Encoder | str | None = None,
    layers: Iterable[str] | None = None,
    extraction: str | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Estimate:
    """The estimated cost of `Index.build(data, engine, folder, layers=layers, extraction=extraction)`.

    Only passages count that have no extraction in the data, in the index in `folder`, or in a stopped build there.
    `sample` of them, spread over their lengths, are actually extracted. With 0, or an `Unasked` engine, none is, and
    the length of the answers is assumed (`ASSUMED`). The encoder is timed with a few of the texts to encode.

    Other layers that an engine writes are rehearsed (`rehearsal`): built by rules on some of the passages, while a
    `sample` of each Step's requests is asked. Without a sample, with an encoder behind an endpoint, which would have to
    be paid, and for articles on a graph of triples nothing is requested: each gives a range with its reason
    (`Layer.forecast`). Both are for all texts of a layer, even if some exist already. The defaults of `folder` and
    `encoder` are those of `Index.build`."""
    data = extracted(data if isinstance(data, Dataset) else load(data), extraction)
    engine = known_engine(engine)
    check_sample(sample=sample, least=0)
    if data.triples and not data.passages:
        return _articles(data, engine)
    kinds = closure(set(layers or DEFAULT_LAYERS))
    folder = Path(folder or place_of(data))
    index = Index.open(folder) if (folder / "manifest.json").exists() else None
    encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
    encoder = encoder or (index.encoder if index else known_encoder())
    left, records = _extracted(Build(data, encoder, engine), index, folder, kinds)
    sampled = Sample.of(engine, left, 0 if isinstance(engine, Unasked) else sample, seed)
    known = _known(data, left, records)
    vectors, timed = encoding(data, encoder, index, known, sampled)
    forecasts = _forecasts(kinds, data, sampled.facts(known))
    if (
        forecasts
        and sample
        and not isinstance(engine, Unasked | RulesEngine)
        and not isinstance(encoder, EndpointEncoder)
    ):
        asked = rehearse(
            forecasts, data, {record.passage_id: record for record in records}, sampled.facts(known), encoder, engine,
            sample, seed, progress,
        )  # fmt: skip
    else:
        writing = [cost for kind, forecast in forecasts.items() for cost in _costs(kind, forecast, engine)]
        asked = Rehearsal(writing, [forecast.basis for forecast in forecasts.values()], [])
    return estimate_of(
        f"the index of {data.name}: {len(data.passages):,} passages, {len(left):,} of them to be extracted",
        [engine],
        [*sampled.costs(), *vectors, *asked.costs],
        [*sampled.basis, *timed, *asked.basis],
        [*_left_out(sampled, forecasts), *unknown_of(encoder)],
        [*sampled.usages, *asked.usages],
    )


def forecast_layers(index: Index) -> dict[str, list[Cost]]:
    """What a model would be asked to write the layers of an index, whoever wrote them: a Cost per Step, by kind.
    Prompts are counted in cl100k tokens where they are known, answers are assumed, nothing is requested; money and
    seconds are not known. Layers that ask no model have none."""
    data, named = index.data, index.manifest["layers"]
    engine = Unasked("openai:a model", "the cost of another is forecast")
    left = data.passages if "extractions" in named else ()
    facts = exactly(len(index.facts.facts)) if "facts" in named else extractions.FACTS.times(len(data.passages))
    costs = {"extractions": Sample(engine, left, 0).costs()}
    for kind, (layer, settings) in LAYERS.items():
        chosen = settle(f"layer {kind!r}", settings, named[kind]["settings"]) if kind in named else None
        forecast = layer.forecast(data, chosen, facts) if chosen is not None else None
        costs[kind] = costs.get(kind) or (_costs(kind, forecast, engine) if forecast else [])
    return {kind: found for kind, found in costs.items() if found}


def _articles(data: Dataset, engine: Engine) -> Estimate:
    forecast = forecast_of_articles(data)
    what = f"articles on the {len(data.triples):,} triples of {data.name}"
    unknown = ["not in it: encoding, and what is written already"]
    return estimate_of(what, [engine], _costs("articles", forecast, engine), [forecast.basis], unknown, [])


def _extracted(
    build: Build, index: Index | None, folder: Path, kinds: Collection[str]
) -> tuple[list[Passage], list[Extraction]]:
    """The passages that a build would extract, and the existing records of the index, of a stopped build, and of the
    data."""
    old = index.extractions if index and "extractions" in index.manifest["layers"] else None
    place = resumed(Store(folder), "extractions", build, extractions.Settings())
    answers = extractions.journal(place, build, old.extracted.values() if old else ())
    answered = [extracted.record for extracted in answers.known.values()]
    records = [*(old.records if old else ()), *answered, *(build.data.extractions or ())]
    return extractions.left(answers, build) if "extractions" in kinds else [], records


def _known(data: Dataset, left: list[Passage], records: list[Extraction]) -> list[tuple[tuple[str, ...], ...]]:
    """The triples of the passages that need no extraction."""
    standing = {passage.id for passage in data.passages} - {passage.id for passage in left}
    return [record.triples for record in records if record.passage_id in standing]


def _forecasts(kinds: Iterable[str], data: Dataset, facts: Range) -> dict[str, Forecast]:
    """The requests of the layers with their default settings, by kind."""
    found = {kind: LAYERS[kind][0].forecast(data, LAYERS[kind][1](), facts) for kind in kinds}
    return {kind: forecast for kind, forecast in found.items() if forecast is not None}


def _costs(part: str, forecast: Forecast, engine: Engine) -> list[Cost]:
    return [_cost(part, requests, engine) for requests in forecast.requests]


def _cost(part: str, requests: Requests, engine: Engine) -> Cost:
    step, calls, prompt, completion = requests
    if engine.name == "rules":
        return Cost(part, step.name, seconds=None)
    dollars = priced(engine.name, prompt, completion)
    return Cost(part, step.name, calls, prompt, completion, dollars.singly, None, dollars.batched)


def _left_out(sample: Sample, forecasts: dict[str, Forecast]) -> list[str]:
    """What the estimate does not include."""
    notes = ["not in it: loading the models, the search for synonyms, writing to the disk"]
    if forecasts:
        notes.append("not in it: clustering, encoding what is written, and that some of it may stand already")
    if sample.left and not sample.passages:
        notes.append("not known: how long an answer takes, and how many facts there will be to encode; ask a sample")
    return notes
