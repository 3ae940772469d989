"""A build may be stopped anywhere, by anything: the last good index stays, and the next build loses nothing."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tiers import FULL
from tiny import CountingEncoder, TinyEngine, files, same_content, tiny_dataset

from workbench.errors import IndexFault
from workbench.index import Index, journal, vectors

DATA = replace(tiny_dataset(), extractions=None)
SMALLER = replace(DATA, passages=DATA.passages[:2])
BLOCK = 50  # characters


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Many blocks and groups even in a tiny corpus, so that there are many places to stop at."""
    monkeypatch.setattr(vectors, "BLOCK_CHARACTERS", BLOCK)
    monkeypatch.setattr(journal, "GROUP", 2)


def build(folder, data=DATA, engine=None, encoder=None) -> Index:
    return Index.build(data, engine or TinyEngine(), folder, encoder=encoder or CountingEncoder(), progress=False)


@pytest.fixture
def undisturbed(tmp_path) -> tuple[dict[str, bytes], CountingEncoder, TinyEngine]:
    """The files of a build over an older index which nothing stopped, and what was asked for it."""
    folder, encoder, engine = older(tmp_path / "undisturbed"), CountingEncoder(), TinyEngine()
    build(folder, engine=engine, encoder=encoder)
    assert len(encoder.calls) > 10 and len(engine.calls) == 6
    return files(folder), encoder, engine


def older(folder: Path) -> Path:
    """An index of fewer passages, which stands in the folder before the build that is stopped."""
    build(folder, SMALLER)
    return folder


def assert_still_there(folder: Path) -> None:
    """What stood before the build is what is found after it was stopped, unless it was stopped after its end."""
    opened = Index.open(folder)
    assert opened.passages.passages in (list(SMALLER.passages), list(DATA.passages))
    assert len(opened.graph.passages_of) == len(opened.facts.phrases)


# -- stopped by whoever is asked ------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_stopped_at_any_call_of_the_encoder(tmp_path, undisturbed, error):
    expected, whole, _ = undisturbed
    for call in range(len(whole.calls)):
        folder = older(tmp_path / str(call))
        with pytest.raises(error, match="injected"):
            build(folder, encoder=CountingEncoder(call, error))
        assert len(Index.open(folder).passages.passages) == len(SMALLER.passages)
        encoder, engine = CountingEncoder(), TinyEngine()
        build(folder, engine=engine, encoder=encoder)
        assert files(folder) == expected
        assert encoder.calls == whole.calls[call:], "finished blocks are not encoded again, nor the rest otherwise"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_stopped_at_any_call_of_the_engine(tmp_path, undisturbed, error):
    expected, _, whole = undisturbed
    for call in range(len(whole.calls)):
        folder = older(tmp_path / str(call))
        with pytest.raises(error, match="injected"):
            build(folder, engine=TinyEngine(call, error))
        assert len(Index.open(folder).passages.passages) == len(SMALLER.passages)
        engine = TinyEngine()
        build(folder, engine=engine)
        assert files(folder) == expected
        assert engine.calls == whole.calls[call - call % 2 :], "finished groups are not asked again"


def test_stopped_again_and_again(tmp_path, undisturbed):
    expected, whole, _ = undisturbed
    folder, asked = older(tmp_path / "index"), []
    while True:
        encoder = CountingEncoder(1, KeyboardInterrupt)
        try:
            build(folder, engine=TinyEngine(), encoder=encoder)
        except KeyboardInterrupt:
            asked += encoder.calls
        else:
            break
    assert asked + encoder.calls == whole.calls
    assert files(folder) == expected


# -- stopped between any two things done to the disk ----------------------------------------------------------------

DISK = (
    (os, "replace"),
    (os, "fsync"),
    (os, "posix_fallocate"),
    (Path, "mkdir"),
    (Path, "write_text"),
    (Path, "unlink"),
    (pq, "write_table"),
    (shutil, "rmtree"),
)


