"""Ctrl-C leaves at once, whatever is in flight, and the same call goes on to the same bytes."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from chat_server import by_schema, completion, error, question
from small_steps import NAMES
from tiny import QUESTIONS, files

from workbench.errors import EngineUnavailable
from workbench.llm import engine
from workbench.threads import in_order

WITHIN = 10.0  # seconds; what is in flight would take 30, and a quiet machine needs less than one

EVALUATION = """
    import sys
    from dataclasses import replace
    from tiny import QUESTIONS, TinyEncoder
    import workbench as wb

    index, out, url, workers = sys.argv[1:]
    engine = wb.engine(f"openai:test-model@{url}", concurrency=4)
    opened = wb.Index.open(index, TinyEncoder())
    asked = [replace(q, id=f"{q.id}-{n}", question=f"{q.question} {n}") for n in range(4) for q in QUESTIONS]
    print("begins", flush=True)
    wb.evaluate(asked, [wb.method("hipporag2", opened, engine)], wb.reader("direct", engine), out,
                workers=int(workers), progress=False)
"""


@pytest.fixture
def begin(tiny_index):
    """Start the evaluation in a process of its own."""
    started = []

    def begin(out: Path, url: str, workers: int) -> subprocess.Popen:
        places = [str(Path(__file__).parents[up]) for up in (1, 2)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        command = [
            sys.executable,
            "-c",
            textwrap.dedent(EVALUATION),
            str(tiny_index.folder),
            str(out),
            url,
            str(workers),
        ]
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        assert started[-1].stdout.readline() == b"begins\n"
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def same_always(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in files(folder).items() if name not in ("timings.jsonl", ".lock")}


def hanging_after(answers: int, hang):
    """A scripted server that answers some requests and then hangs; the event is set once it does."""
    count, lock = itertools.count(1), threading.Lock()

    def late(asked):
        with lock:
            return next(count) > answers

    return hanging_when(late, hang)


def hanging_when(late, hang):
    """A scripted server that hangs on the requests that are `late`; the event is set once it does."""
    stuck = threading.Event()

    def answer(asked):
        if late(asked):
            stuck.set()
            return hang(asked)
        return by_schema(asked) if "response_format" in asked else completion("Answer: x")

    return answer, stuck


def slowly(asked):
    time.sleep(30)
    return by_schema(asked)


def busy(asked):
    return error(429, retry_after="30")


@pytest.mark.parametrize(("hang", "workers"), [(slowly, 1), (busy, 4)])
def test_an_evaluation_that_is_interrupted_ends_at_once_and_resumes_to_the_same_bytes(
    hang, workers, begin, tiny_index, serve, tmp_path, monkeypatch
):
    def undisturbed(out):
        quick, _ = hanging_after(10**6, slowly)
        monkeypatch.setenv("WORKBENCH_ANSWERS", str(tmp_path / f"{out.name}.sqlite"))
        monkeypatch.setattr(sys, "argv", ["", str(tiny_index.folder), str(out), serve(quick).url, "4"])
        exec(textwrap.dedent(EVALUATION), {})

    undisturbed(tmp_path / "whole")
    # Rows are written in the order of the questions, so those of the first round are written whatever hangs later.
    answer, stuck = hanging_when(lambda asked: re.search(r"\? [1-9]\b", question(asked)), hang)
    monkeypatch.setenv("WORKBENCH_ANSWERS", str(tmp_path / "stopped.sqlite"))
    process = begin(tmp_path / "stopped", serve(answer).url, workers)
    assert stuck.wait(30)
    results = tmp_path / "stopped" / "results.jsonl"
    while results.read_bytes().count(b"\n") < len(QUESTIONS):
        assert process.poll() is None
        time.sleep(0.01)
    before = results.read_bytes()
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert process.wait(60) == -signal.SIGINT
    assert time.monotonic() - sent < WITHIN
    assert results.read_bytes() == before
    undisturbed(tmp_path / "stopped")
    assert same_always(tmp_path / "stopped") == same_always(tmp_path / "whole")


def test_a_job_that_goes_on_after_an_interrupt_asks_nothing_more(serve):
    """Nobody would close what it asks later, and the process could not end before it is answered."""
    answer, _ = hanging_after(0, busy)
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
    answer, stuck = hanging_after(0, lambda asked: hang(asked) if len(server.seen) == 1 else by_schema(asked))
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
