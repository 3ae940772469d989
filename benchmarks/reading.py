"""How well the `direct` reader answers by rules: with the gold passages, a method's best ones, or too few passages.

    python benchmarks/reading.py DATA [--index INDEX --method hipporag2 | --rankings FILE] [--k 5] [--half even|odd]

Prints a row for each context: EM and F1 over the answerable questions, the share of them with all gold passages in the
context, the number of abstentions on them, and on the unanswerable ones. `stripped` tests abstention on any data set:
the gold and the best passages without those that contain an answer or an alias, so that an abstention is right
(comparisons and yes or no are excluded, because the question contains their answers). `--grounds` tries thresholds for
`answering.ENOUGH`. Rankings: {"questions": [{"id", "ranking": [passage id]}]}. `--half` keeps every other question: one
half contains everything that was inspected while the rules were written, and the other is only scored.
"""

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import workbench as wb
from workbench.measures.answers import exact_match, f1
from workbench.measures.ranking import all_gold
from workbench.records import Evidence, Passage, Question, Scored
from workbench.rules import answering

Context = Callable[[Question], list[Passage]]


def contexts(data, ranked: dict[str, list[str]], k: int) -> dict[str, Context]:
    """The contexts of a question, by name."""
    passages = {passage.id: passage for passage in data.passages}

    def gold(question: Question) -> list[Passage]:
        return [passages[i] for i in question.support]

    def best(question: Question) -> list[Passage]:
        return [passages[i] for i in ranked[question.id][:k]]

    def stripped(question: Question) -> list[Passage]:
        ids = dict.fromkeys((*question.support, *ranked.get(question.id, ())))
        return [passages[i] for i in ids if not holds(passages[i], question.answers)][:k]

    kinds: dict[str, Context] = {"gold": gold} if any(q.support for q in data.questions) else {}
    return {**kinds, **({f"top {k}": best} if ranked else {}), "stripped": stripped}


def holds(passage: Passage, answers: Sequence[str]) -> bool:
    text = passage.content.casefold()
    return any(re.search(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)", text) for answer in answers)


def row(name: str, context: Context, questions: Sequence[Question], k: int) -> dict:
    """The figures of one kind of context. `stripped` includes only questions that can be stripped: no comparison, no
    yes or no."""
    if name in ("gold", "stripped"):
        questions = [q for q in questions if q.answers]
    if name == "stripped":
        questions = [q for q in questions if "comparison" not in (q.type or "") and q.answers[0] not in ("yes", "no")]
    reader = wb.reader(f"direct[k={max(k, 10)}]")
    answers, seconds = [], []
    for question in questions:
        shown = context(question)
        evidence = Evidence(question.question, name, "none", tuple(Scored(passage, 1.0) for passage in shown))
        started = time.process_time()
        answers.append((question, shown, reader.read(question.question, evidence)))
        seconds.append(time.process_time() - started)
    able = [] if name == "stripped" else [one for one in answers if one[0].answers]
    unable = answers if name == "stripped" else [one for one in answers if not one[0].answers]
    with_gold = [one for one in able if one[0].support]
    return {
        "context": name,
        "answerable": len(able),
        "em": _mean(exact_match(said.text, q.answers) for q, _, said in able),
        "f1": _mean(f1(said.text, q.answers) for q, _, said in able),
        "gold in context": _mean(all_gold([p.id for p in shown], q.support, len(shown)) for q, shown, _ in with_gold),
        "refused": _mean(said.abstained for _, _, said in able),
        "unanswerable": len(unable),
        "rightly refused": _mean(said.abstained for _, _, said in unable),
        "cpu ms": _mean(1000 * s for s in seconds),
    }


def _mean(values) -> float | None:
    values = list(values)
    return round(statistics.fmean(values), 3) if values else None


def rankings(options, data) -> dict[str, list[str]]:
    if options.rankings:
        return {q["id"]: q["ranking"] for q in json.loads(options.rankings.read_text())["questions"]}
    if not options.index:
        return {}
    method = wb.method(options.method, wb.Index.open(options.index))
    return {
        question.id: [i for i, _ in method.retrieve(question.question, k=20, trace="off").ranking]
        for question in data.questions
    }


def measure(options) -> list[dict]:
    data = wb.load(options.data)
    questions = data.questions[{"even": 0, "odd": 1, None: 0}[options.half] :: 2 if options.half else 1]
    kinds = contexts(data, rankings(options, data), options.k)
    rows = []
    for ground in options.grounds or [answering.ENOUGH]:
        answering.ENOUGH = ground
        rows += [{"ground": ground, **row(name, context, questions, options.k)} for name, context in kinds.items()]
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", help="a bundled name or a data folder")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--method", default="hipporag2")
    parser.add_argument("--rankings", type=Path)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--grounds", type=float, nargs="*")
    for line in measure(parser.parse_args()):
        print(json.dumps(line))
