"""A budget stops a run before a call beyond it, and nothing of what was paid for is lost."""

from __future__ import annotations

import threading
import time

import pytest
from chat_server import by_schema, completion, error
from small_steps import NAMES

from workbench.errors import BudgetSpent, DataError, SettingError
from workbench.llm import engine
from workbench.llm.meter import Budget, prices

INPUTS = [f"input {i}" for i in range(12)]
ANSWER = completion('{"names": []}', prompt=60, completion=40)  # 100 tokens a call


@pytest.fixture
def priced(monkeypatch, tmp_path):
    """`test-model` costs 1 dollar per thousand tokens of either kind: a call of ANSWER is 10 cents."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    (tmp_path / "prices.csv").write_text("model,prompt,completion,since\ntest-model,1000,1000,2026-01-01\n")


# -- where it stops ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        ({"max_calls": 5}, 5),
        ({"max_calls": 0}, 0),
        ({"max_tokens": 500}, 5),
        ({"max_tokens": 501}, 6),  # a sixth call begins, because 500 are below the limit
        ({"max_money": 0.25}, 3),
        ({"max_money": 0}, 0),
        ({"max_money": 9, "max_tokens": 9_999, "max_calls": 2}, 2),
    ],
)
def test_one_call_at_a_time_stops_at_the_first_that_would_begin_beyond(limit, calls, priced, serve, ask):
    server = serve(lambda asked: ANSWER)
    with pytest.raises(BudgetSpent, match=r"is used up: Budget\(.*larger max_"):
        ask(server, concurrency=1, **limit).run(NAMES, INPUTS)
    assert len(server.seen) == calls


@pytest.mark.parametrize(("limit", "most"), [({"max_calls": 3}, 3), ({"max_tokens": 250}, 6), ({"max_money": 0.25}, 6)])
def test_side_by_side_it_is_overshot_by_no_more_than_the_calls_in_flight(limit, most, priced, serve, ask):
    """Three answers reach the limit, and then three others may be in flight; calls are counted when they begin."""

    def slow(asked):
        time.sleep(0.02)
        return ANSWER

    server, budget = serve(slow), Budget(**limit)
    with pytest.raises(BudgetSpent):
        ask(server, concurrency=4, budget=budget).run(NAMES, INPUTS)
    calls = len(server.seen)
    assert 3 <= calls <= most
    assert (budget.calls, budget.tokens, budget.money) == (calls, 100 * calls, pytest.approx(0.1 * calls))


def test_many_threads_never_begin_a_call_too_many():
    budget = Budget(max_calls=100)
    refused = []

    def begin():
        for _ in range(50):
            try:
                budget.begin()
            except BudgetSpent:
                refused.append(1)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (budget.calls, len(refused)) == (100, 300)


def test_two_engines_share_one_budget(serve, ask):
    server, budget = serve(lambda asked: ANSWER), Budget(max_calls=3)
    asking, judging = ask(server, budget=budget), ask(server, budget=budget)
    asking.run(NAMES, INPUTS[:2])
    judging.run(NAMES, INPUTS[2:3])
    for spent in (asking, judging):
        with pytest.raises(BudgetSpent):
            spent.run(NAMES, ["one more"])


def test_a_call_that_fails_counts_as_a_call(serve, ask):
    failing = ask(serve(lambda asked: error(400)), max_calls=2, concurrency=1)
    with pytest.raises(BudgetSpent):
        failing.run(NAMES, INPUTS)


def test_attempts_are_one_call(serve, ask):
    """A busy endpoint charges nothing for what it refuses."""
    server = serve(lambda asked: error(429, retry_after="0") if len(server.seen) < 4 else ANSWER)
    (result,) = ask(server, attempts=5, max_calls=1).run(NAMES, ["a"])
    assert result.value and len(server.seen) == 4


def test_tokens_that_the_endpoint_does_not_tell_are_counted_here(serve, ask):
    """Small servers leave the counts out, and a budget that never fills would be none."""
    silent = serve(lambda asked: completion('{"names": []}', prompt=0, completion=0))
    with pytest.raises(BudgetSpent, match="max_tokens=20 "):
        ask(silent, max_tokens=20, concurrency=1).run(NAMES, INPUTS)
    assert 2 <= len(silent.seen) < len(INPUTS)


# -- what is done is kept ---------------------------------------------------------------------------------------------


def test_recorded_answers_do_not_count_and_the_same_goes_on_with_more(serve, ask, tmp_path):
    server, record = serve(by_schema), tmp_path / "answers.sqlite"
    for spent in (5, 10):
        with pytest.raises(BudgetSpent):
            ask(server, record=record, concurrency=1, max_calls=5).run(NAMES, INPUTS)
        assert len(server.seen) == spent
    results = ask(server, record=record, max_calls=2).run(NAMES, INPUTS)
    assert [result.value.names for result in results] == [[value] for value in INPUTS]
    assert len(server.seen) == len(INPUTS), "nothing was asked twice"
    assert all(result.value for result in ask(server, record=record, max_calls=0, max_tokens=0).run(NAMES, INPUTS))


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max_money", "max_tokens", "max_calls"])
@pytest.mark.parametrize("value", [-1, "5", True, float("nan"), [1]])
def test_a_limit_that_means_nothing_is_refused(name, value):
    with pytest.raises(SettingError, match=f"{name}="):
        engine("rules", **{name: value})


def test_a_shared_budget_and_limits_beside_it_contradict():
    with pytest.raises(SettingError, match="leave out max_calls"):
        engine("rules", budget=Budget(max_calls=1), max_calls=2)


def test_money_cannot_be_limited_where_the_price_is_unknown(serve, ask, monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    server = serve(by_schema)
    with pytest.raises(
        SettingError, match=r"price of 'test-model'.*test-model,PROMPT,COMPLETION,DATE.*max_tokens"
    ) as told:
        ask(server, max_money=1)
    assert str(tmp_path / "prices.csv") in str(told.value) and not server.seen
    (tmp_path / "prices.csv").write_text("model,prompt,completion,since\ntest-model,1,2,2026-01-01\n")  # as it says
    assert ask(server, max_money=1).run(NAMES, ["a"])[0].value


# -- own prices -------------------------------------------------------------------------------------------------------


def test_own_prices_stand_over_those_that_come_along_and_are_read_when_they_change(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    packaged = prices()
    for price in (1.0, 2.0):
        (tmp_path / "prices.csv").write_text(f"model,prompt,completion,since\ngpt-4o,{price},9,2026-01-01\n")
        assert prices()["gpt-4o"].prompt == price
        assert prices()["gpt-4o-mini"] == packaged["gpt-4o-mini"]
        time.sleep(0.01)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        b"model,prompt,completion,since\nm,much,1,2026-01-01\n",
        b"model,prompt,completion,since\nm,-1,1,2026-01-01\n",
        b"model,prompt,completion,since\nm,nan,1,2026-01-01\n",
        b"model,prompt,completion,since\nm\n",
        b"model,prompt,completion,since,batch_prompt,batch_completion\nm,1,1,2026-01-01,1,\n",
        b"model,prompt,completion,since,batch_prompt,batch_completion\nm,1,1,2026-01-01,1,-1\n",
        b"\xff\xfe",
    ],
)
def test_a_list_of_prices_that_is_none_is_said_to_be(content, monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    (tmp_path / "prices.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"prices.csv is no list of prices.*first line should be"):
        prices()
