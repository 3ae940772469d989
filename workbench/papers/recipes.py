"""The runs that a paper's table needs: for each of its data sets the methods, readers and layers, derived from the
paper's conditions (`published/<paper>.toml`), so that a run differs in as little as possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

from workbench.data import Dataset
from workbench.errors import SettingError
from workbench.index.building import LAYERS, closure
from workbench.index.textualise import SETTINGS as SETTINGS_OF_ARTICLES
from workbench.index.usage import ARTICLES
from workbench.measures import deepest
from workbench.methods import METHODS
from workbench.methods.gfm_rag import hub
from workbench.papers.condition import ALL, Stated, named
from workbench.papers.conditions import stated_of_layer
from workbench.papers.figures import Side, sides
from workbench.papers.placing import COVERAGE, COVERED, STATIC, rows
from workbench.published import Paper
from workbench.reading import READERS
from workbench.reading.rewriting import SETTING as REWRITE
from workbench.settings import changed, parse_spec, settle, spec_of

RANKED = 20  # passages, where nothing asks for more
WHOLE = 200  # so that no final set is cut
NOT_OF_PROFILE = ("profile", "budget", "max_hops")  # settings of a compressor; others have no effect, and are refused
EVERY = 10_000  # above what any method returns that returns all: PathRAG fills two budgets of 4,000 tokens


@dataclass(frozen=True)
class Recipe:
    """`data`: its name in the tables; `source`: our name of it; `options`: how it is loaded. `read_by`: the SPEC of a
    method → those of the readers that its rows need, none for rankings; `answered`: whether a row looks at an answer,
    and not at the context alone. `layers`: layer → settings; `variant`: the row that they are for, where it has its
    own. `k`: passages ranked; `encoder`: its name, None where the paper does not say it or names none; `judged`:
    whether a judge is asked; `pairs`: SPECs of two of the methods, whose answers a judge compares. `generated`: how the
    questions are made (`paths`, `each`), of data that bring none."""

    data: str
    source: str
    read_by: Mapping[str, tuple[str, ...]]
    layers: Mapping[str, Mapping[str, Any]]
    measures: tuple[str, ...]
    k: int
    encoder: str | None
    judged: bool
    pairs: tuple[tuple[str, str], ...] = ()
    generated: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    answered: bool = True
    variant: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(self.read_by)

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(engine for several in self.read_by.values() for engine in several))


def tables_of(source: Paper) -> list[str]:
    """The tables that runs can fill: those with a recipe for at least one row."""
    return [table for table in dict.fromkeys(source.printed["table"]) if recipes(source, table)]


def recipes(source: Paper, table: str, model: str | None = None) -> list[Recipe]:
    """The recipes of a table, one for each data set, encoder and index; none for a table of facts. `model`: for its
    rows alone, and those of none. Raises :class:`SettingError` for a table that the paper does not have."""
    printed = source.printed[source.printed["table"] == table]
    if printed.empty:
        tables = ", ".join(dict.fromkeys(source.printed["table"]))
        raise SettingError(f"{source.name} has no table {table!r}; it has {tables}")
    return recipes_of(source, printed, model)


def models_of(source: Paper, table: str) -> list[str]:
    """The models that make the rows of a table which runs can fill, as the paper calls them."""
    rows = _rows(source, source.printed[source.printed["table"] == table])
    models = {_model_of(source.terms, row) for row in rows if _ranking(source.terms, row)}
    return [model["called"] for model in source.terms.get("models", ()) if model["called"] in models]


def recipes_of(source: Paper, printed: Any, model: str | None = None) -> list[Recipe]:
    """The recipes of printed numbers, rows of `source.printed`."""
    wanted: dict[tuple[str, str | None, str], list[_Ranking]] = {}
    for row in _rows(source, printed):
        if model and _model_of(source.terms, row) not in (None, model):
            continue
        if ranking := _ranking(source.terms, row):
            wanted.setdefault((row.data, ranking.encoder, ranking.variant), []).append(ranking)
    return [
        replace(_recipe(source.terms, *key, rankings), pairs=_pairs(source, printed, key[0], rankings))
        for key, rankings in wanted.items()
    ]


def _pairs(source: Paper, printed: Any, data: str, rankings: list[_Ranking]) -> tuple[tuple[str, str], ...]:
    """The SPECs of the methods that the win rates of these data compare."""
    specs = {ranking.row.method: ranking.spec for ranking in rankings}
    compared = printed[(printed["kind"] == "win") & (printed["data"] == data)]["method"]
    return tuple(dict.fromkeys(tuple(specs[label] for label in source.compared(method)) for method in compared))


class _Ranking(NamedTuple):
    """What ranks for a row: the SPEC of its method, the name of its encoder, the layers that it reads, those whose
    settings are the row's own, and the row's name if there are any."""

    row: Side
    spec: str
    encoder: str | None
    layers: list[str]
    own: Mapping[str, Mapping[str, Any]]
    variant: str


def _model_of(terms: Mapping[str, Any], row: Side) -> str | None:
    """The model that distinguishes a row from others, under the paper's name; None if no model does."""
    called = row.method.rpartition(", ")[2] if "readers" in terms else row.backbone
    return next((called for model in terms.get("models", ()) if model["called"] == called), None)


