"""Replays as text, HTML, SVG and figures: hostile text is shown and not acted upon, and what is shown is right."""

from __future__ import annotations

import dataclasses
import json
from html import unescape

import pytest
from hypothesis import given
from rounds import bdtr_trace, ircot_trace
from test_figures import TEXTS, _missing_letters  # noqa: F401
from test_views import UNSHOWABLE, Checked, hostile

from workbench.errors import SettingError
from workbench.methods.iterative.events import Chain, Cut, Search
from workbench.methods.iterative.replay import Replay, Round, replay
from workbench.records import Passage
from workbench.views import html
from workbench.views.render import html_of
from workbench.views.replay import (
    bump_figure,
    rank_histories,
    ranks_data,
    ranks_part,
    scores_figure,
    stage_part,
    stepped,
)

GOLD = ("p2", "p7")
TITLES = {name: Passage(name, f"Title of {name}", f"Text of {name}.") for name in ("p1", "p2", "p5")}


def replay_of(text: str) -> Replay:
    """Two rounds and a conclusion, with the text in every field that takes one."""
    other = f"other {text}"
    ranking = ((text, 0.9), (other, 0.5))
    searches = (Search(text, text, text, ranking, 2, text, failure=text), Search(other, other, other, ranking[1:]))
    texts, queries = {text: text, other: other}, ((text, text), (other, other))
    thought = Round(1, searches, ranking, text, texts, queries, {text: text}, {5: (text,)}, True, True, True, text)
    return Replay(
        text, text, (Round(0, searches[:1], ranking[1:], text), thought), ranking,
        Chain(text, (text, other), (text,), failure=text), (text,), ((text, 2, 1),),
        Cut(0.5, 0.1, 0.6, text, (text,), (other,)), (text, "missing"), text, text,
    )  # fmt: skip


def parts(shown: Replay) -> list:
    return [shown, *shown.rounds, *shown.rounds[1].searches, shown.chain, shown.cut]


@given(hostile)
def test_no_text_is_acted_upon(text):
    shown = replay_of(text)
    passages = {text: Passage(text, text, text)}
    for thing in parts(shown):
        Checked(thing._repr_html_())
        assert not UNSHOWABLE.search(thing._repr_html_())
    page = html_of(stepped(shown, passages))
    Checked(page)
    assert not UNSHOWABLE.search(page)
    assert not UNSHOWABLE.search(json.dumps(ranks_data(shown, passages), ensure_ascii=False))


@pytest.mark.parametrize("letter", ["a", "<", "\n", "東"])
def test_a_text_of_100_kb_stays_small(letter):
    for thing in parts(replay_of(letter * 100_000)):
        assert len(unescape(thing._repr_html_())) < 60_000
        assert len(repr(thing)) < 10_000
    assert len(unescape(html_of(ranks_part(replay_of(letter * 100_000), 0)))) < 10_000


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text)[:20])
def test_figures_of_any_text_can_be_saved_and_are_the_same_each_time(tmp_path, text):
    for make in (bump_figure, scores_figure):
        saved = [make(replay_of(text)).save(tmp_path / f"{at}.png").read_bytes() for at in range(2)]
        assert saved[0] == saved[1]


def shown_in(part: str) -> str:
    return " ".join(" ".join(Checked(part).shown).split())


def test_a_round_shows_thoughts_searches_and_how_the_pool_changed():
    said = shown_in(html_of(stage_part(replay(bdtr_trace(), GOLD), 1, TITLES)))
    for words in (
        "fast Where does it flow?",
        "slow River Aldra, flows into",
        "fast no fact was kept",
        "found for fast found for slow 1 Title of p1 1.0000 Title of p2 1.0000 2 p8 0.9000 new p3 0.9000",
        "pool 5 passages, cosine",
        "1 1.0000 Title of p1 p1 Text of p1.",
        "2 ▲ 2 0.9000 +0.2 Title of p2 p2 gold Text of p2. slow 1",
        "3 ▼ 1 0.8000 -0.1 Title of p5 p5 Text of p5.",
        "5 new 0.6000 p8",
        "not found p7 gold",
    ):
        assert words in said, said
    assert "given by hand" not in said


def test_the_end_shows_the_chain_the_verifier_and_the_cut():
    said = shown_in(html_of(stage_part(replay(bdtr_trace(), GOLD), 2, TITLES)))
    for words in (
        "reasoning chain Orsby lies on the Aldra. It lies there. It flows. bridges: River Aldra",
        "verifier 1 passages support the chain",
        "rank before rank at the end Title of p2 p2 gold Text of p2. 2 1",
        "μ 0.8000 + σ 0.1400 = 0.9400, policy keep: 2 kept, 1 to fill up",
        "1 0.9000 Title of p2 p2 gold Text of p2. supports the chain 2 1.0000 Title of p1 p1 Text of p1. score ≥ μ + σ",
        "3 0.8000 Title of p5 p5 Text of p5. fills up",
    ):
        assert words in said, said
    assert "p3" not in said


