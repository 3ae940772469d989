"""Questions still covered after compression, by compressor and by three alternatives at the same tokens.

    python benchmarks/compression.py INDEX QUESTIONS [--method ket_rag] [--tokens 12000] [--budget 4000] [--sweep]

The alternatives are the beginning of the context, its top chunks, and the passages of dense retrieval, each at the
tokens of the compressor for the same question. A method without its own context layout contributes its evidence as
tables of `--tokens` tokens. Differences have 95 % bootstrap intervals over questions. If the data have gold passages or
steps, the script also counts the share of gold passages kept, and the questions with all steps covered.
"""

import argparse
import time
from pathlib import Path

import pandas as pd

import workbench as wb
from workbench.data.folder import read_questions
from workbench.evaluation.significance import bootstrap_interval
from workbench.layouts import of_evidence
from workbench.measures.coverage import coverage, coverage_bridge, coverage_substring
from workbench.methods.base import within_budget
from workbench.reading.compression import Compressor, compressor, top, truncate
from workbench.reading.compression.base import joined, length, written
from workbench.records import Compressed, ContextGraph, Evidence, Question

SPECS = ("graph-walk", "graph-walk[profile=released]", "graph-walk[profile=thesis]", "similarity")
SWEEP = {
    "budget": (1000, 2000, 3000, 4000, 6000, 8000),
    "walk": (0, 0.25, 0.5, 1),
    "behind": (1, 2, 4, 1000),
    "lines": (0, 0.05, 0.1, 0.2, 0.4),
    "rank_constant": (10, 20, 60),
    "width": (0, 10, 20, 50, 1000),
    "share": (0.3, 0.5, 0.8),
    "max_hops": (0, 1, 2, 3, 5),
}
TABLES = ("entities", "relations", "sources", "chunks", "paths")
RULES = ("covered", "substring", "steps", "gold")
PEERS = ("cut", "top", "dense")
Case = tuple[Question, ContextGraph, Evidence]


def contexts(index: wb.Index, questions: list[Question], spec: str, tokens: int, limit: int | None) -> list[Case]:
    """(question, context, dense evidence) of each question."""
    method, dense = wb.method(spec, index), wb.method("dense", index)
    cases = []
    for question in questions[:limit]:
        evidence = method.retrieve(question.question, k=200, trace="off")
        graph = evidence.context or of_evidence(evidence, tokens)
        cases.append((question, graph, dense.retrieve(question.question, k=200, trace="off")))
    return cases


def judged(question: Question, text: str, passages: set[str] | None) -> dict[str, float | None]:
    """What remains of a question's answer, steps and gold passages; None if undefined."""
    steps = [step["answer"] for step in question.decomposition or ()]
    gold = set(question.support)
    return {
        "covered": coverage(text, question.answers),
        "substring": coverage_substring(text, question.answers),
        "steps": coverage_bridge(text, question.answers, steps),
        "gold": len(gold & passages) / len(gold) if gold and passages is not None else None,
    }


def measure(cases: list[Case], one: Compressor) -> tuple[pd.DataFrame, list[Compressed]]:
    """A row for each question: the judgements of the compressor and the alternatives, tokens, milliseconds."""
    rows, results = [], []
    for question, graph, dense in cases:
        started = time.perf_counter()
        result = one.compress(question.question, graph)
        seconds = time.perf_counter() - started
        near = within_budget(dense, result.tokens)
        arms = {
            "it": judged(question, result.text, held(result.graph)),
            "cut": judged(question, truncate(graph, result.tokens), None),
            "top": judged(question, top(graph, result.tokens), None),
            "dense": judged(
                question, joined(p.content for p, _ in near.passages), {p.id for p, _ in near.passages}
            ),
        }  # fmt: skip
        row = {f"{arm} {rule}": value for arm, said in arms.items() for rule, value in said.items()}
        rows.append(
            {**row, "tokens": result.tokens, "before": result.tokens_before, "ms": 1000 * seconds,
             "fallback": result.fallback is not None, "type": question.type, "hops": question.hops}
        )  # fmt: skip
        results.append(result)
    return pd.DataFrame(rows), results


