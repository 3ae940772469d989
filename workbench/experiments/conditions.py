"""The conditions under which a number of a run and one of a paper were made: what is the same, what differs, and what
either side leaves open. The paper's conditions are data (`published/<paper>.toml`); `conditions` holds a run against
all of them, for every paper alike, and `differences` are its sentences. Nothing unknown passes for equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.data.curated import CURATED
from workbench.index.index import OPTIONS
from workbench.index.journal import by_rules, signed_by
from workbench.index.usage import ARTICLES
from workbench.llm.engine import no_model
from workbench.reading import READERS
from workbench.reading.compression import COMPRESSORS
from workbench.reading.rewriting import SETTING as REWRITE
from workbench.settings import defaults
from workbench.spec import parse_spec
from workbench.steps import judge_pair

if TYPE_CHECKING:
    from workbench.experiments.tables import Measured

Terms = Mapping[str, Any]
UNSAID, SILENT = "there it is not said", "the run does not say"
SOURCES = "the source's"  # prompts
EMPTY = "(empty)"
ALL = "all"  # that a method finds, however many
SAME, DIFFERS, UNKNOWN = "same", "differs", "unknown"


class Condition(NamedTuple):
    """A condition on both sides, in words; "" where a side does not say it. `why`: the sentence for a number that is
    not comparable because of it, "" if both sides agree. `open`: a side says only a part of it."""

    name: str
    theirs: str
    ours: str
    why: str = ""
    open: bool = False

    @property
    def state(self) -> str:
        if not self.why:
            return SAME
        return UNKNOWN if self.open or not (self.theirs and self.ours) else DIFFERS


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


def _held(name: str, theirs: str, ours: str, equal: bool, says: str = "", what: str = "") -> Condition:
    """A condition with the usual sentence; `says` is what the sentence has for ours, `what` for the name."""
    there = f"there {theirs}" if theirs else UNSAID
    return Condition(name, theirs, ours, "" if equal else f"{what or name}: {says or ours or SILENT}, {there}")


# -- models -----------------------------------------------------------------------------------------------------------


def _models(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Those of the method's Steps, of the reader and of the judge."""
    yield from _engine("model", one.described, expected_of(one.place.model, terms, "method"))
    if measure in terms["reader"]["of"]:
        yield from _engine("reader's model", one.reading, expected_of(one.place.model, terms, "reader"))
    if _compares(terms, measure):
        judges, (ours, _) = expected_of(one.place.model, terms, "judge"), one.judgements
        yield _held("judge", _first(judges), ours or "none", bool(ours) and model_of(ours) in judges)
    if measure in terms["reader"].get("judged", ()):
        judges, ours = expected_of(one.place.model, terms, "judge"), one.run.judge
        yield _held("judge", _first(judges), ours or "none", ours is not None and model_of(ours) in judges)


def expected_of(row: Sequence[str], terms: Terms, part: str) -> tuple[str, ...]:
    """Names of the model of the index, the method, the reader or the judge; empty where the paper does not say it.
    `row`: those of the row's own model."""
    names = named(terms["engines"].get(part, ()))
    return tuple(row) if names == ("row",) else names


def _engine(what: str, part: Mapping[str, Any], expected: Sequence[str]) -> Iterator[Condition]:
    there = _first(expected)
    if "engine" not in part:
        yield _held(what, there, "", False)
    for engine in filter(None, (part.get("engine") or "").split(", ")):
        if (by := no_model(engine)) and what == "model":
            yield Condition(what, there or "a model", by, f"{by}, not a model")
        else:
            yield _held(what, there, by or engine, not by and model_of(engine) in expected)


def _first(names: Sequence[str]) -> str:
    """The first of the names of one model; "" where the paper does not say it."""
    return names[0] if names else ""


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
        yield _held("encoder", _first(names), ours or "", ours is not None and model in names)


# -- questions, corpus, index -----------------------------------------------------------------------------------------


