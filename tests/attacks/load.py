"""Load: 32 questions side by side over one index, by every method in turn, with a model whose answers take a while; and
10 processes that open the same index at once. Each answer, with its evidence and trace, has the bytes of the one that
was asked for alone, and memory stays flat."""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import random
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median

import psutil
from tally import Tally

import workbench as wb
from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.methods import METHODS
from workbench.testing import HashEncoder, small_index
from workbench.testing.contract import OVER_HASHES, QUESTIONS

WHOLE = 600  # seconds
SIDE_BY_SIDE, PROCESSES = 32, 10
ANSWER = 0.05  # seconds of an answer of the model
FLAT = 32  # MiB that may be added between the second quarter of the time and the last one
ASKED = (*QUESTIONS[:5], "Which river flows past the town where the viaduct stands?", "Who founded the oldest museum?")
Outcomes = dict[tuple[str, str], str]


class Simulated(RulesEngine):
    """A model that says what the rules say, and takes its time."""

    name = "simulated"

    def __init__(self, seconds: float):
        super().__init__()
        self.seconds = seconds

    def run(self, step, inputs, *, trace=None):
        time.sleep(self.seconds * len(inputs))
        return super().run(step, inputs, trace=trace)


def attack(count: int, seed: int, folder: Path, index: Index | None = None, specs: Sequence[str] = ()) -> Tally:
    """So many seconds of questions, then the processes; by all methods over every layer, unless others are named."""
    index = index or small_index()
    specs = specs or [OVER_HASHES.get(name, name) for name in METHODS]
    alone = asked_alone(index, specs, folder)
    return side_by_side(count, seed, folder, index, alone) + opened_at_once(folder, index, alone)


def answering(index: Index, specs: Sequence[str], engine: RulesEngine) -> Callable[[str, str, Path], str]:
    """A function of a method's SPEC, a question and a file to write: the hash of everything that came of it."""
    methods = {spec: wb.method(spec, index, engine) for spec in specs}
    reader = wb.reader("direct", engine, index=index)

    def ask(spec: str, question: str, file: Path) -> str:
        evidence = methods[spec].retrieve(question, k=7)
        answer = reader.read(question, evidence)
        evidence.trace.save(file)
        said = repr((evidence.ranking, evidence.facts, evidence.fallback, answer.text, answer.passages, answer.failure))
        return hashlib.sha256(file.read_bytes() + said.encode("utf-8", "surrogatepass")).hexdigest()

    return ask


def asked_alone(index: Index, specs: Sequence[str], folder: Path) -> Outcomes:
    ask = answering(index, specs, Simulated(0))
    return {(spec, question): ask(spec, question, folder / "alone.jsonl") for spec in specs for question in ASKED}


def side_by_side(seconds: float, seed: int, folder: Path, index: Index, alone: Outcomes) -> Tally:
    """Questions at once, for so many seconds."""
    tally, lock, end = Tally("load"), threading.Lock(), time.monotonic() + seconds
    ask = answering(index, list(dict.fromkeys(name for name, _ in alone)), Simulated(ANSWER))
    cells = itertools.cycle(random.Random(seed).sample(list(alone), len(alone)))

    def work(number: int) -> None:
        while time.monotonic() < end:
            with lock:
                cell = next(cells)
            try:
                found = ask(*cell, folder / f"{number}.jsonl")
                fault = "" if found == alone[cell] else "lost: other bytes than alone"
            except Exception as error:
                fault = repr(error)
            with lock:
                tally.judged(str(cell), fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(SIDE_BY_SIDE)]
    for thread in threads:
        thread.start()
    memory = []
    while any(thread.is_alive() for thread in threads):
        memory.append(psutil.Process().memory_info().rss)
        time.sleep(0.2)
    quarter = len(memory) // 4
    before, after = (int(median(part)) >> 20 for part in (memory[quarter : 2 * quarter], memory[-quarter:]))
    if after - before > FLAT:
        tally.failed("crashed", f"memory grew from {before:,} MiB in the second quarter to {after:,} in the last")
    return tally


def opened_at_once(folder: Path, index: Index, alone: Outcomes) -> Tally:
    """Processes that open the index when all of them are ready, and ask every question of one method each."""
    tally, context = Tally("load"), multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["workbench.testing", "workbench.rules", "torch"])  # imported once, for all of them
    ready, specs = context.Barrier(PROCESSES), list(dict.fromkeys(name for name, _ in alone))
    with context.Pool(PROCESSES, _set_ready, (ready,)) as pool:
        work = [(index.folder, specs[number % len(specs)], folder / f"process-{number}.jsonl")
                for number in range(PROCESSES)]  # fmt: skip
        for (_, spec, _), found in zip(work, pool.starmap(opened, work, chunksize=1)):
            same = found == [alone[spec, question] for question in ASKED]
            tally.judged(f"{spec} of ten processes at once", "" if same else "lost: it answers otherwise")
    return tally


_ready: Barrier


def _set_ready(ready: Barrier) -> None:
    global _ready
    _ready = ready


def opened(folder: Path, spec: str, file: Path) -> list[str]:
    """What the questions give in a process of its own, which opens the index together with the others."""
    _ready.wait(120)
    ask = answering(Index.open(folder, HashEncoder()), [spec], Simulated(0))
    return [ask(spec, question, file) for question in ASKED]
