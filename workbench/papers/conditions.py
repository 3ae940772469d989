"""The conditions under which a number of a run and one of a paper were made, flattened to key → value on both sides:
what the paper states (`published/<paper>.toml`), and what the run says of itself (`run.json`) and its rows show.
`conditions` compares them for every paper alike, and `differences` are its sentences. Nothing unknown passes for equal.

Each group below yields `(key, what the paper states, what the run has)`; `NOTHING` for a key of which the run says
nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, NamedTuple

from workbench.data.curated import CURATED
from workbench.data.registry import find, load_entry
from workbench.data.sources import fetch
from workbench.errors import DataError
from workbench.index.building import LAYERS, OPTIONS, closure
from workbench.index.journal import by_rules, signed_by
from workbench.index.store import key_of
from workbench.index.usage import ARTICLES
from workbench.llm import fingerprints
from workbench.llm.engine import RulesEngine, no_model
from workbench.measures import OF_SHORT
from workbench.methods import METHODS
from workbench.papers.condition import (
    ALL,
    ANY,
    NOTHING,
    OTHERS,
    Condition,
    Stated,
    Terms,
    compare,
    expected_of,
    named,
    of_data,
)
from workbench.papers.placing import Measured
from workbench.reading import READERS
from workbench.reading.compression import COMPRESSORS
from workbench.reading.rewriting import SETTING as REWRITE
from workbench.settings import defaults, parse_spec, without_effect
from workbench.steps import judge_pair

RULES = RulesEngine.name
MODELS = {"method": "model", "reader": "reader's model", "judge": "judge"}  # conditions of these parts
Facts = Iterator[tuple[str, Stated, Any]]


def conditions(measured: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Every condition of the number of a measure, side by side. It is comparable with the paper's if all are the
    same."""
    facts = [fact for group in CONDITIONS for fact in group(measured, terms, measure)]
    return compare(
        {key: stated for key, stated, _ in facts}, {key: value for key, _, value in facts if value is not NOTHING}
    )


