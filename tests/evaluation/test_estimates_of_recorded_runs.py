"""Estimates against what a run, a build or repeats really metered, of an imitated model: within a factor of 1.5.

`benchmarks/estimates.py` is the same on larger corpora, for every configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest
from imitated import Imitated
from tiny import QUESTIONS, TinyEncoder, tiny_dataset

import workbench as wb
from workbench.errors import SettingError
from workbench.evaluation.estimate import Unasked, estimate_build, estimate_run, exactly
from workbench.evaluation.estimate.loops import DECIDING, decided
from workbench.evaluation.trial.questions import QUESTIONS as TRIAL
from workbench.llm.engine import by_rule
from workbench.steps import catalogue

WITHIN = 1.5
AMOUNTS = ("calls", "prompt_tokens", "completion_tokens", "money")
PLACES = ("Orsby", "Lake Mira", "River Aldra", "the lake", "the founder", "the town", "the river", "a fog")
MANY = tuple(
    replace(one, id=f"{one.id}-{at}", question=f"{one.question[:-1]}, or {where}{' and so on' * (at % 5)}?")
    for at, where in enumerate(PLACES)
    for one in QUESTIONS
)
METHODS = ("hipporag2", "ircot", "tog", "gcot", "irgs", "bdtr", "think_on_graph", "graph_cot", "dotrag[t_max=1]",
           "lightrag", "youtu", "catrag")  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    layers = ["facts", "synonyms", "typed", "schema_graph", "tree", "entity_summaries"]
    folder = tmp_path_factory.mktemp("tiny")
    rules = wb.engine("rules")
    return wb.Index.build(tiny_dataset(), rules, folder, encoder=TinyEncoder(), layers=layers, progress=False)


def arguments(index, engine, method, reader="direct"):
    return MANY, [wb.method(method, index, engine)], wb.reader(reader, engine) if reader else None


def within(found, used, factor=WITHIN):
    costs = [cost for cost in found.costs if cost.part != "encoding"]
    for name in AMOUNTS:
        said, taken = sum(getattr(cost, name).value for cost in costs), getattr(used, name)
        assert taken / factor <= said <= taken * factor, f"{name}: {said:g} were expected, and {taken:g} taken"
    return found


@pytest.mark.parametrize("method", METHODS)
def test_a_run_takes_what_was_estimated_from_a_sample(method, index, tmp_path):
    """The model ends its rounds at other times than the rules would, so the flow is its own."""
    engine, asked = Imitated(sparing=True, wordy=True), Imitated(sparing=True, wordy=True)
    wb.evaluate(*arguments(index, engine, method), tmp_path / "run", judge=engine, trace="off", progress=False)
    found = estimate_run(*arguments(index, asked, method), judge=asked, trace="off")
    within(found, engine.meter.total)
    assert found.spent.calls == asked.meter.total.calls < engine.meter.total.calls, "the sample is a part"


@pytest.mark.parametrize("method", ["ircot", "gcot", "tog", "think_on_graph", "graph_cot"])
def test_what_is_not_asked_has_a_range_for_every_end_of_its_loops(method, index, tmp_path):
    """A model that ends every loop at once, and one that never does, lie in the range, and the rules between them."""

    class Decided(Imitated):
        def _reply(self, request):
            step, value = self.asked(request)
            (result,) = by_rule(step, [value])
            return self.reply(request, decided(step, value, result.value, self.end))

    (found,) = [estimate_run(*arguments(index, Unasked("openai:gpt-4o-mini"), method, None))]
    total, taken = found.total, []
    for end in ("soonest", "latest"):
        engine = Decided()
        engine.end = end
        wb.evaluate(*arguments(index, engine, method, None), tmp_path / end, trace="off", progress=False)
        taken.append(engine.meter.total.calls)
    assert taken[0] < taken[1] and taken[0] <= total.calls.value <= taken[1]
    assert total.calls.low <= taken[0] * 1.25 and total.calls.high >= taken[1] / 1.25
    assert "ends it at once, and one that never does" in repr(found)


@pytest.mark.parametrize("step", DECIDING)
def test_an_output_that_decides_is_one_of_its_step(step):
    (value,) = [one.input for one in TRIAL if one.step == step][:1]
    (result,) = by_rule(catalogue()[step], [value])
    nothing = {"directions": {"targets": []}, "graph_action": {"actions": []}}.get(step, {})
    for output in (result.value, result.value.model_copy(update=nothing)):
        ends = [decided(catalogue()[step], value, output, end) for end in ("soonest", "latest")]
        assert ends[0] != ends[1]
        assert all(type(one).model_validate(one.model_dump()) == one for one in ends)


def test_a_judge_who_is_not_in_the_sample_has_a_range(index, tmp_path):
    engine = Imitated()
    wb.evaluate(*arguments(index, engine, "dense"), tmp_path / "run", judge=engine, progress=False)
    used = engine.meter.steps.get("judge")
    for asked, sample in ((Imitated(), 2), (Unasked(engine.name), 0)):
        found = estimate_run(*arguments(index, asked, "dense"), sample, judge=asked)
        (cost,) = [cost for cost in found.costs if cost.step == "judge"]
        assert cost.calls.low <= (used.calls if used else 0) <= cost.calls.high > 0
        assert cost.prompt_tokens.high > 0 and cost.money.high > 0
    assert cost.calls.high == len(MANY), "a model may answer whatever the rules leave open"


def test_repeats_multiply(index, tmp_path):
    """Dense by rules before a reader by a model is asked three times; without a reader, once."""
    engine, asked = Imitated(), Imitated()
    wb.evaluate(*arguments(index, engine, "ircot"), tmp_path / "run", repeats=3, trace="off", progress=False)
    found = estimate_run(*arguments(index, asked, "ircot"), trace="off", repeats=3)
    within(found, engine.meter.total)
    assert "each asked 3 times" in repr(found) and asked.meter.total.calls < engine.meter.total.calls / 3
    once = estimate_run(*arguments(index, Imitated(), "ircot"), trace="off")
    assert found.total.calls.value == pytest.approx(3 * once.total.calls.value, rel=0.2)
    same = estimate_run(*arguments(index, wb.engine("rules"), "dense", None), repeats=3)
    assert same.total.calls == exactly(0) and "its first repeat stands for all" in repr(same)
    with pytest.raises(SettingError, match="repeats=0"):
        estimate_run(*arguments(index, Imitated(), "dense"), repeats=0)


def test_repeats_that_are_done_do_not_count(index, tmp_path):
    out, engine = tmp_path / "run", Imitated()
    wb.evaluate(*arguments(index, engine, "dense"), out, repeats=2, progress=False)
    assert estimate_run(*arguments(index, Imitated(), "dense"), out=out, repeats=2).total.calls == exactly(0)
    found = estimate_run(*arguments(index, Imitated(), "dense"), out=out, repeats=5)
    assert found.total.calls == exactly(3 * len(MANY)) and f"{2 * len(MANY)} rows are done" in repr(found)


KINDS = ("extractions", "typed", "resolved", "relabelled", "skeleton", "schema_graph", "communities",
         "entity_summaries")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_build_takes_what_was_estimated_from_a_sample(kind, tmp_path):
    """Of a model that finds less than the rules, and says it in more words."""
    passages = tuple(
        replace(one, id=f"{one.id}-{at}", title=f"{one.title} {at}", text=one.text.replace("Orsby", f"Orsby {at}"))
        for at in range(6)
        for one in tiny_dataset().passages
    )
    data, options = wb.data.Dataset("town", passages), {"encoder": TinyEncoder(), "layers": [kind]}
    engine, asked = Imitated(sparing=True, wordy=True), Imitated(sparing=True, wordy=True)
    found = estimate_build(data, asked, 6, tmp_path / "index", progress=False, **options)
    wb.Index.build(data, engine, tmp_path / "index", keep_going=True, progress=False, **options)
    within(found, engine.meter.total)
    assert asked.meter.total.calls < engine.meter.total.calls
