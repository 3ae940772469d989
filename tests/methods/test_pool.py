"""The pool: scores worked out by hand, and what holds for any rankings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import SettingError
from workbench.methods.iterative.pool import Pool, named, scored
from workbench.records import Evidence, Passage, ranked


def found(query: str, scale: str = "cosine", **scores: float) -> Evidence:
    """A ranking: scores by passage id, best first."""
    ids = sorted(scores, key=lambda name: (-scores[name], name))
    return Evidence(query, "told", scale, ranked([Passage(i, i, i) for i in ids], [scores[i] for i in ids]))


def pooled(*merged: tuple[Evidence, int], scale: str = "none") -> Pool:
    pool = Pool(scale)
    for evidence, number in merged:
        pool.merge(evidence, number)
    return pool


def scores(pool: Pool) -> list[tuple[str, float]]:
    return [(entry.passage.id, entry.score) for entry in pool.ranked()]


def test_a_passage_keeps_its_best_score_and_says_which_query_gave_it():
    pool = pooled((found("q", a=0.9, b=0.5, c=0.4), 0), (found("more", b=0.7, c=0.1, d=0.6), 1))
    assert scores(pool) == [("a", 0.9), ("b", 0.7), ("d", 0.6), ("c", 0.4)]
    assert [entry.query for entry in pool.ranked()] == ["q", "more", "more", "q"]
    assert [(entry.round, entry.rank) for entry in pool.ranked()] == [(0, 1), (0, 2), (1, 2), (0, 3)]
    # What a query does not return has no score under it: not 0, which would be the best of negative scores.
    assert scores(pooled((found("q", a=-0.2), 0), (found("more", b=-0.1), 1))) == [("b", -0.1), ("a", -0.2)]
    empty = pooled((found("q", "ppr", a=0.03), 0), (found("more", "bm25"), 1))  # an empty ranking has no scale
    assert (empty.mixed, empty.scale, scores(empty)) == (False, "ppr", [("a", 0.03)])
    assert (Pool().ranked(), len(Pool()), Pool().scale, scored([])) == ([], 0, "", ())


def test_equal_scores_are_ordered_by_round_then_rank_then_id():
    pool = pooled((found("q", z=0.9, y=0.5), 0), (found("more", a=0.5, x=0.5), 1), (found("other", b=0.5), 1))
    assert [name for name, _ in scores(pool)] == ["z", "y", "a", "b", "x"]


def test_the_same_score_from_two_queries_is_named_after_the_first_in_the_alphabet():
    one, other = (found("b", p=0.5), 1), (found("a", p=0.5), 1)
    assert [pooled(*pair).ranked()[0].query for pair in ((one, other), (other, one))] == ["a", "a"]


def test_rankings_of_different_scales_are_scaled_each_within_itself():
    """One dense fallback among walks would put its cosines above every walk."""
    pool = pooled((found("q", "ppr", a=0.75, b=0.5, c=0.25), 0), (found("more", "cosine", d=9.0, c=7.0, e=5.0), 1))
    assert pool.mixed and pool.scale == "minmax(cosine, ppr)"
    assert scores(pool) == [("a", 1.0), ("d", 1.0), ("b", 0.5), ("c", 0.5), ("e", 0.0)]


@pytest.mark.parametrize(
    ("scale", "expected", "name"),
    [
        ("none", [("a", 4.0), ("b", 3.0), ("c", 2.0)], "cosine"),
        ("minmax", [("a", 1.0), ("b", 0.5), ("c", 0.0)], "minmax(cosine)"),
        ("rank", [("a", 1.0), ("b", pytest.approx(2 / 3)), ("c", pytest.approx(1 / 3))], "rank"),
    ],
)
def test_scales(scale, expected, name):
    pool = pooled((found("q", a=4.0, b=3.0, c=2.0), 0), scale=scale)
    assert (scores(pool), pool.scale) == (expected, name) and named("cosine", scale) == name
    assert dict(scores(pooled((found("q", a=7.0), 0), scale="minmax"))) == {"a": 1.0}, "one passage is the best"
    with pytest.raises(SettingError, match="none, minmax, rank"):
        Pool("log")


rankings = st.builds(
    lambda query, scale, scores: found(query, scale, **scores),
    st.sampled_from("uvw"),
    st.sampled_from(["ppr", "cosine"]),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-4, 4).map(float), max_size=6),
)
hows = st.sampled_from(["none", "minmax", "rank"])


@given(st.lists(rankings, max_size=5), hows, st.randoms())
def test_queries_of_a_round_may_come_in_any_order(merged, scale, chance):
    shuffled = chance.sample(merged, len(merged))
    one, other = (pooled(*((evidence, 1) for evidence in each), scale=scale) for each in (merged, shuffled))
    assert one.ranked() == other.ranked() and one.scale == other.scale


@given(st.lists(rankings, min_size=1, max_size=5), hows)
def test_a_pool_never_shrinks_and_on_one_scale_no_score_falls(merged, scale):
    pool, before = Pool(scale), {}
    for number, evidence in enumerate(merged):
        was_mixed = pool.mixed
        pool.merge(evidence, number)
        now = dict(scores(pool))
        assert set(before) <= set(now)
        pool.merge(evidence, number)
        assert dict(scores(pool)) == now, "merging again changes nothing"
        if pool.mixed == was_mixed or scale != "none":
            assert all(now[name] >= score for name, score in before.items())
        before = now
    assert len(pool) <= sum(len(evidence.passages) for evidence in merged)
