"""Closing an engine frees at once who is asking; of processes that are interrupted see `tests/attacks/kills.py`."""

from __future__ import annotations

import threading
import time

import pytest
from chat_server import by_schema, error
from small_steps import NAMES

from workbench.errors import EngineUnavailable
from workbench.llm import engine
from workbench.threads import in_order


def hanging(hang):
    """A scripted server that hangs on each request; the event is set once it does."""
    stuck = threading.Event()

    def answer(asked):
        stuck.set()
        return hang(asked)

    return answer, stuck


def slowly(asked):
    time.sleep(30)
    return by_schema(asked)


def busy(asked):
    return error(429, retry_after="30")


def test_a_job_that_goes_on_after_an_interrupt_asks_nothing_more(serve):
    """Nobody would close what it asks later, and the process could not end before it is answered."""
    answer, _ = hanging(busy)
    server = serve(answer)
    chat, outcome, began = engine(f"openai:test-model@{server.url}"), [], threading.Event()

    def job(number):
        if number == 0:
            return
        began.set()
        time.sleep(1.5)  # as a parse may take, which nothing cancels
        try:
            chat.run(NAMES, ["a"])
        except EngineUnavailable as closed:
            outcome.append(closed)

    answers = in_order(job, [0, 1], 2, chat.close)
    next(answers)
    assert began.wait(10)
    answers.close()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(10)
            assert not thread.is_alive()
    assert "closed" in str(outcome[0]) and not server.seen


@pytest.mark.parametrize("hang", [slowly, lambda asked: error(503, retry_after="30")], ids=["slow", "busy"])
def test_closing_an_engine_frees_who_is_asking_and_it_may_be_used_again(hang, serve):
    answer, stuck = hanging(lambda asked: hang(asked) if len(server.seen) == 1 else by_schema(asked))
    server = serve(answer)
    chat, raised = engine(f"openai:test-model@{server.url}"), []

    def asking():
        try:
            chat.run(NAMES, ["a"])
        except EngineUnavailable as gone:
            raised.append(gone)

    thread = threading.Thread(target=asking)
    thread.start()
    assert stuck.wait(10)
    time.sleep(0.1)
    chat.close()
    thread.join(2)
    assert len(raised) == 1 and "closed" in str(raised[0])
    assert chat.run(NAMES, ["b"])[0].value.names == ["b"]
