"""Youtu-GraphRAG's agent: passages found with it, without it and without each of its parts; the time of a question.

    python benchmarks/youtu.py SHARED [--indexes DIR] [--data NAME …] [--specs SPEC …] [--seconds]

SHARED holds `datasets/`, names that are not there are bundled; DIR has an index per data set, `NAME-youtu` or `NAME`,
and rules build its missing layers. Printed: Recall@5 and the share of questions with all gold passages in the first
five, over the questions that have gold. `--seconds` prints the median and the 90th percentile of the milliseconds of a
question instead, beside Steps and encoder.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from timed import own_milliseconds

import workbench as wb
from workbench.measures.ranking import all_gold, recall

DATA = ("hotpotqa-train-100", "musique-train-100", "2wikimultihopqa-6119", "meridian")
SPECS = (
    "dense", "hipporag2", "youtu[agent=false]", "youtu", "youtu[community=false]", "youtu[schema=false]",
    "youtu[entity=false]", "youtu[triple=false]", "youtu[path=false]", "youtu[profile=released,agent=false]",
    "youtu[profile=released]",
)  # fmt: skip


def index_of(indexes: Path, name: str, data, engine) -> wb.Index:
    folder = next((indexes / one for one in (f"{name}-youtu", name) if (indexes / one).exists()), indexes / name)
    return wb.Index.build(data, engine, folder, progress=False)


def quality(method, questions) -> dict[str, float]:
    rankings = [[name for name, _ in method.retrieve(one.question, 5, trace="off").ranking] for one in questions]
    pairs = list(zip(rankings, questions))
    return {
        "recall@5": round(float(np.mean([recall(ids, one.support, k=5) for ids, one in pairs])), 4),
        "all_gold@5": round(float(np.mean([all_gold(ids, one.support, k=5) for ids, one in pairs])), 4),
    }


def milliseconds(spec: str, index, questions, repeats: int = 2) -> dict[str, float]:
    times = own_milliseconds(spec, index, questions, repeats)
    return {"median ms": round(float(np.median(times)), 1), "90 % ms": round(float(np.percentile(times, 90)), 1)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--indexes", type=Path, default=Path("indexes"))
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--specs", nargs="+", default=SPECS)
    parser.add_argument("--seconds", action="store_true")
    given = parser.parse_args()
    engine = wb.engine("rules")
    for name in given.data:
        folder = given.shared / "datasets" / name
        data = wb.load(folder if folder.exists() else name)
        questions = [one for one in data.questions if one.support]
        index = index_of(given.indexes, name, data, engine)
        for spec in given.specs:
            found = (
                milliseconds(spec, index, questions[:40])
                if given.seconds
                else quality(wb.method(spec, index, engine), questions)
            )
            print(json.dumps({"data": name, "questions": len(questions), "method": spec, **found}), flush=True)
