"""The views of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.display import html, text
from workbench.llm.engine import no_model, whose_words
from workbench.records import Answer, Entity, Evidence, Passage, Path, Question, Reading, Report, Triple
from workbench.text import CLIP, clean, counted
from workbench.views.base import NAME, Markup, details, esc, fold, long_table, page, quiet, table
from workbench.views.contexts import excerpt

SHOWN = 10  # rows of a long list in a terminal and unfolded in a notebook
REPLY = 600  # characters of a reply that could not be read
_LINE = 100  # characters of a text on one line of a terminal


html.register(Passage, lambda passage: page(passage_line(passage)))
html.register(Triple, lambda triple: page(triple_line(triple)))
html.register(Path, lambda path: page(esc(_chain(path))))
html.register(Report, lambda report: page(passage_line(report)))
html.register(Reading, lambda reading: page(f"<p>{esc(reading_text(reading), 400)}</p>"))
text.register(Triple, lambda triple: " — ".join(clean(member, _LINE) for member in triple.members))
text.register(Path, lambda path: clean(_chain(path), 4 * _LINE))
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


@html.register
def _(question: Question) -> str:
    gold = " · ".join(esc(answer, NAME) for answer in question.answers) or '<span class="q">not in the corpus</span>'
    return page(
        f"<b>{esc(question.question)}</b> <span class='tag'>{esc(question.id, NAME)}</span> ",
        f"<span class='q'>{esc(_kind(question), NAME)}</span>",
        details("gold", f"<p>{gold}</p>", quiet(", ".join(question.support)), steps_table(question)),
    )


def steps_table(question: Question) -> str:
    """The gold steps of a question; empty without a decomposition."""
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


@html.register
def _(evidence: Evidence) -> str:
    rows = [(rank, score, Markup(passage_line(passage))) for rank, (passage, score) in enumerate(evidence.passages, 1)]
    facts = [(Markup(triple_line(triple)), score) for triple, score in evidence.facts]
    entities = [(entity.name, entity.type, score) for entity, score in evidence.entities]
    paths = [(_chain(path), score) for path, score in evidence.paths]
    reports = [(Markup(passage_line(report)), score) for report, score in evidence.reports]
    chosen = evidence.selected
    return page(
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
        fold("context as the method lays it out", html(evidence.context) if evidence.context else ""),
        fold("trace", html(evidence.trace) if evidence.trace else ""),
    )


@text.register
def _(answer: Answer) -> str:
    shown = f"failure: {why}" if (why := failure_of(answer)) else "(abstained)" if answer.abstained else answer.text
    line = f"Answer to {clean(answer.question, 200)!r} by {clean(_by(answer), NAME)}: {clean(shown, 300)}"
    reply = [f"the model replied: {clean(unread, REPLY)}"] if (unread := unread_reply(answer)) else []
    reply += [str(excerpt(answer.thought, answer.text, REPLY))] if answer.thought and not unread else []
    short = [f"made short for EM and F1: {clean(shorter, 300)}"] if (shorter := getattr(answer, "short", None)) else []
    return "\n  ".join([line, *short, *reply, *(text(part) for part in (answer.reading, answer.proof) if part)])


@html.register
def _(answer: Answer) -> str:
    failure, unread, short = failure_of(answer), unread_reply(answer), getattr(answer, "short", None)
    shown = "<i>abstained: no answer was found in the context</i>" if answer.abstained else f"<b>{esc(answer.text)}</b>"
    return page(
        f"<p class='bad'>{esc(failure)}</p>" if failure else "",
        f"<p>{esc(answer.question)} <span class='tag'>{esc(_by(answer), NAME)}</span></p>",
        "" if failure else f"<p>{shown}</p>",
        quiet(f"made short for EM and F1: {short}" if short else ""),
        quiet(reading_text(answer.reading) if answer.reading else "", limit=400),
        details("the model replied", f"<pre>{esc(unread, REPLY)}</pre>", open=True) if unread else "",
        details("thought", f"<pre>{_thought(answer)}</pre>") if answer.thought and not unread else "",
        details(f"query: {esc(answer.proof.mark or 'executed', NAME)}", html(answer.proof)) if answer.proof else "",
        quiet(f"from {', '.join(answer.passages)}" if answer.passages else ""),
        fold("trace", html(answer.trace) if answer.trace else ""),
    )


def failure_of(answer: Answer) -> str:
    """Why there is no answer; empty if there is one, or if the reader abstained."""
    if answer.failure or answer.text or answer.abstained:
        return answer.failure or ""
    flaw = answer.reading.flaw if answer.reading else ""
    return f"no answer could be read off the reply: {flaw or 'it is empty'}"


def _thought(answer: Answer) -> str:
    """The thought in full, with the answer marked where it stands in it."""
    shown = excerpt(answer.thought, answer.text, CLIP)
    return esc(shown.before) + (f"<b>{esc(shown.answer)}</b>{esc(shown.after)}" if shown.answer else "")


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
    """Whose words the Steps of these engines are, where no model was asked; empty otherwise.

    >>> said_by(["rules"]), said_by(["openai:gpt-4o-mini"])
    ('Steps by rules, no language model', '')
    """
    labels = whose_words(filter(no_model, engines))
    return f"Steps by {labels}, no language model" if labels else ""


def asked_part(
    question: str, method: str, engines: Iterable[str] = (), notes: Iterable[str] = (), failure: str | None = None
) -> str:
    """The question, the method, whose words its Steps are, and notes on how it went."""
    asked = f"<p><b>{esc(question)}</b> <span class='tag'>{esc(method, NAME)}</span></p>"
    return f"{asked}{quiet(said_by(engines))}{notes_part(notes, failure)}"


def heading(shown: Any, *notes: str | None) -> str:
    """The same of what was read off a trace, with why it fell back or failed after other notes."""
    said = dict.fromkeys(filter(None, (*notes, shown.fallback, shown.failure)))
    return asked_part(shown.question, shown.method, shown.engines, said, shown.failure)


def notes_part(notes: Iterable[str], failure: str | None = None) -> str:
    """Notes; the one that is the failure is red."""
    return "".join(f"<p class='{'bad' if note == failure else 'note'}'>{esc(note, 600)}</p>" for note in notes)


def answer_line(answer: str, gold: Sequence[str] = ()) -> str:
    """What a reader answered, with the gold answers beside it; empty without an answer."""
    known = f" <span class='q'>gold: {esc(' / '.join(gold), NAME)}</span>" if gold else ""
    return f"<p><b>answer: {esc(answer)}</b>{known}</p>" if answer else ""


def passage_line(passage: Passage | Report, mark: str = "") -> str:
    return details(
        f"{esc(passage.title or passage.text[:80], 200)} <span class='q'>{esc(passage.id, 80)}</span>{mark}",
        f"<p>{esc(passage.text)}</p>",
    )


def passage_cell(name: str, passages: Mapping[str, Passage] | None, gold: Sequence[str] = ()) -> Markup:
    """A passage by its id: its title and text where it is known; gold ones are marked."""
    passage = (passages or {}).get(name)
    mark = " <span class='tag'>gold</span>" if name in gold else ""
    return Markup(passage_line(passage, mark) if passage else esc(name, NAME) + mark)


def triple_line(triple: Triple) -> str:
    where = f" <span class='q'>{esc(', '.join(triple.passages), 200)}</span>" if triple.passages else ""
    return fact(triple) + where


def fact(triple: Triple) -> str:
    """Subject, relation and object, without the stating passages."""
    subject, relation, obj = (esc(member, 300) for member in triple.members)
    return f"{subject} — <i>{relation}</i> — {obj}"


def _chain(path: Path) -> str:
    hops = [f" —{relation}→ {node}" for relation, node in zip(path.relations, path.nodes[1:])]
    judged = f" ({path.verdict})" if path.verdict else ""
    return (path.nodes[0] if path.nodes else "(empty path)") + "".join(hops) + judged
