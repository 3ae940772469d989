"""The cost of KET-RAG's layers on a corpus: seconds, the share inside the encoder and spaCy, peak memory.

    python benchmarks/ketrag_index.py DATA --out FOLDER [--most-minutes 15] [--least-share 0.8]

Builds passages, pieces, keywords and skeleton of DATA in FOLDER (which must not exist) with the rules and MiniLM, and
reports whether both bounds hold. Loading the models does not count as time inside them, so it lowers the share.
"""

import argparse
import json
import resource
import time
from pathlib import Path

from indexing import Timed

import workbench as wb
from workbench.index import keywords as words
from workbench.language import pipeline as language

LAYERS = ("passages", "pieces", "keywords", "skeleton")


class TimedPipe:
    """A spaCy pipeline that counts the seconds inside it, also per component."""

    def __init__(self, pipeline):
        self._pipeline, self.seconds = pipeline, 0.0

    def __getattr__(self, name):
        return getattr(self._pipeline, name)

    def pipe(self, *args, **options):
        docs = self._pipeline.pipe(*args, **options)
        while True:
            started = time.perf_counter()
            doc = next(docs, None)
            self.seconds += time.perf_counter() - started
            if doc is None:
                return
            yield doc


def build(source: Path, out: Path) -> dict:
    if out.exists():
        raise SystemExit(f"{out} exists; name a folder that does not, so that nothing is reused")
    started = time.perf_counter()
    encoder, data = Timed(), wb.load(source)
    parser, splitter = TimedPipe(language.nlp()), TimedPipe(words.splitter())
    language.nlp, words.splitter = lambda: parser, lambda: splitter
    naming = language.name_entities
    named = 0.0

    def name_entities(*args):
        nonlocal named
        begun = time.perf_counter()
        naming(*args)
        named += time.perf_counter() - begun

    language.name_entities = name_entities
    index = wb.Index.build(data, wb.engine("rules"), out, encoder=encoder, layers=LAYERS)
    total = time.perf_counter() - started
    inside = {"encoder": encoder.seconds, "parser": parser.seconds, "names": named, "splitter": splitter.seconds}
    return {
        "data": data.name,
        **index.counts(),
        "seconds": {"total": total, "processor": time.process_time(), **inside},
        "share inside": sum(inside.values()) / total,
        "peak memory, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most-minutes", type=float, default=15)
    parser.add_argument("--least-share", type=float, default=0.8)
    options = parser.parse_args()
    measured = build(options.data, options.out)
    print(json.dumps(measured, indent=1))
    fast = measured["seconds"]["total"] <= 60 * options.most_minutes
    lean = measured["share inside"] >= options.least_share
    print(f"within {options.most_minutes:g} minutes: {fast}; {options.least_share:.0%} inside: {lean}")
    raise SystemExit(not (fast and lean))
