"""Recordings: what was answered is kept, a replay needs no server, and only good answers count."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from chat_server import by_schema, completion, error, question
from small_steps import BOOK, NAMES, SAID

from workbench.errors import EngineError, RecordingMiss, SettingError
from workbench.llm import engine
from workbench.llm.call import CallFailed, Reply, Request
from workbench.llm.meter import collect
from workbench.llm.record import DAY, Recording, export, noted, recording, replaying, stored, used
from workbench.trace import Trace

SKY = ({"role": "user", "content": "Name the stars of the sky."},)
REQUEST = Request("names", "openai:m", SKY, NAMES.schema, 0.0, 512)
GOOD, BAD = Reply('["Vega"]', prompt_tokens=2), Reply("no")


@pytest.fixture
def store(tmp_path):
    store = Recording(tmp_path / "run.sqlite")
    yield store
    store.close()


# -- record, then replay ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [NAMES, BOOK, SAID], ids=lambda step: step.name)
def test_a_replay_gives_the_same_results_without_a_server(step, serve, ask, tmp_path):
    """A published run can be looked at by anybody, without a key and with the same bytes."""
    server = serve(lambda asked: completion("Answer: x \ud83d\u2028") if step is SAID else by_schema(asked))
    record, inputs = tmp_path / "run.sqlite", ["Ada", "\ud800 Bo", "naïve 名 \x00"]
    recorded = ask(server, record=record, seed=0).run(step, inputs)
    server.stop()
    replay, trace = engine(f"replay:{record}"), Trace()
    assert replay.run(step, inputs, trace=trace) == recorded
    assert not any(result.failure for result in recorded)
    assert replay.name == "openai:test-model" and trace[0].inputs["engine"] == "openai:test-model"


@pytest.mark.parametrize("later", [(BAD, False), (Reply('["Deneb"]'), True)], ids=["bad", "good"])
def test_a_good_answer_is_never_replaced(later, store):
    """Two runs may write into one file; what the first has read must stay what a replay reads."""
    store.put(REQUEST, BAD, good=False)
    store.put(REQUEST, GOOD, good=True)
    store.put(REQUEST, *later)
    assert store.get(REQUEST) == replace(GOOD, recorded=True)


@pytest.mark.parametrize("text", ["\x00", "\ud800", "名 \U0001f600 \u2028", "'; DROP TABLE replies", "x" * 999_999])
def test_any_text_is_kept_as_it_was(text, store):
    store.put(REQUEST, Reply(text), good=True)
    assert store.get(REQUEST).text == text


@pytest.mark.parametrize(
    "bad",
    [completion("no JSON"), completion(""), completion('["x"', finish="length"), error(400, "long"), error(503)],
    ids=str,
)
def test_what_went_wrong_is_replayed_as_it_was(bad, serve, ask, tmp_path):
    """A replay that asked again, or stopped, would be another run."""
    record = tmp_path / "run.sqlite"
    live = ask(serve(lambda asked: bad if question(asked) == "b" else by_schema(asked)), record=record)
    recorded, replay = live.run(NAMES, ["a", "b"]), engine(f"replay:{record}")
    assert replay.run(NAMES, ["a", "b"]) == recorded
    assert recorded[1].failure or recorded[1].parse == "cut"
    assert replay.meter.as_dict(seconds=False) == live.meter.as_dict(seconds=False)


def test_a_replay_says_that_it_cost_nothing_now(serve, ask, tmp_path):
    """Tokens and money are those of the answers, so that rows are the same; what was paid is told beside."""
    record = tmp_path / "run.sqlite"
    live = ask(serve(lambda asked: error(400) if question(asked) == "b" else by_schema(asked)), record=record)
    live.run(NAMES, ["a", "b"])
    replay = engine(f"replay:{record}")
    replay.run(NAMES, ["a", "b"])
    assert (live.meter.total.recorded, replay.meter.total.recorded) == (0, 2)
    assert replay.meter.total == live.meter.total
    assert "2 from a recording, which cost nothing now" in repr(replay) and "recording" not in repr(live)


def test_a_recording_says_what_it_holds(store):
    cut = replace(GOOD, finish="length")
    for number, (reply, good) in enumerate([(GOOD, True), (cut, True), (BAD, False), (CallFailed("HTTP 400"), False)]):
        store.put(replace(REQUEST, seed=number), reply, good)
    counts = {"answers": 2, "failures": 2, "cut": 1, "prompt_tokens": 4, "completion_tokens": 0}
    today = datetime.now(UTC).date().isoformat()
    assert store.summary() == [{"engine": "openai:m", "step": "names", **counts, "since": today}]


def aged(store: Recording, days: float, *, seed: int) -> None:
    store.put(replace(REQUEST, seed=seed), GOOD, good=True)
    at, key = int(time.time() - days * DAY), replace(REQUEST, seed=seed).key
    with store.transaction() as connection:
        connection.execute("UPDATE replies SET at = ? WHERE key = ?", (at, key))


def test_answers_are_forgotten_by_engine_and_by_age(store):
    """The time is no part of a request: an old answer is an answer as long as it is there."""
    for seed, days in enumerate((0, 10, 100)):
        aged(store, days, seed=seed)
    store.put(replace(REQUEST, engine="openai:n"), GOOD, good=True)
    assert store.get(replace(REQUEST, seed=2))
    assert [store.forget("openai:n", older=30), store.forget(older=30), store.forget(older=5)] == [0, 1, 1]
    assert [store.forget("openai:m"), len(store), store.forget()] == [1, 1, 1]


BEFORE = """CREATE TABLE replies (key TEXT PRIMARY KEY, step TEXT NOT NULL, engine TEXT NOT NULL, request TEXT NOT NULL,
    reply TEXT NOT NULL, good INTEGER NOT NULL)"""


@pytest.fixture
def earlier(tmp_path) -> Path:
    """A recording of format 2, whose replies have their checksum among their fields."""
    path = tmp_path / "earlier.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(BEFORE)
        reply = json.dumps({**stored(GOOD), "sum": "0badc0de"})
        row = (REQUEST.key, REQUEST.step, REQUEST.engine, json.dumps(REQUEST.content()), reply, 1)
        connection.execute("INSERT INTO replies VALUES (?,?,?,?,?,?)", row)
        connection.execute("PRAGMA user_version = 2")
    return path


def test_a_recording_of_an_earlier_version_is_read_as_it_is_and_brought_up_to_date_to_be_written(earlier):
    before = earlier.read_bytes()
    with closing(Recording(earlier, create=False)) as store:
        assert store.get(REQUEST) == replace(GOOD, recorded=True)
        assert (store.damaged(), store.summary()[0]["since"], earlier.read_bytes()) == ([], None, before)
    for _ in range(2):
        with closing(Recording(earlier)) as store:
            assert store.get(REQUEST) == replace(GOOD, recorded=True)
            store.put(replace(REQUEST, seed=1), GOOD, good=True)
            assert (store.forget(older=1), len(store), store.damaged()) == (0, 2, [])


# -- what an index or a run used --------------------------------------------------------------------------------------


def test_what_was_used_is_copied_into_a_recording_of_its_own(store, tmp_path):
    for seed in range(3):
        store.put(replace(REQUEST, seed=seed), GOOD, good=True)
    store.keep_window("openai:m", 4096)
    with collect() as usage:
        assert store.get(REQUEST) and store.get(replace(REQUEST, seed=1)) and not store.get(replace(REQUEST, seed=9))
    folder = tmp_path / "run"
    line = {"answers": noted(usage.answers, folder)}
    assert line == {"answers": {"../run.sqlite": sorted(replace(REQUEST, seed=seed).key for seed in range(2))}}
    recordings = used([line, {}], folder)
    assert recordings == usage.answers
    assert export(recordings, tmp_path / "shared.sqlite") == 2
    with closing(Recording(tmp_path / "shared.sqlite", create=False)) as shared:
        assert shared.get(REQUEST) and not shared.get(replace(REQUEST, seed=2)) and shared.window("openai:m") == 4096
    store.forget()
    with pytest.raises(EngineError, match=r"run\.sqlite does not hold 2 of the 2 answers any more"):
        export(recordings, tmp_path / "other.sqlite")
    assert not (tmp_path / "other.sqlite").exists()


# -- a miss -----------------------------------------------------------------------------------------------------------

OTHER_SKY = ({"role": "user", "content": "Name the stars of the seas."},)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"engine": "openai:n"}, "engine 'openai:m', asked 'openai:n'"),
        ({"temperature": 0.5}, r"temperature 0\.0, asked 0\.5"),
        ({"seed": 1, "max_tokens": 9}, "max_tokens 512, asked 9; seed 0, asked 1"),
        ({"messages": OTHER_SKY}, r"character 23 on: recorded 'ky\.', asked 'eas\.'"),
        ({"messages": ({"role": "system", "content": "Be brief."}, *REQUEST.messages)}, r"asked 'Be brief"),
        ({"schema": BOOK.schema}, "schema of its answer"),
        ({"step": "book"}, r"no answer of this Step at all \(2 of others\)"),
    ],
)
def test_a_miss_names_what_differs_from_the_nearest(change, said, store):
    """Whoever changes a prompt by a word must not have to guess why a replay ended."""
    store.put(REQUEST, GOOD, good=True)
    store.put(replace(REQUEST, messages=({"role": "user", "content": "Quite another thing"},)), GOOD, good=True)
    with pytest.raises(RecordingMiss, match=said):
        replaying(store)(replace(REQUEST, **change))


# -- many threads -----------------------------------------------------------------------------------------------------


def test_sixteen_threads_share_a_recording(store):
    """Each asks for requests of its own and for those of all others at once."""
    together = threading.Barrier(16)
    call = recording(lambda request: Reply(request.messages[0]["content"]), store)

    def work(thread: int) -> bool:
        together.wait(10)
        texts = [*map(str, range(20)), f"of thread {thread}"]
        return all(call(replace(REQUEST, messages=({"role": "user", "content": text},))).text == text for text in texts)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(16)))
    assert len(store) == 20 + 16


# -- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["replay:{}", "openai:m@http://127.0.0.1:9/v1"])
def test_a_file_that_is_no_recording_is_named(spec, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("no database " * 100)
    with pytest.raises(EngineError, match=r"notes\.txt is not a recording"):
        engine(spec.format(notes), **({} if spec.startswith("replay") else {"record": notes}))
    assert notes.read_text() == "no database " * 100


def test_a_recording_that_is_missing_says_how_to_make_one(tmp_path):
    with pytest.raises(EngineError, match=r"none\.sqlite does not exist.*record="):
        engine(f"replay:{tmp_path / 'none.sqlite'}")
    assert not (tmp_path / "none.sqlite").exists()


def test_a_recording_of_several_models_needs_one_named(store):
    for name in ("openai:m", "openai:n", "local:m#12345678"):
        store.put(replace(REQUEST, engine=name), GOOD, good=True)
    with pytest.raises(SettingError, match="local:m#12345678, openai:m, openai:n; say which one"):
        engine(f"replay:{store.path}")
    for spec, name in {
        "openai:n": "openai:n",
        "openai:m@http://127.0.0.1:9/v1": "openai:m",
        "local:/elsewhere/m.gguf[context=512]": "local:m#12345678",
        "local:m#12345678": "local:m#12345678",
    }.items():
        assert engine(f"replay:{store.path}", of=spec).name == name
    with pytest.raises(SettingError, match=r"not of openai:other"):
        engine(f"replay:{store.path}", of="openai:other")
