"""The rows that a growing run computes, and the time to determine them.

    python benchmarks/growing.py INDEX --questions FILE [--out NEW]

Evaluates `dense` and `hipporag2` with the reader `direct` by rules, then the same again, then with `graph_cot` added,
with a measure added, and with all three in another order. Prints for each call the number of computed rows (new lines
of `timings.jsonl`) and the seconds.
"""

import argparse
import tempfile
import time
from pathlib import Path

import workbench as wb
from workbench.data.folder import read_questions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="folder of the run, which must not exist")
    given = parser.parse_args()
    index, engine, questions = wb.Index.open(given.index), wb.engine("rules"), read_questions(given.questions)
    reader, out = wb.reader("direct", engine), given.out or Path(tempfile.mkdtemp()) / "run"
    two = ["dense", "hipporag2"]
    calls = {
        "dense, hipporag2": (two, None),
        "the same": (two, None),
        "graph_cot added": ([*two, "graph_cot"], None),
        "a measure added": ([*two, "graph_cot"], ["recall@3"]),
        "another order": (["graph_cot", *two], None),
    }
    before: set[str] = set()
    for name, (methods, measures) in calls.items():
        started = time.perf_counter()
        built = [wb.method(method, index, engine) for method in methods]
        more = {} if measures is None else {"measures": measures}
        run = wb.evaluate(questions, built, reader, out, progress=False, k=20, **more)
        seconds = time.perf_counter() - started
        now = set((out / "timings.jsonl").read_text(encoding="ascii").splitlines())
        print(f"{name:20} rows {len(run.rows):4}   asked {len(now - before):4}   {seconds:7.2f} s", flush=True)
        before = now


if __name__ == "__main__":
    main()
