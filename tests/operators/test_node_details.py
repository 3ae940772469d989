"""Cards of nodes, by hand on the tiny index."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import SettingError
from workbench.records import Triple

CLOSE = 5 / 35**0.5  # cosine of `a b c d` and `b c d`


def test_the_details_of_a_phrase(tiny_index):
    details = wb.node_details(tiny_index, "orsby")
    assert (details.name, details.kind, details.degree, details.counts) == ("orsby", "phrase", 7, (4, 0, 4))
    assert details.facts == (
        Triple("nora whitlock", "born in", "orsby", ("p4",)),
        Triple("orsby", "founded by", "nora whitlock", ("p1",)),
        Triple("orsby", "lies on", "river aldra", ("p1", "p5")),
        Triple("東京", "is twinned with", "orsby", ("p7",)),
    )
    assert [passage.id for passage in details.passages] == ["p1", "p4", "p5", "p7"]


def test_names_come_as_passages_spell_them(tiny_index):
    phrase, passage = wb.node_details(tiny_index, "orsby"), wb.node_details(tiny_index, "p3")
    assert (phrase.spelling["orsby"], phrase.spelling["nora whitlock"]) == ("Orsby", "Nora Whitlock")
    assert passage.spelling["p3"] == tiny_index.passages.passages[2].title
    assert passage.spelling["quell town hall"] == "Quell Town Hall"
    assert "Nora Whitlock" in phrase._repr_html_() and "nora whitlock" not in phrase._repr_html_()


def test_synonyms_come_with_their_cosines_from_either_side(tiny_index):
    for name, other in (("quell town hall", "the quell town hall"), ("the quell town hall", "quell town hall")):
        ((entity, cosine),) = wb.node_details(tiny_index, name).synonyms
        assert (entity.name, cosine) == (other, pytest.approx(CLOSE))


def test_a_fact_between_a_phrase_and_itself_counts_once(tiny_index):
    details = wb.node_details(tiny_index, "quell")
    assert [triple.members for triple in details.facts] == [
        ("quell", "is", "quell"),
        ("the quell town hall", "stands in", "quell"),
    ]
    assert details.counts == (2, 0, 1)


def test_the_details_of_a_passage(tiny_index):
    details = wb.node_details(tiny_index, "p3")
    assert (details.name, details.kind, details.degree, details.counts) == ("p3", "passage", 3, (2, 0, 1))
    assert [triple.members for triple in details.facts] == [
        ("lake mira", "is fed by", "river aldra"),
        ("quell town hall", "overlooks", "lake mira"),
    ]
    assert details.passages == (tiny_index.passages.passages[2],)
    assert wb.node_details(tiny_index, "p8").counts == (0, 0, 1)


def test_a_fact_of_a_passage_names_all_passages_that_state_it(tiny_index):
    lies_on = [triple for triple in wb.node_details(tiny_index, "p5").facts if triple.relation == "lies on"]
    assert lies_on == [Triple("orsby", "lies on", "river aldra", ("p1", "p5"))]


def test_lists_are_cut_and_counts_are_not(tiny_index):
    details = wb.node_details(tiny_index, "orsby", limit=1)
    assert (len(details.facts), len(details.passages), details.counts) == (1, 1, (4, 0, 4))


def test_a_row_names_the_same_node(tiny_index):
    assert wb.node_details(tiny_index, 3) == wb.node_details(tiny_index, "orsby")
    assert wb.node_details(tiny_index, 12) == wb.node_details(tiny_index, "p3")
    with pytest.raises(SettingError, match="18 nodes"):
        wb.node_details(tiny_index, 18)
    with pytest.raises(SettingError, match="near it are 'lake mira'"):
        wb.node_details(tiny_index, "lake")


def test_the_details_of_all_nodes_agree_with_each_other(meridian_index):
    """Whoever is in a phrase's list has the phrase in its own."""
    index = meridian_index
    phrases = index.facts.phrases
    synonyms = {phrase: {e.name for e, _ in wb.node_details(index, phrase, 10**6).synonyms} for phrase in phrases}
    assert any(synonyms.values())
    assert all(phrase in synonyms[other] for phrase, others in synonyms.items() for other in others)
    for row, phrase in enumerate(phrases[:50]):
        details = wb.node_details(index, row, 10**6)
        assert (len(details.facts), len(details.synonyms), len(details.passages)) == details.counts
        assert {p for triple in details.facts for p in triple.passages} == {passage.id for passage in details.passages}
        for passage in details.passages:
            stated = wb.node_details(index, index.graph.phrases + index.passages.row[passage.id], 10**6).facts
            assert any(phrase in (triple.subject, triple.object) for triple in stated)
