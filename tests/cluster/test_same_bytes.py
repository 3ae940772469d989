"""Indexes and runs that two workers made have the bytes of those made in one process, also if a worker is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from itertools import count
from pathlib import Path

import pytest
from chat_server import by_schema, completion, question
from planted import planted
from tiny import TinyEncoder, files

import workbench as wb
from workbench.data import Dataset
from workbench.errors import BudgetSpent, EngineRefused
from workbench.evaluation import sums
from workbench.index import Index, summaries, vectors
from workbench.llm.meter import Budget
from workbench.llm.record import Recording
from workbench.records import Passage, Question, Triple
from workbench.spread import over

NAMES = ("Orsby", "Quell", "Tarn Hall", "Lake Mira", "Aldra", "Nora Whitlock", "Fenwick")


def data(passages: int = 64) -> Dataset:
    texts = (f"{NAMES[at % 7]} {at} lies near {NAMES[at * 3 % 7]} {at // 2}." for at in range(passages))
    made = [Passage(f"p{at}", f"{NAMES[at % 7]} {at}", text) for at, text in enumerate(texts)]
    asked = [Question(f"q{at}", f"What lies near {NAMES[at % 7]} {at}?", ("Orsby",), "bridge", 2) for at in range(12)]
    return Dataset("made", tuple(made), tuple(asked))


def answer(asked: dict):
    """Names and triples that depend on the passage alone; otherwise whatever fits the schema."""
    properties = asked["response_format"]["json_schema"]["schema"]["properties"] if "response_format" in asked else {}
    names = list(dict.fromkeys(re.findall(rf"(?:{'|'.join(NAMES)}) \d+", question(asked))))
    if "named_entities" in properties:
        return completion(json.dumps({"named_entities": names}))
    if "triples" in properties:
        return completion(json.dumps({"triples": [[names[0], "lies near", one] for one in names[1:]]}))
    return by_schema(asked) if properties else completion("Thought: it is said.\nAnswer: Orsby")


def killing(cluster, at: int):
    """Answers that kill a worker while the request with this number is under way."""
    seen, lock = count(1), threading.Lock()

    def killing_answer(asked: dict):
        with lock:
            if next(seen) == at:
                os.kill(cluster.pids[0], signal.SIGKILL)
        return answer(asked)

    return killing_answer


def build(folder: Path, server, cluster=None, **options) -> Index:
    engine = wb.engine(f"openai:m@{server.url}", attempts=1, **options)
    with over(cluster):
        return Index.build(data(), engine, folder, encoder=TinyEncoder(), progress=False)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(vectors, "BLOCK_CHARACTERS", 500)


def contents(folder: Path) -> dict[str, bytes]:
    left_out = ("timings.jsonl", "before")
    return {name: text for name, text in files(folder).items() if not name.endswith(left_out)}


def recorded(path: Path) -> list[tuple]:
    return Recording(path)._connection.execute("SELECT key, request, reply, good FROM replies ORDER BY key").fetchall()


def test_an_index_with_a_killed_worker(two, serve, tmp_path, small_blocks):
    one = build(tmp_path / "one", serve(answer), record=str(tmp_path / "one.sqlite"))
    server = serve(killing(two, at=60))
    engine = wb.engine(f"openai:m@{server.url}", attempts=1, record=str(tmp_path / "two.sqlite"))
    other = Index.build(data(), engine, tmp_path / "two", encoder=TinyEncoder(), cluster=two, progress=False)
    assert len(other.extractions.records) == 64 and len(other.facts.facts) > 40
    assert contents(one.folder) == contents(other.folder)
    assert recorded(tmp_path / "one.sqlite") == recorded(tmp_path / "two.sqlite")
    assert 128 <= len(server.seen) <= 128 + 16  # nothing was lost but the piece of that worker
    assert engine.meter.total.calls == 128 == sum(one.usage.calls for one in other.usage.spent)


def test_a_graph_of_triples_without_passages(two, tmp_path):
    stated = tuple(Triple(f"{NAMES[at % 7]} {at}", "lies near", f"{NAMES[at * 3 % 7]} {at // 2}") for at in range(60))
    graph = Dataset("graph", (), triples=stated)
    for name, cluster in (("one", None), ("two", two)):
        Index.build(graph, wb.engine("rules"), tmp_path / name, encoder=TinyEncoder(), cluster=cluster, progress=False)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_tree_of_summaries(two, tmp_path, monkeypatch):
    """This process parts a level once; the parts, and the clusters that are too long, are clustered by workers."""
    parted, parting = [], summaries._parted
    monkeypatch.setattr(summaries, "_parted", lambda *given: parted.append(given) or parting(*given))
    chosen = {"summaries": {"reduction": "pca", "dimension": 3, "components": 6, "cluster_tokens": 60, "levels": 2}}
    given = {"encoder": TinyEncoder(), "layers": ["summaries"], "settings": chosen, "progress": False}
    times = {}
    for name, cluster in (("one", None), ("two", two)):
        Index.build(planted(), wb.engine("rules"), tmp_path / name, cluster=cluster, **given)
        times[name] = len(parted) - sum(times.values())
    assert times["one"] > times["two"] == 2
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def evaluated(index: Index, engine, out: Path, cluster=None, **given):
    methods = [wb.method("bdtr[backbone=dense]", index, engine), wb.method("bm25", index, engine)]
    reader = wb.reader("direct[k=3]", engine)
    asked = data().questions
    return wb.evaluate(asked, methods, reader, out, cluster=cluster, workers=3, progress=False, **given)


@pytest.fixture
def index(tmp_path) -> Index:
    return Index.build(data(), wb.engine("rules"), tmp_path / "index", encoder=TinyEncoder(), progress=False)


def test_a_run_with_a_killed_worker(two, index, serve, tmp_path):
    server = serve(answer)
    engine = wb.engine(f"openai:m@{server.url}", attempts=1, record=tmp_path / "one.sqlite")
    one = evaluated(index, engine, tmp_path / "one", repeats=2)
    calls = len(server.seen)
    server.answer, before = killing(two, at=30), two.pids
    again = wb.engine(f"openai:m@{server.url}", attempts=1, record=tmp_path / "two.sqlite")
    other = evaluated(index, again, tmp_path / "two", two, repeats=2)
    assert contents(one.folder) == contents(other.folder)
    assert len(one.rows) == 24 and not any(row["failure"] for row in one.rows)
    assert again.meter.total.calls == engine.meter.total.calls == calls
    assert before[0] not in two.pids  # the worker is dead, and some of its rows were asked again
    assert 2 * calls <= len(server.seen) <= 2 * calls + 3 * 9


def test_a_grid(two, index, tmp_path):
    def made(out: Path, cluster=None):
        methods = [wb.method("dense", index), wb.method("bm25", index)]
        asked = data().questions[:4]
        return wb.grid(asked, methods, ["direct", "direct[k=1]"], out, cluster=cluster, progress=False)

    one, other = made(tmp_path / "one"), made(tmp_path / "two", two)
    without = {name for name in contents(one.folder) if not name.endswith(".seconds")}
    assert {name: contents(one.folder)[name] for name in without} == {
        name: text for name, text in contents(other.folder).items() if not name.endswith(".seconds")
    }


def test_a_refused_key_stops_the_run_and_keeps_what_is_done(two, index, serve, tmp_path):
    def refusing(asked: dict):
        tenth = any("near Tarn Hall 9?" in message["content"] for message in asked["messages"])
        return (401, {}, {"error": {"message": "no"}}) if tenth else answer(asked)

    server = serve(refusing)
    with pytest.raises(EngineRefused, match="the endpoint refuses the key"):
        evaluated(index, wb.engine(f"openai:m@{server.url}", attempts=1), tmp_path / "run", two)
    begun = (tmp_path / "run" / "results.jsonl").read_text().count("\n")
    server.answer = answer
    done = evaluated(index, wb.engine(f"openai:m@{server.url}", attempts=1), tmp_path / "run", two)
    whole = evaluated(index, wb.engine(f"openai:m@{server.url}", attempts=1), tmp_path / "whole")
    assert (begun, len(done.rows)) == (18, 24)  # the rows before it, of two methods
    assert contents(done.folder) == contents(whole.folder)


def test_calls_never_exceed_their_limit(two, index, serve, tmp_path):
    server = serve(answer)

    def limited(calls: int):
        budget = Budget(max_calls=calls)
        return wb.engine(f"openai:m@{server.url}", attempts=1, budget=budget, record=str(tmp_path / "r.sqlite"))

    with pytest.raises(BudgetSpent, match=r"^max_calls=20 is used up: .* 20 calls of 20"):
        evaluated(index, limited(20), tmp_path / "run", two)
    assert 15 <= len(server.seen) <= 20
    before = len(server.seen)
    done = evaluated(index, limited(1_000), tmp_path / "run", two)
    assert len(done.rows) == 24
    server.seen.clear()
    evaluated(index, wb.engine(f"openai:m@{server.url}", attempts=1, record=tmp_path / "w.sqlite"), tmp_path / "whole")
    assert before < len(server.seen)  # a run takes more than the limit
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_nothing_is_asked_that_a_recording_holds(two, index, serve, tmp_path):
    server = serve(answer)
    given = {"attempts": 1, "record": str(tmp_path / "r.sqlite")}
    evaluated(index, wb.engine(f"openai:m@{server.url}", **given), tmp_path / "one")
    server.seen.clear()
    evaluated(index, wb.engine(f"openai:m@{server.url}", **given), tmp_path / "two", two)
    assert not server.seen
    replayed = wb.engine(f"replay:{tmp_path / 'r.sqlite'}")
    evaluated(index, replayed, tmp_path / "three", two)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


def test_rows_that_a_worker_lost_are_asked_again_when_the_run_is_resumed(two, index, tmp_path):
    one = evaluated(index, wb.engine("rules"), tmp_path / "one", two)
    path = tmp_path / "one" / "results.jsonl"
    whole = path.read_text()
    path.write_text("\n".join(whole.split("\n")[:9]) + "\n")
    (tmp_path / "one" / "checksums.json").unlink()  # as in a run that was stopped
    evaluated(index, wb.engine("rules"), tmp_path / "one", two)
    assert path.read_text() == whole and len(one.rows) == 24
    assert list(sums.by_cell(path)) == [sums.cell_of(row) for row in one.rows]
