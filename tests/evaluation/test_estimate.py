"""Estimates against what a build, a run or repeats really metered; what counts as done; what is unknown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from imitated import Imitated
from tiny import QUESTIONS, TinyEncoder, tiny_dataset
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.data import Dataset
from workbench.errors import SettingError
from workbench.evaluation.estimate import (
    Cost,
    Estimate,
    Unasked,
    estimate_build,
    estimate_run,
    exactly,
)
from workbench.llm.chat import ChatEngine
from workbench.methods import METHODS
from workbench.records import Passage, Triple

WITHIN = 1.5
NAME = "openai:gpt-4o-mini"
DATA = replace(tiny_dataset(), extractions=None)


def near(costs, used):
    for name in ("calls", "prompt_tokens"):
        said, taken = sum(getattr(cost, name).value for cost in costs), getattr(used, name)
        assert taken / WITHIN <= said <= taken * WITHIN, f"{name}: {said:g} were expected, and {taken:g} taken"


def unreachable(name: str = NAME) -> ChatEngine:
    """A model whose every request is an error."""
    return ChatEngine(name, lambda request: pytest.fail("a request was sent"))


# -- a build ----------------------------------------------------------------------------------------------------------

LAYERS = ("extractions", "profiles", "resolved", "entity_summaries", "communities", "skeleton", "schema_graph", "tree")


def test_a_build_of_several_layers_takes_what_was_estimated_from_a_part(tmp_path):
    """Of a model that leaves out a third of most lists. Its encoder is another than the one that counts."""
    data, engine = wb.load("meridian"), Imitated()
    found = estimate_build(data, engine, 80, tmp_path / "index", encoder=TinyEncoder(), layers=LAYERS)
    assert not engine.meter.total.calls and not (tmp_path / "index").exists(), "nothing is asked, and nothing kept"
    for kind in LAYERS:
        engine = Imitated(sparing=kind != "resolved")
        wb.Index.build(data, engine, tmp_path / "index", encoder=TinyEncoder(), layers=[kind], progress=False)
        near([cost for cost in found.costs if cost.part == kind], engine.meter.total)


def test_a_sample_of_all_counts_the_very_prompts(tmp_path):
    engine = Imitated()
    found = estimate_build(DATA, engine, folder=tmp_path, encoder=TinyEncoder(), layers=["entity_summaries"])
    wb.Index.build(DATA, engine, tmp_path, encoder=TinyEncoder(), layers=["entity_summaries"], progress=False)
    used = engine.meter.total
    assert found.total.calls == exactly(used.calls) and found.total.prompt_tokens == exactly(used.prompt_tokens)
    assert found.total.completion_tokens.low < used.completion_tokens < found.total.completion_tokens.high
    assert found.total.money.low < used.money < found.total.money.high and found.total.seconds is None
    assert "asks as often as the rules do" in repr(found) and "how long an answer takes" in repr(found)


def test_what_is_asked_only_of_names_that_are_named_often_is_not_overlooked(tmp_path):
    """A name of some passages in a hundred has too few fragments to be fused in a sample of 200."""
    passages = tuple(
        Passage(f"p{at}", "", f"The {at}th letter of Person{at % 90} was sent to Orsby{at % 40}.") for at in range(600)
    )
    data, engine = Dataset("letters", passages), Imitated()
    few, usual = (
        estimate_build(data, engine, folder=tmp_path, encoder=TinyEncoder(), layers=["profiles"], **sample)
        for sample in ({"sample": 200}, {})
    )
    wb.Index.build(data, engine, tmp_path, encoder=TinyEncoder(), layers=["profiles"], progress=False)
    fused = [cost for cost in usual.costs if cost.step == "fuse_descriptions"]
    near(fused, engine.meter.steps["fuse_descriptions"])
    assert sum(cost.calls.value for cost in few.costs if cost.step == "fuse_descriptions") < fused[0].calls.value / 2
    assert "hardly known: how often fuse_descriptions is asked" in repr(few) and "hardly" not in repr(usual)


def test_what_has_an_extraction_does_not_count(tmp_path):
    def asked(data) -> float:
        return estimate_build(data, NAME, folder=tmp_path, encoder=TinyEncoder(), layers=["facts"]).total.calls.value

    assert asked(DATA) == 2 * len(DATA.passages) and asked(tiny_dataset()) == 0
    wb.Index.build(
        replace(DATA, passages=DATA.passages[:5]), Imitated(), tmp_path, encoder=TinyEncoder(), layers=["facts"],
        progress=False,
    )  # fmt: skip
    assert estimate_build(DATA, Imitated(), folder=tmp_path, layers=["facts"], encoder=TinyEncoder()).total.calls == (
        exactly(2 * (len(DATA.passages) - 5))
    )


def test_articles_on_triples_are_counted_by_a_part_of_them():
    triples = tuple(
        Triple(f"film {at}", relation, f"{relation} {at % 40}")
        for at in range(300) for relation in ("directed_by", "written_by", "starred_actors")
    )  # fmt: skip
    data, engine = Dataset("films", (), triples=triples), Imitated()
    whole, part = (estimate_build(data, engine, sample).total for sample in (4_000, 200))
    assert whole.calls.value > len({triple.subject for triple in triples})
    assert whole.calls.value / WITHIN < part.calls.value < whole.calls.value * WITHIN


def test_prices():
    assert estimate_build(DATA, "openai:unheard-of", encoder=TinyEncoder()).total.money is None
    found = estimate_build(DATA, NAME, encoder=TinyEncoder())
    assert found.total.batched.value == pytest.approx(found.total.money.value / 2) and "in batches" in repr(found)


# -- a run ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Meridian with what three methods need, encoded by hashes."""
    folder, rules = tmp_path_factory.mktemp("meridian"), wb.engine("rules")
    layers = ["synonyms", "typed", "pieces", "keywords"]
    return wb.Index.build("meridian", rules, folder, encoder=TinyEncoder(), layers=layers, progress=False)


