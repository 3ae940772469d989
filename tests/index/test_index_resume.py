"""A build may be stopped anywhere, by anything: the last good index stays, and the next build loses nothing."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tiers import FULL
from tiny import CountingEncoder, TinyEngine, files, same_content, tiny_dataset

from workbench.errors import IndexFault
from workbench.index import Index, journal, vectors
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.record import Recording, recording

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
def undisturbed(tmp_path, monkeypatch) -> tuple[dict[str, bytes], CountingEncoder, TinyEngine]:
    """The files of a build over an older index which nothing stopped, and what was asked for it."""
    monkeypatch.setenv("WORKBENCH_VECTORS", str(tmp_path / "vectors of undisturbed"))
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
    monkeypatch.setenv("WORKBENCH_VECTORS", str(known := tmp_path / "vectors"))
    start, every = older(tmp_path / "start"), 1 if FULL else 4
    for step in itertools.count(step=every):
        error = OSError(errno.ENOSPC, "No space left on device") if step // every % 2 else KeyboardInterrupt()
        folder, encoder, engine = shutil.copytree(start, tmp_path / str(step)), CountingEncoder(), TinyEngine()
        monkeypatch.setenv("WORKBENCH_VECTORS", str(shutil.copytree(known, tmp_path / f"vectors {step}")))
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
        longest = max(map(len, encoder.texts))
        assert sum(map(len, again)) < BLOCK + 2 * longest, "at most the block that was on its way, and one to compare"
        assert len(engine.asked) <= 2 * len(whole_engine.asked), "at most one layer, of an engine without a store"
        if reached["steps"] <= step:
            break
    assert step > 50


@pytest.mark.parametrize("at", [0, 1, 7, 15])
def test_no_answer_that_a_store_holds_is_asked_for_again(tmp_path, at):
    """Sixteen requests: two of each of eight passages."""
    sent = Counter()

    def answered(request: Request) -> Reply:
        if sent.total() == at:
            sent["killed"] += 1
            raise KeyboardInterrupt
        sent[request.key] += 1
        said = (
            {"named_entities": ["Orsby"]} if request.step == "named_entities" else {"triples": [["Orsby", "is", "A"]]}
        )
        return Reply(json.dumps(said))

    def engine() -> ChatEngine:
        return ChatEngine("openai:one", recording(answered, Recording(tmp_path / "answers.sqlite")), concurrency=1)

    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "index", engine=engine())
    index = build(tmp_path / "index", engine=engine())
    assert sent.pop("killed") == 1 and sent.total() == 16 and set(sent.values()) == {1}
    assert files(index.folder) == files(build(tmp_path / "whole", engine=engine()).folder)


# -- damaged --------------------------------------------------------------------------------------------------------


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
