"""Reading a data folder: what is right is read, what would spoil a number is refused with file, line and remedy."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.data import BUNDLED, load
from workbench.data.folder import Extraction, read_folder
from workbench.errors import DataError
from workbench.records import Passage, Question, Triple

CORPUS = [{"id": "p1", "title": "Orsby", "text": "A town."}, {"id": "p2", "title": "Quell", "text": "An island."}]
QUESTION = {"id": "q1", "question": "Where?", "answers": ["Orsby", "the town"], "support": ["p1"]}
DEEP = json.loads("[" * 400 + "]" * 400)  # json reads it, what copies a record does not
OPENIE = {"passage_id": "p1", "entities": ["Orsby"], "triples": [["Orsby", "is", "town"]], "model": "m"}


def lines(*rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.fixture
def folder(tmp_path) -> Path:
    """A good folder; a test spoils one file of it."""
    (tmp_path / "corpus.jsonl").write_bytes(lines(*CORPUS))
    (tmp_path / "questions.jsonl").write_bytes(lines(QUESTION))
    (tmp_path / "openie.jsonl").write_bytes(lines(OPENIE))
    return tmp_path


def test_a_question_is_found_by_id_or_text_and_any_other_is_ones_own(folder):
    data = load(folder)
    assert data.question("q1") is data.questions[0] is data.question("Where?")
    assert data.question("Who?") == Question("own", "Who?")
    assert data.question() is data.questions[0]
    assert replace(data, questions=()).question() == Question("own", "What is Orsby?")
    triples = replace(data, questions=(), passages=(), triples=(Triple("Skarne", "lies in", "Meridian"),))
    assert triples.question() == Question("own", "What is Skarne?")


def test_a_good_folder_is_read_as_it_stands(folder):
    data = load(folder)
    assert data.name == folder.name and data.folder == folder
    assert data.passages == (Passage("p1", "Orsby", "A town."), Passage("p2", "Quell", "An island."))
    assert data.questions == (Question("q1", "Where?", ("Orsby", "the town"), support=("p1",)),)
    assert data.extractions == (Extraction("p1", ("Orsby",), (("Orsby", "is", "town"),), "openie.jsonl (m)"),)
    assert data.passage("p2").title == "Quell"


def test_every_field_of_a_question_is_read(folder):
    hop = {"question": "Which town?", "answer": "Orsby", "support": "p1"}
    row = {**QUESTION, "type": "bridge", "hops": 2, "decomposition": [hop], "answer_set": True}
    (folder / "questions.jsonl").write_bytes(lines(row))
    assert load(folder).questions == (
        Question("q1", "Where?", ("Orsby", "the town"), "bridge", 2, ("p1",), (hop,), answer_set=True),
    )


def test_what_may_be_left_out(folder):
    (folder / "corpus.jsonl").write_bytes(lines({"id": "p1", "text": "Untitled."}))
    (folder / "questions.jsonl").write_bytes(lines({"question": "First?"}, {"question": "Second?", "answer": "yes"}))
    (folder / "openie.jsonl").unlink()
    data = load(folder)
    assert data.passages[0].content == "Untitled."
    assert [(q.id, q.answers) for q in data.questions] == [("questions-1", ()), ("questions-2", ("yes",))]
    assert data.extractions is None


def test_a_byte_order_mark_blank_lines_and_foreign_line_ends_are_accepted(folder):
    (folder / "corpus.jsonl").write_bytes(b"\xef\xbb\xbf" + lines(*CORPUS).replace(b"\n", b"\r\n\r\n"))
    assert [passage.id for passage in load(folder).passages] == ["p1", "p2"]


def test_half_characters_are_replaced_everywhere_alike(folder):
    """Ids stay equal to the ids that refer to them, and every text can be written to a file."""
    bad = b'"p\\ud800"'
    for name in ("corpus", "questions", "openie"):
        path = folder / f"{name}.jsonl"
        path.write_bytes(path.read_bytes().replace(b'"p1"', bad).replace(b"Orsby", b"\\ud800"))
    data = load(folder)
    assert data.passages[0].id == data.questions[0].support[0] == data.extractions[0].passage_id == "p\ufffd"
    assert data.questions[0].answers[0] == data.extractions[0].entities[0] == data.passages[0].title == "\ufffd"


@pytest.mark.parametrize(
    ("name", "content", "line", "said"),
    [
        ("corpus", b'{"id": "p1", "text": "\xff"}\n', 1, "not UTF-8.*save the file as UTF-8"),
        ("corpus", lines(CORPUS[0]) + b"{id: 1}\n", 2, "not JSON.*one JSON object"),
        ("corpus", b'\n["p1"]\n', 2, "JSON list.*one JSON object"),
        ("corpus", lines({"title": "t", "text": "x"}), 1, "'id' is missing; the line has title, text"),
        ("corpus", lines({"id": 7, "text": "x"}), 1, "'id' is 7; it should be a string"),
        ("corpus", lines({"id": "p1", "title": " ", "text": "\n"}), 1, "'p1' is empty; give it a text or leave"),
        ("corpus", lines(*CORPUS, CORPUS[0]), 3, "passage id 'p1' is already in .*line 1; ids must be unique"),
        ("questions", lines(QUESTION, QUESTION), 2, "question id 'q1' is already in .*line 1"),
        ("questions", lines({"id": "q1"}), 1, "'question' is missing"),
        ("questions", lines({**QUESTION, "support": ["p1", "p9"]}), 1, "'p9' is not in the corpus.*correct 'support'"),
        ("questions", lines({**QUESTION, "support": "p1"}), 1, "'support' is 'p1'; it should be a list of strings"),
        ("questions", lines({**QUESTION, "answers": [1889]}), 1, "'answers' .*list of strings"),
        ("questions", lines({**QUESTION, "hops": "2"}), 1, "'hops' is '2'; it should be a whole number"),
        ("questions", lines({**QUESTION, "answer_set": "false"}), 1, "'answer_set' .*true or false"),
        ("openie", lines({**OPENIE, "passage_id": "p9"}), 1, "'p9' is not in the corpus; remove the line or add"),
        ("openie", lines({**OPENIE, "triples": [["a", "b"]]}), 1, r"\['a', 'b'\] is not a triple.*three strings"),
        ("openie", lines({**OPENIE, "entities": [{"name": "Orsby"}]}), 1, "'entities' .*should be a list of strings"),
        ("questions", lines({**QUESTION, "decomposition": [{"a": DEEP}]}), 1, "nested more than 50 deep; make it"),
    ],
)
def test_an_error_names_file_line_and_remedy(folder, name, content, line, said):
    path = folder / f"{name}.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as error:
        read_folder(folder)
    assert str(error.value).startswith(f"{path}, line {line}")


def test_a_message_quotes_the_beginning_of_something_huge(folder):
    huge = {"id": "p" * 1_000_000, "title": "", "text": "x"}
    spoilt = ("corpus", [huge, huge]), ("corpus", [{**huge, "text": ""}]), ("openie", [{"passage_id": huge["id"]}])
    for name, rows in spoilt:
        before = (folder / f"{name}.jsonl").read_bytes()
        (folder / f"{name}.jsonl").write_bytes(lines(*rows))
        with pytest.raises(DataError) as error:
            read_folder(folder)
        assert len(str(error.value)) < 1_000
        (folder / f"{name}.jsonl").write_bytes(before)


@pytest.mark.parametrize(
    ("name", "put"), [("corpus.jsonl", os.mkfifo), ("triples.tsv", os.mkdir), ("origin.json", os.mkfifo)]
)
def test_a_pipe_or_a_folder_in_place_of_a_file_is_named(folder, name, put):
    (folder / name).unlink(missing_ok=True)
    put(folder / name)
    with pytest.raises(DataError, match="is not a regular file") as error:
        read_folder(folder)
    assert str(folder / name) in str(error.value)


def test_question_ids_are_unique_over_all_files(folder):
    (folder / "questions-2.jsonl").write_bytes(lines(QUESTION))
    with pytest.raises(DataError, match=r"questions.jsonl, line 1: .*'q1' is already in .*questions-2.jsonl, line 1"):
        load(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "docs/data.md for what a data folder holds"), (b"\n", "contains no passages; each line should be")],
)
def test_there_must_be_a_corpus(folder, content, said):
    (folder / "corpus.jsonl").unlink() if content is None else (folder / "corpus.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=said) as error:
        read_folder(folder)
    assert str(folder / "corpus.jsonl") in str(error.value)


def test_questions_alone_are_no_data_set(folder):
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(DataError, match=r"a folder needs a corpus\.jsonl .*, a triples\.tsv, or documents"):
        load(folder)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_set_loads_from_any_working_directory(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = load(name)
    ids = {passage.id for passage in data.passages}
    assert data.name == name and len(ids) > 20 and data.questions
    assert all(set(question.support) <= ids for question in data.questions)


def test_the_fingerprint_depends_on_ids_titles_texts_and_order(tiny):
    first, *rest = tiny.passages
    others = [
        (replace(first, id="x"), *rest),
        (replace(first, title="x"), *rest),
        (replace(first, text="x"), *rest),
        (replace(first, title="", text=first.content), *rest),
        (*rest, first),
        tuple(rest),
    ]
    prints = [replace(tiny, passages=passages).fingerprint for passages in (tiny.passages, *others)]
    assert len(set(prints)) == len(prints)


@pytest.mark.parametrize("name", ["musique-dev-500", "hotpotqa-train-100", "2wikimultihopqa-6119", "musique-train-100"])
def test_the_shared_benchmarks_hold_what_their_manifest_says(shared, name):
    data = load(shared / "datasets" / name)
    said = json.loads((shared / "datasets" / "manifest.json").read_text())[name]
    assert len(data.passages) == said["passages"]
    assert len(data.questions) == said["questions"]
    assert sum(bool(question.support) for question in data.questions) == said["with_support"]
    assert Counter(question.type for question in data.questions) == said["types"]
    assert Counter(str(question.hops) for question in data.questions) == said["hops"]
