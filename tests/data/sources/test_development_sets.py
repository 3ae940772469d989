"""The whole development sets and GraphRAG-Bench, on small files of invented content in their publishers' layouts."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.data import load
from workbench.data.registry import ENTRIES
from workbench.data.sources import hipporag, texts
from workbench.data.sources.entry import passage_id
from workbench.data.sources.fetch import source_folder
from workbench.errors import DataError
from workbench.records import Question

ROPES = ("Orsby &amp; Co.", ["A firm.", " It sells rope."])
QUELL, OTHER = ("Quell", ["A river.", " It is long."]), ("Other", ["x"])


def hotpot(name: str, *context, facts=(("Quell", 0), ("Orsby &amp; Co.", 1), ("Quell", 1))) -> dict:
    return {
        "id": name, "question": "Which is older?", "answer": "Quell", "type": "comparison", "level": "hard",
        "supporting_facts": {"title": [title for title, _ in facts], "sent_id": [sentence for _, sentence in facts]},
        "context": {"title": [title for title, _ in context], "sentences": [texts for _, texts in context]},
    }  # fmt: skip


def two_wiki(row: dict) -> dict:
    """The same as the authors of 2WikiMultiHopQA write it: what is nested is JSON in a string."""
    facts, context = row["supporting_facts"], row["context"]
    return {
        "_id": row["id"], "question": row["question"], "answer": row["answer"], "type": row["type"],
        "supporting_facts": json.dumps(list(zip(facts["title"], facts["sent_id"]))),
        "context": json.dumps(list(zip(context["title"], context["sentences"]))), "evidences": "[]",
    }  # fmt: skip


def parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path.parent


def test_hotpotqa_joins_sentences_with_nothing_and_resolves_titles(tmp_path):
    rows = [hotpot("5a77", ROPES, OTHER, QUELL), hotpot("5a78", QUELL, ROPES, ROPES)]
    found = hipporag.read_hotpotqa(parquet(tmp_path / "validation-00000-of-00001.parquet", rows))
    texts = [("Orsby & Co.", "A firm. It sells rope."), ("Other", "x"), ("Quell", "A river. It is long.")]
    ropes, other, quell = (passage_id("hp", *text) for text in texts)
    assert [(passage.title, passage.text) for passage in found.passages] == texts and found.repeated == 3
    assert found.paragraphs == {"5a77": (ropes, other, quell), "5a78": (quell, ropes)}
    first = found.questions[0]
    assert (first.id, first.answers, first.type, first.hops) == ("5a77", ("Quell",), "comparison", 2)
    assert first.support == (quell, ropes) and found.notes == ()


def test_2wikimultihopqa_joins_them_with_a_space_and_reads_json_in_strings(tmp_path):
    rows = [two_wiki(hotpot("a1", ("Quell", ["A river.", "It is long."]), OTHER, facts=[("Quell", 0)]))]
    found = hipporag.read_two_wiki(parquet(tmp_path / "dev.parquet", rows))
    assert [passage.text for passage in found.passages] == ["A river. It is long.", "x"]
    [question] = found.questions
    assert (question.id, question.type, question.hops) == ("a1", "comparison", 2)
    assert question.support == (found.passages[0].id,) and found.passages[0].id.startswith("tw-")


def test_a_question_twice_has_two_ids_and_its_own_paragraphs(tmp_path):
    rows = [hotpot("5a77", ROPES, QUELL), hotpot("5a77", QUELL, OTHER)]
    found = hipporag.read_hotpotqa(parquet(tmp_path / "validation-00000-of-00001.parquet", rows))
    assert list(found.paragraphs) == ["5a77", "5a77-2"] and found.paragraphs["5a77"] != found.paragraphs["5a77-2"]


@pytest.mark.parametrize(
    ("read", "file", "row", "said"),
    [
        (
            hipporag.read_hotpotqa, "validation-0.parquet", hotpot("a", QUELL) | {"context": {"title": ["x"]}},
            "lacks columns of HotpotQA .*sentences.*fetch it again",
        ),
        (
            hipporag.read_two_wiki, "dev.parquet", two_wiki(hotpot("a", QUELL)) | {"context": "[[]]"},
            "dev.parquet is not in the layout of 2wikimultihopqa .*fetch it again",
        ),
    ],
)  # fmt: skip
def test_another_layout_is_an_error_that_names_the_file(tmp_path, read, file, row, said):
    with pytest.raises(DataError, match=said):
        read(parquet(tmp_path / file, [row]))


def test_a_changed_file_is_not_read(tmp_path, monkeypatch):
    """The hashes are known, so a development set is the same everywhere or nowhere."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path))
    for name in ("hotpotqa/dev", "musique/dev", "2wikimultihopqa/dev"):
        entry = ENTRIES[name]
        source_folder(entry).mkdir(parents=True)
        (source_folder(entry) / entry.files[0].name).write_text("{}")
        with pytest.raises(DataError, match=f"has SHA-256 .*, not {entry.files[0].sha256} as its publisher gives"):
            load(f"{name}/500@42")


