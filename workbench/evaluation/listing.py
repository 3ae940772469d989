"""The runs in a folder, and the differences between two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.errors import SettingError
from workbench.evaluation import sums
from workbench.evaluation.book import first_of
from workbench.evaluation.run import Run
from workbench.evaluation.significance import Differences, compared, corrected
from workbench.places import home
from workbench.records import Record
from workbench.source import changed

CONDITIONS = (
    "data", "questions", "engine", "reader", "judge", "k", "budget", "trace", "versions", "seeds", "repeats",
)  # fmt: skip


def runs(folder: str | Path | None = None) -> pd.DataFrame:
    """The runs in a folder (by default `runs/`), including those of grids and those set aside: the conditions of each,
    its progress, and when it was last written. For an unreadable folder, `failure` states the reason."""
    place = Path(folder or home() / "runs")
    if not place.is_dir():
        raise SettingError(f"{place} is not a folder, so it has no runs; make one with wb.evaluate(…)")
    folders = sorted(path.parent for path in place.rglob("run.json"))
    whole = (folder for folder in folders if not any(part.endswith(".part") for part in folder.parts))
    listed = [_listed(folder, place) for folder in whole]
    return pd.DataFrame(listed, columns=list(_COLUMNS))


_COLUMNS = (
    "run", "data", "questions", "methods", "reader", "engine", "k", "rows", "of", "failures", "written", "failure",
)  # fmt: skip


def _listed(folder: Path, place: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"run": folder.relative_to(place).as_posix()}
    try:
        run = Run(folder)
        config, rows = run.config, run.rows
        newest = max(path.stat().st_mtime for path in (folder / "run.json", folder / "results.jsonl") if path.exists())
        return row | {
            "data": config["data"]["name"],
            "questions": config["questions"]["n"],
            "methods": run.methods,
            "reader": config["reader"],
            "engine": config["engine"],
            "k": config["k"],
            "rows": len(rows),
            "of": config["questions"]["n"] * len(run.methods),
            "failures": sum(row["failure"] is not None for row in rows),
            "written": datetime.fromtimestamp(newest).isoformat(" ", "minutes"),
        }
    except Exception as error:  # a run's files may hold anything
        return row | {"failure": f"{type(error).__name__}: {error}"}


@dataclass(frozen=True, eq=False, repr=False)
class Between(Record):
    """The comparison of two runs. `frame`: a row for each measure and pair of methods, the second run against the
    first, over the questions of both: measure, method, against, n, value, baseline, difference, low, high (95 % paired
    bootstrap, not corrected), p (paired randomisation test), p_holm (p corrected over the table). `differing`:
    condition → (of the first, of the second)."""

    first: Run
    second: Run
    frame: pd.DataFrame
    differing: dict[str, tuple[Any, Any]]

    @property
    def conditions(self) -> list[dict[str, str]]:
        """`differing` in words: the condition, and its value in the first and in the second run."""
        return [
            {"condition": name, "first": was, "second": now}
            for name, pair in self.differing.items()
            for was, now in [in_words(*pair)]
        ]


def in_words(was: Any, now: Any) -> tuple[str, str]:
    """Two values of a condition, as far as they differ.

    >>> in_words({"n": 12, "hash": "28"}, {"n": 10, "hash": "74"})
    ('12 (28)', '10 (74)')
    >>> in_words({"numpy": "1", "scipy": "1"}, {"numpy": "2", "scipy": "1"})
    ('numpy 1', 'numpy 2')
    """
    if isinstance(was, dict) and isinstance(now, dict) and not {"n", "name"} & was.keys():
        was, now = _short(was, now), _short(now, was)
    return _words(was), _words(now)


def _words(value: Any) -> str:
    if value in (None, "", [], (), {}):
        return "none"
    match value:
        case {"n": number, "hash": hash}:
            return f"{number} ({hash})"
        case {"name": name, "fingerprint": fingerprint, **more}:
            return ", ".join([f"{name} ({fingerprint})", *([_words(more)] if more else [])])
        case {"hash": hash, **layer}:  # of an index; where who made it is the same, its content is not
            return ", ".join([f"content {hash}", *(f"{name} {_words(part)}" for name, part in layer.items() if part)])
        case dict():
            return "; ".join(f"{name} {_words(part)}" for name, part in value.items())
        case list() | tuple():
            return ", ".join(map(_words, value))
    return str(value)


def between(first: Run | str | Path, second: Run | str | Path, measures: Sequence[str] | None = None) -> Between:
    """The changes from one run to another: methods of the same name, or if they share none, each of the second against
    the first one of the first. `measures` are by default the `HYPOTHESES` that both have. Raises :class:`SettingError`
    if they share no question or no measure."""
    first_run, other = (run if isinstance(run, Run) else Run(run) for run in (first, second))
    common = [name for name in other.tested(measures) if name in first_run.measures and name in other.measures]
    if not common:
        raise SettingError(
            f"{first_run.folder} and {other.folder} share no measure{' asked for' if measures else ''}; choose from "
            f"those of the first, {', '.join(first_run.measures)}, the second {', '.join(other.measures)}"
        )
    same = [(name, name) for name in other.methods if name in first_run.methods]
    pairs = same or [(name, first_run.methods[0]) for name in other.methods]
    rows = [
        {"measure": measure, "method": name, "against": base, **values}
        for measure in common
        for name, base in pairs
        if (values := compared(other.values(measure, name), first_run.values(measure, base)))
    ]
    if not rows:
        raise SettingError(
            f"{first_run.folder} and {other.folder} share no measured question; evaluate both on the same questions"
        )
    return Between(first_run, other, Differences(corrected(rows)), dict(_differing(first_run, other, pairs)))


def _differing(first: Run, other: Run, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name in CONDITIONS:
        if (was := first.config.get(name)) != (now := other.config.get(name)):
            yield name, (was, now)
    were, are = (sums.read_sources(run.folder) for run in (first, other))
    for name, base in [*pairs, ("(reader)", "(reader)")]:
        if base in were and name in are and (units := changed(were[base], are[name])):
            yield f"code of {name}", ("as it was", f"changed: {first_of(units)}")
    for name, base in pairs:
        was, now = first.config["methods"][base], other.config["methods"][name]
        for what in ("label", "settings", "encoder", "layers"):
            if was.get(what) != now.get(what):
                yield f"{what} of {name}", (_short(was.get(what), now.get(what)), _short(now.get(what), was.get(what)))


def _short(mine: Any, theirs: Any) -> Any:
    """The differing settings and layers."""
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return mine
    return {key: value for key, value in mine.items() if theirs.get(key) != value}
