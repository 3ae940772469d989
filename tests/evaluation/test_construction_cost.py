"""What an index costs, per method, and accuracy against it: tokens by hand, what is measured and what is a forecast,
the front, and the published numbers beside ours."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import pytest
from test_analyses import written
from tiny import PaidEngine, TinyEncoder, tiny_dataset

import workbench as wb
from workbench import published
from workbench.analyses import pareto
from workbench.analyses.construction_cost import construction_cost, layers_of, methods_of
from workbench.errors import SettingError
from workbench.evaluation.estimate import forecast_layers
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.llm.step import Result, Usage
from workbench.published import youtu
from workbench.records import Question

module = import_module("workbench.analyses.construction_cost")  # a function has its name in the package
DATA = replace(tiny_dataset(), extractions=None)
QUESTIONS = (Question("q1", "?", ("x",)), Question("q2", "?", ("x",)))


class Writer(PaidEngine):
    """It writes entity summaries as well; each request has 100 tokens, each answer 10."""

    def run(self, step, inputs, *, trace=None):
        if step.name != "summarise_entity":
            return super().run(step, inputs, trace=trace)
        for _ in inputs:
            self.meter.add(step.name, Usage(1, 100, 10))
        return [Result(step.output(summary=value.entity)) for value in inputs]


def build(folder, engine=None, layers=("synonyms", "entity_summaries"), name="tiny") -> Index:
    settings = {"entity_summaries": {"tau": 1}}
    data = replace(DATA, name=name)
    return Index.build(
        data, engine or Writer(), folder, encoder=TinyEncoder(), layers=layers, settings=settings, progress=False
    )


def by_method(found, basis="measured"):
    return {row["method"]: row for row in found.rows if row["basis"] == basis}


# -- what an index costs ----------------------------------------------------------------------------------------------


def test_each_method_costs_the_layers_that_it_needs(tmp_path):
    """Eight passages with two requests of 110 tokens each; the summaries are CatRAG's alone."""
    index = build(tmp_path / "index")
    written_about = len(index.entity_summaries.summaries)
    assert written_about > 2
    found = construction_cost(index, ["dense", "hipporag2", "catrag", "bdtr[backbone=catrag]"])
    rows = by_method(found)
    assert {name: row["tokens"] for name, row in rows.items()} == {
        "hipporag2": 16 * 110, "catrag": 16 * 110 + written_about * 110,
        "bdtr[backbone=catrag]": 16 * 110 + written_about * 110,
    }  # fmt: skip
    assert by_method(found, "no model")["dense"]["tokens"] == 0
    assert rows["catrag"]["layers"] == "extractions, entity_summaries" and rows["catrag"]["community"] == 0
    minutes = {row["method"]: row["minutes"] for row in found.rows if row["basis"] != "forecast"}
    assert 0 < minutes["dense"] < minutes["hipporag2"] < minutes["catrag"]
    layer = next(one for one in found.layers if one["layer"] == "extractions" and one["basis"] == "measured")
    assert (layer["calls"], layer["prompt_tokens"], layer["completion_tokens"]) == (16, 1600, 160)
    assert layer["methods"] == "hipporag2, catrag, bdtr[backbone=catrag]"


def test_texts_about_groups_are_the_cost_of_communities(tmp_path, monkeypatch):
    index = build(tmp_path / "index")
    monkeypatch.setattr(module, "COMMUNITIES", ("entity_summaries",))
    row = by_method(construction_cost(index, ["catrag"]))["catrag"]
    written_about = len(index.entity_summaries.summaries)
    assert (row["construction"], row["community"]) == (16 * 110, written_about * 110)
    assert set(("summaries", "communities")) < {*wb.index.building.LAYERS}


