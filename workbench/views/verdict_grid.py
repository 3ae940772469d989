"""A paper's table as printed, each number beside ours, whose cells are chosen by mouse or keyboard.

The page gets names and numbers as data and writes them as text, so nothing in them is acted upon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from workbench.papers.tables import Cell
from workbench.text import clean, short
from workbench.views.palette import GREEN, ORANGE, VERMILION
from workbench.views.tables import Layout, interval_text, printed_text
from workbench.views.verdicts import KIND, MARK

NAME = 60  # characters of the name of a row or a column


class VerdictGrid(anywidget.AnyWidget):
    """`shown` is the table; `picked` is the number of the chosen cell, -1 for none."""

    _esm = """
    function render({ model, el }) {
      const box = document.createElement("div");
      box.className = "hopscope-grid";
      el.append(box);
      const made = (tag, text, parent, attributes = {}) => {
        const element = document.createElement(tag);
        if (text !== null) element.textContent = text;
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        parent.append(element);
        return element;
      };
      const buttons = () => [...box.querySelectorAll("button")];
      const mark = () => {
        const all = buttons(), picked = model.get("picked");
        const chosen = all.find(one => one.cell === picked);
        for (const one of all) {
          one.setAttribute("aria-pressed", one === chosen);
          one.tabIndex = one === (chosen ?? all[0]) ? 0 : -1;
        }
      };
      const draw = () => {
        const shown = model.get("shown");
        box.replaceChildren();
        if (!shown.rows) return;
        const table = made("table", null, box, {"aria-label": shown.title});
        const head = made("thead", null, table);
        const first = made("tr", null, head), second = made("tr", null, head);
        for (const key of shown.keys) made("th", key, first, {scope: "col", rowspan: 2, class: "name"});
        for (const group of shown.groups)
          made("th", group.name, first, {scope: "colgroup", colspan: group.width, class: "group"});
        for (const [at, name] of shown.measures.entries())
          made("th", name, second, {scope: "col", class: shown.starts.includes(at) ? "group" : ""});
        const body = made("tbody", null, table);
        for (const [y, row] of shown.rows.entries()) {
          const tr = made("tr", null, body, row.begins ? {class: "begins"} : {});
          for (const name of row.names) made("th", name, tr, {scope: "row", class: "name"});
          for (const [x, cell] of row.cells.entries()) {
            const td = made("td", null, tr, shown.starts.includes(x) ? {class: "group"} : {});
            if (!cell) continue;
            const button = made("button", null, td, {type: "button", class: cell.kind, "aria-label": cell.says,
                                                     title: cell.says});
            button.cell = cell.id;
            button.at = [y, x];
            made("span", cell.printed, button, {class: "printed"});
            made("span", cell.ours, button, {class: "ours"});
          }
        }
        mark();
      };
      box.addEventListener("click", event => {
        const button = event.target.closest("button");
        if (button) { model.set("picked", button.cell); model.save_changes(); mark(); }
      });
      box.addEventListener("keydown", event => {
        const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
        const from = event.target.closest("button");
        if (!step || !from) return;
        event.preventDefault();
        event.stopPropagation();
        const line = buttons().filter(one => step[0] ? one.at[1] === from.at[1] : one.at[0] === from.at[0]);
        const to = line[line.indexOf(from) + step[0] + step[1]];
        if (!to) return;
        from.tabIndex = -1;
        to.tabIndex = 0;
        to.focus();
      });
      model.on("change:shown", draw);
      model.on("change:picked", mark);
      draw();
    }
    export default { render };
    """
    _css = f"""
    .hopscope-grid {{ overflow: auto; max-height: 560px; font-family: var(--jp-ui-font-family, system-ui, sans-serif);
      font-size: 13px; color: var(--jp-ui-font-color1, inherit) }}
    .hopscope-grid table {{ border-collapse: separate; border-spacing: 0; margin: 0 }}
    .hopscope-grid th, .hopscope-grid td {{ padding: 2px 3px; text-align: left; font-weight: 400;
      border-bottom: 1px solid var(--jp-border-color2, #8883); background: var(--jp-layout-color0, Canvas) }}
    .hopscope-grid thead th {{ font-weight: 600; vertical-align: bottom; max-width: 9em; overflow-wrap: break-word }}
    .hopscope-grid thead {{ position: sticky; top: 0; z-index: 2 }}
    .hopscope-grid .group {{ border-left: 1px solid var(--jp-border-color1, #8886); padding-left: 7px }}
    .hopscope-grid th.name {{ padding-right: 10px; min-width: 6em; max-width: 15em; overflow-wrap: break-word }}
    .hopscope-grid tr.begins > * {{ border-top: 1px solid var(--jp-border-color1, #8888) }}
    .hopscope-grid tbody th.name:first-child {{ font-weight: 600 }}
    .hopscope-grid button {{ all: unset; box-sizing: border-box; display: block; width: 100%; min-width: 5.2em;
      cursor: pointer; padding: 2px 6px; border-radius: 3px; border-left: 4px solid var(--c);
      font-variant-numeric: tabular-nums; line-height: 1.3; white-space: nowrap;
      background: color-mix(in srgb, var(--c) 16%, transparent) }}
    .hopscope-grid button.none {{ --c: transparent; background: none }}
    .hopscope-grid button.same {{ --c: {GREEN} }}
    .hopscope-grid button.differs {{ --c: {VERMILION} }}
    .hopscope-grid button.unknown {{ --c: {ORANGE} }}
    .hopscope-grid button:hover {{ background: color-mix(in srgb, var(--c) 30%, var(--jp-layout-color2, #8882)) }}
    .hopscope-grid button:focus-visible {{ outline: 2px solid var(--jp-brand-color1, Highlight); outline-offset: -1px }}
    .hopscope-grid button[aria-pressed=true] {{ box-shadow: 0 0 0 2px var(--jp-ui-font-color1, currentColor) }}
    .hopscope-grid span {{ display: block }}
    .hopscope-grid .ours {{ font-weight: 600 }}
    .hopscope-grid .none .printed {{ color: var(--jp-ui-font-color2, GrayText) }}
    """
    shown = traitlets.Dict().tag(sync=True)
    picked = traitlets.Int(-1).tag(sync=True)

    def draw(self, layout: Layout | None, ids: Mapping[Cell, int]) -> None:
        """Show a table; `ids`: cell → the number that `picked` has for it."""
        self.picked = -1
        self.shown = grid_data(layout, ids) if layout else {}


def grid_data(layout: Layout, ids: Mapping[Cell, int]) -> dict[str, Any]:
    """A table as the page gets it: printable strings and numbers alone."""
    groups: list[dict[str, Any]] = []
    starts = []
    for at, (data, _) in enumerate(layout.columns):
        if not groups or groups[-1]["of"] != data:
            groups.append({"of": data, "name": short(data, NAME), "width": 0})
            starts.append(at)
        groups[-1]["width"] += 1
    rows, before = [], None
    for names, cells in layout.rows:
        group = names[0] if layout.keys[0] == "backbone" else None
        said = [short(name, NAME) for name in names]
        begins = group is not None and group != before
        if group is not None and not begins:
            said[0] = ""  # as printed: a backbone stands in the first of its rows
        filled = [_cell(cells[one], ids) if one in cells else None for one in layout.columns]
        rows.append({"names": said, "begins": begins, "cells": filled})
        before = group
    return {
        "title": clean(layout.title, NAME),
        "keys": list(layout.keys),
        "groups": [{"name": one["name"], "width": one["width"]} for one in groups],
        "starts": starts,
        "measures": [short(measure, NAME) for _, measure in layout.columns],
        "rows": rows,
    }


def _cell(cell: Cell, ids: Mapping[Cell, int]) -> dict[str, Any]:
    names = ", ".join(short(name, NAME) for name in (cell.backbone, cell.method, cell.data, cell.measure) if name)
    ours = "" if cell.ours is None else f", ours {cell.ours:.4f} [{interval_text(cell)}]"
    return {
        "id": ids[cell],
        "kind": KIND[cell.verdict],
        "printed": printed_text(cell),
        "ours": "" if cell.ours is None else f"{MARK[cell.verdict]} {cell.ours:.4f}",
        "says": f"{names}: published {printed_text(cell)}{ours}: {cell.verdict}",
    }
