"""What a judge says of the claims of a row: the measures of `workbench.measures.graphrag_bench`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from workbench.errors import EngineError
from workbench.llm.engine import Engine
from workbench.llm.step import Step
from workbench.measures import Outcome
from workbench.measures.graphrag_bench import answer_accuracy, factual_correctness
from workbench.records import Question
from workbench.steps import claims
from workbench.trace import Trace

STEPS = (claims.STATE.name, claims.SUPPORT.name, claims.RATE.name)
Similarity = Callable[[str, str], float]


class _Unjudged(Exception):
    """A Step failed, so no measure that needs its output has a value."""


def judged(
    judge: Engine, question: Question, outcome: Outcome, names: Collection[str], similarity: Similarity, trace: Trace
) -> dict[str, Any]:
    """Measure → value, None where it is undefined or the judge failed, and the `failure`. Each request is made once,
    whatever rests on it, and none that no measure of `names` needs. An answer without claims has no faithfulness. Of
    several gold answers the first has the claims: the others are its aliases."""
    values: dict[str, Any] = {}
    failures: dict[str, None] = {}
    measures = _measures(judge, question, outcome, similarity, trace)
    for name in names:
        try:
            values[name] = measures[name]()
        except _Unjudged as error:
            values[name] = None
            failures[str(error)] = None
    return {**values, "failure": "; ".join(failures) or None}


def _measures(
    judge: Engine, question: Question, outcome: Outcome, similarity: Similarity, trace: Trace
) -> dict[str, Callable[[], float | None]]:
    answer, gold = "" if outcome.lost else outcome.stated or "", next(iter(question.answers), "")
    text_read, context = outcome.shown or "", outcome.context or ""

    @cache
    def claims_of(text: str) -> tuple[str, ...]:
        return tuple(_ask(judge, claims.STATE, claims.Text(question.question, text), trace).claims if text else ())

    @cache
    def supported(text: str, by: str) -> int:
        """How many of the claims of a text another one supports."""
        stated = claims_of(text)
        if not stated or not by:
            return 0
        support = _ask(judge, claims.SUPPORT, claims.SupportInput(question.question, stated, by), trace)
        return len({number for number in support.supported if 1 <= number <= len(stated)})

    def share(text: str, by: str) -> float | None:
        return supported(text, by) / len(claims_of(text)) if claims_of(text) else None

    def accuracy() -> float | None:
        if not gold or not answer:
            return 0.0 if gold else None
        tp, fn = supported(answer, gold), len(claims_of(gold)) - supported(gold, answer)
        return answer_accuracy(factual_correctness(tp, len(claims_of(answer)) - tp, fn), similarity(answer, gold))

    def relevance() -> float:
        rated = claims.Text(question.question, context)
        return _ask(judge, claims.RATE, rated, trace).rating / 2 if context else 0.0

    return {
        "answer_accuracy": accuracy,
        "faithfulness": lambda: share(answer, text_read),
        "evidence_coverage": lambda: share(gold, answer),
        "evidence_recall": lambda: share(gold, context),
        "context_relevance": relevance,
    }


def _ask(judge: Engine, step: Step, value: Any, trace: Trace) -> Any:
    """The output of a Step; raises :class:`_Unjudged` where it failed."""
    with trace.span("EVALUATOR", step.name, engine=judge.name) as span:
        try:
            (result,) = judge.run(step, [value], trace=trace)
            failure = result.failure
        except EngineError:
            raise
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        if failure:
            span.set(failure=failure)
            raise _Unjudged(f"{step.name}: {failure}")
    return result.value
