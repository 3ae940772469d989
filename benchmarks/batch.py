"""Seconds and peak memory of a batch: its requests exported, and its results imported, each in a process of its own.

    python benchmarks/batch.py [--requests 100000] [--folder NEW]

The requests are those for the triples of so many invented passages of about 100 words, each with ten named entities;
the results are in the form of OpenAI's batch output, in another order, with five triples each. Writing the results, as
an endpoint would, is not counted. Afterwards every request is asked of the recording again, which is what the next
export does first.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import Deferred
from workbench.llm.batch import Export, read
from workbench.steps import named_entities

GROUP = 64  # inputs that a build asks for together
STAGES = ("export", "import", "export again")


def inputs(number: int) -> Iterator[named_entities.TriplesInput]:
    """Invented passages, the same in every process."""
    draw = random.Random(7)
    words = ["".join(draw.choices("aeioulnrstk", k=draw.randint(3, 9))) for _ in range(4_000)]
    for row in range(number):
        text = draw.choices(words, k=100)
        entities = tuple(f"{word.title()} {row}" for word in text[:10])
        yield named_entities.TriplesInput(f"Passage {row}", " ".join(text), entities)


def export(folder: Path, number: int) -> None:
    some: list[named_entities.TriplesInput] = []
    with Export(folder, folder / "recording.sqlite", progress=False) as made:
        engine = made.engine("openai:gpt-4o-mini")
        for one in inputs(number):
            some.append(one)
            if len(some) == GROUP:
                _ask(engine, some)
                some = []
        _ask(engine, some)
    print(f"{made!r}, {sum(one.bytes for one in made.files) / 1e6:,.0f} MB", end="")


def _ask(engine, some: list[named_entities.TriplesInput]) -> None:
    try:
        engine.run(named_entities.TRIPLES, some)
    except Deferred:
        return


def answer(folder: Path) -> None:
    """Results of the first round, the last file first."""
    facts = [[f"Subject {n}", "stands in some relation to", f"Object {n}"] for n in range(5)]
    message = {"role": "assistant", "content": json.dumps({"triples": facts}), "refusal": None}
    usage = {"prompt_tokens": 900, "completion_tokens": 90, "total_tokens": 990}
    choices = [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o-mini", "choices": choices, "usage": usage}
    results = folder / "round-1" / "results"
    results.mkdir()
    for path in sorted((folder / "round-1").glob("requests-*.jsonl"), reverse=True):
        with path.open("rb") as asked, (results / path.name).open("w", encoding="utf-8") as out:
            for line in asked:
                response = {"status_code": 200, "request_id": "1", "body": body}
                said = {"id": "1", "custom_id": json.loads(line)["custom_id"], "response": response, "error": None}
                out.write(json.dumps(said) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the batch is written; a temporary one by default")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        started = time.perf_counter()
        if given.stage == "import":
            print(repr(read(given.folder, progress=False)), end="")
        else:
            export(given.folder, given.requests)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f": {time.perf_counter() - started:.1f} s, peak {peak:,.0f} MB")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "batch"
        for stage in STAGES:
            if stage == "import":
                answer(folder)
            print(f"{stage:13}", end="", flush=True)
            words = ["--requests", str(given.requests), "--folder", str(folder), "--stage", stage]
            subprocess.run([sys.executable, __file__, *words], check=True)


if __name__ == "__main__":
    main()
