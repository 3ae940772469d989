"""The view of a query executed on facts: its patterns, its matches, and where the chain breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.display import html, text
from workbench.records import Binding, Match, Pattern, Proof, Triple, ranked
from workbench.text import clean
from workbench.trace import Trace
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.records import fact

SHOWN = 5  # bindings, values or hops that a view lists; the record has all
_TERM = 80  # characters of a term of a pattern
MARKS = {"verified": "✓", "contradicted": "✗", "unsupported": "?"}
MEANING = {
    "verified": "the passages state each hop in the words of the query, and nothing else fits as well",
    "contradicted": "the passages state each hop in the words of the query, which ends in another value",
    "unsupported": "the passages do not state each hop in the words of the query, or other values fit as well",
}
_HEADERS = ("hop", "pattern", "fact", "score", "how", "passages")


@html.register
def _(proof: Proof) -> str:
    return page(proof_part(proof))


@text.register
def _(proof: Proof) -> str:
    if proof.flaw:
        return f"Proof: nothing to execute, {clean(proof.flaw, NAME)}"
    found = ", ".join(f"{clean(value, 60)} ({number(score, 2)})" for value, score in proof.answers[:SHOWN])
    lines = [f"Proof{_judged(proof)}: {clean(proof.wanted, _TERM)} = {found or 'nothing'}"]
    lines += [f"  {hop}. {text(pattern)}" for hop, pattern in enumerate(proof.patterns[:SHOWN], 1)]
    lines += [f"  {text(match)}" for match in _best(proof)[:SHOWN]]
    if proof.broken is not None:
        lines.append(f"  breaks at pattern {proof.broken:d}")
    return "\n".join(lines)


@html.register
def _(binding: Binding) -> str:
    return page(_binding(binding, 1))


@text.register
def _(binding: Binding) -> str:
    values = ", ".join(f"{clean(name, _TERM)} = {clean(value, _TERM)}" for name, value in binding.values[:SHOWN])
    return f"Binding ({number(binding.score, 2)}) {values}"


@html.register
def _(match: Match) -> str:
    return page(_hops([match]))


@text.register
def _(match: Match) -> str:
    return f"{text(match.pattern)} ← {text(match.fact)} ({number(match.score, 2)}, {_how(match)})"


@html.register
def _(pattern: Pattern) -> str:
    return page(_pattern(pattern))


@text.register
def _(pattern: Pattern) -> str:
    return " ".join(clean(member, _TERM) for member in pattern.members)


def proof_part(proof: Proof) -> str:
    """The mark, the query, and its bindings hop by hop."""
    if proof.flaw:
        reason = f"<p class='bad'>nothing to execute: {esc(proof.flaw, 400)}</p>"
        return reason + (details("the query", f"<pre>{esc(proof.query)}</pre>") if proof.query else "")
    wanted = f"{esc(proof.wanted, _TERM)}{f', compared by {esc(proof.compare, NAME)}' if proof.compare else ''}"
    more = len(proof.bindings) - SHOWN
    return "".join(
        (
            mark_part(proof),
            details("the query", f"<pre>{esc(proof.query)}</pre>", open=True),
            f"<p><b>{wanted}</b> {_answers(proof)}</p>",
            *(_binding(binding, at) for at, binding in enumerate(proof.bindings[:SHOWN], 1)),
            f"<p class='q'>{more:,} more bindings</p>" if more > 0 else "",
            _broken(proof) if proof.broken is not None else "",
        )
    )


def proof_from_trace(trace: Trace) -> Proof | None:
    """The last executed query, as far as the trace records it; None if there is none."""
    outputs = next((event.outputs for event in reversed(list(trace)) if event.step == "execute"), None)
    if outputs is None:
        return None
    answers = outputs.get("answers") or ()
    return Proof(
        outputs.get("query", ""),
        tuple(Pattern(*members) for members in outputs.get("patterns") or ()),
        outputs.get("wanted", ""),
        bindings=tuple(
            Binding(tuple(one["values"].items()), tuple(map(_match_from, one["matches"])), one["score"])
            for one in outputs.get("bindings") or ()
        ),
        partial=tuple(map(_match_from, outputs.get("partial") or ())),
        broken=outputs.get("broken"),
        answers=ranked([value for value, _ in answers], [score for _, score in answers]),
        answer=outputs.get("answer", ""),
        mark=outputs.get("mark", ""),
        flaw=outputs.get("flaw"),
    )


def _match_from(match: Mapping) -> Match:
    fact = Triple(*match["fact"], tuple(match["passages"]))
    return Match(Pattern(*match["pattern"]), fact, match["score"], match["exact"], match["turned"])


def mark_part(proof: Proof) -> str:
    """The mark of the answer; empty without an answer."""
    if not proof.mark:
        return ""
    mark = f"{MARKS.get(proof.mark, '?')} {esc(proof.mark, NAME)}"
    look = "bad" if proof.mark == "contradicted" else "tag"
    answer = f" answer: <b>{esc(proof.answer, NAME)}</b>" if proof.answer else ""
    return f"<p><span class='{look}'>{mark}</span>{answer} <span class='q'>{MEANING.get(proof.mark, '')}</span></p>"


def _answers(proof: Proof) -> str:
    if not proof.answers:
        return "has no value"
    more = len(proof.answers) - SHOWN
    values = (f"{esc(value, NAME)} <span class='q'>{number(score, 2)}</span>" for value, score in proof.answers[:SHOWN])
    return f"= {' · '.join(values)}{f' and {more:,} more' if more > 0 else ''}"


def _binding(binding: Binding, at: int) -> str:
    values = ", ".join(f"{esc(name, _TERM)} = <b>{esc(value, NAME)}</b>" for name, value in binding.values[:SHOWN])
    return details(f"{values} <span class='q'>{number(binding.score, 2)}</span>", _hops(binding.matches), open=at == 1)


def _broken(proof: Proof) -> str:
    at = proof.broken
    asked = _pattern(proof.patterns[at - 1]) if 0 < at <= len(proof.patterns) else ""
    partial = f"<p class='q'>as far as it goes:</p>{_hops(proof.partial)}" if proof.partial else ""
    return f"<p class='bad'>no fact matches pattern {at:d}: {asked}</p>{partial}"


def _hops(matches: Sequence[Match]) -> str:
    rows = []
    for hop, match in enumerate(matches, 1):
        stated = clean(", ".join(match.fact.passages[:SHOWN]), NAME)
        rows.append((hop, Markup(_pattern(match.pattern)), Markup(fact(match.fact)), match.score, _how(match), stated))
    return table(_HEADERS, rows)


def _best(proof: Proof) -> Sequence[Match]:
    return proof.bindings[0].matches if proof.bindings else proof.partial


def _how(match: Match) -> str:
    return f"{'exact' if match.exact else 'alike'}{', turned round' if match.turned else ''}"


def _judged(proof: Proof) -> str:
    return f" of {clean(proof.answer, NAME)!r}, {clean(proof.mark, NAME)}" if proof.mark else ""


def _pattern(pattern: Pattern) -> str:
    """A pattern; variables are upright and bold."""
    subject, predicate, obj = (esc(member, _TERM) for member in pattern.members)
    terms = [f"<b>{term}</b>" if term.startswith("?") else term for term in (subject, predicate, obj)]
    return f"{terms[0]} <i>{terms[1]}</i> {terms[2]}"
