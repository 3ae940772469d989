"""Damaged, foreign and hostile files: each complaint names the file and what to do, and nothing is evaluated."""

from __future__ import annotations

import csv
import json

import layouts
import pytest
from layouts import write

from workbench import exchange
from workbench.errors import DataError
from workbench.exchange.files import listed, literal, read_csv

OPENIE, CHUNKS = "openie_results_ner_gpt-4o-mini.json", "kv_store_text_chunks.json"
GRAPH, YOUTU = "graph_chunk_entity_relation.graphml", "output/graphs/tales_new.json"
STAGE, TALES = "processed/stage1/", "output/chunks/tales.txt"
NODES, EDGES, HEAD = STAGE + "nodes.csv", STAGE + "edges.csv", b"name,type,attributes\n"
DOC = {"idx": "a", "passage": "t\nx", "extracted_entities": ["e"], "extracted_triples": [["a", "b", "c"]]}
EDGE = layouts.youtu_edges()[0]
BOMB = '<!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><graphml><graph/></graphml>'
LOOSE = layouts.graphml({"a": {}}, [("a", "b", {})])


def openie(*docs) -> bytes:
    return json.dumps({"docs": docs}).encode()


@pytest.mark.parametrize(
    ("layout", "name", "content", "said"),
    [
        (layouts.hipporag2, OPENIE, b'{"docs": [', r"is not JSON.*copy it again"),
        (layouts.hipporag2, OPENIE, b'{"docs": "\xff"}', r"not UTF-8 \(invalid start byte at byte 10\); save"),
        (layouts.hipporag2, OPENIE, b"[]", r"json is a JSON list, not a dict; is the file of another format"),
        (layouts.hipporag2, OPENIE, b'{"passages": []}', r"'docs' is missing; there is passages"),
        (layouts.hipporag2, OPENIE, openie(), r"holds no passage"),
        (layouts.hipporag2, OPENIE, openie({**DOC, "passage": 7}), r"document 1: 'passage': 7 should be a string"),
        (layouts.hipporag2, OPENIE, openie({**DOC, "extracted_triples": "[]"}), r"'extracted_triples': .*be a list"),
        (layouts.hipporag2, OPENIE, openie(DOC, DOC), r"document 2: the passage id 'a' occurs twice"),
        (layouts.hipporag2, OPENIE, openie({**DOC, "passage": " \n "}), r"passage 'a' is empty; give it a text"),
        (layouts.hipporag2, OPENIE, openie({**DOC, "extracted_entities": ["x" * 10_001]}), r"name of 10,001 char"),
        (layouts.lightrag, CHUNKS, b"{}", r"node 1 names the passage 'chunk-1', which is missing"),
        (layouts.lightrag, CHUNKS, None, r"kv_store_text_chunks.json cannot be read.*give the folder that holds it"),
        (layouts.lightrag, GRAPH, b"<graphml><graph>", r"is not XML.*copy it again"),
        (layouts.lightrag, GRAPH, BOMB.encode(), r"declares a DTD or entities.*remove the declaration"),
        (layouts.lightrag, GRAPH, LOOSE.encode(), r"edge 1: there is no node 'b'"),
        (layouts.gfmrag1, STAGE + "test.json", b'[{"question": "x", "answer": true}]', r"\[True\] should be a list"),
        (
            layouts.gfmrag1, STAGE + "test.json", b'[{"question": "x", "supporting_facts": ["Nowhere"]}]',
            r"question 1 names the passage 'Nowhere', which is missing",
        ),
        (
            layouts.gfmrag1, STAGE + "test.json", b'[{"id": 1, "question": "x"}, {"id": 1, "question": "y"}]',
            r"question 2: the question id '1' occurs twice",
        ),
        (layouts.gfmrag2, NODES, b"", r"nodes.csv is empty; its first line should name.*type, attributes"),
        (layouts.gfmrag2, NODES, b"name,kind\n", r"has no column 'type'; it has name, kind: is it of"),
        (layouts.gfmrag2, NODES, HEAD + b"a,b\n", r"row 2 has 2 fields and the header 3"),
        (layouts.gfmrag2, NODES, HEAD + b'"a"b,c,d\n', r"is not CSV.*write it again"),
        (layouts.gfmrag2, NODES, HEAD + b"a,b,\na,b,\n", r"row 3: the node 'a' occurs twice"),
        (layouts.gfmrag2, NODES, HEAD + b"a,b,open('x')\n", r"neither JSON nor a Python"),
        (layouts.gfmrag2, NODES, HEAD + b"a,document,\n", r"the document 'a' has no text"),
        (layouts.gfmrag2, EDGES, b"source,relation,target\norsby,is,x\n", r"there is no node 'x' in nodes"),
        (layouts.youtu, YOUTU, json.dumps([{"start_node": EDGE["start_node"]}]).encode(), r"'end_node' is missing"),
        (layouts.youtu, TALES, b"one\ntwo", r"line 1 should begin a chunk.*is this the file of chunks"),
    ],
)  # fmt: skip
def test_a_spoilt_file_is_named_with_what_to_do(tmp_path, layout, name, content, said):
    layout(tmp_path)
    path = tmp_path / name
    path.unlink() if content is None else path.write_bytes(content)
    kind = next(k for k, versions in layouts.LAYOUTS.items() if layout in versions.values() or k in layout.__name__)
    with pytest.raises(DataError, match=said) as error:
        exchange.read(tmp_path, kind)
    assert str(tmp_path) in str(error.value)
    assert len(str(error.value)) < 1_000


def test_names_of_any_kind_are_taken_as_text(tmp_path):
    """Markup, control characters, half characters, directions: they come over as they are, and act nowhere."""
    names = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a\x00b", "\u202eevil", "\ud800", "東京", "x" * 10_000]
    doc = {**DOC, "extracted_entities": names, "extracted_triples": [[name, "is", "a name"] for name in names]}
    data = exchange.read(write(tmp_path / OPENIE, json.dumps({"docs": [doc]})))
    expected = tuple(name.replace("\ud800", "\ufffd") for name in names)
    assert data.extractions[0].entities == expected
    assert tuple(triple[0] for triple in data.extractions[0].triples) == expected
    assert "<script>" not in data._repr_html_() + data.extractions[0]._repr_html_()


def test_a_field_may_be_longer_than_the_csv_modules_limit_which_stays_as_it_was(tmp_path):
    before = csv.field_size_limit()
    path = write(tmp_path / "x.csv", "a,b\n" + "x" * 200_000 + ",y\n")
    ((_, row),) = read_csv(path, "a")
    assert len(row["a"]) == 200_000 and csv.field_size_limit() == before == 131_072


@pytest.mark.parametrize("text", ["1" * (1 << 20) + "1", "__import__('os')", "[" * 10_000, "{", "x", "[1,", "(" * 500])
def test_a_list_in_a_string_is_never_more_than_constants(text):
    with pytest.raises(DataError, match="here"):
        literal(text, "here")


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        (None, ()), ("", ()), ([], ()), ("a, b,a", ("a", "b")), ('["a", "b"]', ("a", "b")), ("['a']", ("a",)),
        (["a", 1, None, " "], ("a", "1")),
    ],
)  # fmt: skip
def test_ids_in_any_shape(value, ids):
    assert listed(value, "here") == ids
