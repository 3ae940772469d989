"""What iteration gains over its backbone alone, by data set ("Beyond Static Retrieval", figure 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.analyses.base import Analysis, Runs, cautions_of, runs_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import compared, holm


def gains_over_static(runs: Runs, *, measures: Iterable[str] = ("em", "f1")) -> Analysis:
    """Every method with a backbone against this backbone alone in the same run: a run for each data set, or a grid.
    Pass runs over several data sets by name: `{"musique": run, "2wiki": run}`. Measures missing from a run are omitted.

    Rows: run (its label), data, method, against, measure, n, value, baseline, difference, low, high (95 %, paired
    bootstrap over questions), p (paired randomisation test), mcnemar (its exact p, if all values are 0 or 1), p_holm (p
    corrected over the whole table)."""
    known, measures = runs_of(runs), tuple(measures)
    rows = [
        {"run": label, "data": run.config["data"]["name"], "method": method, "against": base, "measure": measure,
         **found}
        for label, run in known.items()
        for method, base in _iterative(run)
        for measure in measures
        if measure in run.measures and (found := compared(run.values(measure, method), run.values(measure, base)))
    ]  # fmt: skip
    if not rows:
        raise SettingError(
            f"no run of {', '.join(map(str, known))} has both a method and its backbone alone, with one of "
            f"{', '.join(measures)}; evaluate them together: wb.evaluate(questions, [ircot, hipporag2], reader)"
        )
    corrected = holm([row["p"] for row in rows])
    rows = tuple({**row, "p_holm": p} for row, p in zip(rows, corrected))
    return Analysis("Gains of iteration over the backbone alone", rows, cautions_of(known), draw="gains_over_static")


def _iterative(run: Run) -> Iterator[tuple[str, str]]:
    """(method, its backbone alone), as the run names them."""
    alone = {one["label"]: name for name, one in run.config["methods"].items()}
    for name, one in run.config["methods"].items():
        if (backbone := one["settings"].get("backbone")) in alone:
            yield name, alone[backbone]
