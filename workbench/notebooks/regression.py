"""Regression runs: the verdict and the key numbers of an executed notebook, and their differences from a baseline.

A *baseline* is a JSON file for each notebook, one number a line, made to be read in a diff. It holds the parameters,
the checks and facts of the verdict, the means of every run that the notebook made (`table.csv`), a hash of what each
question got, and the conditions of these runs: data, settings of methods and layers, wording of prompts. It holds
nothing that depends on the machine or the hour: no seconds, no folders, and numbers with eight digits.

A number is held to its baseline exactly, up to `RELATIVE` and `ABSOLUTE`, because machines differ in the last bits of a
sum, and so is what each question got, which may move where no mean does. So the engine is one of `EXACT`, which answer
alike each time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.errors import DataError
from workbench.evaluation.run import Run
from workbench.index.store import write_atomically
from workbench.records import Record
from workbench.text import text_hash

FORMAT = 1
RELATIVE, ABSOLUTE = 1e-6, 1e-9  # a difference of this share, or of this size, is the machine's
DIGITS = 8  # of a number in a baseline
FIRST = 10  # passages of a ranking that are compared; further down scores are too close for all machines to agree
EXACT = ("rules", "replay", "worked")
VERDICTS = "*_verdict.json"

Of = Literal["notebook", "data", "setting", "prompt", "check", "fact", "number", "question"]
Kind = Literal["failed", "no baseline", "other parameters", "moved", "flipped", "new", "vanished"]


@dataclass(frozen=True, repr=False)
class Finding(Record):
    """One thing that is no longer as recorded. `kind` of a check that holds no more, or again, is `flipped`."""

    kind: Kind
    of: Of
    name: str
    before: Any = None
    after: Any = None

    @property
    def by(self) -> float | None:
        """The difference of two numbers."""
        return self.after - self.before if _is_number(self.before) and _is_number(self.after) else None


@dataclass(frozen=True, repr=False)
class Checked(Record):
    """A notebook against its baseline. `compared` counts what was."""

    notebook: str
    findings: tuple[Finding, ...] = ()
    compared: int = 0

    @property
    def failed(self) -> bool:
        return any(finding.kind == "failed" for finding in self.findings)


@dataclass(frozen=True, repr=False)
class Regression(Record):
    """All notebooks against their baselines. `accepted`: the files that were written."""

    notebooks: tuple[Checked, ...]
    accepted: tuple[Path, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing moved; of an accepted regression, whether no notebook failed."""
        return not any(notebook.failed if self.accepted else notebook.findings for notebook in self.notebooks)

    def plain(self) -> dict[str, Any]:
        """The same as JSON."""
        notebooks = [
            asdict(notebook) | {"findings": [asdict(finding) | {"by": finding.by} for finding in notebook.findings]}
            for notebook in self.notebooks
        ]
        return {"holds": self.holds, "notebooks": notebooks, "accepted": [str(path) for path in self.accepted]}


@dataclass(frozen=True)
class Baseline:
    """What a notebook says. `checks`: name → value, expected, holds; `facts`: name → value; `runs`: name → questions,
    their hash, k, budget, reader, the table, method → measure → mean, and `got`, method → question → hash of what it
    got. `failure` is not stored: a failed notebook is no baseline."""

    notebook: str
    parameters: Mapping[str, Any]
    data: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, Mapping] = field(default_factory=dict)
    layers: Mapping[str, Mapping] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, Mapping] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, Mapping] = field(default_factory=dict)
    failure: str | None = None


