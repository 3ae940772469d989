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
    cut = wb.node_details(tiny_index, "orsby", limit=1)
    assert (len(cut.facts), len(cut.passages), cut.counts) == (1, 1, (4, 0, 4))
    assert (details.spelling["orsby"], details.spelling["nora whitlock"]) == ("Orsby", "Nora Whitlock")
    assert "Nora Whitlock" in details._repr_html_() and "nora whitlock" not in details._repr_html_()


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
    assert details.spelling["p3"] == tiny_index.passages.passages[2].title
    assert wb.node_details(tiny_index, "p8").counts == (0, 0, 1)


def test_a_row_names_the_same_node(tiny_index):
    assert wb.node_details(tiny_index, 3) == wb.node_details(tiny_index, "orsby")
    assert wb.node_details(tiny_index, 12) == wb.node_details(tiny_index, "p3")
    with pytest.raises(SettingError, match="18 nodes"):
        wb.node_details(tiny_index, 18)
    with pytest.raises(SettingError, match="near it are 'lake mira'"):
        wb.node_details(tiny_index, "lake")


def test_the_details_of_all_nodes_agree_with_each_other(tiny_index):
    """Whoever is in a phrase's list has the phrase in its own."""
    index, phrases = tiny_index, tiny_index.facts.phrases
    synonyms = {phrase: {e.name: cosine for e, cosine in wb.node_details(index, phrase).synonyms} for phrase in phrases}
    assert synonyms["quell town hall"] == {"the quell town hall": pytest.approx(CLOSE)}
    assert all(phrase in synonyms[other] for phrase, others in synonyms.items() for other in others)
    for row, phrase in enumerate(phrases):
        details = wb.node_details(index, row)
        assert (len(details.facts), len(details.synonyms), len(details.passages)) == details.counts
        assert {p for triple in details.facts for p in triple.passages} == {passage.id for passage in details.passages}
        for passage in details.passages:
            stated = wb.node_details(index, index.graph.phrases + index.passages.row[passage.id]).facts
            assert any(phrase in (triple.subject, triple.object) for triple in stated)
