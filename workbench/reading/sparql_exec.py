"""Reader `sparql-exec`: the question as triple patterns, executed on the retrieved facts. The only prompt is the one
for the patterns.

The answer is what the query binds, with the passages that state the facts it was matched with; `Answer.proof` has the
bindings, and where the chain breaks if nothing is bound. Then the reader abstains, or asks the prompt of `retry`. With
`route` the query takes the place of the prompt `sparql`: other kinds of question are asked with `cot`, and what
abstains is tried the other way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.errors import SettingError
from workbench.llm.engine import Engine
from workbench.reading import direct
from workbench.reading.base import answer_of
from workbench.reading.prompts import PROMPTS
from workbench.reading.render import Context, Contexts
from workbench.records import Answer, Evidence, Proof, Reading
from workbench.settings import validated
from workbench.sparql.proof import executed, query_for
from workbench.steps import write_patterns
from workbench.trace import Trace


class SparqlExec(direct.Sparql):
    """Executes the question as a query on the facts that passages of the context state: as many as fit into `budget`,
    without those that a compressor drops.

    `verified`: the reader abstains from what it cannot verify (`workbench.sparql.verify`). With `mode=open` the prompt
    `knowledge` answers where the query does not, unless `retry` names another."""

    name = "sparql-exec"
    paper = "none: the query of sparql, carried out"
    reads_index = True

    @validated
    class Settings(direct.Sparql.Settings):
        verified: bool = False

        def __post_init__(self):
            if self.prompt != "sparql" or self.check:
                raise SettingError("sparql-exec has its own prompt and its own check; leave out prompt and check")

    def __init__(self, engine: Engine | None = None, *, index=None, **settings):
        if index is None:
            raise SettingError(
                f"the reader {self.name!r} looks up facts in an index; pass it: wb.reader({self.name!r}, index=index)"
            )
        super().__init__(engine, index=index, **settings)

    def read(
        self, question: str, evidence: Evidence, *, contexts: Contexts | None = None, trace: Trace | None = None
    ) -> Answer:
        """The answer, with the passages that prove it."""
        answer = super().read(question, evidence, contexts=contexts, trace=trace)
        return replace(answer, passages=proving(answer.proof)) if answer.reading.prompt == self.name else answer

    def answer(self, question: str, evidence: Evidence, context: Context, trace: Trace) -> Answer:
        chosen = self._route(question, trace)
        first = self.name if chosen.prompt == "sparql" else chosen.prompt
        answer, second = self._by(first, question, evidence, context, trace), self._second(first)
        if answer.abstained and second:
            with trace.span("CHAIN", "retry") as span:
                span.set(prompt=second)
                again = self._by(second, question, evidence, context, trace)
            answer = replace(again, proof=again.proof or answer.proof, reading=replace(again.reading, retried=True))
        return replace(answer, reading=replace(answer.reading, kind=chosen.kind, invalid=chosen.invalid))

    def _second(self, first: str) -> str | None:
        """What is tried after an abstention: the prompt of `retry`; by itself the other way with routing, and
        `knowledge` in the mode `open`."""
        if self.settings.retry in PROMPTS:
            return self.settings.retry
        other = "cot" if first == self.name else self.name
        return (other if self.settings.route else _fallback(self.settings)) if self.settings.retry == "auto" else None

    def _by(self, prompt: str, question: str, evidence: Evidence, context: Context, trace: Trace) -> Answer:
        """The answer by one way: the executed query, or a prompt."""
        reading = Reading(prompt, compressor=self.compressor.label if self.compressor else "", tokens=context.tokens)
        if prompt != self.name:
            extracted = self._ask(prompt, self._given(question, context), trace)
            return answer_of(question, extracted, replace(reading, flaw=extracted.flaw))
        proof = self._executed(question, evidence, context, trace)
        reading = replace(reading, flaw=proof.flaw or "")
        bound = proof.answer and (proof.mark == "verified" or not self.settings.verified)
        text = proof.answer if bound else ""
        return Answer(question, text, abstained=not bound, thought=thought(proof), reading=reading, proof=proof)

    def _executed(self, question: str, evidence: Evidence, context: Context, trace: Trace) -> Proof:
        titles = [title for title, _ in context.texts if title]
        query = query_for(question, context.text, titles, self.engine, trace)
        read = replace(evidence, context=context.graph) if context.graph is not None else evidence
        ids = [passage.id for passage in context.passages]
        return executed(query, read, self.index, trace, passages=ids)

    @classmethod
    def asked(cls, settings: Settings) -> Iterator[str]:
        yield write_patterns.STEP.name
        if settings.route:
            if settings.router == "model":
                yield "classify_question"
            yield PROMPTS["cot"].step.name
        if settings.retry in PROMPTS:
            yield PROMPTS[settings.retry].step.name
        elif settings.retry == "auto" and not settings.route and (fallback := _fallback(settings)):
            yield PROMPTS[fallback].step.name


def _fallback(settings: SparqlExec.Settings) -> str | None:
    """A query has no knowledge of its own: in the mode `open`, a prompt is asked if it binds nothing."""
    return "knowledge" if settings.mode == "open" else None


def proving(proof: Proof) -> tuple[str, ...]:
    """Ids of the passages that state the facts of the best binding, or without one, of the partial chain."""
    matches = proof.bindings[0].matches if proof.bindings else proof.partial
    return tuple(dict.fromkeys(id for match in matches for id in match.fact.passages))


def thought(proof: Proof) -> str:
    """The query, and hop by hop the facts that it was matched with."""
    if proof.flaw:
        return f"No query was carried out: {proof.flaw}."
    matches = proof.bindings[0].matches if proof.bindings else proof.partial
    lines = [" ".join(match.fact.members) for match in matches]
    if proof.broken is not None:
        lines.append(f"No fact matches: {' '.join(proof.patterns[proof.broken - 1].members)}")
    return "\n".join([proof.query, *lines])
