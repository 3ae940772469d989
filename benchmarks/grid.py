"""The time of an ablation: prompts × compression × routing over a data set, with a diagnosis of every answer.

    python benchmarks/grid.py INDEX --data meridian [--method dense] [--engine rules] [--limit 3] [--out DIR]

With `route=true`, the question's kind selects SPARQL or CoT, so a prompt and routing exclude each other: with routing,
the prompt is that of the second attempt. For `sparql-exec`, the query replaces the SPARQL prompt. Prints the table,
seconds per reader and causes; `--out` keeps the grid.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import workbench as wb
from workbench.analyses import decomposition
from workbench.analyses.diagnose import diagnose
from workbench.evaluation.grid import grid

PROMPTS = {"brief": "direct[prompt=brief{}]", "cot": "cot{}", "sparql": "sparql{}", "sparql-exec": "sparql-exec{}"}
ROUTED = {"brief": "brief", "cot": "cot", "sparql": "sparql", "sparql-exec": "auto"}  # prompts of the second attempt


def readers(compressor: str) -> dict[str, str]:
    """Label → SPEC of the sixteen readers."""
    found = {}
    for name, spec in PROMPTS.items():
        for packed in (None, compressor):
            for routed in (False, True):
                settings = [f"compress={packed}"] * (packed is not None)
                settings += ["route=true", f"retry={ROUTED[name]}"] * routed
                said = ",".join(settings)
                if routed and name != "sparql-exec":
                    made = f"direct[{said}]"
                elif "[" in spec:
                    made = spec.format("," + said if said else "")
                else:
                    made = spec.format(f"[{said}]" if said else "")
                found[f"{name}{' + compression' * bool(packed)}{' + routing' * routed}"] = made
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--data", default="meridian")
    parser.add_argument("--method", default="dense")
    parser.add_argument("--engine", default="rules")
    parser.add_argument("--compressor", default="graph-walk")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    index, engine = wb.Index.open(given.index), wb.engine(given.engine)
    questions = wb.load(given.data).questions[: given.limit]
    index.encode_query("warm")
    with tempfile.TemporaryDirectory() as scratch:
        out = given.out or Path(scratch)
        started, busy = time.perf_counter(), time.process_time()
        done = grid(questions, [wb.method(given.method, index, engine)], readers(given.compressor), out)
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        print(f"{len(done.frame()):,} answers in {seconds:.0f} s ({busy:.0f} s of CPU)")
        for label, run in done.runs.items():
            took = run.seconds()
            print(f"  {label}: {took[~took['stage'].str.contains(' / ')]['seconds'].sum():.1f} s")
        columns = ["accuracy", "f1", "em", "abstained", "coverage", "coverage:read", "read_tokens", "failures"]
        print(done.table()[columns].to_string(float_format="{:.3f}".format))
        print(decomposition(done).frame().to_string(float_format="{:.3f}".format))
        started = time.perf_counter()
        cases = [case.cause for run in done.runs.values() for case in diagnose(run, questions, index).cases]
        said = ", ".join(f"{cause} {cases.count(cause)}" for cause in dict.fromkeys(cases))
        print(f"{len(cases):,} wrong answers diagnosed in {time.perf_counter() - started:.1f} s: {said}")


if __name__ == "__main__":
    main()