def stop_at(monkeypatch, step: int | None, error: BaseException) -> Counter:
    """Let the `step`-th of the things done to the disk raise; the counter says how many were reached."""
    reached: Counter = Counter()

    def guarded(done):
        def do(*args, **kwargs):
            reached["steps"] += 1
            if reached["steps"] - 1 == step:
                raise error
            return done(*args, **kwargs)

        return do

    for owner, name in DISK:
        monkeypatch.setattr(owner, name, guarded(getattr(owner, name)))
    return reached


@pytest.mark.full
def test_stopped_before_any_step_on_the_disk(tmp_path, undisturbed, monkeypatch):
    expected, whole_encoder, whole_engine = undisturbed
    """Builds that are stopped and go on, for every fourth moment, and for each in the full profile."""
    start, every = older(tmp_path / "start"), 1 if FULL else 4
    for step in itertools.count(step=every):
        error = OSError(errno.ENOSPC, "No space left on device") if step // every % 2 else KeyboardInterrupt()
        folder, encoder, engine = shutil.copytree(start, tmp_path / str(step)), CountingEncoder(), TinyEngine()
        with monkeypatch.context() as patch:
            reached = stop_at(patch, step, error)
            try:
                build(folder, engine=engine, encoder=encoder)
            except (KeyboardInterrupt, OSError) as raised:
                assert raised is error
        assert_still_there(folder)
        build(folder, engine=engine, encoder=encoder)
        assert files(folder) == expected
        again = Counter(encoder.texts) - Counter(whole_encoder.texts)
        assert sum(map(len, again)) < BLOCK + max(map(len, encoder.texts)), "at most the block that was on its way"
        assert len(engine.asked) <= len(whole_engine.asked) + 2, "at most the group that was on its way"
        if reached["steps"] <= step:
            break
    assert step > 50


# -- killed ---------------------------------------------------------------------------------------------------------

