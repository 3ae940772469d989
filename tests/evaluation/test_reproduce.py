"""A table by one call: what is run for it, that every table of every paper goes through, and how it is written."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace

import pytest
from by_hand import QUESTIONS, RunByHand, right
from tiers import FULL
from tiny import TinyEncoder, TinyEngine
from typer.testing import CliRunner

import workbench as wb
from workbench import analyses
from workbench.cli.app import app
from workbench.errors import DataError, SettingError
from workbench.evaluation.estimate import Unasked, estimate_build
from workbench.evaluation.pairs import DIMENSIONS
from workbench.llm.step import Result
from workbench.papers import planning
from workbench.papers import reproduce as reproducing
from workbench.papers.planning import plan
from workbench.papers.recipes import layers_of, models_of, recipes, recipes_of, tables_of
from workbench.papers.reproduce import engines_by_row, reproduce
from workbench.papers.tables import NOT_COMPARABLE, NOT_MEASURED, tables
from workbench.published import paper, papers
from workbench.settings import parse_spec
from workbench.steps import judge_pair
from workbench.views.tables import written

TABLES = [  # that one data set can fill: those of the text are means over all
    (name, table) for name in papers() for table in tables_of(paper(name)) if table != "text"
]
CHOSEN = TABLES if FULL else [("bdtr", "5"), ("dotrag", "1"), ("youtu", "3")]  # an index of each kind, pairs, ablations


PAIRS = {("dotrag", "1"), ("dotrag", "3")}  # tables of judged pairs


class Longer:
    """Prefers the longer answer, or the first."""

    name, workers = "openai:longer", 1

    def run(self, step, inputs, *, trace=None):
        assert step is judge_pair.STEP
        return [self._one(1 if len(value.answer_1) >= len(value.answer_2) else 2) for value in inputs]

    def _one(self, winner):
        return Result(judge_pair.Output(**{name: {"winner": winner, "reason": "longer"} for name in DIMENSIONS}))


@pytest.fixture(scope="module")
def small():
    """A part of the bundled corpus with questions of two types."""
    data = wb.load("meridian")
    gold = {one for question in data.questions[:3] for one in question.support}
    kept = [one for one in data.passages if one.id in gold]
    rest = [one for one in data.passages if one.id not in gold]
    passages = (*kept, *rest)[:24]
    return replace(data, name="small", passages=passages, questions=data.questions[:3], graph=None, folder=None)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


# -- what is run ------------------------------------------------------------------------------------------------------


def test_every_table_of_scores_has_recipes():
    assert {name for name, _ in TABLES} == set(papers())
    for name in papers():
        source = paper(name)
        scores = set(source.scores["table"])
        assert scores - set(tables_of(source)) == {"catrag": {"hub bias"}}.get(name, set())


def test_a_recipe_follows_the_conditions_of_the_paper():
    first, *others = recipes(paper("bdtr"), "5")
    assert others == [] and first.source == "musique/dev/hipporag-1000" and first.k == 200 and not first.judged
    assert first.methods == (
        "raptor", "bdtr[profile=paper,bgec=false,backbone=raptor]", "bdtr[profile=paper,iterations=0,backbone=raptor]",
        "bdtr[profile=paper,backbone=raptor]",
    )  # fmt: skip
    assert first.readers == ("direct",) and first.measures == ("em", "f1")
    (first, *_) = recipes(paper("reasoning"), "5.4")
    assert first.methods == ("ket_rag[profile=released]",) and first.judged and first.encoder == "all-minilm-l6-v2"
    prompts = ("sparql", "brief")
    assert [recipes(paper("reasoning"), "5.4", model)[0].readers for model in ("70B", "8B")] == [
        tuple(f"direct[prompt={one},extraction=thesis,temperature=0.3{more}]" for one in prompts)
        for more in ("", ",rewrite=true")
    ], "the answers of the smaller model are made short"
    encoders = {one.encoder for one in recipes(paper("catrag"), "recall")}
    assert encoders == {None, "contriever", "gtr-t5-base", "text-embedding-3-small"}
    layers = recipes(paper("youtu"), "3")[0].layers
    assert layers["tree"]["max_clusters"] == 200 and layers["schema_graph"]["evolution"] == "gated"
    (first, *_) = recipes(paper("reasoning"), "5.11")
    assert first.layers["profiles"] == {"gleanings": 0, "fragments": 999}, "of a layer that the method's are made of"


def test_the_questions_of_a_data_set_are_loaded_with_the_options_of_its_recipe(monkeypatch):
    loaded = []

    def load(name, **options):
        loaded.append((name, options))
        raise DataError("not here")

    for module in (reproducing, planning):
        monkeypatch.setattr(module, "load", load)
    recipe, *_ = recipes(paper("dotrag"), "2")
    with pytest.raises(DataError):
        planning.counted_on(paper("dotrag"), recipe, "meridian")
    with pytest.raises(DataError):
        reproducing.loaded_as(recipe.source, recipe.options)
    with pytest.raises(DataError):
        plan("dotrag", "2", "rules", data="elsewhere")
    options = {"brackets": True, "filtered": False}
    own = "metaqa/vanilla/test/300-per-hop@42"
    assert loaded == [
        (own, {"offline": True, **options}), ("meridian", {}), (own, options), ("elsewhere", {}),
    ], "which takes no options"  # fmt: skip


def test_each_ablation_has_the_index_that_it_names():
    """Youtu-GraphRAG, 4.4: without the agent no schema is expanded, without the schema none bounds what it finds."""
    found = [one for one in recipes(paper("youtu"), "3") if one.data == "hotpotqa"]
    layers = {one.variant: one.layers["schema_graph"] for one in found}
    assert layers == {
        "": {"schema": "hotpotqa", "evolution": "gated", "mu": 0.9, "strict": True},
        "Ours w/o Agent": {"schema": "hotpotqa", "evolution": "off", "mu": 0.9, "strict": True},
        "Ours w/o Schema": {"schema": "empty", "evolution": "off", "mu": 0.9, "strict": False},
    }
    assert {one.variant: one.methods for one in found}["Ours w/o Agent"] == ("youtu[agent=false]",)
    assert {one.layers["schema_graph"]["schema"] for one in recipes(paper("youtu"), "2") if not one.variant} == {
        "hotpotqa", "2wikimultihopqa", "general", "textbook", "literary",
    }  # fmt: skip


# -- engines of rows --------------------------------------------------------------------------------------------------

SMALLER, LARGER = "openai:llama-3.1-8b-instant", "openai:llama-3.3-70b-versatile"


def test_rows_are_filled_by_the_engine_of_their_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    source = paper("reasoning")
    rows = dict(engines_by_row(source, SMALLER, [LARGER, SMALLER]))
    assert {called: (one.steps.name, one.reader.name) for called, one in rows.items()} == {
        "70B": (SMALLER, LARGER), "8B": (SMALLER, SMALLER),
    }  # fmt: skip
    (only,) = engines_by_row(source, SMALLER)
    assert only[0] == "8B"
    by_row = dict(engines_by_row(paper("youtu"), "rules", ["openai:qwen3-32b", "openai:deepseek-v3-0324"]))
    assert all(one.steps is one.reader for one in by_row.values()), "there every Step is asked of the row's model"
    with pytest.raises(SettingError, match=f"{SMALLER} and rules would both fill the rows of 8B"):
        engines_by_row(source, SMALLER, [SMALLER, "rules"])
    with pytest.raises(SettingError, match="bdtr has no rows of different models"):
        engines_by_row(paper("bdtr"), SMALLER, [SMALLER, LARGER])


def test_a_recipe_asks_for_nothing_that_fills_no_cell():
    """Table 5.6 has routing of the smaller model, and the baseline of the larger; 5.1 looks at contexts alone, which
    rules read; a method is read as its own rows need it."""
    source = paper("reasoning")
    smaller, larger = ([one.readers for one in recipes(source, "5.6", model)] for model in ("8B", "70B"))
    assert all("route=true" in one and "prompt" not in one for (one,) in smaller) and len(smaller) == len(larger) == 3
    assert all("prompt=brief" in one for (one,) in larger)
    assert {one.answered for one in recipes(source, "5.1")} == {False} and models_of(source, "5.1") == []
    assert models_of(source, "5.6") == ["70B", "8B"]
    whole = source.printed[source.printed["table"].isin(["5.5", "5.11"])]
    one = next(one for one in recipes_of(source, whole, "8B") if one.data == "2wiki")
    read = {method[:8]: [parse_spec(of)[1].get("prompt") for of in by] for method, by in one.read_by.items()}
    assert "cot" in read["ket_rag["] and "cot" not in read["lightrag"] and one.answered


class Answering:
    """Answers like rules, under the name of a model, and counts what it is asked."""

    workers = 1

    def __init__(self, name):
        self.name, self.asked = name, []

    def run(self, step, inputs, *, trace=None):
        self.asked += [step.name] * len(inputs)
        return wb.engine("rules").run(step, inputs, trace=trace)


@pytest.mark.slow
def test_one_call_fills_the_rows_of_both_models_and_asks_for_nothing_else(small, place):
    smaller, larger = Answering(SMALLER), Answering(LARGER)
    given = {"judge": "rules", "data": small, "limit": 1, "out": place / "both", "progress": False}
    found = reproduce("reasoning", "5.6", "rules", reader_engine=[smaller, larger], **given)
    measured = {cell.method for cell in found.cells if cell.ours is not None}
    assert {"Routing+GW, 8B", "Base, 70B"} <= measured and any(" - " in one for one in measured)
    assert Counter(larger.asked) == {"answer_briefly": 1}
    assert Counter(smaller.asked)["classify_question"] == 1 and "answer_briefly" not in smaller.asked
    evidence = [one for one in (place / "both").rglob("retrieved") if one.is_dir()]
    assert len(evidence) == 1, "both read the same"
    again = Answering(SMALLER)
    reproduce("reasoning", "5.1", "rules", reader_engine=again, **given)
    assert again.asked == [], "coverage is of the context"
    assert not any("left out" in note for note in found.notes)


def test_what_cannot_be_run_says_what_can():
    with pytest.raises(SettingError, match="has no table '9'; it has 1, text, 2"):
        reproduce("bdtr", "9")
    by = r"workbench\.analyses\."
    with pytest.raises(SettingError, match=rf"nothing runs for table 'hub bias' of .*; {by}run_hub_bias fills it"):
        reproduce("catrag", "hub bias")
    with pytest.raises(SettingError, match=rf"'figure 5a' of youtu.*; {by}construction_cost fills it; choose one of"):
        reproduce("youtu", "figure 5a")
    for name in papers():
        for table, fills in paper(name).terms.get("analyses", {}).items():
            assert table in set(paper(name).printed["table"]) and hasattr(analyses, fills.rpartition(".")[2])
    with pytest.raises(SettingError, match=r"table '1' of dotrag compares pairs .*--judge openai:gpt-4\.1"):
        reproduce("dotrag", "1", "rules")
    with pytest.raises(SettingError, match=r"has no questions; add a questions\.jsonl"):
        reproduce("bdtr", "5", data=replace(wb.load("meridian"), questions=()))


# -- every table ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize(("name", "table"), CHOSEN, ids=["-".join(one).replace(" ", "") for one in CHOSEN])
def test_every_table_goes_through_by_rules(small, place, name, table):
    """Each builds the layers of its methods, and asks them a question: three tables, and all in the full profile."""
    judge = Longer() if (name, table) in PAIRS else None
    found = reproduce(name, table, "rules", judge=judge, data=small, limit=1, out=place, progress=False)
    assert {cell.table for cell in found.cells} == {table}
    assert {cell.verdict for cell in found.cells} <= {NOT_COMPARABLE, NOT_MEASURED}
    measured = [cell for cell in found.cells if cell.ours is not None]
    if (name, table) in PAIRS:  # whose questions have a number of hops, by which the table is divided
        assert all("judge: openai:longer, there gpt-4.1 [engines.judge]" in cell.why for cell in measured)
    elif name == "dotrag":  # sets of nodes as answers, which these questions do not have
        assert "need gold that the questions of small do not have" in found.notes[-1]
    else:
        assert measured and all(1 <= cell.n <= 8 for cell in measured)  # of four backbones, where gains are averaged
        assert all(any("split and corpus: small" in why for why in cell.why) for cell in measured)
        assert "(by rules)" in repr(found)


class Mute(Longer):
    """Answers nothing that could be read."""

    def _one(self, winner):
        return Result(None, failure="the reply is no JSON")


def test_a_table_that_is_empty_because_the_judge_failed_says_so(tiny, tmp_path):
    given = {"data": tiny, "limit": 2, "out": tmp_path, "progress": False}
    found = reproduce("dotrag", "1", "rules", judge=Mute(), **given)
    pairs = 2 * len(recipes(paper("dotrag"), "1")[0].pairs)
    assert f"the judge failed on all {pairs} pairs of answers" in found.notes[-1]
    [note, *others] = [note for note in found.notes if "The judge failed on 4 of 4 comparisons" in note]
    [file] = {str(one) for one in tmp_path.rglob("judgements.jsonl")}
    assert f"({file}); the first time: the reply is no JSON" in note and len(others) == pairs // 2 - 1
    assert not any("need gold" in note for note in found.notes)
    again = reproduce("dotrag", "1", "rules", judge=Longer(), **given)
    assert any(cell.ours is not None for cell in again.cells) and "failed" not in " ".join(again.notes)


def test_the_same_call_goes_on_and_gives_the_same(small, place, monkeypatch):
    first = reproduce("bdtr", "5", "rules", data=small, limit=1, out=place, progress=False)
    seconds = {path: path.read_bytes() for path in place.rglob("timings.jsonl")}  # of every row that was computed
    assert reproduce("bdtr", "5", "rules", data=small, limit=1, out=place, progress=False) == first
    assert {path: path.read_bytes() for path in place.rglob("timings.jsonl")} == seconds, "nothing is asked twice"
    more = reproduce("bdtr", "5", "rules", data=small, limit=2, out=place, progress=False)
    assert {cell.n for cell in more.cells if cell.n} == {2}


# -- plans, forms, the command line -----------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """Plans by amounts that are given: what a prompt counts is the matter of tests/evaluation/test_estimate.py."""
    amounts = dict.fromkeys(planning.AMOUNTS, 10.0)
    monkeypatch.setattr(planning, "_cost", lambda estimate: amounts)
    for name in ("estimate_build", "estimate_run"):
        monkeypatch.setattr(planning, name, lambda *_, **__: None)
    monkeypatch.setattr(planning.Index, "build", lambda *_, **__: None)
    monkeypatch.setattr(planning, "method", lambda *_: None)


def test_a_plan_has_a_row_for_each_build_method_and_reader(small, counted):
    planned = plan("bdtr", "5", "openai:gpt-4o-mini", data=small)
    index, *methods = planned.frame.to_dict("records")
    assert index["what"].startswith("index: ") and index["reader"] == ""
    assert [row["what"] for row in methods] == list(recipes(paper("bdtr"), "5")[0].methods)
    assert {row["reader"] for row in methods} == {"direct"} and set(planned.frame["data"]) == {"small"}
    assert "What table 5 of bdtr takes" in repr(planned) and "all" in planned._repr_html_()
    thrice = plan("bdtr", "5", "openai:gpt-4o-mini", data=small, repeats=3).frame
    assert thrice["calls"].to_list() == [10] + [30] * len(methods), "an index is built once"


@pytest.mark.parametrize("engine", ["rules", "openai:gpt-4o-mini"])
def test_a_plan_counts_the_judging_of_every_repeat_whose_answers_can_vary(small, counted, engine):
    """Both orders of each pair, and of the planted ones, which are of the first repeat."""
    planned = plan("dotrag", "1", engine, judge="openai:gpt-4.1", data=small, repeats=3)
    calls = planned.frame.set_index("what").loc["judge: pairs of answers", "calls"]
    pairs, questions = len(recipes(paper("dotrag"), "1")[0].pairs), len(small.questions)
    assert calls == 2 * ((1 if engine == "rules" else 3) * pairs * questions + questions)


def test_a_plan_without_the_data_counts_from_the_sizes_that_the_paper_states(counted, monkeypatch, tmp_path):
    """Nothing is downloaded, and nothing takes nothing."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path / "none"))
    planned = plan("bdtr", "5", "openai:gpt-4o-mini")
    assert set(planned.frame["data"]) == {"musique/dev/hipporag-1000"}
    assert planned.frame["calls"].to_list() == [10 * 11_656 / 165] + [10 * 1_000 / 5] * 4
    assert "Counted on meridian with 5 questions, scaled to 1,000." in planned.notes
    assert "Counted on meridian with 165 passages, scaled to 11,656." in planned.notes


