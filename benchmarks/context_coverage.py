"""Does the context of a method contain more answers than dense passages of the same number of tokens?

    python benchmarks/context_coverage.py INDEX QUESTIONS [--methods ket_rag "ket_rag[profile=released]"] [--half even]

INDEX has the layers that the methods need, QUESTIONS is a data set over the same corpus. For each question, `dense`
gets the cl100k tokens of the method's own context and fills them with its passages in order: `whole` stops at the first
one that does not fit; `cut` also shows the beginning of that one, so that both contexts have equal length. The output
has a row for each method, reference and rule of coverage (`workbench/measures/coverage.py`): both shares, their
difference in points with its paired 95 % bootstrap interval, the difference on every other question, and how many
questions only the method (won) or only dense (lost) covers. The line before it states the tokens and the milliseconds
of a context.
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import workbench as wb
from workbench import tokens
from workbench.evaluation.significance import bootstrap_interval
from workbench.measures.coverage import coverage, coverage_bridge, coverage_substring
from workbench.records import Question

METHODS = ("ket_rag", "ket_rag[profile=released]", "ket_rag[profile=thesis]")
RULES = {
    "coverage": lambda text, q: coverage(text, q.answers),
    "coverage:substring": lambda text, q: coverage_substring(text, q.answers),
    "coverage:bridge": lambda text, q: coverage_bridge(text, q.answers, [s["answer"] for s in q.decomposition or ()]),
}


class Dense:
    """The text of dense passages, best first, under any budget."""

    def __init__(self, index):
        self._method = wb.method("dense", index)
        self._sizes = {p.id: tokens.count(f"{p.content}\n\n") for p in index.passages.passages}

    def fill(self, question: str, budget: int) -> tuple[str, str]:
        """(whole passages alone, and with the beginning of the next one)."""
        many = budget // 10 + 1
        passages = [passage for passage, _ in self._method.retrieve(question, many, trace="off").passages]
        left, shown = budget, 0
        while shown < len(passages) and (left := left - self._sizes[passages[shown].id]) >= 0:
            shown += 1
        texts = ["\n\n".join(p.content for p in passages[:many]) for many in (shown, shown + 1)]
        return texts[0], tokens.cut(texts[1], budget)


def measure(spec: str, index, questions: Sequence[Question], dense: Dense) -> list[dict]:
    method = wb.method(spec, index)
    index.encode_query("load the encoder")
    spent, seconds, texts = [], [], []
    for question in questions:
        index.encode_query(question.question)  # the same for all methods, and excluded from their time
        started = time.perf_counter()
        text = method.write(method.retrieve(question.question).context)
        seconds.append(time.perf_counter() - started)
        spent.append(tokens.count(text))
        texts.append((text, *dense.fill(question.question, spent[-1])))
    rows = [{"method": spec, "tokens": statistics.median(spent), "most": max(spent),
             "ms": round(1000 * statistics.median(seconds), 1)}]  # fmt: skip
    for at, reference in enumerate(("whole", "cut"), 1):
        for name, rule in RULES.items():
            pairs = [(rule(own, q), rule(others[at - 1], q)) for (own, *others), q in zip(texts, questions)]
            pairs = [pair for pair in pairs if None not in pair]
            if pairs:
                rows.append({"method": spec, "dense": reference, "rule": name, **compared(pairs)})
    return rows


def compared(pairs: Sequence[tuple[float, float]]) -> dict:
    """Of (method, dense) per question, in points of a hundred."""
    gains = [own - other for own, other in pairs]
    return {
        "questions": len(pairs),
        "own": points(own for own, _ in pairs),
        "other": points(other for _, other in pairs),
        "difference": points(gains),
        "interval": [round(100 * end, 1) for end in bootstrap_interval(gains)],
        "even": points(gains[::2]),
        "odd": points(gains[1::2]),
        "won": sum(gain > 0 for gain in gains),
        "lost": sum(gain < 0 for gain in gains),
    }


def points(values) -> float:
    return round(100 * statistics.fmean(values), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", help="a bundled name or a data folder")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--half", choices=("even", "odd"))
    options = parser.parse_args()
    index = wb.Index.open(options.index)
    asked = [question for question in wb.load(options.questions).questions if question.answers]
    asked = asked[{"even": 0, "odd": 1, None: 0}[options.half] :: 2 if options.half else 1]
    dense = Dense(index)
    for spec in options.methods:
        for row in measure(spec, index, asked, dense):
            print(json.dumps(row), flush=True)