def _rows(source: Paper, printed: Any) -> Iterator[Side]:
    """The rows whose numbers a run measures. Of a difference, both sides; of questions of one type, all questions."""
    for row in printed.itertuples():
        yield from (side for side in sides(source, row) if side.data in source.terms["data"])


def _ranking(terms: Mapping[str, Any], row: Side) -> _Ranking | None:
    """None of a row that no run can fill."""
    if row.method in terms.get("absent", {}) or "recomputed" in row.method:
        return None
    called = STATIC if "readers" in terms else row.method
    place = next(
        (place for place in rows(terms) if place.backbone in ("", row.backbone) and place.method == called), None
    )
    if place is None:
        return None
    depths = terms.get("measured", {}).get(row.measure, {}).get("method", {})
    given = _given(place.name, terms["settings"].get(place.name, {}) | place.asked | depths)
    layers = [*METHODS[place.name].layers]
    if over := given.get("over"):
        layers += METHODS[parse_spec(over)[0]].layers
    if under := place.under[0] if place.under else place.asked.get("backbone"):
        given["backbone"] = _spec(under, _given(under, terms["settings"].get(under, {})))
        layers += METHODS[under].layers
    first = named(place.encoder)[0] if place.encoder else None
    variant = place.method if place.layers else ""
    return _Ranking(row, _spec(place.name, given), first, list(dict.fromkeys(layers)), place.layers, variant)


def _spec(name: str, given: Mapping[str, Any]) -> str:
    """Without what follows from the profile or is the default."""
    made = METHODS[name]
    profile = {key: value for key, value in given.items() if key == "profile"}
    plain = asdict(settle(name, made.Settings, profile, made.profiles))
    values = {key: value for key, value in given.items() if plain.get(key) != value and key != "profile"}
    settings = profile if profile.get("profile") != next(iter(made.profiles), None) else {}
    return spec_of(name, settings | values)


