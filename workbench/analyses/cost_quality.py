"""Quality and cost of each configuration: of its questions ("The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045),
or of its index (Youtu-GraphRAG, arXiv 2508.19855, Figure 6).

    cost of a question = Σ over its calls of (prompt tokens + completion tokens) × price / 10⁶
    cost of an index   = Σ over the layers that a method reads of (prompt tokens + completion tokens)

The first source has one flat price per million tokens for both. A configuration is on the front if no other is at least
as good and cheaper, or better at the same or a lower cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.analyses.base import Analysis, Runs, cautions_of, mean_of, measured, of_runs
from workbench.analyses.construction_cost import (
    FORECAST,
    FREE,
    MEASURED,
    PUBLISHED,
    ConstructionCost,
    construction_cost,
    methods_of,
    published_as,
)
from workbench.errors import SettingError
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.index.usage import ARTICLES
from workbench.llm.engine import Engine
from workbench.measures.cost import cost, tokens
from workbench.methods import method
from workbench.published import paper, youtu
from workbench.reading.base import Reader
from workbench.records import Question

if TYPE_CHECKING:
    from workbench.views.figures import Picture

MONEY, TOKENS, SHOWN = "US dollars", "tokens", "tokens of context shown"
CONSTRUCTION = "tokens of construction and communities"


@dataclass(frozen=True, slots=True, repr=False)
class CostQuality(Analysis):
    """Rows: reader, method, n, quality (mean of the measure), tokens (of all Steps, as counted by the model), shown
    (cl100k tokens of context, counted again for a second attempt), money, cost (means per question), front (whether on
    it). `measure` is that of the quality, `unit` that of the cost.

    Of `pareto`, where the cost is that of the index: data, reader, method, basis, n, quality, cost, low, high (of a
    forecast), front (of all rows of the data set that are ours, or that are published)."""

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
    for reader, run, label in of_runs(runs, methods):
        measured(run, [measure])
        mine = [row for row in run.rows if row["method"] == label]
        spent = [tokens(row["usage"]) for row in mine]
        scores = run.scores(measure, label)
        rows.append(
            {
                "reader": reader, "method": label, "n": len(scores), "quality": mean_of(scores.values()),
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


def run_pareto(
    questions: Sequence[Question],
    index: Index,
    engine: Engine | None = None,
    reader: Reader | None = None,
    out: str | Path | None = None,
    *,
    specs: Iterable[str] | None = None,
    measure: str = "accuracy",
    beside: Iterable[str] | None = None,
    **settings: Any,
) -> CostQuality:
    """Evaluate methods over an index, by default all whose layers stand, and show their accuracy against the cost of
    these layers. `out` and `settings` are those of `evaluate`; the same call resumes a stopped run."""
    methods = [method(spec, index, engine) for spec in specs or methods_of(index)]
    run = evaluate(questions, methods, reader, out, **settings)
    return pareto(run, Index.open(index.folder), measure=measure, beside=beside)


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
    asked = [_asked(*one, measure) for one in of_runs(runs, methods)]
    if unknown := [row["data"] for row in asked if row["data"] not in costs.data]:
        raise SettingError(f"construction={', '.join(costs.data)}; it should have the index of {unknown[0]!r} as well")
    named = [published_as(row["data"]) for row in asked] if beside is None else list(beside)
    basis = _basis(asked, costs)
    ours = _fronts(_costed(row, costs, basis) for row in asked)
    theirs = _fronts(point for data in dict.fromkeys(named) if data for point in _points(data))
    notes = _cautions(runs, [*ours, *theirs], measure)
    title = f"Quality ({measure}) against the cost of the index"
    unit = f"{CONSTRUCTION} ({basis})"
    return CostQuality(title, (*ours, *theirs), tuple(notes), measure, unit, draw=pareto_figure)


def _asked(reader: str, run: Run, label: str, measure: str) -> dict[str, Any]:
    """A configuration, its quality, and the layers that it reads, with those below them."""
    measured(run, [measure])
    scores = run.scores(measure, label)
    place = {"data": run.config["data"]["name"], "reader": reader, "method": label}
    quality = {"n": len(scores), "quality": mean_of(scores.values())}
    return {**place, **quality, "layers": [ARTICLES, *run.config["methods"][label]["layers"]]}


def _basis(rows: Iterable[Mapping[str, Any]], costs: ConstructionCost) -> str:
    """What all rows are compared by."""
    known = all(costs.of(row["data"], row["layers"], MEASURED) is not None for row in rows)
    return MEASURED if known else FORECAST


def _costed(row: Mapping[str, Any], costs: ConstructionCost, basis: str) -> dict[str, Any]:
    found = costs.of(row["data"], row["layers"], basis)
    value, low, high = found or (None, None, None)
    told = {name: row[name] for name in ("data", "reader", "method")}
    told["basis"] = FREE if found is not None and not found.value else basis
    return {**told, "n": row["n"], "quality": row["quality"], "cost": value, "low": low, "high": high}


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


def pareto_figure(costs: CostQuality) -> Picture:
    """Quality against the cost of the index, a panel per data set, with a logarithmic axis. Ours are circles (hollow: a
    forecast, its range a line) with numbers, published ones squares with names; the lines are the two fronts."""
    from workbench.views import charts

    panels: dict[str, list[Mapping[str, Any]]] = {}
    for row in costs.rows:
        if row["cost"] is not None and row["quality"] is not None:
            panels.setdefault(published_as(row["data"]) or row["data"], []).append(row)
    numbers = _numbers(row for rows in panels.values() for row in rows)
    width = max(7.2, 4.4 * len(panels))
    canvas = charts.Figure(figsize=(width, 4.0 + 0.16 * -(-len(numbers) // 3)), layout="constrained", dpi=110)
    for at, rows in enumerate(panels.values(), 1):
        axes = canvas.add_subplot(1, len(panels), at)
        charts.bare(axes)
        _panel(axes, rows, numbers)
        named = ", ".join(dict.fromkeys(row["data"] for row in rows))
        axes.set_title(charts.plain_label(named, 60), loc="left", fontsize=9)
        axes.set_xlabel(_axis(costs, rows), fontsize=8)
        axes.set_ylabel(charts.plain_label(costs.measure, 40), fontsize=8)
        axes.tick_params(labelsize=7)
    if panels:
        _legends(canvas, axes, numbers)
    return charts.picture(canvas, costs.title)


def _axis(costs: CostQuality, rows: Iterable[Mapping[str, Any]]) -> str:
    """What the x axis of a panel shows; `unit` says what ours rest on."""
    sides = {row["basis"] == PUBLISHED for row in rows}
    if sides == {True}:
        return f"{CONSTRUCTION} ({PUBLISHED})"
    return f"{costs.unit[:-1]}; squares: {PUBLISHED})" if len(sides) == 2 else costs.unit


def _numbers(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Our configurations by cost → their number in the figure."""
    ours = sorted((row for row in rows if row["basis"] != PUBLISHED), key=lambda row: (row["cost"], _name(row)))
    return {name: number for number, name in enumerate(dict.fromkeys(map(_name, ours)), 1)}


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['reader']} / {row['method']}"


