"""An audit of the printed numbers of Youtu-GraphRAG (arXiv 2508.19855): whether tables, figures and text agree.

`values` maps (backbone, method, data, measure) to a score; `printed` is its CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from auditing import by_us, none_against

from workbench.evaluation.verdict import Verdict
from workbench.published.claims import half_interval
from workbench.published.youtu import DATA, OURS, PARETO, QUESTIONS, TOP20, Printed, Values, accuracy, figure_6

STATIC, HIPPO, ZERO = "Ours w/o Agent", "HippoRAG", "Zero-shot LLM"
BASELINES = (
    "Naive RAG", "E2GraphRAG", "RAPTOR", "LightRAG", "GraphRAG", "G-Retriever", HIPPO, "HippoRAG-IRCOT", "HippoRAG2",
)  # fmt: skip
MODELS = ("DeepSeek-V3-0324", "Qwen3-32B")
MEASURES = tuple(f"top-{k} accuracy, {mode}" for k in (20, 10) for mode in ("open", "reject"))
EXACT = 1e-9
RATE = 0.00005 + EXACT  # by which a rate with two decimals of a percentage may be off
LABELS = {"construction tokens": 50_000, "community tokens": 5_000}  # the same of a label in millions


def audit(values: Values, printed: pd.DataFrame) -> Verdict:
    """Whether the printed numbers are consistent."""
    verdict, figures = Verdict(""), Printed(printed)
    for check in (_same, _bold, _gain, _margins, _noise, _rates, _sums):
        check(verdict, values, figures)
    for check in (_fewest, _savings, _limit, _bars, _front, _points, _facts):
        check(verdict, values, figures)
    return verdict


def possible(rate: float, n: int) -> bool:
    """Whether a rate with two decimals of a percentage can be one of `n` questions.

    >>> possible(0.3706, 688), possible(0.3760, 688)
    (True, False)
    """
    return abs(round(rate * n) / n - rate) <= RATE


def best_baseline(values: Values, model: str, data: str, measure: str) -> tuple[float, str] | None:
    """The highest accuracy of another's method with retrieval, and whose it is."""
    found = [(values[key], name) for name in BASELINES if (key := (model, name, data, measure)) in values]
    return max(found, default=None)


def _table(measure: str) -> str:
    return "Table 1" if measure.startswith("top-20") else "Table 2"


def _larger(
    verdict: Verdict, values: Values, claim: str, measure: str, name: str, others: Iterable[str], where: str
) -> None:
    """Whether a method is above others, wherever both are known."""
    mine = [key for key in values if (key[1], key[3]) == (name, measure)]
    known = [(key, there) for key in mine for other in others if (there := (key[0], other, *key[2:])) in values]
    against = [_said(values, *pair) for pair in known if values[pair[0]] <= values[pair[1]]]
    none_against(verdict, claim, against, len(known), where)


def _said(values: Values, key: tuple, other: tuple) -> str:
    return f"{key[1]} {values[key]:.4f} against {other[1]} {values[other]:.4f} ({key[2]}, {key[0]})"


def _same(verdict: Verdict, values: Values, printed: Printed) -> None:
    """The ablation repeats two rows of Table 1."""
    rows = [row for row in printed.of("3") if row.method in (OURS, STATIC)]
    against = [
        f"{row.method} {row.value:.4f}, there {first:.4f} ({row.data})"
        for row in rows
        if (first := values[row.backbone, row.method, row.data, row.measure]) != row.value
    ]
    claim = "Table 3 has the numbers of Table 1, for the full system and without the agent"
    none_against(verdict, claim, against, len(rows), by_us("Tables 1 and 3"))


def _bold(verdict: Verdict, values: Values, printed: Printed) -> None:
    """Bold print marks both rows of the authors'."""
    for measure in MEASURES:
        claim = f"{STATIC}, in bold print, is above every baseline in {measure}"
        _larger(verdict, values, claim, measure, STATIC, BASELINES, f"{_table(measure)}, bold print")