def _given(name: str, stated: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a SPEC, of those that the method has. Weights that are not on this machine give way to those that
    the package brings; the table names the difference."""
    given = _plain(stated, {field.name for field in fields(METHODS[name].Settings)} - {"backbone"})
    if "checkpoint" in given:
        commits = hub.cached(given["checkpoint"])
        given["checkpoint"] = f"{given['checkpoint']}@{commits[-1]}" if commits else "mini"
    return given


def _plain(stated: Mapping[str, Any], has: Iterable[str]) -> dict[str, Any]:
    """Those of the settings of a TOML file that there are; it spells `None` as "none"."""
    return {key: None if value == "none" else value for key, value in stated.items() if key in has}


def _recipe(terms: Mapping[str, Any], data: str, encoder: str | None, variant: str, rankings: list[_Ranking]) -> Recipe:
    printed = [ranking.row for ranking in rankings]
    measures = dict.fromkeys(measure for row in printed for measure in _measured(terms, row.measure))
    read_by, answered = _read_by(terms, rankings)
    judged = any(row.measure in terms["reader"].get("judged", ()) for row in printed)
    kinds = dict.fromkeys(kind for ranking in rankings for kind in ranking.layers)
    kinds |= dict.fromkeys(kind for kind in closure({*kinds}) if kind in terms["layers"])
    kinds |= dict.fromkeys(terms.get("more_layers", {}).get(data, ()))
    least = EVERY if ALL in terms.get("returns", {}).values() else WHOLE if terms.get("whole") else RANKED
    return Recipe(
        data,
        terms["data"][data],
        read_by,
        {kind: _of_layer(kind, stated_of_layer(terms, data, rankings[0].own, kind)) for kind in kinds},
        tuple(measures),
        max(least, terms.get("k", 0), deepest(list(measures))),
        encoder,
        judged,
        generated=terms.get("generated", {}).get(data),
        options=terms.get("options", {}).get(data, {}),
        answered=answered,
        variant=variant,
    )


def _read_by(terms: Mapping[str, Any], rankings: list[_Ranking]) -> tuple[dict[str, tuple[str, ...]], bool]:
    """Method → the readers of its rows, and whether any of these looks at an answer. A row of a context is filled by
    whatever reads it, so that it has a reader of its own only where the method has none."""
    answers, contexts = ({ranking.spec: dict[str, None]() for ranking in rankings} for _ in range(2))
    for ranking in rankings:
        if ranking.row.measure in terms["reader"]["of"]:
            answers[ranking.spec][_reader_of(terms, ranking.row)] = None
        elif ranking.row.measure == COVERAGE and "readers" in terms:
            contexts[ranking.spec][_reader_of(terms, ranking.row)] = None
    return {spec: tuple(answers[spec] or contexts[spec]) for spec in answers}, any(answers.values())


def _measured(terms: Mapping[str, Any], measure: str) -> list[str]:
    """Our measures that one of the paper's needs; shares of wrong answers need the coverage. Pairs are judged after the
    run, of which the abstentions are counted."""
    if measure in terms["reader"].get("compared", ()):
        return ["abstained"]
    ours, covered, _ = measure.partition(COVERED)
    measures = terms.get("measured", {}).get(measure, {}).get("as")
    return [*(measures[:1] if measures else [ours]), *([COVERAGE] if covered or ours == "accuracy:thesis" else [])]


def _of_layer(kind: str, stated: Mapping[str, Stated]) -> dict[str, Any]:
    has = SETTINGS_OF_ARTICLES if kind == ARTICLES else {field.name for field in fields(LAYERS[kind][1])}
    return _plain({key: condition.value for key, condition in stated.items()}, has)


def _reader_of(terms: Mapping[str, Any], row: Side) -> str:
    """The SPEC of what reads for a row."""
    reader = terms["reader"]
    options = {**reader["asked"], **terms.get("measured", {}).get(row.measure, {}).get("asked", {})}
    if "readers" in terms:
        called = row.method.rpartition(", ")[0]
        of = next((term for term in terms["readers"] if term["called"] == called), terms["readers"][0])
        options |= {key: value for key, value in of.items() if key != "called"}
        if (compressor := of.get("compress")) is not None:
            options["compress"] = spec_of(compressor, _plain(terms["compression"], NOT_OF_PROFILE))
    if row.data in reader.get("own_prompt", ()):
        options["prompt"] = "claim"
    model = next((model for model in terms.get("models", ()) if model["called"] == _model_of(terms, row)), {})
    options |= model.get("reading", {})
    given = _plain(options, options)
    read, rewritten = READERS[named(reader["name"])[0]], given.pop(REWRITE, False)
    return spec_of(read.name, changed(read.Settings(**given)) | ({REWRITE: True} if rewritten else {}))


def layers_of(recipe: Recipe, loaded: Dataset) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """The layers to build, and the settings of those that have any; of articles only where some are written."""
    written = bool(loaded.triples and not loaded.passages)
    settings = {kind: stated for kind, stated in recipe.layers.items() if stated and (written or kind != ARTICLES)}
    return [kind for kind in recipe.layers if kind != ARTICLES], settings


def slug(*names: str | None) -> str:
    """A folder's name for any names."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(name for name in names if name).lower()).strip("-")
