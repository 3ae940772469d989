"""Quality and cost of each configuration: of its questions ("The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045),
or of its index (Youtu-GraphRAG, arXiv 2508.19855, Figure 6).

    cost of a question = Σ over its calls of (prompt tokens + completion tokens) × price / 10⁶
    cost of an index   = Σ over the layers that a method reads of (prompt tokens + completion tokens)

The first source has one flat price per million tokens for both. A configuration is on the front if no other is at least
as good and cheaper, or better at the same or a lower cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.analyses.base import Analysis, Runs, cautions_of, measured, of_runs, runs_of
from workbench.analyses.construction_cost import (
    FORECAST,
    FREE,
    MEASURED,
    PUBLISHED,
    ConstructionCost,
    construction_cost,
    published_as,
)
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import bootstrap_interval, mean_of
from workbench.index import Index
from workbench.index.usage import ARTICLES
from workbench.measures.cost import cost, requests, tokens
from workbench.published import paper, youtu

MONEY, TOKENS, SHOWN = "US dollars", "tokens", "tokens of context shown"
REQUESTS = "requests"
CONSTRUCTION = "tokens of construction and communities"
BY = ("accuracy", "f1", "em", "recall@5")  # measures of quality by default
AT = {"tokens": (SHOWN, "shown"), "requests": (REQUESTS, "requests"), "dollars": (MONEY, "money")}  # unit and column


@dataclass(frozen=True, slots=True, repr=False)
class CostQuality(Analysis):
    """Rows: reader, method, n, quality (mean of the measure) with its 95 % interval (low, high), tokens (of all Steps,
    as counted by the model), requests, shown (cl100k tokens of context, counted again for a second attempt), money,
    cost (means per question), front (whether on it). `measure` is that of the quality, `unit` that of the cost.

    Of `pareto`, where the cost is that of the index: data, reader, method, basis, n, quality, cost, low, high (of a
    forecast), front (of all rows of the data set that are ours, or that are published)."""

    measure: str = "accuracy"
    unit: str = MONEY


def cost_quality(
    runs: Runs,
    methods: Iterable[str] | None = None,
    *,
    measure: str = "accuracy",
    at: str | None = None,
    prices: float | Mapping[str, float] | None = None,
) -> CostQuality:
    """Mean quality and mean cost per question of each configuration of a run, of several or of a grid.

    `prices`: US dollars per million tokens, flat, one for all or by the label of the reader (such as 0.05 for an 8B
    model and 0.59 for a 70B one); the default is the recorded cost. `at` says what they are compared at: `tokens` of
    context, `requests` or `dollars`; by default dollars, tokens if no money was spent (rules, a local model), and
    tokens of context if no tokens were counted (rules)."""
    if at is not None and at not in AT:
        raise SettingError(f"at={at!r}; configurations are compared at {', '.join(AT)}")
    rows: list[dict[str, Any]] = []
    for reader, run, label in of_runs(runs, methods):
        mine = [row for row in run.rows if row["method"] == label]
        spent = [tokens(row["usage"]) for row in mine]
        rows.append(
            {
                "reader": reader, "method": label, **_quality(run, label, measure),
                "tokens": mean_of(spent), "requests": mean_of(requests(row["usage"]) for row in mine),
                "shown": mean_of(_share_shown(row) for row in mine),
                "money": _money(mine, spent, _price(prices, reader)),
            }
        )  # fmt: skip
    unit, column = AT[at] if at else _unit(rows)
    costed = [{**row, "cost": row[column]} for row in rows]
    rows = [{**row, "front": _on_front(row, costed)} for row in costed]
    notes = [f"cost: {unit} per question."]
    if unit != MONEY and at is None:
        notes.append("Nothing was paid for, so configurations are compared by tokens.")
    elif unit == MONEY and any(row["money"] is None for row in rows):
        notes.append("The price of a model is not known; pass prices={reader: US dollars per million tokens}.")
    title = f"Quality ({measure}) against cost"
    return CostQuality(title, tuple(rows), (*cautions_of(runs), *notes), measure, unit, draw="cost_quality")


def _share_shown(row: Mapping[str, Any]) -> float | None:
    reading = row["reading"] or {}
    if reading.get("tokens") is not None:
        return reading["tokens"] * (1 + reading["retried"])
    return row["scores"].get("read_tokens", row.get("context_tokens"))


def _price(prices: float | Mapping[str, float] | None, reader: str) -> float | None:
    if isinstance(prices, Mapping):
        if reader not in prices:
            raise SettingError(f"prices lacks the reader {reader!r}; it has {', '.join(prices)}: add the missing price")
        prices = prices[reader]
    if prices is not None and not 0 <= prices < float("inf"):
        raise SettingError(f"prices={prices!r}; a price should be US dollars per million tokens, 0 or more")
    return prices


def _money(mine: Iterable[Mapping[str, Any]], spent: Iterable[float], price: float | None) -> float | None:
    """The mean; None if that of any question is unknown."""
    if price is not None:
        return mean_of(used * price / 1e6 for used in spent)
    paid = [cost(row["usage"]) for row in mine]
    return None if None in paid else mean_of(paid)


def _unit(rows: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """The unit of cost, the same for all, and its column."""
    rows = list(rows)
    if any(row["money"] != 0 for row in rows):
        return MONEY, "money"
    return (TOKENS, "tokens") if any(row["tokens"] for row in rows) else (SHOWN, "shown")


def _on_front(row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether no other is as good and as cheap, and better in one of the two."""
    mine = (row["quality"], row["cost"])
    if None in mine:
        return False
    others = [(other["quality"], other["cost"]) for other in rows]
    return not any(
        quality >= mine[0] and paid <= mine[1] and (quality, paid) != mine
        for quality, paid in others
        if quality is not None and paid is not None
    )


