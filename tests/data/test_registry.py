"""Names: what they stand for, where their data are found, and that counts are checked."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path

import pytest

from workbench.data import datasets, load, registry, write_folder
from workbench.data.registry import ALIASES, ENTRIES, find
from workbench.data.sources.fetch import source_folder
from workbench.errors import DataError, SettingError

PINNED = re.compile(r"https://[^?#]*/[0-9a-f]{40}/[^?#]+")


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No data but what a test puts there, and no connection."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOPSCOPE_OFFLINE", "1")
    monkeypatch.delenv("HOPSCOPE_DATA", raising=False)


def test_every_entry_is_pinned_and_says_whose_it_is():
    for entry in ENTRIES.values():
        assert entry.licence and entry.citation and entry.of and entry.page.startswith("https://")
        for file in entry.files:
            assert file.url is None or PINNED.fullmatch(file.url), file
            assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert entry.files or entry.copies
        assert set(entry.options) <= set(signature(entry.read).parameters)


def test_every_short_name_stands_for_an_entry():
    assert set(ALIASES.values()) <= set(ENTRIES) and not set(ALIASES) & set(ENTRIES)
    assert find("musique") is ENTRIES["musique/dev/hipporag-1000"] and find("nothing") is None


def test_offline_every_name_says_what_to_put_where():
    for name in (*ALIASES, *ENTRIES):
        entry = find(name)
        with pytest.raises(DataError, match="HOPSCOPE_DATA") as error:
            load(name)
        for file in entry.files:
            assert str(source_folder(entry) / file.name) in str(error.value)
            assert (file.url or entry.page) in str(error.value)


def small(monkeypatch, **counts):
    """An entry of two passages in HippoRAG's layout, whose files lie in the cache."""
    entry = ENTRIES["popqa/hipporag-1000"]
    monkeypatch.setitem(ENTRIES, entry.id, registry.replace(entry, **{"passages": 3, "questions": 1, **counts}))
    folder = source_folder(entry)
    folder.mkdir(parents=True)
    corpus = [
        {"title": "Orsby", "text": "A town."},
        {"title": "Quell", "text": "A river."},
        {"title": "Orsby", "text": "A town."},
    ]
    (folder / "popqa_corpus.json").write_text(json.dumps(corpus))
    (folder / "popqa.json").write_text(json.dumps([{"id": 1, "question": "Where?", "answer": "there"}]))
    return entry


def test_files_in_the_cache_are_read_and_their_hashes_remembered(monkeypatch):
    entry = small(monkeypatch)
    data = load("popqa")
    assert data.name == entry.id and len(data.passages) == 2 and len(data.questions) == 1
    assert [file.checked for file in data.origin.files] == ["hash recorded at the first use"] * 2
    shown = repr(data.origin)
    assert "hash recorded at the first use" in shown and "its publisher gives no hash" in shown
    assert "left out: 1 exact repetition" in shown and "CC BY-SA" in shown
    (source_folder(entry) / "popqa.json").write_text("[]")
    with pytest.raises(DataError, match="recorded at the first use"):
        load("popqa")


@pytest.mark.parametrize(
    ("counts", "said"), [({"passages": 4}, "has 3 passages, where 4 are known"), ({"questions": 2}, "1 quest")]
)
def test_counts_are_checked(monkeypatch, counts, said):
    small(monkeypatch, **counts)
    with pytest.raises(DataError, match=said):
        load("popqa")


def test_a_data_folder_in_the_cache_or_in_hopscope_data_is_used(monkeypatch, tmp_path):
    entry = small(monkeypatch)
    write_folder(load("popqa"), tmp_path / "mine" / entry.id)
    monkeypatch.setenv("HOPSCOPE_DATA", str(tmp_path / "mine"))
    data = load("popqa")
    assert data.folder == tmp_path / "mine" / entry.id and data.name == entry.id and len(data.passages) == 2
    kept = registry.cache() / entry.id
    (tmp_path / "mine" / entry.id / "corpus.jsonl").rename(kept / "corpus.jsonl")
    with pytest.raises(DataError, match=f"{kept} has 2 passages, where 3 are known"):
        load("popqa")


def test_options_go_where_they_are_known():
    with pytest.raises(SettingError, match="'musique/dev/hipporag-1000' does not know size; it takes no options"):
        load("musique", size=100)
    with pytest.raises(SettingError, match="'ultradomain/cs' does not know on_error; it takes size, overlap, unit, at"):
        load("ultradomain", on_error="skip")
    with pytest.raises(SettingError, match="size: 'meridian' has passages of its own"):
        load("meridian", size=100)


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("musiqe", "did you mean 'musique' or 'musique/dev'? "),
        ("meridion", "did you mean 'meridian'? "),
        ("wrld", "did you mean 'world'? "),
    ],
)
def test_an_unknown_name_gets_near_misses_and_where_all_names_are_listed(name, guess):
    with pytest.raises(DataError) as error:
        load(name)
    message = str(error.value)
    assert message.startswith(f"{name!r} is neither a data set known by name nor a folder; {guess}")
    assert message.endswith("`workbench datasets` lists the names") and len(message) < 250


def test_the_catalogue_lists_them_all_and_shows_itself(monkeypatch):
    entry = small(monkeypatch)
    catalogue = datasets()
    known = {dataset.id: dataset for dataset in catalogue.datasets}
    assert set(known) == {"meridian", "meridian-anonymised", "world", *ENTRIES}
    assert known[entry.id].here == str(source_folder(entry)) and known["musique/dev/hipporag-1000"].here == ""
    assert "not on this machine" in repr(catalogue) and "popqa" in catalogue._repr_html_()
    (source_folder(entry) / "popqa.json").unlink()
    assert next(d for d in datasets().datasets if d.id == entry.id).here.startswith("1 of 2 files in ")


@pytest.mark.parametrize(
    ("name", "passages", "questions", "triples"),
    [
        ("musique/train/hipporag-100", 1890, 50, 0),
        ("2wikimultihopqa/dev/matched-137", 6119, 68, 0),
        ("metaqa", 0, 900, 129_660),
    ],
)
def test_the_shared_benchmarks_are_found_by_id(shared, monkeypatch, name, passages, questions, triples):
    monkeypatch.setenv("HOPSCOPE_DATA", str(shared / "datasets"))
    data = load(name)
    assert (len(data.passages), len(data.questions), len(data.triples)) == (passages, questions, triples)
    assert data.name == find(name).id and data.origin.notes[-1] == find(name).copies[0].note
    if name == "metaqa":
        found = load(name, brackets=True, filtered=True)
        assert len(found.questions) == 900, "each is answered exactly by its walk, as the folder says"
        assert sum(one.question.count("[") for one in found.questions) == 900
        with pytest.raises(DataError, match="cannot be downloaded"):
            load(name, filtered=False, offline=True)
        assert {question.hops for question in data.questions} == {1, 2, 3}
        assert all(question.answer_set and question.type for question in data.questions)


def test_the_documents_table_lists_every_id_with_its_counts():
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    rows = {row.split("`")[1]: row for row in page.splitlines() if row.startswith("| `") and "/" in row.split("`")[1]}
    for entry in ENTRIES.values():
        row = rows.pop(entry.id)
        assert all(f"{count:,}" in row for count in (entry.passages, entry.questions) if count) and entry.licence in row
        assert all(f"`{name}`" in row for name, target in ALIASES.items() if target == entry.id)
    assert [name for name in rows if name not in ("graph/", "worked/")] == []
