"""What the index of each method costs: tokens of construction, tokens of communities, minutes (Youtu-GraphRAG, arXiv
2508.19855, Figures 5a and 5b).

    tokens of a layer  = Σ over its requests of (prompt tokens + completion tokens)
    cost of a method   = Σ over the layers that it needs, and those below them

Two kinds of numbers are never added up. `measured` is what models were billed for (`Index.usage`); `forecast` is what a
model would be asked, with cl100k tokens of the prompts and assumed answers (`estimate.forecast_layers`), where rules
wrote a layer, the data brought it, or there is no bill. Layers that serve several methods count for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.analyses.base import Analysis, frame_of
from workbench.errors import SettingError
from workbench.evaluation.estimate import NOTHING, Cost, Range, exactly, forecast_layers
from workbench.index import Index
from workbench.index.building import closure
from workbench.index.journal import by_rules, signed_by
from workbench.index.usage import ARTICLES
from workbench.llm.step import Usage
from workbench.methods import METHODS
from workbench.methods.composite import Composite
from workbench.published import paper, youtu
from workbench.settings import defaults, parse_spec, split_outside

MEASURED, FORECAST, PUBLISHED, FREE = "measured", "forecast", "published", "no model"
UNKNOWN = "unknown"
BROUGHT = ("extractions", "profiles")  # by articles on a graph of triples, which alone are asked for then
COMMUNITIES = ("summaries", "communities", "tree")  # layers that Figure 5b counts: texts about groups
COUNTS = ("calls", "prompt_tokens", "completion_tokens", "construction", "community", "tokens", "low", "high")
_NO_NUMBERS = dict.fromkeys(("calls", "prompt_tokens", "completion_tokens", "tokens", "low", "high"))


@dataclass(frozen=True, slots=True, repr=False)
class ConstructionCost(Analysis):
    """Rows: data, method, basis (`measured`, `forecast`, `published`, or `no model` for a method whose index asks
    none), construction and community (tokens), tokens (both), low and high (of both, where they are a forecast),
    minutes (from begin to end of each layer, by whatever wrote it), layers (those that ask a model).

    `layers`: data, layer, basis, calls, prompt_tokens, completion_tokens, tokens, low, high, minutes, made_by, methods
    (that need it); `minutes_of`: data and layer → minutes."""

    layers: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    minutes_of: Mapping[tuple[str, str], float | None] = field(default_factory=dict, hash=False)

    def frame(self) -> pd.DataFrame:
        return _whole(frame_of(self.rows))

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"": self.frame(), "Layers": _whole(frame_of(self.layers))}

    def of(self, data: str, layers: Iterable[str], basis: str) -> Range | None:
        """Tokens of those of the layers that ask a model; None if one of them has no number of this basis."""
        wanted = {*layers} & {layer["layer"] for layer in self.layers if layer["data"] == data}
        spent = {
            layer["layer"]: Range(layer["tokens"], layer["low"], layer["high"])
            for layer in self.layers
            if (layer["data"], layer["basis"]) == (data, basis) and layer["layer"] in wanted
        }
        return sum(spent.values(), NOTHING) if spent.keys() == wanted else None

    @property
    def data(self) -> list[str]:
        """The names of the indexes."""
        return list(dict.fromkeys(data for data, _ in self.minutes_of))


def construction_cost(
    indexes: Index | Iterable[Index],
    methods: Iterable[str] | None = None,
    *,
    beside: Iterable[str] | None = None,
) -> ConstructionCost:
    """The cost of one index or of several, per method. `methods` are names or SPECs, by default all registered ones
    whose layers stand. `beside` names the data sets of Youtu-GraphRAG whose published numbers stand next to ours, by
    default those of the indexes."""
    indexes = [indexes] if isinstance(indexes, Index) else list(indexes)
    if not indexes:
        raise SettingError("construction_cost was given no index; pass at least one, such as wb.Index.open(folder)")
    methods = None if methods is None else list(methods)
    layers = [row for index in indexes for row in _layer_rows(index)]
    minutes = {(index.name, kind): _minutes(index, kind) for index in indexes for kind in _standing(index)}
    made = ConstructionCost("Cost of construction", (), layers=tuple(layers), minutes_of=minutes)
    rows: list[Mapping[str, Any]] = []
    needed: dict[tuple[str, str], list[str]] = {}
    for index in indexes:
        for name in methods or methods_of(index):
            below = _below(index, name)
            rows += _method_rows(made, index.name, name, below)
            for kind in below:
                needed.setdefault((index.name, kind), []).append(name)
    names = [published_as(index.name) for index in indexes] if beside is None else list(beside)
    rows += [row for data in dict.fromkeys(names) if data for row in published_rows(data)]
    printed_layers = tuple({**row, "methods": ", ".join(needed.get((row["data"], row["layer"]), ()))} for row in layers)
    notes = tuple(_notes(layers, rows))
    return ConstructionCost(made.title, tuple(rows), notes, printed_layers, minutes, draw="construction_cost")


def layers_of(spec: str) -> list[str]:
    """The layers that a method needs, with those below them, in building order; of one over others those of its parts.

    >>> layers_of("bdtr[backbone=raptor]"), layers_of("rrf[over=bm25+raptor]"), layers_of("dense")
    (['passages', 'summaries'], ['passages', 'summaries'], ['passages'])
    """
    name, settings = parse_spec(spec)
    method = METHODS.look_up(name)
    if not issubclass(method, Composite):
        return closure({*method.layers})
    parts = split_outside(str(settings.get(method.of, defaults(method)[method.of])), "+")
    return closure({kind for part in parts for kind in layers_of(part)})


def methods_of(index: Index) -> list[str]:
    """The registered methods with layers of their own, all of which stand."""
    return [name for name, method in METHODS.items() if method.layers and {*layers_of(name)} <= {*_standing(index)}]


def published_as(data: str) -> str | None:
    """The data set of the published tables that an index of this name is of."""
    return next((name for name in youtu.DATA if data.casefold().startswith(name)), None)


def published_rows(data: str) -> Iterator[dict[str, Any]]:
    """The rows of Figures 5a and 5b; their tokens are printed, their minutes read off."""
    printed = youtu.Printed(paper("youtu").printed)
    figures = {"construction": "figure 5a", "community": "figure 5b"}
    for name in dict.fromkeys(row.method for row in printed.of(*figures.values()) if row.data == data):
        tokens, minutes = (
            [printed.at(figure, name, data, f"{part} {what}") for part, figure in figures.items()]
            for what in ("tokens", "minutes")
        )
        yield {
            "data": data, "method": name, "basis": PUBLISHED, "construction": tokens[0], "community": tokens[1],
            "tokens": sum(filter(None, tokens)), "low": None, "high": None, "minutes": sum(filter(None, minutes)),
            "layers": "",
        }  # fmt: skip


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers for counts, also if some are unknown."""
    return frame.astype({name: "Int64" for name in COUNTS if name in frame})


