"""Quality by the number of passages read, over the same evidence ("Beyond Static Retrieval", figure 4c)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tqdm.auto import tqdm

from workbench import measures
from workbench.analyses.base import Analysis, mean_of
from workbench.errors import EngineError, SettingError
from workbench.evaluation.evaluate import in_order
from workbench.llm.engine import Engine
from workbench.methods import Method
from workbench.reading.direct import Direct
from workbench.records import Evidence, Question

KS = (1, 3, 5, 10, 20, 50, 100)


def quality_against_k(
    questions: Iterable[Question],
    method: Method,
    reader_engine: Engine,
    ks: Sequence[int] = KS,
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
