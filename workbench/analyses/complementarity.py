"""Whether two methods answer the same questions correctly ("Beyond Static Retrieval", figure 3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from workbench.analyses.base import Analysis, cautions, known_methods, measured, unreachable
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import paired_test


@dataclass(frozen=True, slots=True, repr=False)
class Complementarity(Analysis):
    """Rows, one per rule of correctness: rule, n, both, only_a, only_b, neither (questions), union (the share that an
    oracle choosing between the two would answer correctly), phi (agreement, -1 to 1; None if one of them is always or
    never right), p (of the difference, paired test)."""

    a: str = ""
    b: str = ""


def complementarity(run: Run, a: str, b: str, *, other: Run | None = None, threshold: float = 0.5) -> Complementarity:
    """The methods `a` and `b` over the same questions; `b` belongs to the run `other` if one is given. An answer is
    correct with an F1 of at least `threshold`, or with an exact match; the paper does not say which. Without a reader,
    a question counts as correct if all gold passages are among the first five."""
    if not 0 < threshold <= 1:
        raise SettingError(f"threshold={threshold!r}; it should be above 0 and at most 1")
    second = other or run
    known_methods(run, [a]), known_methods(second, [b])
    if run.config["questions"] != second.config["questions"]:
        raise SettingError(f"the runs {run.folder} and {second.folder} were asked different questions")
    rules = {"f1": threshold, "em": 1.0} if "f1" in run.measures else {"all_gold@5": 1.0}
    rows = []
    for measure in measured(run, list(rules)):
        ours, theirs = run.scores(measure, a), second.scores(measure, b)
        pairs = [
            (ours[one] >= rules[measure], theirs[one] >= rules[measure]) for one in sorted(ours.keys() & theirs.keys())
        ]
        rule = measure if rules[measure] == 1 else f"{measure} ≥ {rules[measure]:g}"
        rows.append({"rule": rule, **_square(pairs)})
    notes = (*cautions(run), *unreachable(run, rules))
    return Complementarity(f"{a} and {b}", tuple(rows), notes, a, b, draw="complementarity")


def _square(pairs: list[tuple[bool, bool]]) -> dict[str, Any]:
    both, only_a, only_b, neither = (
        sum(pair == kind for pair in pairs) for kind in ((True, True), (True, False), (False, True), (False, False))
    )
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    return {
        "n": len(pairs), "both": both, "only_a": only_a, "only_b": only_b, "neither": neither,
        "union": (both + only_a + only_b) / len(pairs) if pairs else None,
        "phi": (both * neither - only_a * only_b) / sqrt(margins) if margins else None,
        "p": paired_test(*zip(*pairs)) if pairs else None,
    }  # fmt: skip
