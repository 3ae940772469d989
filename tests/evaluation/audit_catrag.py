"""An audit of the printed numbers of CatRAG: whether tables, figures and text agree.

`values` maps (backbone, method, data, measure) to a score; `printed` is its CSV."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from auditing import by_us, none_against

from workbench.evaluation.verdict import Verdict
from workbench.published.claims import half_interval

OURS, STATIC, ENCODER = "CatRAG", "HippoRAG 2", "text-embedding-3-small"
WITHOUT = {
    "symbolic anchoring": "CatRAG, no anchors",
    "weighting of relations": "CatRAG, no relation weighting",
    "enhancement of key-fact passages": "CatRAG, no key facts",
}
DATA = ("musique", "2wiki", "hotpotqa", "hover")
RECALL, CHAINS, JOINT, ACCURACY = "recall@5", "all_gold@5", "joint@5", "accuracy"
SECOND_HAND = "ACL version (second-hand)"
N = 1_000  # questions of each data set
EXACT = 1e-6
ROUNDED = 0.0005 + EXACT  # by which a number with one decimal of a percentage may be off

Values = Mapping[tuple[str, str, str, str], float]


def audit(values: Values, printed: pd.DataFrame) -> Verdict:
    """Whether the printed numbers are consistent."""
    verdict = Verdict("")
    for check in (_two_gold, _same, _quoted, _noise, _other_papers, _second_hand, _factors, _facts):
        check(verdict, values, printed)
    return verdict


def _two_gold(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    """A question of HotpotQA has two gold passages, so one that is not a full chain has a recall of one half at
    most."""
    known = [name for _, name, data, measure in values if (data, measure) == ("hotpotqa", CHAINS)]
    known = [name for name in known if ("", name, "hotpotqa", RECALL) in values]
    limits = {name: (1 + values["", name, "hotpotqa", CHAINS]) / 2 for name in known}
    against = [
        f"{name} {values['', name, 'hotpotqa', RECALL]:.3f} above {limit:.3f}"
        for name, limit in limits.items()
        if values["", name, "hotpotqa", RECALL] > limit + ROUNDED
    ]
    claim = f"with two gold passages a question, {RECALL} on HotpotQA is at most (1 + {CHAINS}) / 2"
    none_against(verdict, claim, against, len(known), by_us("tables of recall and of full chains"))


def _same(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    """The ablation repeats what other tables have."""
    rows = [row for row in printed[printed["table"] == "ablation"].itertuples() if row.method == OURS]
    against = [f"{row.data} {row.value:.3f}" for row in rows if values["", OURS, row.data, row.measure] != row.value]
    claim = "the full system has its numbers of the table of recall in the ablation"
    none_against(verdict, claim, against, len(rows), by_us("table of the ablation"))


def _quoted(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    """Margins and relative gains that the text states."""
    for row in _of_kind(printed, "margin", "relative gain"):
        ours, base = _pair(values, row)
        gain = ours - base if row.kind == "margin" else ours / base - 1
        where = f", {row.note}" if row.note else ""
        on = "recall" if row.measure.startswith("recall") else "full chains"
        points = " points" if row.kind == "margin" else " %"
        verdict.check(
            f"the {row.kind} in {row.measure.partition(',')[0]} of {row.method} on {row.data}{where}",
            f"stated {100 * row.value:.1f}, by the table {100 * gain:.1f}{points}", "equal, as rounded",
            lambda _, row=row, gain=gain: abs(row.value - gain) <= (ROUNDED if row.kind == "margin" else 0.005),
            where=f"text on the table of {on}{where}",
        )  # fmt: skip


def _pair(values: Values, row) -> tuple[float, float]:
    """The two numbers of `CatRAG over HippoRAG 2`."""
    measure = row.measure.partition(",")[0]
    return tuple(values["", name, row.data, measure] for name in row.method.split(" over "))


def _noise(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    for measure in (CHAINS, JOINT, ACCURACY):
        pairs = {data: [values.get(("", name, data, measure)) for name in (OURS, STATIC)] for data in DATA}
        known = {data: pair for data, pair in pairs.items() if None not in pair}
        against = [
            f"{data} {ours - base:+.3f}, half an interval {half_interval(ours, base, N):.3f}"
            for data, (ours, base) in known.items()
            if ours - base <= half_interval(ours, base, N)
        ]
        claim = f"the gain in {measure} over HippoRAG 2 is beyond the noise of {N:,} unpaired questions"
        none_against(verdict, claim, against, len(known), by_us("tables of full chains and of answers"))


def _other_papers(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    """One name stands for two things: never compare across the two papers."""
    rows = [row for row in _of_kind(printed, "other paper") if ("", row.method, row.data, row.measure) in values]
    against = [
        f"{row.method} {values['', row.method, row.data, row.measure]:.3f} here, {row.value:.3f} there "
        f"({row.data}, {row.measure})"
        for row in rows
        if abs(values["", row.method, row.data, row.measure] - row.value) > ROUNDED
    ]
    claim = "rows of one name have the numbers of the paper of HippoRAG 2"
    none_against(verdict, claim, against, len(rows), by_us("tables of both papers"))


def _second_hand(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    told = _of_kind(printed, "second-hand")
    others = [(row, ours) for row in told if (ours := values.get(("", OURS, row.data, row.measure))) is not None]
    against = [
        f"{row.method} {row.value:.3f} against {ours:.3f} ({row.data}, {row.measure})"
        for row, ours in others
        if ours <= row.value
    ]
    claim = "CatRAG is above PropRAG, which the ACL version adds (second-hand, not read)"
    none_against(verdict, claim, against, len(others), by_us(SECOND_HAND))
    _seconds(verdict, {row.measure: row.value for row in told})


def _seconds(verdict: Verdict, told: Mapping[str, float]) -> None:
    first, second = told["seconds, first number"], told["seconds, second number"]
    added, times = told["seconds that relation weighting adds"], told["times as slow, about"]
    verdict.check(
        "two numbers of seconds differ by what relation weighting adds (second-hand, not read)",
        f"{second:.2f} - {first:.2f} = {second - first:.2f}, said to be {added:.2f}", "equal",
        lambda _: abs(second - first - added) < 0.01, where=by_us(SECOND_HAND),
    )  # fmt: skip
    verdict.check(
        "their ratio is the slowdown that the text states (second-hand, not read)",
        f"{second / first:.2f}, said to be about {times:g}", "equal within 0.1",
        lambda _: abs(second / first - times) <= 0.1, where=f"text of the {SECOND_HAND}",
    )  # fmt: skip


def _factors(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    rows = printed[(printed["table"] == "7") & printed["measure"].str.startswith("factor")]
    phi = {int(row.measure.rpartition(" ")[2]): row.value for row in rows.itertuples()}
    tiers = {"Weak": (4, 5, 6), "High": (7, 8, 9)}
    against = [name for name, (a, b, c) in tiers.items() if abs(phi[a] + phi[c] - 2 * phi[b]) > EXACT]
    none_against(verdict, "factors are linear within the tiers Weak and High", against, len(tiers), "Table 7")
    falls = [f"{a} to {b}" for a, b in zip(sorted(phi), sorted(phi)[1:]) if phi[a] > phi[b]]
    none_against(verdict, "a higher score never has a lower factor", falls, len(phi) - 1, by_us("Table 7"))


def _facts(verdict: Verdict, values: Values, printed: pd.DataFrame) -> None:
    """What follows from the tables, without a claim."""
    paper = {key[1:]: value for key, value in values.items()}
    gains = {data: paper[OURS, data, JOINT] / paper[STATIC, data, JOINT] - 1 for data in DATA}
    verdict.state(**{f"relative gain in {JOINT} over HippoRAG 2": _listed(gains, "+.1%")})
    for mechanism, without in WITHOUT.items():
        lost = {data: 100 * (paper[OURS, data, RECALL] - paper[without, data, RECALL]) for data in DATA}
        verdict.state(**{f"points of {RECALL} by {mechanism}": _listed(lost, "+.1f")})
    for measure in ("hub_strength", "super_hub_mass"):
        ours, static = (paper[name, "musique", measure] for name in (OURS, STATIC))
        verdict.state(**{f"{measure}, change against HippoRAG 2": f"{ours / static - 1:+.1%}"})
    unchained = paper[OURS, "hover", ACCURACY] - paper[OURS, "hover", JOINT], 1 - paper[OURS, "hover", CHAINS]
    verdict.state(**{"right labels of HoVer where the chain is not full": f"{unchained[0] / unchained[1]:.1%}"})


def _listed(values: Mapping[str, float], form: str) -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def _of_kind(printed: pd.DataFrame, *kinds: str) -> list:
    return list(printed[printed["kind"].isin(kinds)].itertuples())
