"""The conditions under which a number of a run and one of a paper were made: what is the same, what differs, and what
either side leaves open. The paper's conditions are data (`published/<paper>.toml`); `conditions` holds a run against
all of them, for every paper alike, and `differences` are its sentences. Nothing unknown passes for equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.data.curated import CURATED
from workbench.index.building import LAYERS, closure
from workbench.index.journal import by_rules, signed_by
from workbench.index.usage import ARTICLES
from workbench.llm import fingerprints
from workbench.llm.engine import no_model
from workbench.measures import OF_SHORT
from workbench.methods import METHODS
from workbench.papers.condition import (
    DIFFERS,
    EMPTY,
    SAME,
    SILENT,
    SOURCES,
    UNKNOWN,
    UNSAID,
    Condition,
    Terms,
    asked_of,
    compares,
    expected_of,
    first_of,
    held,
    model_of,
    named,
    parts_of,
    same,
)
from workbench.papers.conditions_of_data import of_data_set
from workbench.papers.conditions_of_rows import answered, flawed, ranking
from workbench.reading import READERS
from workbench.reading.compression import COMPRESSORS
from workbench.reading.rewriting import SETTING as REWRITE
from workbench.settings import defaults, parse_spec, without_effect

if TYPE_CHECKING:
    from workbench.papers.tables import Measured


def said_of_layer(terms: Terms, data: str, own: Mapping[str, Mapping[str, Any]], kind: str) -> dict[str, Any]:
    """The settings of a layer that the paper says: everywhere, of these data, and of a row (`own`)."""
    of = (terms["layers"], terms.get("layers_of", {}).get(data, {}), own)
    return {key: value for said in of for key, value in said.get(kind, {}).items()}


def conditions(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Every condition of the number of a measure, side by side. It is comparable with the paper's if all are the
    same."""
    for group in CONDITIONS:
        yield from group(one, terms, measure)


def differences(one: Measured, terms: Terms, measure: str) -> Iterator[str]:
    """The reasons why the number of a measure is not comparable with the paper's, in words; none if every condition is
    known on both sides and agrees."""
    return (condition.why for condition in conditions(one, terms, measure) if condition.why)


# -- models -----------------------------------------------------------------------------------------------------------


