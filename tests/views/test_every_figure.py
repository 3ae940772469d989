"""Every figure, over records of the bundled corpus: no text meets another one, and none leaves the frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from judges import Judge
from matplotlib.text import Text

import workbench as wb
from workbench import analyses
from workbench.analyses import Analysis
from workbench.display import picture
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.methods.catrag.steering import staged
from workbench.methods.gfm_rag.hub import Checked, Trained
from workbench.methods.iterative.replay import replay
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.operators.regrouping import Division
from workbench.operators.walk_distribution import walk_subgraph
from workbench.views import PICTURES
from workbench.views.dots import path_drawing
from workbench.views.steering import steered_drawing
from workbench.views.tree_map import overview_map, palette_of

ROUNDS = "bdtr[backbone=hipporag2]"
COUNTS = pd.DataFrame(
    {"reproduced": [3, 0], "differs": [1, 0], "not comparable": [12, 4], "not measured": [180, 96]},
    index=["Beyond Static Retrieval", "CatRAG"],
)
COURSE = (
    *(Checked("pretrain", 500 * at, at and 0.6 / at, 0.2 + 0.05 * at) for at in range(5)),
    *(Checked("fine-tune", 20 * at, 0.1, 0.5) for at in range(3)),
)


class Agreeable:
    """An engine that finds every answer right."""

    name, workers = "openai:judge", 1

    def __init__(self):
        self.meter = Meter()

    def run(self, step, inputs, *, trace=None):
        return [Result(step.output(**dict.fromkeys(step.output.model_fields, True))) for _ in inputs]


@pytest.fixture(scope="module")
def made(meridian_curated, tmp_path_factory) -> SimpleNamespace:
    """Runs, a grid and an index, each over few questions, by rules."""
    home, data, rules = tmp_path_factory.mktemp("figures"), wb.load("meridian"), wb.engine("rules")
    quiet, questions = {"progress": False}, data.questions[::8]
    index = wb.method("youtu", wb.Index.open(meridian_curated.folder), rules).index
    method = lambda spec: wb.method(spec, index, rules)  # noqa: E731
    specs = dict.fromkeys([*analyses.ablation_specs("hipporag2"), ROUNDS, *analyses.rounds_specs("ircot", range(3))])
    reader = wb.reader("direct", rules)
    run = wb.evaluate(questions, map(method, specs), reader, home / "rounds", k=100, **quiet)
    sets = [replace(question, answer_set=True) for question in questions]
    nodes = wb.evaluate(sets, map(method, ("dotrag", "lightrag")), reader, home / "nodes", **quiet)
    readers = {name: f"direct[prompt={name}]" for name in ("brief", "sparql", "cot")} | {
        "cut": "direct[prompt=brief,compress=graph-walk[budget=300]]", "routed": "direct[route=true]",
    }  # fmt: skip
    grid = wb.grid(questions, [method("hipporag2"), method("dense")], readers, home / "grid", **quiet)
    return SimpleNamespace(data=data, rules=rules, index=index, method=method, questions=questions, run=run,
                           nodes=nodes, sets=sets, grid=grid, asked=data.question("mer-q02"))  # fmt: skip


def _rounds(made) -> object:
    return replay(made.run.trace(made.run.rows[0]["question_id"], ROUNDS), made.run.questions[0].support)


def _steered(made) -> object:
    return staged(made.method("catrag"), made.asked.question, made.asked.support, k=10)


def _map(made) -> object:
    tree = KnowledgeTree(made.index)
    return overview_map(tree, division := Division.built(tree), palette_of(tree, division, "type", {}))


def _path(made) -> object:
    tracer = wb.trace_dots(made.index, [made.data.question("mer-q03")], engine=wb.engine("worked"))
    return path_drawing(tracer.shown, tracer.shown.final[0])


def _evidence(made) -> tuple:
    return tuple(made.method(spec).retrieve(made.asked.question) for spec in ("hipporag2", "dense"))


def _walk(made) -> object:
    return made.method("hipporag2").walk_distribution(made.asked.question)


def _judged(made) -> object:
    judge = Judge(lambda shown, dimension: 1 + len(dimension) % 2)
    pair = made.run, "hipporag2", made.run, ROUNDS
    return analyses.win_rate(*pair, made.questions, judge)


def _recall(made) -> dict:
    return {method: {1: 0.1, 2: 0.15, 5: 0.7, 10: 0.71 + at / 100} for at, method in enumerate(made.run.methods)}


STEERED = {"HippoRAG 2's walk": {0.1: 0.3, 0.5: 0.4, 0.95: 0.5}, "+ rated edges": {0.1: 0.2, 0.5: 0.35, 0.95: 0.49}}
# picture → what it is drawn of, from `made`: a thing, or its arguments
CASES: dict[str, Callable] = {
    "ablation": lambda made: analyses.ablation(made.run, "hipporag2"),
    "at_equal_nodes": lambda made: analyses.at_equal_nodes(made.nodes, made.sets),
    "bump": _rounds,
    "by_hops": lambda made: analyses.by_hops(made.nodes),
    "by_kind": lambda made: analyses.by_kind(made.run, made.questions),
    "complementarity": lambda made: analyses.complementarity(made.run, "hipporag2", ROUNDS),
    "construction_cost": lambda made: analyses.construction_cost(made.index, beside=["musique", "2wiki"]),
    "cost_quality": lambda made: analyses.cost_quality(made.grid),
    "covered_only": lambda made: analyses.covered_only(made.grid),
    "cuts": lambda made: analyses.cuts(made.run, progress=False),
    "decomposition": lambda made: analyses.decomposition(made.grid, by=("all", "hops")),
    "degree": lambda made: made.index.graph,
    "drawing": _path,
    "gains_by_kind": lambda made: analyses.gains_by_kind(made.grid),
    "gains_over_static": lambda made: analyses.gains_over_static(made.run),
    "graph": lambda made: walk_subgraph(_walk(made), 30),
    "hub_bias": lambda made: analyses.run_hub_bias(made.questions[:4], made.index, made.rules, progress=False),
    "hubs": lambda made: (STEERED, 0.52),
    "judged_accuracy": lambda made: analyses.judged_accuracy(made.grid, Agreeable()),
    "map": _map,
    "pareto": lambda made: analyses.pareto(made.grid, made.index, beside=["musique"]),
    "promotion": lambda made: analyses.promotion(made.run, made.questions, progress=False),
    "quality_against_k": lambda made: analyses.quality_against_k(made.questions[:4], made.method("dense"), made.rules,
                                                                 progress=False),
    "ranking": _evidence,
    "recall": _recall,
    "recall_curve": lambda made: analyses.recall_curve(made.run, made.questions),
    "recomputed_routing": lambda made: analyses.recomputed_routing(made.grid, "routed"),
    "rounds_curve": lambda made: analyses.rounds_curve(made.run, progress=False),
    "running_time": lambda made: analyses.running_time(made.run),
    "scores": _rounds,
    "training": lambda made: Trained(Path("gfm"), 1_000, 0, COURSE),
    "verdict": lambda made: COUNTS,
    "walk": _walk,
    "wall_clock": lambda made: analyses.wall_clock(made.run),
    "win_rate": _judged,
}  # fmt: skip
MORE = {
    "bump of a steered walk": ("bump", _steered),
    "drawing of a steered walk": ("drawing", lambda made: steered_drawing(_steered(made), -1)),
}


def test_every_figure_has_a_case():
    assert set(CASES) == set(PICTURES)


def drawn(shown, monkeypatch) -> dict[str, list]:
    """The frames of all texts that are really drawn, by their words."""
    boxes: list = []
    draw = Text.draw

    def record(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            boxes.append((text.get_text(), Text.get_window_extent(text, renderer)))
        return draw(text, renderer, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Text, "draw", record)
        shown.figure.canvas.draw()
    return boxes


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_no_text_meets_another_or_leaves_the_frame(name, made, monkeypatch, tmp_path):
    which, of = MORE.get(name, (name, CASES.get(name)))
    things = of(made)
    if isinstance(things, Analysis):
        shown = things.figure()
    else:
        shown = picture(which, *(things if type(things) is tuple else (things,)))
    monkeypatch.chdir(tmp_path)
    shown.save(name)
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".svg", ".pdf", ".csv"}
    assert len(pd.read_csv(f"{name}.csv")), "the data of the picture"
    boxes = drawn(shown, monkeypatch)
    assert len(boxes) > 1
    width, height = shown.figure.canvas.get_width_height()
    outside = [words for words, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]
    assert not outside
    meeting = [
        (a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.padded(-0.5).overlaps(other.padded(-0.5))
    ]
    assert not meeting