def test_what_stands_in_for_several_data_sets_is_built_once(counted, monkeypatch, tmp_path):
    """And counted once, then scaled to the passages and questions of each."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path / "none"))
    built = []
    monkeypatch.setattr(planning.Index, "build", lambda data, *_, **__: built.append(data.name))
    frame = plan("bdtr", "1", "openai:gpt-4o-mini").frame
    assert built == ["meridian"] and frame["data"].nunique() == 3
    indexes = frame[frame["what"].str.startswith("index")].set_index("data")["calls"]
    assert indexes.to_dict() == {
        "hotpotqa/dev/hipporag-1000": pytest.approx(10 * 9_811 / 165),
        "2wikimultihopqa/dev/hipporag-1000": pytest.approx(10 * 6_119 / 165),
        "musique/dev/hipporag-1000": pytest.approx(10 * 11_656 / 165),
    }


def test_the_build_in_a_plan_is_that_of_an_estimate():
    """A small sample names little often, and says too little of what is asked once enough is said of a name."""
    recipe, engine, data = recipes(paper("dotrag"), "1")[0], Unasked("openai:gpt-4o-mini"), wb.load("meridian")
    row = planning.of_build(recipe, planning.Counted(data), engine)
    whole = estimate_build(data, engine, layers=layers_of(recipe, data)[0]).total
    assert row["calls"] == whole.calls.value and row["prompt_tokens"] == whole.prompt_tokens.value


def test_it_is_written_in_four_forms():
    methods = {"raptor": {}, "bdtr[backbone=raptor]": {"backbone": "raptor", "bgec": True, "iterations": 2}}
    scores = {label: {"em": right(2, 5), "f1": right(3, 5)} for label in methods}
    run = RunByHand(methods, scores, questions=QUESTIONS[:5], data={"name": "small"}, reading={"engine": "rules"})
    found = tables("bdtr", [run], stands_for={"run": "musique"})
    found = replace(found, cells=tuple(cell for cell in found.cells if cell.table == "5" and cell.run))
    rows = list(csv.DictReader(io.StringIO(written(found, "csv"))))
    assert len(rows) == len(found.cells) and {row["verdict"] for row in rows} == {NOT_COMPARABLE}
    assert all("split and corpus: small" in row["why"] for row in rows)
    markdown = written(found, "markdown")
    assert (
        markdown.startswith("### Table 5\n\n| backbone | method |") and "| raptor (by rules) | 0.296 \\| " in markdown
    )
    latex = written(found, "latex")
    assert r"\begin{tabular}{lllllll}" in latex and r"\\%" not in latex and r"$\mid$" in latex
    hostile = replace(found.cells[0], label=r"a_b & \input{x} | ~^%$#{}")
    latex = written(replace(found, cells=(hostile,)), "latex")
    assert r"a\_b \& \textbackslash{}input\{x\}" in latex
    assert r"\input" not in latex.replace(r"\textbackslash{}input", "")
    assert r"a_b & \input{x} \| ~^%$#{}" in written(replace(found, cells=(hostile,)), "markdown")


@pytest.mark.slow
def test_the_command_line(small, place, tmp_path):
    folder = wb.write_folder(small, tmp_path / "small")
    runner = CliRunner()
    words = ["table", "bdtr", "5", "--data", str(folder), "--limit", "1", "--out", str(place / "cli")]
    said = runner.invoke(app, [*words, "--json"])
    assert said.exit_code == 0, said.output
    assert {cell["verdict"] for cell in json.loads(said.stdout)["cells"]} == {NOT_COMPARABLE}
    assert "### Table 5" in runner.invoke(app, [*words, "--format", "markdown"]).output
    assert "verdict" in runner.invoke(app, [*words, "--format", "csv"]).output
    paid = runner.invoke(app, [*words, "--engine", "openai:gpt-4o-mini"])
    assert paid.exit_code == 1 and "may cost money; say how much with --max-money" in paid.output.replace("\n", " ")
    planned = runner.invoke(app, [*words, "--engine", "openai:gpt-4o-mini", "--plan"])
    assert planned.exit_code == 0 and "What table 5 of bdtr takes" in planned.output
    assert runner.invoke(app, [*words, "--format", "word"]).exit_code == 1


@pytest.mark.parametrize(
    ("passages", "settings", "engine", "same"),
    [
        (8, {}, "tiny", True),
        (7, {}, "tiny", False),
        (8, {"synonyms": {"threshold": 0.9}}, "tiny", False),
        (8, {}, "another", False),
        (8, {}, "failing", False),
    ],
)
def test_an_index_that_stands_is_used_if_a_build_would_make_the_same(
    tiny, tmp_path, monkeypatch, passages, settings, engine, same
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(reproducing, "known_encoder", TinyEncoder)
    data = replace(tiny, extractions=None)
    builder = TinyEngine(fails_on=["Fog"] if engine == "failing" else ())
    builder.name = "tiny" if engine == "failing" else engine
    there = wb.Index.build(
        replace(data, passages=data.passages[:passages]), builder, encoder=TinyEncoder(), settings=settings,
        progress=False,
    )  # fmt: skip
    recipe = replace(recipes(paper("bdtr"), "5")[0], layers={"passages": {}, "facts": {}, "synonyms": {}})
    engines = reproducing.Engines.of(TinyEngine())
    index = reproducing._index(recipe, data, engines, None, tmp_path / "tables", False)
    assert (index.folder == there.folder) == same == (not (tmp_path / "tables").exists())
    assert len(index.passages.passages) == 8
