"""What CatRAG changes against HippoRAG 2: passages found and mass on hubs, mechanism by mechanism.

    python benchmarks/catrag.py SHARED [--indexes DIR] [--engine rules] [--seconds]

SHARED holds `datasets/`. Over the questions of MuSiQue (facts given), HotpotQA and 2WikiMultiHopQA (raw text), each as
a mean with the mean difference to `hipporag2`: Recall@5, all gold passages in the first five (FCR), the share of the
phrases' mass on super hubs in both readings, S_ppr. `--seconds` compares the time of a question instead, requests and
encoder apart, over 2WikiMultiHopQA.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from timed import own_milliseconds

import workbench as wb
from workbench.measures.ranking import all_gold, recall

DATA = ("musique-train-100", "hotpotqa-train-100", "2wikimultihopqa-6119")
SPECS = {
    "hipporag2": "hipporag2",
    "catrag": "catrag",
    "without anchors": "catrag[anchoring=false]",
    "without dynamic weights": "catrag[dynamic_weights=false]",
    "without key facts": "catrag[key_facts=false]",
    "anchors alone": "catrag[dynamic_weights=false,key_facts=false]",
    "dynamic weights alone": "catrag[anchoring=false,key_facts=false]",
    "key facts alone": "catrag[anchoring=false,dynamic_weights=false]",
    "released": "catrag[profile=released]",
}


def measured(method, question) -> dict[str, float]:
    walk = method.walk_distribution(question.question)
    ranking = [passage for passage, _ in method.rank(walk, 5).ranking]
    hubs = walk.hubs if walk.pagerank else None
    return {
        "recall@5": recall(ranking, question.support, k=5),
        "all_gold@5": all_gold(ranking, question.support, k=5),
        "super hubs": hubs.share_all if hubs else np.nan,
        "super hubs of ten": hubs.share_top if hubs else np.nan,
        "S_ppr": hubs.strength if hubs else np.nan,
    }


def table(shared: Path, indexes: Path, engine) -> dict:
    found = {}
    for name in DATA:
        data = wb.load(shared / "datasets" / name)
        index = wb.Index.build(data, engine, indexes / name)
        questions = [question for question in data.questions if question.support]
        rows = {}
        for label, spec in SPECS.items():
            method = wb.method(spec, index, engine)
            rows[label] = [measured(method, question) for question in questions]
        found[name] = {"questions": len(questions)} | {
            label: against(rows["hipporag2"], own) for label, own in rows.items()
        }
    return found


def against(base: list[dict], own: list[dict]) -> dict[str, tuple[float, float]]:
    """Measure → mean, mean difference to `hipporag2`."""
    return {
        measure: (
            round(float(np.nanmean([row[measure] for row in own])), 4),
            round(float(np.nanmean([b[measure] - a[measure] for a, b in zip(base, own)])), 4),
        )
        for measure in own[0]
    }


def seconds(shared: Path, indexes: Path, repeats: int = 3) -> dict:
    """Median milliseconds of a question beside Steps and encoder (its vectors are cached by a first pass)."""
    data = wb.load(shared / "datasets" / DATA[-1])
    index = wb.Index.build(data, wb.engine("rules"), indexes / DATA[-1])
    questions, found = data.questions[:40], {}
    for label, spec in (("hipporag2", "hipporag2"), ("catrag", "catrag")):
        found[label] = float(np.median(own_milliseconds(spec, index, questions, repeats)))
    return found | {"ratio": found["catrag"] / found["hipporag2"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--indexes", type=Path, default=Path("indexes"))
    parser.add_argument("--engine", default="rules")
    parser.add_argument("--seconds", action="store_true")
    given = parser.parse_args()
    result = seconds(given.shared, given.indexes) if given.seconds else table(
        given.shared, given.indexes, wb.engine(given.engine)
    )  # fmt: skip
    print(json.dumps(result, indent=1))
