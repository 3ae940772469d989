"""Estimates of encoding: an encoder of this machine is timed with a few of the texts to encode; for one behind an
endpoint, requests, tokens and money are counted, and nothing is asked."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from workbench.data import Dataset
from workbench.encoding import Encoder
from workbench.encoding.endpoint import EndpointEncoder
from workbench.evaluation.estimate.extraction import Sample, distinct
from workbench.evaluation.estimate.ranges import NOTHING, Range, exactly, extrapolated, priced, stratified
from workbench.evaluation.estimate.record import Cost
from workbench.index import Index
from workbench.index.facts import fact_text
from workbench.index.vectors import blocks_of
from workbench.llm.meter import money, own_prices
from workbench.llm.step import Usage

TIMED = {"passages": 32, "phrases and facts": 256}  # texts for timing the encoder, and repetitions
TIMES = 3


def encoding(
    data: Dataset, encoder: Encoder, index: Index | None, known: list[Sequence[Sequence[str]]], sample: Sample
) -> tuple[list[Cost], list[str]]:
    """The cost of passages, and of phrases and facts: counted for the `known` triples, extrapolated for the rest.
    Texts that recur in several passages are encoded once, which a sample does not show."""
    encoded = _encoded(index, encoder)
    texts = {passage.content for passage in data.passages} - encoded
    if isinstance(encoder, EndpointEncoder):
        return _asked(encoder, texts, known, encoded, sample)
    encoder.encode(["warm"])
    passages, n = _timed(encoder, "passages", texts, sum(map(len, texts)), sample.seed)
    measured = [f"{n:,} passages"] if n else []
    short, n = Cost("encoding", "phrases and facts", seconds=None), 0
    if sample.passages or not sample.left:
        counted, sampled = _phrases_and_facts(known) - encoded, _phrases_and_facts(sample.triples)
        characters = sum(map(len, counted)) + sample.scale * sum(map(len, sampled))
        short, n = _timed(encoder, "phrases and facts", counted | sampled, characters, sample.seed)
    measured += [f"{n:,} phrases and facts"] if n else []
    return [passages, short], [f"the encoder was timed {TIMES} times with {' and '.join(measured)}"] * bool(measured)


def unknown_of(encoder: Encoder) -> list[str]:
    """What is not known of an encoder behind an endpoint."""
    if not isinstance(encoder, EndpointEncoder):
        return []
    price = [f"not known: the price of {encoder.engine}, which is not in {own_prices()}"]
    return ["not known: how long the endpoint takes for vectors", *price * (money(encoder.engine, 0, 0) is None)]


def of_questions(encoder: EndpointEncoder, used: Usage, sampled: int, left: int) -> Cost:
    """What the vectors of `left` questions cost, given what was `used` for those of a sample."""
    calls, prompt = (extrapolated([n], [sampled], left - sampled) for n in (used.calls, used.prompt_tokens))
    dollars = priced(encoder.engine, prompt, NOTHING).singly  # vectors are asked for at once
    return Cost("encoding", "questions", calls, prompt, NOTHING, dollars, None, dollars)


def _asked(
    encoder: EndpointEncoder, texts: set[str], known: list[Sequence[Sequence[str]]], encoded: set[str], sample: Sample
) -> tuple[list[Cost], list[str]]:
    passages, counted = _requests(encoder, "passages", texts), _phrases_and_facts(known) - encoded
    short = Cost("encoding", "phrases and facts", None, None, NOTHING, None, None, None)
    if sample.passages or not sample.left:
        sampled = _phrases_and_facts(sample.triples)
        characters = sum(map(len, counted)) + sample.scale * sum(map(len, sampled))
        times = characters / max(1, sum(map(len, counted | sampled)))
        short = _requests(encoder, "phrases and facts", counted | sampled, times)
    size = f"at most {encoder.batch_size:,} texts and {encoder.batch_tokens:,} tokens"
    return [passages, short], [f"the texts for {encoder.name} are counted in cl100k tokens, by requests of {size}"]


def _requests(encoder: EndpointEncoder, what: str, texts: set[str], times: float = 1.0) -> Cost:
    """The cost of so many times these texts."""
    ordered = sorted(texts)
    blocks = blocks_of(range(len(ordered)), ordered, encoder)
    batches = [batch for block in blocks for batch in encoder.batches([ordered[row] for row in block])]
    prompt = exactly(sum(text.tokens for batch in batches for text in batch)).times(times)
    calls = exactly(len(batches)).times(times)
    dollars = priced(encoder.engine, prompt, NOTHING).singly
    return Cost("encoding", what, calls, prompt, NOTHING, dollars, None, dollars)


def _encoded(index: Index | None, encoder: Encoder) -> set[str]:
    """The texts for which the index has vectors."""
    if index is None or index.manifest["encoder"]["name"] != encoder.name:
        return set()
    texts = {passage.content for passage in index.passages.passages}
    return texts | (
        {*index.facts.phrases, *map(fact_text, index.facts.facts)} if "facts" in index.manifest["layers"] else set()
    )


def _timed(encoder: Encoder, what: str, texts: set[str], characters: float, seed: int) -> tuple[Cost, int]:
    """The time for this many characters of texts like these, and the number of texts measured. Of several measurements,
    the median counts, and the extremes are low and high, because other load on the machine slows some of them."""
    chosen = stratified(list(texts), TIMED[what], lambda text: (len(text), text), seed)
    if not chosen:
        return Cost("encoding", what), 0
    seconds = [_seconds(encoder, chosen) for _ in range(TIMES)]
    measured = Range(float(np.median(seconds)), min(seconds), max(seconds))
    return Cost("encoding", what, seconds=measured.times(characters / max(1, sum(map(len, chosen))))), len(chosen)


def _seconds(encoder: Encoder, texts: list[str]) -> float:
    started = time.perf_counter()
    encoder.encode(texts)
    return time.perf_counter() - started


def _phrases_and_facts(found: Iterable[Iterable[Sequence[str]]]) -> set[str]:
    """The texts of triples that the layer `facts` encodes."""
    return {text for fact in distinct(found) for text in (fact[0], fact[2], fact_text(fact))}