def test_a_stop_and_a_thought_by_hand_are_marked():
    shown = replay(ircot_trace(), ["p2"])
    assert "thought given by hand It lies on the Aldra." in shown_in(html_of(stage_part(shown, 1)))
    assert "scores of different scales met in the pool" in shown_in(html_of(stage_part(shown, 1)))
    assert "the thought asks for no more" in shown_in(html_of(stage_part(shown, 2)))
    assert "stopped: the thought of round 2 asks for no more" in shown_in(html(shown))
    assert "gold p2: – → 1 → 1" in repr(shown)


def test_only_a_failure_is_red():
    """Notes on how it went, such as mixed scales, are told without an alarm."""
    shown = replay(bdtr_trace())
    first = dataclasses.replace(shown.rounds[0], mixed=True)
    mixed = dataclasses.replace(shown, fallback="scores met", rounds=(first,))
    seen = html(mixed)
    assert "<p class='note'>scores met</p>" in seen and "class='bad'" not in seen
    assert "<p class='note'>scores of different scales" in seen
    failed = html(dataclasses.replace(mixed, failure="no reply"))
    assert "<p class='bad'>no reply</p>" in failed and failed.count("class='bad'") == 1


def test_gold_passages_beyond_the_first_are_listed_with_their_rank():
    ranking = tuple((f"x{rank}", 1 / rank) for rank in range(1, 41))
    shown = Replay("q", "ircot", (Round(0, (), ranking, "ppr"),), ranking, gold=("x27",))
    said = shown_in(html_of(stage_part(shown, 0)))
    assert "27 0.0370 x27 gold" in said and "x26" not in said and "x11" not in said


def test_rank_histories_are_those_of_the_first_and_of_gold_passages():
    rows = {one.passage: one.rows for one in rank_histories(replay(bdtr_trace(), GOLD), top=2)}
    # p2 is at rank 4 at first, p7 is never found: each has a row below the two; p5 leaves the first two, p3 never comes
    assert rows == {"p1": (1, 1, 2), "p5": (2, None, None), "p2": (3, 2, 1), "p7": (4, 4, 4)}
    for wrong in (0, 1.5):
        with pytest.raises(SettingError, match="top"):
            rank_histories(replay(bdtr_trace()), wrong)


def test_the_chart_gets_stages_labels_ranks_and_rows():
    shown = replay(bdtr_trace(), GOLD)
    data = ranks_data(shown, TITLES)
    assert (data["stages"], data["end"], data["top"]) == (["round 0", "round 1", "end"], 2, 10)
    assert data["passages"][-2:] == [
        {"label": "Title of p2", "gold": True, "chosen": True, "ranks": (4, 2, 1), "rows": (4, 2, 1)},
        {"label": "p7", "gold": True, "chosen": False, "ranks": (None,) * 3, "rows": (11,) * 3},
    ]
    assert ranks_data(replay(ircot_trace()))["end"] == -1
    assert "gold Title of p2: 4 → 2 → 1" in shown_in(html_of(ranks_part(shown, 2, TITLES)))


def test_the_figures_say_what_the_replay_says():
    shown = replay(bdtr_trace(), GOLD)
    bump = bump_figure(shown, TITLES).figure.axes[0]
    assert [label.get_text() for label in bump.get_xticklabels()] == ["round 0", "round 1", "end"]
    assert {"Title of p2", "p7", "not found"} <= {text.get_text() for text in bump.texts}
    scores = scores_figure(shown).figure.axes[0]
    drawn = {line.get_label(): list(zip(*line.get_data())) for line in scores.lines}
    assert drawn["chosen by the verifier"] == [(1, 0.9)]
    assert drawn["passes by its score"] == [(2, 1.0)]
    assert drawn["fills up"] == [(3, 0.8)]
    assert drawn["not chosen"] == [(4, 0.7), (5, 0.6)]
    assert [y for _, y in drawn["μ + σ = 0.94"]] == [0.94, 0.94]


def test_a_method_without_a_cut_has_no_figure_of_it():
    with pytest.raises(SettingError, match="makes no cut"):
        scores_figure(replay(ircot_trace()))


def test_nothing_can_be_shown_too():
    nothing = Replay("", "", (Round(0, (), (), ""),), ())
    for thing in (nothing, *nothing.rounds, Search("", "", "", ()), Chain("", (), ()), Cut(0.0, 0.0, 0.0, "", (), ())):
        Checked(thing._repr_html_())
        assert repr(thing)
    assert ranks_part(nothing, 0) and bump_figure(nothing)._repr_png_()
    flat = dataclasses.replace(nothing, cut=Cut(0.0, 0.0, 0.0, "keep", (), ()))
    assert scores_figure(flat)._repr_png_()
