"""Hostile inputs are refused in words of ours, or harmless (`inputs.py`); `benchmarks/attacks.py` tries more."""

from __future__ import annotations

import base64
import gzip
import json
import random
import unicodedata
import zlib
from contextlib import suppress

import hostile_files
import hostile_texts
import inputs
import numpy as np
import pytest
from hostile_corpus import Input, write_data
from tiny import TinyEncoder

import workbench as wb
from workbench.data.sources import archive
from workbench.errors import DataError
from workbench.index import Index

PACKED = gzip.compress(chr(0x202E).encode(), mtime=0)


@pytest.mark.slow
def test_nothing_comes_of_hostile_inputs(tmp_path):
    """Every page, table and picture of twenty-five hostile data sets is made and looked through."""
    tally = inputs.attack(25, 7, tmp_path)
    assert tally.holds, "\n".join(tally.failures)
    assert tally.tried >= 25


@pytest.mark.parametrize(
    ("harm", "page"),
    [
        (hostile_texts.harm_of_page, hostile_texts.TEXTS["image"]),
        (hostile_texts.harm_of_page, f'<iframe srcdoc="{hostile_texts.TEXTS["svg"]}">'),
        (hostile_texts.harm_of_page, hostile_texts.TEXTS["link"]),
        (hostile_texts.harm_of_lines, hostile_texts.TEXTS["clear screen"]),
        (hostile_texts.harm_of_page, "<p>&#8238;gpj.exe</p>"),
        (hostile_texts.harm_of_page, '<script>show({"label": "\\u202egpj.exe"})</script>'),
        (hostile_texts.harm_of_page, f"<p>{base64.b64encode(PACKED).decode()}</p>"),
        (hostile_texts.harm_of_csv, f"a,{hostile_texts.TEXTS['formula']}"),
    ],
)
def test_harm_is_seen(harm, page):
    """Without this the attack could hold for want of a watcher."""
    assert harm(page)


def test_an_escape_that_is_shown_as_it_is_does_no_harm():
    assert not hostile_texts.harm_of_page(r"<pre>Extraction(&#x27;\u202egpj.exe&#x27;)</pre>")


def test_an_archive_is_unpacked_inside_its_folder_or_refused(tmp_path):
    """Of all hostile ones only those come out whose members are odd names, or nothing that harms."""
    at_once = [one for one in hostile_files.of_archives() if "300 MB" not in one.name]
    found = {one.name: hostile_files.tried(one, tmp_path / str(at)) for at, one in enumerate(at_once)}
    assert not any(found.values()), found
    unpacked = set()
    for at, (name, make) in enumerate(hostile_files.archives().items()):
        (tmp_path / f"{at}-refused").mkdir()
        with suppress(DataError):
            if "300 MB" not in name:
                archive.unpack(make(tmp_path / f"{at}-refused"), tmp_path / f"{at}-refused" / "inside" / "x")
                unpacked.add(name)
    harmless = ("a/a/a/a/a/a/a/a/a/a/", "\x1b[2J", "\u202epwn", "CON", "~/pwn")
    members = {f"{kind}: member {name!r}" for kind in ("zip", "tar") for name in harmless}
    assert unpacked == {*members, "zip: member 'pwn\\x00.txt'", "zip: a device", "zip: members apart in case"}


@pytest.mark.slow
def test_no_pipe_is_waited_for(tmp_path, monkeypatch):
    """Every file of every layout in turn."""
    monkeypatch.setattr(hostile_files, "PATIENCE", 5)
    pipes = [one for one in hostile_files.of_files(random.Random(7)) if one.name.endswith(" is a pipe")]
    assert len(pipes) > 20
    found = {one.name: hostile_files.tried(one, tmp_path / str(at)) for at, one in enumerate(pipes)}
    assert not any(found.values()), found


def test_the_forms_of_a_name_are_one_node(tmp_path):
    forms = [Input(form, "entity") for form in ("nfc", "nfd")]
    index = Index.build(
        wb.load(write_data(forms, tmp_path / "data")), None, tmp_path / "index", encoder=TinyEncoder(), progress=False
    )
    named = [phrase for phrase in index.facts.phrases if "rich" in phrase]
    assert named == [unicodedata.normalize("NFC", "zürich kättern")]


class Whole(TinyEncoder):
    """One number for a whole text, however long."""

    name = "whole"

    def encode(self, texts):
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        vectors[range(len(texts)), [zlib.crc32(text.encode()) % self.dimension for text in texts]] = 1
        return vectors


@pytest.mark.slow
def test_many_passages_of_a_word_and_one_of_1_mb(tmp_path):
    """Parses 1 MB as a passage, which takes seconds."""
    words = [{"id": str(at), "text": f"w{at}"} for at in range(5_000)]
    rows = [*words, {"id": "long", "title": "Orsby", "text": "Orsby lies on the River Aldra. " * 32_000}]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = wb.load(tmp_path / "data")
    index = Index.build(data, None, tmp_path / "index", encoder=Whole(), layers=["passages"], progress=False)
    for spec in ("dense", "bm25"):
        evidence = wb.method(spec, index).retrieve("Which river does Orsby lie on?")
        answer = wb.reader("direct[k=1]").read(evidence.question, evidence)
        assert answer.failure is None
        assert max(len(one._repr_html_()) for one in (evidence, answer, data, index)) < 200_000
    for question, found in (("w4999", "4999"), ("Which river does Orsby lie on?", "long")):
        assert wb.method("bm25", index).retrieve(question).passages[0].item.id == found