def _models(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Those of the method's Steps, of the reader and of the judge."""
    yield from _engine("model", one.described, expected_of(one.place.model, terms, "method"))
    if measure in terms["reader"]["of"]:
        yield from _engine("reader's model", one.reading, expected_of(one.place.model, terms, "reader"))
    if compares(terms, measure):
        judges, (ours, _) = expected_of(one.place.model, terms, "judge"), one.judgements
        yield held("judge", first_of(judges), ours or "none", bool(ours) and model_of(ours) in judges)
    if measure in terms["reader"].get("judged", ()):
        judges, ours = expected_of(one.place.model, terms, "judge"), one.run.judge
        yield held("judge", first_of(judges), ours or "none", ours is not None and model_of(ours) in judges)


def _engine(what: str, part: Mapping[str, Any], expected: Sequence[str]) -> Iterator[Condition]:
    there = first_of(expected)
    if "engine" not in part:
        yield held(what, there, "", False)
    for engine in filter(None, (part.get("engine") or "").split(", ")):
        if (by := no_model(engine)) and what == "model":
            yield Condition(what, there or "a model", by, f"{by}, not a model")
        else:
            yield held(what, there, by or engine, not by and model_of(engine) in expected)


def _encoder(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Of a method that has one."""
    ours, expected = one.described.get("encoder"), one.place.encoder
    if expected == "":
        return
    names, model = named(expected or ()), model_of(ours or "")
    if ours is not None and model not in names and model.partition("[")[0] in names:
        why = f"encoder: {ours}, there its settings are not said ({names[0]})"
        yield Condition("encoder", names[0], ours, why, open=True)
    else:
        yield held("encoder", first_of(names), ours or "", ours is not None and model in names)


def _sampling(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """The temperature of the Steps of method and judge (the reader's is a setting of it) and, where it is above 0 or a
    seed was chosen, the seed."""
    said, config, sampled = terms.get("temperature", {}), one.run.config, False
    for part, described in parts_of(one, terms, measure).items():
        steps, told = dict.fromkeys(described.get("prompts", ()), 0.0), described.get("temperatures", {})
        sampled |= any(told.values()) or (part == "reader" and bool(_read_with(one).get("temperature")))
        if not steps or part == "reader" or no_model(described.get("engine") or ""):
            continue
        ours = sorted({(steps | told)[step] for step in steps})
        theirs = "" if part not in said else f"{said[part]:g}"
        yield held(
            f"temperature of the {part}", theirs, ", ".join(f"{each:g}" for each in ours), ours == [said.get(part)]
        )
    if sampled or config.get("seeds"):
        seeds = sorted({seed for of in config.get("seeds", {}).values() for seed in of}) or [0]
        yield held("seed", str(terms.get("seed", "")), ", ".join(map(str, seeds)), seeds == [terms.get("seed")])


# -- questions, corpus, index -----------------------------------------------------------------------------------------


def _layers(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Who wrote the layers, and with which settings."""
    expected = expected_of(one.place.model, terms, "index")
    for kind in one.place.written:
        yield from _written(kind, one.layers.get(kind, {"made_by": ()}), expected, terms["prompts"]["source"])
    for kind, layer in _made(one).items():
        said = said_of_layer(terms, one.place.data, one.place.layers, kind)
        yield from _settings(f"{kind}.", layer.get("settings", {}), said, LAYERS.get(kind, (0, None))[1])
    more = terms.get("more_layers", {}).get(one.place.data, ())
    read = {ARTICLES, *closure({*METHODS[one.place.name].layers}, more)}
    yield from (held(kind, "made", "made" if kind in _made(one) else "none", kind in _made(one))
                for kind in more if kind in read)  # fmt: skip


def _made(one: Measured) -> dict[str, Mapping[str, Any]]:
    """The layers that a method reads, and the articles that they may be made of."""
    articles = one.run.config["data"].get(ARTICLES)
    return {**one.layers, **({ARTICLES: {"settings": articles}} if articles else {})}


def _written(
    kind: str, layer: Mapping[str, Any], expected: Sequence[str], source: Sequence[str]
) -> Iterator[Condition]:
    makers, made = layer.get("made_by"), f"{kind}: made by"
    if makers is None:
        yield Condition(made, first_of(expected), "", f"{kind}: brought by the data, which do not say who wrote them")
    elif not makers:
        yield Condition(made, first_of(expected), "", f"{kind}: the run does not say who wrote them")
    elif any(by_rules(maker) for maker in makers):
        yield Condition(made, first_of(expected) or "a model", "rules", f"{kind}: made by rules, not by a model")
    for maker in makers or ():
        yield from () if by_rules(maker) else _maker(kind, maker, expected, source)
    if failed := layer.get("failures"):
        yield Condition(f"{kind}: failed requests", "none", f"{failed:,}", f"{kind}: {failed:,} requests failed")


def _maker(kind: str, maker: str, expected: Sequence[str], source: Sequence[str]) -> Iterator[Condition]:
    if maker in CURATED:
        yield Condition(f"{kind}: made by", first_of(expected), maker, f"{kind}: brought by the data ({maker})")
        return
    if not (signed := signed_by(maker)):
        why = f"{kind}: brought by the data ({maker}), which do not say their prompts"
        yield Condition(f"{kind}: prompts", SOURCES, "", why)
        return
    engine, steps = signed
    made = f"{kind}: made by"
    yield held(made, first_of(expected), engine, model_of(engine) in expected, f"made by {engine}", kind)
    yield _wording(f"{kind}: prompts", [(fingerprints.read(one)[0], one) for one in steps.split(", ")], source)


def _wording(name: str, asked: Sequence[tuple[str, str]], source: Sequence[str]) -> Condition:
    """Whose wording the Steps (name, wording) that were asked have, by the fingerprints of the source's prompts and by
    what a user says. Only a wording of which a fingerprint cannot say which of two like prompts it is stays open."""
    groups: dict[tuple[str, str], list[str]] = {}  # (state, whose) → Steps
    for step, wording in asked:
        listed = groups.setdefault(_whose(wording, source), [])
        listed += [] if step in listed else [step]
    said = "; ".join(f"{whose} ({', '.join(steps)})" for (_, whose), steps in groups.items())
    strange = [f"{whose} ({', '.join(steps)})" for (state, whose), steps in groups.items() if state != SAME]
    why = f"{name} are {' and '.join(strange)}, there {SOURCES}" if strange else ""
    return Condition(name, SOURCES, said, why, open=all(state != DIFFERS for state, _ in groups))


def _whose(wording: str, source: Sequence[str]) -> tuple[str, str]:
    """(state, whose) of a wording as a run names it. `source` has the ids of the source's printed prompts, and wordings
    that a user calls its own."""
    proper, verdict = fingerprints.read(wording)
    if proper in source:
        return SAME, f"{SOURCES}, as is said"
    if verdict is None or verdict.id not in source:
        return DIFFERS, "ours"
    if verdict.theirs:
        return SAME, f"{SOURCES} prompt (fingerprint)"
    alike = ", as of another of its prompts" if verdict.said == "unsure" else ""
    return UNKNOWN if alike else DIFFERS, f"{verdict.share:.0%} of {SOURCES}{alike}"


# -- method -----------------------------------------------------------------------------------------------------------


def _method(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """The settings of the method and of its backbone, and the weights on which they run."""
    known, place = terms.get("settings", {}), one.place
    ours = {key: value for key, value in one.described["settings"].items() if key != "backbone" or not place.under}
    said = {**known.get(place.name, {}), **place.asked, **_depths(one, terms, measure)}
    said = {key: value for key, value in said.items() if key != "backbone"}  # the row's own
    yield from _settings("", ours, said, METHODS[place.name].Settings)
    if missing := [f"{key}={value}" for key, value in said.items() if key not in ours]:
        yield Condition("other settings", ", ".join(missing), "", f"{', '.join(missing)}: {SILENT}")
    if place.under:
        name, settings, asked = place.under
        yield from _settings("backbone's ", settings, known.get(name, {}) | asked, METHODS[name].Settings)


def _settings(prefix: str, ours: Mapping[str, Any], said: Mapping[str, Any], of: Any) -> Iterator[Condition]:
    """One by one those that the paper says, and as one those that it does not. `of`: the class that has them, which
    knows those that change nothing at their value."""
    neutral = without_effect(of).items() if of else ()
    ours = {key: value for key, value in ours.items() if key in said or (key, value) not in neutral}
    for key, value in ours.items():
        if key in said:
            of_checkpoint = key == "checkpoint"  # its commit is no part of the name that a paper gives
            equal = same(str(value).partition("@")[0] if of_checkpoint else value, said[key])
            yield held(f"{prefix}{key}", str(said[key]) or EMPTY, str(value) or EMPTY, equal)
    if unsaid := [f"{key}={value}" for key, value in ours.items() if key not in said]:
        listed = ", ".join(f"{prefix}{one}" for one in unsaid)
        yield Condition(f"{prefix}other settings", "", ", ".join(unsaid), f"{listed}: {UNSAID}")


def _depths(one: Measured, terms: Terms, measure: str) -> dict[str, Any]:
    """Settings of the method that the name of a measure stands for."""
    asked = terms.get("measured", {}).get(measure, {}).get("method", {})
    return {key: value for key, value in asked.items() if key in one.described["settings"]}


# -- reader, prompts, measure -----------------------------------------------------------------------------------------


def _reader(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    expected = terms["reader"]
    if measure not in expected["of"]:
        if "readers" in terms and one.run.config["reader"]:  # the context is the reader's
            yield from _laid_out(one, expected)
        return
    name, given = parse_spec(one.run.config["reader"] or "none")
    names = named(expected["name"])
    yield held("reader", name if name in names else names[0], name, name in names)
    if name in names:
        given = _read_with(one)
    asked = {**expected["asked"], **asked_of(terms, measure), **(one.place.reading or {})}
    ours = (one.place.ours(measure) or "").partition(" ")[0]
    if REWRITE in asked:
        given = {REWRITE: False, **given}
    for key, value in asked_of(terms, measure).items():
        if key not in given:
            yield held(f"reader's {key}", str(value), "", False)
    free = {"prompt"} if one.place.data in expected.get("own_prompt", ()) else set()
    free |= _without_effect(one, expected)
    free |= set() if ours in OF_SHORT else {REWRITE}
    if asked.get("route"):
        free.add("prompt")  # the router chooses it
    neutral = without_effect(READERS[name].Settings) if name in names else {}
    free |= {key for key, value in neutral.items() if key not in asked and given.get(key) == value}
    for key, value in given.items():
        if key in free:
            continue
        if key == "compress" and asked.get(key, "none") != "none":
            yield from _compression(value, asked[key], terms["compression"])
        else:
            said = str(asked[key]) or EMPTY if key in asked else ""
            yield held(f"reader's {key}", said, str(value) or EMPTY, key in asked and same(value, asked[key]))
    if (deep := given.get("k")) and "k" not in free and deep > (ranked := one.run.config["k"]):
        why = f"k: {ranked} passages ranked, and the reader reads {deep}"
        yield Condition("passages for the reader", f"{deep}", f"{ranked}", why)


def _read_with(one: Measured) -> dict[str, Any]:
    """The settings of the run's reader, of a known one with its defaults."""
    name, given = parse_spec(one.run.config["reader"] or "none")
    return {**defaults(READERS[name]), **given} if name in READERS else given


def _without_effect(one: Measured, expected: Mapping[str, Any]) -> set[str]:
    """The settings of a reader that change nothing where every context is the one that the method lays out itself."""
    own = all(row.get("layout") for row in one.every if row["failure"] is None)
    return set(expected.get("free_in_own_context", ())) if own else set()


def _laid_out(one: Measured, expected: Mapping[str, Any]) -> Iterator[Condition]:
    """What the reader makes of the evidence before it reads."""
    given, asked, free = _read_with(one), expected["asked"], _without_effect(one, expected)
    for key in ("layout", "k", "budget"):
        if key in given and key not in free:
            said = str(asked[key]) if key in asked else ""
            yield held(f"context's {key}", said, str(given[key]), key in asked and same(given[key], asked[key]))


def _compression(ours: str | None, name: str, asked: Mapping[str, Any]) -> Iterator[Condition]:
    made, given = parse_spec(str(ours or "none"))
    yield held("reader's compress", str(name), made, made == name)
    if made == name:
        of = COMPRESSORS[name]
        yield from _settings(f"{name}'s ", {**defaults(of), **given}, asked, of.Settings)


def _prompts(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    parts = parts_of(one, terms, measure).values()
    if any("prompts" not in part for part in parts):
        yield Condition("prompts", SOURCES, "", f"prompts: {SILENT}")
    asked = dict.fromkeys(prompt for part in parts for prompt in part.get("prompts", {}).items())
    if asked:
        yield _wording("prompts", list(asked), terms["prompts"]["source"])


def _measure(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    ours = one.place.ours(measure)
    says = terms.get("measures", {}).get(ours, "")
    yield Condition("measure", measure, f"{ours}: {says}" if says else f"{ours}", f"{ours}: {says}" if says else "")


def _unsaid(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """What else the paper leaves open of the method, its backbone and the data."""
    place, open_ = one.place, terms.get("unsaid", {})
    parts = (place.name, place.under[0] if place.under else "", place.data)
    if unsaid := [one for part in parts for one in open_.get(part, ())]:
        listed = "; ".join(unsaid)
        yield Condition(f"left open: {listed}", "", "as the workbench does it", f"{UNSAID}: {listed}")


CONDITIONS = (
    _models, _sampling, _encoder, of_data_set, _layers, _method, ranking, answered, flawed, _reader, _prompts,
    _measure, _unsaid,
)  # fmt: skip