def held(graph: ContextGraph) -> set[str]:
    return {passage for unit in (*graph.chunks, *graph.sources) for passage in unit.passages}


def summary(table: pd.DataFrame, whole: pd.DataFrame) -> str:
    said = [
        f"tokens {table['tokens'].mean():.0f} of {table['before'].mean():.0f}"
        f" ({table['tokens'].sum() / table['before'].sum():.0%}), most {table['tokens'].max()};"
        f" {table['ms'].median():.1f} ms, 95 % {table['ms'].quantile(0.95):.1f} ms;"
        f" fall-backs {table['fallback'].mean():.1%}"
    ]
    for rule in RULES:
        mine = table[f"it {rule}"].dropna()
        if len(mine):
            against = (f"{peer} {_mean(table[f'{peer} {rule}'])} {_difference(table, peer, rule)}" for peer in PEERS)
            said.append(f"  {rule:9} whole {_mean(whole[rule])}, kept {_mean(mine)}; " + "; ".join(against))
    return "\n".join(said)


def _mean(values: pd.Series) -> str:
    values = values.dropna().astype(float)
    return f"{100 * values.mean():.1f} ({values.sum():.0f}/{len(values)})" if len(values) else "–"


def _difference(table: pd.DataFrame, peer: str, rule: str) -> str:
    differences = (table[f"it {rule}"].astype(float) - table[f"{peer} {rule}"].astype(float)).dropna()
    if not len(differences):
        return ""
    low, high = bootstrap_interval(differences)
    return f"[{100 * differences.mean():+.1f}: {100 * low:+.1f} to {100 * high:+.1f}]"


def hop_of_answer(cases: list[Case]) -> list[str]:
    """The position of the answer in the full context: its hop, next to no reached name, or nowhere."""
    everything = compressor("graph-walk", budget=10**6, lines=0)
    found = []
    for question, graph, _ in cases:
        result = everything.compress(question.question, graph)
        units = {unit.id: unit.content for unit in (*graph.chunks, *graph.sources)}
        hops = ["none" if hop is None else str(hop) for _, hop, ids in result.kept
                if coverage(joined(units.get(id, "") for id in ids), question.answers)]  # fmt: skip
        found.append(hops[0] if hops else "nowhere")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--method", default="ket_rag")
    parser.add_argument("--tokens", type=int, default=12_000)
    parser.add_argument("--budget", type=int, default=4_000)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sweep", action="store_true")
    a = parser.parse_args()
    cases = contexts(wb.Index.open(a.index), read_questions(a.questions), a.method, a.tokens, a.limit)
    whole = pd.DataFrame([judged(question, written(graph), held(graph)) for question, graph, _ in cases])
    many = pd.DataFrame([{name: len(getattr(graph, name)) for name in TABLES} for _, graph, _ in cases]).mean()
    sizes = pd.Series([length(written(graph)) for _, graph, _ in cases])
    print(f"{len(cases)} questions; in a context: {', '.join(f'{n:.0f} {name}' for name, n in many.items())}")
    print(f"tokens of a context: mean {sizes.mean():.0f}, median {sizes.median():.0f}, most {sizes.max()}")
    for spec in SPECS:
        table, _ = measure(cases, compressor(spec, budget=a.budget))
        print(f"\n{spec}: {summary(table, whole)}")
        if spec == SPECS[0]:
            table["hop of the answer"] = hop_of_answer(cases)
            for column in ("type", "hops", "hop of the answer"):
                groups = table.astype({"it covered": float, "top covered": float}).groupby(column, dropna=False)
                print(groups[["it covered", "top covered"]].agg(["count", "sum"]).astype(int).to_string())
    for key, values in SWEEP.items() if a.sweep else ():
        for value in values:
            table, _ = measure(cases, compressor(SPECS[0], **{"budget": a.budget, key: value}))
            kept = "; ".join(
                f"{rule} {_mean(table[f'it {rule}'])}, top {_mean(table[f'top {rule}'])}" for rule in RULES[:3]
            )
            print(f"{key}={value}: {kept}, gold {_mean(table['it gold'])}, {table['tokens'].mean():.0f} tokens")


if __name__ == "__main__":
    main()
