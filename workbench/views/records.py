"""The views of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.display import html, text
from workbench.llm.engine import no_model, whose_words
from workbench.records import Answer, Entity, Evidence, Passage, Path, Question, Reading, Report, Triple
from workbench.text import CLIP, clean, counted
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.contexts import excerpt

SHOWN = 10  # rows of a long list in a terminal and unfolded in a notebook
REPLY = 600  # characters of a reply that could not be read
_LINE = 100  # characters of a text on one line of a terminal
_ID = 64  # characters of an id on such a line; LightRAG's tell the chunks of a document apart by their ends


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
    steps = table(
        ["hop", "question", "answer", "passage"],
        [
            (hop, *(clean(step.get(part, ""), NAME) for part in ("question", "answer", "support")))
            for hop, step in enumerate(question.decomposition or (), 1)
        ],
    )
    gold = " · ".join(esc(answer, NAME) for answer in question.answers) or '<span class="q">not in the corpus</span>'
    return page(
        f"<b>{esc(question.question)}</b> <span class='tag'>{esc(question.id, NAME)}</span> ",
        f"<span class='q'>{esc(_kind(question), NAME)}</span>",
        details(
            "gold",
            f"<p>{gold}</p><p class='q'>{esc(', '.join(question.support))}</p>",
            steps if question.decomposition else "",
        ),
    )


@text.register
def _(entity: Entity) -> str:
    return f"Entity {clean(entity.name, _LINE)}" + (f" ({clean(entity.type, 40)})" if entity.type else "")


@text.register
def _(report: Report) -> str:
    about = f"{counted(len(report.passages), 'passage')}, level {report.level}"
    return f"Report {clean(report.id, NAME)} ({about}): {clean(report.title, _LINE)} | {clean(report.text, _LINE)}"


@text.register
def _(evidence: Evidence) -> str:
    method, scale = clean(evidence.method, NAME), clean(evidence.scale, NAME)
    lines = [f"Fall-back: {clean(evidence.fallback, 200)}"] if evidence.fallback else []
    lines += [f"Evidence for {clean(evidence.question, 200)!r} by {method} (scale: {scale})"]
    if by := said_by(evidence.trace.engines if evidence.trace else ()):
        lines.append(f"  {by}")
    for rank, (passage, score) in enumerate(evidence.passages[:SHOWN], 1):
        lines.append(
            f"  {rank:3} {number(score):>9}  {clean(passage.id, _ID)}  {clean(passage.title or passage.text, 70)}"
        )
    if len(evidence.passages) > SHOWN:
        lines.append(f"  … {counted(len(evidence.passages) - SHOWN, 'more passage')}")
    if evidence.facts:
        lines.append("  facts: " + "; ".join(text(triple) for triple, _ in evidence.facts[:5]))
    if evidence.entities:
        lines.append("  entities: " + ", ".join(clean(entity.name, 60) for entity, _ in evidence.entities[:SHOWN]))
    if evidence.reports:
        lines.append("  reports: " + "; ".join(clean(r.title or r.text, 60) for r, _ in evidence.reports[:5]))
    if evidence.selected is not None:
        lines.append(f"  chosen for the reader: the first {evidence.selected}")
    return "\n".join(lines)


@html.register
def _(evidence: Evidence) -> str:
    rows = [(rank, score, Markup(passage_line(passage))) for rank, (passage, score) in enumerate(evidence.passages, 1)]
    lists = (
        ("fact", "facts", ["fact", "score"], [(Markup(triple_line(one)), score) for one, score in evidence.facts]),
        (
            "entity",
            "entities",
            ["entity", "type", "score"],
            [(e.name, e.type, score) for e, score in evidence.entities],
        ),
        ("path", "paths", ["path", "score"], [(_chain(path), score) for path, score in evidence.paths]),
        ("report", "reports", ["report", "score"], [(Markup(passage_line(r)), score) for r, score in evidence.reports]),
    )
    chosen, more = evidence.selected, len(rows) - SHOWN
    headers = ["rank", clean(evidence.scale, NAME), "passage"]
    return page(
        notes_part([f"fall-back: {evidence.fallback}"] if evidence.fallback else []),
        asked_part(evidence.question, evidence.method, evidence.trace.engines if evidence.trace else ()),
        f"<p class='q'>chosen for the reader: the first {chosen}</p>" if chosen is not None else "",
        table(headers, rows[:SHOWN]),
        details(counted(more, "more passage"), table(headers, rows[SHOWN:])) if more > 0 else "",
        *(details(counted(len(rows), one, many), table(heads, rows)) for one, many, heads, rows in lists if rows),
        details("context as the method lays it out", html(evidence.context)) if evidence.context else "",
        details("trace", html(evidence.trace)) if evidence.trace else "",
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
    failure = failure_of(answer)
    shown = "<i>abstained: no answer was found in the context</i>" if answer.abstained else f"<b>{esc(answer.text)}</b>"
    unread, short = unread_reply(answer), getattr(answer, "short", None)
    return page(
        f"<p class='bad'>{esc(failure)}</p>" if failure else "",
        f"<p>{esc(answer.question)} <span class='tag'>{esc(_by(answer), NAME)}</span></p>",
        "" if failure else f"<p>{shown}</p>",
        f"<p class='q'>made short for EM and F1: {esc(short)}</p>" if short else "",
        f"<p class='q'>{esc(reading_text(answer.reading), 400)}</p>" if answer.reading else "",
        details("the model replied", f"<pre>{esc(unread, REPLY)}</pre>", open=True) if unread else "",
        details("thought", f"<pre>{_thought(answer)}</pre>") if answer.thought and not unread else "",
        details(f"query: {esc(answer.proof.mark or 'executed', NAME)}", html(answer.proof)) if answer.proof else "",
        f"<p class='q'>from {esc(', '.join(answer.passages))}</p>" if answer.passages else "",
        details("trace", html(answer.trace)) if answer.trace else "",
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
    by = f"<p class='q'>{esc(said)}</p>" if (said := said_by(engines)) else ""
    asked = f"<p><b>{esc(question)}</b> <span class='tag'>{esc(method, NAME)}</span></p>"
    return f"{asked}{by}{notes_part(notes, failure)}"


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
