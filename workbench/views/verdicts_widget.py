"""A widget with all tables of all sources: choose a paper, a table and a cell, and see its details.

verdicts = wb.verdicts([found])                    # shows itself; runs, their folders, or what wb.reproduce returned
verdicts = wb.verdicts()                           # without a run: the tables as printed
verdicts.sources()                                 # what the controls do, as functions: every paper's cells by verdict
verdicts.paper("bdtr"), verdicts.table("5")        # the tables, one of them
verdicts.filter(verdict="not comparable")          # only cells like this
verdicts.cell("BDTR", "musique", "em")             # conditions side by side, theirs and ours
verdicts.questions(), verdicts.trace("q7")         # its questions, the lowest score first, and how one was answered
verdicts.claims()                                  # the paper's claims, by its own numbers and by ours
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pandas as pd

from workbench import published
from workbench.errors import DataError, SettingError
from workbench.evaluation.run import Run
from workbench.methods.iterative.replay import Replay, replay
from workbench.papers.comparable import Conditions, Questions, asked_for, measurement, side_by_side
from workbench.papers.tables import NOT_MEASURED, Cell, Claims, Tables, tables
from workbench.text import clean, short
from workbench.trace import Trace
from workbench.views.parts import NAME, Part, faint, group, line, quiet, table, view
from workbench.views.render import page
from workbench.views.session import Cache
from workbench.views.tables import Layout, interval_text, layouts, printed_text
from workbench.views.verdicts import (
    KIND,
    MARK,
    SHOWN,
    chips,
    claims_part,
    conditions_part,
    heading,
    questions_part,
)
from workbench.views.widget import View, Widget, row, texts

HEADING = 60  # characters of the name of a row or a column


def grid_data(layout: Layout | None, ids: Mapping[Cell, int]) -> dict[str, Any]:
    """The data of a table for `viewer/cells.js`, only printable strings and numbers; `ids`: cell → its value of
    `picked`."""
    if layout is None:
        return {}
    return {
        "title": clean(layout.title, NAME),
        "keys": list(layout.keys),
        "columns": [[short(part, HEADING) for part in column] for column in layout.columns],
        "rows": [
            {"names": [short(name, HEADING) for name in names],
             "cells": [_cell(cells[column], ids) if column in cells else None for column in layout.columns]}
            for names, cells in layout.rows
        ],
    }  # fmt: skip


def _cell(cell: Cell, ids: Mapping[Cell, int]) -> dict[str, Any]:
    names = ", ".join(short(name, HEADING) for name in (cell.backbone, cell.method, cell.data, cell.measure) if name)
    ours = "" if cell.ours is None else f", ours {cell.ours:.4f} [{interval_text(cell)}]"
    return {
        "id": ids[cell],
        "kind": KIND[cell.verdict],
        "printed": printed_text(cell),
        "ours": "" if cell.ours is None else f"{MARK[cell.verdict]} {cell.ours:.4f}",
        "says": f"{names}: published {printed_text(cell)}{ours}: {cell.verdict}",
    }


EVERY = "every"
TABS = ("conditions", "run and questions", "claims", "all sources")
FILTERS = ("verdict", "data", "measure")


class Verdicts(Widget):
    """The controls, and their selection: a paper, one of its tables, `chosen` (a cell), or None."""

    name = "verdicts"

    def __init__(
        self,
        runs: Iterable[Run | Tables | str | Path] = (),
        paper: str | None = None,
        table: str | None = None,
        *,
        stands_for: Mapping[str, str] | None = None,
    ):
        """`runs` are runs, their folders, or tables that `wb.reproduce` returned. `stands_for`: folder of a run → the
        data set in whose column it is shown, although it is over another; tables bring theirs. The widget begins with
        `paper`, by default the first with measured cells, and its `table`, by default its first with such cells."""
        super().__init__()
        self._runs, self._stands_for = _runs_of(runs, stands_for or {})
        self._cache = Cache()
        self._names = published.papers()
        measured = (name for name in self._names if self._runs and _measured(self._tables(name).cells))
        self._paper = paper or next(measured, self._names[0])
        self._table = _checked_option(table, self._numbers(), "table") if table else self._first()
        self._filter = dict.fromkeys(FILTERS, EVERY)
        self.chosen: Cell | None = None
        self._make_controls()
        self._draw()

    # -- what the controls do -----------------------------------------------------------------------------------------

    def sources(self) -> pd.DataFrame:
        """A row for each paper: its cells by verdict, its claims by its own numbers and by ours, its
        inconsistencies."""
        of_papers = {name: self._tables(name) for name in self._names}
        rows = {name: {**of_paper.counts(), **of_paper.of_claims().counts()} for name, of_paper in of_papers.items()}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("paper")

    def paper(self, name: str) -> Tables:
        """Show a paper, from its first table with a measured cell."""
        of_paper = self._tables(_checked_option(name, self._names, "paper"))
        self._paper = name
        self._table = self._first()
        self._leave_cell()
        return of_paper

    def table(self, number: str) -> Tables:
        """Show a table of the paper; returns it."""
        number = _checked_option(str(number), self._numbers(), "table")
        if number != self._table:
            self._table = number
            self._leave_cell()
        return replace(self.found, cells=self._of_table())

    def filter(self, **only: str | None) -> Tables:
        """Show only the cells of a `verdict`, of `data`, of a `measure`; None for every one. Returns them."""
        for name, value in only.items():
            _checked_option(name, FILTERS, "filter")
            if value not in (None, EVERY):
                _checked_option(value, self._options(name), name)
        self._filter |= {name: value or EVERY for name, value in only.items()}
        self._draw()
        return self._filtered()

    def cell(
        self,
        method: str | Cell | None = None,
        data: str | None = None,
        measure: str | None = None,
        *,
        backbone: str | None = None,
        label: str | None = None,
    ) -> Conditions:
        """Choose the first cell of the table with these names (`label`: what measured it), measured ones first; returns
        its conditions side by side."""
        wanted = {"method": method, "data": data, "measure": measure, "backbone": backbone, "label": label}
        measured_first = sorted(self._of_table(), key=lambda cell: cell.run is None)
        chosen = method if isinstance(method, Cell) else next(iter(_like(wanted, measured_first)), None)
        if chosen not in self._of_table():
            methods = ", ".join(dict.fromkeys(short(cell.method, NAME) for cell in self._of_table()))
            raise SettingError(
                f"table {self._table} of {self._paper} has no such cell; choose one of its methods: {methods}"
            )
        conditions = side_by_side(self.found, chosen)  # first, so that an error changes nothing
        self.chosen = chosen
        self._draw_cell(conditions)
        return conditions

    def questions(self) -> Questions:
        """The questions of the chosen cell, the lowest score first."""
        self._tabs.selected_index = 1
        return asked_for(self.found, self._chosen_cell())

    def trace(self, question: str) -> Trace | Replay:
        """How a question of the chosen cell was answered; of an iterative method its replay."""
        measured = measurement(self.found, self._chosen_cell())
        if measured is None:
            raise SettingError(
                "the chosen cell has no measurement, and so no traces; pass a run of its method to wb.tables"
            )
        ids = {row["question_id"] for row in measured.of.rows}
        _checked_option(question, sorted(ids), "question")
        try:
            trace = measured.of.run.trace(question, measured.of.label)
        except FileNotFoundError as error:
            raise DataError(f"the run has no trace of {question!r}; evaluate with trace='full'") from error
        support = next((listed.support for listed in measured.of.run.questions if listed.id == question), ())
        record = replay(trace, support) if "iterations" in measured.of.described["settings"] else trace
        self._trace.show(view(record))
        with self._quietly():
            self._question_list.value = (
                question if question in dict(map(reversed, self._question_list.options)) else None
            )
        self._tabs.selected_index = 1
        return record

    def claims(self) -> Claims:
        """The claims of the paper, by its own numbers and by ours, and its inconsistencies."""
        self._tabs.selected_index = 2
        return self.found.of_claims()

    @property
    def found(self) -> Tables:
        """The tables of the paper."""
        return self._tables(self._paper)

    def static_html(self) -> str:
        chosen = view(side_by_side(self.found, self.chosen)) if self.chosen else None
        return page(view(self._filtered()), chosen, claims_part(self.found.of_claims()))

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self._filtered().counts().items())
        return f"Verdicts at table {clean(self._table, NAME)} of {clean(self._paper, NAME)}: {counts}"

    # -- selection ----------------------------------------------------------------------------------------------------

    def _tables(self, name: str) -> Tables:
        return self._cache.once(("tables", name), lambda: tables(name, self._runs, stands_for=self._stands_for))

    def _numbers(self) -> list[str]:
        return list(dict.fromkeys(cell.table for cell in self.found.cells))

    def _first(self) -> str:
        """The first table with a measured cell, or the first."""
        return next((cell.table for cell in self.found.cells if cell.run), self._numbers()[0])

    def _of_table(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.found.cells if cell.table == self._table)

    def _filtered(self) -> Tables:
        """The cells of the table that pass the filters."""
        wanted = {name: None if value == EVERY else value for name, value in self._filter.items()}
        return replace(self.found, cells=tuple(_like(wanted, self._of_table())))

    def _options(self, name: str) -> list[str]:
        return list(dict.fromkeys(getattr(cell, name) for cell in self._of_table()))

    def _chosen_cell(self) -> Cell:
        if self.chosen is None:
            raise SettingError(
                "no cell is chosen; click a cell, or choose it by name: verdicts.cell('BDTR', 'musique', 'em')"
            )
        return self.chosen

    def _leave_cell(self) -> None:
        self.chosen, self._filter = None, dict.fromkeys(FILTERS, EVERY)
        self._draw()

    # -- controls -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        wide, narrow = {"width": "420px"}, {"width": "240px"}
        titles = {name: short(published.paper(name).terms["title"], 60) for name in self._names}
        self._papers = self._bind(
            widgets.Dropdown(
                options=[(f"{name}: {title}", name) for name, title in titles.items()], description="paper", layout=wide
            ),
            self.paper, lambda: self._paper,
        )  # fmt: skip
        self._list = self._bind(
            widgets.Dropdown(options=[self._table], description="table", layout=wide), self.table,
            lambda: self._table, lambda: [(self._table_label(number), number) for number in self._numbers()],
        )  # fmt: skip
        self._filters = {
            name: self._bind(
                widgets.Dropdown(options=[EVERY], description=name, layout=narrow),
                lambda value, name=name: self.filter(**{name: value}), lambda name=name: self._filter[name],
                lambda name=name: [
                    (EVERY, EVERY), *((short(value, NAME) or "–", value) for value in self._options(name))
                ],
            )
            for name in FILTERS
        }  # fmt: skip
        self._head, self._cell, self._claims, self._all = texts(4)
        self._conditions, self._behind, self._trace = texts(3)
        self._grid = View(kind="cells")
        self._question_list = widgets.Dropdown(options=[("–", None)], description="trace of", layout={"width": "auto"})
        self._on(self._grid, lambda at: at >= 0 and self.cell(self._of_table()[at]), "picked")
        self._on(self._question_list, lambda question: question is not None and self.trace(question))
        questions = widgets.VBox([self._behind, self._question_list, self._trace])
        self._tabs = widgets.Tab([self._conditions, questions, self._claims, self._all], titles=TABS)
        self._stack(
            row(self._papers, self._list),
            row(*self._filters.values()),
            self._head,
            self._grid,
            self._message,
            self._cell,
            self._tabs,
        )

    def _table_label(self, number: str) -> str:
        cells = [cell for cell in self.found.cells if cell.table == number]
        return f"{short(number, NAME)}: {len(cells)} numbers, {_measured(cells)} measured"

    def _draw(self) -> None:
        self._show_controls()
        filtered = self._filtered()
        self._head.show(*self._summary(filtered))
        ids = {cell: at for at, cell in enumerate(self._of_table())}
        with self._quietly():
            self._grid.data = grid_data(next(layouts(filtered), None), ids)
            self._grid.picked = ids.get(self.chosen, -1) if self.chosen in filtered.cells else -1
        self._claims.show(claims_part(self.found.of_claims()))
        self._all.show(self._cache.once("sources", self._sources_part))
        self._draw_cell(side_by_side(self.found, self.chosen) if self.chosen else None)

    def _summary(self, filtered: Tables) -> tuple[Part | None, ...]:
        if not filtered.cells:
            return (line("No cell is like this."),)
        hint = "printed above, ours below with its verdict; choose a cell by mouse, or with tab, arrows and enter"
        return chips(filtered.counts()), quiet(hint)

    def _draw_cell(self, conditions: Conditions | None) -> None:
        chosen = self.chosen
        with self._quietly():
            self._grid.picked = self._of_table().index(chosen) if chosen else -1
            self._question_list.options = [("–", None)]
        self._cell.show(heading(chosen) if chosen else quiet("no cell is chosen"))
        self._conditions.show(conditions_part(conditions) if conditions else None)
        self._trace.show()
        self._behind.show(self._behind_part() if chosen else None)
        self._question_list.layout.display = None if chosen and chosen.run else "none"

    def _behind_part(self) -> Part | None:
        """The run of the chosen cell and its questions, which become the options of the list."""
        questions, measured = asked_for(self.found, self._chosen_cell()), measurement(self.found, self._chosen_cell())
        if measured is None:
            return line("Not measured: there is no run.", faint("wb.reproduce makes one."))
        options = [(short(f"{row.scores[0]:.2f} · {row.question_id}: {row.question}", 160), row.question_id)
                   for row in questions.rows[:SHOWN]]  # fmt: skip
        with self._quietly():
            self._question_list.options = [("choose a question", None), *options]
        config = measured.of.run.config
        facts = {"folder": measured.of.run.folder, "data": config["data"]["name"], "method": measured.of.label,
                "reader": config["reader"] or "none", "engine": config["engine"]}  # fmt: skip
        return group(table(["the run", ""], facts.items(), NAME), questions_part(questions))

    def _sources_part(self) -> Part | None:
        """All papers, by verdict."""
        counts = self.sources()
        says = "numbers by verdict; claims that hold and fail, by the paper's own numbers and by ours; inconsistencies"
        return group(quiet(says), table(["", *counts.index], ((name, *counts[name]) for name in counts)))


def _runs_of(
    runs: Iterable[Run | Tables | str | Path], stands_for: Mapping[str, str]
) -> tuple[list[Run], dict[str, str]]:
    """The runs, each once, and folder → data set for runs that stand for another data set than their own."""
    by_folder: dict[str, Run] = {}
    data_sets = dict(stands_for)
    for source in runs:
        if isinstance(source, Tables):
            for measured in source.measurements:
                by_folder.setdefault(str(measured.run.folder), measured.run)
                data_sets.setdefault(str(measured.run.folder), measured.place.data)
        else:
            run = source if isinstance(source, Run) else Run.open(source)
            by_folder.setdefault(str(run.folder), run)
    return list(by_folder.values()), data_sets


def _like(wanted: Mapping[str, Any], cells: Iterable[Cell]) -> list[Cell]:
    """The cells with these values, None for any."""
    given = {name: value for name, value in wanted.items() if value is not None}
    return [cell for cell in cells if all(getattr(cell, name) == value for name, value in given.items())]


def _measured(cells: Iterable[Cell]) -> int:
    return sum(cell.verdict != NOT_MEASURED for cell in cells)


def _checked_option(value: str, options: Iterable[str], what: str) -> str:
    """The value, if it is one of the options; raises SettingError otherwise."""
    options = list(options)
    if value not in options:
        listed = ", ".join(short(option, NAME) for option in options[:30])
        raise SettingError(f"there is no {what} {clean(value, NAME)!r}; choose one of {listed}")
    return value
