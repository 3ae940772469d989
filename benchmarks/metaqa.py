"""DotRAG's Table 2 on questions over a graph of films: results by hops and at equal numbers of nodes, and cost.

    python benchmarks/metaqa.py INDEX QUESTIONS --out RUN [--limit 20] [--method dotrag …] [-k 10] [--trace ids]

QUESTIONS is a folder with questions_1hop.jsonl, questions_2hop.jsonl, questions_3hop.jsonl; `--limit` takes the first
of each. Steps run by rules. The run is written to RUN and can be resumed; `workbench table dotrag --run RUN`
puts it next to the paper's numbers. Retrieval only, one question at a time. Methods share the vector of a question,
which the first one encodes. Memory is the peak of the whole process, including index and encoder.
"""

import argparse
import resource
from pathlib import Path

import pandas as pd

import workbench as wb
from workbench.analyses import Analysis, at_equal_nodes, by_hops, running_time
from workbench.data.folder import read_questions
from workbench.measures import NODES

METHODS = ("lightrag[mode=naive]", "lightrag", "pathrag", "dotrag", "ball[hops=2]", "ball[hops=3]")
READINGS = {"start and answers": "", "answers only": ":answers", "own nodes, answers only": ":nodes"}
# The paper's recall of DotRAG, rounded up, and 1.5 times its precision, by hops.
LEAST = {1: (0.95, 1.5 * 0.0407), 2: (0.92, 1.5 * 0.0499), 3: (0.60, 1.5 * 0.0496)}


def table(found: Analysis) -> str:
    """Recall, precision and F1 of the three readings in percent, mean sizes of R and of the method's own nodes."""
    frame = found.frame().set_index(["hops", "method"])
    parts = {}
    for title, reading in READINGS.items():
        for measure in ("recall", "precision", "f1"):
            parts[title, measure] = 100 * frame[f"node_{measure}{reading}"]
    sizes = {"|R|": "node_count", "own": "node_count:nodes", "passages": "passages", "n": "n", "failures": "failures"}
    parts |= {("", name): frame[column] for name, column in sizes.items()}
    return pd.DataFrame(parts).to_string(float_format="{:.2f}".format)


def verdict(name: str, found: Analysis, equal: Analysis) -> wb.Verdict:
    """Whether a dotrag reaches the paper's recall, and its own nodes score higher than those of the other methods."""
    rows = {(row["hops"], row["method"]): row for row in found.rows}
    first = {(row["hops"], row["method"]): row["recall"] for row in equal.rows}
    said = wb.Verdict(f"{name} by rules")
    for hops, (recall, precision) in LEAST.items():
        if (ours := rows.get((hops, name))) is None:
            continue
        for measure, least in (("recall", recall), ("precision", precision)):
            value = round(ours[f"node_{measure}"], 4)
            said.check(f"{measure}, {hops} hops", value, f"{least:.4f} or more", lambda v, least=least: v >= least)
        others = [method for at, method in first if at == hops and not method.startswith("dotrag")]
        for other in others if hops > 1 else ():
            factor = ours["node_f1:nodes"] / max(rows[hops, other]["node_f1:nodes"], 1e-9)
            said.check(f"f1 of own nodes against {other}, {hops} hops", round(factor, 2), "2 or more", lambda v: v >= 2)
            ahead = first[hops, name] - first[hops, other]
            said.check(f"recall ahead of {other}, {hops} hops", round(ahead, 4), "above 0", lambda v: v > 0)
    return said


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--method", nargs="+", default=METHODS)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--trace", default="ids", choices=["off", "ids", "full"])
    arguments = parser.parse_args()
    files = [arguments.questions / f"questions_{hops}hop.jsonl" for hops in (1, 2, 3)]
    asked = [one for file in files for one in read_questions(file, answer_set=True)[: arguments.limit]]
    index, rules = wb.Index.open(arguments.index), wb.engine("rules")
    methods = [wb.method(spec, index, rules) for spec in arguments.method]
    for method in methods:  # exclude what is loaded at the first question
        method.retrieve(asked[0].question, trace="off")
    run = wb.evaluate(
        asked, methods, None, arguments.out, measures=list(NODES), k=arguments.k, trace=arguments.trace, workers=1
    )
    found = by_hops(run)
    print(table(found))
    print(running_time(run))
    for method in (method for method in methods if method.name == "dotrag"):
        equal = at_equal_nodes(run, asked, method.label)
        print(equal)
        print(verdict(method.label, found, equal))
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
