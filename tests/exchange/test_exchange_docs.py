"""The page on exchange names what there is, and its example runs."""

import re
from pathlib import Path

import layouts
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench import exchange
from workbench.index import Index

PAGE = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")


def test_every_format_is_in_the_table():
    for kind in exchange.FORMATS:
        assert f"`{kind}`" in PAGE


def test_the_example_with_rankings_runs(tiny_index, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    data = tiny_dataset()
    run = wb.evaluate(data.questions, [wb.method("hipporag2", tiny_index)], out="mine", progress=False)
    (tmp_path / "colbert.run").write_text("q1 Q0 p1 1 2.5 colbert\n")
    (tmp_path / "qrels.txt").write_text("q1 0 p1 1\n")
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code[1], names := {"wb": wb, "exchange": exchange, "run": run, "data": data, "index": tiny_index})
    assert (tmp_path / "trec" / "hipporag2.run").exists()
    assert names["run"].methods == ["hipporag2", "ranking[tag=colbert]"]
    exec(code[2], names)
    assert (tmp_path / "traces.jsonl").read_text().count("\n") > len(names["run"].rows)


def test_the_example_runs(tmp_path, monkeypatch):
    layouts.msgraphrag(tmp_path / "ragtest")
    monkeypatch.chdir(tmp_path)
    build = Index.build
    monkeypatch.setattr(wb.Index, "build", lambda data: build(data, encoder=TinyEncoder(), progress=False))
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], names := {})
    assert names["index"].phrased.of("orsby")[0].type == "geo"
    assert "orsby" in Path("orsby.graphml").read_text(encoding="utf-8")
