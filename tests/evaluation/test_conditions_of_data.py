"""What is known of a named data set itself: listed, or of its publisher's files on this machine."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

import workbench as wb
from workbench.data.origin import Origin, SourceFile
from workbench.data.registry import ENTRIES, load_entry
from workbench.errors import DataError
from workbench.index.store import key_of
from workbench.papers import conditions_of_data
from workbench.papers.conditions_of_data import Known, known_of
from workbench.published import paper, papers

NAME = "musique/dev/hipporag-1000"
TERMS = {"data": {"musique": NAME}}


@pytest.fixture
def load(monkeypatch, tmp_path, tiny):
    """Has the publisher's files stand for a data set; `found` is what is read of them."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path))

    def load(found):
        conditions_of_data._here.cache_clear()

        def read(entry, offline, **options):
            assert entry is ENTRIES[NAME] and offline
            if found is None:
                raise DataError("not here")
            return replace(found, questions=found.questions[:1]) if options else found

        monkeypatch.setattr(conditions_of_data, "load_entry", read)

    yield load
    conditions_of_data._here.cache_clear()


def test_the_publishers_files_say_what_a_folder_does_not(load, tiny):
    load(None)
    assert known_of(TERMS, "musique") == Known()
    load(replace(tiny, origin=Origin("a folder of this name")))
    assert known_of(TERMS, "musique") == Known()
    files = (SourceFile("musique.json", "0" * 64),)
    load(replace(tiny, origin=Origin("the publisher", files=files)))
    asked = [asdict(question) for question in tiny.questions]
    assert known_of(TERMS, "musique") == Known(tiny.fingerprint, key_of(questions=asked))
    assert known_of(TERMS | {"fingerprints": {NAME: {"passages": "listed", "questions": None}}}, "musique") == Known(
        "listed", key_of(questions=asked)
    )
    options = {"options": {"musique": {"filtered": True}}}
    assert known_of(TERMS | options, "musique").questions == key_of(questions=asked[:1])
    load(replace(tiny, questions=(), origin=Origin("the publisher", files=files)))
    assert known_of(TERMS, "musique").questions is None, "nobody's questions"


def test_what_is_listed_is_of_data_sets_of_the_papers():
    named = {name for one in papers() for name in paper(one).terms["data"].values()}
    listed = paper("bdtr").terms["fingerprints"]
    assert {*listed} <= named & {*ENTRIES} and all(len(one["passages"]) == 16 for one in listed.values())


def test_the_corpus_of_2wikimultihopqa_is_that_of_its_publisher():
    """As its shared copy has it, which is made of the same file."""
    entry = ENTRIES["2wikimultihopqa/dev/matched-137"]
    try:
        data = load_entry(entry, offline=True)
    except DataError:
        pytest.skip("the corpus is not on this machine")
    assert data.fingerprint == known_of({"data": {"2wiki": "2wikimultihopqa/dev/hipporag-1000"},
                                         **paper("bdtr").terms}, "2wiki").passages  # fmt: skip
    assert wb.load("meridian").fingerprint != data.fingerprint
