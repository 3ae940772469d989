"""An evaluation may be stopped anywhere, by anything: no row is lost, and the next call ends in the same bytes."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from tiers import FULL
from tiny import files

import workbench as wb
from workbench.errors import SettingError

# -- killed -----------------------------------------------------------------------------------------------------------

EVALUATION = """
    import dataclasses, json, os, signal, sys, threading, time
    from tiny import *
    from tqdm import tqdm
    import workbench as wb
    from workbench.llm.engine import note
    from workbench.llm.step import Usage
    from workbench.measures import DEFAULT

    class Slow:
        '''Says what follows from its input alone: now an answer, now nothing, now a failure.'''

        name = "slow"

        def __init__(self):
            self.meter = Meter()

        def run(self, step, inputs, *, trace=None):
            time.sleep(0.01)
            results = [self.answer(step, value) for value in inputs]
            for result in results:
                self.meter.add(step.name, result.usage)
            note(trace, self.name, step, results)
            return results

        def answer(self, step, value):
            at = sum(map(ord, value.question)) % 7
            usage = Usage(1, 100 + at, at, 0.01, None if at == 3 else 0.001)
            if step.name == "fact_filter":
                return Result(step.output(facts=[list(fact) for fact in value.facts[:at]]), usage=usage)
            if at == 5:
                return Result(None, failure="told to fail", usage=usage)
            if step.name == "judge":
                return Result(step.output(verdict=("correct", "incorrect", "unknown")[at % 3], reason="x"), usage=usage)
            said = "" if at == 6 else value.context.split()[-1 - at]
            return Result(step.output(thought="", answer=said, abstained=not said), usage=usage)

    index = wb.Index.open(sys.argv[1], TinyEncoder())
    engine = Slow()
    methods = [wb.method(name, index, engine) for name in ("hipporag2", "dense")]
    asked = [(n, q) for n in range(8) for q in QUESTIONS]
    asked = [dataclasses.replace(q, id=f"{q.id}-{n}", question=f"{q.question} {n}") for n, q in asked]
    reader = wb.reader("direct", engine)
    ask = dict(judge=engine, progress=False, measures=(*DEFAULT, "abstained:thesis", "coverage:substring"))
    wb.evaluate(asked[:1], methods, reader, sys.argv[1] + "-warm", **ask)  # loads what takes long
    tqdm.set_lock(threading.RLock())  # forks share its own one, and one killed with it would leave all others waiting
    print("ready", flush=True)
    for line in sys.stdin:
        out, workers, after = json.loads(line)
        if not (child := os.fork()):
            wb.evaluate(asked, methods, reader, out, workers=workers, **ask)
            os._exit(0)
        if after is not None:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def evaluate_and_kill(tiny_index):
    """Run the evaluation in a process of its own and kill it some seconds after it began; its exit status.

    The processes are forks of one that has imported everything, so that the kills fall into the evaluation."""
    places = [str(Path(__file__).parents[up]) for up in (1, 2)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-c", textwrap.dedent(EVALUATION), str(tiny_index.folder)]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as forks:
        assert forks.stdout.readline() == b"ready\n"

        def evaluate_and_kill(out: Path, after: float | None = None, workers: int = 1) -> int:
            forks.stdin.write(json.dumps([str(out), workers, after]).encode() + b"\n")
            forks.stdin.flush()
            return int(forks.stdout.readline())

        yield evaluate_and_kill
        forks.stdin.close()


def kill_repeatedly(evaluate_and_kill, folder: Path, kills: int, seed: int) -> None:
    """Kill runs until so many kills have landed; each goes on in its folder to its end."""
    started = time.perf_counter()
    assert evaluate_and_kill(folder / "undisturbed") == 0
    seconds = time.perf_counter() - started
    whole, moments, landed = same_always(folder / "undisturbed"), random.Random(seed), []
    assert sum("traces/" in name for name in whole) == 48 and any("contexts/" in name for name in whole)
    for attempt in itertools.count():
        out, status = folder / str(attempt), None
        while status != 0:
            kept = whole_lines(out / "results.jsonl")
            after = moments.uniform(0, seconds / 2) if len(landed) < kills else None
            status = evaluate_and_kill(out, after, workers=1 + attempt % 2)
            assert status in (0, -signal.SIGKILL)
            stands = whole_lines(out / "results.jsonl")
            assert stands.startswith(kept), "no row is lost or asked again"
            landed += [stands.count(b"\n")] if status else []
        assert same_always(out) == whole
        timed = [json.loads(line) for line in (out / "timings.jsonl").read_text().splitlines()]
        assert [(t["question_id"], t["method"]) for t in timed] == [
            (row["question_id"], row["method"]) for row in wb.Run(out).rows
        ]
        if len(landed) >= kills:
            break
    assert len(set(landed)) > kills // 7, "the kills fell on different rows"


def same_always(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in files(folder).items() if not name.endswith("timings.jsonl")}


def whole_lines(path: Path) -> bytes:
    raw = path.read_bytes() if path.exists() else b""
    return raw[: raw.rfind(b"\n") + 1]


@pytest.mark.slow
@pytest.mark.full
def test_killed_at_random_moments(evaluate_and_kill, tmp_path):
    """A process that imports everything, and evaluations that end in different seconds."""
    kill_repeatedly(evaluate_and_kill, tmp_path, kills=20 if FULL else 5, seed=1)


# -- stopped between any two things done to the disk ------------------------------------------------------------------

DISK = (
    (os, "replace"),
    (os, "fsync"),
    (os, "truncate"),
    (Path, "mkdir"),
    (Path, "write_text"),
    (Path, "unlink"),
    (json, "dumps"),  # of a row or its timing: what is killed there has written the one and not the other
)


@pytest.fixture
def ask(tiny, tiny_index, tmp_path):
    def ask(out="run", methods=None, **settings):
        methods = methods or {"dense": wb.method("dense", tiny_index)}
        reader = wb.reader("direct", settings.pop("engine", None))
        return wb.evaluate(tiny.questions, methods, reader, tmp_path / out, progress=False, **settings).folder

    return ask


def stop_at(monkeypatch, step: int) -> Counter:
    """Let the `step`-th of the things done to the disk be the last one; the counter says how many were reached."""
    reached: Counter = Counter()

    def guarded(done):
        def do(*args, **kwargs):
            reached["steps"] += 1
            if reached["steps"] > step:
                raise KeyboardInterrupt("stopped")
            return done(*args, **kwargs)

        return do

    for owner, name in DISK:
        monkeypatch.setattr(owner, name, guarded(getattr(owner, name)))
    return reached


def moments(steps: int, most: int) -> list[int]:
    """Which of the steps to stop at: all in the full profile, else the first ones, the last, and others by chance."""
    assert steps > 40
    return [*range(steps)] if FULL else sorted({0, 1, steps - 1, *random.Random(5).sample(range(steps), most)})


@pytest.mark.full
def test_stopped_before_any_step_on_the_disk(ask, monkeypatch):
    """An evaluation stopped and one that goes on, for each of a dozen moments."""
    with monkeypatch.context() as patch:
        reached = stop_at(patch, 10_000)
        whole = same_always(ask("whole"))
    for step in moments(reached["steps"], 10):
        with monkeypatch.context() as patch:
            stop_at(patch, step)
            with pytest.raises(KeyboardInterrupt):
                ask(str(step))
        folder = ask(str(step))
        assert same_always(folder) == whole
        assert (folder / "timings.jsonl").read_text().count("\n") == 3


@pytest.mark.slow
@pytest.mark.full
def test_stopped_before_any_step_on_the_disk_while_rows_are_put_aside(ask, monkeypatch, tiny_index):
    """What is asked again replaces the earlier rows, which are kept once, wherever the process was stopped."""

    def changed(folder, step):
        ask(folder)
        with monkeypatch.context() as patch:
            patch.setattr(tiny_index.passages, "hash", "other")
            with patch.context() as stops:
                reached = stop_at(stops, step)
                with suppress(KeyboardInterrupt):
                    ask(folder)
            return same_always(ask(folder)), reached["steps"]

    whole, steps = changed("whole", 10_000)
    assert sum(name.startswith("before/") and name.endswith("run.json") for name in whole) == 1
    for step in moments(steps, 8):
        assert changed(str(step), step)[0] == whole


# -- damaged ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 25])
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_torn_rows_and_torn_timings_are_mended(ask, cut, lost):
    whole = same_always(folder := ask())
    (folder / "checksums.json").unlink()  # as the first row that is written does
    for name, kept in (("results.jsonl", 2 - lost), ("timings.jsonl", 2)):
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(lines[:kept]) + lines[kept][:-cut])
    first = (folder / "timings.jsonl").read_bytes().splitlines()[: 2 - lost]
    assert same_always(ask()) == whole
    timed = (folder / "timings.jsonl").read_bytes().splitlines()
    assert timed[: 2 - lost] == first and len(timed) == 3


def test_what_a_killed_process_was_about_to_write_is_gone(ask):
    whole = same_always(folder := ask())
    for name in ("run.json.tmp", "contexts/x.txt.tmp", "traces/x.jsonl.tmp", "table.csv.tmp"):
        (folder / name).write_text("to")
    assert same_always(ask()) == whole


def test_a_context_that_rows_share_is_written_once(ask, tiny_index, monkeypatch):
    """Written again, it would for a moment be torn under a row that stands; a model may never ask for it again."""
    written = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda source, target: (written.append(Path(target)), replace(source, target)))
    ask(methods={name: wb.method("dense", tiny_index) for name in ("one", "other")})
    contexts = [path.name for path in written if path.parent.name == "contexts"]
    assert len(contexts) == len(set(contexts)) == 3


def test_a_run_is_written_by_one_process(ask, tiny, tiny_index, tmp_path):
    class Impatient(wb.method("dense", tiny_index).__class__):
        def search(self, question, k, trace):
            with pytest.raises(SettingError, match="another process is writing"):
                ask("run")
            return super().search(question, k, trace)

    assert len(wb.Run(ask("run", methods={"dense": Impatient(tiny_index)})).rows) == 3
