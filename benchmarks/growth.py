"""How time, memory and disk grow with the corpus: 1,000 to 1,000,000 passages of one generated world.

    python benchmarks/growth.py 1000 10000 100000 [--encoder hash64|minilm] [--methods dense,bm25,…] [--into FOLDER]
    python benchmarks/growth.py table FOLDER

For each size: the world is written, its index is built from its gold graph, opened, asked, and grown by 100
passages, each in a process of its own, whose peak memory is printed. Seconds are beside the encoder and beside Steps
(the rules'). Results are appended to `FOLDER/growth.jsonl`, and what stands there is not measured again; `table` prints
it with the exponent of growth, fitted over the sizes from 10,000 passages on. `hipporag2[filter=identity]` keeps all
candidates, so each question walks the graph. `gfm_rag` has random weights, because trained ones belong to an encoder.

`hash64` stands for an encoder where only the structure matters: words hashed to random directions in 64 dimensions."""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import time
from functools import cached_property
from pathlib import Path

import numpy as np
from timed import TimedEngine

import workbench as wb
from workbench import register
from workbench.data.curated import extracted
from workbench.data.folder import read_questions
from workbench.index import building
from workbench.index.synonyms import close_pairs
from workbench.records import Passage

METHODS = (
    "dense,bm25,hipporag2,hipporag2[filter=identity],catrag,catrag[filter=identity],lightrag,pathrag,dotrag,ball,"
    "think_on_graph,graph_cot,ircot,irgs,gcot,tog,bdtr,graphrag,ket_rag,youtu,raptor,gfm_rag[checkpoint=untrained]"
)
INSERTED, QUESTIONS = 100, 10


class HashedWords:
    """A unit vector for each text: the sum of a random direction for each of its words."""

    name, dimension, settings = "hash64", 64, {"spec": "hash64"}
    stored = False  # quicker to hash than to look up

    @cached_property
    def _words(self):
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(n_features=2**18, alternate_sign=False, norm=None, token_pattern=r"\w+")

    @cached_property
    def _directions(self) -> np.ndarray:
        return np.random.default_rng(0).standard_normal((2**18, self.dimension), dtype=np.float32)

    def encode(self, texts):
        vectors = np.asarray(self._words.transform(texts) @ self._directions, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors[lengths[:, 0] == 0, 0] = 1
        return vectors / np.where(lengths == 0, 1, lengths)

    def encode_query(self, text, task=""):
        return self.encode([text])[0]


register(HashedWords)


class Stopwatch:
    """An encoder that counts the seconds inside it."""

    def __init__(self, encoder):
        self._encoder, self.seconds = encoder, 0.0

    def __getattr__(self, name):
        return getattr(self._encoder, name)

    def encode(self, texts):
        return self._timed(self._encoder.encode, texts)

    def encode_query(self, *given):
        return self._timed(self._encoder.encode_query, *given)

    def _timed(self, encode, *given):
        started = time.perf_counter()
        try:
            return encode(*given)
        finally:
            self.seconds += time.perf_counter() - started


# -- the stages, each in its own process ----------------------------------------------------------------------------


def world(folder: Path, passages: int, **_) -> dict:
    started = time.perf_counter()
    wb.world(folder / "world", passages=passages, seed=7, progress=False)
    return {"seconds": time.perf_counter() - started, "bytes": size(folder / "world")}


def build(folder: Path, encoder: str, **_) -> dict:
    """Seconds of each layer beside the encoder, and of reading the data."""
    seconds, watch, make = {}, Stopwatch(wb.encoder(encoder)), building._make

    def timed(store, kind, *given):
        started, inside = time.perf_counter(), watch.seconds
        make(store, kind, *given)
        seconds[kind] = time.perf_counter() - started - (watch.seconds - inside)

    building._make = timed
    started = time.perf_counter()
    data = extracted(wb.load(folder / "world"), "curated")
    seconds["read the data"] = time.perf_counter() - started
    index = wb.Index.build(data, None, folder / "index", encoder=watch, progress=False)
    total = time.perf_counter() - started - watch.seconds
    seconds["keys, checks, opening"] = total - sum(seconds.values())
    layers = {kind: size(index.layer(kind).folder) for kind in index.manifest["layers"]}
    metadata = index.manifest["layers"]["synonyms"]
    counts = {"facts": len(index.facts.facts), "phrases": len(index.facts.phrases), "synonyms": metadata["entries"]}
    return {
        "seconds": total,
        "encoding": watch.seconds,
        "stages": seconds,
        "bytes": sum(layers.values()),
        "layers": layers,
        **counts,
        "recall": metadata.get("approximate", {}).get("recall"),
    }


def opened(folder: Path, **_) -> dict:
    started = time.perf_counter()
    index = wb.Index.open(folder / "index")
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "passages": len(index.passages.passages)}


def ask(folder: Path, encoder: str, method: str, **_) -> dict:
    """The median of ten questions after the first, and the seconds until the method is ready, with the layers that it
    adds."""
    watch, engine = Stopwatch(wb.encoder(encoder)), TimedEngine(wb.engine("rules"))
    index = wb.Index.open(folder / "index", watch)
    questions = [one.question for one in read_questions(folder / "world" / "questions.jsonl")[: QUESTIONS + 1]]
    started = time.perf_counter()
    made = wb.method(method, index, engine)
    made.retrieve(questions[0], k=5, trace="off")
    ready, taken = time.perf_counter() - started - engine.seconds - watch.seconds, []
    for question in questions[1:]:
        inside, started = engine.seconds + watch.seconds, time.perf_counter()
        made.retrieve(question, k=5, trace="off")
        taken.append(time.perf_counter() - started - (engine.seconds + watch.seconds - inside))
    return {"seconds": statistics.median(taken), "slowest": max(taken), "ready": ready}


