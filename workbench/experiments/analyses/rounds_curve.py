"""Quality over the number of rounds, and how many questions stopped early (8.5; figure 4d)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import SettingError
from workbench.experiments.analyses.base import Analysis, cautions, mean_of, measured
from workbench.experiments.analyses.traces import replays
from workbench.experiments.evaluate import evaluate
from workbench.experiments.run import Run
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method
from workbench.methods.iterative.replay import Replay
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.spec import parse_spec, spec_of

MEASURES = ("em", "f1", "recall@5")


@dataclass(frozen=True, slots=True, repr=False)
class RoundsCurve(Analysis):
    """Rows: method (without its iterations), iterations, the measures, stopped (questions whose thought said that
    nothing more is needed), rounds (rounds in which something was searched for, the mean), n. The last two are None
    where the run kept no traces."""


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
) -> RoundsCurve:
    """Evaluate the method with each number of rounds, and draw the curve. `out` and `settings` are those of
    `evaluate`: stopped, the same call goes on."""
    methods = [method(one, index, engine) for one in rounds_specs(spec, rounds)]
    return rounds_curve(evaluate(questions, methods, reader, out, **settings))


def rounds_curve(run: Run, *, progress: bool = True) -> RoundsCurve:
    """The curve of every method of the run that counts iterations."""
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
    return RoundsCurve("Quality over rounds", tuple(rows), tuple(cautions(run)))


def _family(label: str) -> str:
    """The label without its iterations; what follows a SPEC (thoughts by hand) stays."""
    spec, space, rest = label.partition(" ")
    name, settings = parse_spec(spec)
    return spec_of(name, {key: value for key, value in settings.items() if key != "iterations"}) + space + rest


def _searched(replay: Replay) -> int:
    return sum(bool(one.searches) for one in replay.rounds[1:])
