"""Verbs that ask one question."""

from __future__ import annotations

from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, fields_of, verb, warning_lines
from workbench.views.base import clean


@verb
def retrieve(
    folder: opt.FolderOrName,
    question: str,
    method: opt.Method = "hipporag2",
    model: opt.Model = opt.MODEL,
    k: opt.K = 10,
    budget: opt.Budget = None,
    trace: opt.Traced = False,
    encoder: opt.OwnEncoder = None,
) -> Output:
    """The passages that a method finds for a question, and why."""
    import workbench as wb

    folder = opening.at_hand(folder, model, method)
    runner = opening.engine(model, vectors=opening.asks_for_vectors(folder, encoder))
    opened = opening.index(folder, model, encoder)
    evidence = wb.method(method, opened, runner).retrieve(question, k, budget=budget)
    shown = [*warning_lines(opened.warnings), evidence]
    whole = {**_evidence(evidence, trace), "warnings": list(opened.warnings)}
    return Output(whole, [*shown, evidence.trace] if trace else shown)


@verb
def ask(
    folder: opt.FolderOrName,
    question: str,
    method: opt.Method = "hipporag2",
    reader: opt.Reader = "direct",
    of_reader: opt.OfReader = opt.OF_READER,
    model: opt.Model = opt.MODEL,
    k: opt.K = 10,
    budget: opt.Budget = None,
    trace: opt.Traced = False,
    encoder: opt.OwnEncoder = None,
) -> Output:
    """The answer to a question, with the passages that it was read from."""
    import workbench as wb
    from workbench.llm.engine import no_model, whose_words
    from workbench.views.excerpts import excerpt
    from workbench.views.records import REPLY, failure_of, unread_reply

    folder = opening.at_hand(folder, model, method, reader)
    runner = opening.engine(model, vectors=opening.asks_for_vectors(folder, encoder))
    index = opening.index(folder, model, encoder)
    evidence = wb.method(method, index, runner).retrieve(question, k, budget=budget)
    answer = opening.reader(reader, runner, index, of_reader).read(question, evidence)
    flaw, unread = answer.reading.flaw if answer.reading else "", unread_reply(answer)
    mark = answer.proof.mark if answer.proof else None
    failure = failure_of(answer)
    said = "abstained: not found in the passages" if answer.abstained else answer.text
    said = f"failed: {failure}" if failure else said
    by = escape(whose_words(answer.engines)) + ", not by a language model" * all(map(no_model, answer.engines))
    shown = [f"[bold]{escape(clean(said))}[/] [dim](by {by})[/]"]
    lacking = [*index.warnings, *([f"{evidence.method} fell back: {evidence.fallback}"] if evidence.fallback else [])]
    shown = [*shown, *warning_lines(lacking)] if failure else [*warning_lines(lacking), *shown]
    if unread:
        shown.append(f"The model replied: {escape(clean(unread, REPLY))}")
    if mark:
        shown.append(f"{mark} by the facts that its passages state")
    if answer.thought and not unread:
        shown.append(escape(str(excerpt(answer.thought, answer.text, 400))))
    fields = fields_of(answer, "abstained", "thought", "failure", flaw=flaw, reply=unread, read=list(answer.passages))
    whole = {"answer": answer.text, **fields, "engine": runner.name, "mark": mark, "warnings": lacking}
    whole |= _evidence(evidence, trace)
    return Output(whole, [*shown, evidence, answer.trace] if trace else [*shown, evidence], code=1 if failure else 0)


def _evidence(evidence, with_trace: bool) -> dict:
    shown = fields_of(evidence, "question", "method", "scale", "fallback")
    shown |= {
        "passages": [fields_of(p, "id", "title", "text", score=score) for p, score in evidence.passages],
        "facts": [
            {"fact": list(t.members), "passages": list(t.passages), "score": score} for t, score in evidence.facts
        ],
        "entities": [fields_of(e, "name", score=score) for e, score in evidence.entities],
        "paths": [fields_of(p, "nodes", "relations", "passages", "verdict", score=s) for p, s in evidence.paths],
        "reports": [fields_of(r, "id", "title", "text", score=score) for r, score in evidence.reports],
        "selected": evidence.selected,
    }
    if with_trace:
        names = ("id", "parent", "kind", "step", "inputs", "outputs", "scores")
        shown["trace"] = [fields_of(event, *names) for event in evidence.trace]
    return shown