def _panel(axes: Any, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> None:
    from workbench.views import charts

    charts.logarithmic(axes, (row["cost"] for row in rows))
    labels: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        look = charts.BASES[MEASURED if row["basis"] == FREE else row["basis"]]
        place = (row["cost"], row["quality"])
        axes.plot(*place, **look)
        if row["low"] != row["high"]:
            axes.plot([row["low"], row["high"]], [place[1]] * 2, color=look["color"], linewidth=0.7, alpha=0.5)
        labels.setdefault(place, []).append(str(numbers.get(_name(row), row["method"])))
    for place, names in labels.items():
        axes.annotate(charts.plain_label(", ".join(names), 40), place, fontsize=7, xytext=(0, 5),
                      textcoords="offset points", ha="center")  # fmt: skip
    for published, colour in ((False, charts.BLUE), (True, charts.ORANGE)):
        front = [row for row in rows if row["front"] and (row["basis"] == PUBLISHED) == published]
        places = sorted((row["cost"], row["quality"]) for row in front)
        axes.plot(*(zip(*places) if places else ((), ())), color=colour, linewidth=0.8, drawstyle="steps-post")
    axes.margins(0.08, 0.12)


def _legends(canvas: Any, axes: Any, numbers: Mapping[str, int]) -> None:
    from workbench.views import charts

    charts.bases(canvas, axes)
    named = [charts.plain_label(f"{number}  {name}", 60) for name, number in numbers.items()]
    handles = [axes.plot([], [], linestyle="")[0] for _ in named]
    canvas.legend(handles, named, frameon=False, fontsize=7, loc="outside lower left", handlelength=0, ncols=3)
