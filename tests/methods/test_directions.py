"""The relations of a phrase, read in both directions."""

from small import index_of

from workbench.methods.think_on_graph import Direction, directions, other_end


def test_relations_are_grouped_by_name_and_direction(tmp_path):
    index = index_of(
        tmp_path,
        {"p": [("A", "knows", "B"), ("A", "knows", "C"), ("D", "knows", "A"), ("A", "is", "A"), ("B", "is", "C")]},
    )
    row = index.facts.phrase_row
    facts = {fact: at for at, fact in enumerate(index.facts.facts)}
    found = directions(index, row["a"])
    assert found == [
        Direction("knows", False, (facts["d", "knows", "a"],)),
        Direction("knows", True, (facts["a", "knows", "b"], facts["a", "knows", "c"])),
    ]
    assert [other_end(index, fact, row["a"]) for direction in found for fact in direction.facts] == [
        row["d"], row["b"], row["c"],
    ]  # fmt: skip


def test_a_phrase_that_only_points_at_itself_has_none(tmp_path):
    index = index_of(tmp_path, {"p": [("A", "is", "A")]})
    assert directions(index, 0) == []
