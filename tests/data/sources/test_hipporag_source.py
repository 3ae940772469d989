"""HippoRAG's layout, field by field, on small files of invented content."""

from __future__ import annotations

import hashlib
import json

import pytest

from workbench.data import load
from workbench.data.folder import Extraction
from workbench.data.sources.hipporag import read
from workbench.errors import DataError
from workbench.records import Passage, Question


def identifier(prefix: str, title: str, text: str) -> str:
    return prefix + "-" + hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:12]


def write(folder, **files):
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


ORSBY, QUELL = ("Orsby", "A town on the Quell."), ("Quell", "A river in Vell.")
CORPUS = [{"title": title, "text": text} for title, text in (ORSBY, QUELL, ORSBY)]


def test_musique(tmp_path):
    paragraphs = [
        {"idx": 0, "title": "Orsby", "paragraph_text": "A town on the Quell.", "is_supporting": True},
        {"idx": 1, "title": "Other", "paragraph_text": "Nothing.", "is_supporting": False},
        {"idx": 2, "title": "Quell", "paragraph_text": " A river in Vell. ", "is_supporting": True},
    ]
    steps = [
        {"id": 11, "question": "On which river is Orsby?", "answer": "Quell", "paragraph_support_idx": 0},
        {"id": 12, "question": "Where is #1 ?", "answer": "Vell", "paragraph_support_idx": 2},
    ]
    row = {
        "id": "2hop__11_12", "question": "Where is Orsby's river?", "answer": "Vell",
        "answer_aliases": ["the Vell", "Vell"],
        "answerable": True, "paragraphs": paragraphs, "question_decomposition": steps,
    }  # fmt: skip
    found = read(write(tmp_path, musique_corpus=CORPUS, musique=[row]))
    orsby, quell = identifier("mq", *ORSBY), identifier("mq", *QUELL)
    assert found.passages == (Passage(orsby, *ORSBY), Passage(quell, *QUELL)) and found.repeated == 1
    assert found.questions == (
        Question(
            "2hop__11_12", "Where is Orsby's river?", ("Vell", "the Vell"), "2hop", 2, (orsby, quell),
            (
                {"id": "11", "question": "On which river is Orsby?", "answer": "Quell", "support": orsby},
                {"id": "12", "question": "Where is #1 ?", "answer": "Vell", "support": quell},
            ),
        ),
    )  # fmt: skip


HOTPOT = {
    "_id": "5a77", "question": "Which is older?", "answer": "Orsby & Co.", "type": "comparison", "level": "easy",
    "supporting_facts": [["Quell", 0], ["Orsby &amp; Co.", 1], ["Quell", 1]],
    "context": [["Orsby &amp; Co.", ["A firm.", " It sells rope."]], ["Other", ["x"]], ["Quell", ["A river."]]],
}  # fmt: skip


@pytest.mark.parametrize(
    "corpus",
    [
        {"Orsby &amp; Co.": ["A firm.", " It sells rope."], "Quell": ["A river."]},
        [{"title": "Orsby & Co.", "text": "A firm. It sells rope."}, {"title": "Quell", "text": "A river."}],
    ],
)
def test_hotpotqa_in_both_its_corpus_layouts(tmp_path, corpus):
    found = read(write(tmp_path, hotpotqa_train_corpus=corpus, hotpotqa_train=[HOTPOT]))
    firm, river = ("Orsby & Co.", "A firm. It sells rope."), ("Quell", "A river.")
    assert [(p.title, p.text) for p in found.passages] == [firm, river]
    assert found.questions == (
        Question(
            "5a77", "Which is older?", ("Orsby & Co.",), "comparison", 2,
            (identifier("hp", *river), identifier("hp", *firm)),
        ),
    )  # fmt: skip


def test_a_supporting_title_without_its_text_leaves_no_support(tmp_path):
    corpus = {"Orsby &amp; Co.": ["A firm.", " It sells rope."], "Quell": ["A river."]}
    row = {**HOTPOT, "supporting_facts": [["Quell", 0], ["Gone", 0]]}
    found = read(write(tmp_path, hotpotqa_corpus=corpus, hotpotqa=[row]))
    assert found.questions[0].support == () and "1 questions name gold" in found.notes[0]


def test_2wikimultihopqa_joins_sentences_with_a_space(tmp_path):
    row = {
        "_id": "a1", "question": "Who?", "answer": "Mira", "type": "bridge_comparison",
        "supporting_facts": [["Orsby", 0]], "context": [["Orsby", ["A town.", "It is old."]], ["Quell", ["x"]]],
    }  # fmt: skip
    corpus = [{"title": "Orsby", "text": "A town. It is old."}, {"title": "Quell", "text": "x"}]
    [question] = read(write(tmp_path, **{"2wikimultihopqa_corpus": corpus, "2wikimultihopqa": [row]})).questions
    assert (question.type, question.hops) == ("bridge_comparison", 4)
    assert question.support == (identifier("tw", "Orsby", "A town. It is old."),)


def test_lists_of_popqa_stay_whole_as_in_the_released_code(tmp_path):
    row = {
        "id": 42, "question": "What was Mira's occupation?", "obj": "poet", "possible_answers": '["poet", "poetess"]',
        "o_wiki_title": "Poet", "o_aliases": '["bard"]',
        "paragraphs": [{"title": "Orsby", "text": "A town on the Quell.", "is_supporting": True}],
    }  # fmt: skip
    [question] = read(write(tmp_path, popqa_corpus=CORPUS, popqa=[row])).questions
    assert question.id == "42" and question.hops == 1
    assert question.answers == ("poet", '["poet", "poetess"]', "Poet", '["bard"]')
    assert question.support == (identifier("pq", *ORSBY),)


