"""The claims of "Beyond Static Retrieval", checked against numbers: the paper's own tables, where some do not hold, or
measured ones.

`values` maps (backbone, method, data, measure) to a score. Claims without data are omitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt
from statistics import mean

import pandas as pd

from workbench.experiments.verdict import Verdict

BASELINES = ("IRCOT", "GCOT", "TOG", "IRGS")
DATA = ("hotpotqa", "2wiki", "musique")
ROUNDING = 0.05  # percentage points by which a printed gain may differ, because it was computed from rounded scores

Values = Mapping[tuple[str, str, str, str], float]


def claims(values: Values, printed: pd.DataFrame | None = None) -> Verdict:
    """The result of each claim for `values`; with the `printed` numbers, also whether they are consistent."""
    verdict = Verdict("What these numbers say of the claims of Beyond Static Retrieval")
    beats_static = [(key, other) for key in values for other in [_of(key, "Original")] if key[1] in BASELINES]
    _all(
        verdict, values, "iteration improves on static retrieval on 2Wiki and MuSiQue, for every backbone",
        [pair for pair in beats_static if pair[0][2] in DATA[1:]],
    )  # fmt: skip
    _all(
        verdict, values, "iteration improves on static retrieval on HotpotQA, for every backbone",
        [pair for pair in beats_static if pair[0][2] == "hotpotqa"],
    )  # fmt: skip
    _all(
        verdict, values, "BDTR is best, for every backbone and data set",
        [(key, _of(key, other)) for key in values if key[1] == "BDTR" for other in ("Original", *BASELINES)],
    )  # fmt: skip
    _largest_gain(verdict, values)
    _all(
        verdict, values, "BGEC alone brings more than DTR alone",
        [(key, _of(key, "DTR")) for key in values if key[1] == "BGEC"],
    )  # fmt: skip
    _early_ranks(verdict, values)
    if printed is not None:
        _one_hop(verdict, values)
        _gains(verdict, values, printed)
        _others(verdict, values, printed)
    return verdict


def gain_over_static(values: Values, backbone: str, measure: str) -> float | None:
    """BDTR's relative gain in percent, the mean of the three data sets; None if one is missing or static has 0."""
    pairs = [tuple(values.get((backbone, method, data, measure)) for method in ("BDTR", "Original")) for data in DATA]
    known = all(ours is not None and static for ours, static in pairs)
    return mean(_percent(*pair) for pair in pairs) if known else None


def gain_over_best_baseline(values: Values, data: str, measure: str) -> float | None:
    """BDTR's relative gain in percent over the best iterative baseline of each backbone, the mean of the backbones."""
    gains = []
    for backbone in _backbones(values):
        others = [values.get((backbone, method, data, measure)) for method in BASELINES]
        if (ours := values.get((backbone, "BDTR", data, measure))) is not None and None not in others:
            gains.append(_percent(ours, max(others)))
    return mean(gains) if gains else None


def _all(verdict: Verdict, values: Values, claim: str, pairs: list[tuple]) -> None:
    """Whether the first value of every pair of keys with values is larger."""
    pairs = [(key, other) for key, other in pairs if other in values]
    against = [
        f"{key[0]} {other[1]} {values[other]:g} ≥ {key[1]} {values[key]:g} ({key[2]}, {key[3]})"
        for key, other in pairs
        if values[key] <= values[other]
    ]
    if pairs:
        holds = f"{len(pairs) - len(against)} of {len(pairs)} comparisons"
        _check(verdict, claim, "; ".join([holds, *against]), f"all {len(pairs)}", not against)


def _largest_gain(verdict: Verdict, values: Values) -> None:
    for measure in ("em", "f1"):
        gains = {backbone: gain_over_static(values, backbone, measure) for backbone in _backbones(values)}
        gains = {backbone: gain for backbone, gain in gains.items() if gain is not None}
        if "RAPTOR" in gains and len(gains) > 1:
            said = ", ".join(f"{backbone} {gain:.2f} %" for backbone, gain in gains.items())
            most = max(gains, key=gains.get)
            _check(verdict, f"BDTR gains most over static RAPTOR ({measure})", said, "RAPTOR first", most == "RAPTOR")


