"""Why a number of a run is not comparable with one of a paper that states its conditions in full (`[reader]` in its
TOML): what differs, and what either side leaves open. Nothing unknown passes for equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.index.journal import by_rules, signed_by
from workbench.reading import READERS
from workbench.settings import defaults
from workbench.spec import parse_spec

if TYPE_CHECKING:
    from workbench.experiments.tables import Measured

Terms = Mapping[str, Any]


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


def number_there(there: int | None) -> str:
    return "it is not said" if there is None else f"{there:,}"


def models(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """The models that a number depends on: that of the method's Steps, the encoder, that of the reader, the judge's."""
    asked = _model_of_steps(one, terms)
    yield from _engine("model", one.described, asked)
    if expected := one.place.encoder:
        yield from _encoder(one.described.get("encoder"), [expected] if isinstance(expected, str) else expected)
    if measure in terms["reader"]["of"]:
        yield from _engine("reader's model", one.reading, terms["reader"].get("engine", asked))
        if judge := terms.get("judge"):
            yield from _judge(one.run.judge, judge)


def _model_of_steps(one: Measured, terms: Terms) -> str:
    return one.place.engine or terms["engine"]


def _judge(ours: str | None, expected: str) -> Iterator[str]:
    if ours is None or model_of(ours) != expected:
        yield f"judge: {ours or 'none'}, there {expected}"


def others(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """All other conditions."""
    for condition in (_corpus, _depth, _layers, _settings, _reader, _prompts, _measure):
        yield from condition(one, terms, measure)
    name = one.described["label"].partition("[")[0]
    if unsaid := [*terms["unsaid"].get(name, ()), *terms["unsaid"].get(one.place.data, ())]:
        yield f"there it is not said: {'; '.join(unsaid)}"


def _engine(what: str, part: Mapping[str, Any], expected: str) -> Iterator[str]:
    if "engine" not in part:
        yield f"{what}: the run does not say, there {expected}"
    for engine in filter(None, (part.get("engine") or "").split(", ")):
        if engine == "rules":
            yield "rules, not a model" if what == "model" else f"{what}: rules, there {expected}"
        elif model_of(engine) != expected:
            yield f"{what}: {engine}, there {expected}"


def _encoder(ours: str | None, names: Sequence[str]) -> Iterator[str]:
    """`names`: of one model, the first of them in words."""
    expected = names[0]
    if ours is None:
        yield f"encoder: the run does not say, there {expected}"
    elif (model := model_of(ours)) not in names:
        known = model.partition("[")[0] in names
        yield f"encoder: {ours}, there {f'its settings are not said ({expected})' if known else expected}"


def _corpus(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    ours, theirs = one.layers.get("passages", {}).get("passages"), terms["passages"].get(one.place.data)
    if ours != theirs or theirs is None:
        yield f"passages: {'the run does not say' if ours is None else f'{ours:,}'}, there {number_there(theirs)}"


def _depth(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    config, defined, asked = one.run.config, len(one.scores(measure)), len(one.rows)
    if config["k"] < (depth := _asked_of(terms, measure).get("k") or terms["k"]):
        yield f"k: {config['k']} passages ranked, there at least {depth}"
    if config["budget"] is not None:
        yield f"budget: {config['budget']:,} tokens of passages, there none"
    if defined < asked:
        yield f"{measure}: undefined for {asked - defined:,} of {asked:,} questions"
    if failed := sum("failed" in (row.get("fallback") or "") for row in one.rows):
        yield f"fallback: a request failed for {failed:,} questions"


def _layers(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """Who wrote the layers. Rules, and data that do not say, are told by the caller."""
    for kind in one.place.written:
        layer = one.layers.get(kind, {"made_by": ()})
        if layer.get("made_by") in ((), []):
            yield f"{kind}: the run does not say who wrote them"
        for maker in layer.get("made_by") or ():
            yield from () if by_rules(maker) else _maker(kind, maker, _model_of_steps(one, terms))
        if failed := layer.get("failures"):
            yield f"{kind}: {failed:,} requests failed"


def _maker(kind: str, maker: str, expected: str) -> Iterator[str]:
    if not (signed := signed_by(maker)):
        yield f"{kind}: brought by the data ({maker}), which do not say their prompts"
        return
    engine, steps = signed
    if model_of(engine) != expected:
        yield f"{kind}: made by {engine}, there {expected}"
    yield f"{kind}: prompts are ours ({steps}), there the source's"


def _settings(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """Settings of layers, and those that the paper does not give. Those of the method that differ are told by the
    caller."""
    said = one.place.asked | depth_of(one, terms, measure)
    unsaid = {key: value for key, value in one.described["settings"].items() if key not in said}
    for kind, layer in one.layers.items():
        said = terms["layers"].get(kind, {})
        for key, value in layer.get("settings", {}).items():
            if key not in said:
                unsaid[f"{kind}.{key}"] = value
            elif not same(value, said[key]):
                yield f"{kind}.{key}: {value}, there {said[key]}"
    if unsaid:
        yield f"{', '.join(f'{key}={value}' for key, value in unsaid.items())}: there it is not said"


def _reader(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    expected = terms["reader"]
    if measure not in expected["of"]:
        return
    name, given = parse_spec(one.run.config["reader"] or "none")
    if name != expected["name"]:
        yield f"reader: {name}, there {expected['name']}"
    else:
        given = {**defaults(READERS[name]), **given}
    asked = expected["asked"] | _asked_of(terms, measure)
    for key, value in _asked_of(terms, measure).items():
        if key not in given:
            yield f"reader's {key}: the run does not say, there {value}"
    for key, value in given.items():
        if key == "prompt" and one.place.data in expected.get("own_prompt", ()):
            continue
        if key not in asked or not same(value, asked[key]):
            yield f"reader's {key}: {value}, there {asked.get(key, 'it is not said')}"


def depth_of(one: Measured, terms: Terms, measure: str) -> dict[str, Any]:
    """Settings of the method that the name of a measure stands for."""
    asked = terms.get("measured", {}).get(measure, {}).get("method", {})
    return {key: value for key, value in asked.items() if key in one.described["settings"]}


def _asked_of(terms: Terms, measure: str) -> Mapping[str, Any]:
    """Settings of the reader that the name of a measure stands for."""
    return terms.get("measured", {}).get(measure, {}).get("asked", {})


def _prompts(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    parts = [one.described, *([one.reading] if measure in terms["reader"]["of"] else [])]
    parts += [one.run.config.get("judging") or {}] if "judge" in terms else []
    if any("prompts" not in part for part in parts):
        yield "prompts: the run does not say"
    asked = {step: wording for part in parts for step, wording in part.get("prompts", {}).items()}
    if ours := [step for step, wording in asked.items() if wording not in terms["prompts"]["source"]]:
        yield f"prompts are ours ({', '.join(ours)}), there the source's"


def _measure(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    ours = one.place.ours(measure)
    if differs := terms["measures"].get(ours):
        yield f"{ours}: {differs}"
