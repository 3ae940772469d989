"""Quality over the number of rounds, and how many questions stopped early ("Beyond Static Retrieval", figure 4d)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from workbench.analyses.base import Analysis, cautions, mean_of, measured
from workbench.analyses.traces import replays
from workbench.errors import SettingError
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method
from workbench.methods.iterative.replay import Replay
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.settings import parse_spec, spec_of

MEASURES = ("em", "f1", "recall@5")


def rounds_specs(spec: str = "ircot", rounds: Iterable[int] = range(5)) -> list[str]:
    """The SPEC of a method, once for each number of rounds.

    >>> rounds_specs("bdtr[backbone=raptor]", [0, 2])
    ['bdtr[backbone=raptor,iterations=0]', 'bdtr[backbone=raptor,iterations=2]']
    """
    name, settings = parse_spec(spec)
    return [spec_of(name, settings | {"iterations": number}) for number in rounds]


def run_rounds(
    questions: Sequence[Question],
    index: Index,
    engine: Engine | None = None,
    reader: Reader | None = None,
    out: str | Path | None = None,
    *,
    spec: str = "ircot",
    rounds: Iterable[int] = range(5),
    **settings: Any,
) -> Analysis:
    """Evaluate the method with each number of rounds, and return the curve. `out` and `settings` are those of
    `evaluate`; the same call resumes a stopped run."""
    methods = [method(one, index, engine) for one in rounds_specs(spec, rounds)]
    return rounds_curve(evaluate(questions, methods, reader, out, **settings))


def rounds_curve(run: Run, *, progress: bool = True) -> Analysis:
    """The curve of every method of the run that counts iterations.

    Rows: method (without its iterations), iterations, the measures, stopped (questions whose thought ended the search),
    rounds (mean number of rounds that searched), n. `stopped` and `rounds` are None if the run has no traces."""
    described = {label: one for label, one in run.config["methods"].items() if "iterations" in one["settings"]}
    if not described:
        raise SettingError(f"no method of the run {run.folder} counts iterations; see rounds_specs('ircot')")
    rows = []
    for label, one in described.items():
        found = replays(run, label, progress=progress).values()
        rows.append(
            {
                "method": _family(one["label"]),
                "iterations": one["settings"]["iterations"],
                **{measure: mean_of(run.scores(measure, label).values()) for measure in measured(run, MEASURES)},
                "stopped": sum(one.stopped is not None for one in found) if found else None,
                "rounds": mean_of(map(_searched, found)),
                "n": sum(row["method"] == label for row in run.rows),
            }
        )
    rows.sort(key=lambda row: (row["method"], row["iterations"]))
    return Analysis("Quality over rounds", tuple(rows), tuple(cautions(run)), draw="rounds_curve")


def _family(label: str) -> str:
    """The label without its iterations; what follows a SPEC (thoughts by hand) stays."""
    spec, space, rest = label.partition(" ")
    name, settings = parse_spec(spec)
    return spec_of(name, {key: value for key, value in settings.items() if key != "iterations"}) + space + rest


def _searched(replay: Replay) -> int:
    return sum(bool(one.searches) for one in replay.rounds[1:])
