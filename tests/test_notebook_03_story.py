"""Notebook 03 without a browser: what it writes, what its page shows, and a graph of triples instead of passages."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

import workbench as wb
from workbench.lessons import sentences
from workbench.lessons import trace_dot_paths as lesson
from workbench.methods.dotrag.dots import Comparison, MethodResult, dots
from workbench.trace import Trace


def test_on_the_bundled_corpus(notebook):
    """It opens on a question that ends right, and shows one on which DotRAG fails."""
    ran = notebook("03")
    assert ran.pictures() == {"03_dot", "03_hops", "03_path"}
    assert ran.tables() == ran.pictures() | {f"03_{name}" for name in ("beside", "paths", "run", "settings")}
    facts = ran.verdict["facts"]
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 8
    assert (facts["answer"], facts["accepted paths"]) == ("Ansgard Polytechnic", 1)
    saved = dots(Trace.open(ran.figures / "03_trace.jsonl"))
    assert saved.final[0].nodes == ("High Water at Orsby", "Pia Normelle", "Ansgard Polytechnic")
    paths = pd.read_csv(ran.figures / "03_paths.csv")
    assert facts["paths"] == len(paths) and paths["label"][0] == "complete"  # what was kept comes first
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert (
        "ends in Ansgard Polytechnic, which is right" in says and "no relation joins the ferry to the heroine" in says
    )
    assert "ends in (abstained), which is wrong: the gold is 1938" in says and "f1 is" in says
    made = ran.page()
    assert "Tracer at" not in made and made.count("<iframe") == 2  # a page has no kernel, so the pictures stand there
    assert "replies written by hand" in made and "Steps by rules" not in made
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


def test_on_a_graph_of_triples(notebook_on_films):
    """Its articles are written first; the question asks for the films of a director."""
    ran = notebook_on_films()
    assert ran.verdict["holds"]
    assert (ran.figures / "03_dot.png").exists()
    told = dots(Trace.open(ran.figures / "03_trace.jsonl"))
    assert [anchor.name for anchor in told.dots[0].anchors] == ["Ilse Varn"]
    assert {"Glass Harbour", "Salt Line"} <= set(told.nodes)
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert "There are no questions with gold" in says or "nothing was measured" in says


# -- the lesson --------------------------------------------------------------------------------------------------------


@pytest.fixture
def looked(meridian_curated, tmp_path):
    """The question of the first screen, and the arguments of the verdict."""
    runner, asked = wb.engine("worked"), wb.load("meridian").question("mer-q03")
    reader = wb.reader("direct", runner)
    tracer, moved = (wb.trace_dots(meridian_curated, [asked], engine=runner, reader=reader) for _ in range(2))
    given = {
        "title": "t", "dotrag": wb.method("dotrag", meridian_curated, runner), "tracer": tracer, "moved": moved,
        "saved": Trace.open(tracer.trace.save(tmp_path / "t.jsonl")), "failed": tracer,
        "compared": Comparison(asked.question, (MethodResult("dotrag", (), ()),)),
        "ask": runner.written(asked.question, "dotrag"),
    }  # fmt: skip
    return asked, given


def failing(given: dict) -> list[str]:
    return [check.name for check in lesson.verdict(**given).checks if not check.holds]


def test_each_check_can_fail(looked, meridian_curated):
    _, given = looked
    assert failing(given) == []
    once = wb.method("dotrag[t_max=1]", meridian_curated, given["dotrag"].engine)
    other = given | {"dotrag": once, "ask": replace(given["ask"], answer="Oslo")}
    assert failing(other) == [
        "iterations of a DOT", "settings that are moved back change nothing", "the failure ends as was written"
    ]  # fmt: skip
    tracer = given["tracer"]
    (dot,) = tracer.shown.dots
    first, *rest = dot.iterations
    astray = replace(first, paths=(replace(first.paths[0], nodes=first.paths[0].nodes[::-1]), *first.paths[1:]))
    lost = replace(dot, iterations=(astray, *rest), region=replace(dot.region, hops=(1, 2, 9, 11)))
    rejected = (replace(first.paths[4], label="complete"),)
    tracer.shown = replace(tracer.shown, dots=(lost,), final=rejected)
    assert failing(given) == [
        "paths that break a rule of the graph", "regions that differ from those of the trace",
        "the saved trace tells the same", "accepted paths that no DOT kept",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "says"), [(0.1, 0.3, "better"), (-0.3, -0.1, "worse"), (-0.1, 0.3, "undecided")]
)
def test_an_interval_decides(low, high, says):
    row = {"measure": "f1", "method": "a", "value": 0.4, "baseline": "b", "baseline_value": 0.2, "difference": 0.2}
    assert sentences._difference(row | {"low": low, "high": high}).endswith(f"{high:+.3f}: {says})")
    assert sentences._difference(row | {"low": None, "high": None}).endswith("+0.200: undecided)")
