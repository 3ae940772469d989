"""What is written can be read by others, and by us: the same graph comes back, whatever the names."""

from __future__ import annotations

import csv
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import layouts
import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny import TinyEncoder, files

from workbench import exchange
from workbench.data import Dataset, Extraction
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError, SettingError
from workbench.index import Index
from workbench.records import Passage

TARGETS = ("graph.graphml", "tables")
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


# -- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_graph_comes_back(tiny_index, tmp_path, target):
    exchange.write(tiny_index, tmp_path / target)
    data = exchange.read(tmp_path / target)
    assert exchange.recognise(tmp_path / target) == ("csv" if target == "tables" else "graphml")
    assert data.passages == tuple(tiny_index.passages.passages) and data.profiles is None and data.left_out == ()
    again = build(data, tmp_path / "again")
    assert again.graph == tiny_index.graph
    assert again.facts.facts == tiny_index.facts.facts and again.facts.phrases == tiny_index.facts.phrases
    assert all(map(np.array_equal, again.facts.stated, tiny_index.facts.stated))


@pytest.mark.parametrize("kind", sorted(layouts.LAYOUTS))
@pytest.mark.parametrize("target", TARGETS)
def test_what_others_wrote_goes_through_us_and_back(kind, target, tmp_path):
    path = next(iter(layouts.LAYOUTS[kind].values()))(tmp_path / "theirs")
    index = build(exchange.read(path), tmp_path / "index")
    exchange.write(index, tmp_path / target)
    again = build(exchange.read(tmp_path / target), tmp_path / "again")
    assert again.graph == index.graph
    exchange.write(again, tmp_path / "second" / target if target == "tables" else tmp_path / "second.graphml")
    first = files(tmp_path / target) if target == "tables" else (tmp_path / target).read_bytes()
    second = files(tmp_path / "second" / target) if target == "tables" else (tmp_path / "second.graphml").read_bytes()
    assert first == second  # types, descriptions, keywords and weights too


@pytest.mark.parametrize("target", TARGETS)
def test_profiles_come_back_one_for_a_phrase_and_one_for_a_pair(profiled, tmp_path, target):
    exchange.write(profiled, tmp_path / target)
    profiles = exchange.read(tmp_path / target).profiles
    assert profiles.entities == (
        EntityProfile("orsby", "place; town", "On the Aldra.\nA town.", ("p4", "p1", "p5", "p7")),
    )
    assert profiles.relations == (
        RelationProfile(
            "nora whitlock", "orsby", "She was born there.\nShe founded it.", ("birth", "founding", "a, b"), 3.0,
            ("p4", "p1"),
        ),
    )  # fmt: skip


# Whatever a program might stumble over: markup, formulas, quotes, separators, what XML cannot hold, other scripts.
LETTERS = "abAB '\"<>&;,=+-@|\\/\t\n\r\0\x0b\x1b\x85\u2028\u202e\ufffe\ufffd\U0001f600é東İß×＝"
hostile = st.text(st.sampled_from(LETTERS), max_size=12)
names = hostile.filter(lambda text: any(map(str.isalnum, text)))
stories = st.lists(
    st.tuples(hostile, hostile, st.lists(st.tuples(names, hostile, names), max_size=4)), min_size=1, max_size=4
)


@given(stories, st.sampled_from(["unicode", "ascii"]))
@example([("=1+1", "</data>]]>&#0;", [("a b", "", "B  A"), ("İ", "a  b", "ß"), ("'=a", "\r", "a\r\nb")])], "ascii")
def test_any_names_come_back(story, rule):
    passages = tuple(Passage(f"p{n} ,\"'", title, text + ".") for n, (title, text, _) in enumerate(story))
    said = tuple(Extraction(p.id, (), tuple(row[2]), "x") for p, row in zip(passages, story))
    chosen = {"facts": {"normalise": rule}}
    with tempfile.TemporaryDirectory() as folder:
        index = build(Dataset("hostile", passages, (), said), f"{folder}/index", settings=chosen)
        if "" in index.facts.phrase_row:
            return  # the empty phrase is left out, which the next test holds
        for target in TARGETS:
            exchange.write(index, Path(folder, target))
            data = exchange.read(Path(folder, target))
            again = build(data, f"{folder}/again-{target}", settings=chosen)
            assert again.facts.facts == index.facts.facts
            assert again.graph == index.graph
            if target == "tables":
                assert data.passages == passages


@pytest.mark.parametrize("target", TARGETS)
def test_the_empty_phrase_is_left_out_and_counted(tiny, tmp_path, target):
    index = build(tiny, tmp_path / "index", settings={"facts": {"normalise": "ascii"}})
    exchange.write(index, tmp_path / target)
    data = exchange.read(tmp_path / target)
    assert data.left_out == ("1 relation without a name at one end", "1 entity without a name")


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
    assert exchange.read(tmp_path / "tables").passages == passages


def test_what_xml_cannot_hold_is_replaced_and_ids_stay_apart(tmp_path):
    passages = (Passage("a\x00", "T\x1b[2J", "x\ufffe\r\ny"), Passage("b", "", "z"))
    said = tuple(Extraction(p.id, (), (("a", "b", "c"),), "x") for p in passages)
    index = build(Dataset("d", passages, (), said), tmp_path / "index")
    exchange.to_graphml(index, tmp_path / "g.graphml")
    data = exchange.read(tmp_path / "g.graphml")
    assert data.passages == (Passage("a\ufffd", "T\ufffd[2J", "x\ufffd\r\ny"), Passage("b", "", "z"))
    assert [record.triples for record in data.extractions] == [(("a", "b", "c"),)] * 2
    passages = (Passage("a\x00", "", "x"), Passage("a\x01", "", "y"))
    said = tuple(Extraction(p.id, (), (), "x") for p in passages)
    index = build(Dataset("d", passages, (), said), tmp_path / "twins")
    with pytest.raises(DataError, match=r"differ only in characters.*export a CSV folder"):
        exchange.to_graphml(index, tmp_path / "twins.graphml")
    assert not (tmp_path / "twins.graphml").exists()
    exchange.write(index, tmp_path / "tables")
    assert exchange.read(tmp_path / "tables").passages == passages


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
    with pytest.raises(SettingError, match=r"graph.gexf: '.gexf' is no format to export to; name a FILE.graphml"):
        exchange.write(tiny_index, tmp_path / "graph.gexf")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("passages.csv", "id,title,text", "id,title", r"passages.csv has no column 'text'"),
        ("edges.csv", '""p1""', '""p99""', r"edges.csv, row .* names the passage 'p99', which is not there"),
        ("edges.csv", '[""p3""]', "p3", r"neither JSON nor a Python list"),
        ("nodes.csv", "e0,", "e99,", r"edges.csv, row 2: there is no node 'e0'"),
    ],
)
def test_a_spoilt_export_is_named(tiny_index, tmp_path, name, old, new, said):
    exchange.write(tiny_index, tmp_path / "tables")
    path = tmp_path / "tables" / name
    path.write_text(path.read_text().replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        exchange.read(tmp_path / "tables")


def test_a_passage_may_be_taken_out_of_an_export(profiled, tmp_path):
    exchange.write(profiled, tmp_path / "tables")
    path = tmp_path / "tables" / "passages.csv"
    path.write_text("".join(line for line in path.open(encoding="utf-8") if not line.startswith("p1,")), "utf-8")
    data = exchange.read(tmp_path / "tables", strict=False)
    assert build(data, tmp_path / "again").graph.passages == 7
    assert data.profiles.relations[0].passages == ("p4",)
