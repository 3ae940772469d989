"""How long retrieval takes with several questions in flight ("Beyond Static Retrieval", Table 4), from the seconds that
a run has of each question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace

from workbench import published
from workbench.analyses.base import Analysis, cautions
from workbench.analyses.running_time import seconds_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run

WORKERS = (1, 2, 4, 8, 16)


def wall_clock(run: Run, methods: Iterable[str] | None = None, *, workers: Sequence[int] = WORKERS) -> Analysis:
    """The stored seconds of retrieval, without reading and judging, laid out over workers: each takes the next question
    of the run when it is done, as `evaluate(…, workers=n)` does. It is the time if machine and endpoint answer many
    requests as fast as one, so a lower bound; `workers=1` is the sum. The paper compares parallel BDTR with sequential
    IRCoT; compare rows of the same number of workers.

    Rows: method, workers, n, hours (until the last question is done), seconds (the same per question), speed_up (over
    one worker), waiting (the share of the workers' time in which they have nothing left to do)."""
    if not workers or not all(isinstance(one, int) and one > 0 for one in workers):
        raise SettingError(f"workers={list(workers)!r}; it should be whole numbers from 1 on")
    rows = []
    for name, stages in seconds_of(run, methods).items():
        root = run.config["methods"][name]["label"]
        taken = [one[root] for one in stages]
        for many in sorted(set(workers)):
            lasts = makespan(taken, many)
            rows.append({
                "method": name, "workers": many, "n": len(taken), "hours": lasts / 3600, "seconds": lasts / len(taken),
                "speed_up": sum(taken) / lasts if lasts else None,
                "waiting": 1 - sum(taken) / (many * lasts) if lasts else None,
            })  # fmt: skip
    notes = [
        "A lower bound, from the seconds of each question; measure these with workers=1, for questions asked side by "
        "side wait for one another.",
        _printed(),
    ]
    return Analysis("Wall-clock time of retrieval", tuple(rows), (*cautions(run), *notes), draw="wall_clock")


def makespan(seconds: Iterable[float], workers: int) -> float:
    """Seconds until the last question is done, if each worker takes the next one as soon as it is free.

    >>> makespan([3, 1, 1, 1], 2), makespan([3, 1, 1, 1], 1), makespan([1, 1, 3], 2)
    (3.0, 6.0, 4.0)
    """
    free = [0.0] * workers  # when each worker is free again, the first one on top
    heapify(free)
    for one in seconds:
        heapreplace(free, free[0] + one)
    return max(free)


def _printed() -> str:
    rows = published.paper("bdtr").printed
    hours = rows[rows["measure"] == "hours"]
    said = ", ".join(f"{row.method} {row.value:g} h" for row in hours.itertuples())
    return f"Printed for 1,000 questions of MuSiQue on HippoRAG2 (Table 4): {said}; the number of workers is not given."