def _standing(index: Index) -> list[str]:
    return list(index.manifest["layers"])


def _below(index: Index, spec: str) -> list[str]:
    """The layers of a method, each of which must stand, and the articles that they may be made of."""
    below = layers_of(spec)
    if missing := [kind for kind in below if kind not in index.manifest["layers"]]:
        raise SettingError(
            f"{spec} needs the layer {missing[0]!r}, which {index.folder} does not have; add it with "
            f"index.ensure([{missing[0]!r}], engine), or leave the method out"
        )
    return [ARTICLES, *below]


def _minutes(index: Index, kind: str) -> float | None:
    seconds = index.usage.seconds([kind])
    return None if seconds is None else seconds / 60


def _layer_rows(index: Index) -> Iterator[dict[str, Any]]:
    """The layers that ask a model: what was measured of each, and what is forecast."""
    forecasts = forecast_layers(index)
    if written := (index.folder / "textualised").is_dir():  # articles bring extractions and profiles
        forecasts = {kind: costs for kind, costs in forecasts.items() if kind not in BROUGHT}
        usage = index.usage.of([ARTICLES])
        counted = {"basis": MEASURED, **_counted(usage)} if usage.prompt_tokens else {"basis": UNKNOWN, **_NO_NUMBERS}
        yield {"data": index.name, "layer": ARTICLES, **counted, "minutes": _minutes(index, ARTICLES), "made_by": ""}
    for kind, named in index.manifest["layers"].items():
        place = {"data": index.name, "layer": kind}
        rest = {"minutes": _minutes(index, kind), "made_by": ", ".join(named.get("made_by") or ())}
        if not (written and kind in BROUGHT) and (usage := _measured(index, kind)):
            yield {**place, "basis": MEASURED, **_counted(usage), **rest}
        if kind in forecasts:
            yield {**place, "basis": FORECAST, **_foretold(forecasts[kind]), **rest}