def test_rules_are_a_forecast_and_never_measured(tmp_path):
    index = build(tmp_path / "index", wb.engine("rules"))
    found = construction_cost(index, ["hipporag2", "catrag"])
    assert by_method(found) == {} and {row["basis"] for row in found.rows} == {"forecast"}
    costs = forecast_layers(index)
    named, stated = costs["extractions"]
    assert (named.calls.value, stated.calls.value) == (8, 8)
    tokens = sum(cost.prompt_tokens.value + cost.completion_tokens.value for cost in (named, stated))
    row = by_method(found, "forecast")["hipporag2"]
    assert row["tokens"] == round(tokens) and row["low"] < row["tokens"] < row["high"]
    assert any(note.startswith("forecast: ") for note in found.notes)
    assert any("rules" in note and "extractions, entity_summaries" in note for note in found.notes)


def test_a_method_of_measured_and_forecast_layers_has_a_forecast_alone(tmp_path):
    """Nothing measured is added to a forecast."""
    build(tmp_path / "index", layers=("synonyms",))
    index = build(tmp_path / "index", wb.engine("rules"), layers=("synonyms", "entity_summaries"))
    made_by = {kind: layer.get("made_by") for kind, layer in index.manifest["layers"].items()}
    assert made_by["extractions"] == ["rules (named_entities v2, triples v2)"], (
        "the rules replace what is asked of them"
    )
    other = build(tmp_path / "other", layers=("synonyms",)).ensure(["entity_summaries"], wb.engine("rules"))
    found = construction_cost(other, ["hipporag2", "catrag"])
    assert [(row["method"], row["basis"]) for row in found.rows] == [
        ("hipporag2", "measured"), ("hipporag2", "forecast"), ("catrag", "forecast"),
    ]  # fmt: skip


def test_by_default_it_is_all_methods_whose_layers_stand(tmp_path):
    index = build(tmp_path / "index")
    assert {"dense", "bm25", "hipporag2", "catrag"} <= set(methods_of(index)) and "raptor" not in methods_of(index)
    assert {row["method"] for row in construction_cost(index).rows} == set(methods_of(index))
    with pytest.raises(SettingError, match="raptor needs the layer 'summaries'"):
        construction_cost(index, ["raptor"])
    with pytest.raises(SettingError, match="given no index; pass at least one"):
        construction_cost([])
    with pytest.raises(SettingError, match="no method is called"):
        construction_cost(index, ["nonsense"])


def test_published_numbers_stand_beside_those_of_the_same_data(tmp_path):
    index = build(tmp_path / "index", name="2wiki-sample")
    found = by_method(construction_cost(index, ["dense"]), "published")
    assert found["LGraphRAG"]["tokens"] == 36_400_000 + 29_420_000 and found["LGraphRAG"]["minutes"] == 171 + 215
    assert (found["RAPTOR"]["construction"], found["RAPTOR"]["community"]) == (None, 960_000)
    assert set(found) == {row.method for row in youtu.Printed(youtu_printed()).of("figure 5a", "figure 5b")}
    other = build(tmp_path / "other")
    assert by_method(construction_cost(other, ["dense"]), "published") == {}
    asked = construction_cost(other, ["dense"], beside=["musique"])
    assert by_method(asked, "published")["Youtu-GraphRAG"]["construction"] == 9_800_000


def youtu_printed():
    return published.paper("youtu").printed


def test_a_graph_of_triples_costs_its_articles(tmp_path):
    """What the articles bring is not forecast again; without a bill nothing is known."""
    index = build(tmp_path / "index")
    (index.folder / "textualised").mkdir()
    found = construction_cost(index, ["dense", "hipporag2"])
    assert found.rows == () and "what its articles took" in " ".join(found.notes)
    bill = {"layer": "articles", "step": "write_article", "engine": "openai:one"} | {
        **dict.fromkeys(("calls", "failed", "repaired", "cut", "recorded"), 0), "seconds": 60.0, "money": 0.0,
        "prompt_tokens": 700, "completion_tokens": 300, "calls": 3,
    }  # fmt: skip
    with (index.folder / "usage.jsonl").open("a") as out:
        out.write(json.dumps(bill) + "\n")
    found = construction_cost(index, ["dense", "hipporag2"])
    assert {row["method"]: row["tokens"] for row in found.rows} == {"dense": 1_000, "hipporag2": 1_000}


