"""An encoder behind an endpoint on the command line: built with, recorded, replayed, limited, estimated."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from chat_server import embedded
from test_key_secrecy import KEY
from tiny import files, tiny_dataset
from typer.testing import CliRunner

import workbench as wb
from workbench import tokens
from workbench.cli.app import app
from workbench.encoding import encoder
from workbench.errors import SettingError
from workbench.evaluation.estimate import estimate_build, estimate_run, exactly
from workbench.index import Index
from workbench.index.facts import fact_text

PAID = "text-embedding-3-small"
QUESTION = "Which lake does the river at Orsby flow into?"


@pytest.fixture
def workbench(monkeypatch, tmp_path):
    """A call of the command line, without the cache of encoders that another call filled."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))

    def call(*words, code=0):
        wb.encoding._asking.cache_clear()
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


@pytest.fixture
def town(tmp_path):
    wb.write_folder(tiny_dataset(), tmp_path / "town")
    return tmp_path / "town"


def wide(asked):
    return embedded(asked, dimension=asked.get("dimensions") or 1536)


def asked_for(server) -> list[str]:
    return [text for asked in server.seen for text in asked["input"]]


def compared() -> str:
    """The passage by which an index that is opened knows its encoder."""
    return min((one.content for one in tiny_dataset().passages), key=len)


def same(folder) -> dict[str, bytes]:
    return {name: content for name, content in files(folder).items() if not name.endswith((".lock", "timings.jsonl"))}


def test_an_index_is_built_asked_and_evaluated_and_all_of_it_replayed(serve, workbench, town, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server, file = serve(wide), tmp_path / "v.sqlite"
    spec, record = f"openai:{PAID}@{server.url}", ("--record", file)
    questions = ("-q", town / "questions.jsonl", "-m", "dense")
    built = workbench("index", town, "-o", tmp_path / "live", "--encoder", spec, *record)
    assert f"Encoded with openai:{PAID}[max_tokens=8191]: Meter(" in built.output and "$0.0" in built.output
    at = ("--encoder", spec)
    asked = workbench("ask", tmp_path / "live", QUESTION, "-m", "dense", *at, "--json", *record).stdout
    done = workbench("evaluate", tmp_path / "live", *questions, *at, "-o", tmp_path / "run", *record)
    assert "Encoded with openai:" in done.output
    twice = {text: times for text, times in Counter(asked_for(server)).items() if times > 1}
    assert twice == {compared(): 3}, "nothing but what ask and evaluate compare"
    server.stop()
    monkeypatch.delenv("OPENAI_API_KEY")
    replay, given = ("--replay", file), ("--encoder", f"openai:{PAID}")
    workbench("index", town, "-o", tmp_path / "again", *given, *replay)
    assert same(tmp_path / "again") == same(tmp_path / "live")
    assert workbench("ask", tmp_path / "again", QUESTION, "-m", "dense", "--json", *replay).stdout == asked
    workbench("evaluate", tmp_path / "again", *questions, "-o", tmp_path / "rerun", *replay)
    assert same(tmp_path / "rerun") == same(tmp_path / "run")
    assert not [name for name, content in files(tmp_path).items() if KEY.encode() in content]
    assert not [name for name, content in files(tmp_path).items() if server.host.encode() in content]


def test_an_index_is_asked_at_another_address_and_by_no_other_encoder(serve, workbench, town, tmp_path):
    servers = [serve(embedded), serve(embedded)]
    workbench("index", town, "-o", tmp_path / "index", "--encoder", f"openai:m@{servers[0].url}")
    words = ("ask", tmp_path / "index", QUESTION, "-m", "dense", "-r", "none", "--json", "--encoder")
    found = json.loads(workbench(*words, f"openai:m@{servers[1].url}").stdout)
    assert len(found["passages"]) == 8 and asked_for(servers[1]) == [QUESTION, compared()]
    assert "was encoded by 'openai:m', not by" in workbench(*words, "minilm", code=1).stderr.replace("\n", " ")
    grid = ("grid", tmp_path / "index", "-q", town / "questions.jsonl", "-m", "dense", "-o", tmp_path / "grid")
    workbench(*grid, "--encoder", f"openai:m@{servers[1].url}")


def test_offline_reaches_the_encoder(workbench, town, tmp_path, monkeypatch):
    asked = []

    def load(*model, offline, **given):
        asked.append(offline)
        raise SettingError("not here")

    monkeypatch.setattr("workbench.encoding.models.load", load)
    words = ("index", town, "-o", tmp_path / "index", "--encoder", "facebook/contriever")
    assert "not here" in workbench(*words, "--offline", code=1).stderr
    workbench(*words, code=1)
    assert asked == [True, None]


# -- estimates --------------------------------------------------------------------------------------------------------


def test_a_build_is_estimated_without_a_request_or_a_key_and_takes_what_is_said(serve, make_encoder, tmp_path):
    data = tiny_dataset()
    found = estimate_build(data, "rules", encoder=f"openai:{PAID}")
    server = serve(wide)
    one = make_encoder(server)
    index = Index.build(data, None, tmp_path / "index", encoder=one, progress=False)
    (cost,) = [cost for cost in found.costs if cost.part == "encoding"]
    texts = {*index.facts.phrases, *map(fact_text, index.facts.facts), *(one.content for one in data.passages)}
    size = sum(map(tokens.count, texts))
    assert cost.prompt_tokens == exactly(size) and cost.calls == exactly(1)
    assert cost.money.value == pytest.approx(size * 0.02 / 1e6)
    assert cost.seconds is None and found.total.seconds is None
    assert f"openai:{PAID}" in repr(found) and "how long the endpoint takes" in repr(found)
    again = estimate_build(data, "rules", folder=tmp_path / "index", encoder=one)
    assert again.total.prompt_tokens == exactly(0) and again.total.money == exactly(0)


@pytest.fixture
def make_encoder():
    return lambda server, model=PAID, **options: encoder(f"openai:{model}@{server.url}", attempts=1, **options)


def test_a_run_is_estimated_with_the_vectors_of_its_questions(serve, make_encoder, tmp_path):
    data, server = tiny_dataset(), serve(wide)
    index = Index.build(data, None, tmp_path / "index", encoder=make_encoder(server), progress=False)
    server.seen.clear()
    found = estimate_run(data.questions, [wb.method("dense", index)], sample=1)
    assert len(asked_for(server)) == 1, "only what the sample asks"
    (cost,) = [cost for cost in found.costs if cost.part == "encoding"]
    assert cost.calls.value == 3 and cost.prompt_tokens.value == 3 * len(asked_for(server)[0].split())