def _gain(verdict: Verdict, values: Values, printed: Printed) -> None:
    for row in printed.of("relative gain"):
        ours, base = (values[MODELS[0], name, row.data, row.measure] for name in row.method.split(" over "))
        gain = ours / base - 1
        verdict.check(
            f"the gain of the abstract is the relative one of {row.method} on {row.data}",
            f"stated {row.value:.2%}, by the table {gain:.2%}, which are {100 * (ours - base):.2f} points",
            "equal, as rounded",
            lambda _, gain=gain, row=row: abs(gain - row.value) <= RATE,
            where="abstract",
        )


def _margins(verdict: Verdict, values: Values, printed: Printed) -> None:
    """The text gives whole points from one data set to another, and not whose the baseline is."""
    ends = {tuple(row.measure.rsplit(", ", 1)): row.value for row in printed.of("margin")}
    for measure in MEASURES:
        gains = list(_gains(values, measure, MODELS[:1]))
        low, high = (ends[measure, end] for end in ("least", "most"))
        verdict.check(
            f"the points over the best baseline in {measure} are within those of the text",
            f"stated {100 * low:.0f} to {100 * high:.0f}, by the table {_points_of(gains)}", "within, as rounded",
            lambda _, gains=gains, low=low, high=high: all(low - 0.005 <= gain <= high + 0.005 for _, gain in gains),
            where=f"text on {_table(measure)}",
        )  # fmt: skip


def _gains(values: Values, measure: str, models: Iterable[str]) -> Iterator[tuple[str, float]]:
    """(data, gain over the best baseline)."""
    for model in models:
        for data in DATA:
            base, ours = best_baseline(values, model, data, measure), values.get((model, OURS, data, measure))
            if base is not None and ours is not None:
                yield data, ours - base[0]


