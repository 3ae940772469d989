"""Quality and cost of each configuration ("The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045).

    cost of a question = Σ over its calls of (prompt tokens + completion tokens) × price / 10⁶

The source has one flat price per million tokens for both. A configuration is on the front if no other is at least as
good and cheaper, or better at the same or a lower cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import SettingError
from workbench.experiments.analyses.base import Analysis, Runs, cautions_of, mean_of, measured, of_runs
from workbench.measures.cost import cost
from workbench.measures.tokens import tokens

if TYPE_CHECKING:
    from workbench.views.figures import Picture

MONEY, TOKENS, SHOWN = "US dollars", "tokens", "tokens of context shown"


@dataclass(frozen=True, slots=True, repr=False)
class CostQuality(Analysis):
    """Rows: reader, method, n, quality (mean of the measure), tokens (of all Steps, as counted by the model), shown
    (cl100k tokens of context, counted again for a second attempt), money, cost (means per question), front (whether on
    it). `measure` is that of the quality, `unit` that of the cost."""

    measure: str = "accuracy"
    unit: str = MONEY


def cost_quality(
    runs: Runs,
    methods: Iterable[str] | None = None,
    *,
    measure: str = "accuracy",
    prices: float | Mapping[str, float] | None = None,
) -> CostQuality:
    """Mean quality and mean cost per question of each configuration of a run, of several or of a grid.

    `prices`: US dollars per million tokens, flat, one for all or by the label of the reader (such as 0.05 for an 8B
    model and 0.59 for a 70B one); the default is the recorded cost. The unit is tokens if no money was spent (rules, a
    local model), and tokens of context if no tokens were counted (rules)."""
    rows: list[dict[str, Any]] = []
    for reader, run, method in of_runs(runs, methods):
        measured(run, [measure])
        mine = [row for row in run.rows if row["method"] == method]
        spent = [tokens(row["usage"]) for row in mine]
        scores = run.scores(measure, method)
        rows.append(
            {
                "reader": reader, "method": method, "n": len(scores), "quality": mean_of(scores.values()),
                "tokens": mean_of(spent), "shown": mean_of(_shown(row) for row in mine),
                "money": _money(mine, spent, _price(prices, reader)),
            }
        )  # fmt: skip
    unit, column = _unit(rows)
    known = [{**row, "cost": row[column]} for row in rows]
    rows = [{**row, "front": _on_front(row, known)} for row in known]
    notes = [f"cost: {unit} per question."]
    if unit != MONEY:
        notes.append("Nothing was paid for, so configurations are compared by tokens.")
    elif any(row["money"] is None for row in rows):
        notes.append("The price of a model is not known; pass prices={reader: US dollars per million tokens}.")
    title = f"Quality ({measure}) against cost"
    return CostQuality(title, tuple(rows), (*cautions_of(runs), *notes), measure, unit, draw=figure)


def _shown(row: Mapping[str, Any]) -> float | None:
    reading = row["reading"] or {}
    if reading.get("tokens") is not None:
        return reading["tokens"] * (1 + reading["retried"])
    return row["scores"].get("read_tokens", row.get("context_tokens"))


def _price(prices: float | Mapping[str, float] | None, reader: str) -> float | None:
    if isinstance(prices, Mapping):
        if reader not in prices:
            raise SettingError(f"prices has none for the reader {reader!r}; it has {', '.join(prices)}")
        prices = prices[reader]
    if prices is not None and not 0 <= prices < float("inf"):
        raise SettingError(f"price {prices!r}; it should be US dollars per million tokens, from 0 on")
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


def figure(costs: CostQuality) -> Picture:
    """Quality against cost. Configurations on the front are numbered by cost; coincident ones share a number."""
    from workbench.views import charts

    canvas, axes = charts.canvas(6.8, 4.6)
    known = [row for row in costs.rows if row["cost"] is not None and row["quality"] is not None]
    behind = [(row["cost"], row["quality"]) for row in known if not row["front"]]
    axes.plot(*(zip(*behind) if behind else ((), ())), color=charts.GREY, marker="s", linestyle="")
    places: dict[tuple[float, float], list[str]] = {}
    for row in sorted((row for row in known if row["front"]), key=lambda row: row["cost"]):
        places.setdefault((row["cost"], row["quality"]), []).append(f"{row['reader']} / {row['method']}")
    front = zip(*places) if places else ((), ())
    axes.plot(*front, color=charts.BLUE, marker="o", linewidth=0.8, drawstyle="steps-post")
    for at, (place, names) in enumerate(places.items(), 1):
        axes.annotate(str(at), place, fontsize=8, xytext=(0, (5, -13)[at % 2]), textcoords="offset points", ha="center")
        axes.plot([], [], linestyle="", label=charts.plain_label(f"{at}  {', '.join(names)}", 110))
    axes.margins(y=0.12)
    axes.set(xlabel=f"{costs.unit} per question", ylabel=costs.measure)
    axes.set_title(charts.plain_label(costs.title, 90), loc="left", fontsize=9)
    if places:
        canvas.legend(frameon=False, fontsize=7, loc="outside lower left", handlelength=0)
    return charts.picture(canvas, costs.title)
