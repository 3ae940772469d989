"""Seconds of retrieval per question, split into thinking and searching ("Beyond Static Retrieval", Table 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.analyses.base import Analysis, cautions, known_methods
from workbench.errors import SettingError
from workbench.evaluation.run import Run, read_rows

# Stages of an iterative method as a trace numbers them; all but the search ask the engine.
_STAGE = re.compile(r"(?:round \d+ / )?(think|search|reasoning chain|verify)(?: #\d+)?")


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