SLOW_BUILD = """
    import dataclasses, json, os, signal, sys, threading, time
    from tiny import *
    from tqdm import tqdm
    from workbench.index import Index, journal, vectors

    vectors.BLOCK_CHARACTERS, journal.GROUP = 50, 2

    class SlowEncoder(TinyEncoder):
        def encode(self, texts):
            time.sleep(0.02)
            return super().encode(texts)

    class SlowEngine(TinyEngine):
        def run(self, step, inputs, *, trace=None):
            time.sleep(0.02)
            return super().run(step, inputs, trace=trace)

    data = dataclasses.replace(tiny_dataset(), extractions=None)
    Index.build(data, SlowEngine(), sys.argv[1], encoder=SlowEncoder(), progress=False)  # loads what takes long
    tqdm.set_lock(threading.RLock())  # forks share its own one, and one killed with it would leave all others waiting
    print("ready", flush=True)
    for line in sys.stdin:
        folder, after = json.loads(line)
        if not (child := os.fork()):
            Index.build(data, SlowEngine(), folder, encoder=SlowEncoder(), progress=False)
            os._exit(0)
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def build_and_kill(tmp_path_factory):
    """Run a build in a process of its own and kill it some seconds after it began; its exit status.

    The processes are forks of one that has imported everything, so that the kills fall into the build."""
    places = [str(Path(__file__).parents[up]) for up in (1, 2)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-c", textwrap.dedent(SLOW_BUILD), str(tmp_path_factory.mktemp("warm"))]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as forks:
        assert forks.stdout.readline() == b"ready\n"

        def build_and_kill(folder: Path, after: float) -> int:
            forks.stdin.write(json.dumps([str(folder), after]).encode() + b"\n")
            forks.stdin.flush()
            return int(forks.stdout.readline())

        yield build_and_kill
        forks.stdin.close()


def kill_repeatedly(build_and_kill, folder: Path, kills: int, seed: int) -> None:
    """Kill builds until so many kills have landed; each goes on in its folder to its end."""
    build(folder / "undisturbed")
    whole, moments, landed = files(folder / "undisturbed"), random.Random(seed), 0
    for attempt in itertools.count():
        out, status = folder / str(attempt), None
        while landed < kills and status != 0:
            status = build_and_kill(out, moments.uniform(0.02, 0.25))
            assert status in (0, -signal.SIGKILL)
            landed += status != 0
        build(out)
        assert files(out) == whole
        if landed >= kills:
            break


@pytest.mark.slow
@pytest.mark.full
def test_killed_at_random_moments(build_and_kill, tmp_path):
    """A process that imports everything, and builds that it forks."""
    kill_repeatedly(build_and_kill, tmp_path, kills=40 if FULL else 5, seed=20)


# -- damaged --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_torn_last_line_costs_one_passage(tmp_path, cut):
    folder = tmp_path / "index"
    with pytest.raises(RuntimeError):
        build(folder, engine=TinyEngine(fail_at=6))  # three groups of two are done
    (part,) = folder.glob("extractions-*.part/table.jsonl.part")
    raw = part.read_bytes()
    part.write_bytes(raw[:-cut])
    lost = len(raw.splitlines()) - raw[:-cut].count(b"\n")
    engine = TinyEngine()
    build(folder, engine=engine)
    assert engine.asked == [passage.title for passage in DATA.passages[6 - lost :]]
    build(tmp_path / "fresh")
    assert files(folder) == files(tmp_path / "fresh")


def test_a_retry_that_changed_nothing_has_no_name_for_a_later_build_to_find(tmp_path):
    """Twice stopped before its manifest: what failed is asked for again, and fails again as in one build."""
    failing = {"fails_on": ("Fog",)}
    build(tmp_path / "whole", engine=TinyEngine(**failing))
    folder = tmp_path / "stopped"
    build(folder, engine=TinyEngine(**failing))
    (folder / "manifest.json").unlink()
    for layer in (*folder.glob("facts-*"), *folder.glob("synonyms-*")):
        shutil.rmtree(layer)
    with pytest.raises(KeyboardInterrupt):  # in the layer above
        build(folder, engine=TinyEngine(**failing), encoder=CountingEncoder(0, KeyboardInterrupt))
    build(folder, engine=TinyEngine(**failing))
    assert files(folder) == files(tmp_path / "whole")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 1}', "\udcff"])
def test_a_damaged_manifest_is_said_to_be_and_is_mended_without_work(tmp_path, content):
    build(tmp_path)
    before, manifest = files(tmp_path), tmp_path / "manifest.json"
    manifest.write_bytes(content.encode("utf-8", "surrogateescape"))
    for use in (Index.open, build):
        with pytest.raises(IndexFault, match=r"manifest.json is damaged .*delete this one file and build"):
            use(tmp_path)
    manifest.unlink()  # as the message says
    encoder, engine = CountingEncoder(), TinyEngine()
    build(tmp_path, engine=engine, encoder=encoder)
    assert encoder.calls == engine.calls == [] and files(tmp_path) == before


def test_a_newer_format_is_not_guessed_at(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": 99, "layers": {}}')
    with pytest.raises(IndexFault, match="format 99; this version reads up to 1: upgrade"):
        Index.open(tmp_path)


def test_a_truncated_file_of_any_layer_is_said_to_be_and_is_made_again_by_what_is_said(tmp_path):
    index = build(tmp_path)
    before = files(tmp_path)
    for name in sorted(path for path in before if "/" in path):
        layer = tmp_path / Path(name).parent
        raw = before[name]
        for length in {0, 1, len(raw) // 2, raw.rfind(b"\n", 0, -1) + 1, len(raw) - 2}:
            (tmp_path / name).write_bytes(raw[:length])
            for use in (Index.open, build):
                with pytest.raises(IndexFault, match=r"is damaged.*delete this folder") as error:
                    use(tmp_path)
                assert str(layer) in str(error.value)
        shutil.rmtree(layer)  # as the message says
        assert same_content(build(tmp_path), index)
        assert {path: files(tmp_path)[path] for path in before} == before


def test_a_missing_layer_is_said_to_be(tmp_path):
    build(tmp_path)
    (facts,) = tmp_path.glob("facts-*")
    shutil.rmtree(facts)
    with pytest.raises(IndexFault, match=r"layer 'facts' in .* is damaged"):
        Index.open(tmp_path)
