"""What is sent to workers: never a key or a login, and in place of what is heavy, what it is made of."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from tiny import TinyEngine

import workbench as wb
from workbench.cluster import piece
from workbench.cluster.hands import WorkerSetup
from workbench.cluster.piece import THREADS, check, conditions
from workbench.errors import ClusterFault, IndexFault, SettingError
from workbench.evaluation.plan import Plan
from workbench.index.store import map_vectors
from workbench.llm.meter import Budget

KEY = "sk-test-SECRET-4f9a81c2d7"
URL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr(piece, "_cache", type(piece._cache)())
    monkeypatch.setattr(piece, "_made", {})


def plan(index, engine, **settings) -> Plan:
    methods = {one.label: one for one in (wb.method("bdtr[backbone=dense]", index, engine), wb.method("bm25", index))}
    return Plan.of(methods, wb.reader("direct[k=3]", engine), ["recall@5", "em"], judge=engine, k=5)


def test_the_key_is_in_no_task(tiny_index, tmp_path):
    asked = wb.engine(f"openai:m@{URL}", record=str(tmp_path / "r.sqlite"), budget=Budget(max_calls=3))
    hands = WorkerSetup(plan(tiny_index, asked).ask_job)
    assert b"recall@5" in hands.packed.content
    whole = pickle.dumps(hands.packed)
    assert KEY.encode() not in whole and b"Bearer" not in whole
    assert [one for one in hands.engines.values() if one.name != "rules"] == [asked] and hands.budgets == [asked.budget]


def test_no_key_that_was_passed_in_is_sent(tiny_index):
    with pytest.raises(SettingError, match="was passed as api_key=…, and keys are never sent to workers") as refused:
        WorkerSetup(plan(tiny_index, wb.engine(f"openai:m@{URL}", api_key=KEY)).ask_job)
    assert KEY not in str(refused.value)


def test_no_login_is_sent(tiny_index, monkeypatch):
    login = "http://user:hunter2-Passw0rd@127.0.0.1:9/v1"
    with pytest.raises(SettingError, match="holds a login, and logins are never sent") as refused:
        WorkerSetup(plan(tiny_index, wb.engine(f"openai:m@{login}")).ask_job)
    assert "hunter2" not in str(refused.value)
    monkeypatch.setenv("OPENAI_BASE_URL", login)
    assert b"hunter2" not in WorkerSetup(plan(tiny_index, wb.engine("openai:m")).ask_job).packed.content


def test_work_that_holds_the_key_is_refused():
    with pytest.raises(ClusterFault, match="the work contains the key in OPENAI_API_KEY"):
        WorkerSetup(partial(str.count, f"Bearer {KEY}"))


def test_an_engine_of_ones_own_is_refused(tiny_index):
    with pytest.raises(SettingError, match="'tiny' was not made from a SPEC"):
        WorkerSetup(plan(tiny_index, TinyEngine()).ask_job)


def test_a_plan_is_made_again_from_what_is_sent(tiny_index, tiny, monkeypatch):
    here = plan(tiny_index, wb.engine("rules"))
    monkeypatch.chdir(tiny_index.folder.parent)
    packed = WorkerSetup(here.ask_job).packed
    assert tiny.passages[0].text.encode() not in packed.content
    there = piece.run(packed, (tiny.questions[0], "bm25")).value
    row = here.ask(tiny.questions[0], "bm25").row
    assert there.row == row and there.trace is not None


def test_another_index_in_the_folder_is_noticed(tiny_index, tiny):
    packed = WorkerSetup(plan(tiny_index, wb.engine("rules")).ask_job).packed
    tiny_index.delete(["p8"], progress=False)
    error = piece.run(packed, (tiny.questions[0], "bm25")).error
    assert isinstance(error, IndexFault) and "find different indexes in" in str(error)


def test_vectors_on_disk_are_sent_by_their_path(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(20_000, dtype=np.float32).reshape(100, 200))
    vectors = map_vectors(tmp_path / "v.npy")
    whole, part = (WorkerSetup(partial(np.add, one)).packed.content for one in (vectors, vectors[50:]))
    assert len(whole) < 1_000 and len(part) > 40_000  # the view of a file is no file
    for content, expected in ((whole, vectors), (part, vectors[50:])):
        assert np.array_equal(pickle.loads(content).args[0], expected)


def test_other_versions_are_refused(monkeypatch):
    asked = conditions()
    check(asked)
    with pytest.raises(ClusterFault, match=r"another version of numpy \(.*\) than the process that asks \(0.1\)"):
        check({**asked, "numpy": "0.1"})
    monkeypatch.setenv("WORKBENCH_THREADS", "1")
    check({**asked, THREADS: "3"})  # the last bits of vectors depend on it
    assert conditions()[THREADS] == "3"
