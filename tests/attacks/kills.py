"""Kills of every verb that does long work: at random moments by SIGKILL, SIGINT and SIGTERM, also while the model does
not answer. The same command then goes on, and ends with the bytes of one that nobody disturbed.

Each verb of the command line is either in `COMMANDS`, with a command that takes a second or two, or in `APART`, with
the reason; a new one that is in neither is a failure."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import nbformat
from forks import Ended, Forks
from slow_model import SlowBatches, SlowModel
from tally import Tally
from tiny import PASSAGES, QUESTIONS

WHOLE = 280  # four rounds, and so every command
ROW = 3  # kills of a command at most, one after the other, before it may end
WITHIN = 5.0  # seconds from a signal to the end
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
GOES_ON = "the same command goes on"
DIFFERS = ("timings.jsonl", "usage.jsonl", ".seconds", ".lock")  # usage.jsonl of an index: what all its builds took
STORE = "chroma"  # the folder of a Chroma store, whose files differ
MODEL = "--engine MODEL"  # the slow model
BATCHES = "batch --url BATCHES"  # a folder, and the batch API that its requests are given to
_FEW = "--set completion=2 --set made=4 --set supported=4 --set batch=4 --set samples=40 --set check=2 --set width=8"


class Command(NamedTuple):
    """The words of a command, and the commands `before` it in the same folder, which are left alone. `asks`: whether it
    waits for the model, so that it can be stopped while it does. `anew`: the shell's way, in which it is killed while
    it imports as well. `dear`: it takes many seconds, and each round has one of these. `code`: that of the undisturbed
    one."""

    words: str
    before: tuple[str, ...] = ()
    asks: bool = True
    anew: bool = False
    dear: bool = False
    code: int = 0


INDEX = f"index data -o index {MODEL} --encoder hash"
EVALUATE = f"evaluate index -q data/questions.jsonl -m hipporag2 -m dense -r direct -o out {MODEL}"
EXPORT = f"batch export batch {EVALUATE}"
SUBMIT = f"batch submit {BATCHES}"
RECORD = f"{EVALUATE} --record answers.sqlite"
REPLAY = f"{EVALUATE} --replay answers.sqlite".replace("-o out", "-o again")
TWO = "--cluster local[2]"
COMMANDS: dict[str, Command] = {
    "index": Command(f"{INDEX} --layers facts,synonyms,typed,communities,skeleton"),
    "insert": Command(f"insert index more {MODEL}", (INDEX,)),
    "delete": Command(f"delete index p2 p5 {MODEL}", (f"{INDEX} --layers facts,synonyms,communities",)),
    "index, over two processes": Command(f"{INDEX} {TWO}", dear=True),
    "evaluate": Command(f"{EVALUATE} --judge MODEL", (INDEX,)),
    "evaluate, over two processes": Command(f"{EVALUATE} {TWO}", (INDEX,), dear=True),
    "evaluate, from its start": Command(
        f"evaluate index -q data/questions.jsonl -m bm25 -r direct -o out {MODEL}", (INDEX,), anew=True, dear=True
    ),
    "grid": Command(f"grid index -q data/questions.jsonl -r direct -r cot -o out {MODEL}", (INDEX,)),
    "table": Command(
        f"table catrag recall --data data -o out --encoder hash --max-calls 100000 {MODEL}", code=1
    ),  # of some methods most requests fail, which this verb says so
    "evaluate, recorded": Command(RECORD, (INDEX,)),
    "evaluate, replayed": Command(REPLAY, (INDEX, RECORD), False),
    "batch export": Command(EXPORT, (INDEX,), False),
    "batch submit": Command(SUBMIT, (INDEX, EXPORT), False),
    "batch import": Command("batch import batch", (INDEX, EXPORT, SUBMIT), False),
    "train": Command(f"train gfm index -o out -q data/questions.jsonl --device cpu {_FEW} {MODEL}", (INDEX,)),
    "export": Command("export index --to out", (INDEX,), False),
    "bundle": Command("bundle out -o pages", (INDEX, EVALUATE), False),
    "export, Chroma": Command("export index --chroma here --kinds passages,phrases,facts", (INDEX,), False),
    "run": Command("run --notebooks notebooks -o executed", (), False, dear=True),
}  # a verb, with what is particular behind a comma
ROUND = sum(not command.dear for command in COMMANDS.values()) + 1
CELLS = (  # of the notebook that is run
    "import workbench as wb\nimport workbench.testing",
    "data, rules = wb.load('data'), wb.engine('rules')",
    "index = wb.Index.build(data, rules, 'index', encoder='hash', layers=['facts'], progress=False)",
    "index.counts()",
)
APART = {
    **dict.fromkeys(("list", "runs", "compare", "diagnose", "check", "doctor"), "only shows"),
    "ask": "keeps nothing but what `--record` keeps",
    "estimate": "keeps nothing",
    "answers": "one transaction of sqlite",
    "notebooks": "copies a few files",
    "lab": "becomes JupyterLab",
}  # fmt: skip


def attack(
    count: int,
    seed: int,
    folder: Path,
    names: Collection[str] = COMMANDS.keys(),
    within: float = WITHIN,
    row: int = ROW,
) -> Tally:
    """So many kills, spread over the commands and the signals, up to `row` of a command before it may end. A machine
    that does much else needs longer than `within` seconds to end a process."""
    tally, draw = Tally("kills"), random.Random(seed)
    for name in sorted(verbs() - killed_verbs() - APART.keys()):
        tally.failed("lost", f"the verb {name!r} is never killed: name it in COMMANDS or APART of {__file__}")
    model, batches = SlowModel(0.02), SlowBatches(0.1)
    try:
        with Forks(folder) as forks:
            bench = Bench(folder, forks, model, batches)
            for name in in_turn(names, draw):
                if tally.tried >= count:
                    break
                killed_in_a_row(bench, name, draw, tally, min(row, count - tally.tried), within)
    finally:
        model.stop()
        batches.stop()
    return tally


def in_turn(names: Collection[str], draw: random.Random) -> Iterator[str]:
    """Round after round, all commands that are cheap and one that is dear."""
    mixed = draw.sample(sorted(names), len(names))
    dear = itertools.cycle([name for name in mixed if COMMANDS[name].dear])
    while True:
        yield from [name for name in mixed if not COMMANDS[name].dear]
        yield from itertools.islice(dear, 1)


def killed_verbs() -> set[str]:
    return {name.partition(",")[0] for name in COMMANDS}


def verbs() -> set[str]:
    """Every verb of the command line."""
    import typer

    from workbench.cli.app import app

    found = typer.main.get_command(app).commands
    below = {f"{name} {verb}" for name, group in found.items() for verb in getattr(group, "commands", ())}
    return {name for name, one in found.items() if not hasattr(one, "commands")} | below


class Bench:
    """Folders in which commands run. `stage` has what is before a command, `undisturbed` what is after it, each made
    once."""

    def __init__(self, folder: Path, forks: Forks, model: SlowModel, batches: SlowBatches):
        self.folder, self.forks, self.model, self.batches = folder, forks, model, batches
        self._stages: dict[tuple[str, ...], Path] = {}
        self._undisturbed: dict[str, Undisturbed] = {}
        self._fresh = itertools.count()

    def words(self, command: str) -> list[str]:
        return command.replace("MODEL", self.model.spec).replace("BATCHES", self.batches.url).split()

    def fresh(self, before: tuple[str, ...]) -> Path:
        """A folder of its own in which the commands before have been run. It has always the same name: a program may
        write it down. What is to be submitted now was never submitted."""
        if before and before[-1] == EXPORT:
            self.batches.batches.clear()
        work = self.folder / "work"
        with suppress(FileNotFoundError):
            shutil.rmtree(work)
        shutil.copytree(self.stage(before), work)
        return work

    def stage(self, before: tuple[str, ...]) -> Path:
        if before not in self._stages:
            place = self.folder / f"stage-{next(self._fresh)}"
            if before:
                work = self.fresh(before[:-1])
                done = self.forks.run(self.words(before[-1]), work)
                assert done.code == 0, f"{before[-1]}: {done.said}"
                work.rename(place)
            else:
                write_data(place)
            self._stages[before] = place
        return self._stages[before]

    def undisturbed(self, name: str) -> Undisturbed:
        if name not in self._undisturbed:
            command = COMMANDS[name]
            work, asked = self.fresh(command.before), self.model.asked
            done = self.forks.run(self.words(command.words), work, anew=command.anew)
            assert done.code == command.code, f"{name}: {done.said}"
            self._undisturbed[name] = Undisturbed(contents(work), done.whole, self.model.asked - asked)
        return self._undisturbed[name]


class Undisturbed(NamedTuple):
    """What a command leaves that nobody disturbs, the seconds that it takes, and how many answers."""

    contents: dict[str, bytes]
    seconds: float
    answers: int


def killed_in_a_row(
    bench: Bench, name: str, draw: random.Random, tally: Tally, most: int, within: float = WITHIN
) -> None:
    """Kill a command up to so many times, and let it go on to its end."""
    command, whole = COMMANDS[name], bench.undisturbed(name)
    work, killed = bench.fresh(command.before), []
    for _ in range(most):
        number, in_flight = draw.choice(SIGNALS), command.asks and whole.answers > 1 and draw.random() < 0.3
        after = draw.randint(1, whole.answers) if in_flight else draw.uniform(0, 0.8 * whole.seconds)
        ended, seconds = kill(bench, command, work, number, after)
        if ended.code == command.code:  # before the signal
            break
        moment = f"{name}, {number.name} after {after:.3g} {'answers' if in_flight else 's'}"
        left = bench.forks.left(within - seconds)
        if fault := wrong_end(ended, number, seconds, within) or (left and f"it left {left} behind"):
            tally.failed("crashed", f"{moment}: {fault}")
        else:
            killed.append(moment)
    if not killed:
        return
    last = bench.forks.run(bench.words(command.words), work)
    differing = different(contents(work), whole.contents)
    for moment in killed:
        if last.code != command.code or differing:
            said = f"then exit {last.code} {last.said[-300:]!r}, differing {differing}"
            tally.failed("lost", f"{moment} ({len(killed)} in a row): {said}")
        else:
            tally.withstood()


def kill(bench: Bench, command: Command, work: Path, number: signal.Signals, after: float | int) -> tuple[Ended, float]:
    """Begin a command and send it a signal after some seconds, or while the model holds back all answers but so many;
    how it ended, and how many seconds after the signal."""
    if isinstance(after, int):
        bench.model.hold(after)
    process = bench.forks.begin(bench.words(command.words), work, anew=command.anew)
    if isinstance(after, int):
        for _ in range(400):  # 20 seconds
            if bench.model.held.wait(0.05) or not runs(process):  # one that goes on may ask for less
                break
    else:
        time.sleep(after)
    sent = time.monotonic()
    with suppress(ProcessLookupError):  # Ctrl-C reaches every process of a terminal
        (os.killpg if number is signal.SIGINT else os.kill)(process, number)
    ended = bench.forks.end()
    bench.model.free()
    return ended, ended.ended - sent


def runs(process: int) -> bool:
    """Whether a process is still there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wrong_end(ended: Ended, number: signal.Signals, seconds: float, within: float) -> str:
    """What is wrong with how a command ended, in words; empty if nothing is."""
    if number is signal.SIGKILL:
        return "" if ended.code == -number else f"exit {ended.code}: {ended.said[-500:]}"
    if "Traceback" in ended.said or "Exception ignored" in ended.said:
        return f"a traceback: {ended.said[-1500:]}"
    if ended.code != 128 + number:
        return f"exit {ended.code}: {ended.said[-500:]}"
    if GOES_ON not in ended.said:
        return f"it does not say what goes on: {ended.said[-500:]!r}"
    return "" if seconds < within else f"it ended {seconds:.1f} s after the signal"


