"""What more passages bring ("Beyond Static Retrieval"): quality by the number read, over the same evidence (figure 4c),
and recall@k over k, from the rankings that a run keeps (figures 4a and 4b)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from tqdm.auto import tqdm

from workbench import measures
from workbench.analyses.base import Analysis, asked, cautions, known_methods, mean_of
from workbench.errors import EngineError, SettingError
from workbench.evaluation.run import Run
from workbench.llm.engine import Engine
from workbench.measures.ranking import recall
from workbench.methods import Method
from workbench.reading.direct import Direct
from workbench.records import Evidence, Question
from workbench.threads import in_order

READ = (1, 3, 5, 10, 20, 50, 100)
KS = (1, 2, 5, 10, 20, 30, 50, 100, 150, 200)


def quality_against_k(
    questions: Iterable[Question],
    method: Method,
    reader_engine: Engine,
    ks: Sequence[int] = READ,
    *,
    progress: bool = True,
) -> Analysis:
    """Retrieve once per question, and let the reader `direct` read the first K passages, for every K, regardless of the
    method's own selection. Nothing is written; a recording engine repeats no request. A failed question scores 0 and is
    counted.

    Rows: k, em, f1, read (passages really read), context_tokens, failures, n (questions with a gold answer)."""
    questions = [question for question in questions if question.answers]
    if not questions or not ks or not all(isinstance(k, int) and k > 0 for k in ks):
        raise SettingError(
            f"{len(questions)} questions with an answer, ks={list(ks)!r}; at least one of each is needed"
        )
    readers = {k: Direct(reader_engine, k=k, layout="passages") for k in sorted(set(ks))}

    def ask(question: Question) -> dict[int, measures.Outcome]:
        try:
            evidence = method.retrieve(question.question, max(ks), trace="off")
        except EngineError:
            raise
        except Exception:
            return dict.fromkeys(readers, measures.Outcome([], answer="", failed=True, read=0))
        return {k: _read(reader, question.question, evidence) for k, reader in readers.items()}

    def close() -> None:
        for engine in (method.engine, reader_engine):
            getattr(engine, "close", lambda: None)()

    workers = max(getattr(engine, "workers", 1) for engine in (method.engine, reader_engine))
    bar = tqdm(total=len(questions), desc="read", unit="question", disable=not progress)
    outcomes = []
    with bar:
        for outcome in in_order(ask, questions, workers, close):
            outcomes.append(outcome)
            bar.update()
    rows = []
    for k in readers:
        taken = {
            name: mean_of(measures.measure(name)(question, one[k]) for question, one in zip(questions, outcomes))
            for name in ("em", "f1", "read", "context_tokens")
        }
        rows.append({"k": k, **taken, "failures": sum(one[k].failed for one in outcomes), "n": len(questions)})
    notes = [f"{method.label}, read by {reader_engine.name}."]
    notes += ["Rules are no language model, and are not distracted as one is."] * (reader_engine.name == "rules")
    return Analysis("Quality against the number of passages read", tuple(rows), tuple(notes), draw="quality_against_k")


def _read(reader: Direct, question: str, evidence: Evidence) -> measures.Outcome:
    evidence = replace(evidence, selected=None)
    contexts = reader.contexts(evidence)
    context, answer = contexts.shown, reader.read(question, evidence, contexts=contexts)
    return measures.Outcome(
        [], answer.text, answer.abstained, answer.failure is not None, context.text, context.tokens,
        len(context.passages),
    )  # fmt: skip


def recall_curve(
    run: Run, questions: Iterable[Question], *, ks: Sequence[int] = KS, methods: Iterable[str] | None = None
) -> Analysis:
    """recall@k of every method. A run ranks 20 passages by default (`evaluate(…, k=200)` ranks more); recall at a
    larger k is unknown, and a note says so.

    Rows: method, k, recall (None where the run did not rank so many passages), n."""
    if not all(isinstance(k, int) and k > 0 for k in ks):
        raise SettingError(f"ks={list(ks)!r}; they should be whole numbers from 1 on")
    gold = {one: set(question.support) for one, question in asked(run, questions).items() if question.support}
    rows, cut = [], False
    for method in known_methods(run, methods):
        mine = [row for row in run.rows if row["method"] == method and row["question_id"] in gold]
        depth = _depth(run, mine)
        for k in sorted(set(ks)):
            found = [recall([one for one, _ in row["ranking"]], gold[row["question_id"]], k) for row in mine]
            rows.append({"method": method, "k": k, "recall": mean_of(found) if k <= depth else None, "n": len(found)})
        cut |= max(ks) > depth
    notes = list(cautions(run))
    if not gold:
        notes.append("No question has gold passages, so recall is not defined.")
    if cut:
        limit = f"k={run.config['k']}" + (f", budget={run.config['budget']}" if run.config["budget"] else "")
        notes.append(f"The run ranked with {limit}; for the rest of the curve evaluate again with k={max(ks)}.")
    return Analysis("recall@k", tuple(rows), tuple(notes), draw="recall_curve")


def _depth(run: Run, rows: Sequence[dict]) -> float:
    """The largest k up to which the rankings are known; infinite if the method had no more to rank."""
    lengths = [len(row["ranking"]) for row in rows if row["failure"] is None]
    if run.config["budget"] is not None:  # a ranking ends where the budget does
        return min(lengths, default=0)
    return inf if all(length < run.config["k"] for length in lengths) else run.config["k"]
