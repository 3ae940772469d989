"""Which row of a paper's tables a method of a run belongs to. Where it belongs says nothing of whether the numbers are
comparable: `conditions.py` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.methods import METHODS
from workbench.papers.condition import model_of, named
from workbench.settings import parse_spec, settle

if TYPE_CHECKING:
    from workbench.evaluation.run import Run

Terms = Mapping[str, Any]


class Place(NamedTuple):
    """The place of a method of a run in a paper's tables, in the paper's names, and what the row itself stands for.

    `name`: our method. `asked`: the settings of it that make the row, over those of `[settings]`. `under`: our name of
    its backbone, its settings, and what the row asks of them. `written`: the layers that a model writes; `layers`: the
    settings of layers that make the row, over those of `[layers]`. `hops`: only the run's questions of so many hops
    count. `model`: names of the row's language model. `reading`: the settings of the reader that make the row. `why`:
    what is known to differ already. `encoder`: names of the encoder, "" for none, None where the paper does not say it.
    `measures`: what the paper calls a measure → ours that stands for it in this run; None where the names are ours."""

    backbone: str
    method: str
    data: str
    name: str
    asked: Mapping[str, Any] = {}
    under: tuple[str, Mapping[str, Any], Mapping[str, Any]] | None = None
    written: Sequence[str] = ()
    layers: Mapping[str, Mapping[str, Any]] = {}
    hops: int | None = None
    model: Sequence[str] = ()
    reading: Mapping[str, Any] | None = None
    why: tuple[str, ...] = ()
    encoder: Sequence[str] | str | None = None
    measures: Mapping[str, str | None] | None = None

    def ours(self, measure: str) -> str | None:
        """Our measure for one of the paper's."""
        return measure if self.measures is None else self.measures.get(measure)


def places(terms: Terms, run: Run, label: str, stands_for: str | None = None) -> Iterator[Place]:
    """The places of a method of the run: none, one, one for each number of hops where the tables are by hops, or where
    the reader makes the row, that of the context and that of the answers. A run belongs to the data set whose name
    begins that of its own, or to the one that it `stands_for`."""
    place = _of_method(terms, run.config["methods"][label])
    if place is None:
        return
    name = run.config["data"]["name"].lower()
    if "hops" in terms:
        whole = {source: data for data, source in terms["data"].items() if data not in terms["hops"]}
        if data := stands_for if stands_for in whole.values() else stands_for is None and whole.get(name):
            yield place._replace(data=data)
            return
        found = {row.get("hops") for row in run.rows}
        yield from (place._replace(data=data, hops=hops) for data, hops in terms["hops"].items() if hops in found)
        return
    for data in terms["data"]:
        if data == stands_for or (stands_for is None and name.startswith(data)):
            here = _of_model(terms, run, place._replace(data=data)) if "models" in terms else place._replace(data=data)
            yield from _of_reader(terms, run, here) if "readers" in terms else [here]


def _of_method(terms: Terms, described: Mapping[str, Any]) -> Place | None:
    """The row of a method, without its data."""
    name, settings = described["label"].partition("[")[0], described["settings"]
    backbones = {one["name"]: one for one in terms.get("backbones", ())}
    encoder = terms.get("encoder")
    if known := backbones.get(name):
        asked = known.get("asked", {})
        return Place(known["called"], "Original", "", name, asked, written=known["written"], encoder=encoder)
    inner = str(settings.get("backbone") or "")
    under = backbones.get(inner.partition("[")[0])
    if backbones and not under:
        return None
    told = settings | {"encoder": model_of(described.get("encoder") or "").partition("[")[0]}
    for known in terms.get("methods", ()):
        made_by = known.get("is", {})
        if known["name"] == name and all(told.get(key) == value for key, value in made_by.items()):
            asked = {key: value for key, value in made_by.items() if key != "encoder"} | known.get("asked", {})
            return Place(
                under["called"] if under else "",
                known["called"],
                "",
                name,
                asked,
                under=(under["name"], settings_of(inner), under.get("asked", {})) if under else None,
                written=(*(under["written"] if under else ()), *known.get("written", ())),
                layers=known.get("layers", {}),
                encoder=known.get("encoder", encoder),
                why=tuple(known.get("why", ())),
            )
    return None


def settings_of(spec: str) -> dict[str, Any]:
    """All settings of the method of this SPEC, those of its profile and the defaults as well."""
    name, given = parse_spec(spec)
    made = METHODS.look_up(name)
    return asdict(settle(name, made.Settings, given, made.profiles))


