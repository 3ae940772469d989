"""The views of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.display import text
from workbench.llm.engine import no_model, whose_words
from workbench.records import Answer, Entity, Evidence, Passage, Path, Question, Reading, Report, Triple
from workbench.text import CLIP, clean, counted
from workbench.views.contexts import excerpt
from workbench.views.parts import (
    NAME,
    Part,
    code,
    details,
    faint,
    fold,
    group,
    italic,
    line,
    long_table,
    quiet,
    strong,
    table,
    tag,
    view,
    words,
)

SHOWN = 10  # rows of a long list in a terminal and unfolded in a notebook
REPLY = 600  # characters of a reply that are shown unfolded
_LINE = 100  # characters of a text on one line of a terminal


view.register(Path, lambda path: words(_chain(path)))
view.register(Reading, lambda reading: line(reading_text(reading), limit=400))
text.register(Triple, lambda triple: " — ".join(clean(member, _LINE) for member in triple.members))
text.register(Reading, lambda reading: f"Reading: {clean(reading_text(reading), 400)}")


@text.register
def _(passage: Passage) -> str:
    return f"Passage {clean(passage.id, NAME)}: {clean(passage.title, _LINE)} | {clean(passage.text, _LINE)}"


@text.register
def _(question: Question) -> str:
    kind = _kind(question)
    return f"Question {clean(question.id, NAME)}: {clean(question.question, 300)}" + (
        f" [{clean(kind, NAME)}]" if kind else ""
    )


@view.register
def _(question: Question) -> Part | None:
    gold = words(*question.answers, sep=" · ", limit=NAME) if question.answers else faint("not in the corpus")
    return group(
        words(strong(question.question), tag(question.id, limit=NAME), faint(_kind(question), limit=NAME)),
        details("gold", line(gold), quiet(", ".join(question.support)), steps_table(question)),
    )


def steps_table(question: Question) -> Part | None:
    """The gold steps of a question; None without a decomposition."""
    rows = [
        (hop, *(step.get(part, "") for part in ("question", "answer", "support")))
        for hop, step in enumerate(question.decomposition or (), 1)
    ]
    return table(["hop", "question", "answer", "passage"], rows, NAME)


@text.register
def _(entity: Entity) -> str:
    return f"Entity {clean(entity.name, _LINE)}" + (f" ({clean(entity.type, 40)})" if entity.type else "")


@text.register
def _(report: Report) -> str:
    about = f"{counted(len(report.passages), 'passage')}, level {report.level}"
    return f"Report {clean(report.id, NAME)} ({about}): {clean(report.title, _LINE)} | {clean(report.text, _LINE)}"


@view.register
def _(evidence: Evidence) -> Part | None:
    rows = [(rank, score, passage_line(passage)) for rank, (passage, score) in enumerate(evidence.passages, 1)]
    facts = [(triple_line(triple), score) for triple, score in evidence.facts]
    entities = [(entity.name, entity.type, score) for entity, score in evidence.entities]
    paths = [(_chain(path), score) for path, score in evidence.paths]
    reports = [(passage_line(report), score) for report, score in evidence.reports]
    chosen = evidence.selected
    return group(
        notes_part([f"fall-back: {evidence.fallback}"] if evidence.fallback else []),
        asked_part(evidence.question, evidence.method, evidence.trace.engines if evidence.trace else ()),
        quiet("" if chosen is None else f"chosen for the reader: the first {chosen}"),
        long_table(["rank", evidence.scale, "passage"], rows, "passages", SHOWN),
        fold(counted(len(facts), "fact"), table(["fact", "score"], facts), open=len(facts) <= SHOWN),
        fold(
            counted(len(entities), "entity", "entities"),
            table(["entity", "type", "score"], entities),
            open=len(entities) <= SHOWN,
        ),
        fold(counted(len(paths), "path"), table(["path", "score"], paths)),
        fold(counted(len(reports), "report"), table(["report", "score"], reports)),
        fold("context as the method lays it out", view(evidence.context) if evidence.context else None),
        fold("trace", view(evidence.trace) if evidence.trace else None),
    )


@text.register
def _(answer: Answer) -> str:
    outcome = f"failure: {why}" if (why := failure_of(answer)) else "(abstained)" if answer.abstained else answer.text
    line = f"Answer to {clean(answer.question, 200)!r} by {clean(_by(answer), NAME)}: {clean(outcome, 300)}"
    reply = [f"the model replied: {clean(unread, REPLY)}"] if (unread := unread_reply(answer)) else []
    reply += [str(excerpt(answer.thought, answer.text, REPLY))] if answer.thought and not unread else []
    short = [f"made short for EM and F1: {clean(shorter, 300)}"] if (shorter := getattr(answer, "short", None)) else []
    return "\n  ".join([line, *short, *reply, *(text(part) for part in (answer.reading, answer.proof) if part)])


@view.register
def _(answer: Answer) -> Part | None:
    failure, unread, short = failure_of(answer), unread_reply(answer), getattr(answer, "short", None)
    outcome = italic("abstained: no answer was found in the context") if answer.abstained else strong(answer.text)
    return group(
        line(failure, look="bad"),
        line(answer.question, tag(_by(answer), limit=NAME)),
        None if failure else line(outcome),
        quiet(short and f"made short for EM and F1: {short}"),
        quiet(reading_text(answer.reading) if answer.reading else "", limit=400),
        fold("the model replied", code(unread, limit=REPLY), open=True),
        fold("thought", None if unread else _thought(answer), open=len(answer.thought) <= REPLY),
        details(["query:", clean(answer.proof.mark or "executed", NAME)], view(answer.proof)) if answer.proof else None,
        quiet(f"from {', '.join(answer.passages)}" if answer.passages else ""),
        fold("trace", view(answer.trace) if answer.trace else None),
    )


def failure_of(answer: Answer) -> str:
    """Why there is no answer; empty if there is one, or if the reader abstained."""
    if answer.failure or answer.text or answer.abstained:
        return answer.failure or ""
    flaw = answer.reading.flaw if answer.reading else ""
    return f"no answer could be read off the reply: {flaw or 'it is empty'}"


def _thought(answer: Answer) -> Part | None:
    """The whole thought, with the answer marked where it occurs."""
    thought = excerpt(answer.thought, answer.text, CLIP)
    return code(thought.before, strong(thought.answer), thought.after)


def unread_reply(answer: Answer) -> str:
    """The model's reply if it has no readable answer, otherwise empty."""
    flawed = answer.reading is not None and answer.reading.flaw and answer.proof is None and not answer.text
    return answer.reply or (answer.thought if flawed else "")


