"""Communities by other weights: what merged and split; Leiden and RAPTOR beside them."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tree import planted_tree, theme_index

from workbench.errors import SettingError
from workbench.operators.groupings import compare
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.operators.regrouping import (
    Division,
    Weighing,
    changes,
    followed,
    moved,
    offered,
    other,
    rows_of,
)
from workbench.testing import small_index


def division(*groups: int, prefix: str = "g") -> Division:
    count = max(groups, default=-1) + 1
    centres = tuple(groups.index(at) for at in range(count))
    return Division(np.array(groups, dtype=np.int64), tuple(f"{prefix}{at}" for at in range(count)), centres,
                    tuple(range(count)))  # fmt: skip


@pytest.fixture(scope="module")
def tree():
    return planted_tree(80, 4)


@pytest.fixture(scope="module")
def themes(tmp_path_factory) -> KnowledgeTree:
    return KnowledgeTree(theme_index(tmp_path_factory.mktemp("themes")))


def test_merged_split_and_moved():
    before = division(0, 0, 0, 0, 1, 1, 2, 2, 2, 2, -1)
    after = division(0, 0, 0, 0, 0, 0, 1, 1, 2, 2, -1, prefix="h")
    kinds = [(one.kind, one.before, one.after, one.entities) for one in changes(before, after)]
    assert kinds == [("merged", ("g0", "g1"), ("h0",), 6), ("split", ("g2",), ("h1", "h2"), 4)]
    assert followed(before, after).keys == (0, 2, 3)
    assert moved(before, after).tolist() == [False] * 4 + [True] * 2 + [False] * 2 + [True] * 2 + [False]
    assert changes(before, before) == [] and not moved(before, before).any()


def test_a_division_by_names():
    made = division(0, 1, 0, -1).grouping(["a", "b", "c", "d"])
    assert (made.group_of, made.titles) == ({"a": 0, "b": 1, "c": 0}, {0: "g0", 1: "g1"})
    assert rows_of(made, ["d", "c", "b", "x"]).tolist() == [-1, 0, 1, -1]
    assert compare(made, made).rand == 1


def test_leiden_finds_what_relations_join(themes):
    of = other(themes, "leiden").group_of
    assert len({of[f"river {at}"] for at in range(8)} | {of["river hub"]}) == 1
    assert of["river 0"] not in (of["film 0"], of["song 0"])
    assert other(themes, "leiden") == other(themes, "leiden") and len(of) == 27
    assert other(themes, "leiden").titles[of["river 0"]] == "river hub"


def test_without_its_layers_a_grouping_says_how_to_add_it(themes):
    assert offered(themes) == ["leiden"]
    for name in ("raptor", "graphrag"):
        with pytest.raises(SettingError, match=rf"wb.method\('{name}', index\) adds them"):
            other(themes, name)
    with pytest.raises(SettingError, match="no grouping 'x'; there are leiden, graphrag, raptor"):
        other(themes, "x")


def test_graphrag_and_raptor_from_their_layers():
    tree = KnowledgeTree(small_index())
    assert offered(tree) == ["leiden", "graphrag", "raptor"]
    mine = Division.built(tree).grouping(tree.graph.names)
    for name in offered(tree):
        found = compare(mine, other(tree, name))
        assert found.right == name and found.entities > 20 and -0.5 < found.rand < 1


def test_own_settings_find_the_communities_of_the_index(themes):
    weighing = Weighing(themes)
    again = weighing.weigh(weighing.own)
    assert np.array_equal(again.tree.community_of, themes.tree.community_of)
    assert [again.name(at) for at in range(3)] == [themes.name(at) for at in range(3)], "they keep their names"
    assert again.tree.merges == themes.tree.merges


def test_a_lower_bar_merges_and_what_is_new_has_the_name_of_its_centre(themes):
    weighing = Weighing(themes)
    merged = weighing.weigh(weighing.adjusted(merge_threshold=-1.0, epsilon=10.0))
    own, now = Division.built(themes), Division.built(merged)
    assert len(now.names) < len(own.names) and "merged" in {one.kind for one in changes(own, now)}
    fresh = [at for at in range(len(now.names)) if at not in merged.tree.named]
    assert all(merged.name(at) == merged.graph.names[merged.tree.communities[at].centre] for at in fresh)
    assert merged.community(0).members and merged.entity(0).community == merged.tree.community_of[0]
