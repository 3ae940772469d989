"""Asking again: for which faults, how often, and after how long."""

from __future__ import annotations

import itertools

import pytest
from chat_server import Cut, by_schema, completion, error
from small_steps import NAMES

from workbench.llm.call import retrying
from workbench.llm.chat import ChatEngine
from workbench.llm.endpoint import endpoint


@pytest.fixture
def patient(serve):
    """An engine whose server gives these answers in turn, then good ones; with its server and the waits it made."""

    def make(*answers, **options):
        turn = itertools.chain(answers, itertools.repeat(None))
        server = serve(lambda asked: next(turn) or by_schema(asked))
        slept: list[float] = []
        call = retrying(endpoint(server.url), sleep=slept.append, **options)
        return ChatEngine("openai:m", call, concurrency=1), server, slept

    return make


@pytest.mark.parametrize("fault", [*map(error, (429, 408, 500, 502, 503)), (200, {}, Cut(b"{"))], ids=str)
def test_a_fault_that_may_pass_is_asked_again(fault, patient):
    chat, server, slept = patient(fault)
    (result,) = chat.run(NAMES, ["a"])
    assert result.value.names == ["a"] and len(server.seen) == 2 and len(slept) == 1


@pytest.mark.parametrize(
    "fault",
    [error(400), error(413), error(422), completion(None, refusal="no"), (200, {}, "<html>"), completion("no JSON")],
    ids=str,
)
def test_what_would_fail_again_is_not_asked_again(fault, patient):
    """It would cost money and time, and a wrong request only gets the same answer."""
    chat, server, slept = patient(fault)
    (result,) = chat.run(NAMES, ["a"])
    assert result.failure and len(server.seen) == 1 and slept == []


def test_the_server_says_how_long_to_wait(patient):
    chat, _, slept = patient(error(429, Retry_After="7"), error(503, Retry_After="0.5"), error(429, Retry_After="0"))
    assert chat.run(NAMES, ["a"])[0].value
    assert slept == [7.0, 0.5, 0.5]  # at once would be a loop


@pytest.mark.parametrize("said", ["Wed, 21 Oct 2065 07:28:00 GMT", "-5", "inf", "nan", "soon", ""])
def test_a_wait_that_cannot_be_used_is_the_usual_one(said, patient):
    chat, _, slept = patient(error(429, Retry_After=said))
    assert chat.run(NAMES, ["a"])[0].value
    assert 1 <= slept[0] <= 2


def test_waits_double_with_a_jitter_up_to_the_longest(patient):
    """The jitter keeps eight requests that were refused together from coming back together."""
    chat, _, slept = patient(*[error(500)] * 6, attempts=7, longest=10.0)
    assert chat.run(NAMES, ["a"])[0].value
    bounds = [(1, 2), (2, 3), (4, 5), (8, 9), (10, 10), (10, 10)]
    assert all(low <= wait <= high for wait, (low, high) in zip(slept, bounds, strict=True))


def test_a_fault_that_stays_is_the_input_s_failure_after_all_attempts(patient):
    chat, server, slept = patient(*[error(503, "busy")] * 3, attempts=3)
    lost, fine = chat.run(NAMES, ["a", "b"])
    assert "HTTP 503" in lost.failure and "busy" in lost.failure and "asked 3 times" in lost.failure
    assert fine.value.names == ["b"] and len(server.seen) == 4 and len(slept) == 2