def test_nq_has_no_ids_and_a_list_of_answers(tmp_path):
    contexts = [
        {"title": "Quell", "text": "A river in Vell.", "is_supporting": True},
        {"title": "Orsby", "text": "A town on the Quell.", "is_supporting": False},
    ]
    row = {"question": "Where is the Quell?", "reference": ["Vell", "in Vell"], "contexts": contexts}
    [question] = read(write(tmp_path, nq_rear_corpus=CORPUS, nq_rear=[row])).questions
    assert question.id == "nq_rear-" + hashlib.sha256(b"Where is the Quell?").hexdigest()[:12]
    assert question.answers == ("Vell", "in Vell") and question.support == (identifier("nq", *QUELL),)


def test_gold_that_the_corpus_lacks_leaves_the_question_without_support_and_is_said(tmp_path):
    lacking = {"title": "Gone", "text": "Not there.", "is_supporting": True}
    row = {"id": "q1", "question": "?", "answer": "x", "paragraphs": [{**CORPUS[0], "is_supporting": True}, lacking]}
    found = read(write(tmp_path, popqa_corpus=CORPUS, popqa=[row]))
    assert found.questions[0].support == ()
    assert found.notes == ("1 questions name gold that is not in the corpus and have no support: q1 …",)


def test_extractions_that_are_no_triples_are_left_out_and_counted(tmp_path):
    triples = [["Orsby", "on", "Quell"], ["a", "b"], ["a", "b", 3], "abc"]
    doc = {
        "title": "Orsby",
        "text": "A town on the Quell.",
        "extracted_entities": ["Orsby"],
        "extracted_triples": triples,
    }
    write(tmp_path, musique_train_corpus=CORPUS, musique_train=[])
    (tmp_path / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json").write_text(json.dumps({"docs": [doc]}))
    found = read(tmp_path)
    made_by = "openie.jsonl (gpt-3.5-turbo-1106)"
    assert found.extractions == (
        Extraction(identifier("mq", *ORSBY), ("Orsby",), (("Orsby", "on", "Quell"),), made_by),
    )
    assert found.notes == ("3 extracted entries that are no triples are left out",)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x_corpus": CORPUS}, r"x\.json cannot be read"),
        ({"x_corpus": "text", "x": []}, "is a JSON str, not a list or dict"),
        ({"x_corpus": CORPUS, "x": {}}, "is a JSON dict, not a list"),
        ({"x_corpus": [{"title": "", "text": " "}], "x": []}, "passage 1 .* neither title nor text"),
        (
            {"x_corpus": CORPUS, "x": [{"answer": "y"}]},
            r"x\.json, question 1: the field of the question is missing; there are answer",
        ),
        (
            {"x_corpus": CORPUS, "x": [], "y_corpus": CORPUS},
            r"one file \*_corpus\.json, and has x_corpus\.json, y_corp",
        ),
        ({"x_corpus": ["text"], "x": []}, "is not in HippoRAG's layout .AttributeError"),
        ({"x_corpus": CORPUS, "x": [{**HOTPOT, "context": [["Quell"]]}]}, "is not in HippoRAG's layout .ValueError"),
    ],
)
def test_what_is_not_the_layout_is_named(tmp_path, files, said):
    with pytest.raises(DataError, match=said):
        read(write(tmp_path, **files))


def test_ids_that_stand_twice_are_told_apart(tmp_path):
    rows = [{"id": "a", "question": "?", "answer": "x"}, {"id": "a", "question": "!", "answer": "x"}]
    rows += [{"question": "same", "answer": "x"}] * 2
    ids = [question.id for question in read(write(tmp_path, x_corpus=CORPUS, x=rows)).questions]
    assert ids[:2] == ["a", "a-2"] and ids[3] == f"{ids[2]}-2"


def test_a_damaged_file_is_said_to_be(tmp_path):
    write(tmp_path, x=[])
    (tmp_path / "x_corpus.json").write_bytes(b"[" * 100_000)
    with pytest.raises(DataError, match=r"is not JSON .*fetch or copy it again"):
        read(tmp_path)


def test_musique_as_published_gives_the_records_of_the_shared_folder(shared, tmp_path):
    """The publisher's layout, made of the converted data, is converted to the same data."""
    data = load(shared / "datasets" / "musique-train-100")
    corpus = [{"title": passage.title, "text": passage.text} for passage in data.passages]
    rows = []
    for question in data.questions:
        gold = [data.passage(identifier) for identifier in question.support]
        row = {"id": question.id, "question": question.question, "answer": question.answers[0]}
        row["answer_aliases"] = list(question.answers[1:])
        row["paragraphs"] = [
            {"idx": idx, "title": passage.title, "paragraph_text": passage.text, "is_supporting": True}
            for idx, passage in enumerate(gold)
        ]
        row["question_decomposition"] = [
            {**step, "paragraph_support_idx": question.support.index(step["support"])}
            for step in question.decomposition
        ]
        rows.append(row)
    docs = [
        {
            "title": passage.title,
            "text": passage.text,
            "extracted_entities": extraction.entities,
            "extracted_triples": extraction.triples,
        }
        for passage, extraction in zip(data.passages, data.extractions)
    ]
    write(tmp_path, musique_train_corpus=corpus, musique_train=rows)
    openie = tmp_path / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"
    openie.write_text(json.dumps({"docs": docs}))
    found = read(tmp_path)
    assert (found.passages, found.questions) == (data.passages, data.questions)
    assert found.extractions == data.extractions
