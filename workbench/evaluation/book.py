"""The folder of a run while it is written: its rows, which of them are still valid, and which are missing.

A run grows with methods, questions and measures; only missing rows are computed. A row is valid as long as its key
matches the current method, reader and question (`identity`). Invalid rows move to `before/`, where they form a separate
run, and so do rows of methods that are not requested now and were made by other code. No run has rows of two versions.

Rows are appended one by one, each flushed before the next, after the files that it names. At the end they are sorted by
repeats, questions and methods, so a run that grew has the same bytes as one made at once."""

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
from workbench.evaluation import sums
from workbench.evaluation.identity import Identity, row_key
from workbench.evaluation.run import Run, summed, trace_name
from workbench.index.journal import lines
from workbench.index.store import key_of
from workbench.llm.record import noted, used
from workbench.places import folder_name
from workbench.records import Question
from workbench.source import changed
from workbench.text import text_hash
from workbench.trace import Trace

# Conditions shared by all rows of a run; other conditions make another run.
FIXED = ("format", "reader", "k", "budget", "trace")


class Job(NamedTuple):
    """A question for a method, in a repeat."""

    question: Question
    method: str
    repeat: int = 0


class Parts(NamedTuple):
    """The identities that determine the requested rows."""

    methods: Mapping[str, Identity]
    reader: Identity | None
    judge: Identity | None
    measures: Mapping[str, str]  # measure -> key


@dataclass(frozen=True)
class Earlier:
    """The run that a folder holds: its configuration, the code that made it (as `RunState.sources`), its questions."""

    config: dict[str, Any]
    sources: dict[str, dict[str, str]]
    questions: dict[str, Question]

    @classmethod
    def of(cls, folder: Path, config: dict[str, Any]) -> Earlier:
        questions = {question.id: question for question in sums.read_questions_of(folder, growing=True)}
        return cls(config, sums.read_sources(folder), questions)


