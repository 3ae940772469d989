"""An evaluation may be stopped anywhere: no row is lost, and the next call ends in the same bytes. Processes are killed
at random moments by `tests/attacks/kills.py`."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from tiers import FULL
from tiny import files

import workbench as wb
from workbench.errors import SettingError


def same_always(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in files(folder).items() if not name.endswith("timings.jsonl")}


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
    ask("first")  # what a process looks up once has steps that no later evaluation has
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
