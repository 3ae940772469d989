"""The time and the memory of indexing, by stage.

    python benchmarks/indexing.py DATA --out FOLDER [--dtype bfloat16]

Builds the index of DATA in FOLDER (which must not exist) and prints the share of the time inside the encoder and the
peak memory of the process. Facts come from the folder's openie.jsonl if it has one; extraction by rules is timed as a
separate stage. `encoding.py` measures the rate of the encoder.
"""

import argparse
import json
import resource
import time
from pathlib import Path

from timed import TimedEngine

import workbench as wb
from workbench.encoding import SentenceEncoder


class Timed(SentenceEncoder):
    """An encoder with a stopwatch on `encode`; loading the model counts as encoding."""

    seconds = 0.0

    def encode(self, texts):
        started = time.perf_counter()
        try:
            return super().encode(texts)
        finally:
            self.seconds += time.perf_counter() - started


def build(data: Path, out: Path, dtype: str) -> dict:
    if out.exists():
        raise SystemExit(f"{out} exists; name a folder that does not, so that nothing is reused")
    encoder, engine = Timed(dtype=dtype), TimedEngine(wb.engine("rules"))
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
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dtype", default="float32")
    options = parser.parse_args()
    print(json.dumps(build(options.data, options.out, options.dtype), indent=1))
