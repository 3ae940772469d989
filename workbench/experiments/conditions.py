"""Why a number of a run is not comparable with one of a paper: what differs, and what either side leaves open. The
paper's conditions are data (`published/<paper>.toml`); `differences` holds a run against all of them, for every paper
alike. Nothing unknown passes for equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.data.curated import BY_HAND
from workbench.index.journal import signed_by
from workbench.llm.engine import no_model
from workbench.reading import READERS
from workbench.reading.compression import COMPRESSORS
from workbench.settings import defaults
from workbench.spec import parse_spec

if TYPE_CHECKING:
    from workbench.experiments.tables import Measured

Terms = Mapping[str, Any]
UNSAID = "there it is not said"


def model_of(name: str) -> str:
    """The model in the name of an engine or an encoder, without provider, server, publisher and release date. Settings
    stay, because another length or an instruction makes other vectors.

    >>> model_of("openai:gpt-4o-mini-2024-07-18"), model_of("local:meta-llama/Llama-3.3-70B-Instruct@http://here:8000/v1")
    ('gpt-4o-mini', 'llama-3.3-70b-instruct')
    >>> model_of("facebook/contriever[max_tokens=256]"), model_of("gpt-4o-mini-audio")
    ('contriever[max_tokens=256]', 'gpt-4o-mini-audio')
    """
    model, bracket, settings = name.partition("[")
    model = model.partition(":")[2] or model
    model = model.partition("@")[0].rpartition("/")[2].casefold()
    return re.sub(r"-20\d\d-\d\d-\d\d$", "", model) + bracket + settings


def named(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names of one thing, of which a file may give one or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def same(ours: Any, theirs: Any) -> bool:
    """Whether a setting of a run is one of a TOML file, which spells `None` as "none".

    >>> same(True, True), same(5, 5.0), same(None, "none"), same("paper", "released")
    (True, True, True, False)
    """
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return ours == theirs
    return str(ours).lower() == str(theirs).lower()


def of_data(terms: Any, data: str) -> Any:
    """A condition that is the same for all data sets, or a table of theirs; None where it is not given.

    >>> of_data(1000, "hover"), of_data({"hover": 500}, "hover"), of_data({}, "hover")
    (1000, 500, None)
    """
    return terms.get(data) if isinstance(terms, Mapping) else terms


def differences(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """The reasons why the number of a measure is not comparable with the paper's, in words; none if every condition is
    known on both sides and agrees."""
    for condition in CONDITIONS:
        yield from condition(one, terms, measure)


# -- models -----------------------------------------------------------------------------------------------------------


def _models(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """Those of the method's Steps, of the reader and of the judge."""
    yield from _engine("model", one.described, _expected(one, terms, "method"))
    if measure in terms["reader"]["of"]:
        yield from _engine("reader's model", one.reading, _expected(one, terms, "reader"))
    if measure in terms["reader"].get("judged", ()):
        judges, ours = _expected(one, terms, "judge"), one.run.judge
        if ours is None or model_of(ours) not in judges:
            yield f"judge: {ours or 'none'}, {_there(judges)}"


def _expected(one: Measured, terms: Terms, part: str) -> tuple[str, ...]:
    """Names of the model of the index, the method, the reader or the judge; empty where the paper does not say it."""
    names = named(terms["engines"].get(part, ()))
    return tuple(one.place.model) if names == ("row",) else names


def _engine(what: str, part: Mapping[str, Any], expected: Sequence[str]) -> Iterator[str]:
    if "engine" not in part:
        yield f"{what}: the run does not say, {_there(expected)}"
    for engine in filter(None, (part.get("engine") or "").split(", ")):
        if by := no_model(engine):
            yield f"{by}, not a model" if what == "model" else f"{what}: {by}, {_there(expected)}"
        elif model_of(engine) not in expected:
            yield f"{what}: {engine}, {_there(expected)}"


def _there(names: Sequence[str]) -> str:
    """The first of the names of one model."""
    return f"there {names[0]}" if names else UNSAID