def test_it_is_shown_with_whole_numbers_and_a_figure(tmp_path):
    index = build(tmp_path / "index", name="musique-sample")
    found = construction_cost(index, ["dense", "catrag"])
    assert "9,810,000" in repr(found) and "Layers" in repr(found) and "entity_summaries" in found._repr_html_()
    assert found.frame()["tokens"].dtype == "Int64"
    assert found.figure()._repr_png_() == found.figure()._repr_png_()
    assert construction_cost(index, ["dense"], beside=[]).figure()._repr_png_()


# -- accuracy against it ----------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    """A run by hand over an index; `right`: method → accuracy of two questions."""

    def run(index, right, name="run", reader="direct", data=None):
        methods, scores = {one: {} for one in right}, {one: {"accuracy": list(values)} for one, values in right.items()}
        made = written(tmp_path / name, methods, scores, questions=QUESTIONS, reader=reader,
                       data={"name": data or index.name, "fingerprint": ""})  # fmt: skip
        config = json.loads((made.folder / "run.json").read_text())
        for one in right:
            config["methods"][one]["layers"] = {kind: {} for kind in layers_of(one)}
        (made.folder / "checksums.json").unlink(missing_ok=True)
        (made.folder / "run.json").write_text(json.dumps(config))
        return Run(made.folder)

    return run


def test_the_front_is_that_of_tokens_of_the_index(tmp_path, run):
    """dense is free; hipporag2 is dearer than dense and no better; catrag is dearer and better."""
    index = build(tmp_path / "index")
    made = run(index, {"dense": (1, 0), "bm25": (0, 0), "hipporag2": (1, 0), "catrag": (1, 1)})
    found = pareto(made, index)
    assert {row["method"]: (row["quality"], row["front"]) for row in found.rows} == {
        "dense": (0.5, True), "bm25": (0, False), "hipporag2": (0.5, False), "catrag": (1, True),
    }  # fmt: skip
    costs = {row["method"]: row["cost"] for row in found.rows}
    assert costs["dense"] == 0 and costs["hipporag2"] == 1760 < costs["catrag"]
    assert found.unit == "tokens of construction and communities (measured)" and found.measure == "accuracy"
    assert {row["basis"] for row in found.rows} == {"measured", "no model"}


def test_if_one_is_not_measured_all_are_compared_by_their_forecast(tmp_path, run):
    index = build(tmp_path / "index", layers=("synonyms",)).ensure(["entity_summaries"], wb.engine("rules"))
    alone = pareto(run(index, {"hipporag2": (1, 0)}), index)
    both = pareto(run(index, {"hipporag2": (1, 0), "catrag": (1, 1)}, "both"), index)
    assert alone.unit.endswith("(measured)") and both.unit.endswith("(forecast)")
    assert {row["basis"] for row in both.rows} == {"forecast"}
    assert both.rows[0]["low"] < both.rows[0]["cost"] < both.rows[0]["high"]
    assert any(note.startswith("forecast: ") for note in both.notes)


def test_published_points_have_a_front_of_their_own(tmp_path, run):
    index = build(tmp_path / "index", name="musique-sample")
    found = pareto(run(index, {"dense": (1, 0), "catrag": (1, 1)}), index)
    published = {row["method"]: row for row in found.rows if row["basis"] == "published"}
    assert published["Youtu-GraphRAG"]["cost"] == 9_810_000 and published["Youtu-GraphRAG"]["quality"] == 0.475
    assert [name for name, row in published.items() if row["front"]] == ["Youtu-GraphRAG"]
    assert published["HippoRAG1"]["quality"] == 0.355, "that of HippoRAG-IRCOT, in reject mode"
    assert len(published) == 5 and any("other corpora" in note for note in found.notes)
    assert [row["method"] for row in pareto(run(index, {"dense": (1, 0)}, "no"), index, beside=[]).rows] == ["dense"]
