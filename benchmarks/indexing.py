"""Where the time and the memory of indexing go.

    python benchmarks/indexing.py DATA --out FOLDER [--dtype bfloat16] [--peer]

Builds the index of DATA in FOLDER (which must not exist) and prints the share of the time spent inside the encoder
and the peak memory of the process. With `--peer` it then encodes a sample of the same texts with our batching and
with sentence-transformers' own, at its best batch size, and prints the ratio of the two rates. Facts come from the
folder's openie.jsonl where it has one; extraction by rules is timed apart, as a stage of its own."""

import argparse
import json
import random
import resource
import time
from pathlib import Path

import workbench as wb
from workbench.encoding import SentenceEncoder
from workbench.index.facts import fact_text


SIZES = (8, 16, 32, 64, 128)  # batch sizes tried with the library


class Timed(SentenceEncoder):
    """An encoder with a stopwatch on `encode`; loading the model is counted as encoding."""

    seconds = 0.0

    def encode(self, texts):
        started = time.perf_counter()
        try:
            return super().encode(texts)
        finally:
            self.seconds += time.perf_counter() - started


class TimedRules:
    """The rules engine with a stopwatch."""

    def __init__(self):
        self._engine, self.seconds = wb.engine("rules"), 0.0
        self.name, self.meter = self._engine.name, self._engine.meter

    def run(self, step, inputs, *, trace=None):
        started = time.perf_counter()
        try:
            return self._engine.run(step, inputs, trace=trace)
        finally:
            self.seconds += time.perf_counter() - started


def build(data: Path, out: Path, dtype: str) -> tuple[dict, wb.Index]:
    if out.exists():
        raise SystemExit(f"{out} exists; name a folder that does not, so that nothing is reused")
    encoder, engine = Timed(dtype=dtype), TimedRules()
    started = time.perf_counter()
    index = wb.Index.build(data, engine, out, encoder=encoder, progress=False)
    total = time.perf_counter() - started
    return {
        "data": str(data.name),
        "counts": index.counts(),
        "seconds": {"total": total, "encoder": encoder.seconds, "extraction": engine.seconds,
                    "other": total - encoder.seconds - engine.seconds},
        "share of the encoder, extraction apart": encoder.seconds / (total - engine.seconds),
        "peak memory, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }, index  # fmt: skip


def against_peer(index: wb.Index, dtype: str, sample: int) -> dict:
    """Texts per second of ours and of the library's own batching on the same texts, a sample of each layer."""
    encoder = SentenceEncoder(dtype=dtype)
    model = encoder._transformer
    rng = random.Random(0)
    kinds = {
        "passages": [passage.content for passage in index.passages.passages],
        "phrases": index.facts.phrases,
        "facts": list(map(fact_text, index.facts.facts)),
    }
    result = {}
    for kind, texts in kinds.items():
        texts = rng.sample(texts, min(len(texts), sample // (4 if kind == "passages" else 1)))
        encoder.encode(texts[:64])
        peers = {size: _rate(lambda part, size=size: model.encode(part, batch_size=size), texts) for size in SIZES}
        ours = _rate(encoder.encode, texts)
        best = max(peers, key=peers.get)
        result[kind] = {"ours": ours, "peer": peers[best], "peer's best batch size": best, "ratio": ours / peers[best]}
    return result


def _rate(encode, texts: list[str]) -> float:
    """Texts per second, the better of two rounds."""
    best = 0.0
    for _ in range(2):
        started = time.perf_counter()
        encode(texts)
        best = max(best, len(texts) / (time.perf_counter() - started))
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--sample", type=int, default=2000)
    options = parser.parse_args()
    measured, built = build(options.data, options.out, options.dtype)
    if options.peer:
        measured["texts per second"] = against_peer(built, options.dtype, options.sample)
    print(json.dumps(measured, indent=1))