def recorded(notebook: str, parameters: Mapping[str, Any], made: Path, failure: str | None = None) -> Baseline:
    """What an executed notebook says, from the folder of all that it made: its verdict and its runs."""
    verdicts = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(made.rglob(VERDICTS))]
    folders = [path.parent for path in sorted(made.rglob("run.json"))]
    runs = _named([Run(folder) for folder in folders], made)
    parts = [part for run in runs.values() for part in run.config["methods"].values()]
    layers = {kind: layer for part in parts for kind, layer in part["layers"].items()}
    return Baseline(
        notebook,
        dict(parameters),
        data={run.config["data"]["name"]: run.config["data"]["fingerprint"] for run in runs.values()},
        methods={part["label"]: _rounded(part["settings"]) for part in sorted(parts, key=lambda part: part["label"])},
        layers={kind: _rounded(layer["settings"]) for kind, layer in sorted(layers.items())},
        prompts=_prompts(runs.values(), layers.values()),
        checks={
            check["name"]: {name: _rounded(check[name]) for name in ("value", "expected", "holds")}
            for verdict in verdicts
            for check in verdict["checks"]
        },
        facts={name: _rounded(value) for verdict in verdicts for name, value in verdict["facts"].items()},
        runs={name: _summary(run) for name, run in runs.items()},
        failure=failure,
    )


def _named(runs: Sequence[Run], made: Path) -> dict[str, Run]:
    """Runs by the name of their folder, without the hash of their conditions: a run whose conditions change is to be
    compared, not lost. Runs of one name are numbered, in the order of their methods."""
    named: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: (_plain_name(run, made), sorted(run.config["methods"]))):
        name = plain = _plain_name(run, made)
        while name in named:
            name = f"{plain} {int(name.removeprefix(plain) or 1) + 1}"
        named[name] = run
    return named


def _plain_name(run: Run, made: Path) -> str:
    return re.sub(r"-[0-9a-f]{8,12}$", "", run.folder.relative_to(made).as_posix().removeprefix("runs/"))


def _summary(run: Run) -> dict[str, Any]:
    config = run.config
    table = _rounded(run.table().drop(columns="by").to_dict(orient="index"))
    conditions = {name: config.get(name) for name in ("k", "budget", "judge")}
    conditions["reader"] = (config.get("reading") or {}).get("label")
    asked_questions = {"questions": config["questions"]["n"], "of": config["questions"]["hash"]}
    return {**asked_questions, **conditions, "table": table, "got": _got(run)}


def _got(run: Run) -> dict[str, dict[str, str]]:
    """Method → question → hash of its first passages, its entities and its answer."""
    got: dict[str, dict[str, str]] = {method: {} for method in run.methods}
    for row in run.rows:
        passages = [passage for passage, _ in row["ranking"][:FIRST]]
        content = json.dumps([passages, row["nodes"], row["answer"]], ensure_ascii=False)
        got[row["method"]][row["question_id"]] = text_hash(content)[:8]
    return got


def _prompts(runs: Sequence[Run], layers: Sequence[Mapping]) -> dict[str, str]:
    """Step → the wording of its prompt, of every Step that the runs or the layers below them ask. With the rules no
    prompt is sent, but a changed wording is a changed experiment. Versions of libraries do not count."""
    from workbench.steps import catalogue

    steps = catalogue()
    names = {name: identity for run in runs for name, identity in (run.config.get("prompts") or {}).items()}
    makers = " ".join(maker for layer in layers for maker in layer.get("made_by", ()))
    names |= {name: "" for name in re.findall(r"(\w+) v\d+", makers) if name not in names}
    return {name: _wording(steps[name]) if name in steps else names[name] for name in sorted(names)}


def _wording(step: Any) -> str:
    return f"v{step.version} {step.prompt_hash}"


def _rounded(value: Any) -> Any:
    """The value for JSON, numbers with `DIGITS` digits, without NaN."""
    if isinstance(value, Mapping):
        return {str(name): _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")
    return value


# ── the file ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def file_of(folder: Path, notebook: str) -> Path:
    return folder / f"{notebook}.json"


def read(folder: Path, notebook: str) -> Baseline | None:
    """The baseline of a notebook; None if it has none. Raises :class:`DataError` if its file cannot be read."""
    path = file_of(folder, notebook)
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") > FORMAT:
            raise DataError(f"{path} has a newer format than {FORMAT}; upgrade hopscope")
        return Baseline(**content)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} cannot be read as a baseline ({error}); restore it from git, or write it again with --accept"
        ) from None


def write(folder: Path, baseline: Baseline) -> Path:
    content = {"format": FORMAT, **asdict(baseline)}
    content.pop("failure")
    folder.mkdir(parents=True, exist_ok=True)
    path = file_of(folder, baseline.notebook)
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return path


