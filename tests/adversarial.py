"""Adversarial runs: the run that a paper asks for, of two rows of every table of every paper, and that run with one of
its conditions changed. All of it in memory: a run is only foreseen, and a change edits what it says of itself."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from workbench.index.building import LAYERS, OPTIONS
from workbench.index.usage import ARTICLES
from workbench.measures import OF_SHORT
from workbench.methods import METHODS
from workbench.papers.comparable import _foreseen
from workbench.papers.condition import ALL, of_data
from workbench.papers.figures import KINDS, Measurement
from workbench.papers.placing import Compared, Measured, places, settings_of
from workbench.papers.recipes import tables_of
from workbench.papers.tables import Cell
from workbench.published import Paper, paper
from workbench.reading import READERS
from workbench.settings import defaults, parse_spec, spec_of

FEW = 40  # questions of each data set
Change = Callable[[dict, dict, list], Any]  # of the run's config, of what it says of the method, of its rows


class Sources(list):
    """The prompts that count as the source's: all but those of a change."""

    def __contains__(self, wording: object) -> bool:
        return not str(wording).startswith(("ours", "other"))


@cache
def stated(name: str) -> Paper:
    """A paper as it is, but for stand-ins of what no machine has here: prompts, the files of data sets, and so many
    questions."""
    source = paper(name)
    data = source.terms["data"]
    known = {"passages": "as published", "questions": "as published"}
    return replace(source, terms={
        **source.terms, "prompts": {"source": Sources()}, "fingerprints": dict.fromkeys(data.values(), known),
        "questions": dict.fromkeys(data, FEW),
    })  # fmt: skip


class Everything(list):
    """Every prompt is the source's."""

    def __contains__(self, wording: object) -> bool:
        return True


@cache
def closed(name: str) -> Paper:
    """The paper as if it said everything: what it leaves open is as the workbench does it, and the prompts are ours."""
    source = stated(name)
    terms = copy.deepcopy(dict(source.terms))
    terms["engines"] = dict.fromkeys(("index", "method", "reader", "judge"), "gpt-4o-mini") | terms["engines"]
    terms.setdefault("encoder", "an-encoder")
    terms["passages"] = {one: of_data(terms["passages"], one) or 1_234 for one in terms["data"]}
    settings = terms["settings"]
    terms["settings"] = {
        name: _to_toml(settings_of(spec_of(name, _of_toml(settings.get(name, {}))))) for name in METHODS
    }
    layers = {kind: json.loads(json.dumps(_to_toml(asdict(LAYERS[kind][1]())))) for kind in LAYERS}
    terms["layers"] = {kind: layers.get(kind, {}) | terms["layers"].get(kind, {}) for kind in (*LAYERS, ARTICLES)}
    terms["reader"]["asked"] = _to_toml(defaults(READERS["direct"])) | terms["reader"]["asked"]
    terms["temperature"] = {"method": 0.0, "judge": 0.0} | terms.get("temperature", {})
    terms["seed"] = terms.get("seed", 0)
    terms["prompts"] = {"source": Everything()}
    for one in terms.get("methods", ()):
        one.pop("why", None)  # what is known to differ
    return replace(source, terms=terms | {"unsaid": {}, "measures": {}})


def _of_toml(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: None if value == "none" else value for key, value in settings.items() if key != "backbone"}


def _to_toml(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: "none" if value is None else value for key, value in settings.items()}


def scored(found: Measurement, value: float, spread: float = 0.1) -> Any:
    """The run of a measurement whose questions have values around this one."""
    measure = (found.of.place.ours(found.measure) or "").partition(" of covered")[0]

    def score(config, described, rows):
        for at, row in enumerate(rows):
            row["scores"] = row["scores"] | {measure: value + (spread if at % 2 else -spread)}

    return changed(found.of.run, score, found.of.label)


