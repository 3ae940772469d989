"""The claims of DotRAG, checked against numbers: the paper's own tables, where some do not hold, or measured ones.

`values` maps (backbone, method, data, measure) to a score, with an empty backbone. Claims without data are omitted.
Every check is a claim of the paper and has its place there. What we recompute from its tables is stated as a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import pandas as pd

from workbench.evaluation.verdict import Verdict
from workbench.published.checks import none_against

OURS, BASELINES = "DotRAG", ("PathRAG", "LightRAG", "TradRAG")
OTHERS = (OURS, "PathRAG", "TradRAG")  # compared with LightRAG
ITERATIONS = ("DotRAG, 1 iteration", "DotRAG, 6 iterations")
NEAR, FAR = "DotRAG, 1 hop around", "DotRAG, 10 hops around"
HOPS = ("1 hop", "2 hops", "3 hops")
SHARP = 2 / 3  # of a score; less is a fall by a third or more
ON_1, ON_2, ON_3, ON_4 = "4.1, on Table 1", "4.1, on Table 2", "4.3, on Table 3", "4.3, on Table 4"

Values = Mapping[tuple[str, str, str, str], float]
Holds = Callable[[float, str], bool]  # what a claim asks of a win rate and its data set


def claims(values: Values, printed: pd.DataFrame | None = None) -> Verdict:
    """The result of each claim for `values`, and as facts what they show besides; with the `printed` numbers, also
    whether they are consistent."""
    verdict = Verdict("What these numbers say of the claims of DotRAG")
    asked = _Asked(verdict, values)
    _generation(asked)
    _nodes(asked)
    if printed is not None:
        _win_rates(verdict, printed)
        _f1(verdict, values)
    return verdict


def _generation(asked: _Asked) -> None:
    """What the text says of the win rates of Tables 1 and 3."""
    domains = ("ultradomain cs", "ultradomain mixed")
    asked.wins("on MetaQA DotRAG wins more often in every dimension", BASELINES, HOPS, ON_1)
    asked.wins("on UltraDomain it beats LightRAG and TradRAG in every dimension", BASELINES[1:], domains, ON_1)
    asked.wins(
        "on UltraDomain Mixed it clearly beats PathRAG, beyond the noise of 100 questions", BASELINES[:1], domains[1:],
        ON_1, lambda rate, data: rate > 0.5 + _band(data),
    )  # fmt: skip
    few, far = (name.removeprefix("DotRAG, ") for name in (ITERATIONS[0], FAR))
    asked.wins("one iteration is better at one hop", (few,), HOPS[:1], ON_3, lambda rate, _: rate < 0.5)
    asked.wins("one iteration falls behind as hops grow", (few,), HOPS[1:], ON_3)
    asked.wins("ten hops around the anchors make answers of one hop worse", (far,), HOPS[:1], ON_3)


def _nodes(asked: _Asked) -> None:
    """What the text says of the nodes of Tables 2 and 4."""
    asked.claim(
        "recall of the baselines falls with every hop",
        [((name, a, "recall"), (name, b, "recall")) for name in BASELINES for a, b in pairwise(HOPS)], ON_2,
    )  # fmt: skip
    for measure in ("recall", "f1"):
        asked.claim(
            f"DotRAG has the best {measure} of two and of three hops",
            [((OURS, hops, measure), (other, hops, measure)) for hops in HOPS[1:] for other in BASELINES], ON_2,
        )  # fmt: skip
    asked.claim(
        "TradRAG has the best f1 of one hop",
        [(("TradRAG", "1 hop", "f1"), (other, "1 hop", "f1")) for other in (OURS, *BASELINES[:2])], ON_2,
    )  # fmt: skip
    asked.claim(
        "LightRAG has the lowest precision",
        [((other, hops, "precision"), ("LightRAG", hops, "precision")) for hops in HOPS for other in OTHERS], ON_2,
    )  # fmt: skip
    asked.claim(
        "with one hop around the anchors recall of two and of three hops falls by a third or more",
        [((OURS, hops, "recall"), (NEAR, hops, "recall")) for hops in HOPS[1:]], ON_4, SHARP,
    )  # fmt: skip
    asked.claim(
        "ten hops around the anchors raise recall",
        [((FAR, hops, "recall"), (OURS, hops, "recall")) for hops in HOPS], ON_4,
    )  # fmt: skip
    asked.claim(
        "ten hops around the anchors lower precision",
        [((OURS, hops, "precision"), (FAR, hops, "precision")) for hops in HOPS], ON_4,
    )  # fmt: skip
    fewer, more = ITERATIONS
    asked.claim(
        "six iterations find more than one: a higher recall",
        [((more, hops, "recall"), (fewer, hops, "recall")) for hops in HOPS], ON_4,
    )  # fmt: skip
    asked.claim(
        "three iterations and three hops are the best balance: the best f1 of the variants",
        [((OURS, hops, "f1"), (other, hops, "f1")) for hops in HOPS for other in (*ITERATIONS, NEAR, FAR)], ON_4,
    )  # fmt: skip


class _Asked:
    """Whether one number is larger than another, as a claim of the paper."""

    def __init__(self, verdict: Verdict, values: Values):
        self.verdict, self.values = verdict, values

    def claim(self, claim: str, pairs: list[tuple], where: str, share: float = 1.0) -> None:
        """That `share` of the first number of each pair (method, data, measure) exceeds the second."""
        keys = [tuple(("", method, data, f"node_{measure}") for method, data, measure in pair) for pair in pairs]
        known = [pair for pair in keys if all(key in self.values for key in pair)]
        against = [(more, less) for more, less in known if share * self.values[more] <= self.values[less]]
        none_against(self.verdict, claim, (self._told(*pair) for pair in against), len(known), where)

    def wins(
        self,
        claim: str,
        others: Sequence[str],
        data: Sequence[str],
        where: str,
        holds: Holds = lambda rate, _: rate > 0.5,
    ) -> None:
        """That the win rates of DotRAG over the others hold what `holds` asks of them, in every dimension."""
        over = {f"{OURS} over {other}" for other in others}
        rates = [(key, rate) for key, rate in self.values.items() if key[1] in over and key[2] in data]
        against = [f"{key[1]}, {key[2]}, {key[3]} {rate:.2f}" for key, rate in rates if not holds(rate, key[2])]
        none_against(self.verdict, claim, against, len(rates), where)

    def _told(self, more: tuple, less: tuple) -> str:
        same = more[2] == less[2]
        other = f"{less[1]}{'' if same else f' ({less[2]})'} {self.values[less]:.4f}"
        return f"{other} against {more[1]} {self.values[more]:.4f} ({more[2]})"


def _win_rates(verdict: Verdict, printed: pd.DataFrame) -> None:
    rates = printed[printed["table"].isin(["1", "3"])]
    level = rates[(rates["method"] == "DotRAG over PathRAG") & (rates["data"] == "ultradomain cs")]
    none_against(
        verdict, "on UltraDomain CS it is on a par with PathRAG in every dimension, within the noise of 100 questions",
        [f"{row.measure} {row.value:.2f}" for row in level.itertuples() if abs(row.value - 0.5) > _band(row.data)],
        len(level), ON_1,
    )  # fmt: skip
    within = rates[(rates["value"] - 0.5).abs() <= rates["data"].map(_band)]
    inside = [f"table {number}: {len(some)}" for number, some in within.groupby("table")]
    noise = "win rates within the noise of 300 questions, 100 of UltraDomain (95 %)"
    verdict.state(**{noise: f"{'; '.join(inside) or 'none'}, of {len(rates)}"})
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
        verdict.state(
            **{f"table {number}: columns whose overall rate is that of {names[1]}": f"{same} of {len(columns)}"}
        )


def _f1(verdict: Verdict, values: Values) -> None:
    """A mean of harmonic means is never above the harmonic mean of the means."""
    triples = list(_measured(values))
    ways = {key: 2 * recall * precision / (recall + precision) for key, recall, precision, _ in triples}
    above = [f"{key[1]} ({key[2]}) {f1:.4f} > {ways[key]:.4f}" for key, *_, f1 in triples if f1 > ways[key] + 0.00005]
    verdict.state(
        **{
            "f1 that cannot be the mean of the questions' f1, being above that of mean recall and precision (Tables 2 "
            "and 4)": f"{'; '.join(above) or 'none'}, of {len(triples)}",
            "f1 of DotRAG at 1 hop from mean recall and precision": round(ways["", OURS, "1 hop", "node_f1"], 4),
        }
    )


def _measured(values: Values) -> Iterator[tuple[tuple, float, float, float]]:
    for key, f1 in values.items():
        if key[3] == "node_f1":
            yield key, values[*key[:3], "node_recall"], values[*key[:3], "node_precision"], f1


def _band(data: str) -> float:
    """Half the 95 % interval of a rate of one half: of 100 questions on UltraDomain, of 300 on MetaQA."""
    return 0.098 if data.startswith("ultradomain") else 0.057
