"""DotRAG by rules on graphs of domains for which nothing was prepared, with their schemas and without.

    python benchmarks/dotrag_domains.py [FOLDER …] [--method dotrag …] [--misses]

A FOLDER is a graph of triples with a schema.json and a questions.jsonl, whose questions have hops, a start and a type,
`plain` or `paraphrase`; by default those of tests/domains. Prints recall and precision in percent, by hops and by type,
of the nodes that a method returned itself against the answers (`node_recall:nodes`, `node_precision:nodes`), over all
folders together and for each, and how many times LightRAG's precision DotRAG's is. `--misses` names the questions whose
answers were not all found. Steps run by rules, so the same folders give the same table.
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pandas as pd

import workbench as wb
from workbench.measures.ranking import node_precision, node_recall

DOMAINS = Path(__file__).resolve().parent.parent / "tests" / "domains"


def measured(folder: Path, methods: list[str], schema: bool, place: Path) -> list[dict]:
    """One row per method and question. Without `schema`, the graph has the names of its relations and nothing else."""
    data, engine = wb.load(folder), wb.engine("rules")
    data = data if schema else replace(data, schema=None)
    index = wb.Index.build(data, engine, place, layers=["typed"], progress=False)
    rows = []
    for spec in methods:
        method = wb.method(spec, index, engine)
        for question in data.questions:
            nodes = method.retrieve(question.question, trace="off").nodes
            row = {"domain": folder.name, "schema": schema, "method": spec, "type": question.type}
            row |= {"hops": question.hops, "id": question.id, "question": question.question, "nodes": len(nodes)}
            row["recall"] = node_recall(nodes, question.answers)
            rows.append(row | {"precision": node_precision(nodes, question.answers)})
    return rows


def table(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean recall and precision in percent, hops in columns."""
    means = frame.groupby([*by, "hops"])[["recall", "precision"]].mean().mul(100)
    return means.unstack("hops").round(1)


def times(frame: pd.DataFrame, method: str, other: str) -> float:
    """How many times the mean precision of another method one method has."""
    of = {name: mean(frame[frame["method"] == name]["precision"]) for name in (method, other)}
    return of[method] / of[other]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--method", nargs="+", default=["dotrag", "lightrag"])
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    folders = options.folders or sorted(DOMAINS.iterdir())
    with tempfile.TemporaryDirectory() as place:
        found = pd.DataFrame(
            row
            for folder in folders
            for schema in (True, False)
            for row in measured(folder, options.method, schema, Path(place) / f"{folder.name}-{schema}")
        )
    print(table(found, ["method", "schema", "type"]).to_string(), "\n")
    print(table(found, ["method", "domain", "schema", "type"]).to_string(), "\n")
    if {"dotrag", "lightrag"} <= set(options.method):
        for schema, part in found.groupby("schema"):
            print(f"precision, schema={schema}: {times(part, 'dotrag', 'lightrag'):.1f} times that of lightrag")
    if options.misses:
        missed = found[(found["recall"] < 1) & (found["method"] != "lightrag")]
        print(missed[["id", "schema", "type", "hops", "recall", "precision", "question"]].to_string(index=False))
