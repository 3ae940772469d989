"""Notebook 07: checks that verdicts follow from their conditions, and how far the printed numbers can be compared."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from workbench.data import Dataset
from workbench.display import picture
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.llm.engine import engine as engine_of
from workbench.papers.comparable import Conditions, Questions, side_by_side
from workbench.papers.comparable import asked_for as asked_for
from workbench.papers.reproduce import reproduce
from workbench.papers.tables import Cell, Claims, Tables, tables
from workbench.text import counted
from workbench.views.tables import interval_text
from workbench.views.verdicts_widget import Verdicts

STATES = ["reproduced", "differs", "not comparable", "not measured"]
OWN = [
    "held by its own numbers",
    "failed by its own numbers",
    "recomputed, held",
    "recomputed, failed",
    "inconsistencies",
]


def by_themselves(sources: pd.DataFrame) -> pd.DataFrame:
    """What each source is worth before anything is run: its printed numbers, its claims that they hold or fail, what we
    recompute from them, and the places where it disagrees with itself."""
    return pd.concat([sources[STATES].sum(axis=1).rename("printed numbers"), sources[OWN]], axis=1).rename_axis(None)


def made(paper: str, table: str, engine: str, data: Dataset, limit: int | None) -> list[Run]:
    """The run of a table over questions of these data, or resumed if it was stopped; none without questions."""
    settings = {"data": data, "limit": limit, "progress": False}
    return [reproduce(paper, table, engine_of(engine), **settings)] if data.questions else []


def chosen(tables: Tables) -> Cell:
    """The last cell that was measured, else the last of all."""
    return next((cell for cell in reversed(tables.cells) if cell.run), tables.cells[-1])


def measured_on(tables: Tables) -> pd.DataFrame:
    """The measured cells, with the corpus of the column and the one that ours was measured on."""
    rows = [(f"{cell.backbone} {cell.method}".strip(), cell.measure, cell.data, cell.published,
             Run(cell.run).config["data"]["name"], cell.ours, cell.verdict)
            for cell in tables.cells if cell.run]  # fmt: skip
    columns = ["method", "measure", "column of the paper", "printed", "ours measured on", "ours", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def save(
    folder: Path, sources: pd.DataFrame, tables: Tables, conditions: Conditions, claims: Claims, verdict: Verdict
) -> None:
    """Write the tables and the verdict of the notebook."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = {"sources": sources.reset_index(), "table": tables.frame(), "conditions": conditions.frame(),
              "claims": claims.frame()}  # fmt: skip
    for name, frame in frames.items():
        frame.to_csv(folder / f"07_{name}.csv", index=False)
    picture("verdict", sources[STATES]).save(folder / "07_verdicts")
    verdict.save(folder / "07_verdict.json")


def verdict(
    title: str, verdicts: Verdicts, conditions: Conditions, selected: Questions, *, engine: str, same: bool
) -> Verdict:
    """What must hold of any data and engine: every printed number has a verdict, which is that of its conditions and
    has a reason; rules reproduce nothing; the questions of the chosen cell are all there; and the same call gives the
    same table again (`same`). The counts are facts of the verdict."""
    compared, sources, chosen = verdicts.found, verdicts.sources(), conditions.cell
    printed = sum(len(tables(name).cells) for name in sources.index)
    counts, measured = sources[STATES].sum(), [cell for cell in compared.cells if cell.run]
    silent = [cell for cell in measured if cell.verdict == "not comparable" and not cell.why]
    by_rules = [cell for cell in measured if cell.verdict == "reproduced" and engine == "rules"]
    checks = Verdict(title)
    checks.check("printed numbers with a verdict", int(counts.sum()), f">= {printed}", lambda n: n >= printed)
    unlike = sum(_unlike(compared, cell) for cell in measured)
    checks.check("cells whose reasons are not those of their conditions", unlike, "0", lambda n: n == 0)
    checks.none("cells that are not comparable without a reason", len(silent))
    checks.none("cells that rules reproduce", len(by_rules))
    checks.check("the same call again gives the same table", same, "true", bool)
    checks.check("questions of the chosen cell", len(selected.rows), str(chosen.n or 0), lambda n: n == (chosen.n or 0))
    checks.state(**counts.to_dict(), **{f"conditions {state}": n for state, n in conditions.counts().items()})
    checks.state(**{f"{cell.backbone} {cell.method}, {cell.data}, {cell.measure}": cell.ours
                   for cell in measured if cell.table == chosen.table})  # fmt: skip
    checks.state(**{f"{compared.paper}: {what}": n for what, n in compared.of_claims().counts().items()})
    return checks


def _unlike(tables: Tables, cell: Cell) -> bool:
    """Whether a cell gives other reasons than its conditions side by side."""
    side = side_by_side(tables, cell)
    return {*filter(None, [*(row.why for row in side.rows), side.note])} != {*cell.why}


def seen(sources: pd.DataFrame, conditions: Conditions, engine: str) -> str:
    """Two sentences: which printed numbers hold by themselves and beside ours, and what the chosen cell lacks."""
    cell, counts, states = conditions.cell, sources[STATES].sum(), conditions.counts()
    held, failed, ours_held, ours_failed, inconsistent = sources[OWN].sum()
    apart = counted(inconsistent, "inconsistency", "inconsistencies")
    name = " ".join(filter(None, (cell.backbone, cell.method, "on", cell.data, cell.measure)))
    measured = "not measured" if cell.ours is None else f"{cell.ours:.3f} [{interval_text(cell)}] by {engine}"
    return (
        f"Of {counted(held + failed, 'claim')} of {len(sources)} sources, {held:,} hold by the {counts.sum():,} "
        f"numbers that these print and {failed:,} do not; of {ours_held + ours_failed:,} checks that we recompute from "
        f"them, {ours_failed:,} fail, beside {apart}; "
        f"{counts['reproduced']:,} numbers are reproduced here, {counts['differs']:,} differ, and "
        f"{counts['not comparable']:,} are measured but not comparable.\n"
        f"{name} is printed as {cell.published:.3f} and ours is {measured}: {states['differs']} conditions differ and "
        f"{states['unknown']} are unknown, so it is {cell.verdict}."
    )
