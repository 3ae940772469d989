"""The processes of a Dask cluster, and the pieces of work that they carry out.

Dask schedules, transfers, and starts a worker that died anew. A piece that was under way there is done again by
another, at most as often as the scheduler allows (`distributed.scheduler.allowed-failures`, 3 by default)."""

from __future__ import annotations

import logging
import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count, islice
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from workbench import errors, threads
from workbench.errors import BudgetSpent, ClusterFault, SettingError
from workbench.llm.meter import note_answer
from workbench.records import Record

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

    from workbench.cluster.allowance import Allowance
    from workbench.cluster.hands import WorkerSetup
    from workbench.cluster.piece import Outcome

THREADS = 64  # of a process of `local[n]`: the most pieces that it does side by side
AT_HAND = 2  # pieces per place that workers have at hand, so that none waits for the next one
AHEAD = 8  # pieces per place, those done included, that may wait for an earlier one
CONNECTING, CLOSING, PATIENCE = 10.0, 10.0, 60.0  # seconds: for a scheduler, for processes to end, without any worker
ANSWERING = 2.0  # seconds: for a worker to say what it does
RENEWALS = 3  # times that pieces which no worker does are begun again
STEP = 1.0  # seconds after which a wait looks whether the cluster is still there
ENDED = ("finished", "error", "cancelled")  # of a future; one that is lost, with its worker, is done again


class Cluster(Record):
    """An open cluster. `Cluster.open` makes or reaches one; `Cluster(client)` takes a `distributed.Client`, such as
    that of a `SLURMCluster`. `close`, or the end of a `with`, ends it; a scheduler that was there before stays."""

    def __init__(self, client: Client, *, own: LocalCluster | None = None, patience: float = PATIENCE):
        self.client, self.patience, self._own = client, patience, own
        self._threads: dict[str, int] = {}
        self._looked, self._seen = -math.inf, time.monotonic()

    @classmethod
    def open(cls, spec: str) -> Cluster:
        """`local[2]`: two processes on this machine, for as long as it is open; `tcp://host:8786` (or `tls://…`): a
        scheduler that is running. Raises :class:`SettingError` for another SPEC, :class:`ClusterFault` where nobody
        answers or Dask is not installed."""
        local = re.fullmatch(r"local(?:\[(\d+)\])?", spec)
        if local is None and not re.fullmatch(r"\w+://\S+", spec):
            raise SettingError(
                f"the cluster {spec!r} is unknown; write local[2] for two processes on this machine, or the address of "
                "a Dask scheduler, such as tcp://host:8786"
            )
        number = int(local[1] or threads.cores()) if local else 1
        if number < 1:
            raise SettingError(f"the cluster {spec!r} has no process; write local[1], local[2], …")
        errors.require_extra("cluster", ClusterFault)
        return _local(number) if local else _reached(spec)

    @property
    def address(self) -> str:
        """Where its scheduler listens."""
        return self.client.scheduler.address

    @property
    def processes(self) -> int:
        return len(self._workers())

    def close(self) -> None:
        """End the processes of `local[n]`; leave another cluster as it was. It does not wait longer than seconds."""
        pids = self.pids
        with _silent(), suppress(Exception):
            self.client.close(timeout=CLOSING)
        if self._own is not None:
            with _silent(), suppress(Exception):
                self._own.close(timeout=CLOSING)
            _end(pids)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        workers = self._workers()
        return f"Cluster({self.address}: {len(workers):,} workers, {sum(workers.values()):,} threads)"

    # -- pieces --------------------------------------------------------------------------------------------------------

    def spread(self, pieces: Iterable, work: Callable, side: int = 1) -> Iterator:
        """The results of `work` for the pieces, in their order; a process does `side` of them at a time.

        After an error no further piece is begun; those under way end, because their answers are paid for, and what they
        asked is counted and recorded. An interrupt ends at once."""
        from workbench.cluster.allowance import Allowance
        from workbench.cluster.hands import WorkerSetup

        setup = WorkerSetup(work)
        yield from _Spreading(self, setup, Allowance(setup.budgets), side).results(pieces)

    def places(self, side: int) -> int:
        """How many pieces are done at once."""
        return sum(min(side, threads) for threads in self._workers().values())

    def check(self) -> None:
        """Raise :class:`ClusterFault` if the scheduler is gone, or if there has been no worker for too long."""
        if self.client.status not in ("running", "connecting"):
            raise ClusterFault(
                f"the connection to the scheduler at {self.address} is lost; run the same again: what is done is kept"
            )
        if not self._workers() and time.monotonic() - self._seen > self.patience:
            raise ClusterFault(
                f"{self.address} has had no worker for {self.patience:g} s; start some (dask worker {self.address}), "
                "and run the same again: what is done is kept"
            )

    @property
    def is_idle(self) -> bool:
        """Whether there are workers, and none says that it is doing a piece, whatever the scheduler believes. One that
        says nothing may be doing one, until the scheduler gives it up."""
        from workbench.cluster.piece import under_way

        try:
            doing = self.client.run(under_way, on_error="ignore", callback_timeout=ANSWERING)
        except TimeoutError:
            return False
        return bool(doing) and not any(doing.values())

    def _workers(self) -> dict[str, int]:
        """Address → threads, as of a second ago."""
        now = time.monotonic()
        if now - self._looked > STEP:
            with suppress(OSError, TimeoutError):
                self._threads = dict(self.client.nthreads())
            self._looked = now
            self._seen = now if self._threads else self._seen
        return self._threads

    @property
    def pids(self) -> list[int]:
        """The processes of `local[n]`; none of another cluster."""
        nannies = getattr(self._own, "workers", {}).values()
        return [pid for nanny in nannies if (pid := getattr(nanny, "pid", None))]


