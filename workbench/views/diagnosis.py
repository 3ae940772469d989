"""The views of a grid and of a diagnosis: why the answers of a run are wrong, counted and case by case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pandas as pd

from workbench.analyses.base import cautions_of
from workbench.analyses.diagnose import CAUSES, Case, Diagnosis
from workbench.display import html, text
from workbench.evaluation.grid import Grid
from workbench.text import clean, counted, short
from workbench.views.analyses import frame_part, frame_text
from workbench.views.base import NAME, details, esc, page, table, warned, warned_part

OF_GRID = ("accuracy", "em", "f1", "coverage", "coverage:read", "read_tokens", "abstained", "questions", "failures")
SHOWN = 30  # cases of one cause that are listed; frame() has all


@html.register
def _(grid: Grid) -> str:
    notes = (f"<p class='q'>{esc(note, 400)}</p>" for note in _notes(grid))
    title = f"<p><b>{esc(_of(grid), NAME)}</b></p>"
    return page(warned_part(grid.warnings), title, frame_part(_means(grid)), *notes)


@text.register
def _(grid: Grid) -> str:
    return "\n".join([*warned(grid.warnings), clean(_of(grid), NAME), *frame_text(_means(grid)), *_notes(grid)])


@html.register
def _(case: Case) -> str:
    return page(case_part(case))


@text.register
def _(case: Case) -> str:
    return f"{clean(case.question_id, NAME)} ({clean(_where(case), NAME)}): {clean(case.explanation, 400)}"


@html.register
def _(diagnosis: Diagnosis) -> str:
    tables = [f"<p><b>{esc(title, NAME)}</b></p>{frame_part(frame)}" for title, frame in _tables(diagnosis).items()]
    notes = (f"<p class='q'>{esc(note, 400)}</p>" for note in diagnosis.notes)
    title = f"<p><b>{esc(_title(diagnosis), NAME)}</b></p>"
    return page(warned_part(diagnosis.run.warnings), title, *tables, cases_part(diagnosis.cases), *notes)


@text.register
def _(diagnosis: Diagnosis) -> str:
    lines = [*warned(diagnosis.run.warnings), clean(_title(diagnosis), NAME)]
    for title, frame in _tables(diagnosis).items():
        lines += [clean(title, NAME), *frame_text(frame)]
    return "\n".join([*lines, *(clean(note, 400) for note in diagnosis.notes)])


def case_part(case: Case) -> str:
    """One wrong answer: the question, the answer, the gold, the cause, and its basis."""
    answer = f"<b>{esc(case.answer, NAME)}</b>" if case.answer else "<i>no answer</i>"
    gold = esc(" · ".join(case.gold), NAME) or "not in the corpus"
    return "".join(
        (
            f"<p>{esc(case.question, 400)} <span class='tag'>{esc(case.question_id, NAME)}</span></p>",
            f"<p>{answer} &nbsp; gold: {gold}</p>",
            f"<p><span class='bad'>{esc(_where(case), NAME)}</span>: {esc(case.explanation, 600)}</p>",
            f"<p class='q'>rests on {esc(case.rests_on, NAME)}; {esc(case.method, NAME)}, {esc(case.reader, NAME)}</p>",
        )
    )


def cases_part(cases: Sequence[Case]) -> str:
    """The cases by cause, each collapsible."""
    parts = []
    for cause in CAUSES:
        mine = [case for case in cases if case.cause == cause]
        rows = []
        for case in islice(mine, SHOWN):
            cells = (case.question_id, case.question, case.answer, " · ".join(case.gold))
            rows.append((*(short(one, 160) for one in cells), case.hop, clean(case.explanation, 300)))
        more = f"<p class='q'>{len(mine) - SHOWN:,} more; see frame()</p>" if len(mine) > SHOWN else ""
        headers = ["id", "question", "answer", "gold", "hop", "why"]
        parts += [details(f"{len(mine):,} × <b>{esc(cause)}</b>", table(headers, rows), more)] if mine else []
    return "".join(parts)


def _notes(grid: Grid) -> list[str]:
    """Recomputed rows, then the cautions for every number, without the warnings that the display begins with."""
    begun = {said for run in grid.runs.values() for said in run.warnings}
    notes = [f"{label}: {note}" for label, run in grid.runs.items() for note in run.notes]
    return [*notes, *(caution for caution in cautions_of(grid) if caution not in begun)]


def _means(grid: Grid) -> pd.DataFrame:
    table = grid.table()
    return table[[name for name in OF_GRID if name in table]].reset_index()


def _of(grid: Grid) -> str:
    return f"Grid in {grid.folder}: {counted(len(grid.methods), 'method')} × {counted(len(grid.readers), 'reader')}"


def _where(case: Case) -> str:
    return case.cause + (f", step {case.hop}" if case.hop else "")


def _tables(diagnosis: Diagnosis) -> dict[str, pd.DataFrame]:
    """The tables without the column `reader`, which is the same in every row and part of the title."""
    return {title: frame.drop(columns="reader", errors="ignore") for title, frame in diagnosis.tables().items()}


def _title(diagnosis: Diagnosis) -> str:
    asked = sum(count for _, count in diagnosis.asked)
    return f"Why {len(diagnosis.cases):,} of {asked:,} answers by {diagnosis.run.config['reader']} are wrong"
