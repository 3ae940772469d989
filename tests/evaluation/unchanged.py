"""Runs that share every condition with a paper, and papers that leave none open: what a number must be held against
before it counts as reproduced."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, replace
from typing import Any

from test_analyses import written

from workbench.evaluation.run import Run
from workbench.index.building import LAYERS, OPTIONS
from workbench.index.store import key_of
from workbench.index.usage import ARTICLES
from workbench.methods import METHODS
from workbench.papers import conditions_of_data
from workbench.papers.condition import named, of_data
from workbench.papers.conditions import differences, said_of_layer
from workbench.papers.placing import places, settings_of
from workbench.papers.tables import Measured
from workbench.published import Paper
from workbench.reading import READERS
from workbench.records import Question
from workbench.settings import defaults, parse_spec, settle, spec_of

MODEL, ENCODER, SOURCE = "gpt-4o-mini", "an-encoder", "prompt v1 0123456789ab"
FEW = 40  # questions, where many conditions are changed
PLACES = {"dotrag": {"1", "3"}, "catrag": {"hub bias"}}  # tables that need more than the rows of a run


def closed(source: Paper, questions: int | None = None) -> Paper:
    """The paper as if it said everything: what it leaves open is as the workbench does it, and the prompts are ours.
    `questions`: how many it has of each data set, in place of its own number."""
    terms = deepcopy(dict(source.terms))
    terms["engines"] = dict.fromkeys(("index", "method", "reader", "judge"), MODEL) | terms["engines"]
    terms.setdefault("encoder", ENCODER)
    data = list(terms["data"])
    terms["passages"] = dict.fromkeys(data, 1_234) | terms["passages"]
    terms["questions"] = {one: questions or of_data(terms["questions"], one) or 100 for one in data}
    terms["settings"] = {name: _settings(name, terms["settings"].get(name, {})) for name in METHODS}
    articles = {"shard": 25, "template_above": 500, "attempts": 4} | terms["layers"].get(ARTICLES, {})
    terms["layers"] = {kind: _of_layer(kind) | terms["layers"].get(kind, {}) for kind in LAYERS} | {ARTICLES: articles}
    terms["reader"]["asked"] = defaults(READERS["direct"]) | terms["reader"]["asked"]
    steps = [step for name in METHODS for step in METHODS[name].steps]
    terms["temperature"] = {"method": 0.0, "judge": 0.0} | terms.get("temperature", {})
    terms["seed"] = terms.get("seed", 0)
    terms["methods"] = [one | {"why": ()} for one in terms.get("methods", ())]
    as_published = {"passages": "as published", "questions": "as published"}
    terms["fingerprints"] = dict.fromkeys(terms["data"].values(), as_published)
    terms["prompts"] = {"source": [SOURCE, "made v1", *steps]}
    for one in terms.get("methods", ()):
        one.pop("why", None)  # what is known to differ
    return replace(source, terms=terms | {"unsaid": {}, "measures": {}})


def _settings(name: str, known: dict[str, Any]) -> dict[str, Any]:
    made = METHODS[name]
    given = {key: None if value == "none" else value for key, value in known.items()}
    return asdict(settle(name, made.Settings, given, made.profiles)) | known


def _of_layer(kind: str) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(LAYERS[kind][1]())))  # as a run has it


def fillable(source: Paper) -> Iterator[Any]:
    """Of every table one row for each method that a run can fill, with its first measure."""
    seen = set()
    for row in source.scores.itertuples():
        key = row.table, row.backbone, row.method
        absent = row.method in source.terms.get("absent", {}) or "recomputed" in row.method
        if key not in seen and row.table not in PLACES.get(source.name, ()) and not absent and not row.note:
            seen.add(key)
            yield row


def run_of(folder, source: Paper, row: Any) -> Run:
    """The run of a row of a closed paper, with its printed number; nothing about it differs."""
    terms = source.terms
    backbones = {one["called"]: one for one in terms.get("backbones", ())}
    under = backbones.get(row.backbone)
    reader, model = _reader(terms, row)
    if under and ("readers" in terms or row.method == "Original"):
        known, name, under = under, under["name"], None
    else:
        known = next(one for one in terms["methods"] if one["called"] == row.method)
        name = known["name"]
    made_by = {key: value for key, value in known.get("is", {}).items() if key != "encoder"}
    depth = terms.get("measured", {}).get(row.measure, {}).get("method", {})
    settings = {**terms["settings"][name], **made_by, **known.get("asked", {})}
    settings |= {key: value for key, value in depth.items() if key in settings}
    settings = {key: None if value == "none" else value for key, value in settings.items()}
    if under:
        inner = {key: value for key, value in terms["settings"][under["name"]].items() if key != "backbone"}
        settings["backbone"] = spec_of(under["name"], {k: None if v == "none" else v for k, v in inner.items()})
    hops = terms.get("hops", {}).get(row.data)
    n = of_data(terms["questions"], row.data)
    questions = tuple(Question(f"q{at}", "?", ("x",), hops=hops) for at in range(n))
    ours = terms.get("measured", {}).get(row.measure, {}).get("as", [row.measure])[0].partition(" of covered")[0]
    label = spec_of(name, {})
    values = [row.value + (-0.1 if at % 2 else 0.1) for at in range(n - n % 2)] + [row.value] * (n % 2)
    scores = {label: {"coverage:substring": [1.0] * n} | {ours: values}}  # questions vary, around what is printed
    engines = {part: model or f"openai:{named(terms['engines'][part])[0]}" for part in terms["engines"]
               if terms["engines"][part] == "row"}  # fmt: skip
    engines = {part: f"openai:{named(of)[0]}" for part, of in terms["engines"].items() if of != "row"} | engines
    written_layers = [*(under["written"] if under else ()), *known.get("written", ())]
    kinds = dict.fromkeys([*METHODS[name].layers, *(METHODS[under["name"]].layers if under else ()), *written_layers])
    kinds |= dict.fromkeys(one for one in terms.get("more_layers", {}).get(row.data, ()) if one in LAYERS)
    layers = {kind: {"settings": _layer(terms, row.data, known.get("layers", {}), kind)} for kind in kinds}
    layers["passages"] = {"settings": {}, "passages": terms["passages"][row.data]}
    for kind in written_layers:
        layers[kind] |= {"made_by": [f"{engines['index']} (made v1)"], "failures": 0}
    steps = {step: SOURCE for one in (name, *([under["name"]] if under else ())) for step in METHODS[one].steps}
    encoder = known.get("encoder", terms["encoder"])
    described = {
        "label": label, "settings": settings, "engine": engines["method"] if steps else None, "prompts": steps,
        "encoder": named(encoder)[0] if encoder else None, "layers": layers,
    }  # fmt: skip
    run = written(
        folder, {label: settings}, scores, questions=questions, data=_data(terms, row.data),
        engine=engines["reader"], reader=reader, k=20,
    )  # fmt: skip
    config = json.loads((run.folder / "run.json").read_text()) | {
        "questions": {"n": n, "hash": "as published"},
        "methods": {label: described},
        "reading": {"label": reader, "engine": engines["reader"], "prompts": {"answer": SOURCE}},
        "judge": engines["judge"], "judging": {"engine": engines["judge"], "prompts": {"judge": SOURCE}},
    }  # fmt: skip
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "run.json").write_text(json.dumps(config))
    rows = [one | {"hops": hops, "selected": 7, "ranking": [["p", 1.0]] * 7, "layout": "ket_rag"} for one in run.rows]
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return Run(run.folder)


def _layer(terms: dict, data: str, own: dict, kind: str) -> dict[str, Any]:
    said = said_of_layer(terms, data, own, kind)
    return {key: None if value == "none" else value for key, value in said.items()}


def _data(terms: dict, data: str) -> dict[str, Any]:
    articles = (
        {ARTICLES: dict(terms["layers"][ARTICLES])} if ARTICLES in terms.get("more_layers", {}).get(data, ()) else {}
    )
    options = dict(terms.get("options", {}).get(data, {}))
    return {"name": terms["data"][data], "fingerprint": "as published", OPTIONS: options, **articles}


def _reader(terms: dict, row: Any) -> tuple[str, str | None]:
    """The reader's SPEC, and the engine of the row."""
    asked = terms["reader"]["asked"] | terms.get("measured", {}).get(row.measure, {}).get("asked", {})
    model = None
    if "readers" in terms:
        called, _, name = row.method.rpartition(", ")
        of = next((one for one in terms["readers"] if one["called"] == called), terms["readers"][0])
        asked |= {key: value for key, value in of.items() if key != "called"}
        if asked.get("compress") not in (None, "none"):
            asked["compress"] = spec_of(asked["compress"], terms["compression"])
        model = next((one for one in terms["models"] if one["called"] == name), terms["models"][0])
        asked |= model["reading"]
    elif "models" in terms:
        model = next(one for one in terms["models"] if one["called"] == row.backbone)
    given = {key: None if value == "none" else value for key, value in asked.items()}
    return spec_of("direct", given), model and f"openai:{named(model['engine'])[0]}"


