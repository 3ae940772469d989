"""The page on exchange names what there is, and its example runs."""

import re
from pathlib import Path

import layouts
from tiny import TinyEncoder

import workbench as wb
from workbench import exchange
from workbench.index import Index

PAGE = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")


def test_every_format_is_in_the_table():
    for kind in exchange.FORMATS:
        assert f"`{kind}`" in PAGE


def test_the_example_runs(tmp_path, monkeypatch):
    layouts.msgraphrag(tmp_path / "ragtest")
    monkeypatch.chdir(tmp_path)
    build = Index.build
    monkeypatch.setattr(wb.Index, "build", lambda data: build(data, encoder=TinyEncoder(), progress=False))
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], names := {})
    assert names["index"].phrased.of("orsby")[0].type == "geo"
    assert exchange.recognise("orsby.graphml") == "graphml"
