"""What calls cost: tallies per Step, the scopes of `collect`, and money, which may be unknown."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
from chat_server import by_schema, completion, error, question
from hypothesis import given
from hypothesis import strategies as st
from small_steps import BOOK, NAMES, SAID

from workbench.llm import engine
from workbench.llm.meter import collect, money, prices
from workbench.llm.step import Usage
from workbench.papers.condition import named
from workbench.published import paper, papers

USAGES = st.builds(Usage, *[st.integers(0, 10)] * 3, st.just(0.0), st.none() | st.integers(0, 9).map(float))


def test_each_step_has_its_own_tally(serve, ask):
    said = completion("Answer: x", prompt=11, completion=5)
    chat = ask(serve(lambda asked: by_schema(asked) if "response_format" in asked else said))
    for step, inputs in ((NAMES, ["a", "b"]), (SAID, ["c"]), (NAMES, ["d"])):
        chat.run(step, inputs)
    assert chat.meter.steps == {"names": Usage(3, 21, 9, money=None), "said": Usage(1, 11, 5, money=None)}
    assert chat.meter.total == Usage(4, 32, 14, money=None)
    assert list(chat.meter.as_dict()) == ["names", "said"]
    assert "seconds" not in chat.meter.as_dict(seconds=False)["names"] and chat.meter.total.seconds > 0
    assert list(chat.meter.frame()["calls"]) == [3, 1]


def test_a_failed_answer_has_its_price_too(serve, ask):
    """An unreadable answer was paid for; one that never came was not, but the call is counted."""
    server = serve(lambda asked: error(400) if question(asked) == "b" else completion("no JSON"))
    unreadable, refused = ask(server).run(NAMES, ["a", "b"])
    assert (unreadable.usage.prompt_tokens, refused.usage) == (7, Usage(calls=1, failed=1))


# -- scopes -----------------------------------------------------------------------------------------------------------


def test_a_scope_counts_what_is_asked_within_it():
    rules = engine("rules")
    rules.run(NAMES, ["before"])
    with collect() as outer:
        rules.run(NAMES, ["a"])
        with collect() as inner:
            rules.run(NAMES, ["b"])
            rules.run(BOOK, ["c"])
        with collect() as empty:
            pass
        rules.run(BOOK, ["d"])
    rules.run(NAMES, ["after"])
    calls = [{step: usage.calls for step, usage in meter.steps.items()} for meter in (inner, empty, outer, rules.meter)]
    assert calls == [{"names": 1, "book": 1}, {}, {"names": 2, "book": 2}, {"names": 4, "book": 2}]


def test_scopes_of_threads_are_apart():
    """Questions are asked side by side, each with a bill of its own."""
    rules, together = engine("rules"), threading.Barrier(4)

    def work(calls: int) -> int:
        with collect() as meter:
            together.wait(10)
            for _ in range(calls):
                rules.run(NAMES, ["a"])
            together.wait(10)
            return meter.total.calls

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, [1, 2, 3, 4])) == [1, 2, 3, 4]
    assert rules.meter.total.calls == 10


# -- money ------------------------------------------------------------------------------------------------------------


def test_a_known_price_is_charged_per_million_tokens(serve):
    price = prices()["gpt-4o-mini"]
    server = serve(lambda asked: completion('{"names": []}', prompt=1_000_000, completion=500_000))
    mini = engine(f"openai:gpt-4o-mini@{server.url}", attempts=1)
    mini.run(NAMES, ["a", "b"])
    assert mini.meter.total.money == pytest.approx(2 * (price.prompt + price.completion / 2))
    assert f"${mini.meter.total.money:.4f}" in repr(mini.meter)


def test_an_unknown_price_is_unknown_and_not_zero(serve, ask):
    chat = ask(serve(by_schema))
    chat.run(NAMES, ["a"])
    assert money("openai:test-model", 1, 1) is None and "price unknown" in repr(chat)


@given(st.lists(USAGES, max_size=5))
def test_a_sum_is_known_only_if_all_of_it_is(usages):
    total = sum(usages, Usage())
    assert (total.money is None) == any(usage.money is None for usage in usages)
    assert total.calls == sum(usage.calls for usage in usages)
    assert total.money is None or total.money == sum(usage.money for usage in usages)


def test_what_a_batch_costs_is_a_price_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    rows = "model,prompt,completion,since,batch_prompt,batch_completion\nm,2,8,2026-01-01,1,4\nn,2,8,2026-01-01,,\n"
    (tmp_path / "prices.csv").write_text(rows)
    assert money("openai:m", 1_000_000, 500_000) == 6 and money("openai:m", 1_000_000, 500_000, batch=True) == 3
    assert money("openai:n", 1, 1) is not None and money("openai:n", 1, 1, batch=True) is None
    assert money("local:m", 1, 1, batch=True) == 0


def test_prices_are_dated_and_positive():
    """A price without a day cannot be checked."""
    assert prices()
    for price in prices().values():
        assert date(2020, 1, 1) < date.fromisoformat(price.since) <= date.today()
        if "embedding" in price.model:  # which writes nothing
            assert 0 < price.prompt < 1 and price.completion == 0
        else:
            assert 0 < price.prompt <= price.completion < 1_000


def test_every_model_of_a_paper_has_a_price():
    """So that a plan of any table says dollars; but for one that no provider of the list offers."""
    names = set()
    for source in map(paper, papers()):
        names |= {name for one in source.terms["engines"].values() for name in named(one)}
        names |= {name for one in source.terms.get("models", ()) for name in named(one["engine"])}
    assert len(names) > 8 and names - {"row"} - prices().keys() == {"qwen2.5-14b", "qwen2.5-14b-instruct"}