def _early_ranks(verdict: Verdict, values: Values) -> None:
    """Coverage at large K is high already, so rounds mainly change which passages come first."""
    for key in values:
        other = _of(key, "Original")
        small, large = ([(*of[:3], f"recall@{k}") for of in (key, other)] for k in (5, 100))
        if key[1] != "Original" and key[3] == "recall@5" and all(of in values for of in (*small, *large)):
            rises = [values[of[0]] - values[of[1]] for of in (small, large)]
            _check(
                verdict, f"{key[1]} over {key[0]} raises recall@5 more than recall@100 ({key[2]})",
                f"{rises[0]:+.4f} and {rises[1]:+.4f}", "more at 5", rises[0] > rises[1],
            )  # fmt: skip


def _one_hop(verdict: Verdict, values: Values) -> None:
    best, static = (values["HippoRAG2", method, "popqa", "em"] for method in ("BDTR", "Original"))
    noise = 1.96 * sqrt(static * (1 - static) / 1000)
    _check(
        verdict, "on one-hop questions (PopQA) BDTR's gain in EM is within the noise of 1,000 questions",
        round(best - static, 4), f"below {noise:.3f}", best - static < noise,
    )  # fmt: skip


def _gains(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    scores = printed[printed["kind"] == "score"]
    own = {(row.table, row.method, row.data, row.measure): row.value for row in scores.itertuples()}
    for row in printed[printed["kind"].str.startswith("gain")].itertuples():
        place = f"table {row.table}" if row.table.isdigit() else row.table
        if row.kind.startswith("gain over the best"):
            computed = gain_over_best_baseline(values, row.data, row.measure)
        elif row.data == "mean":
            computed = gain_over_static(values, row.backbone, row.measure)
        else:
            computed = _percent(*(own[row.table, name, row.data, row.measure] for name in (row.method, "Original")))
        _check(
            verdict, f"{place}: {row.kind}: {row.method}, {row.backbone}, {row.data}, {row.measure}",
            f"printed {row.value:.2f}, computed {computed:.2f}", f"equal within {ROUNDING}",
            abs(row.value - computed) <= ROUNDING,
        )  # fmt: skip


def _others(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    hours = printed[printed["measure"] == "hours"].set_index("method")["value"]
    faster, longer = hours["BDTR"] / hours["BDTR parallel"], hours["BDTR"] / hours["IRCOT"]
    _check(
        verdict, "table 4: BDTR in parallel is so many times as fast", round(faster, 1), "5.7, as printed",
        round(faster, 1) == 5.7,
    )  # fmt: skip
    _check(
        verdict, "table 4: BDTR is faster than IRCoT where neither runs in parallel (ratio of hours)",
        round(longer, 2), "below 1", longer < 1,
    )  # fmt: skip
    right = printed[printed["table"] == "figure 3"].set_index("method")["value"]
    shares = {"IRGS": right["both"] + right["only IRGS"], "Original": right["both"] + right["only Original"]}
    apart = shares["IRGS"] - shares["Original"]
    in_table = [
        100 * (values["HippoRAG2", "IRGS", data, measure] - values["HippoRAG2", "Original", data, measure])
        for data in DATA
        for measure in ("em", "f1")
    ]
    _check(
        verdict, "figure 3: IRGS and HippoRAG2 are as far apart as in some column of Table 1 (percentage points)",
        f"{apart:.1f} in the figure, {min(in_table):.1f} to {max(in_table):.1f} in the table", "within the table's",
        min(in_table) <= apart <= max(in_table),
    )  # fmt: skip


def _check(verdict: Verdict, claim: str, said: float | str, expected: str, holds: bool) -> None:
    verdict.check(claim, said, expected, lambda _: holds)


def _of(key: tuple, method: str) -> tuple:
    return (key[0], method, *key[2:])


def _backbones(values: Values) -> Iterator[str]:
    return iter(dict.fromkeys(key[0] for key in values))


def _percent(value: float, base: float) -> float:
    return 100 * (value / base - 1)
