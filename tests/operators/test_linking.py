"""Names linked to phrases: the very one first, then by cosine."""

import pytest
from small import index_of

from workbench.operators.linking import Link, late, linked, near, standing


@pytest.fixture
def index(tmp_path):
    return index_of(tmp_path, {"p": [("River Aldra", "flows into", "Lake Mira"), ("Old River Aldra", "is", "dry")]})


def test_the_phrase_of_that_name_is_it_whatever_the_letters(index):
    row = index.facts.phrase_row
    assert near(index, "RIVER  Aldra!") == [Link("RIVER  Aldra!", row["river aldra"], 1.0)]


def test_else_the_closest_vector(index):
    """ "the river aldra" has six grams, "river aldra" three, of which they share three: 3 / sqrt(5 · 3)."""
    (link,) = near(index, "the River Aldra")
    assert link.phrase == index.facts.phrase_row["river aldra"]
    assert link.cosine == pytest.approx(3 / 15**0.5, abs=1e-5)


def test_k_of_them_each_once(index):
    found = near(index, "River Aldra", 2)
    assert [link.phrase for link in found] == [index.facts.phrase_row[p] for p in ("river aldra", "old river aldra")]
    assert len(near(index, "River Aldra", 99)) == len(index.facts.phrases)


def test_a_name_like_nothing_is_left_out_and_a_phrase_is_linked_once(index):
    names = ["Quantum chromodynamics", "Lake Mira", "lake mira", "River Aldra"]
    assert [link.name for link in linked(index, names, 0.5)] == ["lake mira", "River Aldra"]


@pytest.mark.parametrize("name", ["", "…", "\ud800", "<b>\x00"])
def test_what_is_no_name_does_no_harm(index, name):
    assert len(near(index, name)) == len(late(index, name)) == 1


def test_late_interaction_takes_the_phrase_whose_words_match_best(index):
    """Each word of "aldra old river" stands in "old river aldra", in another order: 1 each. Of "river aldra" two do."""
    (link,) = late(index, "Aldra, old river")
    assert link.phrase == index.facts.phrase_row["old river aldra"]
    assert link.cosine == pytest.approx(1, abs=1e-5)
    (other,) = late(index, "river mouth", among=1)
    mouth, river, aldra = index.encode(["mouth", "river", "aldra"])
    assert other.phrase == index.facts.phrase_row["river aldra"]
    assert other.cosine == pytest.approx((1 + max(mouth @ river, mouth @ aldra)) / 2, abs=1e-5)
    assert late(index, "RIVER  Aldra!")[0].phrase == index.facts.phrase_row["river aldra"]


def test_a_graph_without_phrases_links_nothing(tmp_path):
    empty = index_of(tmp_path, {"p": []})
    assert linked(empty, ["A"], 0.0) == [] and late(empty, "A") == []


def test_names_in_han_stand_in_a_question_none_within_a_longer_one(tmp_path):
    index = index_of(tmp_path, {"p": [("東京", "is", "京")]})
    assert standing(index, "京は東京か") == ["京", "東京"] and standing(index, "東京か") == ["東京"]
