"""What a store holds is never asked for again, and what is damaged is said to be. Builds are stopped at every step by
`test_layer_contract.py` and `tests/attacks`."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import CountingEncoder, TinyEngine, files, same_content, tiny_dataset

from workbench.errors import IndexFault
from workbench.index import Index, journal, vectors
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.record import Recording, recording

DATA = replace(tiny_dataset(), extractions=None)
BLOCK = 50  # characters


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Many blocks and groups even in a tiny corpus, so that there are many places to stop at."""
    monkeypatch.setattr(vectors, "BLOCK_CHARACTERS", BLOCK)
    monkeypatch.setattr(journal, "GROUP", 2)


def build(folder, data=DATA, engine=None, encoder=None) -> Index:
    return Index.build(data, engine or TinyEngine(), folder, encoder=encoder or CountingEncoder(), progress=False)


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
