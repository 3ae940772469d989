"""Answers that were cut or repaired are counted, whatever way the index came about; versions name what made it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiny import TinyEncoder, TinyEngine, tiny_dataset

from workbench.index import Index
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


def test_an_insert_and_a_delete_keep_the_counts(tmp_path):
    index = build(tmp_path, Flawed()).insert([Passage("p9", "Ore", "Ore is a village.")], Flawed(), progress=False)
    assert counts(index) == (2, 1, 0)
    assert counts(index.delete(["p1"], progress=False)) == (1, 1, 0)


def test_the_manifest_of_an_index_made_by_a_local_model_names_the_version(tmp_path):
    pytest.importorskip("xllamacpp")
    engine = TinyEngine()
    engine.name = "local:tiny#00000000"
    assert "xllamacpp" in build(tmp_path / "local", engine).manifest["versions"]
    assert "xllamacpp" not in build(tmp_path / "other", TinyEngine()).manifest["versions"]