def _measured(index: Index, kind: str) -> Usage | None:
    """What models were billed for; None if that is not known, or if anyone else wrote a part of it."""
    makers = index.manifest["layers"][kind].get("made_by") or ()
    if any(by_rules(maker) or not signed_by(maker) for maker in makers):
        return None
    usage = index.usage.of([kind], [signed_by(maker)[0] for maker in makers])
    return usage if usage.prompt_tokens else None


def _counted(usage: Usage) -> dict[str, Any]:
    return _amounts(*map(exactly, (usage.calls, usage.prompt_tokens, usage.completion_tokens)))


def _foretold(costs: Sequence[Cost]) -> dict[str, Any]:
    names = ("calls", "prompt_tokens", "completion_tokens")
    return _amounts(*(sum((getattr(cost, name) for cost in costs), NOTHING) for name in names))


def _amounts(calls: Range, prompt: Range, completion: Range) -> dict[str, Any]:
    tokens = prompt + completion
    return {
        "calls": round(calls.value), "prompt_tokens": round(prompt.value),
        "completion_tokens": round(completion.value), "tokens": round(tokens.value), "low": round(tokens.low),
        "high": round(tokens.high),
    }  # fmt: skip


def _method_rows(made: ConstructionCost, data: str, method: str, below: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each basis of which all layers have numbers."""
    asking = [layer["layer"] for layer in made.layers if layer["data"] == data and layer["layer"] in below]
    taken = [made.minutes_of[data, kind] for kind in below if (data, kind) in made.minutes_of]
    minutes = None if None in taken else sum(taken)
    for basis in (MEASURED, FORECAST) if asking else (FREE,):
        parts = [
            made.of(data, [kind for kind in below if (kind in COMMUNITIES) == grouped], basis)
            for grouped in (False, True)
        ]
        if None in parts:
            continue
        whole = sum(parts, NOTHING)
        yield {
            "data": data, "method": method, "basis": basis, "construction": parts[0].value, "community": parts[1].value,
            "tokens": whole.value, "low": whole.low, "high": whole.high, "minutes": minutes,
            "layers": ", ".join(dict.fromkeys(asking)),
        }  # fmt: skip


def _notes(layers: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if any(row["basis"] == FORECAST for row in layers):
        yield "forecast: what a model would be asked, in cl100k tokens, with answers of assumed length; not measured."
    if articles := [layer["data"] for layer in layers if layer["basis"] == UNKNOWN]:
        yield f"Not known of {', '.join(articles)}: what its articles took, so no method has a number there."
    if rules := [
        layer["layer"] for layer in layers if layer["made_by"] and any(map(by_rules, layer["made_by"].split(", ")))
    ]:
        yield f"Written by rules, whose minutes are not a model's: {', '.join(dict.fromkeys(rules))}."
    if any(row["basis"] == PUBLISHED for row in rows):
        yield "published: other corpora, models and prompts; tokens as printed, minutes read off figures."
    yield "Tokens of encoders, of questions and of answers are not in it."
