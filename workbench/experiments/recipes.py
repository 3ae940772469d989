"""What has to be run for a table of a paper: for each of its data sets the methods, readers and layers, read off the
conditions of the paper (`published/<paper>.toml`), so that a run made so differs in as little as it can."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from workbench.errors import SettingError
from workbench.experiments.conditions import named
from workbench.experiments.published import Paper
from workbench.index.index import LAYERS
from workbench.measures import deepest, is_known
from workbench.methods import METHODS
from workbench.methods.gfm_rag import hub
from workbench.reading import READERS
from workbench.settings import changed, settle
from workbench.spec import spec_of

RANKED = 20  # passages, where nothing asks for more
WHOLE = 200  # so that no final set is cut
COVERED, PARALLEL = " of covered", " parallel"
_COVERAGE = "coverage:substring"


@dataclass(frozen=True)
class Recipe:
    """`data`: its name in the tables; `source`: our name of it. `methods`: SPECs; `readers`: SPECs, none for a table of
    rankings; `layers`: layer → settings; `k`: passages ranked; `encoder`: its name, None where the paper does not say
    it or names none; `judged`: whether a judge is asked; `pairs`: SPECs of two of the methods, whose answers a judge
    compares. `generated`: how the questions are made (`paths`, `each`), of data that bring none.

    Raises :class:`SettingError` for pairs that no run could judge, and for questions that could not be made."""

    data: str
    source: str
    methods: tuple[str, ...]
    readers: tuple[str, ...]
    layers: Mapping[str, Mapping[str, Any]]
    measures: tuple[str, ...]
    k: int
    encoder: str | None
    judged: bool
    pairs: tuple[tuple[str, str], ...] = ()
    generated: Mapping[str, Any] | None = None

    def __post_init__(self):
        for pair in self.pairs:
            if len(set(pair)) != 2 or not set(pair) <= set(self.methods):
                of = ", ".join(self.methods) or "none"
                raise SettingError(f"{self.data}: pair {pair!r} should be two of its methods, which are {of}")
        if self.pairs and not self.readers:
            raise SettingError(f"{self.data}: answers are compared in pairs, and no reader answers; add a reader")
        if self.generated is not None and not {"paths", "each"} <= self.generated.keys():
            raise SettingError(f"{self.data}: generated={dict(self.generated)!r} should say paths and each")


def tables_of(source: Paper) -> list[str]:
    """The tables that runs can fill: those with a row for which there is a recipe."""
    return [table for table in dict.fromkeys(source.printed["table"]) if recipes(source, table)]


def recipes(source: Paper, table: str) -> list[Recipe]:
    """The recipes of a table, one for each data set and encoder; none for a table of facts. Raises
    :class:`SettingError` for a table that the paper does not have."""
    printed = source.printed[source.printed["table"] == table]
    if printed.empty:
        known = ", ".join(dict.fromkeys(source.printed["table"]))
        raise SettingError(f"{source.name} has no table {table!r}; it has {known}")
    return recipes_of(source, printed)


def recipes_of(source: Paper, printed: Any) -> list[Recipe]:
    """The recipes of printed numbers, rows of `source.printed`."""
    wanted: dict[tuple[str, str | None], list[_Ranking]] = {}
    for row in _rows(source, printed):
        if ranking := _ranking(source.terms, row):
            wanted.setdefault((row.data, ranking.encoder), []).append(ranking)
    return [
        replace(_recipe(source.terms, *key, rankings), pairs=_pairs(source, printed, key[0], rankings))
        for key, rankings in wanted.items()
    ]


def _pairs(source: Paper, printed: Any, data: str, rankings: list[_Ranking]) -> tuple[tuple[str, str], ...]:
    """The SPECs of the methods that the win rates of these data compare."""
    specs = {ranking.row.method: ranking.spec for ranking in rankings}
    compared = printed[(printed["kind"] == "win") & (printed["data"] == data)]["method"]
    return tuple(dict.fromkeys(tuple(specs[one] for one in source.compared(method)) for method in compared))


class _Row(NamedTuple):
    backbone: str
    method: str
    data: str
    measure: str


class _Ranking(NamedTuple):
    """What ranks for a row: the SPEC of its method, the name of its encoder, the layers that it reads."""

    row: _Row
    spec: str
    encoder: str | None
    layers: list[str]


def _rows(source: Paper, printed: Any) -> Iterator[_Row]:
    """The rows whose numbers a run measures. Of a difference, both sides; of questions of one type, all questions."""
    data = source.terms["data"]
    kinds = ["score", "win", "difference", "share", "recomputed", "time"]
    for row in printed[printed["kind"].isin(kinds)].itertuples():
        within = row.data.partition(":")[0]
        if row.kind == "win":
            yield from (_Row(row.backbone, side, within, row.measure) for side in source.compared(row.method))
            continue
        sides = [row.method.removesuffix(PARALLEL)]
        if row.kind == "recomputed":
            sides = [f"{one}, {row.method.rpartition(', ')[2]}" for one in ("SPARQL", "Generic CoT", "Routing")]
        if " - " in row.method:
            first, _, second = row.method.partition(" - ")
            sides = [first if ", " in first else f"{first}, {second.rpartition(', ')[2]}", second]
        measure = {"share": "accuracy:thesis", "time": "recall@5"}.get(row.kind, row.measure)
        if measure in source.terms.get("measured", {}) or is_known(measure.partition(COVERED)[0]):
            yield from (_Row(row.backbone, side, within, measure) for side in sides if within in data)


def _ranking(terms: Mapping[str, Any], row: _Row) -> _Ranking | None:
    """None of a row that no run can fill."""
    if row.method in terms.get("absent", {}) or "recomputed" in row.method:
        return None
    under = next((one for one in terms.get("backbones", ()) if one["called"] == row.backbone), None)
    known = under if under and ("readers" in terms or row.method == "Original") else None
    known = known or next((one for one in terms.get("methods", ()) if one["called"] == row.method), None)
    if known is None:
        return None
    name, is_backbone = known["name"], known is under
    said = {**_known(terms, name), **known.get("is", {}), **known.get("asked", {})}
    said |= terms.get("measured", {}).get(row.measure, {}).get("method", {})
    given, layers = _given(name, said), [*METHODS[name].layers]
    if under and not is_backbone:
        given["backbone"] = _spec(under["name"], _given(under["name"], _known(terms, under["name"])))
        layers += METHODS[under["name"]].layers
    encoder = known.get("encoder", terms.get("encoder"))
    return _Ranking(row, _spec(name, given), named(encoder)[0] if encoder else None, list(dict.fromkeys(layers)))


def _spec(name: str, given: Mapping[str, Any]) -> str:
    """Without what follows from the profile or is the default."""
    made = METHODS[name]
    profile = {key: value for key, value in given.items() if key == "profile"}
    plain = asdict(settle(name, made.Settings, profile, made.profiles))
    values = {key: value for key, value in given.items() if plain.get(key) != value and key != "profile"}
    kept = profile if profile.get("profile") != next(iter(made.profiles), None) else {}
    return spec_of(name, kept | values)


def _known(terms: Mapping[str, Any], name: str) -> dict[str, Any]:
    return dict(terms["settings"].get(name, {}))


def _given(name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a SPEC, of those that the method has. Weights that are not on this machine give way to those that
    the package brings; the table names the difference."""
    has = {field.name for field in fields(METHODS[name].Settings)}
    given = {key: None if value == "none" else value for key, value in said.items() if key in has and key != "backbone"}
    if "checkpoint" in given:
        commits = hub.cached(given["checkpoint"])
        given["checkpoint"] = f"{given['checkpoint']}@{commits[-1]}" if commits else "mini"
    return given