@dataclass
class RunState:
    """The state of a run's folder for the requested `config`: valid `rows`, invalid ones (`stale`), the run `before`
    that made these, and `why` they are invalid, in words. Rows of which a trace or a context was `lost` count as not
    made, unless all are gone: somebody then wanted the room."""

    folder: Path
    config: dict[str, Any]
    sources: dict[str, dict[str, str]]  # method (or "(reader)", "(judge)") -> unit of code -> hash
    questions: dict[str, Question]
    rows: dict[sums.Cell, dict]
    room: Callable[[str], int | None]
    stale: dict[sums.Cell, dict] = field(default_factory=dict)
    before: Earlier | None = None
    why: list[str] = field(default_factory=list)
    lost: int = 0

    @classmethod
    def of(
        cls, folder: Path, wanted: Mapping[str, Any], parts: Parts, questions: Sequence[Question],
        room: Callable[[str], int | None],
    ) -> RunState:  # fmt: skip
        """The state of `folder`; `wanted` is the configuration of a run with only the requested parts, and `room` says
        how long a context may be in the window of the reader's engine. Raises :class:`SettingError` if the folder
        contains another run."""
        config = check_same(folder, wanted)
        sources = {name: part.units for name, part in _named(parts)}
        mine = {question.id: question for question in questions}
        if config is None:
            return cls(folder, dict(wanted), sources, mine, {}, room)
        before = Earlier.of(folder, config)
        now = before.questions | mine
        left_out = _contradicted(before, wanted, parts)
        config = _merged(before.config, wanted, now.values(), left_out)
        stays = {n: units for n, units in before.sources.items() if n in config["methods"] or n == "(judge)"}
        standing = cls(folder, config, {**stays, **sources}, now, {}, room, before=before)
        there = {place: {path.name for path in (folder / place).glob("*")} for place in sums.PLACES}
        for cell, row in sums.by_cell(folder / "results.jsonl", growing=True).items():
            if any(there[place] and name not in there[place] for place, name in files_of(row, config["trace"])):
                standing.lost += 1
            else:
                (standing.rows if standing.holds(row) else standing.stale)[cell] = row
        standing.why = list(_reasons(standing, left_out))
        return standing

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is still valid: its method, reader and question are unchanged, and today's window would leave
        its context as it was."""
        method, question = self.config["methods"].get(row["method"]), self.questions.get(row["question_id"])
        reading = self.config["reading"] and self.config["reading"]["key"]
        same = bool(method and question and row.get("key") == row_key(method["key"], reading, question))
        return same and self.fits(row)

    def fits(self, row: Mapping[str, Any]) -> bool:
        """Whether today's window truncates this row's context as it did then."""
        question, cut_to = self.questions.get(row["question_id"]), row.get("cut_to")
        if question is None or (cut_to is None and row["read_tokens"] is None):
            return True
        room = self.room(question.question)
        return room == cut_to if cut_to is not None else room is None or row["read_tokens"] <= room

    def missing(self, jobs: Iterable[Job]) -> list[Job]:
        """Those without a row."""
        return [job for job in jobs if (job.question.id, job.method, job.repeat) not in self.rows]


class Book:
    """The folder of a run during writing; use inside `locked`."""

    def __init__(self, standing: RunState):
        self.standing, self.folder = standing, standing.folder
        self._noted, self._written = sums.noted(self.folder), set[str]()
        for name in ("traces", "contexts"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for torn in self.folder.rglob("*.tmp"):
            torn.unlink()
        self.aside = self._put_aside() if standing.stale else None
        self._replace("questions.jsonl", lines(map(asdict, standing.questions.values())))
        self._replace("sources.json", json_text(dict(sorted(standing.sources.items()))))
        self._replace("run.json", json_text(standing.config))
        self._mend()

    @property
    def rows(self) -> dict[sums.Cell, dict]:
        return self.standing.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """Which rows were recomputed, why, and where the earlier ones are."""
        lost = [f"{self.standing.lost:,} rows were asked again, because a trace or a context of theirs was missing"]
        reasons = (f"{reason}; the earlier rows are in {self.aside}" for reason in self.standing.why)
        return (*lost * bool(self.standing.lost), *reasons)

    @contextmanager
    def open(self) -> Iterator[Callable[[dict, Mapping[str, Any] | None, Trace | None, Mapping[str, str]], None]]:
        """Yields a function that adds a row with its timing, trace and contexts, and replaces an earlier row of the
        same key."""
        with (
            (self.folder / "results.jsonl").open("a", encoding="ascii") as results,
            (self.folder / "timings.jsonl").open("a", encoding="ascii") as timings,
        ):

            def add(row, timing, trace, contexts) -> None:
                self._loosen()
                named = {name: row[name] for name in ("question_id", "method", "repeat") if name in row}
                self._write_files(row, trace, contexts)
                timing = timing and self._timing(sums.cell_of(row), timing)
                for out, line in ((timings, timing and {**named, **timing}), (results, row)):
                    if line:
                        out.write(json.dumps(line) + "\n")
                        out.flush()
                self.rows[sums.cell_of(row)] = row

            yield add

    def _timing(self, cell: sums.Cell, timing: Mapping[str, Any]) -> dict[str, Any] | None:
        """The seconds of a row and the answers that it used. Answers that only its judge requested (without seconds)
        are added to the previous ones."""
        before = {} if "seconds" in timing else self._timed.get(cell)
        if before is None:
            return None
        folder, answers = self.folder.absolute(), dict(timing.get("answers", {}))
        for recording, keys in used([before], folder).items():
            answers[recording] = keys | answers.get(recording, set())
        line = {**before, **timing, **({"answers": noted(answers, folder)} if answers else {})}
        self._timed[cell] = line
        return line

    def _write_files(self, row: Mapping[str, Any], trace: Trace | None, contexts: Mapping[str, str]) -> None:
        """The files that a row names. They are written first, so that a row never names a missing file."""
        for name, text in contexts.items():
            if not (path := self.folder / "contexts" / name).exists():
                _whole(path, lambda part, text=text: part.write_text(text, encoding="utf-8"))
        if trace:
            name = trace_name(*sums.cell_of(row))
            _whole(self.folder / "traces" / name, trace.save)
            self._written.add(f"traces/{name}")

    def _loosen(self) -> None:
        """Mark the checksums of the run as outdated: from here on its files change."""
        (self.folder / sums.FILE).unlink(missing_ok=True)

    def _replace(self, name: str, text: str) -> None:
        """Write a file of the run if its content changes, so that a run without new rows modifies nothing."""
        if not sums.same_text(self.folder / name, text):
            self._loosen()
            sums.write_new(self.folder / name, text)

    def context(self, name: str) -> str:
        return sums.read_context(self.folder, name)

    def close(self) -> None:
        """Sort rows and timings by repeats, questions and methods, delete files that no row names, and write the
        summaries."""
        config, questions = self.standing.config, self.standing.questions
        repeats = range(config.get("repeats", 1))
        cells = [(question, name, number) for number in repeats for question in questions for name in config["methods"]]
        rows = [self.rows[cell] for cell in cells if cell in self.rows]
        timings = self._timings()
        self._replace("results.jsonl", lines(rows))
        self._replace("timings.jsonl", lines(timings[cell] for cell in cells if cell in timings))
        named = {"traces": {trace_name(*cell) for cell in self.rows}}
        named["contexts"] = {row[name] for row in rows for name in ("context", "retrieved") if row[name]}
        for place, names in named.items():
            for path in (self.folder / place).iterdir():
                if path.name not in names:
                    path.unlink()
        self._note()
        Run(self.folder).save_summaries()

    def _note(self) -> None:
        sums.write(self.folder, self._noted, self._written)
        self._noted, self._written = sums.noted(self.folder), set()

    def keep(self, name: str, notes: Iterable[str]) -> None:
        """Add to the configuration what became known while rows were made, beside what earlier calls wrote."""
        if merged := sorted({*self.standing.config.get(name, ()), *notes}):
            self.standing.config[name] = merged
            self._replace("run.json", json_text(self.standing.config))
            self._note()

    def _mend(self) -> None:
        """Remove the torn last line of a killed process, and the timings of rows that it did not write."""
        sums.read_rows(self.folder / "results.jsonl", mend=True)
        sums.read_rows(self.folder / "timings.jsonl", mend=True)
        timings = self._timings()
        self._timed = {cell: timings[cell] for cell in timings if cell in self.rows}
        if timings.keys() - self.rows.keys():
            self._replace("timings.jsonl", lines(self._timed.values()))

    def _timings(self) -> dict[sums.Cell, dict]:
        return sums.by_cell(self.folder / "timings.jsonl", growing=True)

    def _put_aside(self) -> Path:
        """Move the stale rows into a run in `before/`; returns its folder."""
        stale = self.standing.stale
        target = self.folder / "before" / text_hash("".join(json.dumps(row) + "\n" for row in stale.values()))[:12]
        if not target.exists():  # otherwise a killed process got this far
            part = target.with_name(f"{target.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            self._write_earlier(part, stale)
            os.replace(part, target)
        self._replace("results.jsonl", lines(self.rows.values()))
        for cell in stale:
            (self.folder / "traces" / trace_name(*cell)).unlink(missing_ok=True)
        return target

    def _write_earlier(self, part: Path, stale: Mapping[sums.Cell, dict]) -> None:
        """Write the stale rows as a run with the earlier configuration."""
        for name in ("traces", "contexts"):
            (part / name).mkdir(parents=True)
        before = self.standing.before
        stored = before.config["methods"]
        methods = {name: stored[name] for name in dict.fromkeys(name for _, name, _ in stale) if name in stored}
        question_ids = {question_id for question_id, *_ in stale}
        questions = [question for id_, question in before.questions.items() if id_ in question_ids]
        sources = {name: units for name, units in before.sources.items() if name in (*methods, "(reader)")}
        timings = self._timings()
        sums.write_new(part / "run.json", json_text(summed({**before.config, "methods": methods}, questions)))
        sums.write_new(part / "sources.json", json_text(sources))
        sums.write_new(part / "questions.jsonl", lines(map(asdict, questions)))
        sums.write_new(part / "results.jsonl", lines(stale.values()))
        sums.write_new(part / "timings.jsonl", lines(timings[cell] for cell in stale if cell in timings))
        for cell, row in stale.items():
            places.link(self.folder / "traces", part / "traces", trace_name(*cell))
            for name in filter(None, (row["context"], row["retrieved"])):
                places.link(self.folder / "contexts", part / "contexts", name)
        sums.write(part, self._noted, ())
        Run(part).save_summaries()


def files_of(row: Mapping[str, Any], trace: str) -> Iterator[tuple[str, str]]:
    """(folder, name) of the files that belong to a row, in a run with this level of trace."""
    yield from (("contexts", row[name]) for name in ("context", "retrieved") if row.get(name))
    if trace != "off":
        yield "traces", trace_name(*sums.cell_of(row))


def check_same(folder: Path, wanted: Mapping[str, Any]) -> dict | None:
    """The configuration of the run in a folder, None without one. Raises :class:`SettingError` if its rows were made
    under other conditions than the `wanted` ones."""
    if not (folder / "run.json").exists():
        return None
    before = sums.read_config(folder)
    differing = [name for name in FIXED if before.get(name) != wanted[name]]
    if not differing:
        differing += list(_other_seeds(before, wanted))
        differing += ["data"] if before["data"]["name"] != wanted["data"]["name"] else []
        ours, theirs = ((config["reading"] or {}).get("engine") for config in (wanted, before))
        differing += [f"the reader's engine: {theirs}, now {ours}"] if ours != theirs else []
        if wanted["judge"] and before["judge"] not in (None, wanted["judge"]):  # its verdicts were paid for
            differing.append(f"the judge: {before['judge']}, now {wanted['judge']}")
    if differing:
        raise SettingError(
            f"{folder} holds another run (it differs in {', '.join(differing)}); choose another folder, or delete "
            "this one"
        )
    return before


def _other_seeds(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Engines of both configurations whose requests carry different seeds (0 if not stated)."""
    were, are = (config.get("seeds", {}) for config in (before, wanted))
    both = {*_engines(before)} & {*_engines(wanted)}
    for name in sorted(both):
        if (was := were.get(name, [0])) != (now := are.get(name, [0])):
            yield f"the seed of {name}: {', '.join(map(str, was))}, now {', '.join(map(str, now))}"