@dataclass
class Row:
    """A printed number, and the first side of the run that would measure it."""

    source: Paper
    printed: Any
    side: Measured
    measure: str

    @property
    def name(self) -> str:
        return " | ".join((self.printed.table, self.printed.backbone, self.printed.method, self.measure))

    def sides(self, run: Any) -> list[Measured]:
        """The places of a run that are the row's."""
        place, label = self.side.place, self.side.label
        other = {"other": replace(self.side.other, run=run)} if isinstance(self.side, Compared) else {}
        here = (one for one in places(self.source.terms, run, label, place.data) if one[:3] == place[:3])
        return [replace(self.side, run=run, place=one, **other) for one in here]


def rows_of(source: Paper) -> Iterator[Row]:
    """Of every table the first row of each method, at most two."""
    for table in tables_of(source):
        seen: dict[tuple[str, str], Row] = {}
        for printed in source.printed[source.printed["table"] == table].itertuples():
            method = (printed.backbone, printed.method)
            if printed.kind not in KINDS or method in seen or len(seen) == 2:
                continue
            cell = Cell(table, *method, printed.data, printed.measure, printed.value)
            for found in _foreseen(source, cell):
                seen[method] = Row(source, printed, _whole(found.sides[0]), found.measure)
                break
        yield from seen.values()


def _whole(side: Measured) -> Measured:
    """With a reader that says all its settings, and makers of the layers that a model writes alone."""

    def change(config, described, rows):
        if config["reader"]:
            name, given = parse_spec(config["reader"])
            config["reader"] = spec_of(name, defaults(READERS[name]) | given)
        for kind in described["layers"].keys() - {*side.place.written}:
            described["layers"][kind].pop("made_by")

    return replace(side, run=changed(side.run, change, side.label))


def changed(run: Any, change: Change, label: str | None = None) -> Any:
    """The run as it would be after a change, of its method of this label, by default of the only one."""
    again = copy.copy(run)
    again.config, rows = copy.deepcopy(run.config), [dict(row) for row in run.rows]
    (label,) = [label] if label else run.methods
    change(again.config, again.config["methods"][label], rows)
    again.__dict__["rows"] = rows
    return again


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return 7 if value is None else f"not-{value.partition('[')[0]}" if isinstance(value, str) else "other"


def put(*path: str) -> Callable[[Any], Change]:
    """Puts a value at a path: into `run`, what it says of the `method`, or the first of its `rows`."""

    def of(value: Any) -> Change:
        def change(config, described, rows):
            first, *outer, last = path
            part = {"run": config, "method": described, "row": rows[0]}[first]
            for key in outer:
                part = part[key]
            part[last] = value

        return change

    return of


def changes(row: Row) -> Iterator[tuple[str, Change]]:
    """Each condition of the run of a row changed alone: its name, and the change."""
    run, terms = row.side.run, row.source.terms["reader"]
    yield from _of_method(run.config["methods"][row.side.label])
    yield from _of_run(run.config)
    place = row.side.place
    if not {place.name, place.under and place.under[0]} & {*row.source.terms.get("falls_back", ())}:
        yield "fallback", put("row", "fallback")("ours")
    yield "window", put("method", "window")({"tokens": 77})
    for kind in row.source.terms.get("more_layers", {}).get(place.data, ()):
        yield (
            f"no {kind}",
            lambda config, described, rows, kind=kind: (
                config["data"] if kind == ARTICLES else described["layers"]
            ).pop(kind),
        )
    returns = row.source.terms.get("returns", {}).get(place.name)
    if "@" in row.measure or returns not in (None, ALL):
        yield "depth of the ranking", put("run", "k")(1)
    if place.name in row.source.terms.get("whole", ()):
        yield "final set cut", put("row", "selected")(run.config["k"])
    if returns == ALL:
        yield "passages returned cut", put("row", "ranking")([["p", 1.0]] * run.config["k"])
    if row.measure not in terms["of"] or row.measure in terms.get("compared", ()):
        return
    free = {f"reader's {key}" for key in terms.get("free_in_own_context", ())}
    free |= {"reader's prompt"} if "Routing" in row.printed.method else set()
    free |= set() if row.measure.partition(" ")[0] in OF_SHORT else {"reader's rewrite"}
    for what, change in _of_reader(run.config, row.measure in terms.get("judged", ())):
        if what not in free:
            yield what, change
    yield "cut", put("row", "cut_to")(500)
    yield "window of the reader", put("run", "reading")(run.config["reading"] | {"window": {"budget": 9}})


