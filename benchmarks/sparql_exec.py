"""Executing queries on retrieved facts: the quality of answers, and of the marks on answers.

    python benchmarks/sparql_exec.py gold                                 gold graph and gold patterns of meridian
    python benchmarks/sparql_exec.py marks [DATA] --index INDEX [--method hipporag2] [--k 10]

`marks` prints, for each kind of answer, its number, the number of right ones (accuracy), and their marks.
"""

import argparse
import random
import time
from collections import Counter, defaultdict

import workbench as wb
from workbench.encoding import cached
from workbench.measures.accuracy import accuracy
from workbench.measures.answers import exact_match
from workbench.records import Answer, Pattern, Question, Triple
from workbench.sparql import Comparison, NameSimilarity, Query, execute, facts_of, verify
from workbench.trace import Trace


def gold_query(question: Question) -> Query:
    """The decomposition of a question as patterns, with variables for the answers of its steps."""

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
    similarity = NameSimilarity(cached(wb.encoder()).encode, aliases)
    asked = [question for question in data.questions if question.answers]
    right, exact, seconds = [], 0, []
    for question in asked:
        started = time.perf_counter()
        proof = execute(gold_query(question), facts, similarity)
        seconds.append(time.perf_counter() - started)
        said = proof.answers[0].item if proof.answers else ""
        right.append((accuracy(said, question.answers), exact_match(said, question.answers)))
        exact += bool(proof.bindings) and all(match.exact for match in proof.bindings[0].matches)
        if not right[-1][0]:
            print(f"  wrong: {question.question} said {said!r}, right {question.answers[0]!r}, broken {proof.broken}")
    n = len(asked)
    seconds.sort()
    accurate, same = (sum(scores) / n for scores in zip(*right))
    print(f"gold graph, {n} questions: accuracy {accurate:.3f}, em {same:.3f}")
    print(f"exact {exact / n:.3f}; median {1000 * seconds[n // 2]:.0f} ms, longest {1000 * seconds[-1]:.0f} ms")


def marks(folder: str, index: wb.Index, method: str, k: int) -> None:
    """Marks on the answers of two readers, on gold answers, and on three kinds of deliberately wrong ones."""
    data = wb.load(folder)
    way, direct, own = wb.method(method, index), wb.reader("direct"), wb.reader("sparql-exec", index=index)
    golds = [question.answers[0] for question in data.questions if question.answers]
    rng, counts, seconds = random.Random(SEED), defaultdict(Counter), []
    for question in data.questions:
        evidence = way.retrieve(question.question, k=k, trace="off")
        titles = [passage.title for passage, _ in evidence.passages]
        facts = facts_of(evidence, index)
        given = {
            "direct": direct.read(question.question, evidence, trace=Trace("off")).text,
            "sparql-exec": own.read(question.question, evidence, trace=Trace("off")).text,
            "gold": next(iter(question.answers), ""),
            "wrong: another question's": rng.choice(golds),
            "wrong: a title of the context": rng.choice(titles),
            "wrong: an object of the context": rng.choice(facts).object if facts else "",
        }
        for kind, text in given.items():
            right = bool(accuracy(text, question.answers))
            if not text or (right and kind.startswith("wrong")):
                continue
            started = time.perf_counter()
            proof = verify(Answer(question.question, text), evidence, index)
            seconds.append(time.perf_counter() - started)
            counts[kind].update(["answers", proof.mark] + ["right", f"right, {proof.mark}"] * right)
    print(f"{folder}, {len(data.questions)} questions, {way.label}, k={k}")
    for kind, found in counts.items():
        shown = ", ".join(f"{name} {found[name]}" for name in SHOWN)
        print(f"  {kind:32} {shown}")
    seconds.sort()
    print(f"  a check: median {1000 * seconds[len(seconds) // 2]:.0f} ms, with the query written by the rules")


SEED = 5
SHOWN = ("answers", "right", "verified", "right, verified", "contradicted", "right, contradicted", "unsupported")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gold", "marks"))
    parser.add_argument("data", nargs="?", default="meridian")
    parser.add_argument("--index")
    parser.add_argument("--method", default="hipporag2")
    parser.add_argument("--k", type=int, default=10)
    args = parser.parse_args()
    if args.what == "gold":
        gold()
    elif not args.index:
        parser.error("marks needs --index, the folder of an index of the data")
    else:
        marks(args.data, wb.Index.open(args.index), args.method, args.k)
