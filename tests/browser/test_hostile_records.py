"""What the records' display does with hostile text where it could do harm: in a real browser, in a trusted notebook."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_views import HOSTILE, OURS, TAGS

pytestmark = pytest.mark.browser

TESTS = Path(__file__).parents[1]
ATTACKS = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "</style></details><iframe srcdoc='<script>top.pwned = 1</script>'></iframe>",
    *HOSTILE,
)
IMPORTS = f"""
import sys; sys.path.insert(0, {str(TESTS)!r})
from IPython.display import HTML, Javascript, display
from test_views import Passage, records
"""


def test_nothing_in_a_record_is_acted_upon(lab, page):
    """The attacks of this file one by one, and all others in one text: each is alone in test_hostile_pages.py."""
    # A cell for each: JupyterLab shows no more than fifty outputs of one cell.
    attacks = [*ATTACKS[:3], " ".join(ATTACKS)]
    cells = [f"made = records({attack!r})\ndisplay(*[made[position] for position in {OURS}])" for attack in attacks]
    lab.write("hostile.ipynb", IMPORTS, *cells)
    notebook = lab.open(page, "hostile.ipynb")
    notebook.run_all()
    expect(notebook.outputs()).to_have_count(len(attacks) * len(OURS))
    shown = notebook.panel.locator(".jp-OutputArea-output .hopscope")
    shown.locator("details").evaluate_all("all => all.forEach(element => { element.open = true })")
    found = shown.locator("*").evaluate_all(
        "all => [...new Set(all.flatMap(e => [e.localName, ...e.getAttributeNames().map(name => '@' + name)]))]"
    )
    assert {"details", "td"} < set(found) <= TAGS | {"@class", "@open"}
    assert page.evaluate("window.pwned === undefined")


def test_dollars_are_text(lab, page):
    passage = "Passage('p', 'Price', 'from $5 to $10')"
    lab.write("dollars.ipynb", IMPORTS, f"display({passage}, HTML('<p class=\"set\">$x$</p>'))")
    notebook = lab.open(page, "dollars.ipynb")
    notebook.run_all()
    expect(notebook.panel.locator(".set mjx-container")).to_be_visible()
    expect(notebook.panel.locator(".hopscope mjx-container")).to_have_count(0)


def test_a_failed_cell_fails_the_test(lab, page):
    lab.write("failing.ipynb", "1 / 0")
    with pytest.raises(AssertionError, match="ZeroDivisionError: division by zero"):
        lab.open(page, "failing.ipynb").run_all()


def test_the_guard_notes_what_it_should(lab, guard, page):
    """A notebook that does each forbidden thing once: without this the other tests could pass for want of a guard."""
    lab.write(
        "guarded.ipynb",
        IMPORTS,
        "display(Javascript(\"console.error('said'); alert('asked'); setTimeout(() => { throw Error('thrown') })\"))\n"
        "display(HTML('<img src=\"http://example.org/x.png\">'))",
    )
    lab.open(page, "guarded.ipynb").run_all()
    expected = {"console: said", "dialog: asked", "uncaught error: thrown", "request: http://example.org/x.png"}
    for _ in range(100):
        if expected <= set(guard.problems):
            break
        page.wait_for_timeout(50)
    noted = set(guard.problems)
    page.close()  # what the page does again does not count
    guard.problems.clear()
    assert expected <= noted
