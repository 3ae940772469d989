"""Answers that were cut or repaired are counted, whatever way the index came about; versions name what made it."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

import pytest
from tiny import TinyEncoder, TinyEngine, files, tiny_dataset

from workbench.index import Index, journal
from workbench.index.building import versions
from workbench.records import Passage

DATA = replace(tiny_dataset(), extractions=None)


class Flawed(TinyEngine):
    """Cuts its names for Orsby, and repairs and cuts what it states of the lake."""

    def _answer(self, step, value):
        levels = {
            ("named_entities", "Orsby"): "cut",
            ("named_entities", "Lake Mira"): "repaired",
            ("triples", "Lake Mira"): "cut",
        }
        return replace(super()._answer(step, value), parse=levels.get((step.name, value.title), "strict"))


def build(folder, engine=None, data=DATA) -> Index:
    return Index.build(data, engine, folder, encoder=TinyEncoder(), progress=False)


def counts(index: Index) -> tuple[int, int, int]:
    layer = index.manifest["layers"]["extractions"]
    return layer["cut"], layer["repaired"], layer["failures"]


def test_cut_and_repaired_answers_are_counted_beside_failures(tmp_path):
    assert counts(build(tmp_path / "flawed", Flawed())) == (2, 1, 0)
    assert counts(build(tmp_path / "failing", Flawed(fails_on=["Quell"]))) == (2, 1, 1)
    assert counts(build(tmp_path / "whole", TinyEngine())) == (0, 0, 0)


def test_a_flawless_table_has_the_lines_that_it_always_had(tmp_path):
    """What lies above depends on these bytes: an index built before must not be encoded again."""
    index = build(tmp_path, TinyEngine())
    assert "flaws" not in (index.extractions.folder / "table.jsonl").read_text()


def test_a_passage_that_stands_twice_counts_twice(tmp_path):
    twin = replace(DATA.passages[0], id="twin")
    assert counts(build(tmp_path, Flawed(), replace(DATA, passages=(*DATA.passages, twin)))) == (3, 1, 0)


def test_a_build_that_was_stopped_counts_what_it_did_before(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "GROUP", 2)
    build(tmp_path / "whole", Flawed())
    with pytest.raises(RuntimeError, match="injected"):
        build(tmp_path / "stopped", Flawed(fail_at=6))
    assert counts(build(tmp_path / "stopped", Flawed())) == (2, 1, 0)
    assert files(tmp_path / "stopped") == files(tmp_path / "whole")


def test_an_insert_and_a_delete_keep_the_counts(tmp_path):
    index = build(tmp_path, Flawed()).insert([Passage("p9", "Ore", "Ore is a village.")], Flawed(), progress=False)
    assert counts(index) == (2, 1, 0)
    assert counts(index.delete(["p1"], progress=False)) == (1, 1, 0)


def test_a_record_given_by_hand_has_no_flaws_of_another(tmp_path):
    build(tmp_path, Flawed())
    assert counts(build(tmp_path, data=tiny_dataset())) == (0, 0, 0)


def test_the_version_of_the_local_models_program_is_named_where_it_was_used():
    pytest.importorskip("xllamacpp")
    assert versions("rules", "local:smollm2#7000ef98 (triples v2)")["xllamacpp"] == version("xllamacpp")
    assert "xllamacpp" not in versions() and "xllamacpp" not in versions("rules", "openai:local")


def test_without_the_program_its_version_is_not_named(monkeypatch):
    """A recording is replayed where it is not installed."""
    monkeypatch.setattr("workbench.index.building.has_extra", lambda extra: False)
    versions.cache_clear()
    try:
        assert "xllamacpp" not in versions("local:smollm2#7000ef98")
    finally:
        versions.cache_clear()


def test_the_manifest_of_an_index_made_by_a_local_model_names_the_version(tmp_path):
    pytest.importorskip("xllamacpp")
    engine = TinyEngine()
    engine.name = "local:tiny#00000000"
    assert "xllamacpp" in build(tmp_path / "local", engine).manifest["versions"]
    assert "xllamacpp" not in build(tmp_path / "other", TinyEngine()).manifest["versions"]
