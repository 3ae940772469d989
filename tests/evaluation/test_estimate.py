"""Estimates: proportions worked out by hand, what counts as done, and what stays unknown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from tiny import PASSAGES, QUESTIONS, TinyEncoder, TinyEngine, tiny_dataset

import workbench as wb
from workbench import tokens
from workbench.data import Dataset
from workbench.data.profiles import Profiles
from workbench.errors import SettingError
from workbench.evaluation.estimate import (
    ASSUMED,
    Cost,
    Estimate,
    Range,
    estimate_build,
    estimate_run,
    exactly,
    extrapolated,
    stratified,
)
from workbench.index import communities, journal, leiden
from workbench.index.communities import REPORTS
from workbench.index.extractions import FACTS
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine, Recorded
from workbench.llm.record import Recording
from workbench.records import Passage, Triple
from workbench.steps import entity_relations, graph_records, summarise

DATA = replace(tiny_dataset(), extractions=None)


class Model:
    """Answers every Step; an answer takes half a second, and twice as many tokens as its passage has words."""

    def __init__(self, told: bool = True):
        self.asked, self.told = [], told

    def __call__(self, request) -> Reply:
        self.asked.append(request)
        said = request.messages[-1]["content"]
        answers = {
            "named_entities": json.dumps({"named_entities": re.findall(r"[A-Z]\w+", said)[:3]}),
            "triples": json.dumps({"triples": [["Orsby", "lies on", "River Aldra"]]}),
            "fact_filter": json.dumps({"facts": [["orsby", "lies on", "river aldra"]]}),
            "answer": "Answer: Lake Mira",
            "judge": json.dumps({"verdict": "correct", "reason": "x"}),
        }
        prompt = sum(tokens.count(message["content"]) for message in request.messages)
        told = (prompt + 10, 2 * len(said.split())) if self.told else (0, 0)
        return Reply(answers[request.step], "stop", *told, seconds=0.5)


def chat(model=None, name="openai:gpt-4o-mini", concurrency=2) -> ChatEngine:
    return ChatEngine(name, model or Model(), concurrency=concurrency)


def build_costs(engine, sample=8, data=DATA, **options) -> tuple[Estimate, dict[str, Cost]]:
    estimate = estimate_build(data, engine, sample, encoder=TinyEncoder(), **options)
    return estimate, {cost.step: cost for cost in estimate.costs}


# -- arithmetic -------------------------------------------------------------------------------------------------------


def test_the_rest_is_expected_in_proportion():
    assert extrapolated([10, 20], [1, 2], 30) == Range(330, 330, 330)
    assert extrapolated([10, 20], [1, 2], 0) == Range(30, 30, 30), "everything was asked, so nothing is guessed"
    assert extrapolated([4], [2], 10) == Range(24, None, None), "one value tells no spread"
    value, low, high = extrapolated([10, 30], [1, 1], 8)
    wider = 12.7062 / 1.95996 * 2**0.5  # t over z with one degree of freedom, and n over n - 1
    assert (value, low) == (40 + 8 * 20, 40), "no less than what was asked"
    assert high == pytest.approx(40 + 8 * (20 + wider * 10), rel=1e-4)


def test_the_sample_is_spread_and_the_seed_decides():
    chosen = stratified(range(100), 10, lambda n: n, seed=1)
    assert [n // 10 for n in chosen] == list(range(10))
    assert (
        chosen
        == stratified(list(reversed(range(100))), 10, lambda n: n, seed=1)
        != stratified(range(100), 10, int, seed=2)
    )
    assert stratified([3, 1], 10, int) == [1, 3] and stratified([], 4, int) == stratified([1], 0, int) == []


def test_a_sum_is_unknown_where_a_part_is():
    known, unknown = Cost("a", "x", exactly(2), money=Range(1, 0, 2)), Cost("a", "y", exactly(3), money=None)
    total = Estimate("it", "openai:m", (known, unknown)).total
    assert total.calls == exactly(5) and total.money is None and total.seconds == exactly(0)
    assert Estimate("it", "openai:m", (known, known)).total.money == Range(2, 0, 4)


# -- a build ----------------------------------------------------------------------------------------------------------


def test_a_sample_of_all_is_what_the_build_takes(tmp_path):
    engine = chat()
    estimate, costs = build_costs(chat())
    wb.Index.build(DATA, engine, tmp_path, encoder=TinyEncoder(), progress=False)
    for step, used in engine.meter.steps.items():
        cost = costs[step]
        assert (cost.calls, cost.prompt_tokens) == (exactly(used.calls), exactly(used.prompt_tokens))
        assert cost.completion_tokens == exactly(used.completion_tokens)
        assert cost.money.value == pytest.approx(used.money)
        assert cost.seconds == exactly(0.5 * 4)  # eight passages, two at a time
    assert estimate.total.calls == exactly(16) and estimate.spent.calls == 16
    assert "8 of 8 passages" in repr(estimate)


def test_a_sample_of_some_expects_the_rest_to_be_like_it(tmp_path):
    many = replace(
        DATA, passages=tuple(replace(p, id=f"{p.id}-{n}", title=f"{p.title} {n}") for p in PASSAGES for n in range(9))
    )
    model, engine = Model(), chat()
    _, costs = build_costs(chat(model), 8, many)
    assert len(model.asked) == 16
    wb.Index.build(many, engine, tmp_path, encoder=TinyEncoder(), progress=False)
    for step, used in engine.meter.steps.items():
        cost = costs[step]
        assert cost.calls == exactly(72)
        for said, taken in ((cost.prompt_tokens, used.prompt_tokens), (cost.completion_tokens, used.completion_tokens)):
            assert said.value == pytest.approx(taken, rel=0.15) and said.low <= said.value <= said.high
        assert cost.seconds.value == 0.5 * (32 + 4)  # a group of 64 and one of 8, two at a time


def test_what_has_an_extraction_is_not_asked_for(tmp_path, monkeypatch):
    given = replace(tiny_dataset(), extractions=tiny_dataset().extractions[:6])
    assert build_costs(chat(), data=given)[1]["triples"].calls == exactly(2)
    assert "triples" not in build_costs(chat(), data=tiny_dataset())[1]
    monkeypatch.setattr(journal, "GROUP", 2)
    with pytest.raises(RuntimeError, match="injected"):
        wb.Index.build(DATA, TinyEngine(fail_at=6), tmp_path / "stopped", encoder=TinyEncoder(), progress=False)
    files = sorted((tmp_path / "stopped").rglob("*"))
    estimate = estimate_build(DATA, TinyEngine(), 0, tmp_path / "stopped", encoder=TinyEncoder())
    assert estimate.total.calls == exactly(4), "three groups of two were finished"
    assert sorted((tmp_path / "stopped").rglob("*")) == files, "an estimate writes nothing"
    index = wb.Index.build(DATA, TinyEngine(), tmp_path / "stopped", encoder=TinyEncoder(), progress=False)
    more = replace(DATA, passages=(*DATA.passages, Passage("p9", "Ore", "Ore is a village.")))
    assert build_costs(TinyEngine(), 0, more, folder=index.folder)[0].total.calls == exactly(2)
    assert build_costs(TinyEngine(), 8, folder=index.folder)[0].total == Cost("total", "")


def test_without_a_sample_nothing_is_asked_and_the_assumption_is_stated():
    model = Model()
    estimate, costs = build_costs(chat(model), 0)
    assert model.asked == [] and estimate.spent.calls == 0
    own = sum(tokens.count(passage.content) for passage in PASSAGES)
    value, low, high = (factor * own for factor in ASSUMED["triples"])
    assert costs["triples"].completion_tokens == Range(value, low, high)
    names, facts = costs["named_entities"].prompt_tokens, costs["triples"].prompt_tokens
    assert names.low == names.high and facts.low < facts.value < facts.high, "the names in the prompt are not known"
    assert estimate.total.seconds is None and costs["named_entities"].money.low > 0
    assert "no passage was asked" in repr(estimate) and "unknown" in repr(estimate)


def test_the_rules_take_no_calls_and_no_money_but_seconds():
    estimate, costs = build_costs("rules", 4)
    total = estimate.total
    assert (total.calls, total.prompt_tokens, total.money) == (exactly(0), exactly(0), exactly(0))
    assert costs["named_entities"].seconds.value > 0 and costs["passages"].seconds.value > 0
    assert "no calls, no money" in repr(estimate)


def test_an_unknown_price_is_unknown():
    estimate, _ = build_costs(chat(name="openai:nobody-knows"))
    assert estimate.total.money is None and "price of openai:nobody-knows" in repr(estimate)
    assert build_costs(chat(name="local:small#00000000"))[0].total.money == exactly(0)


def test_what_batches_cost_is_shown_where_it_is_another_price():
    estimate, costs = build_costs(chat())
    assert all(cost.batched.value == pytest.approx(cost.money.value / 2) for cost in costs.values() if cost.calls.value)
    assert 0 < estimate.total.batched.value == pytest.approx(estimate.total.money.value / 2)
    assert "in batches" in repr(estimate)
    unknown, _ = build_costs(chat(name="openai:gpt-3.5-turbo-1106"))
    assert unknown.total.batched is None and unknown.total.money is not None and "in batches" in repr(unknown)
    for engine in (wb.engine("rules"), chat(name="openai:not-priced")):
        assert "in batches" not in repr(build_costs(engine)[0])


def test_tokens_that_the_endpoint_does_not_tell_are_unknown():
    estimate, costs = build_costs(chat(Model(told=False)))
    assert costs["triples"].completion_tokens is None and estimate.total.money is None
    assert "does not tell" in repr(estimate)


def test_what_the_sample_asks_is_in_the_recording_and_costs_nothing_again(tmp_path):
    model, store = Model(), Recording(tmp_path / "answers.sqlite")
    engine = ChatEngine("openai:gpt-4o-mini", Recorded(model, store))
    first, _ = build_costs(engine, 4)
    assert "answers.sqlite and are not asked for again" in repr(first)
    asked = len(model.asked)
    again, _ = build_costs(engine, 4)
    assert len(model.asked) == asked and again.total.seconds is None
    assert "all of the sample were recorded before" in repr(again)
    assert again.total.money.value == pytest.approx(first.total.money.value)
    assert "asked for again; give the engine record=FILE" in repr(build_costs(chat(), 4)[0])


def test_failures_of_the_sample_are_said():
    def failing(request):
        return Reply("no JSON", "stop", 10, 5, seconds=0.1)

    assert "16 failed" in repr(build_costs(chat(failing))[0])


def test_an_empty_passage_has_an_estimate():
    estimate, _ = build_costs(chat(), data=replace(DATA, passages=(Passage("e", "", ""),)))
    assert estimate.total.calls == exactly(2)


# -- what a model writes for an index ---------------------------------------------------------------------------------


def test_a_tree_is_estimated_level_by_level():
    """100 texts: 16 summaries of them and 3 of these; at least 8, which are too few for more; at most 32 and 10."""
    passages = tuple(Passage(f"p{n}", "", "word " * 9) for n in range(100))
    estimate, costs = build_costs(chat(), 0, data=Dataset("many", passages), layers=["summaries"])
    cost, own = costs["summarise"], sum(tokens.count(passage.content) for passage in passages)
    assert cost.calls == Range(19, 8, 42) and set(costs) == {"summarise", "passages", "phrases and facts"}
    asked = sum(tokens.count(m["content"]) for m in summarise.STEP.messages(summarise.Input((), 100)))
    assert cost.prompt_tokens.value == own + 16 * 100 + 19 * asked and cost.prompt_tokens.low == own + 8 * asked
    assert cost.completion_tokens == Range(1900, 400, 4200) and estimate.spent.calls == 0
    assert cost.money.low < cost.money.value < cost.money.high and cost.seconds is None
    assert "known once the passages are clustered" in repr(estimate)


@pytest.mark.parametrize(("n", "words", "least"), [(11, 9, 0), (12, 9, 1), (20, 3500, 20)])
def test_few_passages_have_no_summaries_and_long_ones_one_each_at_least(n, words, least):
    passages = tuple(Passage(f"p{row}", "", "word " * words) for row in range(n))
    costs = build_costs(chat(), 0, data=Dataset("few", passages), layers=["summaries"])[1]
    assert costs["summarise"].calls.low >= least


def test_reports_are_estimated_by_the_facts_that_there_will_be(meridian_index):
    """The tiny corpus states ten different facts; of ones that are yet to be extracted, so many are assumed."""
    layers = ["communities"]
    known = build_costs(chat(), 0, data=tiny_dataset(), layers=layers)[1]["community_report"]
    assert known.calls == Range(*(pytest.approx(10 * share) for share in REPORTS))
    unasked, costs = build_costs(chat(), 0, layers=layers)
    assert costs["community_report"].calls == Range(*(8 * f * r for f, r in zip(FACTS, REPORTS)))
    assert "known once the graph is there" in repr(unasked) and costs["triples"].calls == exactly(8)
    facts, chosen = meridian_index.facts, communities.Settings()
    graph = communities.EntityGraph.of(facts)
    clusters = leiden.hierarchy(len(facts.phrases), graph.pairs, graph.weights, max_size=10, seed=chosen.seed)
    taken = sum(len(cluster.members) >= chosen.min_members for cluster in clusters)
    assert len(facts.facts) * REPORTS.low < taken < len(facts.facts) * REPORTS.high


def test_profiles_are_asked_for_once_and_for_what_was_missed():
    estimate, costs = build_costs(chat(), 0, layers=["typed"])
    prompts = [entity_relations.STEP.messages(entity_relations.Input(p.title, p.text)) for p in DATA.passages]
    cost = costs["entity_relations"]
    assert cost.calls == exactly(2 * len(DATA.passages))
    assert cost.prompt_tokens == exactly(2 * sum(tokens.count(m["content"]) for p in prompts for m in p))
    assert cost.completion_tokens.low < cost.completion_tokens.value < cost.completion_tokens.high
    assert "assumed" in repr(estimate)
    given = replace(DATA, profiles=Profiles())
    assert "entity_relations" not in build_costs(chat(), 0, data=given, layers=["typed"])[1]


@pytest.mark.slow
def test_a_skeleton_costs_two_calls_for_each_chunk_of_its_pieces(meridian_profiles):
    """A layer over all of Meridian is made for the estimate."""
    data = wb.load("meridian")
    estimate, costs = build_costs(chat(), 0, data=data, layers=["skeleton"])
    cost = costs["graph_records"]
    built = meridian_profiles.skeleton
    assert cost.calls.low <= 2 * len(built.chunks) <= cost.calls.high
    empty = graph_records.STEP.messages(graph_records.Input("", ""))
    own = sum(tokens.count(m["content"]) for m in empty)
    shown = 2 * sum(own + tokens.count(chunk.text) for chunk in built.chunks)
    assert cost.prompt_tokens.low < shown < cost.prompt_tokens.high
    assert cost.completion_tokens.low < cost.completion_tokens.value < cost.completion_tokens.high
    assert "drawn by lot" in repr(estimate)
    assert build_costs("rules", 0, data=data, layers=["skeleton"])[0].total.money == exactly(0)


def test_a_graph_of_triples_costs_an_article_and_a_description_of_each_entity():
    triples = tuple(Triple(f"film {n}", "directed_by", "Ana Holm") for n in range(30))
    estimate, costs = build_costs(chat(), 0, data=Dataset("films", (), triples=triples))
    assert (costs["write_article"].calls.low, costs["describe_entity"].calls.value) == (32, 31)  # she has two articles
    assert costs["describe_relations"].calls == exactly(30)
    assert costs["describe_relations"].completion_tokens.value == 25 * 30 and "32 are wanted" in repr(estimate)


def test_what_the_rules_write_costs_no_money_and_a_time_that_is_not_known():
    estimate, costs = build_costs("rules", 2, layers=["summaries", "communities"])
    assert estimate.total.calls == exactly(0) and estimate.total.money == exactly(0)
    assert estimate.total.seconds is None and costs["community_report"].seconds is None


def test_a_retry_that_was_stopped_counts_as_done(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "GROUP", 1)
    titles = [passage.title for passage in DATA.passages]
    wb.Index.build(DATA, TinyEngine(fails_on=titles[:3]), tmp_path, encoder=TinyEncoder(), progress=False)
    assert build_costs(TinyEngine(), 0, folder=tmp_path)[1]["triples"].calls == exactly(3)
    with pytest.raises(RuntimeError, match="injected"):
        wb.Index.build(DATA, TinyEngine(fail_at=4), tmp_path, encoder=TinyEncoder(), progress=False)
    assert build_costs(TinyEngine(), 0, folder=tmp_path)[1]["triples"].calls == exactly(1)


def test_a_layer_that_is_unknown_is_refused():
    with pytest.raises(SettingError, match="no layer is called 'sumaries'"):
        build_costs(chat(), layers=["sumaries"])


# -- a run ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def arguments(tiny_index):
    def arguments(engine, questions=QUESTIONS):
        return (
            questions,
            [wb.method(n, tiny_index, engine) for n in ("hipporag2", "dense")],
            wb.reader("direct", engine),
        )

    return arguments


MANY = tuple(replace(q, id=f"{q.id}-{n}", question=f"{q.question} {n}") for n in range(10) for q in QUESTIONS)


@pytest.mark.parametrize(("sample", "exact"), [(3, True), (99, True), (2, False)])
def test_a_run_is_estimated_per_method_and_step(sample, exact, arguments, tmp_path):
    judge, taken = chat(), chat()
    estimate = estimate_run(*arguments(chat()), sample, judge=judge, workers=2)
    run = wb.evaluate(*arguments(taken), tmp_path / "run", judge=chat(), workers=2, progress=False)
    for method in run.methods:
        used = json.loads((run.folder / "usage.json").read_text())[method]
        mine = {cost.step: cost for cost in estimate.costs if cost.part == method}
        assert mine.keys() == (used.keys() & mine.keys()) | {"all else"}
        for step in used.keys() - mine.keys():
            assert not exact and f"how often {step} is asked" in repr(estimate)
        for step, usage in ((step, used[step]) for step in used.keys() & mine.keys()):
            cost = mine[step]
            if step == "judge" and not exact:  # who was asked about some of the sampled answers, or none
                assert cost.calls.low <= usage["calls"] <= cost.calls.high
                continue
            assert cost.calls.value == pytest.approx(usage["calls"], rel=1e-6 if exact else 0.5)
            if exact:
                assert cost.prompt_tokens == exactly(usage["prompt_tokens"])
                assert cost.money.value == pytest.approx(usage["money"])
                assert cost.seconds.value == pytest.approx(0.5 * usage["calls"] / 2)
        assert mine["all else"].calls == exactly(0) and mine["all else"].seconds.value >= 0


def test_a_run_of_many_is_near_what_it_takes(arguments, tmp_path):
    taken = chat()
    total = estimate_run(*arguments(chat(), MANY), 4).total
    wb.evaluate(*arguments(taken, MANY), tmp_path / "run", progress=False)
    used = taken.meter.total
    assert total.calls == exactly(used.calls) == exactly(90)
    assert total.prompt_tokens.value == pytest.approx(used.prompt_tokens, rel=0.1)
    assert total.completion_tokens.low <= total.completion_tokens.value <= total.completion_tokens.high


def test_rows_that_are_done_do_not_count(arguments, tmp_path):
    out = tmp_path / "run"
    whole = wb.evaluate(*arguments(chat()), out, progress=False)
    lines = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:-5])  # the second question's dense is torn
    model = Model()
    estimate = estimate_run(*arguments(chat(model)), out=out)
    assert estimate.total.calls == exactly(1 + 3) and "3 rows are done" in repr(estimate)
    assert len(model.asked) == 4
    assert (out / "results.jsonl").read_bytes().endswith(lines[3][:-5]), "an estimate writes nothing"
    (out / "results.jsonl").write_bytes(b"".join(lines))
    assert estimate_run(*arguments(chat()), out=out).total == Cost("total", "")
    with pytest.raises(SettingError, match="another run"):
        estimate_run(*arguments(chat()), out=out, k=3)
    assert whole.rows


@pytest.mark.parametrize("rows", range(7))
def test_a_run_that_stopped_anywhere_has_an_estimate_from_one_question(rows, arguments, tmp_path):
    out = tmp_path / "run"
    wb.evaluate(*arguments(chat()), out, progress=False)
    lines = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join(lines[:rows]))
    by_reader = [cost for cost in estimate_run(*arguments(chat()), 1, out=out).costs if cost.step == "answer"]
    assert sum(cost.calls.value for cost in by_reader) == 6 - rows


def test_rules_in_a_run_are_not_calls(arguments):
    estimate = estimate_run(*arguments(wb.engine("rules")), 2)
    assert (estimate.total.calls, estimate.total.money) == (exactly(0), exactly(0))
    assert estimate.total.seconds.value > 0 and estimate.spent.calls == 0


def test_a_method_by_rules_and_a_reader_by_a_model(tiny_index):
    methods, reader = [wb.method("hipporag2", tiny_index)], wb.reader("direct", chat())
    calls = {cost.step: cost.calls for cost in estimate_run(QUESTIONS, methods, reader, 3).costs}
    assert calls == {"answer": exactly(3), "fact_filter": exactly(0), "all else": exactly(0)}


@pytest.mark.parametrize("sample", [0, -1, 1.5, True, "4"])
def test_a_sample_that_means_nothing_is_refused(sample, arguments):
    with pytest.raises(SettingError, match="sample="):
        estimate_run(*arguments(chat()), sample)
    if sample != 0:
        with pytest.raises(SettingError, match="sample="):
            build_costs(chat(), sample)


def test_nothing_to_ask_is_refused(arguments):
    with pytest.raises(SettingError, match="at least one question"):
        estimate_run((), *arguments(chat())[1:])


# -- the look ---------------------------------------------------------------------------------------------------------


def test_hostile_names_are_shown_and_not_obeyed():
    bad = "<script>alert(1)</script>\x1b[31m\u202e"
    estimate = Estimate(
        bad, bad, (Cost(bad, bad, exactly(1234567), money=None, seconds=Range(7200, None, None)),), (bad,), (bad,)
    )
    page, told = estimate._repr_html_(), repr(estimate)
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "\x1b" not in page + told and "\u202e" not in page + told
    assert "1,234,567" in told and "unknown" in told and "2.0 h (spread unknown)" in told


def test_what_is_unknown_is_never_shown_as_nothing():
    row = repr(Estimate("it", "openai:m", (Cost("a", "x", money=None, seconds=None),))).splitlines()[2]
    assert row.split()[-2:] == ["unknown", "unknown"]
