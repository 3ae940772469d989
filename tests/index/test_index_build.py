"""Building: counts worked out by hand, the same bytes from the same inputs, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tiny import CountingEncoder, TinyEncoder, TinyEngine, files, same_content

import workbench as wb
from workbench.data import Dataset
from workbench.errors import DataError, IndexFault, SettingError
from workbench.index import Index
from workbench.index.facts import fact_text
from workbench.records import Passage

CLOSE = 5 / 35**0.5  # cosine of `a b c d` and `b c d`: 7 and 5 words and pairs of words, 5 of them shared


def build(data, folder, engine=None, encoder=None, **options) -> Index:
    return Index.build(data, engine, folder, encoder=encoder or TinyEncoder(), progress=False, **options)


def keys(index: Index) -> dict[str, str]:
    return {kind: layer["key"] for kind, layer in index.manifest["layers"].items()}


def weight(index: Index, a: str, b: str, merge: str = "overwrite") -> float:
    """Weight between two nodes, each a phrase or a passage id."""
    row = {**index.facts.phrase_row, **{p: len(index.facts.phrases) + n for p, n in index.passages.row.items()}}
    return index.graph.weights(merge)[row[a], row[b]]


# -- what is in it --------------------------------------------------------------------------------------------------


def test_facts_are_distinct_and_sorted(tiny_index):
    assert tiny_index.facts.facts == [
        ("lake mira", "is fed by", "river aldra"),
        ("nora whitlock", "born in", "orsby"),
        ("orsby", "founded by", "nora whitlock"),
        ("orsby", "lies on", "river aldra"),
        ("orsby harbour pier", "replaced", "old orsby harbour pier"),
        ("quell", "is", "quell"),
        ("quell town hall", "overlooks", "lake mira"),
        ("river aldra", "flows into", "lake mira"),
        ("the quell town hall", "stands in", "quell"),
        ("東京", "is twinned with", "orsby"),
    ]
    assert tiny_index.manifest["layers"]["facts"]["dropped"] == 1


def test_every_row_has_the_vector_of_its_text(tiny_index):
    facts, encode = tiny_index.facts, TinyEncoder().encode
    assert np.array_equal(tiny_index.passages.vectors, encode([p.content for p in tiny_index.passages.passages]))
    assert np.array_equal(facts.phrase_vectors, encode(facts.phrases))
    assert np.array_equal(facts.fact_vectors, encode([fact_text(fact) for fact in facts.facts]))
    assert fact_text(facts.facts[0]) == "('lake mira', 'is fed by', 'river aldra')"


def test_counts_of_the_graph(tiny_index):
    assert tiny_index.counts() == {
        "passages": 8,
        "facts": 10,
        "nodes": 18,
        "phrases": 10,
        "relation_pairs_directed": 14,  # seven pairs of phrases are joined by a fact
        "context_pairs": 18,
        "synonym_entries_directed": 4,
        "synonym_on_relation": 2,
        "pairs": 6 + 2 + 18,  # one of the two synonym pairs is a relation pair, too
    }


@pytest.mark.parametrize(
    ("a", "b", "overwrite", "added"),
    [
        ("lake mira", "river aldra", 2 * 2, 2 * 2),  # a fact stated twice in one passage, and one the other way round
        ("orsby", "river aldra", 2 * 2, 2 * 2),  # one fact of two passages
        ("orsby", "nora whitlock", 2 * 2, 2 * 2),
        ("quell town hall", "lake mira", 2 * 1, 2 * 1),
        ("quell town hall", "the quell town hall", 2 * CLOSE, 2 * CLOSE),  # a synonym, found from both ends
        ("orsby harbour pier", "old orsby harbour pier", 2 * CLOSE, 2 * CLOSE + 2 * 1),  # both
        ("quell", "quell", 0, 0),  # a fact that joins a phrase to itself
        ("p2", "river aldra", 1, 1),  # stated twice, and still 1
        ("p5", "old orsby harbour pier", 1, 1),
        ("p1", "lake mira", 0, 0),
        ("p1", "p2", 0, 0),
        ("p8", "p8", 0, 0),
    ],
)
def test_weights_worked_out_by_hand(tiny_index, a, b, overwrite, added):
    for merge, expected in (("overwrite", overwrite), ("sum", added)):
        assert weight(tiny_index, a, b, merge) == pytest.approx(expected, abs=1e-6)
        assert weight(tiny_index, b, a, merge) == pytest.approx(expected, abs=1e-6)


def test_two_spellings_of_a_fact_in_one_passage_count_twice_in_the_released_code(tiny_index):
    """It drops repeated triples before it normalises them: p2 has one in capitals as well."""
    facts = tiny_index.facts
    assert [facts.facts[row] for row in facts.respelled(tiny_index.extractions.records)] == [
        ("river aldra", "flows into", "lake mira")
    ]
    spelled = tiny_index.graph_of_spellings
    change = (spelled.weights() - tiny_index.graph.weights()).tocoo()
    rows = {facts.phrase_row["river aldra"], facts.phrase_row["lake mira"]}
    assert {*change.row.tolist()} == {*change.col.tolist()} == rows and change.data.tolist() == [2.0, 2.0]
    walks = {name: wb.method(f"hipporag2[profile={name}]", tiny_index).graph for name in ("released", "paper")}
    assert walks["released"] is spelled and walks["paper"] is tiny_index.graph


def test_a_synonym_found_from_one_end_replaces_half_of_a_relation(tiny, tmp_path):
    """`pier` is too short to start an edge and may end one: its own direction keeps the count."""
    said = (("a pier", "replaced", "pier"), ("pier", "replaced", "a pier"), ("pier", "is", "a pier"))
    extractions = tuple(replace(e, triples=said if e.passage_id == "p1" else ()) for e in tiny.extractions)
    settings = {"synonyms": {"threshold": 0.5, "min_characters": 5}}
    index = build(replace(tiny, extractions=extractions), tmp_path, settings=settings)
    cosine = 1 / 3**0.5
    assert index.synonyms.similarities.tolist() == pytest.approx([cosine])
    assert weight(index, "a pier", "pier") == pytest.approx(cosine + 3)
    assert weight(index, "a pier", "pier", "sum") == pytest.approx(cosine + 2 * 3)


def test_the_ascii_rule_keeps_triples_under_the_empty_phrase(tiny, tmp_path):
    index = build(tiny, tmp_path, settings={"facts": {"normalise": "ascii"}})
    assert index.facts.phrases[0] == "" and len(index.facts.phrases) == 10
    assert index.manifest["layers"]["facts"]["dropped"] == 0
    assert weight(index, "", "orsby") == 2 * 1
    assert not (index.synonyms.targets == 0).any() and not (index.synonyms.sources == 0).any()


def test_a_corpus_without_a_triple_has_an_index(tiny, tmp_path):
    silent = tuple(replace(extraction, triples=()) for extraction in tiny.extractions)
    index = build(replace(tiny, extractions=silent), tmp_path)
    assert index.counts() | {"passages": 8, "nodes": 8, "facts": 0, "phrases": 0, "pairs": 0} == index.counts()
    assert index.facts.phrase_vectors.shape == (0, 64)
    assert index.graph.weights().shape == (8, 8)
    assert index.delete(["p1"], progress=False).graph.weights().nnz == 0


def test_given_extractions_are_taken_and_the_engine_makes_the_rest(tiny, tmp_path):
    engine = TinyEngine()
    given = tuple(extraction for extraction in tiny.extractions if extraction.passage_id != "p4")
    index = build(replace(tiny, extractions=given), tmp_path, engine)
    assert engine.asked == ["Nora Whitlock"]
    assert index.extractions.records[3].triples == (("Nora Whitlock", "is followed by", "Orsby"),)
    assert index.manifest["layers"]["extractions"]["extracted"] == 1
    assert index.manifest["layers"]["extractions"]["made_by"] == ["by hand", "tiny (named_entities v2, triples v2)"]


# -- what decides its content ---------------------------------------------------------------------------------------


def test_a_setting_leads_to_new_layers_above_it_alone(tiny, tiny_index):
    engine, encoder = TinyEngine(), CountingEncoder()
    before = keys(tiny_index)
    index = build(tiny, tiny_index.folder, engine, encoder, settings={"facts": {"normalise": "ascii"}})
    after = keys(index)
    assert {kind for kind in after if after[kind] != before[kind]} == {"facts", "synonyms"}
    # Only what reads otherwise under the other rule is encoded: the empty phrase and its fact.
    assert sorted(encoder.texts) == ["", "('', 'is twinned with', 'orsby')"]
    assert engine.calls == []


def test_a_setting_stays_until_it_is_changed(tiny, tiny_index):
    folder = tiny_index.folder
    first = build(tiny, folder, settings={"synonyms": {"cap": 1}})
    assert keys(build(tiny, folder)) == keys(first) != keys(tiny_index)
    assert keys(build(tiny, folder, settings={"synonyms": {}})) == keys(tiny_index)


def test_layers_are_built_when_they_are_needed(tiny, tmp_path):
    index = build(tiny, tmp_path, layers=("passages",))
    assert list(index.manifest["layers"]) == ["passages"]
    with pytest.raises(IndexFault, match=r"no layer 'facts' \(it has passages\); add it with index.ensure"):
        _ = index.facts
    # The data given to `ensure` are those of the index, which has no extractions: an engine makes them.
    engine = TinyEngine()
    more = index.ensure(["synonyms"], engine, progress=False)
    assert list(more.manifest["layers"]) == ["passages", "extractions", "facts", "synonyms"]
    assert len(engine.asked) == 8 and more.ensure(["facts"]) is more


# -- what is refused ------------------------------------------------------------------------------------------------


def test_another_data_set_in_the_same_folder_is_refused(tiny, tiny_index):
    before = files(tiny_index.folder)
    with pytest.raises(IndexFault, match="holds the index of 'tiny', not of 'other'; choose another folder"):
        build(replace(tiny, name="other"), tiny_index.folder)
    assert files(tiny_index.folder) == before


class BuildsAgain(TinyEncoder):
    """An encoder in whose midst a second builder comes to the same folder."""

    def __init__(self, data: Dataset, folder):
        self.data, self.folder, self.refused = data, folder, []

    def encode(self, texts):
        with pytest.raises(IndexFault) as error:
            build(self.data, self.folder)
        self.refused.append(str(error.value))
        return super().encode(texts)


def test_a_second_builder_is_told_of_the_first(tiny, tmp_path):
    encoder = BuildsAgain(tiny, tmp_path / "index")
    index = build(tiny, tmp_path / "index", encoder=encoder)
    assert f"another process is building {tmp_path / 'index'}; wait for it" in encoder.refused[0]
    assert same_content(index, build(tiny, tmp_path / "index"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layers": ["fcats"]}, "no layer is called 'fcats'; there are passages, extractions, facts, synonyms"),
        ({"settings": {"fact": {"normalise": "ascii"}}}, "no layer is called 'fact'"),
        ({"settings": {"facts": {"normalize": "ascii"}}}, "layer 'facts' has no setting 'normalize'; it has normalise"),
        ({"settings": {"facts": {"normalise": "latin"}}}, "'latin' is unknown; choose one of unicode, ascii"),
        ({"settings": {"passages": {"size": 3}}}, "layer 'passages' has no setting 'size'; it has none"),
    ],
)
def test_unknown_layers_and_settings_name_the_known_ones(tiny, tmp_path, options, said):
    with pytest.raises(SettingError, match=said):
        build(tiny, tmp_path, **options)
    assert not (tmp_path / "manifest.json").exists()


def test_without_engine_and_extractions_the_first_passage_is_named(tiny, tmp_path):
    given = tuple(extraction for extraction in tiny.extractions if extraction.passage_id not in ("p4", "p6"))
    with pytest.raises(IndexFault, match=r"2 passages have no extraction \(the first is 'p4'\).*wb.engine\('rules'\)"):
        build(replace(tiny, extractions=given), tmp_path)


def test_a_folder_without_an_index_says_how_to_build_one(tmp_path):
    with pytest.raises(IndexFault, match=r"holds no index.*workbench index DATA"):
        Index.open(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "corpus.jsonl").touch()
    with pytest.raises(IndexFault, match=f"{tmp_path} holds data, not an index; .*`workbench index {tmp_path}`"):
        Index.open(tmp_path)


def test_an_encoder_that_has_no_settings_must_be_passed(tiny_index):
    with pytest.raises(IndexFault, match=r"pass it: Index\.open"):
        Index.open(tiny_index.folder).encode_query("q")


@pytest.mark.parametrize(
    ("passages", "said"),
    [
        ((), "needs at least one"),
        ((Passage("p", "", "a"), Passage("p", "", "b")), "'p' occurs twice"),
        ((Passage("p", "", "\ud800"),), "half a character"),
    ],
)
def test_a_data_set_made_by_hand_is_checked_too(tmp_path, passages, said):
    with pytest.raises(DataError, match=said):
        build(Dataset("mine", passages), tmp_path, TinyEngine())


def test_an_engine_may_be_named(tmp_path):
    index = build(Dataset("d", [Passage("p", "Lake Mira", "Lake Mira is fed by the river Aldra.")]), tmp_path, "rules")
    assert index.facts.facts and wb.method("bdtr", index, "rules").engine.name == "rules"
    with pytest.raises(SettingError, match="engine 'nonsense' is unknown"):
        index.insert([Passage("q", "", "Lake Orra is fed by the river Tell.")], "nonsense", progress=False)
