"""What notebooks check and conclude, as functions: a check that can fail fails, and sentences say what was measured."""

from __future__ import annotations

import copy

import pytest
from planted_tree import planted_tree
from steered import ASKED, QUESTION, SPEC, Rater, hub_index

import workbench as wb
from workbench import analyses
from workbench.lessons import ablate_reasoning, inspect_communities, steer_the_walk
from workbench.methods.catrag.steering import staged
from workbench.notebooks.lab import Absent
from workbench.operators.groupings import Grouping

READERS = {"brief": "direct[prompt=brief]", "sparql": "direct[prompt=sparql,compress=graph-walk[budget=60]]"}


def held(verdict) -> dict[str, bool]:
    return {check.name: check.holds for check in verdict.checks}


def test_what_is_absent_says_so_and_so_does_all_that_is_made_of_it():
    absent = Absent("no questions")
    assert not absent and list(absent) == [] and repr(absent.table().head(3)["f1"]) == "no questions"
    assert "no questions" in absent._repr_html_() and not hasattr(absent, "_ipython_display_")


def test_groupings_without_a_common_entity_are_not_compared(monkeypatch):
    tree = planted_tree()
    monkeypatch.setattr(inspect_communities, "offered", lambda tree: ["leiden", "raptor"])
    others = {"leiden": inspect_communities.other(tree, "leiden"), "raptor": Grouping("raptor", {}, {})}
    monkeypatch.setattr(inspect_communities, "other", lambda tree, name: others[name])
    assert list(inspect_communities.agreements(tree)) == ["leiden"]


# -- 05 ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def ablation(tiny, tiny_index, tmp_path):
    """The arguments of the verdict."""
    methods = [wb.method(name, tiny_index) for name in ("hipporag2", "dense")]
    grid, again = (wb.grid(tiny.questions, methods, READERS, tmp_path / "grid", progress=False) for _ in range(2))
    shown = wb.ablate(tiny_index, tiny.questions, methods=["dense"], prompt="brief", compress="", check=False)
    shown.ask(prompt="sparql", check=True)
    diagnosis = wb.diagnose(grid.runs["brief"], tiny.questions, tiny_index)
    return {"title": "t", "grid": grid, "again": again, "parts": analyses.decomposition(grid), "diagnosis": diagnosis,
            "ablators": [shown], "index": tiny_index}  # fmt: skip


def test_the_verdict_on_an_ablation_holds_and_each_check_can_fail(ablation):
    assert ablate_reasoning.verdict(**ablation).holds
    grid, spoiled = ablation["grid"], copy.deepcopy(ablation["again"].runs)
    rows = spoiled["sparql"].rows
    rows[0]["failure"], rows[0]["reading"]["tokens"], rows[0]["ranking"] = "out", 61, [["x", 1.0]]
    rows[0]["scores"] |= {"coverage": 0.0, "coverage:read": 1.0}
    other = ablation | {"grid": type(grid)(grid.folder, spoiled)}
    part = {**ablation["parts"].rows[0], "lucky": 99}
    other["parts"] = analyses.Analysis("t", (part,))
    failing = [name for name, holds in held(ablate_reasoning.verdict(**other)).items() if not holds]
    assert failing == [
        "failed questions", "compressed contexts above their budget", "answers that are only in the compressed context",
        "outcomes that do not add up", "evidence that readers of a method do not share",
        "a grid that is asked again is the same",
    ]  # fmt: skip


# -- 06 ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def steered(tmp_path):
    """The arguments of the verdict, without a run."""
    index = hub_index(tmp_path / "hub")
    catrag = wb.method(SPEC, index, Rater())
    by_hand = wb.steer(index, [ASKED], method=SPEC, engine=Rater())
    by_hand.rate("kestrel", "ilse", 0)
    return {"title": "t", "catrag": catrag, "walks": [staged(catrag, QUESTION, ASKED.support)], "by_hand": by_hand,
            "run": None, "saved": None}  # fmt: skip


def test_the_verdict_on_steered_walks_holds_and_each_check_can_fail(steered):
    verdict = steer_the_walk.verdict(**steered)
    assert verdict.holds and len(verdict.checks) == 5
    (walk,) = steered["walks"]
    other = staged(steered["catrag"].adjusted(damping=0.9), QUESTION, ASKED.support)
    spoiled = steer_the_walk.verdict(**steered | {"walks": [other]})
    assert [name for name, holds in held(spoiled).items() if not holds] == [
        "questions that walk otherwise the second time", "ratings and settings that are brought back change nothing",
    ]  # fmt: skip
    assert verdict.facts["ranks of born, 1"] == list(walk.ranks()["born"])
