"""Every iterative method over every backbone, next to the backbone alone.

    python benchmarks/matrix.py INDEX QUESTIONS [--engine rules] [--backbone dense …] [--method bdtr …] [--limit N]

Prints recall, all gold in the first five, EM and F1, differences with intervals, and failures. The run is kept
(`--out`), can be resumed, and opens with `wb.Run.open`.
"""

import argparse
from pathlib import Path

import pandas as pd

import workbench as wb
from workbench.data.folder import read_questions

METHODS = ("ircot", "irgs", "gcot", "tog", "bdtr")
BACKBONES = ("dense", "hipporag2", "raptor", "graphrag")
MEASURES = ("recall@2", "recall@5", "recall@10", "all_gold@5", "em", "f1", "read")


def measure(index: wb.Index, questions: list, engine, methods, backbones, out: Path, k: int) -> wb.Run:
    specs = [spec for b in backbones for spec in (b, *(f"{m}[backbone={b}]" for m in methods))]
    built = {spec: wb.method(spec, index, engine) for spec in specs}
    return wb.evaluate(questions, built, wb.reader("direct", engine), out, measures=MEASURES, k=k, trace="ids")


def against_backbones(run: wb.Run) -> pd.DataFrame:
    """Each iterative method against its own backbone."""
    pairs = [(name, name.partition("backbone=")[2][:-1]) for name in run.methods if "backbone=" in name]
    tables = {base: run.compare(base, ["recall@5", "all_gold@5", "f1"]) for base in {base for _, base in pairs}}
    return pd.concat([tables[base][tables[base]["method"] == name] for name, base in pairs], ignore_index=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--engine", default="rules")
    parser.add_argument("--method", nargs="+", default=METHODS)
    parser.add_argument("--backbone", nargs="+", default=BACKBONES)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("-k", type=int, default=20)
    a = parser.parse_args()
    index, engine = wb.Index.open(a.index), wb.engine(a.engine)
    asked = read_questions(a.questions)[: a.limit]
    out = a.out or wb.home() / "runs" / f"matrix-{index.name}-{engine.name.replace(':', '-')}"
    run = measure(index, asked, engine, a.method, a.backbone, out, a.k)
    pd.set_option("display.width", 200, "display.max_columns", 20, "display.max_rows", 100)
    print(run.table(seconds=True).round(3), against_backbones(run).round(3), sep="\n\n")
    print(f"\nfall-backs noted:\n{run.frame().groupby('method')['fallback'].count()}\n{out}")
