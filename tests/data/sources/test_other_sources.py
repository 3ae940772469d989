"""The layouts of KET-RAG, MetaQA, UltraDomain and AnonyRAG, on small files of invented content."""

from __future__ import annotations

import hashlib
import json

import pytest

from workbench import measures, tokens
from workbench.data import load, registry
from workbench.data.sources import metaqa, texts
from workbench.data.sources.fetch import source_folder
from workbench.errors import DataError, SettingError
from workbench.records import Question, Triple


@pytest.fixture
def films(tmp_path):
    (tmp_path / "kb.txt").write_text(
        "Red Sea|directed_by|Mira Pell\nAsh|directed_by|Mira Pell\nAsh|directed_by|Mira Pell\n"
    )
    for hops, line in (
        (1, "who directed [Red Sea]\tMira Pell"),
        (2, "films by the director of [Ash]\tRed Sea|Ash|Ash"),
    ):
        (tmp_path / f"{hops}-hop" / "vanilla").mkdir(parents=True)
        (tmp_path / f"{hops}-hop" / "vanilla" / "qa_dev.txt").write_text(line + "\n")
        (tmp_path / f"{hops}-hop" / "qa_dev_qtype.txt").write_text("movie_to_director\n")
    return tmp_path


def test_metaqa(films):
    found = metaqa.read(films)
    assert found.triples == (Triple("Ash", "directed_by", "Mira Pell"), Triple("Red Sea", "directed_by", "Mira Pell"))
    assert found.repeated == 1
    assert found.questions == (
        Question(
            "metaqa-1hop-dev-00000", "who directed Red Sea", ("Mira Pell",), "movie_to_director", 1, answer_set=True,
            start=("Red Sea",),
        ),
        Question(
            "metaqa-2hop-dev-00000", "films by the director of Ash", ("Red Sea", "Ash"), "movie_to_director", 2,
            answer_set=True, start=("Ash",),
        ),
    )  # fmt: skip
    assert metaqa.read(films, None).questions == ()


def test_metaqa_keeps_the_brackets_and_leaves_out_what_the_walk_does_not_answer(films):
    """The walk from Ash over its director leads to Mira Pell alone, not to the films."""
    found = metaqa.read(films, brackets=True)
    assert [one.question for one in found.questions] == ["who directed [Red Sea]", "films by the director of [Ash]"]
    assert [one.start for one in found.questions] == [("Red Sea",), ("Ash",)]
    found = metaqa.read(films, filtered=True)
    assert [one.id for one in found.questions] == ["metaqa-1hop-dev-00000"] and found.left_out == 1
    (films / "2-hop" / "qa_dev_qtype.txt").write_text("movie_to_director_to_movie\n")
    assert metaqa.read(films, filtered=True).left_out == 1, "Ash is where the walk began"
    (films / "2-hop" / "vanilla" / "qa_dev.txt").write_text("films by the director of [Ash]\tRed Sea\n")
    assert metaqa.read(films, filtered=True).left_out == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("kb.txt", "a|b\n", r"kb\.txt, line 1: 'a\|b' should be subject\|relation\|object"),
        ("kb.txt", "a|b|c|d\n", "line 1"),
        ("1-hop/vanilla/qa_dev.txt", "who\n", "line 1: 'who' should be the question, a tab"),
        ("1-hop/qa_dev_qtype.txt", "a\nb\n", "has 2 lines and .* 1; they belong together"),
    ],
)
def test_a_damaged_metaqa_is_named(films, name, content, said):
    (films / name).write_text(content)
    with pytest.raises(DataError, match=said):
        metaqa.read(films)


@pytest.fixture
def paragraphs(tmp_path):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "document.txt").write_text("A town.\n\nA river\u2028in Vell.\r\nA town.\n")
    rows = [
        {"id": "3hop1__1_2_3", "question": "Where?", "answer": "Vell"},
        {"id": "9f76", "question": "When?", "answer": 1889},
    ]
    (tmp_path / "qa-pairs.json").write_text(json.dumps(rows))
    return tmp_path