def _of_model(terms: Terms, run: Run, place: Place) -> Place:
    """The place among the rows of the model that answers. Where a measure is named by a depth and a mode: the measures
    of the run's, if the paper prints any of the data."""
    answering = (run.config.get("reading") or {}).get("engine") or run.config["engine"]
    model = row_of_model(terms, answering)
    place = place._replace(model=named(model["engine"]), reading=model.get("reading"))
    if "readers" in terms:
        return place._replace(method=model["called"])  # to which the reader is added
    return place._replace(backbone=model["called"], measures=_measured(terms, run, place))


def row_of_model(terms: Terms, engines: str) -> Mapping[str, Any]:
    """Which of the models that make a row one of these engines is; the last one stands for all others."""
    models = {model_of(one) for one in engines.split(", ")}
    return next((one for one in terms["models"] if models & {*named(one["engine"])}), terms["models"][-1])


def _measured(terms: Terms, run: Run, place: Place) -> dict[str, str | None]:
    reader = parse_spec(run.config["reader"] or "none")[1]
    there = {name: one for name, one in terms["measured"].items() if place.data in one.get("data", (place.data,))}
    for key, value in (("k", reader.get("k", run.config["k"])), ("mode", reader.get("mode", "reject"))):
        there = {name: one for name, one in there.items() if one["asked"][key] == value} or there
    return {name: next((known for known in one["as"] if known in run.measures), None) for name, one in there.items()}


def _of_reader(terms: Terms, run: Run, place: Place) -> Iterator[Place]:
    """The row of the context from which the reader starts, and that of the reader with its model."""
    model, how = place.method, _how(run)
    yield place._replace(method="context")
    for called, row in _rows_of_readers(terms):
        if how == {key: row[key] for key in how}:
            reading = {key: value for key, value in row.items() if value is not None} | (place.reading or {})
            yield place._replace(method=f"{called}, {model}", reading=reading)


def _how(run: Run) -> dict[str, Any]:
    """The settings of a run's reader that make a row."""
    reader, settings = parse_spec(run.config["reader"] or "none")
    route = bool(settings.get("route"))
    compressor = parse_spec(str(settings.get("compress") or "none"))[0]
    return {"prompt": None if route else settings.get("prompt", reader), "compress": compressor, "route": route}


def _rows_of_readers(terms: Terms) -> list[tuple[str, dict[str, Any]]]:
    """(what a row of readers is called, the settings that make it); a row may be made in more than one way."""
    plain = {"prompt": None, "compress": "none", "route": False}
    return [(one["called"], plain | {k: v for k, v in one.items() if k != "called"}) for one in terms["readers"]]


def misplaced(terms: Terms, run: Run, label: str, found: Sequence[Place], stands_for: str | None = None) -> str:
    """The row that a method or its reader came nearest to, and why it is not that row; "" if it has one."""
    described, data = run.config["methods"][label], run.config["data"]["name"]
    if found:
        if "readers" not in terms or not run.config["reader"] or any(one.method != "context" for one in found):
            return ""
        how = _how(run)
        rows = [(called, {key: row[key] for key in how}) for called, row in _rows_of_readers(terms)]
        return f"its reader fills no row; {_nearest(rows, how)}"
    if (place := _of_method(terms, described)) is None:
        return _no_row(terms, described)
    row = f"{place.method} over {place.backbone}" if place.backbone else place.method
    known = [name for one, name in terms["data"].items() if one not in terms.get("hops", ())]
    known += [f"questions of {one}" for one in terms.get("hops", ())]
    return f"the nearest row is {row}: data {stands_for or data}, there {', '.join(known)}"


def _no_row(terms: Terms, described: Mapping[str, Any]) -> str:
    """Of a method, or a method over a backbone, that makes no row."""
    name, settings = described["label"].partition("[")[0], described["settings"]
    rows = {one["called"]: one.get("is", {}) for one in terms.get("methods", ()) if one["name"] == name}
    backbones = [one["name"] for one in terms.get("backbones", ())]
    if not rows:
        known = dict.fromkeys([*backbones, *(one["name"] for one in terms.get("methods", ()))])
        return f"no row is of it; there are rows of {', '.join(known)}"
    inner = str(settings.get("backbone") or "none").partition("[")[0]
    if backbones and inner not in backbones:
        rows = {called: {**row, "backbone": ", ".join(backbones)} for called, row in rows.items()}
    return _nearest([*rows.items()], {**settings, "backbone": inner})


def _nearest(rows: Sequence[tuple[str, Mapping[str, Any]]], ours: Mapping[str, Any]) -> str:
    """The row that fewest settings keep from being ours, and those."""
    apart = [
        (called, [f"{key} {ours.get(key)}, there {value}" for key, value in row.items() if ours.get(key) != value])
        for called, row in rows
    ]
    called, why = min(apart, key=lambda one: len(one[1]))
    return f"the nearest row is {called}: {'; '.join(why)}"
