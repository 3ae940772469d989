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
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.records import Passage

FORM = Passage("p9", "Skarne", "Skarne is a port.")
FORMED = Extraction("p9", ("Skarne",), (("Skarne", "is", "port"),), "by hand")


def build(data, folder, engine=None, encoder=None, **options) -> Index:
    return Index.build(data, engine, folder, encoder=encoder or TinyEncoder(), progress=False, **options)


# -- any way to a list of passages ----------------------------------------------------------------------------------

# Few words, so that phrases are near-synonyms, many cosines are equal, and the cap binds.
phrases = st.lists(st.sampled_from(["old", "River", "lake", "É", "!"]), min_size=1, max_size=4).map(" ".join)
triples = st.tuples(phrases, st.sampled_from(["is", "feeds"]), phrases)
pools = st.lists(st.lists(triples, max_size=4), min_size=2, max_size=6)
changes = st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=3), max_size=4)
layer_settings = st.fixed_dictionaries(
    {
        "facts": st.fixed_dictionaries({"normalise": st.sampled_from(["unicode", "ascii"])}),
        "entity_summaries": st.just({"tau": 1}),
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
    {
        "facts": {"normalise": "unicode"},
        "synonyms": {"threshold": 0.3, "cap": 1, "k": 4, "min_characters": 0},
        "entity_summaries": {"tau": 1},
    },
)
def test_any_way_to_a_list_of_passages_gives_one_index(pool, start, steps, chosen):
    made = {
        f"p{n}": (passage_of(n, said), Extraction(f"p{n}", ("Orsby",) * (n % 2), tuple(said), f"by {n % 2}"))
        for n, said in enumerate(pool)
    }
    present = [f"p{n}" for n in sorted(start) if f"p{n}" in made] or ["p0"]

    def data(ids) -> Dataset:
        return Dataset("random", tuple(made[i][0] for i in ids), (), tuple(made[i][1] for i in ids))

    given = {"settings": chosen, "layers": ["synonyms", "entity_summaries"]}
    with tempfile.TemporaryDirectory() as folder:
        index = build(data(present), f"{folder}/changed", **given)
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
        fresh = build(data(present), f"{folder}/fresh", **given)
        assert same_content(index, fresh) and index.graph == fresh.graph
        for kind in fresh.manifest["layers"]:
            assert index.layer(kind).hash == fresh.layer(kind).hash, kind
            assert _settled(index.layer(kind).metadata) == _settled(fresh.layer(kind).metadata)


def _settled(metadata: dict) -> dict:
    """Without what tells of the way to an index."""
    return {name: said for name, said in metadata.items() if name not in ("extracted", "compared", "asked")}


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
    with pytest.raises(IndexFault, match=r"was changed after this index was opened.*use the index that"):
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


# -- what a change takes over --------------------------------------------------------------------------------------


def passage(number: int) -> Passage:
    return Passage(f"p{number}", f"Title {number % 3}", f"Text {number}.")


def record(number: int, said: tuple[list, str]) -> Extraction:
    return Extraction(f"p{number}", ("Orsby",) * (number % 2), tuple(said[0]), said[1])


@pytest.fixture
def large(tmp_path) -> Index:
    said = {number: ([("Orsby", "in", f"Land {number}")], "by hand") for number in range(50)}
    data = Dataset("d", tuple(map(passage, said)), (), tuple(record(n, one) for n, one in said.items()))
    return Index.build(data, None, tmp_path, encoder=TinyEncoder(), progress=False)


def test_given_records_replace_those_that_stand(large):
    """What the insert brings for a passage that is there counts."""
    other = Extraction("p3", (), (("Mira", "in", "Orsby"),), "by another")
    grown = large.insert([passage(50)], extractions=[other, record(50, ([], "by hand"))], progress=False)
    assert grown.extractions.records[3] == other and ("mira", "in", "orsby") in grown.facts.facts
    assert grown.manifest["layers"]["extractions"]["made_by"] == ["by another", "by hand"]


def summarised(folder, engine, said: dict[int, tuple], tau: int = 0) -> Index:
    """An index with a summary of each phrase."""
    data = Dataset("d", tuple(map(passage, said)), (), tuple(record(n, one) for n, one in said.items()))
    chosen = {"entity_summaries": {"tau": tau}}
    asked = ["entity_summaries"]
    return Index.build(data, engine, folder, encoder=TinyEncoder(), layers=asked, settings=chosen, progress=False)


class Author:
    """Writes summaries, but of no entity that it `fails` at."""

    def __init__(self, name: str = "openai:one", fails: str = ""):
        self.name, self.fails, self.meter, self.asked = name, fails, Meter(), []

    def run(self, step, inputs, *, trace=None):
        self.asked += [value.entity for value in inputs]
        return [
            Result(None, failure="told to fail")
            if value.entity == self.fails
            else Result(step.output(summary=f"{value.entity} by {self.name}"), parse="repaired")
            for value in inputs
        ]


SAID = {number: ([("Orsby", "in", f"Land {number}")], "by hand") for number in range(4)}
MORE = record(4, ([("Land 1", "near", "Mira")], "by hand"))


def test_only_phrases_whose_facts_changed_are_summarised_again(tmp_path):
    index, model = summarised(tmp_path, Author(), SAID), Author()
    index = index.insert([passage(4)], model, extractions=[MORE], progress=False)
    assert model.asked == ["land 1", "mira"]
    index = index.delete(["p2"], model, progress=False)
    assert model.asked == ["land 1", "mira", "orsby"]
    said = index.entity_summaries.metadata
    assert (said["asked"], said["repaired"], said["summaries"]) == (1, 5, 5)
    assert said["made_by"] == ["openai:one (summarise_entity v1)"]


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


def test_an_insert_that_was_whole_before_it_was_stopped_stays_as_it_is(tiny, tmp_path):
    """Its passages are there: to extract, or to be given, nothing is left, and no layer has another key."""
    data = Dataset("tiny", tiny.passages)
    build(data, tmp_path / "index", TinyEngine()).insert([FORM], TinyEngine(), progress=False)
    before = files(tmp_path / "index")
    Index.open(tmp_path / "index", TinyEncoder()).insert([], TinyEngine(), progress=False)
    assert files(tmp_path / "index") == before


def test_a_build_over_an_index_goes_on_with_its_encoder(tiny_index, tiny):
    """It neither encodes everything anew with another encoder nor guesses one that it cannot load."""
    with pytest.raises(IndexFault, match="encoded by 'tiny'"):
        Index.build(tiny, None, tiny_index.folder, progress=False)
