"""Every method has a page, which is that of the code: its facts, its settings, and the events of its trace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import loaded

import workbench as wb
from workbench.methods import METHODS
from workbench.settings import defaults
from workbench.testing.data import tiny_index

DOCS = Path(__file__).parents[1] / "docs"
OURS = [name for name in METHODS if METHODS.package(name) == "hopscope"]
SECTIONS = ("How it ranks", "Settings", "Costs", "Its trace", "What differs from the source")


@pytest.fixture(scope="module")
def tool():
    return loaded(DOCS / "methods.py", "pages_of_the_methods")


def page(name: str) -> str:
    return (DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")


def test_every_method_has_a_page_that_names_every_setting():
    for name in OURS:
        text, settings = page(name), defaults(METHODS[name])
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(SECTIONS), name
        assert not [setting for setting in settings if f"`{setting}`" not in text and setting != "profile"], name
        for block in re.findall(r"by docs/methods.py -->\n(.*?)<!-- end of", text, re.DOTALL):
            assert block.strip(), "python docs/methods.py --run writes what is missing"


def test_what_is_read_off_the_code_is_fresh(tool):
    assert tool.stale() == [], "python docs/methods.py"


def test_every_page_is_in_the_list():
    listed = re.findall(r"\]\((\w+)\.md\)", (DOCS / "methods" / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(OURS)


def steps(text: str) -> set[str]:
    """The kinds and names of the events that a page shows, without their numbers."""
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    events = re.findall(r"^ *([A-Z]{3,}) ([^:\n]+)", shown, re.MULTILINE)
    return {re.sub(r"\d+", "#", f"{kind} {step}").strip() for kind, step in events[1:]}


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_the_events_of_the_example_are_still_written(name):
    """Over another corpus: the same kinds of events, whatever they hold. How a loop ends depends on the corpus."""
    spec = {"gfm_rag": "gfm_rag[checkpoint=untrained]"}.get(name, name)  # the others fit another encoder
    found = wb.method(spec, tiny_index()).retrieve("Who founded the town on the River Aldra?", k=3)
    written = {re.sub(r"\d+", "#", f"{event.kind} {event.step}") for event in found.trace}
    known = steps(page(name))
    assert known and len(known - written) <= len(known) / 2, known - written
