"""An audit of the printed numbers of DotRAG: whether tables, figures and text agree.

`values` maps (backbone, method, data, measure) to a score; `printed` is its CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
from auditing import none_against

from workbench.evaluation.verdict import Verdict

OURS, BASELINES = "DotRAG", ("PathRAG", "LightRAG", "TradRAG")
NEAR, FAR = "DotRAG, 1 hop around", "DotRAG, 10 hops around"
ON_1, ON_2, ON_3, ON_4 = "4.1, on Table 1", "4.1, on Table 2", "4.3, on Table 3", "4.3, on Table 4"

Values = Mapping[tuple[str, str, str, str], float]


def audit(values: Values, printed: pd.DataFrame) -> Verdict:
    """Whether the printed numbers are consistent."""
    verdict = Verdict("")
    _win_rates(verdict, printed)
    _f1(verdict, values)
    return verdict


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