def test_a_run_of_three_methods_with_a_judge_takes_what_was_estimated(index, tmp_path):
    questions, engine = wb.load("meridian").questions[:30], Imitated(sparing=True)
    made = [wb.method(spec, index, engine) for spec in ("hipporag2", "lightrag", "ircot")]
    arguments, judge = (questions, made, wb.reader("cot", engine)), Imitated()
    found = estimate_run(*arguments, 15, judge=judge, trace="off")
    assert not engine.meter.total.calls and not judge.meter.total.calls, "nothing is asked"
    run = wb.evaluate(*arguments, tmp_path / "run", judge=judge, trace="off", progress=False)
    near([cost for cost in found.costs if cost.step != "judge"], engine.meter.total)
    near(found.costs, engine.meter.total + judge.meter.total)
    usage = json.loads((run.folder / "usage.json").read_text())
    for label in run.methods:
        mine = [cost for cost in found.costs if cost.part == label and cost.step not in ("judge", "this machine")]
        assert {cost.step for cost in mine} == usage[label].keys() - {"judge"}
        assert sum(cost.calls.value for cost in mine) == pytest.approx(
            sum(used["calls"] for step, used in usage[label].items() if step != "judge"), rel=WITHIN - 1
        )


def arguments(index, engine, method="dense"):
    return QUESTIONS, [wb.method(method, index, engine)], wb.reader("direct", engine)


@pytest.mark.parametrize("name", [name for name, one in METHODS.items() if one.steps and name != "gfm_rag"])
def test_no_method_sends_a_request_while_it_is_estimated(name, tmp_path_factory):
    index = wb.Index.build(
        tiny_dataset(), wb.engine("rules"), tmp_path_factory.getbasetemp() / "estimated", encoder=TinyEncoder(),
        layers=["facts", "synonyms", *METHODS[name].layers], progress=False,
    )  # fmt: skip
    found = estimate_run(QUESTIONS, [wb.method(name, index, unreachable())], wb.reader("direct", unreachable()))
    assert found.total.calls.value >= len(QUESTIONS), "the reader's, and mostly the method's"


