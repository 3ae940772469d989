"""The curated extraction: a gold graph's facts, passage by passage, with the passages that state them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given as any_of
from hypothesis import strategies as st

import workbench as wb
from workbench.data.curated import BY_HAND, Sentences, curated, extracted
from workbench.data.graph import GoldEntity
from workbench.errors import SettingError
from workbench.index.schema_extracting import given
from workbench.text import sentences

DATA = wb.load("meridian")
CURATED = extracted(DATA, "curated")
STATED = {record.passage_id: record.triples for record in CURATED.extractions}
ENTITIES = {entity.name: entity for entity in DATA.graph.entities}


def stands(forms, text: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE) for form in forms)


def forms(name: str) -> tuple[str, ...]:
    entity = ENTITIES.get(name)
    return (name,) if entity is None else (name, *entity.aliases, *entity.mentions)


letters = st.text(st.sampled_from("isKA_ .-é\u0130\u0131\u017f\u212a1"), max_size=12)


@any_of(letters, letters.map(lambda text: text[:3]))
def test_a_sentence_names_an_entity_by_words_of_their_own(text, form):
    found = Sentences(text).naming(GoldEntity(form, "town"))
    assert found == {at for at, sentence in enumerate(sentences(text)) if stands([form], sentence)}


def test_every_gold_fact_is_brought_once_for_each_of_its_passages():
    brought = [(id, fact) for id, triples in STATED.items() for fact in triples]
    gold = {(id, (t.head, t.relation, t.tail)) for t in DATA.graph.triples for id in t.passages}
    assert set(brought) == gold and len(brought) == len(gold)
    assert {record.made_by for record in CURATED.extractions} == {BY_HAND} == set(CURATED.profiles.made_by)


def test_profiles_have_types_attributes_and_the_sentence_that_states_a_relation():
    profiles = {(one.source, one.label, one.target): one for one in CURATED.profiles.relations}
    designed = profiles["Lanthorn Bridge", "designed by", "Ilse Varnessel"]
    assert "it was designed by Ilse Varnessel and opened" in designed.description and designed.passages
    for one in CURATED.profiles.relations:
        quoted, text = sentences(one.description), DATA.passage(one.passages[0]).text
        assert 1 <= len(quoted) <= 2 and all(sentence in text for sentence in quoted), one
    bridge = [one for one in CURATED.profiles.entities if one.name == "Lanthorn Bridge"]
    assert {one.type for one in bridge} == {"structure"}
    assert "length: 412 metres" in "; ".join(one.description for one in bridge)
    assert {one.name for one in CURATED.profiles.entities} == set(ENTITIES)


def test_a_schema_graph_gets_every_attribute_back():
    found = given(CURATED.profiles, CURATED.extractions)
    gold = {(t.head, t.relation, t.tail) for t in DATA.graph.triples if t.kind == "attribute"}
    assert {key for key in found.attributes if key[1] != "also called"} == gold
    related = {(t.head, t.relation, t.tail) for t in DATA.graph.triples if t.kind == "relation"}
    assert {(one.source, one.label, one.target) for one in found.relations} == related


def test_a_part_of_the_corpus_brings_what_it_states_alone():
    part = [DATA.passage("lanthorn-bridge")]
    extractions, profiles = curated(DATA.graph, part)
    assert [record.passage_id for record in extractions] == ["lanthorn-bridge"]
    assert {id for one in (*profiles.entities, *profiles.relations) for id in one.passages} == {"lanthorn-bridge"}
    named = {end for fact in extractions[0].triples for end in (fact[0], fact[2]) if end in ENTITIES}
    assert {one.name for one in profiles.entities} == named


def test_it_is_offered_where_there_is_a_gold_graph_and_nowhere_else():
    assert DATA.offers == ("curated",) and extracted(DATA, None) is DATA and extracted(CURATED, "curated") is CURATED
    assert "offers the extraction curated" in repr(DATA) and "offers the extraction curated" in DATA._repr_html_()
    with pytest.raises(SettingError, match="no extraction 'currated'; it offers curated"):
        extracted(DATA, "currated")
    with pytest.raises(SettingError, match="it has no gold graph"):
        extracted(replace(DATA, graph=None), "curated")
