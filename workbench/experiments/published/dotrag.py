"""The claims of DotRAG, checked against numbers: the paper's own tables, where some do not hold, or measured ones.

`values` maps (backbone, method, data, measure) to a score, with an empty backbone. Claims without data are omitted.
Every check has its place: that of the claim in the paper, or what we recomputed where it claims nothing
(`checks.by_us`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import pandas as pd

from workbench.experiments.published.checks import by_us
from workbench.experiments.verdict import Verdict

OURS, BASELINES = "DotRAG", ("PathRAG", "LightRAG", "TradRAG")
OTHERS = (OURS, "PathRAG", "TradRAG")  # compared with LightRAG
ITERATIONS = ("DotRAG, 1 iteration", "DotRAG, 6 iterations")
NEAR, FAR = "DotRAG, 1 hop around", "DotRAG, 10 hops around"
HOPS = ("1 hop", "2 hops", "3 hops")
SHARP = 2 / 3  # of a score; less is a sharp fall
FEW = 1 / 4  # of the columns of a table may have the same rate twice by chance

Values = Mapping[tuple[str, str, str, str], float]


def claims(values: Values, printed: pd.DataFrame | None = None) -> Verdict:
    """The result of each claim for `values`; with the `printed` numbers, also whether they are consistent."""
    verdict = Verdict("What these numbers say of the claims of DotRAG")
    asked = _Asked(verdict, values)
    asked.larger(
        "recall falls with every hop, for every method",
        [((name, a, "recall"), (name, b, "recall")) for name in (OURS, *BASELINES) for a, b in pairwise(HOPS)],
        by_us("Table 2"),
    )
    for measure in ("recall", "f1"):
        asked.larger(
            f"DotRAG has the best {measure} of two and of three hops",
            [((OURS, hops, measure), (other, hops, measure)) for hops in HOPS[1:] for other in BASELINES],
            by_us("Table 2"),
        )
    asked.larger(
        "TradRAG has the best f1 of one hop",
        [(("TradRAG", "1 hop", "f1"), (other, "1 hop", "f1")) for other in (OURS, *BASELINES[:2])],
        by_us("Table 2"),
    )
    asked.larger(
        "LightRAG has the lowest precision",
        [((other, hops, "precision"), ("LightRAG", hops, "precision")) for hops in HOPS for other in OTHERS],
        by_us("Table 2"),
    )
    asked.larger(
        "with one hop around the anchors recall of two and of three hops falls sharply, by a third or more",
        [((OURS, hops, "recall"), (NEAR, hops, "recall")) for hops in HOPS[1:]],
        by_us("Table 4"),
        SHARP,
    )
    asked.larger(
        "ten hops around the anchors lower precision",
        [((OURS, hops, "precision"), (FAR, hops, "precision")) for hops in HOPS],
        by_us("Table 4"),
    )
    asked.larger(
        "with one iteration recall of three hops falls",
        [((OURS, "3 hops", "recall"), (ITERATIONS[0], "3 hops", "recall"))],
        by_us("Table 4"),
    )
    asked.larger(
        "ten hops around the anchors raise recall",
        [((FAR, hops, "recall"), (OURS, hops, "recall")) for hops in HOPS],
        "text on Table 4",
    )
    asked.larger(
        "three iterations and three hops are the best balance: the best f1 of the variants",
        [((OURS, hops, "f1"), (other, hops, "f1")) for hops in HOPS for other in (*ITERATIONS, NEAR, FAR)],
        "text on Table 4",
    )
    if printed is not None:
        _win_rates(verdict, printed)
        _f1(verdict, values)
    return verdict


class _Asked:
    """Claims that one number is larger than another."""

    def __init__(self, verdict: Verdict, values: Values):
        self.verdict, self.values = verdict, values

    def larger(self, claim: str, pairs: list[tuple], where: str, share: float = 1.0) -> None:
        """Whether `share` of the first exceeds the second, for every known pair (method, hops, measure)."""
        pairs = [tuple(("", method, data, f"node_{measure}") for method, data, measure in pair) for pair in pairs]
        known = [pair for pair in pairs if all(key in self.values for key in pair)]
        against = [(more, less) for more, less in known if share * self.values[more] <= self.values[less]]
        result = [f"{len(known) - len(against)} of {len(known)} comparisons", *(self._said(*pair) for pair in against)]
        if known:
            self.verdict.check(claim, "; ".join(result), f"all {len(known)}", lambda _: not against, where=where)

    def _said(self, more: tuple, less: tuple) -> str:
        same = more[2] == less[2]
        other = f"{less[1]}{'' if same else f' ({less[2]})'} {self.values[less]:.4f}"
        return f"{other} against {more[1]} {self.values[more]:.4f} ({more[2]})"


def _win_rates(verdict: Verdict, printed: pd.DataFrame) -> None:
    rates = printed[printed["table"].isin(["1", "3"])]
    films = rates[(rates["table"] == "1") & rates["data"].isin(HOPS)]
    _none(
        verdict, "on MetaQA DotRAG wins more often in every dimension",
        [f"{row.method}, {row.data}, {row.measure} {row.value:.2f}" for row in films.itertuples() if row.value <= 0.5],
        len(films), "text on Table 1",
    )  # fmt: skip
    level = rates[(rates["method"] == "DotRAG over PathRAG") & (rates["data"] == "ultradomain cs")]
    _none(
        verdict, "on UltraDomain CS it is on a par with PathRAG in every dimension, within the noise of 100 questions",
        [f"{row.measure} {row.value:.2f}" for row in level.itertuples() if abs(row.value - 0.5) > _band(row.data)],
        len(level), "text on Table 1",
    )  # fmt: skip
    within = rates[(rates["value"] - 0.5).abs() <= rates["data"].map(_band)]
    _none(
        verdict, "every win rate is beyond the noise of 300 questions, 100 of UltraDomain (95 %)",
        [f"table {number}: {len(inside)} within" for number, inside in within.groupby("table")],
        len(rates), by_us("Tables 1 and 3"),
    )  # fmt: skip
    named = {number: list(dict.fromkeys(one["measure"])) for number, one in rates.groupby("table")}
    verdict.check(
        "the four dimensions that are announced are those of Tables 1 and 3",
        "; ".join(f"table {number}: {', '.join(names)}" for number, names in named.items()),
        "four, of the same names",
        lambda _: named["1"] == named["3"] and len(named["1"]) == 4,
        where="text on the pairwise judge",
    )
    for number, names in named.items():
        columns = rates[rates["table"] == number].pivot(index=["method", "data"], columns="measure", values="value")
        same = int((columns["overall"] == columns[names[1]]).sum())
        verdict.check(
            f"table {number}: the overall rate is not that of {names[1]} over again",
            f"equal in {same} of {len(columns)} columns", "in a quarter of them at most",
            lambda _, same=same, columns=columns: same <= FEW * len(columns), where=by_us(f"Table {number}"),
        )  # fmt: skip


def _f1(verdict: Verdict, values: Values) -> None:
    """A mean of harmonic means is never above the harmonic mean of the means."""
    triples = list(_measured(values))
    ways = {key: 2 * recall * precision / (recall + precision) for key, recall, precision, _ in triples}
    _none(
        verdict, "every f1 can be the mean of the questions' f1: none is above that of mean recall and precision",
        [f"{key[1]} ({key[2]}) {f1:.4f} > {ways[key]:.4f}" for key, *_, f1 in triples if f1 > ways[key] + 0.00005],
        len(triples), by_us("Tables 2 and 4"),
    )  # fmt: skip
    verdict.state(
        **{"f1 of DotRAG at 1 hop from mean recall and precision": round(ways["", OURS, "1 hop", "node_f1"], 4)}
    )


def _measured(values: Values) -> Iterator[tuple[tuple, float, float, float]]:
    for key, f1 in values.items():
        if key[3] == "node_f1":
            yield key, values[*key[:3], "node_recall"], values[*key[:3], "node_precision"], f1


def _none(verdict: Verdict, claim: str, against: list[str], n: int, where: str) -> None:
    said = "; ".join([f"of {n}", *against]) if against else f"all {n}"
    verdict.check(claim, said, f"all {n}", lambda _: not against, where=where)


def _band(data: str) -> float:
    """Half the 95 % interval of a rate of one half: of 100 questions on UltraDomain, of 300 on MetaQA."""
    return 0.098 if data.startswith("ultradomain") else 0.057
