"""Walking a knowledge tree: places, the way back from a passage, search, numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from planted_tree import planted_tree, theme_index

from workbench.errors import SettingError
from workbench.operators.knowledge_tree import (
    NONE,
    KnowledgeTree,
    cosines,
    dominant,
    group_means,
    joined_by,
    overlaps,
    principal_plane,
)


@pytest.fixture(scope="module")
def tree():
    return planted_tree(60, 4)


@pytest.fixture(scope="module")
def themes(tmp_path_factory) -> KnowledgeTree:
    return KnowledgeTree(theme_index(tmp_path_factory.mktemp("themes")))


def test_a_community_down_to_an_attribute_and_back_from_its_passage(themes):
    at = int(themes.tree.community_of[themes.graph.row["river 3"]])
    community = themes.community(at)
    assert community.id == themes.community(community.name).id == at
    assert "river 3" in [member.name for member in community.members]
    assert [m.name for m in community.members][: len(community.keywords)] == list(community.keywords)
    entity = themes.entity("river 3")
    assert (entity.type, entity.community, entity.community_name) == ("river", at, community.name)
    assert [triple.members for triple in entity.triples] == [("river 3", "flows_into", "river hub")]
    assert [(one.type, one.value, one.passages) for one in entity.attributes] == [("size", "3", ("river",))]
    place = themes.passage(entity.passages[0])
    assert (entity.row, "river 3", "river", at) in place.entities and len(place.entities) == 9
    assert at in [one.id for one in place.communities] and sum(one.relations for one in place.communities) == 9
    assert len(place.triples) == 8 and len(place.attributes) == 8


def test_an_entity_in_no_community(tree):
    place = tree.entity(59)
    assert (place.community, place.community_name, place.role) == (NONE, "", "in no community")
    assert tree.perceptions[59].tolist() == [0, 0]


def test_names_and_failures(tree):
    assert tree.name(1) == tree.tree.named[1].name
    assert tree.name(0) == tree.graph.names[tree.tree.communities[0].centre], (
        "a community without a name has its centre's"
    )
    assert tree.community(0).failure == "no reply" and tree.community(1).failure == ""


@pytest.mark.parametrize(
    "ask, said",
    [
        (lambda tree: tree.community(99), "no community 99; give an id from 0 to 3, or a name"),
        (lambda tree: tree.community("x"), "no community 'x'"),
        (lambda tree: tree.community(True), "no community True"),
        (lambda tree: tree.entity("entity"), "no entity 'entity'; there are 'entity 0', "),
        (lambda tree: tree.entity(-1), "no entity -1"),
        (lambda tree: tree.passage("x"), "no passage 'x'; passages have ids such as 'p0', "),
    ],
)
def test_what_is_not_there(tree, ask, said):
    with pytest.raises(SettingError, match=said):
        ask(tree)


def test_search(tree):
    found = tree.find("ENTITY 1")
    assert [hit.label for hit in found[:3]] == ["entity 1", "entity 10", "entity 11"]
    assert {hit.kind for hit in tree.find("p1", 60)} == {"passage"}
    assert tree.find("  ") == [] and len(tree.find("e", 5)) == 5
    assert [hit.kind for hit in tree.find("group 1 of")] == ["community"]


def test_communities_as_a_table(tree):
    frame = tree.frame()
    assert list(frame["members"]) == [len(one.members) for one in tree.tree.communities]
    assert frame["members"].is_monotonic_decreasing and frame["structure"].between(0, 1).all()
    assert np.allclose(frame[["structure", "meaning"]], tree.tightness)


def test_relations_that_join_groups():
    groups, sources, targets = np.array([0, 0, 1, 1, -1]), np.array([0, 0, 2, 4]), np.array([1, 2, 3, 0])
    joined = joined_by(groups, sources, targets, 2)
    assert joined.toarray().tolist() == [[1, 1], [1, 1]]


def test_perceptions_by_hand():
    counts = sp.csr_array([[2, 1, 0], [1, 0, 1], [0, 0, 0], [5, 5, 5]])
    assert overlaps(counts, [0, 0, 0, -1], [0]).tolist() == [1, 0.25, 0, 0]
    vectors = np.array([[1.0, 0], [0, 1], [1, 0]])
    assert np.allclose(cosines(vectors, [0, 0, -1]), [np.sqrt(0.5), np.sqrt(0.5), 0])
    assert group_means(np.array([[1.0], [3], [9]]), [1, 1, -1], 3).tolist() == [[0], [2], [0]]
    assert dominant(["b", "a", "b", "a", "c"]) == "a" and dominant([]) == ""


def test_the_plane_shows_where_rows_differ_most():
    rows = np.array([[0.0, 0, 0], [0, 9, 0], [1, 0, 0], [1, 9, 0]])
    assert np.allclose(principal_plane(rows), [[0, 1], [1, 0], [0, 0]])
    assert principal_plane(np.ones((1, 3))).tolist() == [[0, 0]] * 3
