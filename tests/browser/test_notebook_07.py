"""Notebook 07 as its reader sees it: papers, tables, filters, cells by mouse and keyboard; both themes; attacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from test_hostile_records import ATTACKS
from test_views import TAGS

pytestmark = pytest.mark.browser

# A run of two methods over a tiny corpus, which stands for PopQA.
MADE = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
    "import workbench as wb\nfrom tiny import TinyEncoder, tiny_dataset\n"
    "data, engine, folder = tiny_dataset(), wb.engine('rules'), wb.home() / 'verdicts'\n"
    "index = wb.Index.build(data, engine, folder / 'index', encoder=TinyEncoder(), progress=False)\n"
    "methods = [wb.method(spec, index, engine) for spec in ('hipporag2', 'bdtr[backbone=hipporag2]')]\n"
    "run = wb.evaluate(data.questions, methods, wb.reader('direct', engine), folder / 'run',\n"
    "                  measures=['em', 'f1'], progress=False)\n"
    "verdicts = wb.verdicts([run], stands_for={str(run.folder): 'popqa'})\nverdicts"
)


def tab(widget: Locator, name: str) -> None:
    widget.get_by_role("tab", name=name).click()


def test_a_cell_is_chosen_and_read(lab, page):
    lab.write("verdicts.ipynb", MADE)
    notebook = lab.open(page, "verdicts.ipynb")
    notebook.run_all()
    widget = notebook.panel.locator(".hopscope-verdicts")
    grid = widget.locator(".hopscope-grid")
    expect(grid.get_by_role("button")).to_have_count(12)
    expect(widget.get_by_text("4 not comparable")).to_be_visible()

    # By mouse: both sides of the cell, what differs first.
    grid.get_by_role("button", name="BDTR, popqa, em").click()
    expect(widget.get_by_text("popqa/hipporag-1000").first).to_be_visible()
    expect(widget.locator(".mark.differs", has_text="differs").first).to_be_visible()
    expect(widget.locator(".mark.unknown", has_text="unknown").first).to_be_visible()
    expect(grid.locator("button[aria-pressed=true]")).to_have_count(1)
    notebook.both_themes("07_conditions", widget)

    # By keyboard: the cell above it, chosen with enter.
    grid.locator("button[aria-pressed=true]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(widget.locator("p b", has_text="BDTR · popqa · f1")).to_be_visible()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(widget.get_by_text("not measured; the paper's conditions ask for")).to_be_visible()

    # Its questions, and how one was answered.
    grid.get_by_role("button", name="BDTR, popqa, em").click()
    tab(widget, "run and questions")
    expect(widget.get_by_text("2 questions, the lowest score first")).to_be_visible()
    widget.get_by_label("trace of").select_option(index=1)
    steps = widget.get_by_role("navigation", name="steps")
    expect(steps.locator("output")).to_contain_text("end (")
    steps.get_by_role("button", name="step back").click()
    expect(steps.locator("output")).to_contain_text("round ")
    expect(widget.locator("table.sorts").first).to_be_attached()
    notebook.both_themes("07_questions", widget)

    # Claims, all sources.
    tab(widget, "claims")
    expect(widget.get_by_text("BDTR is best, for every backbone and data set")).to_be_visible()
    notebook.both_themes("07_claims", widget)
    tab(widget, "all sources")
    expect(widget.get_by_role("columnheader", name="reasoning")).to_be_visible()

    # Other cells, another table, another paper.
    verdict, _, measure = (widget.get_by_label(name, exact=True) for name in ("verdict", "data", "measure"))
    verdict.select_option(label="not comparable")
    expect(grid.get_by_role("button")).to_have_count(4)
    measure.select_option(label="em")
    expect(grid.get_by_role("button")).to_have_count(2)
    widget.get_by_label("table", exact=True).select_option(index=0)
    expect(grid.get_by_role("button")).to_have_count(150)
    notebook.both_themes("07_table", widget)
    widget.get_by_label("paper", exact=True).select_option(index=5)
    expect(grid.get_by_role("columnheader", name="anonyrag/chs")).to_be_visible()
    notebook.screenshot("07_youtu", widget)


def test_the_notebook(lab, page, notebook):
    """What the sources' numbers are worth by themselves, and a table beside its printed numbers. A page of JupyterLab
    with a kernel: opened once for all that is looked at."""
    notebook = lab.open(page, notebook("07", live=True).path)
    held = notebook.outputs("held by its own numbers").first
    expect(held).to_contain_text("printed numbers")
    widget = notebook.panel.locator(".hopscope-verdicts").first
    notebook.first_screens("07", held, widget.get_by_label("paper", exact=True))
    expect(notebook.outputs("07 Tables and verdicts: bdtr, table 2, on meridian")).to_contain_text("checks hold")
    notebook.both_themes("07_notebook")
    expect(widget.get_by_role("tab", name="conditions")).to_have_attribute("aria-selected", "true")
    widget.locator(".hopscope-grid").get_by_role("button", name="Original, popqa, em").click()
    tab(widget, "conditions")
    expect(widget.get_by_text("popqa/hipporag-1000").first).to_be_visible()


def test_nothing_in_a_run_is_acted_upon(lab, page):
    """An attack as question, gold, title, text, encoder and data set of a run."""
    text = " ".join(one for one in ATTACKS if "\ud800" not in one)
    lab.write(
        "hostile_verdicts.ipynb",
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "import workbench as wb\nfrom tiny import TinyEncoder\nfrom workbench.data import Dataset\n"
        "from workbench.integrity import seal\nfrom workbench.records import Passage, Question\n"
        f"text = {text!r}\n"
        "data, folder = Dataset('hostile', (Passage('p', text, text),), (), ()), wb.home() / 'hostile_verdicts'\n"
        "index = wb.Index.build(data, None, folder / 'index', encoder=TinyEncoder(), layers=['passages'],\n"
        "                       progress=False)\n"
        "run = wb.evaluate([Question('q', f'What? {text}', (text,))], [wb.method('dense', index)],\n"
        "                  wb.reader('direct', wb.engine('rules')), folder / 'run', measures=['f1'], progress=False)\n"
        "config = json.loads((run.folder / 'run.json').read_text())\n"
        "config['data']['name'], config['methods']['dense']['encoder'] = text, text\n"
        "_ = (run.folder / 'run.json').write_text(json.dumps(seal(config)))\n"
        "(run.folder / 'checksums.json').unlink()",
        "verdicts = wb.verdicts([run.folder], 'catrag', 'answers', stands_for={str(run.folder): 'musique'})\n"
        "verdicts.cell(next(cell for cell in verdicts.found.cells if cell.run)); verdicts.trace('q')\nverdicts",
    )
    notebook = lab.open(page, "hostile_verdicts.ipynb", theme="dark")
    notebook.run_all()
    widget = notebook.panel.locator(".hopscope-verdicts")
    expect(widget.locator(".hopscope-grid button[aria-pressed=true]")).to_have_count(1)
    for name in ("conditions", "run and questions", "claims"):
        tab(widget, name)
        found = widget.locator(".hopscope *").evaluate_all("all => [...new Set(all.map(e => e.localName))]")
        assert set(found) <= TAGS | {"svg", "title", "line", "text", "circle", "path", "input"}  # which filters a table
    for part in page.frames:
        assert part.evaluate("window.pwned === undefined")
    notebook.screenshot("07_hostile")
