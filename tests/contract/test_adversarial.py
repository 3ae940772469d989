"""What papers say of adversarial runs stands (conditions.py): each condition changed alone is named, as it was. A
change that is meant records them anew and says why in its commit."""

from __future__ import annotations

import conditions
import pytest

from workbench.papers.recipes import tables_of
from workbench.published import paper, papers

LEFT = {"bdtr": {"4", "text"}, "reasoning": {"text"}}  # hours of a machine, and figures computed from other tables
RECORDED = conditions.recorded()


def _name(row) -> str:
    return f"{row['paper']} | {row['row']}"


@pytest.fixture(scope="module")
def now():
    return {_name(row): row for row in conditions.verdicts()}


@pytest.mark.parametrize("before", RECORDED, ids=_name)
def test_it_says_what_it_said(before, now):
    after = now[_name(before)]
    assert after["unchanged"] == before["unchanged"]
    assert {what: after["changes"].get(what) for what in before["changes"]} == before["changes"]


def test_every_table_is_in_it_and_every_change_is_named():
    for name in papers():
        mine = [row for row in RECORDED if row["paper"] == name]
        missing = {*tables_of(paper(name))} - {row["row"].partition(" | ")[0] for row in mine}
        assert missing == LEFT.get(name, set())
        assert sum(len(row["changes"]) for row in mine) > 200
    for row in RECORDED:
        assert all(all(places) for places in row["changes"].values()), row["row"]


def test_the_unchanged_run_differs_in_nothing_that_the_paper_states():
    """But for measures that are known to be others, and what the rows themselves say."""
    for row in RECORDED:
        unlike = [one for one in row["unchanged"] if one.endswith(" = differs")]
        assert not [one for one in unlike if not one.startswith(("measure = ", "row = "))], row["row"]