# ── the comparison ────────────────────────────────────────────────────────────────────────────────────────────────────


def other_parameters(before: Baseline, parameters: Mapping[str, Any]) -> list[Finding]:
    """The parameters that differ from those of a baseline: its numbers say nothing about others."""
    return [
        Finding("other parameters", "notebook", name, before.parameters.get(name), parameters.get(name))
        for name in dict.fromkeys([*before.parameters, *parameters])
        if before.parameters.get(name) != parameters.get(name) or (name in before.parameters) != (name in parameters)
    ]


def vanished(notebook: str) -> Checked:
    """A baseline whose notebook is no longer there."""
    return Checked(notebook, (Finding("vanished", "notebook", notebook),))


def compare(before: Baseline | None, now: Baseline) -> Checked:
    """An executed notebook against its baseline."""
    failed = [Finding("failed", "notebook", now.notebook, after=now.failure)] if now.failure else []
    if before is None:
        return Checked(now.notebook, (*failed, Finding("no baseline", "notebook", now.notebook)))
    if other := other_parameters(before, now.parameters):
        return Checked(now.notebook, (*failed, *other))
    old, new = (dict(_flat(baseline)) for baseline in (before, now))
    findings = []
    for key in dict.fromkeys([*old, *new]):
        if key not in new:
            # What a failed notebook did not come to is no finding of its own.
            findings += [] if now.failure and not now.checks else [Finding("vanished", *key, before=old[key])]
        elif key not in old:
            findings.append(Finding("new", *key, after=new[key]))
        elif key[0] == "check":
            findings += _check(key[1], old[key], new[key])
        elif not same(old[key], new[key]):
            findings.append(Finding("moved", *key, old[key], new[key]))
    return Checked(now.notebook, (*failed, *findings), len(old.keys() & new.keys()))


def _flat(baseline: Baseline) -> Iterator[tuple[tuple[Of, str], Any]]:
    """((of, name), value) for everything that is compared, conditions first: they explain the numbers."""
    for name, fingerprint in baseline.data.items():
        yield ("data", name), fingerprint
    for owner, settings in (*baseline.layers.items(), *baseline.methods.items()):
        for name, value in settings.items():
            yield ("setting", f"{owner}, {name}"), value
    for name, run in baseline.runs.items():
        yield ("data", f"{name}, questions"), f"{run['questions']}, {run['of']}"
        for condition in ("reader", "k", "budget", "judge"):
            yield ("setting", f"{name}, {condition}"), run[condition]
    for name, wording in baseline.prompts.items():
        yield ("prompt", name), wording
    for name, check in baseline.checks.items():
        yield ("check", name), check
    for name, value in baseline.facts.items():
        yield ("fact", name), value
    for name, run in baseline.runs.items():
        for method, row in run["table"].items():
            for measure, value in row.items():
                yield ("number", f"{name}, {method}, {measure}"), value
    for name, run in baseline.runs.items():
        for method, got in run.get("got", {}).items():
            for question, what in got.items():
                yield ("question", f"{name}, {method}, {question}"), what


def _check(name: str, before: Mapping, now: Mapping) -> Iterator[Finding]:
    if before["holds"] != now["holds"]:
        outcomes = (f"{'holds' if entry['holds'] else 'fails'} ({entry['value']})" for entry in (before, now))
        yield Finding("flipped", "check", name, *outcomes)
    elif not same(before["value"], now["value"]):
        yield Finding("moved", "check", name, before["value"], now["value"])
    if before["expected"] != now["expected"]:
        yield Finding("moved", "check", f"{name}, what is expected", before["expected"], now["expected"])


def same(before: Any, now: Any) -> bool:
    """Whether two values of JSON are equal, numbers up to the tolerance.

    >>> same([0.5, {"a": 2}], [0.5 + 1e-8, {"a": 2}]), same(0.5, 0.5001), same(1, True)
    (True, False, False)
    """
    if _is_number(before) and _is_number(now):
        return math.isclose(before, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(same, before, now))
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return before.keys() == now.keys() and all(same(before[name], now[name]) for name in before)
    return type(before) is type(now) and before == now


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)