def at_equal_budgets(runs: Runs, at: str, measure: str | None = None) -> CostQuality:
    """All configurations of the runs at the same `tokens` of context, `requests` or `dollars`, by the first of
    `BY` that all were measured by."""
    by_label = runs_of(runs)
    measured_everywhere = (name for name in BY if all(name in run.measures for run in by_label.values()))
    return cost_quality(by_label, measure=measure or next(measured_everywhere, BY[0]), at=at)


def pareto(
    runs: Runs,
    construction: ConstructionCost | Index | Iterable[Index],
    methods: Iterable[str] | None = None,
    *,
    measure: str = "accuracy",
    beside: Iterable[str] | None = None,
) -> CostQuality:
    """Mean quality of each configuration against the tokens of the index that it reads, for a run, several or a grid;
    `construction` are the indexes, or their cost. If one configuration is not measured, all are compared by their
    forecast, which the unit says. `beside` names the data sets whose published points are shown, by default those of
    the runs."""
    costs = construction if isinstance(construction, ConstructionCost) else construction_cost(construction)
    rows_asked = [_quality_row(*of_run, measure) for of_run in of_runs(runs, methods)]
    if unknown := [row["data"] for row in rows_asked if row["data"] not in costs.data]:
        raise SettingError(f"construction has the indexes of {', '.join(costs.data)}; add that of {unknown[0]!r}")
    named = [published_as(row["data"]) for row in rows_asked] if beside is None else list(beside)
    basis = _basis(rows_asked, costs)
    ours = _fronts(_costed(row, costs, basis) for row in rows_asked)
    theirs = _fronts(point for data in dict.fromkeys(named) if data for point in _points(data))
    notes = _cautions(runs, [*ours, *theirs], measure)
    title = f"Quality ({measure}) against the cost of the index"
    unit = f"{CONSTRUCTION} ({basis})"
    return CostQuality(title, (*ours, *theirs), tuple(notes), measure, unit, draw="pareto")


def _quality_row(reader: str, run: Run, label: str, measure: str) -> dict[str, Any]:
    """A configuration, its quality, and the layers that it reads, with those below them."""
    place = {"data": run.config["data"]["name"], "reader": reader, "method": label}
    layers = [ARTICLES, *run.config["methods"][label]["layers"]]
    return {**place, **_quality(run, label, measure), "layers": layers}


def _quality(run: Run, label: str, measure: str) -> dict[str, Any]:
    measured(run, [measure])
    scores = run.scores(measure, label)
    low, high = bootstrap_interval([*scores.values()])
    return {"n": len(scores), "quality": mean_of(scores.values()), "low": low, "high": high}


def _basis(rows: Iterable[Mapping[str, Any]], costs: ConstructionCost) -> str:
    """What all rows are compared by."""
    measured_all = all(costs.of(row["data"], row["layers"], MEASURED) is not None for row in rows)
    return MEASURED if measured_all else FORECAST


def _costed(row: Mapping[str, Any], costs: ConstructionCost, basis: str) -> dict[str, Any]:
    cost = costs.of(row["data"], row["layers"], basis)
    value, low, high = cost or (None, None, None)
    identity = {name: row[name] for name in ("data", "reader", "method")}
    identity["basis"] = FREE if cost is not None and not cost.value else basis
    return {**identity, "n": row["n"], "quality": row["quality"], "cost": value, "low": low, "high": high}


def _points(data: str) -> Iterator[dict[str, Any]]:
    """The published points of a data set."""
    source = paper("youtu")
    for name, (spent, quality) in youtu.figure_6(source.values, youtu.Printed(source.printed), data).items():
        place = {"data": data, "reader": "", "method": name, "basis": PUBLISHED, "n": youtu.QUESTIONS.get(data)}
        yield {**place, "quality": quality, "cost": spent, "low": None, "high": None}


def _fronts(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, with a front for each data set."""
    of_data: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_data.setdefault(row["data"], []).append(row)
    return [{**row, "front": _on_front(row, same)} for same in of_data.values() for row in same]


def _cautions(runs: Runs, rows: Sequence[Mapping[str, Any]], measure: str) -> Iterator[str]:
    yield from cautions_of(runs)
    if any(row["basis"] == FORECAST for row in rows):
        yield "forecast: what a model would be asked for the index, with answers of assumed length; not measured."
    if left := [row["method"] for row in rows if row["cost"] is None]:
        yield f"The cost of the index is not known for {', '.join(dict.fromkeys(left))}."
    if any(row["basis"] == PUBLISHED for row in rows):
        yield f"published: a judge's accuracy on other corpora, by other models; ours is {measure}."
    yield "Tokens of questions and answers are not in it, so an iterative method costs what its backbone does."
