"""The folder of a run while it is written: what stands in it, what of that still holds, and what is missing.

A run grows: methods, questions and measures are added to it, and only what is missing is asked. A row holds as long as
its key is that of the method, reader and question as they are now (`identity`). Rows that no longer hold are put aside,
into `before/`, where they are a run of their own; so are the rows of methods that are not asked for now if they were
made by other code than what is. No run has rows of two versions.

Rows are appended as they come, each flushed before the next, after the files that it names; at the end they stand in
the order of questions and methods, so that a run that grew has the bytes of one that was made at once."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from workbench import places
from workbench.errors import SettingError
from workbench.experiments.identity import Identity, row_key
from workbench.experiments.run import Run, by_cell, read_questions_of, read_rows, summed, trace_name, write_new
from workbench.index.store import key_of
from workbench.records import Question
from workbench.source import changed
from workbench.text import text_hash
from workbench.trace import Trace

# Conditions under which every row of a run is made; with others it is another run.
FIXED = ("format", "reader", "k", "budget", "trace")
Cell = tuple[str, str]  # question id, method


class Parts(NamedTuple):
    """What decides the rows that are asked for."""

    methods: Mapping[str, Identity]
    reader: Identity | None
    judge: Identity | None
    measures: Mapping[str, str]  # measure -> key


@dataclass(frozen=True)
class Earlier:
    """The run that stood in a folder: its configuration, the code that made it (as `Standing.sources`), its
    questions."""

    config: dict[str, Any]
    sources: dict[str, dict[str, str]]
    questions: dict[str, Question]

    @classmethod
    def of(cls, folder: Path, config: dict[str, Any]) -> Earlier:
        questions = {question.id: question for question in read_questions_of(folder)}
        return cls(config, _read_json(folder / "sources.json") or {}, questions)


@dataclass
class Standing:
    """What a folder holds of what is asked for, once `config` is its run's: `rows` that hold, those that do not
    (`stale`), which `before` made, and `why`, in words."""

    folder: Path
    config: dict[str, Any]
    sources: dict[str, dict[str, str]]  # method (or "(reader)", "(judge)") -> unit of code -> hash
    questions: dict[str, Question]
    rows: dict[Cell, dict]
    stale: dict[Cell, dict] = field(default_factory=dict)
    before: Earlier | None = None
    why: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, asked: Mapping[str, Any], parts: Parts, questions: Sequence[Question]) -> Standing:
        """What stands in `folder`; `asked` is the configuration of a run of what is asked for alone.
        :class:`SettingError` where the folder holds another run."""
        config = check_same(folder, asked)
        sources = {name: part.units for name, part in _named(parts)}
        mine = {question.id: question for question in questions}
        if config is None:
            return cls(folder, dict(asked), sources, mine, {})
        before = Earlier.of(folder, config)
        now = before.questions | mine
        left_out = _contradicted(before, asked, parts)
        config = _merged(before.config, asked, now.values(), left_out)
        stays = {n: units for n, units in before.sources.items() if n in config["methods"] or n == "(judge)"}
        standing = cls(folder, config, {**stays, **sources}, now, {}, before=before)
        for cell, row in by_cell(folder / "results.jsonl").items():
            (standing.rows if standing.holds(row) else standing.stale)[cell] = row
        standing.why = list(_reasons(standing, left_out))
        return standing

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether the method, the reader and the question of a row are what they were."""
        method, question = self.config["methods"].get(row["method"]), self.questions.get(row["question_id"])
        reading = self.config["reading"] and self.config["reading"]["key"]
        return bool(method and question and row.get("key") == row_key(method["key"], reading, question))

    def missing(self, questions: Iterable[Question], methods: Iterable[str]) -> list[tuple[Question, str]]:
        """What is still to be asked, in the order of questions and methods."""
        methods = list(methods)
        return [(one, name) for one in questions for name in methods if (one.id, name) not in self.rows]


