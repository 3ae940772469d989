"""recall@5 and all_gold@5 of every method beside the baselines, by rules, with 95 % intervals, over several data sets.

    python benchmarks/baselines.py FOLDER DATA … [--method SPEC …] [--limit N]

Every registered method takes part with its defaults, but `none` and `long_context`, which rank nothing. FOLDER gets an
index and a run for each data set, which grow and are resumed. `baselines.csv` and `baselines.md` in it hold all methods
that are through, and are written anew after each. A method that cannot run says why.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.evaluation.significance import bootstrap_interval, mean_of
from workbench.methods import METHODS

MEASURES = ("recall@5", "all_gold@5")
BASELINES = ("bm25", "dense", "rrf", "rerank", "rerank[over=rrf]")  # what a method with a graph has to beat
UNRANKED = ("none", "long_context")


def results(folder: Path) -> Iterator[dict]:
    """A row per data set, method and measure, of the methods that all questions were put to."""
    for run in map(wb.Run, sorted(folder.glob("*/run"))):
        for method in run.methods:
            for measure in MEASURES:
                scores = [*run.scores(measure, method).values()]
                if len(scores) == run.config["questions"]["n"]:
                    low, high = bootstrap_interval(scores)
                    yield {"data": run.config["data"]["name"], "method": method, "measure": measure, "n": len(scores),
                           "mean": mean_of(scores), "low": low, "high": high}  # fmt: skip


def table(rows: pd.DataFrame) -> str:
    """A line per method, a column per data set and measure, in percent."""
    said = [f"{100 * row.mean:.1f} [{100 * row.low:.1f}, {100 * row.high:.1f}]" for row in rows.itertuples()]
    rows = rows.assign(said=said, head=rows["data"] + ", " + rows["measure"])
    wide = rows.pivot_table("said", "method", "head", aggfunc="first", sort=False).fillna("")
    lines = [["method", *wide], ["---"] * (1 + len(wide.columns)), *wide.reset_index().values.tolist()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--method", nargs="+", default=[one for one in (*BASELINES, *METHODS) if one not in UNRANKED])
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    engine = wb.engine("rules")
    for data in map(wb.load, given.data):
        place, questions = given.folder / data.name, [one for one in data.questions if one.support][: given.limit]
        index = wb.Index.build(data, engine, place / "index", layers=["passages"])
        for spec in dict.fromkeys(given.method):
            try:
                method = wb.method(spec, index, engine)
                wb.evaluate(questions, [method], None, place / "run", measures=MEASURES, trace="off")
            except WorkbenchError as error:
                print(f"{data.name}, {spec}: {error}", flush=True)
            rows = pd.DataFrame(results(given.folder))
            rows.to_csv(given.folder / "baselines.csv", index=False)
            (given.folder / "baselines.md").write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