def test_ketrag(paragraphs):
    found = texts.read_ketrag(paragraphs)
    first = "mk-" + hashlib.sha256(b"\nA town.").hexdigest()[:12]
    assert [(p.title, p.text) for p in found.passages] == [("", "A town."), ("", "A river\u2028in Vell.")]
    assert found.passages[0].id == first and found.repeated == 1
    assert found.questions == (
        Question("3hop1__1_2_3", "Where?", ("Vell",), "3hop1", 3),
        Question("9f76", "When?", ("1889",)),
    )
    assert load(paragraphs).passages == found.passages


@pytest.mark.parametrize(
    ("content", "said"), [("{}x", "qa-pairs.json is not JSON"), ('[{"id": "a"}]', "is not in KET-RAG's layout")]
)
def test_a_damaged_ketrag_is_named(paragraphs, content, said):
    (paragraphs / "qa-pairs.json").write_text(content)
    with pytest.raises(DataError, match=said):
        texts.read_ketrag(paragraphs)


def test_ultradomain_reads_each_book_once(tmp_path):
    book = {"context": "One two three. Four five six.", "meta": {"title": "Rope", "authors": "M. Pell"}}
    rows = [{**book, "input": "?"}, {**book, "input": "!"}, {"context": "Another.", "meta": None}]
    (tmp_path / "cs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = texts.read_ultradomain(tmp_path, "cs", size=3, overlap=0, unit="words", at="sentence")
    assert [(p.id, p.title, p.text) for p in found.passages] == [
        ("cs-1#1", "Rope", "One two three."),
        ("cs-1#2", "Rope", "Four five six."),
        ("cs-2#1", "", "Another."),
    ]
    assert found.documents == 2 and found.questions == ()


@pytest.fixture
def rope(tmp_path):
    """A domain of two books, one of which stands there for two questions."""
    book = {"context": " ".join(f"knot{n}" for n in range(30)), "meta": {"title": "Rope"}}
    rows = [{**book, "input": "?"}, {**book, "input": "!"}, {"context": "Sails are cloth.", "input": "?", "meta": {}}]
    (tmp_path / "mix.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_ultradomain_is_cut_into_the_windows_of_lightrag(rope):
    """A window every size - overlap tokens; what is in two windows is the overlap, and nothing is lost."""
    found = texts.read_ultradomain(rope, "mix", size=20, overlap=5)
    text = " ".join(f"knot{n}" for n in range(30))
    starts = tokens.starts(text)
    assert [p.text for p in found.passages if p.title] == [
        text[starts[at] : starts[min(at + 20, len(starts) - 1)]].strip() for at in range(0, len(starts) - 1, 15)
    ]
    assert list(texts._windows("one two three four five", 3, 1)) == ["one two three", " three four five", " five"]
    assert [p.id for p in found.passages][-1] == "mix-2#1" and found.documents == 2


def test_an_ultradomain_file_or_its_folder_is_recognised(rope):
    for path in (rope, rope / "mix.jsonl"):
        data = load(path)
        assert data.name == "ultradomain/mix" and [p.text for p in data.passages][-1] == "Sails are cloth."
        assert {"person", "work_of_art", "unsure"} <= {one.name for one in data.schema.entity_types}
    (rope / "questions.jsonl").write_text(json.dumps({"id": "a", "question": "Why?", "answers": ["So."]}) + "\n")
    assert [one.question for one in load(rope).questions] == ["Why?"]
    (rope / "law.jsonl").write_text((rope / "mix.jsonl").read_text())
    with pytest.raises(DataError, match=r"holds 2 domains; load one of them by its file: law\.jsonl, mix\.jsonl"):
        load(rope)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"at": "page"}, "use window or sentence"),
        ({"unit": "words"}, "use at=sentence"),
        ({"overlap": 1200}, "overlap"),
    ],
)
def test_options_of_ultradomain_that_cannot_be(rope, options, said):
    with pytest.raises(SettingError, match=said):
        texts.read_ultradomain(rope, "mix", **options)


