"""Notebook 07 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.lessons import tables_and_verdicts as lesson
from workbench.papers.comparable import asked_for
from workbench.published import papers


def test_on_the_bundled_corpus(notebook):
    ran = notebook("07")
    tables = {f"07_{name}" for name in ("claims", "conditions", "sources", "table")}
    assert ran.pictures() == {"07_verdicts"} and ran.tables() == tables | {"07_verdicts"}
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 6
    sources = pd.read_csv(ran.figures / "07_sources.csv", index_col="paper")
    assert list(sources.index) == papers() and sources.loc["bdtr", "not comparable"] == 12
    assert (sources["reproduced"] == 0).all(), "rules reproduce nothing"
    table = pd.read_csv(ran.figures / "07_table.csv")
    assert len(table) == 12 and table["why"].str.contains("split and corpus: meridian").all()
    conditions = pd.read_csv(ran.figures / "07_conditions.csv").set_index("condition")
    assert conditions.loc["questions", ["theirs", "ours", "state"]].tolist() == ["1,000", "4", "differs"]
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert f"hold by the {sources.iloc[:, :4].to_numpy().sum():,} numbers that these print" in says
    assert "so it is not comparable." in says
    made = ran.page()
    assert "Verdicts at table" not in made and "What the source claims" in made  # no kernel: tables
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of rules over two questions, which stand for PopQA, and the widget at one of its cells."""
    data, rules = tiny_dataset(), wb.engine("rules")
    folder = tmp_path_factory.mktemp("lesson")
    index = wb.Index.build(data, rules, folder / "index", encoder=TinyEncoder(), progress=False)
    reader = wb.reader("direct", rules)
    run = wb.evaluate(data.questions, [wb.method("hipporag2", index, rules)], reader, folder / "run", progress=False)
    verdicts = wb.verdicts([run], "bdtr", "2", stands_for={str(run.folder): "popqa"})
    return verdicts, verdicts.cell(next(cell for cell in verdicts.found.cells if cell.run))


def test_a_check_that_can_fail_fails(made):
    verdicts, conditions = made
    chosen = conditions.cell
    asked = asked_for(verdicts.found, chosen)
    checked = [
        lesson.verdict("t", verdicts, conditions, questions, engine="rules", same=same)
        for questions, same in ((asked, True), (replace(asked, rows=asked.rows[1:]), False))
    ]
    assert checked[0].holds and len(checked[0].checks) == 6
    failed = [check.name for check in checked[1].checks if not check.holds]
    assert failed == ["the same call again gives the same table", "questions of the chosen cell"]
