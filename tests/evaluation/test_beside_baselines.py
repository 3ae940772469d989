"""benchmarks/baselines.py: its table has the means of the runs, of methods that all questions were put to."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from scripts import loaded
from tiny import TinyEncoder, tiny_dataset

import workbench as wb

TOOL = loaded(Path(__file__).parents[2] / "benchmarks" / "baselines.py", "baselines_of_all_methods")


def test_the_table_is_of_runs_that_are_through(tmp_path):
    data = tiny_dataset()
    asked = [question for question in data.questions if question.support]
    index = wb.Index.build(data, None, tmp_path / "index", encoder=TinyEncoder(), layers=["passages"], progress=False)
    of = {"measures": TOOL.MEASURES, "trace": "off", "progress": False}
    run = wb.evaluate(asked, [wb.method("bm25", index)], None, tmp_path / "tiny" / "run", **of)
    wb.evaluate(asked, [wb.method("dense", index)], None, tmp_path / "tiny" / "run", limit=1, **of)
    rows = pd.DataFrame(TOOL.results(tmp_path))
    assert rows["method"].tolist() == ["bm25", "bm25"] and rows["measure"].tolist() == [*TOOL.MEASURES]
    assert rows["mean"].tolist() == [sum(run.scores(name, "bm25").values()) / len(asked) for name in TOOL.MEASURES]
    shown = TOOL.table(rows.assign(mean=0.25, low=0.1, high=0.5))
    assert shown.splitlines()[0] == "| method | tiny, recall@5 | tiny, all_gold@5 |"
    assert shown.splitlines()[2] == "| bm25 | 25.0 [10.0, 50.0] | 25.0 [10.0, 50.0] |"