CHUNKS = [
    {"idx": 1, "title": "Ch. 1", "chunk": "[PERSON#1] sailed."},
    {"idx": 2, "title": None, "chunk": "The end."},
]
ASKED = [
    {"question": "Who sailed?", "answer": "PERSON#1 — Ishmael", "relations": ["sailed"], "entities": ["PERSON#1"],
     "query_type": "subjective"},
]  # fmt: skip


def parquet(folder, language, chunks, asked):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("text_chunks", chunks), ("qa", asked)):
        pq.write_table(pa.Table.from_pylist(rows), folder / f"annoyrag_{language}_{name}.parquet")


def test_anonyrag(tmp_path):
    parquet(tmp_path, "eng", CHUNKS, ASKED)
    found = texts.read_anonyrag(tmp_path, "eng")
    assert [(p.title, p.text) for p in found.passages] == [("Ch. 1", "[PERSON#1] sailed."), ("", "The end.")]
    assert found.questions == (Question("anonyrag-eng-0001", "Who sailed?", ("PERSON#1 — Ishmael",), "subjective"),)
    outcome = measures.Outcome((), "PERSON#1 is Ishmael")
    assert measures.measure("reversion_exact")(found.questions[0], outcome) == 1.0


def test_columns_that_anonyrag_lacks_are_named(tmp_path):
    parquet(tmp_path, "eng", CHUNKS, [{"text": "x"}])
    with pytest.raises(DataError, match="has no column answer, entities, query_type, question, relations; it has text"):
        texts.read_anonyrag(tmp_path, "eng")
    parquet(tmp_path, "eng", [{"title": "x", "chunk": "y"}], ASKED)
    with pytest.raises(DataError, match=r"text_chunks\.parquet has no column idx"):
        texts.read_anonyrag(tmp_path, "eng")
    parquet(tmp_path / "damaged", "eng", CHUNKS, ASKED)
    (tmp_path / "damaged" / "annoyrag_eng_qa.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="is not a Parquet file"):
        texts.read_anonyrag(tmp_path / "damaged", "eng")


@pytest.mark.parametrize(("language", "questions", "chunks"), [("eng", 709, 3447)])
def test_the_counts_of_anonyrag_are_checked(tmp_path, monkeypatch, language, questions, chunks):
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path))
    entry = registry.ENTRIES[f"anonyrag/{language}"]
    texts = [{"idx": n, "title": f"Ch. {n // 20}", "chunk": f"Part {n} of what was written."} for n in range(chunks)]
    asked = [{**ASKED[0], "question": f"Who sailed {n} times?"} for n in range(questions)]
    parquet(source_folder(entry), language, texts, asked)
    data = load(entry.id, offline=True)
    assert (len(data.passages), len(data.questions)) == (chunks, questions) == (entry.passages, entry.questions)
    for file in source_folder(entry).glob("*"):
        file.unlink()
    parquet(source_folder(entry), language, texts[1:], asked)
    with pytest.raises(DataError, match=f"has {chunks - 1:,} passages, where {chunks:,} are known"):
        load(entry.id, offline=True)


def test_an_index_of_another_program_is_recognised(tmp_path):
    doc = {
        "idx": "chunk-1", "passage": "Orsby\nA town.", "extracted_entities": ["Orsby"],
        "extracted_triples": [["Orsby", "is", "town"]],
    }  # fmt: skip
    (tmp_path / "openie_results_ner_m.json").write_text(json.dumps({"docs": [doc]}))
    (tmp_path / "notes.txt").write_text("Not what is asked for.")
    data = load(tmp_path)
    assert len(data.passages) == 1 and data.extractions[0].triples == (("Orsby", "is", "town"),)
    with pytest.raises(SettingError, match="size"):
        load(tmp_path, size=3)


def test_a_folder_with_several_data_sets_is_loaded_by_file(tmp_path):
    for name in ("x", "y"):
        (tmp_path / f"{name}_corpus.json").write_text(json.dumps([{"title": "t", "text": name}]))
        (tmp_path / f"{name}.json").write_text("[]")
    with pytest.raises(DataError, match=r"holds 2 data sets; load one of them by its file: x_corpus\.json, y_corpus"):
        load(tmp_path)
    data = load(tmp_path / "y_corpus.json")
    assert (data.name, data.passages[0].text) == ("y", "y")