def differences(measured: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """The reasons why the number of a measure is not comparable with the paper's, in words; none if every condition is
    known on both sides and agrees."""
    return (condition.why for condition in conditions(measured, terms, measure) if condition.why)


def _stated_in(values: Mapping[str, Any], place: str, needed: bool = False) -> dict[str, Stated]:
    """The settings of a table of the file."""
    return {key: Stated(value, f"{place}.{key}", needed=needed) for key, value in values.items()}


def _settings(prefix: str, ours: Mapping[str, Any], stated: Mapping[str, Stated], of: Any, place: str) -> Facts:
    """`of`: the class that has the settings, which knows those that change nothing at their value. `place`: where the
    paper would state the others."""
    neutral = without_effect(of).items() if of else ()
    if checkpoint := ours.get("checkpoint"):  # its commit is no part of the name that a paper gives
        ours = {**ours, "checkpoint": str(checkpoint).partition("@")[0]}
    for key in dict.fromkeys((*stated, *ours)):
        if key in stated or (key, ours[key]) not in neutral:
            yield f"{prefix}{key}", stated.get(key) or Stated(None, place, OTHERS), ours.get(key, NOTHING)


# -- models -----------------------------------------------------------------------------------------------------------


def parts_behind(terms: Terms, measure: str) -> list[str]:
    """The parts on which the number of a measure depends: method, reader, judge."""
    reader = terms["reader"]
    judged = measure in (*reader.get("judged", ()), *reader.get("compared", ()))
    return ["method", *["reader"] * (measure in reader["of"]), *["judge"] * judged]


def parts_of(measured: Measured, terms: Terms, measure: str) -> dict[str, Mapping[str, Any]]:
    """What a run reports about these parts."""
    judge = {**(measured.run.config.get("judging") or {}), "engine": measured.run.judge}
    if measure in terms["reader"].get("compared", ()):
        judge = {"engine": measured.judgements[0], "prompts": {judge_pair.STEP.name: judge_pair.STEP.wording}}
    parts = {"method": measured.described, "reader": measured.reading, "judge": judge}
    return {part: parts[part] for part in parts_behind(terms, measure)}


def _models(measured: Measured, terms: Terms, measure: str) -> Facts:
    """The model of each part; the temperature of its Steps (the reader's is a setting of it) and, where one is above 0
    or a seed was chosen, the seed; the wording of all prompts."""
    parts, temperatures, sampled = parts_of(measured, terms, measure), terms.get("temperature", {}), False
    for part, described in parts.items():
        engine = described.get("engine", NOTHING) or ("none" if part == "judge" else None)
        if engine:  # None asks no model
            stated = Stated(expected_of(measured.place.model, terms, part), f"engines.{part}", "named")
            yield MODELS[part], stated, engine if engine is NOTHING else engine.split(", ")
        sampled_at = described.get("temperatures", {})
        sampled |= any(sampled_at.values()) or (part == "reader" and bool(_read_with(measured).get("temperature")))
        steps = dict.fromkeys(described.get("prompts", ()), 0.0)
        if steps and part != "reader" and not no_model(described.get("engine") or ""):
            ours = _only(sorted({(steps | sampled_at)[step] for step in steps}))
            yield f"temperature of the {part}", Stated(temperatures.get(part), f"temperature.{part}"), ours
    if sampled or measured.run.config.get("seeds"):
        seeds = sorted({seed for of in measured.run.config.get("seeds", {}).values() for seed in of}) or [0]
        yield "seed", Stated(terms.get("seed"), "seed"), _only(seeds)
    complete = all("prompts" in part for part in parts.values())
    prompts = dict.fromkeys(prompt for part in parts.values() for prompt in part.get("prompts", {}).items())
    if prompts or not complete:
        source = Stated(terms["prompts"]["source"], "prompts.source", "wording")
        yield "prompts", source, [*prompts] if complete else NOTHING


def _only(values: Sequence[float]) -> Any:
    """The only value, or all of them."""
    return values[0] if len(values) == 1 else ", ".join(map(str, values))


def _encoder(measured: Measured, terms: Terms, measure: str) -> Facts:
    """The encoder, for methods that have one."""
    if measured.place.encoder != "":
        ours = measured.described.get("encoder")
        yield "encoder", Stated(named(measured.place.encoder or ()), "encoder", "named"), [ours] if ours else NOTHING


# -- questions and corpus ---------------------------------------------------------------------------------------------


def _data_set(measured: Measured, terms: Terms, measure: str) -> Facts:
    """The name, the size and, if they are the paper's, the content of the data set: a name and two numbers are easily
    shared. Generated questions have no published content."""
    config, data = measured.run.config, measured.place.data
    if measured.place.why:
        yield "row", Stated(None, "methods.why"), "; ".join(measured.place.why)
    name, expected = config["data"]["name"], terms["data"][data]
    yield "split and corpus", Stated(expected, f"data.{data}"), name
    for key, value in terms.get("options", {}).get(data, {}).items():  # as they were loaded
        loaded = config["data"].get(OPTIONS, {}).get(key, NOTHING)
        yield f"{name}'s {key}", Stated(value, f"options.{data}.{key}"), loaded
    ours = {
        "questions": (config["questions"]["n"], config["questions"].get("hash")),
        "passages": (measured.layers.get("passages", {}).get("passages"), config["data"].get("fingerprint")),
    }
    published = known_of(terms, data)._asdict()
    for part, (n, identity) in ours.items():
        there = of_data(terms[part], data)
        n = n if part == "passages" or measured.place.hops is None else len(measured.rows)
        place = f"{part}.{data}" if isinstance(terms[part], Mapping) else part
        yield part, Stated(there, place), NOTHING if n is None else n
        generated = part == "questions" and data in terms.get("generated", {})
        if name == expected and not generated and (None in (n, there) or n == there):
            place = (
                f"data.{data}, by its publisher's files{', which are not on this machine' * (published[part] is None)}"
            )
            yield f"which {part}", Stated(published[part], place), NOTHING if identity is None else identity


class Known(NamedTuple):
    """The fingerprint of a corpus and the hash of its questions, as `run.json` has them; None where not known."""

    passages: str | None = None
    questions: str | None = None


def known_of(terms: Terms, data: str) -> Known:
    """What is listed of a paper's data set, else what follows from its publisher's files where they are on this
    machine. Nothing is downloaded, and a folder that only has the name says nothing."""
    name, options = terms["data"][data], terms.get("options", {}).get(data, {})  # how the paper takes its data
    listed = Known(**terms.get("fingerprints", {}).get(name, {}))
    if None not in listed:
        return listed
    here = _here(name, tuple(sorted(options.items())), str(fetch.cache()), os.environ.get("HOPSCOPE_DATA"))
    return Known(*(stated or other for stated, other in zip(listed, here)))


@cache
def _here(name: str, options: tuple[tuple[str, Any], ...], *_places: str | None) -> Known:
    try:
        entry = find(name)
        data = entry and load_entry(entry, offline=True, **dict(options))
    except DataError:  # not here, or not whole
        return Known()
    if data is None or data.origin is None or not data.origin.files:
        return Known()
    rows = [asdict(question) for question in data.questions]
    return Known(data.fingerprint, key_of(questions=rows) if rows else None)


# -- layers -----------------------------------------------------------------------------------------------------------


def stated_of_layer(terms: Terms, data: str, own: Mapping[str, Mapping[str, Any]], kind: str) -> dict[str, Stated]:
    """The settings of a layer that the paper says: everywhere, of these data, and of a row (`own`)."""
    of = ((terms["layers"], "layers"), (terms.get("layers_of", {}).get(data, {}), f"layers_of.{data}"))
    tables = [_stated_in(stated.get(kind, {}), f"{place}.{kind}") for stated, place in (*of, (own, "methods.layers"))]
    return tables[0] | tables[1] | tables[2]


def _layers(measured: Measured, terms: Terms, measure: str) -> Facts:
    """Who wrote the layers, and with which settings."""
    expected = expected_of(measured.place.model, terms, "index")
    for kind in measured.place.written:
        yield from _written(kind, measured.layers.get(kind, {}), expected, terms["prompts"]["source"])
    articles = measured.run.config["data"].get(ARTICLES)  # of which the layers may be made
    made = {**measured.layers, **({ARTICLES: {"settings": articles}} if articles else {})}
    for kind, layer in made.items():
        stated = stated_of_layer(terms, measured.place.data, measured.place.layers, kind)
        of = LAYERS.get(kind, (0, None))[1]
        yield from _settings(f"{kind}.", layer.get("settings", {}), stated, of, f"layers.{kind}")
    more = terms.get("more_layers", {}).get(measured.place.data, ())
    read = {ARTICLES, *closure({*METHODS[measured.place.name].layers}, more)}
    for kind in (kind for kind in more if kind in read):
        yield kind, Stated("made", f"more_layers.{measured.place.data}"), "made" if kind in made else "none"


def _written(kind: str, layer: Mapping[str, Any], expected: Sequence[str], source: Sequence[str]) -> Facts:
    """The engines and Steps that signed a layer; what the data brought has no prompts."""
    makers = layer.get("made_by") or ()
    signed = [(RULES, "") if by_rules(maker) else signed_by(maker) or (maker, "") for maker in makers]
    yield f"{kind}: made by", Stated(expected, "engines.index", "named"), [by for by, _ in signed] or NOTHING
    by_model = [steps for by, steps in signed if not no_model(by) and by not in CURATED]
    if by_model:
        pairs = [
            (fingerprints.read(wording)[0], wording) for steps in by_model for wording in steps.split(", ") if wording
        ]
        yield f"{kind}: prompts", Stated(source, "prompts.source", "wording"), pairs
    if failures := layer.get("failures"):
        yield f"{kind}: failed requests", Stated("none", ANY), failures


# -- method -----------------------------------------------------------------------------------------------------------


def _method(measured: Measured, terms: Terms, measure: str) -> Facts:
    """The settings of the method and of its backbone, and the weights on which they run. A run must say those of the
    method."""
    stated_settings, place = terms.get("settings", {}), measured.place
    ours = {key: value for key, value in measured.described["settings"].items() if key != "backbone" or not place.under}
    depths = terms.get("measured", {}).get(measure, {}).get("method", {})
    stated = {
        **_stated_in(stated_settings.get(place.name, {}), f"settings.{place.name}", needed=True),
        **_stated_in(place.asked, "methods.asked", needed=True),
        **_stated_in({key: depth for key, depth in depths.items() if key in ours}, f"measured.{measure}.method"),
    }
    stated.pop("backbone", None)  # the row's own
    yield from _settings("method's ", ours, stated, METHODS[place.name].Settings, f"settings.{place.name}")
    if place.under:
        name, settings, options = place.under
        stated = _stated_in(stated_settings.get(name, {}), f"settings.{name}") | _stated_in(options, "backbones.asked")
        yield from _settings("backbone's ", settings, stated, METHODS[name].Settings, f"settings.{name}")


# -- what the rows show -----------------------------------------------------------------------------------------------


def _asked_of(terms: Terms, measure: str) -> Mapping[str, Any]:
    """The reader's settings that the name of a measure implies."""
    return terms.get("measured", {}).get(measure, {}).get("asked", {})


def _ranking(measured: Measured, terms: Terms, measure: str) -> Facts:
    """How deep the ranking goes, which must not cut what a method returns, nor a final set of a size of its own."""
    config, rows, name = measured.run.config, measured.every, measured.place.name
    at = re.search(r"@(\d+)", measure)
    returns = terms.get("returns", {}).get(name)
    returned = measured.described["settings"].get(returns) or 0
    depth = max(int(at[1]) if at else 0, _asked_of(terms, measure).get("k", 0), terms.get("k", 0), returned)
    ours = min(config["k"], depth) if depth else "any number"
    yield "passages ranked", Stated(depth or "any number", "k"), ours
    budget = "none" if config["budget"] is None else f"{config['budget']:,} tokens of passages"
    yield "budget", Stated("none", ANY), budget
    if name in terms.get("whole", ()):
        complete = all(row.get("selected") is not None for row in rows)
        cut = sum((row.get("selected") or 0) >= config["k"] for row in rows)
        ours = f"cut to the {config['k']} passages ranked for {cut:,} questions" if cut else "whole"
        yield "size of the final set", Stated("whole", "whole"), ours if complete else NOTHING
    if returns == ALL:
        cut = sum(len(row.get("ranking", ())) >= config["k"] for row in rows)
        ours = f"cut to the {config['k']} passages ranked for {cut:,} questions" if cut else ALL
        yield "passages returned", Stated(ALL, f"returns.{name}"), ours


def _answered(measured: Measured, terms: Terms, measure: str) -> Facts:
    """Which questions count."""
    counted, scored = len({row["question_id"] for row in measured.counted(measure)}), len(measured.scores(measure))
    defined = "all questions" if scored == counted else f"{scored:,} of {counted:,} questions"
    yield "the measure is defined for", Stated("all questions", ANY), defined
    done, whole = len(measured.run.rows), measured.run.config["questions"]["n"] * len(measured.run.methods)
    times, repeats = measured.run.asked(measured.label), measured.run.repeats
    ours = "all questions" if times >= repeats else f"every question {times} of {repeats} times"
    ours = f"{done:,} of {whole:,} questions" if done < whole else ours
    yield "asked", Stated("all questions", ANY), ours


def _flawed(measured: Measured, terms: Terms, measure: str) -> Facts:
    """Of how many questions the number is not what the method and its models made: they broke, or a request of theirs
    has no usable reply, scores of different scales are put on one, a fallback of ours answers, a window cut what the
    reader reads."""
    rows, place, parts = measured.every, measured.place, parts_of(measured, terms, measure)
    others = {"reader": measured.reading, "judge": measured.run.config.get("judging") or {}}
    apart = {step for name, part in others.items() if name not in parts for step in part.get("prompts", ())}
    flaws = {
        "failures": [row["failure"] is not None for row in rows],
        "failed requests": [
            any(used.get("failed") for step, used in row["usage"].items() if step not in apart) for row in rows
        ],
        "mixed scales": [bool(row.get("mixed")) for row in rows],
    }
    if not {place.name, place.under[0] if place.under else ""} & {*terms.get("falls_back", ())}:
        flaws["fallbacks"] = [bool(row.get("fallback")) for row in rows]
    if "reader" in parts:
        flaws["contexts cut"] = [row.get("cut_to") is not None for row in rows]
    for key, flawed in flaws.items():
        yield key, Stated("none", ANY), f"{sum(flawed):,} questions" if any(flawed) else "none"
    for name, part in parts.items():
        for setting, tokens in part.get("window", {}).items():
            ours = f"{tokens:,} tokens, which is all that the engine's window holds"
            yield f"{name}'s window of {setting}", Stated("its own limit", ANY), ours


# -- reader, measure --------------------------------------------------------------------------------------------------


def _reader(measured: Measured, terms: Terms, measure: str) -> Facts:
    expected, asked_of = terms["reader"], _asked_of(terms, measure)
    if measure not in expected["of"]:
        if "readers" in terms and measured.run.config["reader"]:  # the context is the reader's
            yield from _laid_out(measured, expected)
        return
    name, given = parse_spec(measured.run.config["reader"] or "none")
    names = named(expected["name"])
    yield "reader", Stated(name if name in names else names[0], "reader.name"), name
    options = {
        **_stated_in(expected["asked"], "reader.asked"),
        **_stated_in(asked_of, f"measured.{measure}.asked", needed=True),
        **_stated_in(measured.place.reading or {}, "readers"),
        **_stated_in(_of_model(measured, terms), "models.reading"),
    }
    if name in names:
        given = _read_with(measured)
    if REWRITE in options:
        given = {REWRITE: False, **given}
    free = _free(measured, terms, measure, {key: stated.value for key, stated in options.items()})
    neutral = without_effect(READERS[name].Settings) if name in names else {}
    free |= {key for key, value in neutral.items() if key not in options and given.get(key) == value}
    for key in dict.fromkeys((*options, *given)):
        stated, value = options.get(key), given.get(key, NOTHING)
        if key in free:
            continue
        if key == "compress" and stated and stated.value != "none" and value is not NOTHING:
            yield from _compression(value, stated, terms["compression"])
        else:
            yield f"reader's {key}", stated or Stated(None, "reader.asked"), value
    deep, ranked = given.get("k"), measured.run.config["k"]
    if deep and "k" not in free and deep > ranked:
        yield "passages for the reader", Stated(deep, "reader.asked.k"), ranked


def _of_model(measured: Measured, terms: Terms) -> dict[str, Any]:
    """The settings of the reader that the model of a row makes."""
    of_models = {key for model in terms.get("models", ()) for key in model.get("reading", ())}
    return {key: value for key, value in (measured.place.reading or {}).items() if key in of_models}


def _free(measured: Measured, terms: Terms, measure: str, options: Mapping[str, Any]) -> set[str]:
    """The settings of the reader that change nothing in the number of a measure."""
    free = _without_effect(measured, terms["reader"])
    if measured.place.data in terms["reader"].get("own_prompt", ()) or options.get("route"):  # the router chooses it
        free.add("prompt")
    return free if (measured.place.ours(measure) or "").partition(" ")[0] in OF_SHORT else free | {REWRITE}


def _read_with(measured: Measured) -> dict[str, Any]:
    """The settings of the run's reader, with its defaults if the reader is known."""
    name, given = parse_spec(measured.run.config["reader"] or "none")
    return {**defaults(READERS[name]), **given} if name in READERS else given


def _without_effect(measured: Measured, expected: Mapping[str, Any]) -> set[str]:
    """The reader's settings that have no effect when every context is laid out by the method."""
    own = all(row.get("layout") for row in measured.every if row["failure"] is None)
    return set(expected.get("free_in_own_context", ())) if own else set()


def _laid_out(measured: Measured, expected: Mapping[str, Any]) -> Facts:
    """What the reader makes of the evidence before it reads."""
    given, free = _read_with(measured), _without_effect(measured, expected)
    options = _stated_in(expected["asked"], "reader.asked")
    for key in ("layout", "k", "budget"):
        if key in given and key not in free:
            yield f"context's {key}", options.get(key, Stated(None, "reader.asked")), given[key]


def _compression(ours: str | None, stated: Stated, options: Mapping[str, Any]) -> Facts:
    made, given = parse_spec(str(ours or "none"))
    yield "reader's compress", stated, made
    if made == stated.value:
        of = COMPRESSORS[made]
        ours, stated_here = {**defaults(of), **given}, _stated_in(options, "compression")
        yield from _settings(f"{made}'s ", ours, stated_here, of.Settings, "compression")


def _measure(measured: Measured, terms: Terms, measure: str) -> Facts:
    """How the measure is taken, and what else the paper leaves open about the method, its backbone and the data."""
    ours, place, open_ = measured.place.ours(measure), measured.place, terms.get("unsaid", {})
    says = terms.get("measures", {}).get(ours, "")
    yield "measure", Stated(measure, f"measures.{ours}"), f"{ours}: {says}" if says else measure
    parts = (place.name, place.under[0] if place.under else "", place.data)
    if unsaid := [each for part in parts for each in open_.get(part, ())]:
        tables = ", ".join(f"unsaid.{part}" for part in parts if open_.get(part))
        yield f"left open: {'; '.join(unsaid)}", Stated(None, tables), "as the workbench does it"


CONDITIONS = (
    _models, _encoder, _data_set, _layers, _method, _ranking, _answered, _flawed, _reader, _measure,
)  # fmt: skip
