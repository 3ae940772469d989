"""Batches end to end, on the command line: round by round, until the index and the run have the bytes of those that
asked one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from batches import answered, requests_of
from chat_server import ChatServer, by_schema, completion
from towns import write_town
from typer.testing import CliRunner, Result

from workbench.cli.app import app

MODEL = "openai:test-model"
METHODS = ["-m", "hipporag2", "-m", "ircot", "-m", "bm25", "-r", "direct"]
NOT_THE_SAME = ("timings.jsonl", "usage.jsonl", ".lock")  # seconds of this machine


def answer(asked: dict):
    """By schema, else prose that every Step reads as something."""
    return by_schema(asked) if "response_format" in asked else completion("Karl Weiss built it.\nAnswer: Karl Weiss")


@pytest.fixture
def town(tmp_path) -> Path:
    return write_town(tmp_path / "town", 4)


def workbench(*words: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, (result.output, result.exception)
    return result


def commands(town: Path, to: Path, engine: str) -> list[list[str]]:
    """An index with layers that a model writes in several rounds, and an evaluation with a method that does."""
    layers = "passages,facts,synonyms,summaries"
    index = ["index", town, "-o", to / "index", "--layers", layers, "-e", engine]
    evaluate = ["evaluate", to / "index", "-q", town / "questions.jsonl", *METHODS, "-e", engine, "-o", to / "run"]
    return [list(map(str, words)) for words in (index, evaluate)]


def rounds(folder: Path, command: list[str]) -> Iterator[int]:
    """How many requests each round has, and import their results."""
    for _ in count():
        said = json.loads(workbench("batch", "export", "--json", folder, *command).stdout)
        if not said["requests"]:
            return
        results = answered(folder / "results.jsonl", requests_of(folder, said["round"]), answer)
        workbench("batch", "import", folder, results)
        yield said["requests"]


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in NOT_THE_SAME)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_rounds_end_with_the_bytes_of_asking_one_by_one(town, tmp_path, serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test-0123")
    server: ChatServer = serve(answer)
    for command in commands(town, tmp_path / "live", f"{MODEL}@{server.url}"):
        workbench(*command, "--record", tmp_path / "live.sqlite")
    asked = len(server.seen)
    monkeypatch.delenv("OPENAI_API_KEY")

    folder = tmp_path / "batch"
    exported = [list(rounds(folder, command)) for command in commands(town, tmp_path / "batched", MODEL)]

    assert len(server.seen) == asked  # nothing was asked but in batches
    assert [len(one) >= 2 for one in exported] == [True, True], exported
    live, batched = contents(tmp_path / "live"), contents(tmp_path / "batched")
    assert live.keys() == batched.keys()
    assert [name for name in live if live[name] != batched[name]] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["index", "TOWN", "-e", "rules"], "index asks no endpoint here"),
        ([], "name one"),
        (["bundle", "runs"], "name one"),
        (["index", "TOWN", "-e", MODEL, "--record", "a.sqlite"], "comes after the verb"),
        (["index", "NOWHERE", "-e", MODEL], "NOWHERE"),
    ],
)
def test_what_cannot_be_exported_is_said_and_writes_no_round(town, tmp_path, monkeypatch, words, said):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    given = [town if word == "TOWN" else word for word in words]
    result = workbench("batch", "export", tmp_path / "batch", *given, code=1)
    assert said in " ".join(result.stderr.split())
    assert not (tmp_path / "batch" / "batch.json").exists()
