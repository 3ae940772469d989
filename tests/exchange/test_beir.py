"""BEIR folders and TREC qrels as data sets: read as BEIR's own loader and ir_measures read them, and refused with file
and line where they are damaged."""

from __future__ import annotations

import json

import ir_measures
import pytest
from tiny import TinyEncoder

import workbench as wb
from workbench import exchange
from workbench.errors import DataError, SettingError
from workbench.records import Passage, Question

CORPUS = [
    {"_id": "d1", "title": "Orsby", "text": "Orsby lies on the Aldra.", "metadata": {}},
    {"_id": "d 2", "title": "", "text": "The Aldra flows into Lake Mira."},
    {"_id": "d3", "title": "", "text": ""},
    {"_id": "d4", "title": "Fog", "text": ""},
]
QUERIES = [{"_id": "q1", "text": "Where is Orsby?"}, {"_id": "q2", "text": "Which lake?"}, {"_id": "q3", "text": "?"}]
HEADER = "query-id\tcorpus-id\tscore\n"
TEST = "q2\td 2\t2\nq2\td1\t1\nq1\td4\t0\n"
PASSAGES = (
    Passage("d1", "Orsby", "Orsby lies on the Aldra."),
    Passage("d 2", "", "The Aldra flows into Lake Mira."),
    Passage("d4", "Fog", ""),
)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", CORPUS), ("queries", QUERIES)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels" / "test.tsv").write_text(HEADER + TEST)
    (folder / "qrels" / "dev.tsv").write_text(HEADER + "q3\td1\t1\n")
    return folder


def test_the_test_split_is_a_data_set(folder):
    data = wb.load(folder)
    assert (data.name, data.passages) == ("scifact", PASSAGES)
    assert data.questions == (Question("q1", "Where is Orsby?"), Question("q2", "Which lake?", support=("d 2", "d1")))
    assert data.origin.settings == {"split": "test"}
    assert data.origin.notes == (
        "1 passage without title and text: left out",
        "1 query that test.tsv does not judge: left out",
    )


def test_gold_is_what_ir_measures_reads(folder):
    (folder / "qrels" / "test.trec").write_text("q2 0 d1 3\nq2 0 d4 0\nq1 0 d4 -1\nq3 Q0 d1 1\n")
    (folder / "qrels" / "test.trec").rename(folder / "qrels" / "train.txt")
    judged = [one for one in ir_measures.read_trec_qrels(str(folder / "qrels" / "train.txt")) if one.relevance > 0]
    data = wb.load(folder, split="train")
    assert {(one.id, passage) for one in data.questions for passage in one.support} == {
        (one.query_id, one.doc_id) for one in judged
    }
    assert [one.id for one in data.questions] == ["q1", "q2", "q3"]


def test_splits(folder):
    assert [one.id for one in wb.load(folder, split="dev").questions] == ["q3"]
    with pytest.raises(DataError, match=r"no judgements of the split 'train' .*; it has dev, test; name one"):
        wb.load(folder, split="train")
    with pytest.raises(SettingError, match="beir has no option 'size'; it has split, strict"):
        wb.load(folder, size=100)
    (folder / "qrels" / "test.tsv").unlink()
    assert wb.load(folder).origin.settings == {"split": "dev"}, "the only one"
    (folder / "qrels" / "train.tsv").write_text(HEADER)
    with pytest.raises(DataError, match="no judgements of the split 'test'"):
        wb.load(folder)


def test_a_single_file_of_judgements_and_none(folder):
    for name in ("test", "dev"):
        (folder / "qrels" / f"{name}.tsv").unlink()
    assert [one.support for one in wb.load(folder).questions] == [(), (), ()]
    with pytest.raises(DataError, match="it has none at all"):
        wb.load(folder, split="test")
    (folder / "qrels.txt").write_text("q1 0 d1 1\n")
    assert wb.load(folder).questions == (Question("q1", "Where is Orsby?", support=("d1",)),)


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("corpus.jsonl", '{"_id": "d1", "text": "again"}', "line 5: the passage _id 'd1' is already in .*line 1"),
        ("corpus.jsonl", '{"title": "no id", "text": "x"}', "line 5: '_id' is missing"),
        ("corpus.jsonl", '{"_id": 7, "text": "x"}', "line 5: '_id' is 7; it should be a string"),
        ("corpus.jsonl", "{", "line 5 is not JSON"),
        ("queries.jsonl", '{"_id": "q1", "text": "again"}', "line 4: the query _id 'q1' is already in .*line 1"),
        ("queries.jsonl", '{"_id": "q9", "text": " "}', "line 4: query 'q9' is empty"),
        ("queries.jsonl", '{"_id": "q9"}', "line 4: 'text' is missing"),
        ("qrels/test.tsv", "q2\td1\t1", r"line 5: .*\[\"q2\", \"d1\"\]. is already in .*line 3"),
        ("qrels/test.tsv", "q9\td1\t1", "line 5: the query 'q9' is not in queries.jsonl"),
        ("qrels/test.tsv", "q1\td9\t1", "line 5: the passage 'd9' is not in corpus.jsonl"),
        ("qrels/test.tsv", "q1\td3\t1", "line 5: the passage 'd3' is not in corpus.jsonl, or has no text there"),
        ("qrels/test.tsv", "q1\td1\tyes", "line 5: the relevance 'yes' should be a whole number"),
        ("qrels/test.tsv", "q1\td1", "line 5 has 2 fields, where 3 are expected: query-id corpus-id score"),
    ],
)
def test_what_is_damaged_is_named_with_file_and_line(folder, file, line, message):
    with (folder / file).open("a") as lines:
        lines.write(line + "\n")
    with pytest.raises(DataError, match=message) as error:
        wb.load(folder)
    assert str(error.value).startswith(str(folder / file))


def test_unknown_ids_are_dropped_and_counted_if_that_is_asked_for(folder):
    with (folder / "qrels" / "test.tsv").open("a") as lines:
        lines.write("q9\td1\t1\nq1\td9\t1\nq1\td8\t0\n")
    data = exchange.read(folder, strict=False)
    assert [one.support for one in data.questions] == [(), ("d 2", "d1")]
    assert "2 judgements of unknown passages or queries: left out" in data.origin.notes


def test_it_is_indexed_and_evaluated_from_the_command_line(folder, workbench, tmp_path, monkeypatch):
    index = wb.Index.build(folder, wb.engine("rules"), tmp_path / "index", encoder=TinyEncoder(), progress=False)
    assert [passage.id for passage in index.passages.passages] == ["d1", "d 2", "d4"]
    monkeypatch.setattr("workbench.cli.opening.index", lambda *given: index)
    workbench("evaluate", index.folder, "-q", folder, "-m", "dense", "--out", tmp_path / "run")
    run = wb.Run(tmp_path / "run")
    assert [one.support for one in run.questions] == [(), ("d 2", "d1")] and len(run.rows) == 2
    smaller = index.delete(["d1"], wb.engine("rules"), progress=False)
    monkeypatch.setattr("workbench.cli.opening.index", lambda *given: smaller)
    told = workbench("evaluate", index.folder, "-q", folder, "-m", "dense", code=1).stderr
    assert "the gold passage 'd1' is not in" in " ".join(told.split())
