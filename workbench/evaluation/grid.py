"""Methods × readers over the same questions: an ablation in which all readers read the same evidence.

    out/
      grid.json       the readers, with the names of their folders, and the methods
      retrieved/      the evidence, once per question and method
      <reader>/       a run of all methods with this reader, as `evaluate` writes it

Like its runs, a grid can grow: with readers, methods, questions and measures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from workbench import measures as measures_
from workbench.display import tqdm
from workbench.errors import DataError, FileDamaged, SettingError
from workbench.evaluation.book import locked
from workbench.evaluation.evaluate import asked_for, evaluate
from workbench.evaluation.plan import Settings
from workbench.evaluation.retrieved import Retrieved
from workbench.evaluation.run import Run, alike
from workbench.evaluation.significance import Differences, compared, corrected, mean_of
from workbench.index.store import key_of, write_atomically
from workbench.integrity import seal, unseal
from workbench.llm.deferrals import Deferrals
from workbench.methods import Method
from workbench.reading import READERS, Reader, reader
from workbench.records import Question, Record
from workbench.settings import parse_spec
from workbench.spread import Workers, over

FORMAT = 2
TOKENS = 12_000  # of a context, for readers that do not say how much they read
# Measured for every reader, with or without compression, so that all have the same columns.
MEASURES = (*measures_.DEFAULT, "coverage:substring", "coverage:read", "coverage:read:substring", "read_tokens")


class Grid(Record):
    """Runs over the same questions, methods and evidence, one per reader; opened from its folder. `runs` are the
    requested ones, if not all of the folder."""

    def __init__(self, folder: str | Path, runs: Mapping[str, Run] | None = None):
        self.folder, self._runs = Path(folder), runs
        path = self.folder / "grid.json"
        if not path.exists():
            raise SettingError(
                f"{folder} is not a grid: it has no grid.json; make a grid with grid(…, out={str(folder)!r})"
            )
        self.config: dict = _read(path)
        if self.config["format"] > FORMAT:
            raise DataError(
                f"{folder} has grid format {self.config['format']}; this version reads up to {FORMAT}: upgrade hopscope"
            )

    @classmethod
    def open(cls, folder: str | Path) -> Grid:
        return cls(folder)

    @property
    def methods(self) -> list[str]:
        """The methods of its runs."""
        return list(dict.fromkeys(name for run in self.runs.values() for name in run.methods))

    @property
    def readers(self) -> dict[str, str]:
        """Label → SPEC, in the given order."""
        stored = self.config["readers"]
        return {label: stored[label]["reader"] for label in (stored if self._runs is None else self._runs)}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Label of the reader → its run, if it has begun: run.json precedes its rows. Raises :class:`SettingError` for
        one with rows that lost its run.json."""
        if self._runs is not None:
            return dict(self._runs)
        folders = {label: self.folder / reader["folder"] for label, reader in self.config["readers"].items()}
        begun = ("run.json", "results.jsonl")
        return {label: Run(of) for label, of in folders.items() if any((of / name).exists() for name in begun)}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of its runs, each with the label of its reader."""
        return tuple(f"{label}: {warning}" for label, run in self.runs.items() for warning in run.warnings)

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

    def distinct(self) -> pd.DataFrame:
        """As `table`, but the readers of a method that gave the same answers to the same texts share a row, which names
        them: rules, for example, do not tell prompts apart."""
        table = self.table()
        named = {pair: (", ".join(labels), pair[1]) for pair, labels in alike(self.runs).items()}
        index = pd.MultiIndex.from_tuples(named.values(), names=table.index.names) if named else table.index
        return table.loc[list(named)].set_axis(index)

    def compare(
        self, baseline: str | tuple[str, str] | None = None, measures: Sequence[str] = ("accuracy", "f1", "em")
    ) -> Differences:
        """Every configuration against a baseline over the questions that both answered. The baseline is a reader (by
        default the first) with the same method, or one (reader, method) for all.

        Columns: measure, reader, method, against, n, value, baseline, difference, low, high (95 % paired bootstrap of
        one difference, not corrected), p (paired randomisation test), mcnemar (its exact p, if all values are 0 or 1),
        p_holm (p corrected over the whole table); read_tokens and against_tokens, the tokens that the two read: reading
        more can be an advantage by itself."""
        baseline = baseline or next(iter(self.readers))
        pairs = [(label, method) for label, run in self.runs.items() for method in run.methods]
        names = {baseline} if isinstance(baseline, tuple) else {(baseline, method) for method in self.methods}
        if not names <= set(pairs):
            raise SettingError(
                f"the grid has no run of {baseline!r}; its readers are {', '.join(self.runs) or 'none yet'}"
            )
        rows = []
        for measure in measures:
            for label, method in pairs:
                against = baseline if isinstance(baseline, tuple) else (baseline, method)
                if (label, method) != against and measure in self.runs[label].measures:
                    ours, base = (self.runs[pair].values(measure, of) for pair, of in ((label, method), against))
                    if values := compared(ours, base):
                        read = (self._read(*pair) for pair in ((label, method), against))
                        rows.append({"measure": measure, "reader": label, "method": method,
                                     "against": " / ".join(against), **values,
                                     **dict(zip(("read_tokens", "against_tokens"), read))})  # fmt: skip
        return Differences({**row, "by": self.runs[row["reader"]].made_by(row["method"])} for row in corrected(rows))

    def _read(self, reader: str, method: str) -> float | None:
        return mean_of(row["read_tokens"] for row in self.runs[reader].rows if row["method"] == method)


def grid(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    readers: Mapping[str, Reader | str] | Sequence[Reader | str],
    out: str | Path,
    *,
    measures: Sequence[str] | None = None,
    limit: int | None = None,
    tokens: int | None = TOKENS,
    cluster: Workers | str | None = None,
    progress: bool = True,
    **settings: Unpack[Settings],
) -> Grid:
    """Run every method with every reader over the questions. Each question is retrieved once per method, and all
    readers read this evidence.

    `readers`: label → reader; readers in a list are labelled by their SPECs. A SPEC is built over the first method's
    index and engine; without `k` and `budget`, it reads at most `tokens` cl100k tokens, so that readers are compared
    over the same amount of text (None keeps each reader's default). `measures` are by default those of `evaluate`,
    those for all readers' settings, and those of the text read; `limit`, `cluster` and `settings` (k, budget, trace,
    workers, judge, repeats) are those of `evaluate`. A repeat retrieves anew if a model is asked for that; all readers
    read its evidence.

    The same call resumes a stopped grid and can add readers, methods, questions and measures. Changed rows are computed
    again, as in `evaluate`. Raises :class:`SettingError` for a label that denotes another reader in the folder."""
    questions, methods = asked_for(questions, methods, limit, by="a grid")
    built = _built(readers, next(iter(methods.values())), tokens)
    folder = Path(out)
    if measures is None:
        of_readers = [name for reader in built.values() for name in measures_.of_reader(reader.label)]
        measures = tuple(dict.fromkeys([*MEASURES, *of_readers]))
    with over(cluster), locked(folder):
        folders = _configured(folder, methods, built)
        cached = {name: Retrieved(method, folder / "retrieved") for name, method in methods.items()}
        runs, deferrals = dict[str, Run](), Deferrals()
        total = len(questions) * len(methods) * len(built) * settings.get("repeats", 1)
        with tqdm(total=total, desc="grid", unit="answer", disable=not progress) as bar:
            for label, reader in built.items():
                bar.set_postfix_str(label, refresh=False)
                with deferrals:
                    runs[label] = evaluate(
                        questions, cached, reader, folder / folders[label], measures=measures, progress=bar, **settings
                    )
        deferrals.end()
    return Grid(folder, runs)


def _built(
    readers: Mapping[str, Reader | str] | Sequence[Reader | str], method: Method, tokens: int | None
) -> dict[str, Reader]:
    given = readers.items() if isinstance(readers, Mapping) else ((None, reader) for reader in readers)
    built: dict[str, Reader] = {}
    for label, spec in given:
        made = (
            reader(spec, method.engine, index=method.index, **_amount(spec, tokens)) if isinstance(spec, str) else spec
        )
        label = made.label if label is None else label
        if label in built:
            raise SettingError(f"two readers are called {label!r}; give them as a mapping of label to reader")
        built[label] = made
    if not built:
        raise SettingError("the grid was given no reader; pass at least one, such as 'direct'")
    return built


def _amount(spec: str, tokens: int | None) -> dict[str, int | None]:
    """The setting for the amount that a reader reads, if its SPEC has none."""
    name, given = parse_spec(spec)
    names = {field.name for field in fields(READERS[name].Settings)} if name in READERS else set()
    if tokens is None or "budget" not in names or {"k", "budget"} & given.keys():
        return {}
    return {"budget": tokens} | ({"k": None} if "k" in names else {})


def _configured(folder: Path, methods: Iterable[str], readers: Mapping[str, Reader]) -> dict[str, str]:
    """Label of a reader → its folder, written to grid.json. Raises :class:`SettingError` if a label there denotes
    another reader."""
    path, config = folder / "grid.json", {"format": FORMAT, "methods": [], "readers": {}}
    if path.exists():
        config |= {**Grid(folder).config, "format": FORMAT}
    for label, made in readers.items():
        stored = config["readers"].setdefault(label, {"reader": made.label, "folder": _folder_of(label)})
        if stored["reader"] != made.label:
            raise SettingError(
                f"{folder} holds another grid (reader {label!r} is {stored['reader']} there, and {made.label} now); "
                "choose another label or another folder, or delete this one"
            )
    config["methods"] = list(dict.fromkeys([*config["methods"], *methods]))
    write_atomically(path, json.dumps(seal(config), indent=1, ensure_ascii=False) + "\n")
    return {label: config["readers"][label]["folder"] for label in readers}


def _read(path: Path) -> dict[str, Any]:
    try:
        config = unseal(json.loads(path.read_text(encoding="utf-8")))
        if not isinstance(config["format"], int) or not isinstance(config["readers"], dict):
            raise ValueError("it has no format or no readers")
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise FileDamaged(
            f"{path} is damaged ({error}); delete it, and the same command writes it again: the runs of the grid stay"
        ) from None
    return config


def _folder_of(label: str) -> str:
    """A valid folder name for any label."""
    readable = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:48]
    return f"{readable or 'reader'}-{key_of(reader=label)[:8]}"