def at_hand(monkeypatch, questions) -> None:
    """These questions, over a corpus without a fingerprint, count as the published ones of every data set."""
    known = conditions_of_data.Known("", key_of(questions=[asdict(question) for question in questions]))
    monkeypatch.setattr(conditions_of_data, "known_of", lambda *_: known)


Change = Callable[[dict, dict, list], None]


def changes(run: Run, label: str | None = None) -> Iterator[tuple[str, Change]]:
    """Every condition changed alone, of the only method or of that with a label: its name, and `change(config,
    described, rows)`."""
    (label,) = [label] if label else run.methods
    described = run.config["methods"][label]

    def put(path: tuple, value: Any) -> Change:
        def change(config, described, rows):
            *outer, last = path[1:]
            part = {"run": config, "method": described}[path[0]]
            for key in outer:
                part = part[key]
            part[last] = value

        return change

    for key, value in described["settings"].items():
        if key != "backbone":
            yield (f"setting {key}", put(("method", "settings", key), other(value)))
    if described["settings"].get("backbone"):
        yield from _of_backbone(described["settings"]["backbone"], put)
    for kind, layer in described["layers"].items():
        for key, value in layer["settings"].items():
            yield (f"layer {kind}.{key}", put(("method", "layers", kind, "settings", key), other(value)))
        for key, value in (("made_by", ["rules (made v1)"]), ("made_by", ["openai:gpt-2 (made v1)"]),
                           ("made_by", [f"{layer.get('made_by', ['x'])[0].partition(' ')[0]} (other v2)"]),
                           ("made_by", []), ("made_by", None), ("failures", 3)):  # fmt: skip
            if "made_by" in layer:
                yield (f"layer {kind}: {key} {value}", put(("method", "layers", kind, key), value))
    yield "passages", put(("method", "layers", "passages", "passages"), 7)
    if described["encoder"]:
        yield "encoder", put(("method", "encoder"), "another-encoder")
        yield "encoder unknown", put(("method", "encoder"), None)
    if described["prompts"]:
        yield "model by rules", put(("method", "engine"), "rules")
        yield "model", put(("method", "engine"), "openai:gpt-2")
        yield "temperature", put(("method", "temperatures"), {next(iter(described["prompts"])): 0.4})
        for step in described["prompts"]:
            yield (f"prompt of {step}", put(("method", "prompts", step), "ours v1 x"))
    yield "data", put(("run", "data", "name"), run.config["data"]["name"] + "-other")
    for key, value in run.config["data"][OPTIONS].items():
        yield f"option {key}", put(("run", "data", OPTIONS, key), other(value))
    for key, value in run.config["data"].get(ARTICLES, {}).items():
        yield f"articles.{key}", put(("run", "data", ARTICLES, key), other(value))
    yield "questions", lambda config, described, rows: (rows.pop(), config["questions"].update(n=len(rows)))
    yield "budget", put(("run", "budget"), 500)
    yield "failures", lambda config, described, rows: rows[0].update(failure="broke")
    yield "failed request", lambda config, described, rows: rows[0].update(usage={"of the method": {"failed": 1}})
    yield "mixed scales", lambda config, described, rows: rows[0].update(mixed=True)
    yield "which questions", put(("run", "questions", "hash"), "another")
    yield "which passages", put(("run", "data", "fingerprint"), "another")
    yield "seed", put(("run", "seeds"), {"openai:x": [7]})
    yield "unfinished", lambda config, described, rows: rows.pop()


