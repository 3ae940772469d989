"""What is written as a folder is read back as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data import Dataset, Extraction, load, write_folder
from workbench.data.graph import EntityType, Relation, Schema
from workbench.data.origin import Origin, SourceFile
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.records import Passage, Question, Triple

PASSAGE = Passage("p1", "Orsby", "A town\u2028on the Quell.\t日本")
ORIGIN = Origin("documents", {"size": 120}, (SourceFile("a.txt", "ab" * 32, "x"),), (("b.txt", "empty"),), ("a note",))


def back(data: Dataset, folder) -> Dataset:
    return replace(load(write_folder(data, folder)), name=data.name, folder=data.folder)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {
            "questions": (
                Question("q1", "Where?", ("a", "b"), "bridge", 2, ("p1",), ({"id": "1", "support": None},), True),
            )
        },
        {"extractions": ()},
        {"extractions": (Extraction("p1", ("Orsby",), (("Orsby", "on", "Quell"),), "openie.jsonl (m)"),)},
        {"extractions": (Extraction("p1", (), (), "openie.jsonl"),)},
        {"triples": (Triple("Orsby", "on", "Quell"),)},
        {"schema": Schema((EntityType("town", "A town."),), (Relation("on", "", (), ()),), description="Towns.")},
        {"origin": ORIGIN},
        {
            "profiles": Profiles(
                (EntityProfile("Orsby", "town", "x", ("p1",)),), (RelationProfile("a", "b", "", ("k",), 1.5, (), "on"),)
            ),
            "left_out": ("two reports",),
        },
    ],
)
def test_each_part_comes_back(tmp_path, more):
    data = Dataset("mine", (PASSAGE,), **more)
    assert back(data, tmp_path / "out") == data


def test_the_bundled_corpus_with_its_gold_graph_comes_back(tmp_path):
    data = load("meridian")
    assert back(data, tmp_path / "out") == data


def test_a_graph_without_a_corpus_comes_back(tmp_path):
    question = Question("q1", "who?", ("Mira", "Jon"), "film_to_person", 1, answer_set=True)
    data = Dataset(
        "films", (), (question, replace(question, id="q2", answer_set=False)), triples=(Triple("a", "b", "c"),)
    )
    assert back(data, tmp_path / "out") == data
    assert not (tmp_path / "out" / "corpus.jsonl").exists()


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5), st.text())
def test_any_text_comes_back(tmp_path_factory, texts, title):
    data = Dataset("any", tuple(Passage(f"p{n}", title, text) for n, text in enumerate(texts)))
    assert back(data, tmp_path_factory.mktemp("any") / "out") == data


def test_half_characters_become_what_a_file_can_hold(tmp_path):
    data = Dataset("any", (Passage("p\ud800", "", "x\udfff"),), origin=Origin("\ud800"))
    assert back(data, tmp_path / "out").passages == (Passage("p\ufffd", "", "x\ufffd"),)


def test_an_extraction_that_failed_is_tried_again_later(tmp_path):
    good = Extraction("p1", ("a",), (), "openie.jsonl")
    data = Dataset(
        "x", (PASSAGE, replace(PASSAGE, id="p2")), extractions=(good, replace(good, passage_id="p2", failure="!"))
    )
    assert back(data, tmp_path / "out").extractions == (good,)


def test_nothing_is_overwritten(tmp_path):
    data = Dataset("x", (PASSAGE,))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for folder in (tmp_path / "full", tmp_path / "full" / "file"):
        with pytest.raises(DataError, match="exists already; choose a new folder"):
            write_folder(data, folder)
    (tmp_path / "empty").mkdir()
    assert load(write_folder(data, tmp_path / "empty")).passages == data.passages


def test_a_triple_that_no_table_can_hold_is_refused_and_leaves_no_folder(tmp_path):
    with pytest.raises(DataError, match="has a tab or a line break"):
        write_folder(Dataset("x", (PASSAGE,), triples=(Triple("a\tb", "c", "d"),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_begins_with_a_byte_order_mark_keeps_it(tmp_path):
    triples = (Triple("\ufeffOrsby", "lies on", "Aldra"), Triple("Nora", "born in", "\ufeffOrsby"))
    assert back(Dataset("x", (PASSAGE,), triples=triples), tmp_path / "out").triples == triples


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("triples.tsv", b"a\tb\n", "line 1: 'a.tb' should be head, relation and tail"),
        ("triples.tsv", b"a\tb\tc\td\n", "line 1"),
        ("triples.tsv", b"a\t\tc\n", "line 1"),
        ("triples.tsv", b"a\tb\tc\n\na\tb\tc\n", "line 3: the triple is already in line 1"),
        ("triples.tsv", b"a\tb\t\xff\n", "line 1 is not UTF-8"),
        ("origin.json", b"{}", "'source' is missing"),
        ("origin.json", b"[", "is not JSON"),
        ("profiles.json", b'{"entities": [{"name": 5}]}', "entities 1: 'name' is 5; it should be a string"),
        ("profiles.json", b'{"entities": [{"name": "a", "passages": "p"}]}', "entities 1: 'passages' is 'p'"),
        ("profiles.json", b'{"entities": [{"name": "a", "passages": ["p9"]}]}', "'p9' is not in the corpus"),
        ("profiles.json", b'{"relations": [{"source": "a", "target": "b", "weight": NaN}]}', "relations 1: 'weight'"),
        ("origin.json", b'{"source": "x", "skipped": ["ab"]}', "'ab' in 'skipped' should be a list of two strings"),
        ("origin.json", b'{"source": "x", "files": [{"name": 1}]}', "files 1: 'name' is 1; it should be a string"),
        ("profiles.json", b'{"entities": [3], "relations": []}', "'entities' is .3.; it should be a list"),
    ],
)
def test_files_beside_a_corpus_that_are_damaged_are_named(tmp_path, name, content, said):
    write_folder(Dataset("x", (PASSAGE,)), tmp_path / "x")
    (tmp_path / "x" / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        load(tmp_path / "x")


def test_questions_on_a_bare_graph_are_answered_by_sets_and_named_by_their_hops(tmp_path):
    (tmp_path / "triples.tsv").write_bytes("\ufeffRed Sea\tdirected_by\tMira\r\n".encode())
    row = (
        '{"id": "q1", "question": "who?", "topic_entity": "Red Sea", "answers": ["Mira"], "qtype": "movie_to_director"}'
    )
    (tmp_path / "questions_2hop.jsonl").write_text(row + "\n")
    data = load(tmp_path)
    assert data.triples == (Triple("Red Sea", "directed_by", "Mira"),)
    asked = Question("q1", "who?", ("Mira",), "movie_to_director", 2, answer_set=True, start=("Red Sea",))
    assert data.questions == (asked,)
    assert back(data, tmp_path / "out") == data