def books(folder, **questions):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, texts.BOOKS + 1):
        (folder / f"textbook{number}.md").write_text(f"# Book {number}\n\n" + f"Text of book {number}. " * 40)
    for kind in texts.KINDS:
        row = {"Question": f"Is it {kind}?", "Answer": "True"} | questions.get(kind, {})
        (folder / f"{kind}.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def test_graphrag_bench(tmp_path):
    choices = {"Choices": {"B": "a tree", "A": "a list", "C": "a graph"}}
    folder = books(
        tmp_path, MC={"Answer": "C", **choices}, MS={"Answer": "AC", **choices}, OE={"Answer": ["It", " is."]}
    )
    found = texts.read_textbooks(folder, size=60, overlap=0, unit="words")
    asked = {question.type: question for question in found.questions}
    assert list(asked) == list(texts.KINDS.values())
    single, several = asked["multiple-choice"], asked["multiple-select"]
    assert single.question == "Is it MC?\nA. a list\nB. a tree\nC. a graph" and single.answers == ("C", "a graph")
    assert several.answers == ("AC",) and asked["open-ended"].answers == ("It is.",)
    assert single.id == "graphrag-bench-MC-001" and asked["true-or-false"].answers == ("True",)
    assert {passage.title for passage in found.passages} == {f"textbook{n}" for n in range(1, 21)}
    assert len(found.passages) > 20 and found.passages[0].id == "textbook1#1"


@pytest.mark.parametrize(
    ("row", "said"), [({"Answer": None}, "FB.jsonl, line 1: 'Answer' is missing"), ({"Choices": ["a"]}, "an object")]
)
def test_a_question_of_another_form_is_an_error(tmp_path, row, said):
    with pytest.raises(DataError, match=said):
        texts.read_textbooks(books(tmp_path, FB=row))


def test_graphrag_bench_of_novels(tmp_path):
    (tmp_path / "novel.json").write_text(json.dumps([{"corpus_name": "Novel-1", "context": "She sailed. " * 50}]))
    row = {
        "id": "Novel-a",
        "source": "Novel-1",
        "question": "Who sailed?",
        "answer": "She.",
        "question_type": "Fact Retrieval",
    }
    (tmp_path / "novel_questions.json").write_text(json.dumps([row]))
    found = texts.read_levels(tmp_path, "novel", size=60, overlap=0, unit="words")
    assert [passage.id for passage in found.passages] == ["Novel-1#1", "Novel-1#2"] and found.documents == 1
    assert found.questions == (Question("Novel-a", "Who sailed?", ("She.",), type="fact retrieval"),)
    (tmp_path / "novel_questions.json").write_text(json.dumps([{**row, "answer": " "}, "no object"]))
    with pytest.raises(DataError, match=r"novel_questions\.json, entry 1: 'Answer' is missing"):
        texts.read_levels(tmp_path, "novel")


def test_multihop_rag(tmp_path):
    """A fact is gold wherever a passage holds it, whatever white space is in it; one that is cut is none."""
    news = {"source": "The Gull", "published_at": "2023-10-05T10:00:00+00:00"}
    first = {**news, "title": "Ferry", "body": "The ferry sails at dawn. It is blue.\n\nNobody was hurt."}
    articles = [first, {**news, "title": "Harbour", "body": "The harbour closes in winter."}]
    (tmp_path / "corpus.json").write_text(json.dumps(articles))
    facts = [{"title": "Ferry", "fact": "Nobody\nwas hurt."}, {"title": "Harbour", "fact": "The harbour closes"}]
    cut = [{"title": "Ferry", "fact": "It is blue. Nobody was hurt."}]
    asked = [("comparison_query", facts), ("inference_query", cut), ("null_query", [])]
    rows = [{"query": "What?", "answer": "Yes", "question_type": kind, "evidence_list": of} for kind, of in asked]
    (tmp_path / "MultiHopRAG.json").write_text(json.dumps(rows))
    found = texts.read_multihop_rag(tmp_path, size=9, unit="words")
    assert [(one.type, one.hops, one.support) for one in found.questions] == [
        ("comparison", 2, ("article1#2", "article2#1")), ("inference", 1, ()), ("null", None, ())
    ]  # fmt: skip
    assert found.passages[0].title == "Ferry (The Gull, 2023-10-05)" and found.documents == 2
    assert found.notes == ("1 question with a fact that no passage holds whole: no support",)
