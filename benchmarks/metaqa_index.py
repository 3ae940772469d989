"""The cost of an index of MetaQA, or of any folder with a triples.tsv.

    python benchmarks/metaqa_index.py DATA --out FOLDER [--dtype bfloat16]

Builds texts, passages, profiles and the typed graph of DATA in FOLDER (which must not exist) with the rules, and prints
seconds, the share inside the encoder, the peak memory of the process, mean cl100k tokens of the encoded texts, and the
time that a new process needs to open the index.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean

from indexing import Timed

import workbench as wb
from workbench import tokens
from workbench.index.textualise import textualise

_OPEN = """
import sys, time
import workbench as wb
started = time.perf_counter()
index = wb.Index.open(sys.argv[1])
typed = index.typed
typed.adjacency, typed.represented, typed.entities, index.passages.vectors, typed.relation_vectors
print(time.perf_counter() - started)
"""


def build(folder: Path, out: Path, dtype: str) -> dict:
    if out.exists():
        raise SystemExit(f"{out} exists; name a folder that does not, so that nothing is reused")
    encoder, engine, seconds = Timed(dtype=dtype), wb.engine("rules"), {}
    started = time.perf_counter()
    data = wb.load(folder)
    seconds["load"] = time.perf_counter() - started
    # The place where `Index.build` would put them.
    data = textualise(data, engine, out / "textualised", progress=False)
    seconds["textualise"] = time.perf_counter() - started - seconds["load"]
    index = wb.Index.build(data, engine, out, encoder=encoder, layers=["typed"], progress=True)
    seconds["total"] = time.perf_counter() - started
    opened = subprocess.run([sys.executable, "-c", _OPEN, str(out)], check=True, capture_output=True, text=True)
    return {
        "data": folder.name,
        "passages": len(index.passages.passages),
        "entities": len(index.typed.names),
        "relations": len(index.typed.labels),
        "types": index.typed.type_counts,
        "seconds": seconds | {"encoder": encoder.seconds, "open": float(opened.stdout)},
        "share of the encoder": encoder.seconds / seconds["total"],
        "peak memory, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "mean tokens": _mean_tokens(data),
    }


def _mean_tokens(data, sample: int = 5_000) -> dict[str, float]:
    """For a sample of each kind."""
    texts = {
        "article": [passage.text for passage in data.passages],
        "description": [profile.description for profile in data.profiles.entities],
        "relation": [profile.description for profile in data.profiles.relations],
    }
    some = {kind: random.Random(0).sample(all, min(sample, len(all))) for kind, all in texts.items()}
    return {kind: mean(map(tokens.count, chosen)) for kind, chosen in some.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dtype", default="float32")
    options = parser.parse_args()
    print(json.dumps(build(options.data, options.out, options.dtype), indent=1))
