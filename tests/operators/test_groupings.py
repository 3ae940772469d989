"""Groupings of entities: what each layer groups, and how far two groupings agree."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from workbench.errors import SettingError
from workbench.operators import groupings
from workbench.operators.groupings import Grouping, Split, compare, purity

NAMES = ["Harbour Town", "Lake Mira", "Nora", "Orsby", "Quell"]


def grouping(name: str, groups: list[int | None]) -> Grouping:
    placed = {entity: group for entity, group in zip("abcdefgh", groups) if group is not None}
    return Grouping(name, placed, {group: f"{name} {group}" for group in placed.values()})


def test_two_groupings_worked_out_by_hand():
    """a–h: four and four against {a, b, c, e}, {d}, {f, g, h}. Pairs together in both: 3 of abc, 3 of fgh."""
    found = compare(grouping("x", [0, 0, 0, 0, 1, 1, 1, 1]), grouping("y", [0, 0, 0, 1, 0, 2, 2, 2]))
    together, left, right, pairs = 6, 12, 9, 28
    expected = left * right / pairs
    assert found.rand == pytest.approx((together - expected) / ((left + right) / 2 - expected))
    assert found.groups == (2, 3) and found.entities == 8
    assert found.purity == (6 / 8, 7 / 8)
    one = np.array([[3, 1, 0], [1, 0, 3]]) / 8
    rows, columns = one.sum(axis=1), one.sum(axis=0)
    information = sum(
        p * np.log(p / (r * c)) for p, r, c in zip(one.ravel(), np.repeat(rows, 3), np.tile(columns, 2)) if p
    )
    entropies = [-sum(p * np.log(p) for p in side) for side in (rows, columns)]
    assert found.nmi == pytest.approx(information / np.mean(entropies))
    assert found.splits[0] == Split("x", 0, "x 0", 4, 1, (("y 0", 3), ("y 1", 1)))
    assert [split.apart for split in found.splits] == [1, 1, 1, 0, 0]


def test_the_same_groups_under_other_names_agree_and_the_rest_is_left_out():
    found = compare(grouping("x", [0, 0, 1, 1, None]), grouping("y", [7, 7, 3, 3, 3]))
    assert (found.rand, found.nmi, found.purity, found.entities) == (1, 1, (1, 1), 4)
    assert all(split.apart == 0 for split in found.splits)
    with pytest.raises(SettingError, match="no entity in common"):
        compare(grouping("x", [0]), grouping("y", [None, 1]))
    with pytest.raises(ValueError):
        purity([1], [])


def graph(**more):
    return SimpleNamespace(names=NAMES, types=["place", "lake", "person", "place", "place"], **more)


def test_the_tree_and_the_types():
    tree = SimpleNamespace(
        community_of=np.array([0, 0, -1, 1, 1]), communities=[SimpleNamespace(id=0), SimpleNamespace(id=1)],
        label=lambda id: ["waters", "towns"][id],
    )  # fmt: skip
    found = groupings.by_tree(tree, graph())
    assert found.group_of == {"Harbour Town": 0, "Lake Mira": 0, "Orsby": 1, "Quell": 1}
    assert found.titles == {0: "waters", 1: "towns"} and found.groups == 2
    kinds = groupings.by_type(graph())
    assert kinds.titles == {0: "lake", 1: "person", 2: "place"} and kinds.group_of["Quell"] == 2


def test_leiden_groups_the_entities_that_are_phrases():
    facts = SimpleNamespace(phrases=["harbour town", "lake mira", "orsby", "tide"],
                            metadata={"settings": {"normalise": "unicode"}})  # fmt: skip
    members = [(0, 1, 2, 3), (0, 1), (2, 3)]
    layer = SimpleNamespace(
        levels=2, communities=[SimpleNamespace(members=rows) for rows in members],
        rolled_up=lambda level: [1, 2] if level else [0], reports={1: SimpleNamespace(title="Waters")},
    )  # fmt: skip
    found = groupings.by_leiden(layer, facts, graph())
    assert found.group_of == {"Harbour Town": 1, "Lake Mira": 1, "Orsby": 2}
    assert found.titles == {1: "Waters", 2: "Community 2"}
    assert set(groupings.by_leiden(layer, facts, graph(), level=0).group_of.values()) == {0}


def test_raptor_groups_an_entity_by_most_of_its_passages():
    stated = sp.csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], np.float32))
    summaries = SimpleNamespace(
        nodes=[SimpleNamespace(level=1, text="On the towns. " * 9), SimpleNamespace(level=1, text="Tides."),
               SimpleNamespace(level=2, text="All.")],
        leaves=sp.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], bool)),
    )  # fmt: skip
    found = groupings.by_raptor(summaries, graph(stated=stated))
    assert found.group_of == {"Harbour Town": 0, "Lake Mira": 1, "Orsby": 0, "Quell": 1}, "of a draw the first"
    assert found.titles == {0: "On the towns. " * 3 + "On the towns.…", 1: "Tides."}


def test_they_display_themselves_and_escape_names():
    left = Grouping("<b>x</b>", {"a": 0, "b": 0}, {0: "<script>1</script>"})
    found = compare(left, grouping("y", [0, 1]))
    for record in (left, found):
        assert "<script>1" not in record._repr_html_() and "<b>x" not in record._repr_html_()
    assert "2 entities in 1 group" in repr(left) and "adjusted Rand" in repr(found)
    assert "y 0 (1), y 1 (1)" in found._repr_html_()
