"""The origin of wrong answers: retrieval, compression, or reading ("The Reasoning Bottleneck in Graph-RAG", arXiv
2603.14045).

    wrong = retrieval failures (wrong, not covered)
          + cut                (wrong, covered before compression but not after it)
          + reasoning failures (wrong, covered in the text that was read)
    correct = correct and covered + lucky (correct, not covered)

The source measures coverage only before compression, so it counts `cut` as reasoning failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from workbench import display
from workbench.analyses.base import Analysis, Runs, cautions_of, mean_of, of_runs, runs_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run, alike
from workbench.text import counted

AFTER = {"coverage": "coverage:read", "coverage:substring": "coverage:read:substring"}
EVERY = "all"


def decomposition(
    runs: Runs,
    methods: Iterable[str] | None = None,
    *,
    by: Iterable[str] = (EVERY,),
    measure: str = "accuracy",
    coverage: str = "coverage",
) -> Analysis:
    """The outcomes of the questions of a run, of several (label → run) or of a grid, counted over `by`: `all`, `type`,
    `hops`. An answer is right if it scores 1 in `measure`. Questions with undefined `coverage` (a gold yes or no, no
    gold) are excluded, and counted in the notes.

    Rows: reader, method, by (`all`, type or hops), kind, n, correct_covered, lucky, reasoning, cut, retrieval (numbers
    of questions), accuracy, coverage, reasoning_share (of the wrong answers, as the source counts, with `cut`),
    reasoning_share_read (without `cut`). `cut` is None if the run does not record the text that was read."""
    by, runs = tuple(by), runs_of(runs)
    if unknown := [name for name in by if name not in (EVERY, "type", "hops")]:
        raise SettingError(f"by={unknown[0]!r}; it should be all, type or hops")
    rows, left_out = [], set()
    for reader, run, method in of_runs(runs, methods):
        judged = judgements(run, method, measure, coverage)
        left_out.add((len(judged), sum(row["method"] == method for row in run.rows)))
        for name in by:
            kinds = [None] if name == EVERY else sorted({one[name] for one in judged} - {None}, key=str)
            for kind in kinds:
                mine = [one for one in judged if name == EVERY or one[name] == kind]
                parts = _counted(mine, run_cuts(run, coverage))
                rows.append({"reader": reader, "method": method, "by": name, "kind": kind and str(kind), **parts})
    notes = [_left_out(*one, coverage) for one in sorted(left_out) if one[0] < one[1]]
    draw = partial(display.picture, "decomposition", same=alike(runs), notes=notes)
    return Analysis("What became of the questions", tuple(rows), (*cautions_of(runs), *notes), draw=draw)


def _left_out(judged: int, asked: int, coverage: str) -> str:
    questions = counted(asked - judged, "question")
    return f"n is {judged:,} of {asked:,}: {coverage} is not defined for {questions} (a gold yes or no, or no gold)."


def judgements(run: Run, method: str, measure: str, coverage: str) -> list[dict[str, Any]]:
    """A row for each question with a defined `coverage`: question_id, type, hops, right, covered, cut."""
    _check(run, measure, coverage)
    after = AFTER.get(coverage)
    found = []
    for row in run.rows:
        scores = row["scores"]
        if row["method"] == method and scores.get(coverage) is not None and scores.get(measure) is not None:
            covered = scores[coverage] == 1
            cut = covered and after in run.measures and scores.get(after) == 0
            known = {name: row[name] for name in ("question_id", "type", "hops")}
            found.append({**known, "right": scores[measure] == 1, "covered": covered, "cut": cut})
    return found


def run_cuts(run: Run, coverage: str) -> bool:
    """Whether the run records what its reader's compressor cut; a reader without a compressor cuts nothing."""
    return AFTER.get(coverage) in run.measures or "compress=" not in (run.config["reader"] or "")


def covered_only(
    runs: Runs,
    methods: Iterable[str] | None = None,
    *,
    measures: Iterable[str] = ("accuracy", "f1", "em"),
    coverage: str = "coverage",
) -> Analysis:
    """Means over all questions, over those whose answer was retrieved, and over those whose answer was in the text that
    was read (Table 5.3 of the source has the second). A rate over covered questions is not a share of the coverage; do
    not compare the two.

    Rows: reader, method, measure, n, value (over all questions for which it is defined), covered_n, covered (over those
    whose answer was retrieved), read_n, read (over those whose answer was in the text that was read; None if
    unknown)."""
    measures, rows = tuple(measures), []
    for reader, run, method in of_runs(runs, methods):
        mine = [row["scores"] for row in run.rows if row["method"] == method]
        for measure in measures:
            _check(run, measure, coverage)
            after = AFTER.get(coverage)
            after = after if after in run.measures else coverage if run_cuts(run, coverage) else None
            whole = [scores[measure] for scores in mine if scores.get(measure) is not None]
            covered, read = (
                [s[measure] for s in mine if s.get(of) == 1 and s.get(measure) is not None] for of in (coverage, after)
            )
            rows.append(
                {
                    "reader": reader, "method": method, "measure": measure,
                    "n": len(whole), "value": mean_of(whole),
                    "covered_n": len(covered), "covered": mean_of(covered),
                    "read_n": len(read) if after else None, "read": mean_of(read),
                }
            )  # fmt: skip
    return Analysis(f"All questions, and those with {coverage}", tuple(rows), cautions_of(runs), draw="covered_only")


def _counted(judged: list[Mapping[str, Any]], known: bool) -> dict[str, Any]:
    """The source's two-by-two table, with cut answers separate."""
    n = len(judged)
    right_covered = sum(one["right"] and one["covered"] for one in judged)
    lucky = sum(one["right"] and not one["covered"] for one in judged)
    cut = sum(not one["right"] and one["cut"] for one in judged)
    reasoning = sum(not one["right"] and one["covered"] and not one["cut"] for one in judged)
    retrieval = sum(not one["right"] and not one["covered"] for one in judged)
    wrong = n - right_covered - lucky
    return {
        "n": n,
        "correct_covered": right_covered,
        "lucky": lucky,
        "reasoning": reasoning,
        "cut": cut if known else None,
        "retrieval": retrieval,
        "accuracy": (right_covered + lucky) / n if n else None,
        "coverage": (right_covered + reasoning + cut) / n if n else None,
        "reasoning_share": (reasoning + cut) / wrong if wrong else None,
        "reasoning_share_read": reasoning / wrong if wrong and known else None,
    }


def _check(run: Run, *names: str) -> None:
    if missing := [name for name in names if name not in run.measures]:
        raise SettingError(
            f"the run {run.folder} does not have {missing[0]}; it has {', '.join(run.measures)}. Evaluate with "
            f"measures=[…, {missing[0]!r}] and a reader"
        )
