"""The tables of the papers name data sets that this project has."""

from __future__ import annotations

import pytest

from workbench.data.registry import ENTRIES, find
from workbench.published import HERE, paper, papers

NAMED = {(source.stem, name) for source in HERE.glob("*.toml") for name in paper(source.stem).terms["data"].values()}


def test_every_paper_names_its_data():
    assert {source for source, _ in NAMED} == set(papers())
    assert {name for source, name in NAMED if source == "reasoning"} == {
        "hotpotqa/dev/500@42", "musique/dev/500@42", "2wikimultihopqa/dev/500@42",
    }  # fmt: skip


@pytest.mark.parametrize(("source", "name"), sorted(NAMED), ids="-".join)
def test_each_is_a_data_set_by_name(source, name):
    """By the name that a run states: not a short one, which stands for another."""
    entry = find(name)
    assert entry is not None and entry.id == name
    assert name in ENTRIES or entry.whole.id in ENTRIES