def _of_backbone(spec: str, put: Callable) -> Iterator[tuple[str, Change]]:
    name = spec.partition("[")[0]
    for key, value in settings_of(spec).items():
        if isinstance(value, bool | int | float):
            try:
                made = settings_of(spec_of(name, settings_of(spec) | {key: other(value)}))
            except Exception:  # a setting with bounds
                made = settings_of(spec_of(name, settings_of(spec) | {key: value / 2}))
            changed = spec_of(name, made)
            yield f"backbone's {key}", put(("method", "settings", "backbone"), changed)


def changes_of_reader(run: Run, judged: bool) -> Iterator[tuple[str, Change]]:
    """The same of what answers."""
    name, given = parse_spec(run.config["reader"])

    def put(key, value) -> Change:
        return lambda config, described, rows: config.update({key: value})

    for key, value in given.items():
        yield f"reader's {key}", put("reader", spec_of(name, given | {key: other(value)}))
    for another in ("structured", "local", "sparql-exec", "global"):
        yield f"reader {another}", put("reader", spec_of(another, given))
    reading = run.config["reading"]
    yield "reader's model", put("reading", reading | {"engine": "openai:gpt-2"})
    yield "reader by rules", put("reading", reading | {"engine": "rules"})
    yield "reader's prompt", put("reading", reading | {"prompts": {"answer": "ours v1 x"}})
    yield "reading unknown", put("reading", None)
    if judged:
        yield "judge", put("judge", "openai:gpt-2")
        yield "no judge", put("judge", None)
        yield "judge's prompt", put("judging", {"prompts": {"judge": "ours v1 x"}})


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return 7 if value is None else f"not-{value.partition('[')[0]}" if isinstance(value, str) else "other"


def reasons(source: Paper, run: Run, row: Any) -> list[list[str]]:
    """Of each place of the run that is the row's: why its number is not comparable."""
    (label,) = run.methods
    found = [Measured(run, label, place) for place in places(source.terms, run, label)]
    here = [one for one in found if one.place[:3] == (row.backbone, row.method, row.data)]
    return [list(differences(one, source.terms, row.measure)) for one in here if one.scores(row.measure)]


def changed(run: Run, change: Change, label: str | None = None) -> Run:
    again = copy.copy(run)
    again.config, rows = deepcopy(run.config), [dict(row) for row in run.rows]
    (label,) = [label] if label else run.methods
    change(again.config, again.config["methods"][label], rows)
    again.__dict__["rows"] = rows
    return again
