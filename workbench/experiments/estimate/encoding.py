"""Estimates of encoding time: the encoder is timed with a few of the texts to encode."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from workbench.data import Dataset
from workbench.encoding import Encoder
from workbench.experiments.estimate.extraction import Sample, distinct
from workbench.experiments.estimate.ranges import Range, stratified
from workbench.experiments.estimate.record import Cost
from workbench.index import Index
from workbench.index.facts import fact_text

TIMED = {"passages": 32, "phrases and facts": 256}  # texts for timing the encoder, and repetitions
TIMES = 3


def encoding(
    data: Dataset, encoder: Encoder, index: Index | None, known: list[Sequence[Sequence[str]]], sample: Sample
) -> tuple[list[Cost], list[str]]:
    """The time for passages, and for phrases and facts: counted for the `known` triples, extrapolated for the rest.
    Texts that recur in several passages are encoded once, which a sample does not show."""
    encoded = _encoded(index, encoder)
    encoder.encode(["warm"])
    texts = {passage.content for passage in data.passages} - encoded
    passages, n = _timed(encoder, "passages", texts, sum(map(len, texts)), sample.seed)
    measured = [f"{n:,} passages"] if n else []
    short, n = Cost("encoding", "phrases and facts", seconds=None), 0
    if sample.passages or not sample.left:
        counted, sampled = _phrases_and_facts(known) - encoded, _phrases_and_facts(sample.triples)
        characters = sum(map(len, counted)) + sample.scale * sum(map(len, sampled))
        short, n = _timed(encoder, "phrases and facts", counted | sampled, characters, sample.seed)
    measured += [f"{n:,} phrases and facts"] if n else []
    return [passages, short], [f"the encoder was timed {TIMES} times with {' and '.join(measured)}"] * bool(measured)


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
