"""What executing queries on retrieved facts is worth: answers, and marks on answers.

    python benchmarks/sparql_exec.py gold                                 gold graph, gold patterns, of meridian
    python benchmarks/sparql_exec.py marks DATA --index INDEX [--method hipporag2] [--k 10] [--half even|odd]
"""

import argparse
import time

import workbench as wb
from workbench.measures.accuracy import accuracy
from workbench.measures.em import exact_match
from workbench.operators.sparql.likeness import Likeness
from workbench.operators.sparql.matching import execute
from workbench.records import Pattern, Question, Triple
from workbench.rules.patterns import Comparison, Query


def gold_query(question: Question) -> Query:
    """The decomposition of a question: its patterns with variables for the answers of its steps."""

    def term(text: str, step: int) -> str:
        return f"?s{step}" if text == "?" else f"?s{text[1:]}" if text.startswith("#") else text

    patterns, compare = [], None
    for number, step in enumerate(question.decomposition, 1):
        if step.get("pattern"):
            patterns.append(Pattern(*(term(text, number) for text in step["pattern"])))
        else:
            told = step["compare"]
            of, pick = (tuple(term(text, number) for text in told.get(name, ())) for name in ("of", "pick"))
            compare = Comparison(told["by"], of, pick)
    return Query(tuple(patterns), f"?s{len(question.decomposition)}" if compare is None else compare.of[0], compare)


def gold() -> None:
    data = wb.load("meridian")
    facts = [Triple(t.head, t.relation, t.tail, t.passages) for t in data.graph.triples]
    names = {entity.name for entity in data.graph.entities}
    aliases = {a: e.name for e in data.graph.entities for a in (*e.aliases, *e.mentions) if a not in names}
    likeness = Likeness(wb.encoder().encode, aliases)
    asked = [question for question in data.questions if question.answers]
    right, exact, seconds = [], 0, []
    for question in asked:
        started = time.perf_counter()
        proof = execute(gold_query(question), facts, likeness)
        seconds.append(time.perf_counter() - started)
        said = proof.answers[0].item if proof.answers else ""
        right.append((accuracy(said, question.answers), exact_match(said, question.answers)))
        exact += bool(proof.bindings) and all(match.exact for match in proof.bindings[0].matches)
        if not right[-1][0]:
            print(f"  wrong: {question.question} said {said!r}, right {question.answers[0]!r}, broken {proof.broken}")
    n = len(asked)
    seconds.sort()
    print(f"gold graph, {n} questions: accuracy {sum(a for a, _ in right) / n:.3f}, em {sum(e for _, e in right) / n:.3f}")
    print(f"exact {exact / n:.3f}; median {1000 * seconds[n // 2]:.0f} ms, longest {1000 * seconds[-1]:.0f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what")
    args = parser.parse_args()
    gold()
