"""An evaluation whose requests wait for a batch: a row is written when all its replies are there, and never failed."""

from __future__ import annotations

import json

import pytest
from tiny import QUESTIONS, files

import workbench as wb
from workbench.errors import Deferred
from workbench.evaluation.run import Run
from workbench.llm.batch.export import Deferring
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.record import Recording

NAME = "openai:test-model"
JUDGE = "openai:judge"


def reply(request: Request) -> Reply:
    """Of every Step, from the request alone; a thought ends IRCoT after some rounds."""
    said = request.messages[-1]["content"]
    at = sum(map(ord, said)) % 7
    texts = {
        "fact_filter": json.dumps({"facts": []}),
        "judge": json.dumps({"verdict": "correct" if at % 2 else "incorrect", "reason": f"{at}"}),
        "next_thought": "So the answer is: Orsby." if at % 2 else f"Something of Lake Mira and of number {at}.",
    }
    return Reply(texts.get(request.step, f"Thought: {at}.\nAnswer: Lake {at}"), prompt_tokens=at, completion_tokens=at)


@pytest.fixture
def batch(tmp_path):
    """`engine(name)` collects, and `answer()` records replies to what waits and gives their number."""

    class Batch:
        store, waiting = Recording(tmp_path / "recording.sqlite"), dict[str, Request]()

        def engine(self, name: str = NAME) -> ChatEngine:
            return ChatEngine(name, Deferring(self.store, self._collect), concurrency=1)

        def _collect(self, request: Request) -> None:
            self.waiting[request.key] = request

        def answer(self, keep: int | None = None) -> int:
            taken = list(self.waiting.values())[:keep]
            for request in taken:
                self.store.put(request, reply(request), good=True)
            self.waiting.clear()
            return len(taken)

    return Batch()


def evaluated(index, engine, judge, out, repeats: int = 1, workers: int | None = None) -> Run:
    methods = [wb.method(spec, index, engine) for spec in ("ircot[backbone=dense]", "dense")]
    reader = wb.reader("direct", engine)
    given = {"judge": judge, "repeats": repeats, "workers": workers, "progress": False}
    return wb.evaluate(QUESTIONS, methods, reader, out, **given)


def contents(run: Run) -> dict[str, bytes]:
    return {name: content for name, content in files(run.folder).items() if "timings" not in name}


@pytest.mark.parametrize(("repeats", "workers"), [(1, None), (2, 4)])
def test_rounds_end_with_the_run_of_one_by_one(tiny_index, batch, tmp_path, repeats, workers):
    live = evaluated(tiny_index, ChatEngine(NAME, reply), ChatEngine(JUDGE, reply), tmp_path / "live", repeats)
    asked = []
    while True:
        try:
            engines = batch.engine(), batch.engine(JUDGE)
            run = evaluated(tiny_index, *engines, tmp_path / "run", repeats, workers)
            break
        except Deferred:
            asked.append(batch.answer())
    assert len(asked) >= 3 and asked[0] == 2 * len(QUESTIONS) * repeats
    assert contents(run) == contents(live)


def test_a_row_that_waits_is_not_written(tiny_index, batch, tmp_path):
    with pytest.raises(Deferred):
        evaluated(tiny_index, batch.engine(), None, tmp_path / "run")
    assert (tmp_path / "run" / "results.jsonl").read_text() == ""
    batch.answer(keep=None)
    with pytest.raises(Deferred):
        evaluated(tiny_index, batch.engine(), None, tmp_path / "run")
    rows = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert {row["method"] for row in rows} >= {"dense"} and {row["failure"] for row in rows} == {None}


def test_readers_of_a_grid_wait_side_by_side(tiny_index, batch, tmp_path):
    def made(engine):
        readers = {name: wb.reader(name, engine) for name in ("direct", "cot")}
        return wb.grid(QUESTIONS, [wb.method("dense", tiny_index)], readers, tmp_path / engine.name, progress=False)

    with pytest.raises(Deferred):
        made(batch.engine())
    assert batch.answer() == 2 * len(QUESTIONS)
    assert all(len(run.rows) == len(QUESTIONS) for run in made(batch.engine()).runs.values())