def insert(folder: Path, encoder: str, **_) -> dict:
    """A hundred passages, which are copies of the first with other names of their subject."""
    copy = folder / "grown"
    shutil.copytree(folder / "index", copy, dirs_exist_ok=True)
    watch, engine = Stopwatch(wb.encoder(encoder)), TimedEngine(wb.engine("rules"))
    index = wb.Index.open(copy, watch)
    records = index.extractions.records[:INSERTED]
    close_pairs(np.eye(2, dtype=np.float32), np.arange(2), 0.5)  # imports torch
    watch.encode(["imports what encodes"])
    watch.seconds = 0.0
    new = [index.passages.passages[row] for row in range(INSERTED)]
    new = [Passage(f"new-{one.id}", f"{one.title} Nova", f"Nova. {one.text}") for one in new]
    given = [
        wb.data.Extraction(one.id, record.entities, tuple((f"{s} nova", r, o) for s, r, o in record.triples), "growth")
        for one, record in zip(new, records)
    ]
    started = time.perf_counter()
    index.insert(new, engine, extractions=given, progress=False)
    seconds = time.perf_counter() - started - watch.seconds - engine.seconds
    shutil.rmtree(copy)
    return {"seconds": seconds}


STAGES = {"world": world, "build": build, "open": opened, "ask": ask, "insert": insert}


# -- the course -----------------------------------------------------------------------------------------------------


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured(journal: Path) -> list[dict]:
    return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


def course(asked: argparse.Namespace) -> None:
    journal = asked.into / "growth.jsonl"
    for passages in asked.sizes:
        folder = asked.into / f"{asked.encoder}-{passages}"
        folder.mkdir(parents=True, exist_ok=True)
        plan = [("world", ""), ("build", ""), ("open", ""), *(("ask", one) for one in asked.methods.split(","))]
        for stage, method in [*plan, ("insert", "")]:
            named = {"passages": passages, "encoder": asked.encoder, "stage": stage, "method": method}
            if any(named.items() <= one.items() for one in measured(journal)):
                continue
            given = [sys.executable, __file__, "stage", json.dumps(named), str(folder)]
            found = subprocess.run(given, capture_output=True, text=True)
            if found.returncode:
                print(f"{named}: {found.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            with journal.open("a") as out:
                out.write(json.dumps(named | json.loads(found.stdout.splitlines()[-1])) + "\n")
            print(f"{passages:>9,}  {stage} {method:10} {found.stdout.splitlines()[-1][:300]}", flush=True)


def stage(named: str, folder: str) -> None:
    given = json.loads(named)
    found = STAGES[given.pop("stage")](Path(folder), **given)
    print(json.dumps(found | {"peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


def table(folder: Path) -> None:
    """Seconds of each stage at each size, and the exponent."""
    found = measured(folder / "growth.jsonl")
    for encoder in sorted({one["encoder"] for one in found}):
        ours = [one for one in found if one["encoder"] == encoder]
        sizes = sorted({one["passages"] for one in ours})
        print(f"\n{encoder}: " + "  ".join(f"{one:,}" for one in sizes))
        for name, values in lines(ours).items():
            cells = "  ".join(f"{values[one]:10.3f}" if one in values else " " * 10 for one in sizes)
            print(f"{name:32}{cells}  {exponent(values)}")


def lines(found: list[dict]) -> dict[str, dict[int, float]]:
    rows: dict[str, dict[int, float]] = {}
    for one in found:
        name = f"{one['stage']} {one['method']}".strip()
        figures = {f"{name}, s": one["seconds"], f"{name}, peak GB": one["peak"] / 1e9}
        figures |= {f"  {part}, s": seconds for part, seconds in one.get("stages", {}).items()}
        figures |= {f"{name}, disk GB": one["bytes"] / 1e9} if "bytes" in one else {}
        figures |= {"  encoder, s": one["encoding"]} if one["stage"] == "build" else {}
        figures |= {f"{name}, {part}, s": one[part] for part in ("slowest", "ready") if part in one}
        for label, value in figures.items():
            rows.setdefault(label, {})[one["passages"]] = value
    return rows


def exponent(values: dict[int, float]) -> str:
    sizes = [one for one in sorted(values) if one >= 10_000 and values[one] > 0]
    if len(sizes) < 2:
        return ""
    return f"n^{np.polyfit(np.log(sizes), np.log([values[one] for one in sizes]), 1)[0]:.2f}"


def main() -> None:
    inner = {"stage": lambda: stage(*sys.argv[2:4]), "table": lambda: table(Path(sys.argv[2]))}
    if sys.argv[1:2] and sys.argv[1] in inner:
        inner[sys.argv[1]]()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--encoder", default="hash64")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--into", type=Path, default=Path("build/growth"))
    asked = parser.parse_args()
    course(asked)
    table(asked.into)


if __name__ == "__main__":
    main()
