"""What notebooks check and conclude, as functions: a check that can fail fails, and sentences say what was measured."""

from __future__ import annotations

import copy

import pandas as pd
import pytest
from steered import ASKED, QUESTION, SPEC, Rater, hub_index

import workbench as wb
from workbench import analyses
from workbench.lessons import ablate_reasoning, steer_the_walk
from workbench.llm.worked import reasons
from workbench.methods.catrag.steering import staged

READERS = {"brief": "direct[prompt=brief]", "sparql": "direct[prompt=sparql,compress=graph-walk[budget=60]]"}


def held(verdict) -> dict[str, bool]:
    return {check.name: check.holds for check in verdict.checks}


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
            "shown": [shown], "index": tiny_index}  # fmt: skip


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


def test_an_ablation_ends_in_what_was_seen_and_whether_it_helped(ablation):
    (shown,) = ablation["shown"]
    said = ablate_reasoning.seen(ablation["grid"], shown, shown)
    seen, helped = (" ".join(part.split()) for part in said.split("\n\n"))
    assert seen.startswith(f"Seen: {shown.answer.question!r} ends with brief over ")
    assert "; with sparql over" in seen
    best = ablation["grid"].table()["accuracy"].max()
    assert helped.startswith("Did it help? Over 3 questions, answered by rules: the best of 4 configurations")
    assert f"is right on {best:.0%}" in helped and "Rules do not tell prompts apart" in helped
    assert max(map(len, said.splitlines())) <= 100


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


def test_steered_walks_end_in_what_was_seen_and_whether_it_helped(steered):
    index, reader = steered["catrag"].index, wb.reader("direct")
    methods = [wb.method("hipporag2[filter=identity]", index), steered["catrag"]]
    read = steer_the_walk.answers(ASKED, methods, reader, k=3)
    assert list(read.index) == [one.label for one in methods] and set(read["by"]) == {"rules"}
    found = methods[1].retrieve(QUESTION, k=3).ranking
    assert read["gold passages at"].iloc[1] == ", ".join(
        str(next((rank for rank, (name, _) in enumerate(found, 1) if name == gold), "> 3")) for gold in ASKED.support
    )
    said = steer_the_walk.seen(steered["walks"], [read], None)
    hubs = steered["walks"][0].frame()["on hubs"]
    assert f"hubs hold {hubs.iloc[0]:.1%} of the phrases' mass unsteered and {hubs.iloc[-1]:.1%} steered" in " ".join(
        said.split()
    )
    assert "There are no questions with gold" in " ".join(said.split())
    run = wb.evaluate([ASKED], methods, measures=["recall@5"], k=3, progress=False)
    helped = " ".join(steer_the_walk.seen(steered["walks"], [read], run).split("\n\n")[1].split())
    assert helped.startswith("Did it help? Over 1 question,") and "recall@5 is" in helped


def test_worked_replies_say_why_a_configuration_is_meant_to_fail():
    engine = wb.engine("worked")
    (line,) = reasons(engine, wb.load("meridian").question("mer-q17").question).splitlines()
    assert line.startswith("hipporag2, direct[prompt=brief]: ") and "chain is broken" in line
    assert reasons(wb.engine("rules"), "Who?") == "" == reasons(engine, "Who?")


def test_no_gold_is_no_answer_that_is_right_or_wrong(steered):
    read = steer_the_walk.answers(type(ASKED)("own", QUESTION), [steered["catrag"]], wb.reader("direct"), k=3)
    assert isinstance(read, pd.DataFrame) and list(read["right"]) == [""] and list(read["gold passages at"]) == [""]
