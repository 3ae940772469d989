"""How long retrieval takes ("Beyond Static Retrieval", Table 4): seconds per question, split into thinking and
searching; and with several questions in flight, from the seconds that a run has of each question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heapreplace

import numpy as np

from workbench import published
from workbench.analyses.base import Analysis, cautions, known_methods
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.sums import read_rows

# Stages of an iterative method as a trace numbers them; all but the search ask the engine.
_STAGE = re.compile(r"(?:round \d+ / )?(think|search|reasoning chain|verify)(?: #\d+)?")
WORKERS = (1, 2, 4, 8, 16)


def running_time(run: Run, methods: Iterable[str] | None = None) -> Analysis:
    """Times from `timings.jsonl`, without reading and judging. With several workers, the seconds of a question include
    waiting for the machine or the endpoint, so their sum is not the duration of the run.

    Rows: method, n, seconds (mean), median, p90, thinking, searching (means; 0 for a method without rounds), hours (of
    all questions, one after the other)."""
    rows = []
    for name, stages in seconds_of(run, methods).items():
        root = run.config["methods"][name]["label"]
        whole = np.array([one[root] for one in stages])
        parts = [_parts(root, one) for one in stages]
        rows.append(
            {
                "method": name,
                "n": len(whole),
                "seconds": float(whole.mean()),
                "median": float(np.median(whole)),
                "p90": float(np.quantile(whole, 0.9)),
                "thinking": float(np.mean([thinking for thinking, _ in parts])),
                "searching": float(np.mean([searching for _, searching in parts])),
                "hours": float(whole.sum() / 3600),
            }
        )
    notes = ["Questions asked side by side wait for one another; compare runs with workers=1."]
    return Analysis("Seconds of retrieval", tuple(rows), (*cautions(run), *notes), draw="running_time")


def seconds_of(run: Run, methods: Iterable[str] | None = None) -> dict[str, list[Mapping[str, float]]]:
    """Method → stage → seconds of each question that was timed, in the order in which they were done; methods without
    any are left out. The whole of a retrieval has the label of its method. Raises :class:`SettingError` for a run
    without timings."""
    timed = read_rows(run.folder / "timings.jsonl")
    if not timed:
        raise SettingError(f"the run {run.folder} has no timings.jsonl; make it again, seconds are written as it runs")
    found = {
        name: [row["seconds"] for row in timed
               if row["method"] == name and run.config["methods"][name]["label"] in row["seconds"]]
        for name in known_methods(run, methods)
    }  # fmt: skip
    return {name: stages for name, stages in found.items() if stages}


def _parts(root: str, stages: Mapping[str, float]) -> tuple[float, float]:
    """Seconds of thinking and of searching."""
    seconds = {"think": 0.0, "search": 0.0}
    for place, taken in stages.items():
        if found := _STAGE.fullmatch(place.removeprefix(f"{root} / ")):
            seconds["search" if found[1] == "search" else "think"] += taken
    return seconds["think"], seconds["search"]


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
