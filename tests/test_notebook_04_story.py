"""Notebook 04 without a browser: what it writes, what its page shows, and data that have no questions."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import workbench as wb
from workbench.lessons import replay_bdtr_iterations as lesson


def test_on_the_bundled_corpus(notebook):
    """It opens on a bridge that the second search finds, and shows a question that one search does not answer."""
    ran = notebook("04")
    analyses = ("ablation", "by_kind", "complementarity", "cuts", "promotion", "recall", "rounds")
    assert ran.pictures() == {f"04_{name}" for name in (*analyses, "ranks", "ranks_edited", "scores")}
    assert ran.tables() == ran.pictures() | {"04_run", "04_raised"}
    facts = ran.verdict["facts"]
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 7
    assert facts["answer"] == "1938" and facts["gold ranks of tallan-weir"] == [14, 2, 2, 2]
    # By rules the bridge stays deep in the ranking, and comes up when it is asked for by its title.
    before, after = (facts[f"gold ranks of tallan-weir, {how}"] for how in ("by rules", "edited"))
    assert before[1] > 10 and after[1] < 5
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert "ends in 1938, which is right" in says and "nothing in a single search leads to the newspaper" in says
    assert "far below those that are read" in says and "corentin-vaux" in (ran.figures / "04_raised.csv").read_text()
    assert "ends in (abstained), which is wrong: the gold is Amarys Pellquin" in says and "recall@5 is" in says
    assert ran.count("image/png") == 2
    made = ran.page()
    # A page has no kernel: four widgets, one of them with two sides, each with steps and a chart.
    assert "ReplayWidget at" not in made and "replies written by hand" in made
    assert made.count('class="steps"') == 5 and made.count("data-bump=") == 5
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


# -- the lesson --------------------------------------------------------------------------------------------------------


@pytest.fixture
def looked(meridian_curated):
    """The question of the first screen, and the arguments of the verdict."""
    runner, rules, asked = wb.engine("worked"), wb.engine("rules"), wb.load("meridian").question("mer-q02")
    shown, by_rules = (
        wb.replay(meridian_curated, [asked], methods=["bdtr"], backbones=["hipporag2"], engine=engine, reader=reader)
        for engine, reader in ((runner, wb.reader("direct", runner)), (rules, None))
    )
    passages = {passage.id: passage for passage in meridian_curated.passages.passages}
    return {
        "title": "t", "iterative": wb.method("bdtr", meridian_curated, runner), "backbone": "hipporag2",
        "question": asked, "widget": shown, "edited": lesson.edit(by_rules, passages), "failed": shown,
        "ask": runner.written(asked.question, "bdtr"),
    }  # fmt: skip


def test_each_check_can_fail(looked):
    def failing(given: dict) -> list[str]:
        return [check.name for check in lesson.verdict(**given).checks if not check.holds]

    assert failing(looked) == [] and looked["edited"].words == "Tallan Weir"
    before = replace(looked["edited"].before, rounds=looked["edited"].before.rounds[1:])
    other = looked | {
        "backbone": "dense", "edited": looked["edited"]._replace(words="Oslo", before=before),
        "ask": replace(looked["ask"], answer="1939"),
    }  # fmt: skip
    assert failing(other) == [
        "the edited thought was searched for", "what was found before it is untouched",
        "the failure ends as was written",
    ]  # fmt: skip
    shown = looked["widget"].left
    fallen = replace(shown.rounds[-1], pool=tuple((name, score - 1) for name, score in shown.rounds[-2].pool),
                     scale=shown.rounds[-2].scale)  # fmt: skip
    looked["widget"].shown = replace(shown, rounds=(*shown.rounds[:-1], fallen))
    assert failing(looked) == ["scores that fell from a round to the next"]


def _side(widget, number: int) -> str:
    return "".join(getattr(part, "html", "") for part in widget._sides[number].children)


def test_the_widget_shows_the_readers_answer(looked):
    """On both sides, and for an edited thought; none without a reader."""
    widget = looked["widget"]
    assert widget.left_answer == "1938" and "<b>answer: 1938</b>" in _side(widget, 0)
    assert "<b>answer: 1938</b>" in widget.static_html()
    assert widget.compare("bdtr") and widget.right_answer == "1938" and "answer: 1938" in _side(widget, 1)
    assert widget.compare() is None and widget.right_answer == ""