def _data(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    config = one.run.config
    yield from (Condition("row", "", "", why) for why in one.place.why)
    name, expected = config["data"]["name"], terms["data"][one.place.data]
    yield _held("split and corpus", expected, name, name == expected)
    for key, value in terms.get("options", {}).get(one.place.data, {}).items():  # as they were loaded
        ours = config["data"].get(OPTIONS, {}).get(key)
        yield _held(f"{name}'s {key}", str(value), "" if ours is None else str(ours), ours == value)
    n = config["questions"]["n"] if one.place.hops is None else len(one.rows)
    yield _counted("questions", n, of_data(terms["questions"], one.place.data))
    corpus = one.layers.get("passages", {}).get("passages")
    yield _counted("passages", corpus, of_data(terms["passages"], one.place.data))


def _counted(what: str, ours: int | None, theirs: int | None) -> Condition:
    """A number on both sides, None where it is not said."""
    said = ("" if number is None else f"{number:,}" for number in (theirs, ours))
    return _held(what, *said, ours == theirs is not None)


def _layers(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Who wrote the layers, and with which settings."""
    expected = expected_of(one.place.model, terms, "index")
    for kind in one.place.written:
        yield from _written(kind, one.layers.get(kind, {"made_by": ()}), expected, terms["prompts"]["source"])
    for kind, layer in _made(one).items():
        said = said_of_layer(terms, one.place.data, one.place.layers, kind)
        yield from _settings(f"{kind}.", layer.get("settings", {}), said)
    for kind in terms.get("more_layers", {}).get(one.place.data, ()):
        yield _held(kind, "made", "made" if kind in _made(one) else "none", kind in _made(one))


def _made(one: Measured) -> dict[str, Mapping[str, Any]]:
    """The layers that a method reads, and the articles that they may be made of."""
    articles = one.run.config["data"].get(ARTICLES)
    return {**one.layers, **({ARTICLES: {"settings": articles}} if articles else {})}


def _written(
    kind: str, layer: Mapping[str, Any], expected: Sequence[str], source: Sequence[str]
) -> Iterator[Condition]:
    makers, made = layer.get("made_by"), f"{kind}: made by"
    if makers is None:
        yield Condition(made, _first(expected), "", f"{kind}: brought by the data, which do not say who wrote them")
    elif not makers:
        yield Condition(made, _first(expected), "", f"{kind}: the run does not say who wrote them")
    elif any(by_rules(maker) for maker in makers):
        yield Condition(made, _first(expected) or "a model", "rules", f"{kind}: made by rules, not by a model")
    for maker in makers or ():
        yield from () if by_rules(maker) else _maker(kind, maker, expected, source)
    if failed := layer.get("failures"):
        yield Condition(f"{kind}: failed requests", "none", f"{failed:,}", f"{kind}: {failed:,} requests failed")


def _maker(kind: str, maker: str, expected: Sequence[str], source: Sequence[str]) -> Iterator[Condition]:
    if maker in CURATED:
        yield Condition(f"{kind}: made by", _first(expected), maker, f"{kind}: brought by the data ({maker})")
        return
    if not (signed := signed_by(maker)):
        why = f"{kind}: brought by the data ({maker}), which do not say their prompts"
        yield Condition(f"{kind}: prompts", SOURCES, "", why)
        return
    engine, steps = signed
    made = f"{kind}: made by"
    yield _held(made, _first(expected), engine, model_of(engine) in expected, f"made by {engine}", kind)
    yield _wording(f"{kind}: prompts", steps.split(", "), [one for one in steps.split(", ") if one not in source])


def _wording(name: str, asked: Sequence[str], ours: Sequence[str]) -> Condition:
    """Of the Steps that were asked, those whose wording is not known to be the source's."""
    if not ours:
        return Condition(name, SOURCES, ", ".join(asked))
    said = f"ours ({', '.join(ours)})"
    return Condition(name, SOURCES, said, f"{name} are {said}, there {SOURCES}")


# -- method -----------------------------------------------------------------------------------------------------------


def _method(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """The settings of the method and of its backbone, and the weights on which they run."""
    known, place = terms.get("settings", {}), one.place
    ours = {key: value for key, value in one.described["settings"].items() if key != "backbone" or not place.under}
    said = {**known.get(place.name, {}), **place.asked, **_depths(one, terms, measure)}
    said = {key: value for key, value in said.items() if key != "backbone"}  # the row's own
    yield from _settings("", ours, said)
    if missing := [f"{key}={value}" for key, value in said.items() if key not in ours]:
        yield Condition("other settings", ", ".join(missing), "", f"{', '.join(missing)}: {SILENT}")
    if place.under:
        name, settings, asked = place.under
        yield from _settings("backbone's ", settings, known.get(name, {}) | asked)


def _settings(prefix: str, ours: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[Condition]:
    """One by one those that the paper says, and as one those that it does not."""
    for key, value in ours.items():
        if key in said:
            of_checkpoint = key == "checkpoint"  # its commit is no part of the name that a paper gives
            equal = same(str(value).partition("@")[0] if of_checkpoint else value, said[key])
            yield _held(f"{prefix}{key}", str(said[key]) or EMPTY, str(value) or EMPTY, equal)
    if unsaid := [f"{key}={value}" for key, value in ours.items() if key not in said]:
        listed = ", ".join(f"{prefix}{one}" for one in unsaid)
        yield Condition(f"{prefix}other settings", "", ", ".join(unsaid), f"{listed}: {UNSAID}")


def _depths(one: Measured, terms: Terms, measure: str) -> dict[str, Any]:
    """Settings of the method that the name of a measure stands for."""
    asked = terms.get("measured", {}).get(measure, {}).get("method", {})
    return {key: value for key, value in asked.items() if key in one.described["settings"]}


def _ranking(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """How deep the ranking goes, and which questions count."""
    config, rows = one.run.config, one.every
    at = re.search(r"@(\d+)", measure)
    depth = max(
        int(at[1]) if at else 0, _asked_of(terms, measure).get("k", 0), terms.get("k", 0), _returned(one, terms)
    )
    deep = f"k: {config['k']} passages ranked, there at least {depth}" * (config["k"] < depth)
    yield Condition("passages ranked", f"at least {depth}" if depth else "any number", f"{config['k']}", deep)
    budget = "none" if config["budget"] is None else f"{config['budget']:,} tokens of passages"
    yield _held("budget", "none", budget, budget == "none")
    if one.place.name in terms.get("whole", ()):
        yield _final_set(rows, config["k"])
    if terms.get("returns", {}).get(one.place.name) == ALL:
        cut = sum(len(row.get("ranking", ())) >= config["k"] for row in rows)
        ours = f"cut to the {config['k']} passages ranked for {cut:,} questions" if cut else ALL
        yield _held("passages returned", ALL, ours, not cut)
    counted, scored = len({row["question_id"] for row in one.counted(measure)}), len(one.scores(measure))
    undefined = f"{measure}: undefined for {counted - scored:,} of {counted:,} questions" * (scored < counted)
    yield Condition("the measure is defined for", "all questions", f"{scored:,} of {counted:,}", undefined)
    done, whole = len(one.run.rows), config["questions"]["n"] * len(one.run.methods)
    unfinished = f"unfinished: {done:,} of {whole:,} questions asked" * (done < whole)
    if not unfinished and (found := one.run.asked(one.label)) < one.run.repeats:
        unfinished = f"unfinished: every question was asked {found} times, {one.run.repeats} repeats are asked for"
    yield Condition("asked", "all questions", f"{done:,} of {whole:,}" if unfinished else "all questions", unfinished)
    failed = sum(row["failure"] is not None for row in rows)
    broke = f"failures: {failed:,} questions broke and count as 0" * bool(failed)
    yield Condition("failures", "none", f"{failed:,} questions" if failed else "none", broke)
    if failed := sum("failed" in (row.get("fallback") or "") for row in rows):
        why = f"fallback: a request failed for {failed:,} questions"
        yield Condition("fallbacks", "none", f"{failed:,} questions", why)


def _returned(one: Measured, terms: Terms) -> int:
    """How many passages the method returns at most, which the depth of the ranking must not cut; 0 if no setting says
    it."""
    setting = terms.get("returns", {}).get(one.place.name)
    return one.described["settings"].get(setting) or 0


def _final_set(rows: Sequence[Mapping[str, Any]], k: int) -> Condition:
    """A method whose final set has a size of its own must not be cut to k."""
    what = "size of the final set"
    if any(row.get("selected") is None for row in rows):
        return Condition(what, "whole", "", f"{what}: {SILENT}")
    cut = sum(row["selected"] >= k for row in rows)
    ours = f"cut to the {k} passages ranked for {cut:,} questions" if cut else "whole"
    return _held(what, "whole", ours, not cut)


# -- reader, prompts, measure -----------------------------------------------------------------------------------------


def _reader(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    expected = terms["reader"]
    if measure not in expected["of"]:
        return
    name, given = parse_spec(one.run.config["reader"] or "none")
    names = named(expected["name"])
    yield _held("reader", name if name in names else names[0], name, name in names)
    asked = {**expected["asked"], **_asked_of(terms, measure), **(one.place.reading or {})}
    if name in names:
        given = {**defaults(READERS[name]), **({REWRITE: False} if REWRITE in asked else {}), **given}
    for key, value in _asked_of(terms, measure).items():
        if key not in given:
            yield _held(f"reader's {key}", str(value), "", False)
    free = {*expected.get("free", ()), *(["prompt"] if one.place.data in expected.get("own_prompt", ()) else [])}
    if asked.get("route"):
        free.add("prompt")  # the router chooses it
    for key, value in given.items():
        if key in free:
            continue
        if key == "compress" and asked.get(key, "none") != "none":
            yield from _compression(value, asked[key], terms["compression"])
        else:
            said = str(asked[key]) or EMPTY if key in asked else ""
            yield _held(f"reader's {key}", said, str(value) or EMPTY, key in asked and same(value, asked[key]))
    if (deep := given.get("k")) and "k" not in free and deep > (ranked := one.run.config["k"]):
        why = f"k: {ranked} passages ranked, and the reader reads {deep}"
        yield Condition("passages for the reader", f"{deep}", f"{ranked}", why)


def _compression(ours: str | None, name: str, asked: Mapping[str, Any]) -> Iterator[Condition]:
    made, given = parse_spec(str(ours or "none"))
    yield _held("reader's compress", str(name), made, made == name)
    if made == name:
        yield from _settings(f"{name}'s ", {**defaults(COMPRESSORS[name]), **given}, asked)


def _asked_of(terms: Terms, measure: str) -> Mapping[str, Any]:
    """Settings of the reader that the name of a measure stands for."""
    return terms.get("measured", {}).get(measure, {}).get("asked", {})


def _prompts(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    parts = [one.described, *([one.reading] if measure in terms["reader"]["of"] else [])]
    parts += [one.run.config.get("judging") or {}] if measure in terms["reader"].get("judged", ()) else []
    if any("prompts" not in part for part in parts):
        yield Condition("prompts", SOURCES, "", f"prompts: {SILENT}")
    parts += [{"prompts": {judge_pair.STEP.name: judge_pair.STEP.wording}}] * _compares(terms, measure)
    asked = dict.fromkeys(prompt for part in parts for prompt in part.get("prompts", {}).items())
    if asked:
        source = terms["prompts"]["source"]
        ours = dict.fromkeys(step for step, wording in asked if wording not in source)
        yield _wording("prompts", list(dict.fromkeys(step for step, _ in asked)), list(ours))


def _compares(terms: Terms, measure: str) -> bool:
    """Whether a measure is a share of pairs that a judge compared."""
    return measure in terms["reader"].get("compared", ())


def _measure(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    ours = one.place.ours(measure)
    says = [terms.get("measures", {}).get(ours, "")]
    says += (  # what holds for some rows only
        rule["says"] for rule in terms.get("rules", ()) if ours in rule["of"] and rule["model"] in one.place.model
    )
    known = [Condition("measure", measure, f"{ours}: {one}", f"{ours}: {one}") for one in says if one]
    yield from known or [Condition("measure", measure, f"{ours}")]


def _unsaid(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """What else the paper leaves open of the method, its backbone and the data."""
    place, open_ = one.place, terms.get("unsaid", {})
    parts = (place.name, place.under[0] if place.under else "", place.data)
    if unsaid := [one for part in parts for one in open_.get(part, ())]:
        listed = "; ".join(unsaid)
        yield Condition(f"left open: {listed}", "", "as the workbench does it", f"{UNSAID}: {listed}")


CONDITIONS = (_models, _encoder, _data, _layers, _method, _ranking, _reader, _prompts, _measure, _unsaid)
