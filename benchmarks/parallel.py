"""Concurrent questions: BDTR with one worker and with several, when every model call takes some time.

    python benchmarks/parallel.py INDEX QUESTIONS [--method bdtr] [--latency .3] [--workers 8] [--limit 100]

The engine sleeps `--latency` seconds per call and then returns the output of the rules, known from a first pass. So the
figures exclude the time of the rules, and include the encoder and the workbench. Checks that the rows are equal.
"""

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path

import workbench as wb
from workbench.data.folder import read_questions
from workbench.llm.engine import RulesEngine, note


class Distant(RulesEngine):
    """Knows the rules' output for each input, and waits; inputs of one call run in parallel, as with endpoints."""

    def __init__(self):
        super().__init__()
        self.latency, self.workers, self._said, self._lock = 0.0, 1, {}, threading.Lock()
        self.calls = 0

    def run(self, step, inputs, *, trace=None):
        key = (step.name, repr(inputs))
        if key not in self._said:
            self._said[key] = super().run(step, inputs)
        note(trace, self.name, step, self._said[key])
        with self._lock:
            self.calls += len(inputs)
        time.sleep(self.latency)
        return self._said[key]


def rows(folder: Path) -> str:
    return (folder / "results.jsonl").read_text(encoding="ascii")


def measure(index: Path, spec: str, questions: list, latency: float, workers: int) -> dict:
    engine, seconds, results = Distant(), {}, {}
    with tempfile.TemporaryDirectory() as work:
        for number, (name, wait, at_once) in enumerate(
            [("rules", 0, 1), ("one", latency, 1), ("several", latency, workers)]
        ):
            engine.latency, engine.calls = wait, 0
            method = wb.method(spec, wb.Index.open(index), engine)  # reopened, so that no query is encoded already
            method.index.encode_query("warm")
            started = time.perf_counter()
            wb.evaluate(questions, [method], out=Path(work) / str(number), workers=at_once, progress=False)
            seconds[name], results[name] = time.perf_counter() - started, rows(Path(work) / str(number))
    return {
        "method": spec, "questions": len(questions), "latency": latency, "workers": workers,
        "calls per question": engine.calls / len(questions),
        "seconds, one worker": seconds["one"], "seconds, several": seconds["several"],
        "times faster": seconds["one"] / seconds["several"],
        "same rows": results["one"] == results["several"],
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--method", default="bdtr")
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--limit", type=int, default=100)
    arguments = parser.parse_args()
    asked = read_questions(arguments.questions)[: arguments.limit]
    print(json.dumps(measure(arguments.index, arguments.method, asked, arguments.latency, arguments.workers), indent=1))