def _points_of(gains: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{data} {100 * gain:.1f}" for data, gain in gains)


def _noise(verdict: Verdict, values: Values, printed: Printed) -> None:
    """Of the data sets whose number of questions is known."""
    for measure in MEASURES:
        against, n = [], 0
        for data, size in QUESTIONS.items():
            base, ours = best_baseline(values, MODELS[0], data, measure), values.get((MODELS[0], OURS, data, measure))
            if base is None or ours is None:
                continue
            half, n = half_interval(ours, base[0], size), n + 1
            if ours - base[0] <= half:
                against.append(f"{data} {ours - base[0]:+.4f} over {base[1]}, half an interval {half:.4f}")
        claim = f"the gain in {measure} over the best baseline is beyond the noise of unpaired questions"
        none_against(verdict, claim, against, n, by_us(_table(measure)))


def _rates(verdict: Verdict, values: Values, printed: Printed) -> None:
    """A share of n questions has few values. 1,000 questions are HippoRAG's, the others those of Table 4."""
    rows: dict[tuple, Any] = {}  # each number once, of the first table that has it
    for row in printed.of("score"):
        rows.setdefault((row.backbone, row.method, row.data, row.measure, row.value), row)
    for data, n in QUESTIONS.items():
        mine = [row for row in rows.values() if row.data == data]
        against = [
            f"{row.method} {100 * row.value:.2f} (Table {row.table})" for row in mine if not possible(row.value, n)
        ]
        claim = f"every accuracy on {data} can be one of {n:,} questions"
        none_against(verdict, claim, against, len(mine), by_us("Tables 1 to 3"))


def _sums(verdict: Verdict, values: Values, printed: Printed) -> None:
    counts: dict[str, dict[str, float]] = {}
    for row in printed.of("4"):
        counts.setdefault(row.measure, {})[row.data] = row.value
    whole = counts.pop("questions: all")
    across = {kind: (sum(row.values()) - row["all novels"], row["all novels"]) for kind, row in counts.items()}
    down = {novel: (sum(row[novel] for row in counts.values()), total) for novel, total in whole.items()}
    against = [
        f"{name} {total:g}, printed {said:g}" for name, (total, said) in (across | down).items() if total != said
    ]
    claim = "the counts of Table 4 add up, in rows and columns"
    none_against(verdict, claim, against, len(across | down), by_us("Table 4"))


def _fewest(verdict: Verdict, values: Values, printed: Printed) -> None:
    others = {row.method for row in printed.of("figure 5a")} - {OURS}
    against = [
        f"{other} {printed.tokens(other, data):,.0f} against {printed.tokens(OURS, data):,.0f} ({data})"
        for data in DATA
        for other in sorted(others)
        if printed.tokens(other, data) <= printed.tokens(OURS, data)
    ]
    claim = f"{OURS} takes the fewest tokens for construction and communities, on every data set"
    none_against(verdict, claim, against, len(DATA) * len(others), by_us("Figures 5a and 5b"))


def _savings(verdict: Verdict, values: Values, printed: Printed) -> None:
    """A saving of the abstract next to that of the pair that can be meant, and of the cheapest baseline."""
    for row in (one for one in printed.rows if one.kind == "saving" or one.measure.startswith("construction and")):
        ours, base = row.method.split(" against ")
        parts = LABELS if row.kind == "second-hand" else ["construction tokens"]
        low, high = _saved(printed, ours, base, row.data, parts)
        read = " (second-hand, not read)" if row.kind == "second-hand" else ""
        verdict.check(
            f"{row.value:.2%} fewer {row.measure} can be the saving of {row.method} on {row.data}{read}",
            f"by the labels {low:.2%} to {high:.2%}", "within, as labels are rounded",
            lambda _, row=row, low=low, high=high: low - RATE <= row.value <= high + RATE,
            where="abstract" + " of an earlier version (second-hand)" * bool(read),
        )  # fmt: skip
    stated = next(row.value for row in printed.of("saving"))
    saved = {data: _against_cheapest(printed, data) for data in DATA}
    against = [f"{data} {share:.1%} against {name}" for data, (share, name) in saved.items() if share < stated]
    claim = f"{stated:.2%} of construction tokens are saved on every data set"
    none_against(verdict, claim, against, len(saved), by_us("Figure 5a"))


def _saved(printed: Printed, ours: str, base: str, data: str, parts: Iterable[str]) -> tuple[float, float]:
    """The least and the most that labels, as rounded, say is saved."""
    tables = {"construction tokens": "figure 5a", "community tokens": "figure 5b"}
    ends = []
    for sign in (-1, 1):
        mine = sum(printed.at(tables[part], ours, data, part) - sign * LABELS[part] for part in parts)
        other = sum(printed.at(tables[part], base, data, part) + sign * LABELS[part] for part in parts)
        ends.append(1 - mine / other)
    return ends[0], ends[1]


def _against_cheapest(printed: Printed, data: str) -> tuple[float, str]:
    rows = [row for row in printed.of("figure 5a") if row.data == data and row.measure == "construction tokens"]
    cheapest = min((row for row in rows if row.method != OURS), key=lambda row: row.value)
    return 1 - printed.at("figure 5a", OURS, data, "construction tokens") / cheapest.value, cheapest.method


def _limit(verdict: Verdict, values: Values, printed: Printed) -> None:
    (limit,) = [row.value for row in printed.of("limit")]
    rows = [row for row in printed.of("figure 5b") if row.method == OURS and "tokens" in row.measure]
    against = [f"{row.value:,.0f} ({row.data})" for row in rows if row.value > limit]
    claim = f"communities take at most {limit:,.0f} tokens of each data set"
    none_against(verdict, claim, against, len(rows), "text on Figure 5b")


def _bars(verdict: Verdict, values: Values, printed: Printed) -> None:
    rows = [row for row in printed.of("figure 5b") if row.measure == "community tokens, bar"]
    labels = {row.data: printed.at("figure 5b", row.method, row.data, "community tokens") for row in rows}
    against = [
        f"{row.data} {labels[row.data]:,.0f} on a bar of {row.value:,.0f}"
        for row in rows
        if abs(labels[row.data] - row.value) > LABELS["community tokens"]
    ]
    none_against(verdict, "the labels of Figure 5b are its bars, as rounded", against, len(rows), by_us("Figure 5b"))


def _front(verdict: Verdict, values: Values, printed: Printed) -> None:
    against = []
    for data in DATA:
        points = figure_6(values, printed, data)
        tokens, accuracy = points.pop(OURS)
        against += [f"{name} ({data})" for name, one in points.items() if one[0] <= tokens or one[1] >= accuracy]
    claim = f"{OURS} alone is on the Pareto front of Figure 6, on every data set"
    none_against(verdict, claim, against, len(DATA) * len(PARETO), by_us("Figures 5 and 6"))


def _points(verdict: Verdict, values: Values, printed: Printed) -> None:
    rows = printed.of("figure 6", "figure 7")
    against = [
        f"{row.method} on {row.data} about {row.value:.2f} in {row.table}, there {there:.4f}"
        for row in rows
        if abs(row.value - (there := accuracy(values, row.method, row.data))) > 0.01
    ]
    claim = "the points of Figures 6 and 7 that were read off are those of Table 1"
    none_against(verdict, claim, against, len(rows), by_us("Table 1, Figures 6 and 7"))


def _facts(verdict: Verdict, values: Values, printed: Printed) -> None:
    """What follows from tables and figures, without a claim."""
    graph = [values[MODELS[0], "GraphRAG", DATA[3], measure] for measure in ("top-20 accuracy, open", MEASURES[2])]
    verdict.state(**{
        "GraphRAG on graphrag-bench, top-20 and top-10": f"{graph[0]:.4f} and {graph[1]:.4f}",
        "accuracies that are higher at top-10 than at top-20": _count(values, "top-10", "top-20"),
        "accuracies in open mode below the same model without retrieval": _below_zero_shot(values),
        "questions of graphrag-bench by which most of its accuracies are possible": _likely(printed, DATA[3]),
        "tokens of HippoRAG2's construction, change against HippoRAG1": _changes(printed, "HippoRAG2", "HippoRAG1"),
        f"minutes of {OURS}'s construction, rank among six": _ranks(printed),
    })  # fmt: skip


def _count(values: Values, ours: str, other: str) -> str:
    pairs = [(key, (*key[:3], key[3].replace(ours, other))) for key in values if key[3].startswith(ours)]
    return f"{sum(values[key] > values[there] for key, there in pairs)} of {len(pairs)}"


def _below_zero_shot(values: Values) -> str:
    found = [
        (key, values[base])
        for key in values
        if key[1] in BASELINES and key[3] == TOP20 and (base := (key[0], ZERO, *key[2:])) in values
    ]
    below = [f"{key[1]} ({key[2]}, {key[0]})" for key, zero in found if values[key] < zero]
    return f"{len(below)} of {len(found)}: {', '.join(below)}"


def _likely(printed: Printed, data: str) -> str:
    rates = {(row.backbone, row.method, row.measure): row.value for row in printed.of("score") if row.data == data}
    best = max(range(300, 2_000), key=lambda n: (sum(possible(rate, n) for rate in rates.values()), -n))
    return f"{best:,}: {sum(possible(rate, best) for rate in rates.values())} of {len(rates)}"


def _changes(printed: Printed, ours: str, base: str) -> str:
    def built(name: str, data: str) -> float:
        return printed.at("figure 5a", name, data, "construction tokens")

    return ", ".join(f"{data} {built(ours, data) / built(base, data) - 1:+.0%}" for data in DATA)


def _ranks(printed: Printed) -> str:
    rows = [row for row in printed.of("figure 5a") if row.measure == "construction minutes"]
    mine = {row.data: row.value for row in rows if row.method == OURS}
    ranks = {data: 1 + sum(row.value < mine[data] for row in rows if row.data == data) for data in mine}
    return ", ".join(f"{data} {rank}" for data, rank in ranks.items())
