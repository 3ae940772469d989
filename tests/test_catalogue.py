"""What the catalogues list, and how the command line shows them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import workbench as wb
from workbench import measures
from workbench.cli import catalogue
from workbench.cli.app import app
from workbench.measures.definitions import DEFINITIONS
from workbench.methods import METHODS
from workbench.reading import READERS
from workbench.reading.compression import COMPRESSORS
from workbench.registry import KINDS

AT_K = [f"{name}@k" for name in (*measures.RANKING, *measures.JOINT)]
MEASURES = [*AT_K, *measures.ANSWER, *measures.EVIDENCE, *measures.NODES]


@pytest.mark.parametrize(
    ("verb", "registry"),
    [("methods", METHODS), ("readers", READERS), ("compressors", COMPRESSORS), ("measures", MEASURES)],
)
def test_every_entry_of_a_registry_is_listed_once(verb, registry):
    rows = json.loads(CliRunner().invoke(app, [verb, "--json"]).stdout)
    assert sorted(row[verb.removesuffix("s")] for row in rows) == sorted(registry)
    assert all(all(isinstance(text, str) and text for text in row.values()) for row in rows)
    shown = CliRunner().invoke(app, [verb]).stdout
    assert all(name in shown for name in registry)


def test_the_stored_rows_are_those_of_the_registries():
    stale = "stale: python -m workbench.cli.catalogue"
    assert catalogue.STORED.read_text(encoding="utf-8") == catalogue.stored(), stale


def test_the_stored_rows_are_not_used_where_something_is_added(monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "STORED", tmp_path / "stored.json")
    (tmp_path / "stored.json").write_text('{"methods": [{"method": "stored"}]}')
    elsewhere = replace(KINDS["methods"], place="not_loaded:METHODS")
    monkeypatch.setattr(catalogue, "KINDS", {"methods": elsewhere})  # as in a new process
    assert catalogue.rows("methods") == [{"method": "stored"}]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: [group])
    monkeypatch.setitem(catalogue._COMPUTED, "methods", lambda: "computed")
    assert catalogue.rows("methods") == "computed"


@pytest.mark.parametrize("verb", ["methods", "readers", "compressors", "measures", "datasets"])
def test_no_word_is_broken_in_a_narrow_terminal(verb, monkeypatch):
    rows = json.loads(CliRunner().invoke(app, [verb, "--json"]).stdout)
    monkeypatch.setattr("workbench.cli.shell.out", Console(width=80))
    words = set(CliRunner().invoke(app, [verb]).stdout.split())
    keys = ("id", "licence") if verb == "datasets" else rows[0]
    said = {word for row in rows for key in keys for word in str(row[key] or "").split()}
    assert said - words <= {"–"}


def test_what_a_reader_asks_is_what_one_that_is_made_asks(tiny_index):
    asked = {row["reader"]: row["asks"] for row in catalogue.readers()}
    for name in READERS.keys() - {"global"}:  # which would write the reports first
        assert asked[name] == ", ".join(wb.reader(name, index=tiny_index).steps)
    assert asked["global"] == "global_map, global_reduce"


def test_a_measure_is_defined_in_a_line_and_in_the_documents():
    assert sorted(DEFINITIONS) == sorted(MEASURES)
    told = (Path(__file__).parents[1] / "docs" / "measures.md").read_text(encoding="utf-8")
    assert not [name for name in MEASURES if f"`{name}`" not in told]


def test_needs_and_defaults_of_measures():
    rows = {row["measure"]: row for row in catalogue.measures()}
    assert rows["recall@k"]["needs"] == "gold passages" and rows["recall@k"]["by default"] == "yes"
    assert rows["joint@k"]["needs"] == "gold passages and a reader" and rows["joint@k"]["by default"] == "–"
    assert "judge" in rows["accuracy:thesis"]["needs"] and rows["accuracy:thesis"]["by default"] == "–"