def test_prompts_are_those_that_a_model_is_sent(tiny_index, tmp_path):
    engine = Imitated()
    found = estimate_run(*arguments(tiny_index, engine))
    wb.evaluate(*arguments(tiny_index, engine), tmp_path / "run", progress=False)
    assert found.total.prompt_tokens == exactly(engine.meter.total.prompt_tokens)
    assert found.total.calls == exactly(len(QUESTIONS))


def test_rows_that_are_done_do_not_count_and_repeats_multiply(tiny_index, tmp_path):
    out, engine, n = tmp_path / "run", Imitated(), len(QUESTIONS)
    assert estimate_run(*arguments(tiny_index, engine), repeats=3).total.calls == exactly(3 * n)
    wb.evaluate(*arguments(tiny_index, engine), out, repeats=2, progress=False)
    before = (out / "results.jsonl").read_bytes()
    assert estimate_run(*arguments(tiny_index, engine), out=out, repeats=2).total.calls == exactly(0)
    found = estimate_run(*arguments(tiny_index, engine), out=out, repeats=5)
    assert found.total.calls == exactly(3 * n) and f"{2 * n} rows are done" in repr(found)
    (out / "checksums.json").unlink()  # as in a run that was killed
    (out / "results.jsonl").write_bytes(before.splitlines(keepends=True)[0][:-5])  # torn, and with it all rows
    assert estimate_run(*arguments(tiny_index, engine), out=out, repeats=2).total.calls == exactly(2 * n)
    with pytest.raises(SettingError, match="another run"):
        estimate_run(*arguments(tiny_index, engine), out=out, repeats=2, k=3)
    rules = estimate_run(*arguments(tiny_index, wb.engine("rules")), repeats=3)
    assert rules.total.calls == exactly(0) and "its first repeat stands for all" in repr(rules)


def test_a_step_that_the_sample_did_not_ask_is_named(tiny_index):
    questions = (replace(QUESTIONS[0], question="?"),)
    found = estimate_run(questions, [wb.method("hipporag2", tiny_index, Unasked(NAME))])
    assert ("asks fact_filter, which the sample did not show" in repr(found)) == (found.total.calls == exactly(0))


def test_what_stands_for_a_model_refuses_to_answer(tiny_index, tmp_path):
    """Or rows and layers would go by the name of a model that never said them."""
    engine = Unasked(NAME, "no key")
    estimate_run(*arguments(tiny_index, engine))
    with pytest.raises(SettingError, match=r"is not asked here .no key.*build the layers"):
        wb.reader("direct", engine).read("?", wb.method("dense", tiny_index).retrieve("?", 3))
    with pytest.raises(SettingError, match="is not asked here"):
        wb.Index.build(DATA, engine, tmp_path, encoder=TinyEncoder(), progress=False)


def test_the_command_line_needs_no_key(meridian_index, tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    asked = tmp_path / "questions.jsonl"
    asked.write_text(json.dumps({"id": "q", "question": "Who built it?", "answers": ["x"], "support": []}) + "\n")
    words = ["estimate", str(meridian_index.folder), "-q", str(asked), "-m", "bm25", "-r", "direct", "-e", NAME]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, (shown.output, shown.exception)
    told = " ".join(shown.stdout.split())
    assert "no model was asked: no key for the OpenAI endpoint: set OPENAI_API_KEY" in told and "assumed:" in told
    once, thrice = (
        json.loads(CliRunner().invoke(app, [*words, *more, "--json"]).stdout)
        for more in (["--sample", "0"], ["--repeats", "3"])
    )
    assert once["total"]["prompt_tokens"][0] > 0
    assert thrice["total"]["calls"][0] == 3 * once["total"]["calls"][0]


# -- the look ---------------------------------------------------------------------------------------------------------


def test_what_is_unknown_is_never_shown_as_nothing_and_makes_a_sum_unknown():
    estimate = Estimate("it", "openai:m", (Cost("a", "x", money=None, batched=None, seconds=None), Cost("a", "y")))
    assert set(repr(estimate).splitlines()[2].split()[5:]) == {"unknown"}
    assert estimate.total.money is None and estimate.total.calls == exactly(0)