def write_data(folder: Path) -> None:
    """A data folder, and one with more passages."""
    corpus = [asdict(one) | {"id": one.id + mark, "title": one.title + mark} for mark in ("", "b") for one in PASSAGES]
    more = [asdict(one) | {"id": f"m{one.id}", "title": f"More {one.title}"} for one in PASSAGES[:4]]
    questions = [
        asdict(one) | {"id": f"{one.id}-{n}", "question": one.question + "?" * n} for n in range(4) for one in QUESTIONS
    ]
    for place, rows in (("data/corpus", corpus), ("data/questions", questions), ("more/corpus", more)):
        path = folder / f"{place}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "notebooks").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code, id=f"cell-{number}")
                   for number, code in enumerate(CELLS)]), folder / "notebooks/01_tiny.ipynb")  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, file by file; of a recording its rows, because their order is that of the answers, of an
    executed notebook its cells, because it says when they ran, and of a Chroma store what it holds and finds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        if path.name == STORE:
            found[str(below)] = held(path)
        elif path.is_file() and STORE not in below.parts and not path.name.endswith(DIFFERS):
            found[str(below)] = READERS.get(path.suffix, Path.read_bytes)(path)
    return found


def cells(notebook: Path) -> bytes:
    read = nbformat.read(notebook, as_version=4)
    return json.dumps([[one.source, one.outputs] for one in read.cells]).encode()


def held(store: Path) -> bytes:
    """The rows of each collection, and how near all others are that it finds by the vector of one."""
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient.clear_system_cache()  # another store lay in that folder before
    client, found = chromadb.PersistentClient(str(store), chromadb.Settings(anonymized_telemetry=False)), {}
    for one in client.list_collections():
        whole = one.get(include=["documents", "metadatas", "embeddings"])
        near = one.query(query_embeddings=whole["embeddings"], n_results=one.count())["distances"]
        row = zip(whole["ids"], whole["documents"], whole["metadatas"], whole["embeddings"].tolist(), near)
        found[one.name] = [one.metadata, sorted(row)]
    SharedSystemClient.clear_system_cache()
    return json.dumps(found, sort_keys=True).encode()


def rows(recording: Path) -> bytes:
    """Of each table, without the times at which they were stored."""
    with sqlite3.connect(recording) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        found = {}
        for (name,) in names:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})") if row[1] != "at"]
            found[name] = sorted(map(str, connection.execute(f"SELECT {', '.join(columns)} FROM {name}")))
    connection.close()
    return json.dumps(found).encode()


READERS = {".sqlite": rows, ".ipynb": cells}


def different(found: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """Names of files that differ, are missing or are too many."""
    return sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))[:8]
