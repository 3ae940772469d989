"""Methods × readers over the same questions: an ablation in which every reader reads the very same evidence.

    out/
      grid.json       what is asked, and the readers with the names of their folders
      retrieved/      what the methods found, once per question and method
      <reader>/       a run of all methods with this reader, as `evaluate` writes it"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from workbench import measures as measures_
from workbench.errors import DataError, SettingError
from workbench.experiments.evaluate import Plan, evaluate, locked
from workbench.experiments.retrieved import Retrieved
from workbench.experiments.run import Run
from workbench.experiments.significance import bootstrap_interval, holm, mcnemar, paired_test
from workbench.index.store import key_of, write_atomically
from workbench.llm.engine import Engine
from workbench.methods import Method
from workbench.reading import Reader, reader
from workbench.records import Question, Record

FORMAT = 1
# Measured of every reader, whether it compresses or not, so that all have the same columns.
MEASURES = (*measures_.DEFAULT, "coverage:substring", "coverage:read", "coverage:read:substring", "read_tokens")


class Grid(Record):
    """Runs over the same questions, methods and evidence, one per reader; opened from its folder."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        path = self.folder / "grid.json"
        if not path.exists():
            raise SettingError(f"{folder} is no grid: it has no grid.json; make one with grid(…, out={str(folder)!r})")
        self.config: dict = json.loads(path.read_text(encoding="utf-8"))
        if self.config["format"] > FORMAT:
            raise DataError(
                f"{folder} has grid format {self.config['format']}; this version reads up to {FORMAT}: upgrade hopscope"
            )

    @classmethod
    def open(cls, folder: str | Path) -> Grid:
        return cls(folder)

    @property
    def methods(self) -> list[str]:
        return list(self.config["methods"])

    @property
    def readers(self) -> dict[str, str]:
        """Label → SPEC, in the order in which they were given."""
        return {label: one["reader"] for label, one in self.config["readers"].items()}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Label of the reader → its run, of those that have begun."""
        folders = {label: self.folder / one["folder"] for label, one in self.config["readers"].items()}
        return {label: Run(folder) for label, folder in folders.items() if (folder / "run.json").exists()}

    def frame(self) -> pd.DataFrame:
        """One row per reader, method and question, as in `Run.frame`."""
        frames = [run.frame().assign(reader=label) for label, run in self.runs.items() if run.rows]
        whole = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["reader"])
        return whole[["reader", *(name for name in whole if name != "reader")]]

    def table(self) -> pd.DataFrame:
        """Means: a row per reader and method, a column per measure, then how many were asked and failed."""
        tables = [run.table().reset_index().assign(reader=label) for label, run in self.runs.items() if run.rows]
        return (pd.concat(tables) if tables else pd.DataFrame(columns=["reader", "method"])).set_index(
            ["reader", "method"]
        )

    def compare(
        self, baseline: str | tuple[str, str] | None = None, measures: Sequence[str] = ("accuracy", "f1", "em")
    ) -> pd.DataFrame:
        """Every configuration against a baseline over the questions that both answered: a reader (by default the
        first), of which that with the same method is taken, or one (reader, method) for all.

        Columns: measure, reader, method, against, n, value, baseline, difference, low, high (95 % paired bootstrap), p
        (paired randomisation test), mcnemar (its exact p, where all values are 0 or 1), p_holm (of p, over the whole
        table)."""
        baseline = baseline or next(iter(self.config["readers"]))
        known = [(label, method) for label, run in self.runs.items() for method in run.methods]
        names = {baseline} if isinstance(baseline, tuple) else {(baseline, method) for method in self.methods}
        if not names <= set(known):
            raise SettingError(f"no run of {baseline!r}; there are the readers {', '.join(self.runs) or 'none yet'}")
        rows = []
        for measure in measures:
            for label, method in known:
                against = baseline if isinstance(baseline, tuple) else (baseline, method)
                if (label, method) != against and measure in self.runs[label].measures:
                    ours, base = (self.runs[one].scores(measure, of) for one, of in ((label, method), against))
                    if common := sorted(ours.keys() & base.keys()):
                        a, b = np.array([ours[one] for one in common]), np.array([base[one] for one in common])
                        rows.append({"measure": measure, "reader": label, "method": method,
                                     "against": " / ".join(against), **_compared(a, b)})  # fmt: skip
        frame = pd.DataFrame(rows)
        return frame.assign(p_holm=holm(frame["p"].tolist())) if len(frame) else frame


def grid(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    readers: Mapping[str, Reader | str] | Sequence[Reader | str],
    out: str | Path,
    *,
    measures: Sequence[str] | None = None,
    k: int | None = None,
    budget: int | None = None,
    trace: str = "full",
    workers: int | None = None,
    limit: int | None = None,
    judge: Engine | str | None = None,
    progress: bool = True,
) -> Grid:
    """Run every method with every reader over the questions. Each question is retrieved once per method, and all
    readers read that.

    `readers`: label → reader; in a list they go by their SPECs. A SPEC is built over the first method's index and
    engine. `measures` are by default those of `evaluate`, of all the readers' settings, and of what was read, the same
    for all; the rest is as in `evaluate`. The same call goes on where it was stopped, and readers can be added to a
    grid; with anything else changed the folder is refused."""
    questions = list(islice(questions, limit))
    methods = dict(methods) if isinstance(methods, Mapping) else {method.label: method for method in methods}
    if not questions or not methods:
        raise SettingError("a grid needs at least one question and one method")
    built = _built(readers, next(iter(methods.values())))
    folder = Path(out)
    if measures is None:
        of_readers = [name for one in built.values() for name in measures_.of_reader(one.label)]
        measures = tuple(dict.fromkeys([*MEASURES, *of_readers]))
    with locked(folder):
        config = _configured(folder, questions, methods, built, judge, measures, k, budget, trace)
        asked = {name: Retrieved(name, method, folder / "retrieved") for name, method in methods.items()}
        total = len(questions) * len(methods) * len(built)
        with tqdm(total=total, desc="grid", unit="answer", disable=not progress) as bar:
            for label, one in built.items():
                bar.set_postfix_str(label, refresh=False)
                evaluate(
                    questions, asked, one, folder / config["readers"][label]["folder"], measures=measures, k=k,
                    budget=budget, trace=trace, workers=workers, judge=judge, progress=bar,
                )  # fmt: skip
    return Grid(folder)


def _built(readers: Mapping[str, Reader | str] | Sequence[Reader | str], method: Method) -> dict[str, Reader]:
    given = readers.items() if isinstance(readers, Mapping) else ((None, one) for one in readers)
    built: dict[str, Reader] = {}
    for label, one in given:
        made = reader(one, method.engine, index=method.index) if isinstance(one, str) else one
        label = made.label if label is None else label
        if label in built:
            raise SettingError(f"two readers are called {label!r}; give them as a mapping of label to reader")
        built[label] = made
    if not built:
        raise SettingError("a grid needs at least one reader")
    return built


def _configured(
    folder: Path, questions: Sequence[Question], methods: Mapping[str, Method], readers: Mapping[str, Reader], *how: Any
) -> dict[str, Any]:
    """What grid.json says, written; :class:`SettingError` where it said something else. `how` is the rest of a plan."""
    whole = Plan.of(methods, next(iter(readers.values())), *how).config(questions)
    fixed = ("data", "questions", "methods", "judge", "measures", "k", "budget", "trace")
    config = {"format": FORMAT, **{name: whole[name] for name in fixed}, "readers": {}}
    path = folder / "grid.json"
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        plain = json.loads(json.dumps(config))
        differing = [name for name in (*fixed, "format") if before.get(name) != plain[name]]
        differing += [f"reader {label!r}" for label, one in before["readers"].items()
                      if label in readers and one["reader"] != readers[label].label]  # fmt: skip
        if differing:
            raise SettingError(
                f"{folder} holds another grid (it differs in {', '.join(differing)}); choose another folder, or delete "
                "this one"
            )
        config["readers"] = before["readers"]
    for label, one in readers.items():
        config["readers"].setdefault(label, {"reader": one.label, "folder": _folder_of(label)})
    write_atomically(path, json.dumps(config, indent=1, ensure_ascii=False) + "\n")
    return config


def _folder_of(label: str) -> str:
    """A name for a folder, whatever the label holds."""
    readable = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:48]
    return f"{readable or 'reader'}-{key_of(reader=label)[:8]}"


def _compared(a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
    low, high = bootstrap_interval(a - b)
    binary = set(a.tolist()) | set(b.tolist()) <= {0.0, 1.0}
    return {
        "n": len(a), "value": a.mean(), "baseline": b.mean(), "difference": (a - b).mean(), "low": low, "high": high,
        "p": paired_test(a, b), "mcnemar": mcnemar(a, b) if binary else None,
    }  # fmt: skip