def reading_text(reading: Reading) -> str:
    """How an answer came about, in words."""
    kind = f"taken for {reading.kind}{' (the label given was none)' * reading.invalid}" if reading.kind else ""
    parts = (
        f"prompt {reading.prompt[:NAME]}",
        kind[:NAME],
        "asked again, since the first prompt abstained" if reading.retried else "",
        f"compressed by {reading.compressor[:NAME]}" if reading.compressor else "",
        f"{counted(reading.tokens, 'token')} shown" if reading.tokens is not None else "",
        f"no answer could be read off: {reading.flaw[:NAME]}" if reading.flaw else "",
    )
    return "; ".join(filter(None, parts))


def _kind(question: Question) -> str:
    hops = f"{question.hops} hop{'s' * (question.hops != 1)}" if question.hops else ""
    return ", ".join(str(part) for part in (question.type, hops) if part)


def _by(answer: Answer) -> str:
    """Reader and engines; rules and replies written by hand are labelled as such."""
    none = " and no language model" if all(map(no_model, answer.engines)) else ""
    by = f"{whose_words(answer.engines)}{none}" if answer.engines else ""
    return ", ".join(filter(None, (answer.reader, by)))


def said_by(engines: Iterable[str]) -> str:
    """A note on who answered the Steps if no model was asked; otherwise empty.

    >>> said_by(["rules"]), said_by(["openai:gpt-4o-mini"])
    ('Steps by rules, no language model', '')
    """
    labels = whose_words(filter(no_model, engines))
    return f"Steps by {labels}, no language model" if labels else ""


def asked_part(
    question: str, method: str, engines: Iterable[str] = (), notes: Iterable[str] = (), failure: str | None = None
) -> Part | None:
    """The question, the method, a note if no model answered its Steps, and notes on the retrieval."""
    title = line(strong(question), tag(method, limit=NAME))
    return group(title, quiet(said_by(engines)), notes_part(notes, failure))


def trace_heading(record: Any, *notes: str | None) -> Part | None:
    """The heading of a record read from a trace: other notes, then why the method fell back or failed."""
    remarks = dict.fromkeys(filter(None, (*notes, record.fallback, record.failure)))
    return asked_part(record.question, record.method, record.engines, remarks, record.failure)


def notes_part(notes: Iterable[str], failure: str | None = None) -> Part | None:
    """Notes, one per line; the failure is red."""
    return group(*(line(note, look="bad" if note == failure else "note", limit=600) for note in notes))


def answer_line(answer: str, gold: Sequence[str] = ()) -> Part | None:
    """The reader's answer with the gold answers beside it; None without an answer."""
    gold_part = faint("gold:", clean(" / ".join(gold), NAME)) if gold else None
    return line(strong("answer:", answer), gold_part) if answer else None


@view.register(Passage)
@view.register(Report)
def passage_line(passage: Passage | Report, mark: Part | None = None) -> Part:
    title = clean(passage.title or passage.text[:80], 200)
    return details([title, faint(passage.id, limit=80), mark], line(passage.text))


def passage_cell(name: str, passages: Mapping[str, Passage] | None, gold: Sequence[str] = ()) -> Part:
    """A passage by its id, with title and text if `passages` has it; gold passages are marked."""
    passage = (passages or {}).get(name)
    mark = tag("gold") if name in gold else None
    return passage_line(passage, mark) if passage else words(name, mark, limit=NAME)


@view.register(Triple)
def triple_line(triple: Triple) -> Part:
    return words(fact(triple), faint(", ".join(triple.passages), limit=200))


def fact(triple: Triple) -> Part:
    """Subject, relation and object, without the stating passages."""
    subject, relation, obj = triple.members
    return words(subject, "—", italic(relation, limit=300), "—", obj, limit=300)


def _chain(path: Path) -> str:
    hops = [f" —{relation}→ {node}" for relation, node in zip(path.relations, path.nodes[1:])]
    judged = f" ({path.verdict})" if path.verdict else ""
    return (path.nodes[0] if path.nodes else "(empty path)") + "".join(hops) + judged
