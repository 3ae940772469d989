"""Files of a batch, given to a batch API and fetched: once each, whatever breaks in between, and without the key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_server import BatchServer
from chat_server import Cut, completion, error, question
from small_steps import NAMES
from typer.testing import CliRunner

from workbench.cli.app import app
from workbench.errors import DataError, EngineError, EngineRefused, EngineUnavailable, SettingError
from workbench.llm.batch import Export, fetch, read, submit
from workbench.llm.batch import export as files_of_requests

KEY = "sk-of-the-test-0123456789"
SPEC = "openai:test-model"
TEXTS = [f"text {n}" for n in range(6)]


def names(asked: dict):
    return completion(json.dumps({"names": [question(asked)]}))


@pytest.fixture
def server(monkeypatch) -> Iterator[BatchServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    made = BatchServer(names)
    monkeypatch.setenv("OPENAI_BASE_URL", made.url)
    yield made
    made.stop()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(files_of_requests.split, "__defaults__", (2, 200_000_000))  # three files of two
    return tmp_path / "batch"


def export(folder: Path, **options):
    """The export, and what came of its work, if it was not deferred."""
    found = []
    with Export(folder, progress=False, **options) as made:
        found += made.engine(SPEC).run(NAMES, TEXTS)
    return made, [one.value and one.value.names for one in found]


def test_a_round_is_submitted_fetched_and_read(server, folder):
    made, _ = export(folder)
    assert [one.requests for one in made.files] == [2, 2, 2]
    submitted = submit(folder, progress=False)
    assert [one.batch for one in submitted] == ["batch-1", "batch-2", "batch-3"]
    assert all(file.read_bytes() in server.files.values() for file in (folder / "round-1").glob("requests-*.jsonl"))
    assert {one["endpoint"] for one in server.batches.values()} == {"/v1/chat/completions"}
    assert not any(one.fetched for one in fetch(folder, progress=False))  # still under way
    server.end()
    assert {(one.status, one.fetched) for one in fetch(folder, progress=False)} == {("completed", True)}
    found = read(folder, progress=False)
    assert (found.answers, found.failed, found.file) == (6, {}, None)
    with pytest.raises(DataError, match="were imported"):
        submit(folder, progress=False)
    made, values = export(folder)
    assert made.requests == 0 and values == [[text] for text in TEXTS]


@pytest.mark.parametrize("stopped_at", ["POST /v1/files", "POST /v1/batches"])
def test_a_submit_that_is_stopped_goes_on_where_it_was(server, folder, stopped_at):
    export(folder)
    calls = 0

    def fault(method: str, path: str):
        nonlocal calls
        calls += f"{method} {path}" == stopped_at
        return error(503) if f"{method} {path}" == stopped_at and calls >= 2 else None

    server.fault = fault
    with pytest.raises(EngineError, match="503"):
        submit(folder, attempts=1, progress=False)
    assert len(server.batches) == 1
    server.fault = lambda method, path: None
    submit(folder, progress=False)
    assert len(server.batches) == 3
    assert len({one["input_file_id"] for one in server.batches.values()}) == 3


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_batch_whose_beginning_was_not_told_is_not_begun_again(server, folder, attempts):
    export(folder)
    beginning = ("POST", "/v1/batches")
    server.fault = lambda *what: "lost" if what == beginning and server.seen.count(beginning) == 1 else None
    if attempts == 1:
        with pytest.raises(EngineUnavailable):
            submit(folder, attempts=1, progress=False)
        server.fault = lambda method, path: None
    assert [one.batch for one in submit(folder, attempts=attempts, progress=False)] == ["batch-1", "batch-2", "batch-3"]
    assert len(server.batches) == 3


def test_a_round_under_way_is_not_exported_again(server, folder):
    export(folder)
    submit(folder, progress=False)
    with pytest.raises(SettingError, match=r"round 1 .* is under way"):
        export(folder)
    made, _ = export(folder, again=True)
    assert made.requests == 6
    submit(folder, progress=False)
    assert len(server.batches) == 6


def test_a_batch_that_expires_gives_what_it_has_and_the_rest_is_asked_again(server, folder):
    expired = {"code": "batch_expired", "message": "This request was not executed in time."}
    export(folder)
    submit(folder, progress=False)
    server.ends, server.only = "expired", 1

    def unanswered(batch: dict) -> list[dict]:
        last = json.loads(server.files[batch["input_file_id"]].splitlines()[-1])
        return [{"id": "1", "custom_id": last["custom_id"], "response": None, "error": expired}]

    server.more = unanswered
    server.end()
    fetch(folder, progress=False)
    found = read(folder, progress=False)
    assert found.answers == 3 and found.failed == {f"batch_expired: {expired['message']}": 3}
    made, _ = export(folder)
    assert (made.round, made.requests) == (2, 3)
    submit(folder, progress=False)
    server.ends, server.only, server.more = "completed", None, lambda batch: []
    server.end()
    fetch(folder, progress=False)
    assert read(folder, progress=False).answers == 3
    assert export(folder)[0].requests == 0


def test_a_download_that_breaks_off_is_repeated(server, folder):
    export(folder)
    submit(folder, progress=False)
    server.end()
    broken: list[str] = []

    def fault(method: str, path: str):
        if path.endswith("/content") and path not in broken:
            broken.append(path)
            return 200, {}, Cut(b'{"custom_id": "')
        return None

    server.fault = fault
    fetch(folder, progress=False, attempts=2)
    assert len(broken) == 3 and read(folder, progress=False).answers == 6
    assert not list((folder / "round-1" / "results").glob("*.part"))


def test_a_key_that_the_server_repeats_is_nowhere_on_disk(server, folder, caplog):
    server.answer = lambda asked: (
        error(400, f"bad key {KEY}") if question(asked) == TEXTS[0]
        else completion(json.dumps({"names": [f"{question(asked)} {KEY}"]}), reasoning_content=f"with {KEY}")
    )  # fmt: skip
    export(folder)
    submit(folder, progress=False)
    server.end()
    for batch in server.batches.values():
        batch["errors"] = {"data": [{"message": f"seen {KEY}"}]}
    fetch(folder, progress=False)
    read(folder, progress=False)
    export(folder)
    assert server.keys == {KEY}
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert [path for path, content in kept.items() if KEY.encode() in content] == [] and KEY not in caplog.text
    assert any(b"[key]" in content for content in kept.values())


def test_what_cannot_be_done_is_said(server, folder, monkeypatch):
    with pytest.raises(DataError, match="holds no batch"):
        submit(folder, progress=False)
    export(folder)
    with pytest.raises(DataError, match="is not submitted"):
        fetch(folder, progress=False)
    server.fault = lambda method, path: error(401, "no such key")
    with pytest.raises(EngineRefused, match="refuses the key"):
        submit(folder, progress=False)
    server.fault = lambda method, path: None
    submit(folder, progress=False)
    with pytest.raises(SettingError, match="was submitted to"):
        fetch(folder, "http://127.0.0.1:1/v1", progress=False)
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(EngineRefused, match="OPENAI_API_KEY"):
        fetch(folder, progress=False)


def workbench(*words: object) -> list[dict] | dict:
    result = CliRunner().invoke(app, ["batch", *map(str, words), "--json"])
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)


def test_the_command_line_goes_the_whole_way(server, folder):
    export(folder)
    assert [one["batch"] for one in workbench("submit", folder)] == ["batch-1", "batch-2", "batch-3"]
    assert {one["status"] for one in workbench("submit", folder)} == {"in_progress"}
    server.end()
    (first, *_) = workbench("submit", folder, "--wait")
    assert (first["completed"], first["failed"], first["fetched"]) == (2, 0, True)
    assert workbench("import", folder)["answers"] == 6


def test_results_are_waited_for(server, folder, monkeypatch):
    export(folder)
    submit(folder, progress=False)
    slept = []
    monkeypatch.setattr("time.sleep", lambda seconds: (slept.append(seconds), server.end()))
    assert all(one.fetched for one in fetch(folder, wait=True, often=7, progress=False)) and slept == [7]
