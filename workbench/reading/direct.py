"""Reader `direct`: the first passages, one call, a short answer (HippoRAG 2, spec A7).

A method that chooses how many passages are read (`Evidence.selected`, as BDTR does) is taken at its word."""

from __future__ import annotations

from typing import Any

from workbench.errors import SettingError
from workbench.llm.engine import Engine, RulesEngine
from workbench.reading.render import Context, render
from workbench.records import Answer, Evidence, Record
from workbench.steps import answer as step
from workbench.trace import Trace


class Direct(Record):
    """Reads the best `k` passages, or those that the method selected, of at most `budget` cl100k tokens together."""

    name = "direct"
    steps = (step.STEP.name,)

    def __init__(self, engine: Engine | None = None, *, k: int = 5, budget: int | None = None):
        if not isinstance(k, int) or k < 1:
            raise SettingError(f"k={k!r}; it should be a whole number of passages from 1 on")
        self.engine, self.k, self.budget = engine or RulesEngine(), k, budget
        settings = [f"k={k}"] * (k != 5) + [f"budget={budget}"] * (budget is not None)
        self.label = f"direct[{','.join(settings)}]" if settings else "direct"

    def context(self, evidence: Evidence) -> Context:
        """What `read` shows to the engine."""
        return render(evidence, self.k if evidence.selected is None else evidence.selected, self.budget)

    def read(self, question: str, evidence: Evidence, *, trace: Trace | None = None) -> Answer:
        """The answer. Its trace is the evidence's, with the reading added, unless another is given."""
        trace = trace if trace is not None else evidence.trace if evidence.trace is not None else Trace("off")
        context = self.context(evidence)
        asked = step.Input(question, context.text, tuple((p.title, p.text) for p in context.passages), context.ends)
        with trace.span("CHAIN", self.label, question=question, tokens=context.tokens) as span:
            (result,) = self.engine.run(step.STEP, [asked], trace=trace)
            answer = Answer(
                question,
                reader=self.label,
                engine=self.engine.name,
                passages=tuple(passage.id for passage in context.passages),
                trace=trace,
                **_said(result),
            )
            span.set(answer=answer.text, abstained=answer.abstained)
        return answer

    def __repr__(self) -> str:
        return f"{self.label} with engine {self.engine.name}"


def _said(result) -> dict[str, Any]:
    if result.failure:
        return {"text": "", "failure": result.failure}
    said = result.value
    return {"text": said.answer, "abstained": said.abstained, "thought": said.thought}
