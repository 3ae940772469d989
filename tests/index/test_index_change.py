"""Insert and delete: whatever the way to a list of passages, the index is that of a fresh build over the list."""

from __future__ import annotations

import tempfile
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny import CountingEncoder, TinyEncoder, TinyEngine, files, same_content

from workbench.data import Dataset, Extraction
from workbench.errors import IndexFault
from workbench.index import Index
from workbench.records import Passage

FORM = Passage("p9", "Skarne", "Skarne is a port.")
FORMED = Extraction("p9", ("Skarne",), (("Skarne", "is", "port"),), "by hand")


def build(data, folder, engine=None, encoder=None, **options) -> Index:
    return Index.build(data, engine, folder, encoder=encoder or TinyEncoder(), progress=False, **options)


# -- any way to a list of passages ----------------------------------------------------------------------------------

# Few words, so that phrases are near-synonyms, many cosines are equal, and the cap binds.
phrases = st.lists(st.sampled_from(["old", "river", "lake", "aldra", "!"]), min_size=1, max_size=4).map(" ".join)
triples = st.tuples(phrases, st.sampled_from(["is", "feeds"]), phrases)
pools = st.lists(st.lists(triples, max_size=4), min_size=2, max_size=6)
changes = st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=3), max_size=4)
layer_settings = st.fixed_dictionaries(
    {
        "facts": st.fixed_dictionaries({"normalise": st.sampled_from(["unicode", "ascii"])}),
        "synonyms": st.fixed_dictionaries(
            {
                "threshold": st.sampled_from([0.3, 0.6, 0.8]),
                "cap": st.integers(1, 3),
                "k": st.integers(2, 4),
                "min_characters": st.sampled_from([0, 5]),
            }
        ),
    }
)


def passage_of(number: int, said: list) -> Passage:
    return Passage(f"p{number}", f"Title {number % 2}", ". ".join(" ".join(triple) for triple in said))


@given(pools, st.sets(st.integers(0, 5), min_size=1), changes, layer_settings)
# A phrase whose full list loses its member must look further down: `a b` was there all along.
@example(
    [[("a b c", "is", "a b c d")], [("a b", "is", "a b c")], [("x", "is", "x")]],
    {0, 1, 2},
    [{0}],
    {"facts": {"normalise": "unicode"}, "synonyms": {"threshold": 0.3, "cap": 1, "k": 4, "min_characters": 0}},
)
def test_any_way_to_a_list_of_passages_gives_one_index(pool, start, steps, chosen):
    made = {f"p{n}": (passage_of(n, said), Extraction(f"p{n}", (), tuple(said), "x")) for n, said in enumerate(pool)}
    present = [f"p{n}" for n in sorted(start) if f"p{n}" in made] or ["p0"]

    def data(ids) -> Dataset:
        return Dataset("random", tuple(made[i][0] for i in ids), (), tuple(made[i][1] for i in ids))

    with tempfile.TemporaryDirectory() as folder:
        index = build(data(present), f"{folder}/changed", settings=chosen)
        for step in steps:
            toggled = [f"p{n}" for n in sorted(step) if f"p{n}" in made]
            new, gone = ([i for i in toggled if (i in present) == there] for there in (False, True))
            if new:
                records = [made[i][1] for i in new]
                index = index.insert([made[i][0] for i in new], extractions=records, progress=False)
                present += new
            if gone and set(gone) < set(present):
                index = index.delete(gone, progress=False)
                present = [i for i in present if i not in gone]
        fresh = build(data(present), f"{folder}/fresh", settings=chosen)
        assert same_content(index, fresh)
        assert index.graph == fresh.graph


# -- what a change does ---------------------------------------------------------------------------------------------


def test_nothing_of_a_deleted_passage_is_left(tiny_index):
    index = tiny_index.delete(["p5", "p7"], progress=False)
    assert [p for p in index.facts.phrases if "pier" in p or "東" in p] == []
    assert index.synonyms.phrases() == index.facts.phrases
    assert not any(b"Harbour" in content or b"harbour" in content for content in files(index.folder).values())
    assert [passage.id for passage in index.passages.passages] == ["p1", "p2", "p3", "p4", "p6", "p8"]


