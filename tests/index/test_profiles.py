"""The layer of profiles: kept as they came, found by the phrases of the graph, gone with the passages behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st
from tiny import TinyEncoder, files

from workbench.data import Extraction
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile, joined, within
from workbench.errors import DataError
from workbench.index import Index
from workbench.records import Passage

ORSBY = EntityProfile("Orsby!", "town", "A town on the Aldra.", ("p1", "p5"))
ORSBY_PIER = EntityProfile("ORSBY", "harbour", "Where the pier stands.", ("p5",))
FOG = EntityProfile("Fog", "", "Nothing is known of it.", ("p8",))
FOUNDED = RelationProfile("Nora Whitlock", "Orsby", "She founded it.", ("founding", "town"), 2.0, ("p1", "p4"))
FEEDS = RelationProfile("Lake Mira", "River Aldra", "The river feeds the lake.", (), None, ())
PROFILES = Profiles((ORSBY, ORSBY_PIER, FOG), (FOUNDED, FEEDS))


def build(data, folder, **options) -> Index:
    return Index.build(data, None, folder, encoder=TinyEncoder(), progress=False, **options)


@pytest.fixture
def index(tiny, tmp_path) -> Index:
    return build(replace(tiny, profiles=PROFILES), tmp_path / "profiled")


def test_what_came_is_found_by_the_phrases_of_the_graph(index):
    for opened in (index, Index.open(index.folder)):
        layer, known = opened.profiles, opened.phrased
        assert known.of("orsby") == [ORSBY_PIER, ORSBY]  # two names of one phrase, sorted
        assert known.of("fog") == [FOG] and "fog" not in opened.facts.phrase_row  # an entity without a fact is kept
        assert known.between("orsby", "nora whitlock") == known.between("nora whitlock", "orsby") == [FOUNDED]
        assert known.of("quell") == known.between("quell", "orsby") == []
        assert layer.given and layer.relations == [FEEDS, FOUNDED]
        assert set(layer.profiles.entities) == set(PROFILES.entities)
        assert set(layer.profiles.relations) == set(PROFILES.relations)
    assert {"entities": 3, "relations": 2}.items() <= index.manifest["layers"]["profiles"].items()


def test_a_profile_of_an_unknown_passage_is_named(tiny, tmp_path):
    bad = Profiles((replace(FOG, passages=("p99",)),))
    with pytest.raises(DataError, match=r"Fog.*names the passage 'p99', which is not in the corpus"):
        build(replace(tiny, profiles=bad), tmp_path)


def test_a_deleted_passage_takes_what_only_it_supported(index):
    smaller = index.delete(["p5", "p8"], progress=False)
    assert smaller.phrased.of("orsby") == [replace(ORSBY, passages=("p1",))]
    assert smaller.phrased.of("fog") == []
    assert smaller.phrased.between("lake mira", "river aldra") == [FEEDS]  # it never named a passage
    assert not any(b"Where the pier stands" in content for content in files(index.folder).values())
    smallest = smaller.delete(["p1", "p4"], progress=False)
    assert smallest.phrased.between("orsby", "nora whitlock") == []


def test_what_was_left_out_is_said_by_data_and_index_and_survives_a_change(tiny, tmp_path):
    data = replace(tiny, left_out=("34 community <reports>",))
    index = build(data, tmp_path).delete(["p8"], progress=False)
    for thing in (data, index, Index.open(index.folder), index.data):
        assert "34 community <reports>" in repr(thing)
        assert "34 community &lt;reports&gt;" in thing._repr_html_()
    assert "left out" not in repr(tiny) + tiny._repr_html_()


names = st.text(max_size=8)
ids = st.lists(st.sampled_from(["p1", "p2", "p3"]), unique=True, max_size=3).map(tuple)
entities = st.builds(EntityProfile, names, names, names, ids)
relations = st.builds(
    RelationProfile,
    *(names, names, names),
    st.lists(names, max_size=2).map(tuple),
    st.none() | st.floats(-9, 9),
    ids,
    names,
)


@pytest.mark.parametrize("gone", [[], ["p5"]])
def test_a_change_gives_the_bytes_of_a_fresh_build(index, tiny, tmp_path, gone):
    extraction = Extraction("p9", ("Skarne",), (("Skarne", "is", "port"),), "by hand")
    passage, new = Passage("p9", "Skarne", "A port."), EntityProfile("Skarne", "port", "A port.", ("p9",))
    changed = index.insert([passage], extractions=[extraction], profiles=Profiles((new,)), progress=False)
    changed = changed.delete(gone, progress=False) if gone else changed
    left = [one for one in (*tiny.passages, passage) if one.id not in gone]
    data = replace(
        tiny,
        passages=tuple(left),
        extractions=tuple(one for one in (*tiny.extractions, extraction) if one.passage_id not in gone),
        profiles=within(joined([PROFILES, Profiles((new,))]), {one.id for one in left}),
    )
    fresh = build(data, tmp_path / "fresh").profiles
    assert (changed.profiles.hash, changed.profiles.metadata) == (fresh.hash, fresh.metadata)


def test_an_index_that_was_written_with_another_content_hash_grows(tiny, tmp_path, monkeypatch):
    """Before the content was hashed column by column, its JSON was."""
    with monkeypatch.context() as before:
        before.setattr("workbench.index.profiles.content_hash", lambda table: "of the JSON")
        build(replace(tiny, profiles=PROFILES), tmp_path)
    smaller = Index.open(tmp_path, TinyEncoder()).delete(["p8"], progress=False)
    assert smaller.phrased.of("fog") == [] and smaller.phrased.of("orsby") == [ORSBY_PIER, ORSBY]
