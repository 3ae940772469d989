"""An index on curated facts: built without an engine, labelled wherever it shows, and never mixed with another."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tiny import TinyEncoder

import workbench as wb
from workbench.data.curated import BY_HAND
from workbench.errors import IndexFault

MERIDIAN = wb.load("meridian")
DATA = replace(MERIDIAN, passages=MERIDIAN.passages[:12], questions=())
LAYERS = ("facts", "synonyms", "typed", "schema_graph")


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curated") / "index"
    return wb.Index.build(
        DATA, None, folder, extraction="curated", encoder=TinyEncoder(), layers=LAYERS, progress=False
    )


@pytest.fixture(scope="module")
def by_rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "index"
    return wb.Index.build(DATA, wb.engine("rules"), folder, encoder=TinyEncoder(), progress=False)


def test_no_engine_is_asked_and_the_manifest_says_whose_the_facts_are(curated):
    manifest = json.loads((curated.folder / "manifest.json").read_text())
    assert manifest["data"]["extraction"] == "curated" == curated.extraction
    for kind in ("extractions", "profiles", "schema_graph"):
        assert manifest["layers"][kind]["made_by"] == [BY_HAND], kind
    assert not curated.usage.of().calls
    assert ("lanthorn bridge", "designed by", "ilse varnessel") not in curated.facts.facts  # of a later passage
    assert ("aldermark", "governor", "lucan morravel") in curated.facts.facts


def test_added_layers_and_changed_passages_keep_it(curated, tmp_path):
    again = wb.Index.build(DATA, None, tmp_path / "i", extraction="curated", encoder=TinyEncoder(), progress=False)
    added = again.ensure(["typed"], progress=False)
    assert added.typed.names and added.extraction == "curated" and added.facts_by == (BY_HAND,)
    less = added.delete([DATA.passages[0].id], progress=False)
    assert less.extraction == "curated" and less.facts_by == (BY_HAND,)
    assert ("aldermark", "governor", "lucan morravel") not in less.facts.facts


def test_two_extractions_never_share_a_folder(curated, by_rules):
    for index, extraction in ((curated, None), (by_rules, "curated")):
        with pytest.raises(IndexFault, match=r"holds an index of .* facts, not of .* facts; choose another folder"):
            wb.Index.build(
                DATA, wb.engine("rules"), index.folder, extraction=extraction, encoder=TinyEncoder(), progress=False
            )


def test_a_worked_comparison(tmp_path):
    """Of three pairs of the reference one is found; two of ours are not its."""
    passages = DATA.passages[:1]

    def index(name, *facts):
        record = wb.data.Extraction(passages[0].id, (), facts, name)
        data = replace(DATA, passages=passages, extractions=(record,), graph=None)
        return wb.Index.build(data, None, tmp_path / name, encoder=TinyEncoder(), progress=False)

    ours = index("ours", ("Aune", "is in", "Orsby"), ("Orsby", "named", "Nora"), ("Nora", "saw", "it"))
    reference = index("theirs", ("Orsby", "lies on", "Aune"), ("Orsby", "in", "Marl"), ("Nora", "born in", "Marl"))
    names, pairs, facts = wb.compare_extractions(ours, reference).overlaps
    assert (names.ours, names.reference, names.common) == (4, 4, 3)
    assert (pairs.ours, pairs.reference, pairs.common) == (3, 3, 1) and pairs.precision == pytest.approx(1 / 3)
    assert facts.common == 0 and facts.recall == 0
    assert wb.compare_extractions(ours, reference).missed == (("nora", "born in", "marl"), ("orsby", "in", "marl"))