@pytest.mark.parametrize("change", ["insert", "delete", "ensure"])
def test_an_old_value_does_not_undo_what_came_after_it(tiny_index, change):
    """`index.insert(a)` and then `index.insert(b)` on the same value would lose a without a word."""
    opened = Index.open(tiny_index.folder, TinyEncoder())
    tiny_index.delete(["p1"], progress=False)
    before = files(opened.folder)
    asked = {"insert": ([FORM],), "delete": (["p2"],), "ensure": (["profiles"],)}[change]
    with pytest.raises(IndexFault, match=r"was changed after this index was opened.*go on from"):
        getattr(opened, change)(*asked, progress=False)
    assert files(opened.folder) == before


# -- what a change costs --------------------------------------------------------------------------------------------


def test_only_new_texts_are_encoded(tiny, tmp_path):
    encoder = CountingEncoder()
    index = build(tiny, tmp_path, encoder=encoder)
    encoder.calls.clear()
    joins = Extraction("p9", (), (("Orsby", "lies near", "Quell"), ("Orsby", "lies on", "River Aldra")), "by hand")
    index = index.insert([FORM], extractions=[joins], progress=False)
    assert encoder.texts == [FORM.content, "('orsby', 'lies near', 'quell')"]
    encoder.calls.clear()
    index.delete(["p1", "p9"], progress=False)
    assert encoder.texts == []


def test_only_new_phrases_are_compared(tiny, tiny_index):
    index = tiny_index.insert([FORM], extractions=[FORMED], progress=False)
    assert index.manifest["layers"]["synonyms"]["compared"] == 2
    assert index.delete(["p9"], progress=False).manifest["layers"]["synonyms"]["compared"] == 0


def test_a_failed_extraction_is_kept_until_an_engine_can_try_again(tiny, tmp_path):
    data = replace(tiny, extractions=None)
    index = build(data, tmp_path, TinyEngine(fails_on=["Quell", "River Aldra"]))
    assert index.manifest["layers"]["extractions"]["failures"] == 2
    assert index.extractions.records[5].failure == "told to fail"
    index = index.delete(["p8"], progress=False)  # no engine is needed to take something out
    assert index.manifest["layers"]["extractions"]["failures"] == 2
    engine = TinyEngine(fails_on=["Quell"])
    index = index.insert([FORM], engine, progress=False)
    assert sorted(engine.asked) == ["Quell", "River Aldra", "Skarne"]
    assert [record.passage_id for record in index.extractions.records if record.failure] == ["p6"]


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("new", [[Passage("p1", "", "x")], [FORM, FORM]])
def test_an_id_is_used_once(tiny_index, new):
    before = files(tiny_index.folder)
    with pytest.raises(IndexFault, match="must be new and unique"):
        tiny_index.insert(new, extractions=[FORMED], progress=False)
    assert files(tiny_index.folder) == before


@pytest.mark.parametrize(
    ("ids", "said"), [(["p1", "p99"], "no passage has the id 'p99'"), ([f"p{n}" for n in range(1, 9)], "at least one")]
)
def test_what_is_not_there_cannot_be_deleted_nor_can_everything(tiny_index, ids, said):
    before = files(tiny_index.folder)
    with pytest.raises(IndexFault, match=said):
        tiny_index.delete(ids, progress=False)
    assert files(tiny_index.folder) == before


def test_an_insertion_without_extraction_and_engine_changes_nothing(tiny_index):
    with pytest.raises(IndexFault, match="'p9'"):
        tiny_index.insert([FORM], progress=False)
    assert same_content(Index.open(tiny_index.folder), tiny_index)
    index = tiny_index.insert([FORM], extractions=[FORMED], progress=False)  # and can be mended
    assert index.counts()["passages"] == 9


def test_a_build_over_an_index_goes_on_with_its_encoder(tiny_index, tiny):
    """It neither encodes everything anew with another encoder nor guesses one that it cannot load."""
    with pytest.raises(IndexFault, match="encoded by 'tiny'"):
        Index.build(tiny, None, tiny_index.folder, progress=False)