def _of_method(described: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    for key, value in described["settings"].items():
        if key != "backbone":
            yield f"setting {key}", put("method", "settings", key)(other(value))
    if described["settings"].get("backbone"):
        yield from _of_backbone(described["settings"]["backbone"])
    for kind, layer in described["layers"].items():
        for key, value in layer["settings"].items():
            yield f"layer {kind}.{key}", put("method", "layers", kind, "settings", key)(other(value))
        for key, value in (("made_by", ["rules (made v1)"]), ("made_by", ["openai:gpt-2 (made v1)"]),
                           ("made_by", [f"{layer.get('made_by', ['x'])[0].partition(' ')[0]} (other v2)"]),
                           ("made_by", []), ("made_by", None), ("failures", 3)):  # fmt: skip
            if "made_by" in layer:
                yield f"layer {kind}: {key} {value}", put("method", "layers", kind, key)(value)
    yield "passages", put("method", "layers", "passages", "passages")(7)
    if described["encoder"]:
        yield "encoder", put("method", "encoder")("another-encoder")
        yield "encoder unknown", put("method", "encoder")(None)
    if described["prompts"]:
        yield "model by rules", put("method", "engine")("rules")
        yield "model", put("method", "engine")("openai:gpt-2")
        yield "temperature", put("method", "temperatures")({next(iter(described["prompts"])): 0.4})
        for step in described["prompts"]:
            yield f"prompt of {step}", put("method", "prompts", step)("ours v1 x")


def _of_backbone(spec: str) -> Iterator[tuple[str, Change]]:
    name = spec.partition("[")[0]
    for key, value in settings_of(spec).items():
        if isinstance(value, bool | int | float):
            try:
                made = settings_of(spec_of(name, settings_of(spec) | {key: other(value)}))
            except Exception:  # a setting with bounds
                made = settings_of(spec_of(name, settings_of(spec) | {key: value / 2}))
            yield f"backbone's {key}", put("method", "settings", "backbone")(spec_of(name, made))


def _of_run(config: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    yield "data", put("run", "data", "name")(config["data"]["name"] + "-other")
    for key, value in config["data"][OPTIONS].items():
        yield f"option {key}", put("run", "data", OPTIONS, key)(other(value))
    for key, value in config["data"].get(ARTICLES, {}).items():
        yield f"articles.{key}", put("run", "data", ARTICLES, key)(other(value))
    yield "questions", lambda config, described, rows: (rows.pop(), config["questions"].update(n=len(rows)))
    yield "budget", put("run", "budget")(500)
    yield "failures", put("row", "failure")("broke")
    yield "failed request", put("row", "usage")({"of the method": {"failed": 1}})
    yield "mixed scales", put("row", "mixed")(True)
    yield "which questions", put("run", "questions", "hash")("another")
    yield "which passages", put("run", "data", "fingerprint")("another")
    yield "seed", put("run", "seeds")({"openai:x": [7]})
    yield "unfinished", lambda config, described, rows: rows.pop()


def _of_reader(config: dict[str, Any], judged: bool) -> Iterator[tuple[str, Change]]:
    name, given = parse_spec(config["reader"])
    for key, value in given.items():
        yield f"reader's {key}", put("run", "reader")(spec_of(name, given | {key: other(value)}))
    for another in ("structured", "local", "sparql-exec", "global"):
        yield f"reader {another}", put("run", "reader")(spec_of(another, given))
    reading = config["reading"]
    yield "reader's model", put("run", "reading")(reading | {"engine": "openai:gpt-2"})
    yield "reader by rules", put("run", "reading")(reading | {"engine": "rules"})
    yield "reader's prompt", put("run", "reading")(reading | {"prompts": {"answer": "ours v1 x"}})
    yield "reading unknown", put("run", "reading")(None)
    if judged:
        yield "judge", put("run", "judge")("openai:gpt-2")
        yield "no judge", put("run", "judge")(None)
        yield "judge's prompt", put("run", "judging")({"prompts": {"judge": "ours v1 x"}})
