"""What is written can be read by others, whatever the names."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny import TinyEncoder, files

from workbench import exchange
from workbench.data import Dataset, Extraction
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError, SettingError
from workbench.exchange.export import xml_text
from workbench.index import Index
from workbench.records import Passage
from workbench.text import table_cell

PROFILES = Profiles(
    (
        EntityProfile("Orsby", "town", "A town.", ("p1", "p5")),
        EntityProfile("ORSBY", "place", "On the Aldra.", ("p1",)),
        EntityProfile("Fog", "weather", "It is no phrase.", ("p8",)),
    ),
    (
        RelationProfile("Orsby", "Nora Whitlock", "She founded it.", ("founding", "a, b"), 2.0, ("p1",)),
        RelationProfile("Nora Whitlock", "Orsby", "She was born there.", ("birth",), 1.0, ("p4",)),
    ),
)


def build(data: Dataset, folder, **options) -> Index:
    return Index.build(data, None, folder, encoder=TinyEncoder(), progress=False, **options)


@pytest.fixture
def profiled(tiny, tmp_path) -> Index:
    return build(replace(tiny, profiles=PROFILES), tmp_path / "index")


# -- any names ------------------------------------------------------------------------------------------------------

# Whatever a program might stumble over: markup, formulas, quotes, separators, what XML cannot hold, other scripts.
LETTERS = "abAB '\"<>&;,=+-@|\\/\t\n\r\0\x0b\x1b\x85\u2028\u202e\ufffe\ufffd\U0001f600é東İß×＝"
hostile = st.text(st.sampled_from(LETTERS), max_size=12)
names = hostile.filter(lambda text: any(map(str.isalnum, text)))
stories = st.lists(
    st.tuples(hostile, hostile, st.lists(st.tuples(names, hostile, names), max_size=4)), min_size=1, max_size=4
)


@given(stories, st.sampled_from(["unicode", "ascii"]))
@example([("=1+1", "</data>]]>&#0;", [("a b", "", "B  A"), ("İ", "a  b", "ß"), ("'=a", "\r", "a\r\nb")])], "ascii")
def test_any_names_are_written(story, rule):
    passages = tuple(Passage(f"p{n} ,\"'", title, text + ".") for n, (title, text, _) in enumerate(story))
    said = tuple(Extraction(p.id, (), tuple(row[2]), "x") for p, row in zip(passages, story))
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"facts": {"normalise": rule}}
        index = build(Dataset("hostile", passages, (), said), f"{folder}/index", settings=chosen)
        graph = nx.read_graphml(exchange.to_graphml(index, f"{folder}/g.graphml"), force_multigraph=True)
        exchange.to_csv(index, f"{folder}/tables")
        with open(f"{folder}/tables/facts.csv", encoding="utf-8", newline="") as file:
            _, *rows = csv.reader(file)
    label = {node: data.get("label", "") for node, data in graph.nodes(data=True)}
    edges = graph.edges(data=True)
    stated = [(label[s], data.get("label", ""), label[t]) for s, t, data in edges if data["kind"] == "relation"]
    assert Counter(stated) == Counter(tuple(map(xml_text, fact)) for fact in index.facts.facts)
    assert [row[:3] for row in rows] == [list(map(table_cell, fact)) for fact in index.facts.facts]


# -- for others ------------------------------------------------------------------------------------------------------


def test_networkx_reads_the_graph(profiled, tmp_path):
    exchange.to_graphml(profiled, tmp_path / "g.graphml")
    graph = nx.read_graphml(tmp_path / "g.graphml")
    counts = profiled.counts()
    assert graph.number_of_nodes() == counts["nodes"] == 18
    kinds = [data["kind"] for *_, data in graph.edges(data=True)]
    assert [kinds.count(kind) for kind in ("relation", "context", "synonym")] == [
        counts["facts"], counts["context_pairs"], counts["synonym_entries_directed"],
    ]  # fmt: skip
    by_label = {data["label"]: (node, data) for node, data in graph.nodes(data=True)}
    orsby, data = by_label["orsby"]
    assert data == {
        "kind": "phrase", "label": "orsby", "type": "place; town", "passages": 4,
        "description": "On the Aldra.\nA town.",
    }  # fmt: skip
    aldra = by_label["river aldra"][0]
    (edge,) = graph[orsby][aldra].values()
    assert edge["label"] == "lies on" and edge["weight"] == 2.0 and json.loads(edge["passages"]) == ["p1", "p5"]
    (edge,) = (e for e in graph[orsby][by_label["nora whitlock"][0]].values() if e["kind"] == "relation")
    assert edge["strength"] == 3.0 and json.loads(edge["keywords"]) == ["birth", "founding", "a, b"]
    passage = by_label["Orsby Harbour Pier"][1]
    assert passage["passage_id"] == "p5" and passage["text"].startswith("It replaced")


def test_texts_may_stay_out_of_the_graph(tiny_index, tmp_path):
    exchange.to_graphml(tiny_index, tmp_path / "g.graphml", text=False)
    assert b"Nothing is known" not in (tmp_path / "g.graphml").read_bytes()


def test_no_spreadsheet_computes_a_cell(tmp_path):
    formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "'=1"]
    passages = tuple(Passage(text + "id", text, text + "x") for text in formulas)
    said = tuple(Extraction(p.id, (), (("a", "b", "c"),), "x") for p in passages)
    index = build(Dataset("formulas", passages, (), said), tmp_path / "index")
    exchange.to_csv(index, tmp_path / "tables")
    for path in (tmp_path / "tables").iterdir():
        with path.open(newline="", encoding="utf-8") as file:
            cells = {cell for row in csv.reader(file) for cell in row}
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t＝")]


def test_what_xml_cannot_hold_is_replaced_and_ids_stay_apart(tmp_path):
    passages = (Passage("a\x00", "T\x1b[2J", "x\ufffe\r\ny"), Passage("b", "", "z"))
    said = tuple(Extraction(p.id, (), (("a", "b", "c"),), "x") for p in passages)
    index = build(Dataset("d", passages, (), said), tmp_path / "index")
    exchange.to_graphml(index, tmp_path / "g.graphml")
    shown = [data for _, data in nx.read_graphml(tmp_path / "g.graphml").nodes(data=True) if data["kind"] == "passage"]
    found = [tuple(one.get(name, "") for name in ("passage_id", "title", "text")) for one in shown]
    assert found == [("a\ufffd", "T\ufffd[2J", "x\ufffd\ny"), ("b", "", "z")]
    passages = (Passage("a\x00", "", "x"), Passage("a\x01", "", "y"))
    said = tuple(Extraction(p.id, (), (), "x") for p in passages)
    index = build(Dataset("d", passages, (), said), tmp_path / "twins")
    with pytest.raises(DataError, match=r"differ only in characters.*export a CSV folder"):
        exchange.to_graphml(index, tmp_path / "twins.graphml")
    assert not (tmp_path / "twins.graphml").exists()


def test_the_same_index_gives_the_same_bytes_and_nothing_else_is_touched(profiled, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    exchange.write(profiled, folder)
    before = files(folder)
    exchange.write(profiled, folder)
    assert files(folder) == before and len(before) == 5


def test_a_failed_export_leaves_the_old_file(tiny_index, tmp_path, monkeypatch):
    path = exchange.to_graphml(tiny_index, tmp_path / "g.graphml")
    before = path.read_bytes()
    monkeypatch.setattr("workbench.exchange.export.edges", lambda index: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        exchange.to_graphml(tiny_index, path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir() if p.suffix == ".part"] == []


def test_an_unknown_format_is_named(tiny_index, tmp_path):
    with pytest.raises(SettingError, match=r"graph.gexf: '.gexf' is not an export format; name a FILE.graphml"):
        exchange.write(tiny_index, tmp_path / "graph.gexf")