class _Spreading:
    """The pieces of one call of `spread`, while they are done."""

    def __init__(self, cluster: Cluster, setup: WorkerSetup, allowance: Allowance, side: int):
        self.cluster, self.setup, self.allowance, self.side = cluster, setup, allowance, side
        self.running: dict[Future, int] = {}
        self.done: dict[int, Outcome] = {}
        self.pieces: dict[int, Any] = {}  # under way
        self.again: dict[
            int, Any
        ] = {}  # pieces to begin: the next one, and those whose share of a budget was too small
        self.answered: dict[int, dict[str, list]] = {}  # their answers so far
        self.name, self._attempts = f"hopscope-{uuid4().hex[:12]}", count()
        self._woken, self._quiet_since, self._found_idle = threading.Event(), time.monotonic(), False
        self._renewed = 0

    def results(self, pieces: Iterable) -> Iterator:
        left, following = enumerate(pieces), 0
        try:
            while True:
                self._submit(left)
                if following in self.done:
                    yield self._settled(self.done.pop(following))
                    following += 1
                elif not self.running:
                    return
                else:
                    self._wait()
        finally:
            for future in self.running:
                with suppress(Exception):
                    future.cancel()

    def _submit(self, left: Iterator[tuple[int, Any]]) -> None:
        """Submit pieces while there is room; none after a piece that failed."""
        places = max(1, self.cluster.places(self.side))
        while len(self.running) < AT_HAND * places:
            failed = min((number for number, outcome in self.done.items() if outcome.error), default=None)
            if not self.again and failed is None and len(self.done) + len(self.running) < AHEAD * places:
                self.again.update(islice(left, 1))
            number = min(self.again, default=None)
            if number is None or (failed is not None and number > failed):
                return
            if (shares := self.allowance.lend(number, AT_HAND * places)) is None:
                return
            self.pieces[number] = self.again.pop(number)
            future = self._begin(number, shares)
            self.running[future] = number
            future.add_done_callback(lambda _: self._woken.set())

    def _begin(self, number: int, shares: tuple) -> Future:
        from workbench.cluster.piece import run

        return self.cluster.client.submit(
            run, self.setup.packed, self.pieces[number], self.side, shares, self.answered.get(number, {}),
            key=f"{self.name}-{number}-{next(self._attempts)}", pure=False, priority=-number,
        )  # fmt: skip

    def _wait(self) -> None:
        """Take what has ended, or ends within a second. A future that was lost after it had ended wakes nobody when it
        is done again, so that the state of each is looked at."""
        self._woken.wait(STEP)
        self._woken.clear()
        self.cluster.check()
        ended = [future for future in self.running if future.status in ENDED]
        self._watch(bool(ended))
        for future in ended:
            if (outcome := self._outcome(future)) is not None:
                number = self.running.pop(future)
                future.release()
                self._take(number, outcome)

    def _watch(self, moved: bool) -> None:
        """Begin pieces again that got lost between the scheduler and a worker: nothing has ended for a while, and no
        worker is doing anything. It looks twice, since a result may be on its way. Raises :class:`ClusterFault` if
        nothing ends after that either."""
        now, patience = time.monotonic(), self.cluster.patience / (RENEWALS + 1)
        if moved:
            self._quiet_since, self._found_idle, self._renewed = now, False, 0
        elif now - self._quiet_since <= patience:
            return
        elif not self.cluster.is_idle:
            self._quiet_since, self._found_idle = now, False
        elif not self._found_idle:
            self._found_idle = True
        elif self._renewed < RENEWALS:
            self._quiet_since, self._found_idle, self._renewed = now, False, self._renewed + 1
            self._renew()
        else:
            raise ClusterFault(
                f"the workers of {self.cluster.address} have begun none of {len(self.running):,} pieces for "
                f"{self.cluster.patience:g} s, and are idle; start other workers, and run the same again: what is done "
                "is kept"
            )

    def _renew(self) -> None:
        for future, number in self.running.items():
            future.cancel()
            self.allowance.back(number)
            self.again[number] = self.pieces.pop(number)
        self.running.clear()
        self._submit(iter(()))

    def _outcome(self, future: Future) -> Outcome | None:
        """What a piece gave; None if the worker that held it is gone and it is done again."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            return future.result(timeout=CONNECTING)
        except TimeoutError:
            self.cluster.check()
            return None
        except KilledWorker as error:
            raise ClusterFault(
                f"piece {self.running[future] + 1:,} of the work was under way on several workers when they died, one "
                f"after the other ({error}); it may need more memory: run the same again on larger workers. What is "
                "done is kept"
            ) from None
        except FutureCancelledError as error:  # which a lost scheduler does
            self.cluster.check()
            raise ClusterFault(f"the cluster gave up pieces of the work: {error}; run the same again") from error
        except Exception as error:  # before the piece began: what it needs cannot be loaded there
            raise ClusterFault(
                f"a worker cannot do the work ({type(error).__name__}: {error}); install the same packages there as "
                "here"
            ) from error

    def _take(self, number: int, outcome: Outcome) -> None:
        """Keep an outcome until it is its turn. A piece whose part of a budget was spent is done again, while there is
        some left."""
        self.allowance.back(number, outcome.spent)
        piece = self.pieces.pop(number)
        if isinstance(outcome.error, BudgetSpent) and not self.allowance.is_spent:
            self._count(outcome)
            answered = self.answered.setdefault(number, {})
            for key, answer_rows in outcome.reports.items():
                answered.setdefault(key, []).extend(answer_rows.rows)
            self.again[number] = piece
            return
        self.answered.pop(number, None)
        self.done[number] = outcome

    def _settled(self, outcome: Outcome) -> Any:
        """The value of a piece, when all before it are settled; its error, after those under way have ended."""
        self._count(outcome)
        if outcome.error is None:
            return outcome.value
        while self.running:
            self._wait()
        for number in sorted(self.done):
            self._count(self.done[number])
        if isinstance(outcome.error, BudgetSpent):
            for budget in self.setup.budgets:
                budget.check()  # in the words of the whole budget
        raise outcome.error

    def _count(self, outcome: Outcome) -> None:
        """Add the requests of a piece to the meters and recordings of this process."""
        for recording, keys in outcome.answers.items():
            for key in keys:
                note_answer(recording, key)
        for key, report in outcome.reports.items():
            engine = self.setup.engines[key]
            for step, usage in report.steps.items():
                engine.meter.add(step, usage)
            for name, fingerprints in report.fingerprints.items():
                for fingerprint in sorted(fingerprints):
                    engine.meter.served(name, fingerprint)
            if report.sent:
                engine.note_sent(report.sent)
            if report.rows and engine.store is not None:
                engine.store.keep(report.rows)


def _local(number: int) -> Cluster:
    """So many processes on this machine. They speak TLS with a certificate of their own, since whoever reaches a
    scheduler can have it run code, and the machine may have other users. Dask's profiler is off: it looks at the frames
    of all threads, in which Python 3.11 can stop for ever (python/cpython#106883)."""
    from distributed import Client, LocalCluster
    from distributed.security import Security
    from distributed.utils import LoopRunner

    runner = LoopRunner()
    with _without_interrupts():
        runner.start()
    try:
        with _silent():
            own = LocalCluster(
                n_workers=number, threads_per_worker=THREADS, processes=True, host="127.0.0.1", memory_limit=0,
                dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, security=Security.temporary(),
                loop=runner.loop, config={"distributed.worker.profile.enabled": False},
            )  # fmt: skip
            return Cluster(Client(own), own=own)
    finally:
        runner.stop()  # it is the cluster's now


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A thread that begins here never gets SIGINT, nor do processes that it starts: Ctrl-C reaches every process of a
    terminal, and workers leave it to the one that they work for."""
    resource_tracker.ensure_running()  # which is started with the first process, and lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reached(address: str) -> Cluster:
    from distributed import Client

    try:
        with _silent():
            return Cluster(Client(address, timeout=CONNECTING, set_as_default=False))
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterFault(
            f"no Dask scheduler answers at {address} within {CONNECTING:g} s ({error}); start one (dask scheduler), or "
            "use local[2]"
        ) from None


def _end(pids: list[int]) -> None:
    """See to it that processes are gone: ask, wait, and kill."""
    import psutil

    left = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            left.append(psutil.Process(pid))
    _, alive = psutil.wait_procs(left, timeout=CLOSING)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=CLOSING)


@contextmanager
def _silent() -> Iterator[None]:
    """Turn off Dask's log, which reports every closed connection."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