def _engines(config: Mapping[str, Any]) -> Iterator[str]:
    parts = [*config["methods"].values(), config.get("reading"), config.get("judging")]
    yield from (name for part in parts if part for name in (part.get("engine") or "").split(", ") if name)


def locked(folder: Path) -> AbstractContextManager[None]:
    """Lock a run's folder; raises :class:`SettingError` if another process holds it."""
    taken = f"another process is writing the run {folder}; wait, or choose another folder"
    return places.locked(folder, SettingError(taken))


def json_text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file and name it when it is complete. Unlike a layer, it is not flushed to disk: there are many, and lost
    rows are computed again."""
    part = path.with_name(path.name + ".tmp")
    write(part)
    os.replace(part, path)


def _named(parts: Parts) -> Iterator[tuple[str, Identity]]:
    yield from parts.methods.items()
    yield from ((name, part) for name, part in (("(reader)", parts.reader), ("(judge)", parts.judge)) if part)


def _contradicted(before: Earlier, wanted: Mapping, parts: Parts) -> dict[str, list[str]]:
    """Methods of the run that are not requested and whose rows cannot stay next to the requested ones, because they
    were made from other data or with other code: name → what differs."""
    others = [name for name in before.config["methods"] if name not in parts.methods]
    if before.config["data"] != wanted["data"]:
        return {name: ["the data"] for name in others}
    now = {unit: code for _, part in _named(parts) for unit, code in part.units.items()}
    sources = {name: before.sources.get(name, {}) for name in others}
    differing = {name: [u for u, code in units.items() if now.get(u, code) != code] for name, units in sources.items()}
    return {name: units for name, units in differing.items() if units}


def _merged(before: Mapping, wanted: Mapping, questions: Iterable[Question], left_out: Iterable[str]) -> dict[str, Any]:
    """The configuration of a run with its earlier and its requested parts."""
    stays = {name: method for name, method in before["methods"].items() if name not in left_out}
    merged = {
        **{name: value for name, value in wanted.items() if name not in ("seeds", "repeats")},
        "methods": {**stays, **wanted["methods"]},
        "judging": wanted["judging"] or before["judging"],
        "measures": {**before["measures"], **wanted["measures"]},
        **_grown("seeds", {**before.get("seeds", {}), **wanted.get("seeds", {})}, {}),
        **_grown("repeats", max(before.get("repeats", 1), wanted.get("repeats", 1)), 1),
        **({"sent": before["sent"]} if "sent" in before else {}),
    }
    return summed(merged, questions)


def _grown(name: str, value: Any, usual: Any) -> dict[str, Any]:
    """An entry of a configuration, left out where it has its default."""
    return {} if value == usual else {name: value}


def _reasons(standing: RunState, left_out: Mapping[str, list[str]]) -> Iterator[str]:
    """Why rows are invalid, a line for each method."""
    stale = standing.stale.items()
    for name, count in Counter(method for (_, method, _), _ in stale).items():
        if name in left_out:
            what = first_of(left_out[name])
            yield f"{count:,} rows of {name}, which was not asked for, were put aside, because {what} changed"
        else:
            changes = _changes(standing, name)
            if not changes and any(method == name and not standing.fits(row) for (_, method, _), row in stale):
                changes = [f"the window of {standing.config['reading']['engine']}"]
            what = first_of(changes or ["a question"])
            yield f"{count:,} rows of {name} were asked again, because {what} changed"


def _changes(standing: RunState, name: str) -> list[str]:
    """The changes of a method and of the reader: units of code, then parts of the method's description."""
    were, are = standing.before.sources, standing.sources
    units = [unit for part in (name, "(reader)") for unit in changed(were.get(part, {}), are.get(part, {}))]
    before, now = (_deciding(config["methods"].get(name, {})) for config in (standing.before.config, standing.config))
    return [*units, *(what for what in now if before[what] != now[what])]


def _deciding(method: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a method's description that determine its rows; for a layer, the hash of its content."""
    layers = {kind: layer.get("hash") for kind, layer in (method.get("layers") or {}).items()}
    return {**{what: method.get(what) for what in ("settings", "engine", "encoder", "window")}, "layers": layers}


def first_of(names: Sequence[str], most: int = 3) -> str:
    """The first of the names, and how many more there are."""
    first = ", ".join(names[:most])
    return f"{first} and {len(names) - most:,} more" if len(names) > most else first


def default_name(config: Mapping[str, Any]) -> str:
    """The default name of a run's folder, from its data and the conditions that all of its rows share. It does not
    depend on methods, questions and measures, so that these can be added."""
    engines = [config["reading"] and config["reading"]["engine"], *(m["engine"] for m in config["methods"].values())]
    models = sorted({engine for engine in engines if engine and engine != "rules"})
    shared = {name: config[name] for name in (*FIXED, "data")}
    shared |= {"seeds": config["seeds"]} if "seeds" in config else {}
    return f"{folder_name(config['data']['name'])}-{key_of(**shared, engines=models)}"