class Book:
    """A folder that is being written; `locked` around it."""

    def __init__(self, standing: Standing):
        self.standing, self.folder = standing, standing.folder
        for name in ("traces", "contexts"):
            (self.folder / name).mkdir(exist_ok=True)
        for torn in self.folder.rglob("*.tmp"):
            torn.unlink()
        self.aside = self._put_aside() if standing.stale else None
        write_lines(self.folder / "questions.jsonl", map(asdict, standing.questions.values()))
        write_json(self.folder / "sources.json", dict(sorted(standing.sources.items())))
        write_json(self.folder / "run.json", standing.config)
        self._mend()

    @property
    def rows(self) -> dict[Cell, dict]:
        return self.standing.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What was asked again, why, and where the earlier rows are."""
        return tuple(f"{reason}; the earlier rows are in {self.aside}" for reason in self.standing.why)

    @contextmanager
    def open(self) -> Iterator[Callable[[dict, Mapping[str, Any] | None, Trace | None, Mapping[str, str]], None]]:
        """Gives what adds a row, its timing, trace and contexts; an earlier row of its question and method counts no
        more."""
        with (
            (self.folder / "results.jsonl").open("a", encoding="ascii") as results,
            (self.folder / "timings.jsonl").open("a", encoding="ascii") as timings,
        ):

            def add(row, timing, trace, contexts) -> None:
                cell = {"question_id": row["question_id"], "method": row["method"]}
                self._write_files(row, trace, contexts)
                for out, line in ((timings, timing and {**cell, **timing}), (results, row)):
                    if line:
                        out.write(json.dumps(line) + "\n")
                        out.flush()
                self.rows[tuple(cell.values())] = row

            yield add

    def _write_files(self, row: Mapping[str, Any], trace: Trace | None, contexts: Mapping[str, str]) -> None:
        """The files that a row names. They go first, so that it never names a file which is not there."""
        for name, text in contexts.items():
            if not (path := self.folder / "contexts" / name).exists():
                _whole(path, lambda part, text=text: part.write_text(text, encoding="utf-8"))
        if trace:
            _whole(self.folder / "traces" / trace_name(row["question_id"], row["method"]), trace.save)

    def context(self, name: str) -> str:
        return (self.folder / "contexts" / name).read_text(encoding="utf-8")

    def close(self) -> None:
        """Rows and timings in the order of questions and methods, without files that no row names, and summaries."""
        cells = [(one, name) for one in self.standing.questions for name in self.standing.config["methods"]]
        rows = [self.rows[cell] for cell in cells if cell in self.rows]
        write_lines(self.folder / "results.jsonl", rows)
        timings = self._timings()
        write_lines(self.folder / "timings.jsonl", (timings[cell] for cell in cells if cell in timings))
        named = {"traces": {trace_name(*cell) for cell in self.rows}}
        named["contexts"] = {row[name] for row in rows for name in ("context", "retrieved") if row[name]}
        for place, names in named.items():
            for path in (self.folder / place).iterdir():
                if path.name not in names:
                    path.unlink()
        Run(self.folder).save_summaries()

    def _mend(self) -> None:
        """Cut off what a killed process left unfinished, and seconds of rows that it did not come to write."""
        read_rows(self.folder / "results.jsonl", mend=True)
        read_rows(self.folder / "timings.jsonl", mend=True)
        timings = self._timings()
        if timings.keys() - self.rows.keys():
            write_lines(self.folder / "timings.jsonl", (timings[cell] for cell in timings if cell in self.rows))

    def _timings(self) -> dict[Cell, dict]:
        return by_cell(self.folder / "timings.jsonl")

    def _put_aside(self) -> Path:
        """The stale rows as a run in `before/`, and what is left of this one."""
        stale = self.standing.stale
        target = self.folder / "before" / text_hash("".join(json.dumps(row) + "\n" for row in stale.values()))[:12]
        if not target.exists():  # else a killed process came as far as this
            part = target.with_name(f"{target.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            self._write_earlier(part, stale)
            os.replace(part, target)
        write_lines(self.folder / "results.jsonl", self.rows.values())
        for cell in stale:
            (self.folder / "traces" / trace_name(*cell)).unlink(missing_ok=True)
        return target

    def _write_earlier(self, part: Path, stale: Mapping[Cell, dict]) -> None:
        """A run of the stale rows, as the earlier one was made."""
        for name in ("traces", "contexts"):
            (part / name).mkdir(parents=True)
        before = self.standing.before
        known = before.config["methods"]
        methods = {name: known[name] for name in dict.fromkeys(name for _, name in stale) if name in known}
        asked = {one for one, _ in stale}
        questions = [question for one, question in before.questions.items() if one in asked]
        sources = {name: units for name, units in before.sources.items() if name in (*methods, "(reader)")}
        timings = self._timings()
        write_json(part / "run.json", summed({**before.config, "methods": methods}, questions))
        write_json(part / "sources.json", sources)
        write_lines(part / "questions.jsonl", map(asdict, questions))
        write_lines(part / "results.jsonl", stale.values())
        write_lines(part / "timings.jsonl", (timings[cell] for cell in stale if cell in timings))
        for cell, row in stale.items():
            _link(self.folder / "traces", part / "traces", trace_name(*cell))
            for name in filter(None, (row["context"], row["retrieved"])):
                _link(self.folder / "contexts", part / "contexts", name)
        Run(part).save_summaries()


def check_same(folder: Path, asked: Mapping[str, Any]) -> dict | None:
    """The configuration of the run that stands in a folder, None without one; :class:`SettingError` where its rows were
    made under other conditions than those that are `asked` for."""
    before = _read_json(folder / "run.json")
    if before is None:
        return None
    differing = [name for name in FIXED if before.get(name) != asked[name]]
    if not differing:
        differing += ["data"] if before["data"]["name"] != asked["data"]["name"] else []
        ours, theirs = ((one["reading"] or {}).get("engine") for one in (asked, before))
        differing += [f"the reader's engine: {theirs}, now {ours}"] if ours != theirs else []
        if asked["judge"] and before["judge"] not in (None, asked["judge"]):  # whose verdicts were paid for
            differing.append(f"the judge: {before['judge']}, now {asked['judge']}")
    if differing:
        raise SettingError(
            f"{folder} holds another run (it differs in {', '.join(differing)}); choose another folder, or delete "
            "this one"
        )
    return before


def locked(folder: Path) -> AbstractContextManager[None]:
    """Two processes must not add rows to one run; the second is told so."""
    taken = f"another process is writing the run {folder}; wait, or choose another folder"
    return places.locked(folder, SettingError(taken))


def write_json(path: Path, value: Any) -> None:
    write_new(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    write_new(path, "".join(json.dumps(row) + "\n" for row in rows))


def _read_json(path: Path) -> dict | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _whole(path: Path, write: Callable[[Path], Any]) -> None:
    """A file takes its name when it is whole. It is not flushed to disk as a layer is: rows are many, and are asked
    again."""
    part = path.with_name(path.name + ".tmp")
    write(part)
    os.replace(part, path)


def _link(source: Path, target: Path, name: str) -> None:
    """A second name for a file, which stays when the first is given to another; a copy where the disk has no links."""
    if (source / name).exists() and not (target / name).exists():
        try:
            os.link(source / name, target / name)
        except OSError:
            shutil.copyfile(source / name, target / name)


def _named(parts: Parts) -> Iterator[tuple[str, Identity]]:
    yield from parts.methods.items()
    yield from ((name, part) for name, part in (("(reader)", parts.reader), ("(judge)", parts.judge)) if part)


def _contradicted(before: Earlier, asked: Mapping, parts: Parts) -> dict[str, list[str]]:
    """Methods of the run that are not asked for, and of which a row could not be made any more beside those that are:
    they were made of other data, or with other code."""
    others = [name for name in before.config["methods"] if name not in parts.methods]
    if before.config["data"] != asked["data"]:
        return {name: ["the data"] for name in others}
    now = {unit: code for _, part in _named(parts) for unit, code in part.units.items()}
    sources = {name: before.sources.get(name, {}) for name in others}
    differing = {name: [u for u, code in units.items() if now.get(u, code) != code] for name, units in sources.items()}
    return {name: units for name, units in differing.items() if units}


def _merged(before: Mapping, asked: Mapping, questions: Iterable[Question], left_out: Iterable[str]) -> dict[str, Any]:
    """The configuration of a run that holds what it held and what is asked for."""
    stays = {name: one for name, one in before["methods"].items() if name not in left_out}
    merged = {
        **asked,
        "methods": {**stays, **asked["methods"]},
        "judging": asked["judging"] or before["judging"],
        "measures": {**before["measures"], **asked["measures"]},
    }
    return summed(merged, questions)


def _reasons(standing: Standing, left_out: Mapping[str, list[str]]) -> Iterator[str]:
    """Why rows do not hold, a line for each method."""
    for name, count in Counter(method for _, method in standing.stale).items():
        if name in left_out:
            what = _first(left_out[name])
            yield f"{count:,} rows of {name}, which was not asked for, were put aside, because {what} changed"
        else:
            what = _first(_changes(standing, name) or ["a question"])
            yield f"{count:,} rows of {name} were asked again, because {what} changed"


def _changes(standing: Standing, name: str) -> list[str]:
    """What changed of a method and of the reader: units of code, then parts of the method's description."""
    were, are = standing.before.sources, standing.sources
    units = [unit for part in (name, "(reader)") for unit in changed(were.get(part, {}), are.get(part, {}))]
    before, now = (_deciding(one["methods"].get(name, {})) for one in (standing.before.config, standing.config))
    return [*units, *(what for what in now if before[what] != now[what])]


def _deciding(method: Mapping[str, Any]) -> dict[str, Any]:
    """What of a method's description decides its rows; of a layer its content does."""
    layers = {kind: layer.get("hash") for kind, layer in (method.get("layers") or {}).items()}
    return {**{what: method.get(what) for what in ("settings", "engine", "encoder")}, "layers": layers}


def _first(names: Sequence[str], most: int = 3) -> str:
    first = ", ".join(name.replace("__main__:", "") for name in names[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first


def default_name(config: Mapping[str, Any]) -> str:
    """A folder's name for the run: its data, and the conditions that all of its rows share. It says nothing of methods,
    questions and measures, so that these are added to it."""
    engines = [config["reading"] and config["reading"]["engine"], *(m["engine"] for m in config["methods"].values())]
    asked = sorted({engine for engine in engines if engine and engine != "rules"})
    shared = {name: config[name] for name in (*FIXED, "data")}
    return f"{config['data']['name']}-{key_of(**shared, engines=asked)}"
