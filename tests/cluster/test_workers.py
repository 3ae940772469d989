"""Pieces on the workers of a real scheduler: their order, their errors, workers that die, and the end of it all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import psutil
import pytest
import works

from workbench.cluster import Cluster, workers
from workbench.errors import ClusterFault, DataError, SettingError
from workbench.spread import over, processes, spread


def test_results_come_in_order_from_several_processes(two):
    with over(two):
        found = list(spread(range(24), works.of_process, side=2))
        assert processes() == 2
    assert [number for number, _ in found] == list(range(24))
    assert len({pid for _, pid in found} - {os.getpid()}) == 2


def test_workers_leave_ctrl_c_to_the_process_that_they_work_for(two):
    """From their first moment: what is blocked is inherited, and Python would show a traceback while it starts."""
    assert works.hears_interrupts(0) and not any(two.spread(range(4), works.hears_interrupts))


def test_a_later_piece_waits_for_an_earlier_one(two):
    with over(two):
        assert list(spread(range(8), works.late, side=4)) == list(range(8))


def test_without_a_cluster_everything_is_done_here():
    assert [pid for _, pid in spread(range(3), works.of_process)] == [os.getpid()] * 3
    assert processes() == 1


@pytest.mark.parametrize("spread_over", ["here", "two"])
def test_an_error_comes_in_its_place(two, spread_over):
    with over(None if spread_over == "here" else two):
        results = spread(range(9), works.failing)
        assert [next(results) for _ in range(5)] == list(range(5))
        with pytest.raises(DataError, match=r"^piece 5 is damaged; delete it$"):
            next(results)


def test_an_error_that_cannot_travel_says_what_it_was(two):
    with over(two), pytest.raises(ClusterFault, match=r"^Odd: 0 and 0$"):
        list(spread([0], works.oddly))


def test_a_killed_worker_costs_its_own_piece_alone(two, tmp_path):
    mark = tmp_path / "killed"
    with over(two):
        assert list(spread([(number, mark) for number in range(8)], works.deadly_once)) == list(range(8))
    assert mark.exists()
    _until(lambda: two.processes == 2)  # Dask starts another in its place


def test_results_that_a_killed_worker_held_are_made_again(two):
    with over(two):
        results = spread(range(8), works.of_process)
        found = [next(results)[0]]
        _until(lambda: not any(two.client.processing().values()))  # the next ones have ended as well, and are not taken
        before = set(two.pids)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        _until(lambda: two.processes == 2 and before.isdisjoint(two.pids))
        assert found + [number for number, _ in results] == list(range(8))


@pytest.mark.timeout(120)
def test_pieces_that_no_worker_begins_are_an_error(two, monkeypatch):
    monkeypatch.setattr(two.client, "submit", partial(two.client.submit, resources={"what no worker has": 1}))
    monkeypatch.setattr(two, "patience", 0.0)
    monkeypatch.setattr(workers, "STEP", 0.1)
    with over(two), pytest.raises(ClusterFault, match="have begun none of 3 pieces for 0 s, and are idle"):
        list(spread(range(3), works.squared))


@pytest.mark.timeout(120)
def test_pieces_that_got_lost_are_begun_again(two, monkeypatch):
    submit, lost = two.client.submit, []

    def losing(*given, **named):
        lost.append(named["key"])
        return submit(*given, **named, **({"resources": {"what no worker has": 1}} if len(lost) <= 2 else {}))

    monkeypatch.setattr(two.client, "submit", losing)
    monkeypatch.setattr(two, "patience", 0.4)
    monkeypatch.setattr(workers, "STEP", 0.1)
    with over(two):
        assert list(spread(range(6), works.squared)) == [0, 1, 4, 9, 16, 25]
    assert len(lost) > 6


@pytest.mark.timeout(120)
def test_a_worker_that_stands_still_keeps_nobody_waiting(two, monkeypatch, tmp_path):
    """Whether it is idle is asked of it as well. Its pieces are done by another once it is ended."""
    mark, asked = tmp_path / "still", []
    monkeypatch.setattr(two, "patience", 0.4)
    monkeypatch.setattr(workers, "ANSWERING", 0.5)

    def end() -> None:
        _until(mark.exists)
        started = time.monotonic()
        asked.append((two.is_idle, time.monotonic() - started))
        os.kill(int(mark.read_text()), signal.SIGKILL)

    ended = threading.Thread(target=end)
    ended.start()
    with over(two):
        assert list(spread([(number, mark) for number in range(40)], works.still_once)) == list(range(40))
    ended.join()
    ((idle, seconds),) = asked
    assert not idle and seconds < 5


def test_workers_are_not_profiled(two):
    """Python 3.11 can stop for ever where the profiler looks at its threads."""
    assert not any(two.client.run(works.is_profiled).values())


def test_a_piece_that_kills_workers_is_an_error(two, monkeypatch):
    monkeypatch.setattr(two._own.scheduler, "allowed_failures", 0)
    with over(two), pytest.raises(ClusterFault, match=r"^piece \d .* when they died"):
        list(spread(range(4), works.deadly))
    with over(two):
        assert list(spread(range(4), works.squared)) == [0, 1, 4, 9]


def test_ctrl_c_ends_the_local_processes():
    before = set(psutil.Process().children(recursive=True))
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), over("local[1]"):
        started = {one for one in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(one.cmdline())}
        timer.start()
        list(spread(range(3), works.asleep))
    assert started - before
    assert not [one for one in started - before if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_a_cluster_without_workers_is_told(monkeypatch):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as empty,
        Cluster.open(empty.scheduler_address) as cluster,
    ):
        cluster.patience = 0.0
        monkeypatch.setattr(workers, "STEP", 0.1)
        with over(cluster), pytest.raises(ClusterFault, match="has had no worker for 0 s; start some"):
            list(spread(range(3), works.squared))


def test_a_scheduler_is_reached_by_its_address_and_stays():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as there:
        for _ in range(2):
            with over(there.scheduler_address):
                assert list(spread(range(3), works.squared)) == [0, 1, 4]


def test_a_process_without_another_client_reaches_a_scheduler():
    distributed = pytest.importorskip("distributed")
    code = "from workbench.spread import over, spread\nwith over({!r}): print(list(spread(['a', 'bc'], len)))"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as there:
        done = subprocess.run(
            [sys.executable, "-c", code.format(there.scheduler_address)], text=True, capture_output=True, timeout=120,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[1, 2]\n"), done.stderr


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(workers, "CONNECTING", 0.3)
    with pytest.raises(ClusterFault, match=r"no Dask scheduler answers at tcp://127.0.0.1:1 within 0.3 s"):
        Cluster.open("tcp://127.0.0.1:1")


@pytest.mark.parametrize("spec", ["lokal[2]", "local[0]", "local[two]", "", "127.0.0.1:8786"])
def test_a_spec_that_names_no_cluster(spec):
    with pytest.raises(SettingError, match=r"the cluster .*; write local"):
        Cluster.open(spec)


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterFault, match=r'pip install "hopscope\[cluster\]"'):
        Cluster.open("local[2]")


def _until(holds, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
