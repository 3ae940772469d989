"""What the extraction rules find, and how fast.

    python benchmarks/extraction.py DATA --out DIR

DATA is a folder with gold passages. Compares facts by rules with those in the folder (`ner.jsonl`), both under
`hipporag2` with the same settings, once with the fact filter by rules and once without a filter; `dense` uses the
passages alone. The rate is that of one core, and is also given for passages of 120 words.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import workbench as wb
from workbench import measures
from workbench.data import Extraction
from workbench.rules.extraction import named_entities, read, triples
from workbench.steps import named_entities as ner

GROUP = 64
METHODS = ("hipporag2", "hipporag2[filter=identity]")
MEASURES = ("recall@2", "recall@5", "recall@10", "all_gold@5")


def rate(data) -> None:
    """As in an index build: both Steps over groups of passages."""
    passages = [(passage.title, passage.text) for passage in data.passages]
    read([("", "The pipeline is loaded.")])
    started, failed = time.process_time(), 0
    for start in range(0, len(passages), GROUP):
        group = passages[start : start + GROUP]
        try:
            named_entities([ner.Input(*one) for one in group])
            triples([ner.TriplesInput(*one, ()) for one in group])
        except Exception as error:
            failed += 1
            print(f"a group of {GROUP} failed: {error!r}")
    seconds = time.process_time() - started
    words = sum(len(text.split()) for _, text in passages)
    print(
        f"{len(passages)} passages, {words / len(passages):.0f} words each: {len(passages) / seconds:.1f} a second "
        f"of one core, {words / seconds / 120:.1f} of 120 words; groups failed: {failed}"
    )


def extracted(data):
    readings = read([(passage.title, passage.text) for passage in data.passages])
    records = (
        Extraction(passage.id, tuple(reading.entities), tuple(map(tuple, reading.triples)), "rules")
        for passage, reading in zip(data.passages, readings)
    )
    return replace(data, extractions=tuple(records))


def show(label: str, data, folder: Path, specs=METHODS) -> None:
    engine = wb.engine("rules")
    index = wb.Index.build(data, engine, folder, progress=False)
    counts = index.counts()
    questions = [question for question in data.questions if question.support]
    for spec in specs:
        method = wb.method(spec, index, engine)
        totals = dict.fromkeys(MEASURES, 0.0)
        for question in questions:
            ranking = [passage for passage, _ in method.retrieve(question.question, 20, trace="off").ranking]
            for name in MEASURES:
                totals[name] += measures.measure(name)(question, measures.Outcome(ranking))
        means = "".join(f"{totals[name] / len(questions):11.4f}" for name in MEASURES)
        print(f"{label:24} {spec:28}{counts['facts']:8}{means}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    data = wb.load(asked.data)
    rate(data)
    print(f"{'facts':24} {'method':28}{'facts':>8}" + "".join(f"{name:>11}" for name in MEASURES))
    show("by rules", extracted(data), asked.out, ("dense", *METHODS))
    if data.extractions:
        show(f"given: {data.extractions[0].made_by}"[:24], data, asked.out)