def _recipe(terms: Mapping[str, Any], data: str, encoder: str | None, rankings: list[_Ranking]) -> Recipe:
    rows = [ranking.row for ranking in rankings]
    measures = dict.fromkeys(one for row in rows for one in _measured(terms, row.measure))
    readers = dict.fromkeys(made for row in rows if (made := _reader_of(terms, row)))
    judged = any(row.measure in terms["reader"].get("judged", ()) for row in rows)
    layers = dict.fromkeys(kind for ranking in rankings for kind in ranking.layers)
    layers |= dict.fromkeys(terms.get("more_layers", {}).get(data, ()))
    depth = max(RANKED, terms.get("k", 0), deepest(list(measures)), WHOLE if terms.get("whole") else 0)
    return Recipe(
        data,
        terms["data"][data],
        tuple(dict.fromkeys(ranking.spec for ranking in rankings)),
        tuple(readers),
        {kind: _of_layer(terms, kind) for kind in layers},
        tuple(measures),
        depth,
        encoder,
        judged,
        generated=terms.get("generated", {}).get(data),
    )


def _measured(terms: Mapping[str, Any], measure: str) -> list[str]:
    """Our measures that one of the paper's needs; shares of wrong answers need the coverage. Pairs are judged after the
    run, of which the abstentions are counted."""
    if measure in terms["reader"].get("compared", ()):
        return ["abstained"]
    ours, covered, _ = measure.partition(COVERED)
    known = terms.get("measured", {}).get(measure, {}).get("as")
    return [*(known[:1] if known else [ours]), *([_COVERAGE] if covered or ours == "accuracy:thesis" else [])]


def _of_layer(terms: Mapping[str, Any], kind: str) -> dict[str, Any]:
    has = {field.name for field in fields(LAYERS[kind][1])}
    said = terms["layers"].get(kind, {})
    return {key: None if value == "none" else value for key, value in said.items() if key in has}


def _reader_of(terms: Mapping[str, Any], row: _Row) -> str | None:
    """The SPEC of what reads for a row; None where its measure looks at the ranking."""
    reader = terms["reader"]
    if row.measure not in reader["of"] and not (row.measure == _COVERAGE and "readers" in terms):
        return None
    asked = {**reader["asked"], **terms.get("measured", {}).get(row.measure, {}).get("asked", {})}
    if "readers" in terms:
        called = row.method.rpartition(", ")[0]
        of = next((one for one in terms["readers"] if one["called"] == called), terms["readers"][0])
        asked |= {key: value for key, value in of.items() if key != "called"}
        if (compressor := of.get("compress")) is not None:
            asked["compress"] = spec_of(compressor, _told(terms["compression"]))
    if row.data in reader.get("own_prompt", ()):
        asked["prompt"] = "claim"
    given = {key: None if value == "none" else value for key, value in asked.items()}
    read = READERS[named(reader["name"])[0]]
    return spec_of(read.name, changed(read.Settings(**given)))


def _told(compression: Mapping[str, Any]) -> dict[str, Any]:
    """Without what has no effect in the profile, and is refused there."""
    return {key: value for key, value in compression.items() if key in ("profile", "budget", "max_hops")}


def slug(*names: str | None) -> str:
    """A folder's name for any names."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(name for name in names if name).lower()).strip("-")