def _encoder(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """Of a method that has one."""
    ours, expected = one.described.get("encoder"), one.place.encoder
    if expected == "":
        return
    names = named(expected or ())
    if ours is None:
        yield f"encoder: the run does not say, {_there(names)}"
    elif (model := model_of(ours)) not in names:
        known = model.partition("[")[0] in names
        yield f"encoder: {ours}, {f'there its settings are not said ({names[0]})' if known else _there(names)}"


# -- questions, corpus, index -----------------------------------------------------------------------------------------


def _data(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    config = one.run.config
    yield from one.place.why
    if config["data"]["name"] != (expected := terms["data"][one.place.data]):
        yield f"split and corpus: {config['data']['name']}, there {expected}"
    n = config["questions"]["n"] if one.place.hops is None else len(one.rows)
    if n != (there := of_data(terms["questions"], one.place.data)):
        yield f"questions: {n:,}, {_number_there(there)}"
    ours, theirs = one.layers.get("passages", {}).get("passages"), of_data(terms["passages"], one.place.data)
    if ours != theirs or theirs is None:
        yield f"passages: {'the run does not say' if ours is None else f'{ours:,}'}, {_number_there(theirs)}"


def _number_there(there: int | None) -> str:
    return UNSAID if there is None else f"there {there:,}"


def _layers(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """Who wrote the layers, and with which settings."""
    expected = _expected(one, terms, "index")
    for kind in one.place.written:
        layer = one.layers.get(kind, {"made_by": ()})
        makers = layer.get("made_by")
        if makers is None:
            yield f"{kind}: brought by the data, which do not say who wrote them"
        elif not makers:
            yield f"{kind}: the run does not say who wrote them"
        elif any(_by_rules(maker) for maker in makers):
            yield f"{kind}: made by rules, not by a model"
        for maker in makers or ():
            yield from () if _by_rules(maker) else _maker(kind, maker, expected, terms["prompts"]["source"])
        if failed := layer.get("failures"):
            yield f"{kind}: {failed:,} requests failed"
    for kind, layer in one.layers.items():
        yield from _settings(f"{kind}.", layer.get("settings", {}), terms["layers"].get(kind, {}))


def _by_rules(maker: str) -> bool:
    return maker.partition(" ")[0] == "rules"


def _maker(kind: str, maker: str, expected: Sequence[str], source: Sequence[str]) -> Iterator[str]:
    if maker == BY_HAND:
        yield f"{kind}: brought by the data ({maker})"
        return
    if not (signed := signed_by(maker)):
        yield f"{kind}: brought by the data ({maker}), which do not say their prompts"
        return
    engine, steps = signed
    if model_of(engine) not in expected:
        yield f"{kind}: made by {engine}, {_there(expected)}"
    if ours := [step for step in steps.split(", ") if step not in source]:
        yield f"{kind}: prompts are ours ({', '.join(ours)}), there the source's"


# -- method -----------------------------------------------------------------------------------------------------------


def _method(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """The settings of the method and of its backbone, and the weights on which they run."""
    known, place = terms.get("settings", {}), one.place
    ours = {key: value for key, value in one.described["settings"].items() if key != "backbone" or not place.under}
    said = {**known.get(place.name, {}), **place.asked, **_depths(one, terms, measure)}
    said = {key: value for key, value in said.items() if key != "backbone"}  # the row's own
    yield from _settings("", ours, said)
    if missing := [f"{key}={value}" for key, value in said.items() if key not in ours]:
        yield f"{', '.join(missing)}: the run does not say"
    if place.under:
        name, settings, asked = place.under
        yield from _settings("backbone's ", settings, known.get(name, {}) | asked)


def _settings(prefix: str, ours: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    """What differs, one by one, and in one line what the paper does not say."""
    for key, value in ours.items():
        of_checkpoint = key == "checkpoint"  # its commit is no part of the name that a paper gives
        if key in said and not same(str(value).partition("@")[0] if of_checkpoint else value, said[key]):
            yield f"{prefix}{key}: {value}, there {said[key]}"
    if unsaid := [f"{prefix}{key}={value}" for key, value in ours.items() if key not in said]:
        yield f"{', '.join(unsaid)}: {UNSAID}"


def _depths(one: Measured, terms: Terms, measure: str) -> dict[str, Any]:
    """Settings of the method that the name of a measure stands for."""
    asked = terms.get("measured", {}).get(measure, {}).get("method", {})
    return {key: value for key, value in asked.items() if key in one.described["settings"]}


def _ranking(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """How deep the ranking goes, and which questions count."""
    config, rows = one.run.config, one.rows
    at = re.search(r"@(\d+)", measure)
    depth = max(int(at[1]) if at else 0, _asked_of(terms, measure).get("k", 0), terms.get("k", 0))
    if config["k"] < depth:
        yield f"k: {config['k']} passages ranked, there at least {depth}"
    if config["budget"] is not None:
        yield f"budget: {config['budget']:,} tokens of passages, there none"
    if one.place.name in terms.get("whole", ()):
        yield from _final_set(rows, config["k"])
    if (defined := len(one.scores(measure))) < (asked := len(one.counted(measure))):
        yield f"{measure}: undefined for {asked - defined:,} of {asked:,} questions"
    if len(one.run.rows) < (whole := config["questions"]["n"] * len(one.run.methods)):
        yield f"unfinished: {len(one.run.rows):,} of {whole:,} questions asked"
    if failed := sum(row["failure"] is not None for row in rows):
        yield f"failures: {failed:,} questions broke and count as 0"
    if failed := sum("failed" in (row.get("fallback") or "") for row in rows):
        yield f"fallback: a request failed for {failed:,} questions"


def _final_set(rows: Sequence[Mapping[str, Any]], k: int) -> Iterator[str]:
    """A method whose final set has a size of its own must not be cut to k."""
    if any(row.get("selected") is None for row in rows):
        yield "size of the final set: the run does not say"
    elif cut := sum(row["selected"] >= k for row in rows):
        yield f"size of the final set: cut to the {k} passages ranked for {cut:,} questions, there whole"


# -- reader, prompts, measure -----------------------------------------------------------------------------------------


def _reader(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    expected = terms["reader"]
    if measure not in expected["of"]:
        return
    name, given = parse_spec(one.run.config["reader"] or "none")
    if name not in (names := named(expected["name"])):
        yield f"reader: {name}, there {names[0]}"
    else:
        given = {**defaults(READERS[name]), **given}
    asked = {**expected["asked"], **_asked_of(terms, measure), **(one.place.reading or {})}
    for key, value in _asked_of(terms, measure).items():
        if key not in given:
            yield f"reader's {key}: the run does not say, there {value}"
    free = {*expected.get("free", ()), *(["prompt"] if one.place.data in expected.get("own_prompt", ()) else [])}
    if asked.get("route"):
        free.add("prompt")  # the router chooses it
    for key, value in given.items():
        if key in free:
            continue
        if key == "compress" and asked.get(key, "none") != "none":
            yield from _compression(value, asked[key], terms["compression"])
        elif key not in asked or not same(value, asked[key]):
            yield f"reader's {key}: {value}, {f'there {asked[key]}' if key in asked else UNSAID}"
    if (deep := given.get("k")) and "k" not in free and deep > one.run.config["k"]:
        yield f"k: {one.run.config['k']} passages ranked, and the reader reads {deep}"


def _compression(ours: str | None, name: str, asked: Mapping[str, Any]) -> Iterator[str]:
    made, given = parse_spec(str(ours or "none"))
    if made != name:
        yield f"reader's compress: {made}, there {name}"
        return
    yield from _settings(f"{name}'s ", {**defaults(COMPRESSORS[name]), **given}, asked)


def _asked_of(terms: Terms, measure: str) -> Mapping[str, Any]:
    """Settings of the reader that the name of a measure stands for."""
    return terms.get("measured", {}).get(measure, {}).get("asked", {})


def _prompts(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    parts = [one.described, *([one.reading] if measure in terms["reader"]["of"] else [])]
    parts += [one.run.config.get("judging") or {}] if measure in terms["reader"].get("judged", ()) else []
    if any("prompts" not in part for part in parts):
        yield "prompts: the run does not say"
    asked = [prompt for part in parts for prompt in part.get("prompts", {}).items()]
    if ours := dict.fromkeys(step for step, wording in asked if wording not in terms["prompts"]["source"]):
        yield f"prompts are ours ({', '.join(ours)}), there the source's"


def _measure(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    ours = one.place.ours(measure)
    if differs := terms.get("measures", {}).get(ours):
        yield f"{ours}: {differs}"
    for rule in terms.get("rules", ()):  # what holds for some rows only
        if ours in rule["of"] and rule["model"] in one.place.model:
            yield f"{ours}: {rule['says']}"


def _unsaid(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """What else the paper leaves open of the method, its backbone and the data."""
    place, open_ = one.place, terms.get("unsaid", {})
    parts = (place.name, place.under[0] if place.under else "", place.data)
    if unsaid := [one for part in parts for one in open_.get(part, ())]:
        yield f"{UNSAID}: {'; '.join(unsaid)}"


CONDITIONS = (_models, _encoder, _data, _layers, _method, _ranking, _reader, _prompts, _measure, _unsaid)
