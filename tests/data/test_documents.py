"""A folder of documents becomes passages; what cannot be read is named, never passed over in silence."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys

import pytest

from workbench.data import load, write_folder
from workbench.errors import DataError, SettingError
from workbench.records import Question


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "my papers"
    (folder / "b").mkdir(parents=True)
    (folder / "a.txt").write_text("Orsby is a town. It lies on the Quell.")
    (folder / "b" / "notes.md").write_text("# The Quell\n\nA river.\n\n## Source\nIt springs in the north.\n")
    return folder


def test_documents_become_passages_in_the_order_of_their_paths(folder):
    data = load(folder)
    assert data.name == "my papers" and data.folder == folder and data.questions == ()
    assert [(p.id, p.title, p.text) for p in data.passages] == [
        ("a.txt#1", "a", "Orsby is a town. It lies on the Quell."),
        ("b/notes.md#1", "The Quell", "# The Quell\n\nA river."),
        ("b/notes.md#2", "The Quell › Source", "## Source\nIt springs in the north."),
    ]


def test_what_made_the_passages_travels_with_them(folder):
    origin = load(folder, size=4, overlap=1, unit="words").origin
    assert origin.settings == {"size": 4, "overlap": 1, "unit": "words", "encoding": "utf-8"}
    assert [file.name for file in origin.files] == ["a.txt", "b/notes.md"]
    assert origin.files[0].sha256 == hashlib.sha256((folder / "a.txt").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("Orsby Mill\n\nA mill.\nIt is old.\n", "Orsby Mill", "A mill.\nIt is old."),
        ("\n  Orsby\n=====\nA mill.", "Orsby", "A mill."),
        ("Orsby\nIt lies on the Aune. Nora was born there.", "Orsby", "It lies on the Aune. Nora was born there."),
        ("A mill.\n\nIt is old.", "x", "A mill.\n\nIt is old."),  # a sentence
        ("Nora Whitlock\nKarl Weiss", "x", "Nora Whitlock\nKarl Weiss"),  # a list
        ("The harbour at Orsby was dredged\nthat summer.", "x", "The harbour at Orsby was dredged\nthat summer."),
        ("Only a title\n\n", "x", "Only a title"),
    ],
)
def test_the_first_line_of_a_text_is_its_title_where_it_reads_like_one(tmp_path, text, title, body):
    (tmp_path / "x.txt").write_text(text)
    (passage,) = load(tmp_path).passages
    assert (passage.id, passage.title, passage.text) == ("x.txt#1", title, body)


def test_support_may_name_a_document_of_one_passage(folder):
    (folder / "questions.jsonl").write_text('{"id": "q", "question": "Where?", "support": ["a.txt"]}\n')
    assert load(folder).questions[0].support == ("a.txt#1",)


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("---\ntitle: 'On rivers'\ndate: 2020\n---\nText.", ["On rivers"]),
        ("---\ndate: 2020\n---\n# Head\ntext", ["Head"]),
        ("before\n# Head ##\nafter", ["Head", "Head"]),
        ("# Head\ntext\n```\n# no heading\n```\n# Next\nmore", ["Head", "Head › Next"]),
        ("# Learning C#\ntext", ["Learning C#"]),
        ("# " + " " * 500_000 + "x # #\ntext", ["x #"]),
        ("---\ntitle:" + " " * 500_000 + "x\n---\ntext", ["x"]),
    ],
)
def test_titles_of_markdown(tmp_path, text, titles):
    (tmp_path / "x.md").write_text(text)
    assert [passage.title for passage in load(tmp_path).passages] == titles


@pytest.mark.parametrize(
    "content", ["é – 日".encode(), "\ufeffé – 日".encode(), "é – 日".encode("utf-16"), "é – 日\r\n".encode()]
)
def test_byte_order_marks_and_line_ends(tmp_path, content):
    (tmp_path / "x.txt").write_bytes(content)
    assert load(tmp_path).passages[0].text == "é – 日"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.txt", b"", "is empty"),
        ("front.md", b"---\ntitle: x\n---\n", "contains no text"),
        ("latin.txt", b"caf\xe9", "is not utf-8 .byte 3 is 0xe9"),
        ("torn.txt", b"\xff\xfea", "is not utf-16"),
        ("huge.txt", b"x" * 2001, "has 2,001 bytes, more than max_bytes=2,000; split it or raise max_bytes"),
        ("broken.pdf", b"%PDF-1.7 nothing", "cannot be read as a PDF"),
    ],
)
def test_one_bad_file_is_listed_or_stops_strict_reading(folder, name, content, said):
    (folder / name).write_bytes(content)
    for strict in ({"strict": True}, {"on_error": "raise"}):
        with pytest.raises(DataError, match=f"{said}.*Without strict reading the other files are read"):
            load(folder, max_bytes=2000, **strict)
    data = load(folder, max_bytes=2000)
    assert len(data.passages) == 3
    [(skipped, why)] = data.origin.skipped
    assert skipped == name and re.search(said, why) and str(folder) not in why


def test_every_skipped_file_is_shown_with_its_reason(folder):
    for number in range(30):
        (folder / f"empty{number}.txt").write_text("")
    (folder / "<b>.txt").write_bytes(b"caf\xe9")
    data = load(folder)
    assert "31 files skipped, 2 read:" in repr(data)
    # In a notebook it is the first thing seen, not folded into where the data come from.
    seen = data._repr_html_().split("where it comes from")[0]
    assert "31 files skipped, 2 read:" in seen and "<details open>" in seen
    for shown in (repr(data), repr(data.origin), seen):
        assert all(f"empty{number}.txt" in shown for number in range(30)) and shown.count("is empty; add") == 30
    assert "&lt;b&gt;.txt" in seen and "is not utf-8 (byte 3 is 0xe9)" in seen
    assert "files skipped" not in repr(load(folder / "b"))


def test_a_folder_of_which_nothing_can_be_read_is_an_error(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.txt").write_text("")
    with pytest.raises(DataError, match=r"holds no document to read .*0\.txt: is empty.*4\.txt: .*; and 2 more"):
        load(tmp_path)


def asked(folder, **fields):
    (folder / "questions.jsonl").write_text(json.dumps({"question": "Where is Orsby?", **fields}) + "\n")


def test_questions_beside_the_documents_are_read(folder):
    asked(folder, answers=["on the Quell"], support=["a.txt#1", "b/notes.md#2"])
    (folder / "questions-b.jsonl").write_text('{"id": "b", "question": "Whence?"}\n')
    data = load(folder)
    assert len(data.passages) == 3
    assert data.questions == (
        Question("b", "Whence?", ()),
        Question("questions-1", "Where is Orsby?", ("on the Quell",), support=("a.txt#1", "b/notes.md#2")),
    )
    assert [file.name for file in data.origin.files] == [
        "a.txt", "b/notes.md", "questions-b.jsonl", "questions.jsonl",
    ]  # fmt: skip
    assert data.origin.notes == ()
    kept = load(write_folder(data, folder.with_name("kept")))
    assert (kept.passages, kept.questions) == (data.passages, data.questions)


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("b/notes.md", r"which is a document of several .* of 'b/notes\.md#1' to 'b/notes\.md#2'$"),
        ("b/notes.md#3", r"'b/notes\.md#3' is not in the corpus, .* look like 'b/notes\.md#[12]', "),
        ("The Quell", r"the gold passage 'The Quell' is not in the corpus, .*correct 'support'.*'a\.txt#1'\.$"),
        ("c.txt#1", r"'c\.txt#1' is of 'c\.txt', which was skipped \(is empty; .*fix that document"),
    ],
)
def test_support_that_names_no_passage_says_what_would(folder, gold, said):
    (folder / "c.txt").write_text("")
    asked(folder, support=[gold])
    with pytest.raises(DataError, match=said) as error:
        load(folder)
    assert str(error.value).startswith(f"{folder / 'questions.jsonl'}, line 1: ")


def test_hidden_files_are_passed_over_and_other_kinds_are_counted(folder):
    (folder / ".secret.txt").write_text("hidden")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.txt").write_text("hidden")
    (folder / "map.png").write_bytes(b"\x89PNG")
    (folder / "Makefile").write_text("all:")
    data = load(folder)
    assert len(data.passages) == 3
    assert data.origin.notes == ("other kinds of files passed over: 1 .png, 1 no suffix",)


def test_links_in_a_circle_and_links_to_nowhere(folder):
    (folder / "b" / "up").symlink_to(folder)
    (folder / "z.txt").symlink_to(folder / "a.txt")
    data = load(folder)
    assert [passage.id for passage in data.passages][-1] == "z.txt#1" and len(data.passages) == 4
    assert data.origin.skipped[0][0] == "b/up" and "link to a folder" in data.origin.skipped[0][1]
    (folder / "dead.txt").symlink_to(folder / "nowhere.txt")
    with pytest.raises(DataError, match=r"dead\.txt is not a regular file \(but a broken link"):
        load(folder, strict=True)


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems allow no such names")
def test_names_with_odd_characters_stay_apart(tmp_path):
    for name in (b"caf\xe9.txt", b"caf\xe8.txt", b"a\nb.txt", b"c#1.txt", "日本.md".encode()):
        (tmp_path / os.fsdecode(name)).write_text("Text.")
    assert [passage.id for passage in load(tmp_path).passages] == [
        "a\nb.txt#1", "c#1.txt#1", "caf\\xe8.txt#1", "caf\\xe9.txt#1", "日本.md#1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on_error": "ignore"}, "on_error='ignore' is not known"),
        ({"encoding": "utf-9"}, "encoding='utf-9' is not a text encoding"),
        ({"sise": 100}, "does not know sise; it takes size, overlap"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, options, said):
    with pytest.raises(SettingError, match=said):
        load(folder, **options)


def test_a_pdf_is_read_by_its_text(tmp_path):
    pytest.importorskip("pypdf")
    (tmp_path / "report.pdf").write_bytes(_pdf("Orsby lies on the Quell.", title="On Orsby"))
    (tmp_path / "scan.pdf").write_bytes(_pdf(""))
    data = load(tmp_path)
    assert [(p.id, p.title, p.text) for p in data.passages] == [
        ("report.pdf#1", "On Orsby", "Orsby lies on the Quell.")
    ]
    assert "contains no text, perhaps only images" in data.origin.skipped[0][1]


def _pdf(text: str, title: str = "") -> bytes:
    """A PDF of one page, written by hand."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) >>".encode(),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        out
        + b"xref\n0 7\n0000000000 65535 f \n%strailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (
            table,
            len(out),
        )
    )
