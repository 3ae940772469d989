"""The view of a query executed on facts: its patterns, its matches, and where the chain breaks; and the drawing of the
query on its matched facts, among other facts about the same entities.

Matched facts form a row from left to right, one row for each connected part of the query, with other facts about their
ends above and below. Matched facts are thick: green where they verify the answer, blue where the query was matched but
the answer is another one, uncertain or missing. If the chain breaks, the facts matched before are blue and dashed;
other facts are dotted. Shapes and sizes tell roles; colours too, unless the types of entities are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.display import text
from workbench.operators.types import Types
from workbench.records import Binding, Match, Pattern, Proof, Triple, ranked
from workbench.text import clean, short
from workbench.trace import Trace
from workbench.views.drawing import (
    DASHED,
    DOTTED,
    LABEL,
    THICK,
    Drawing,
    DrawnEdge,
    DrawnNode,
    EdgeStyle,
    NodeStyle,
    in_type,
    type_styles,
    types_shown,
)
from workbench.views.palette import BLUE, GREY, SKY
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
    marked,
    number,
    quiet,
    strong,
    table,
    view,
    words,
)
from workbench.views.records import fact

SHOWN = 5  # bindings, values or hops that a view lists, of all in the record
_TERM = 80  # characters of a term of a pattern
MARKS = {"verified": "✓", "contradicted": "✗", "unsupported": "?"}
MEANING = {
    "verified": "the passages state each hop in the words of the query, and nothing else fits as well",
    "contradicted": "the passages state each hop in the words of the query, which ends in another value",
    "unsupported": "the passages do not state each hop in the words of the query, or other values fit as well",
}


view.register(Binding, lambda binding: _binding(binding, 1))
view.register(Match, lambda match: _hops([match]))


@text.register
def _(match: Match) -> str:
    return f"{text(match.pattern)} ← {text(match.fact)} ({number(match.score, 2)}, {_how(match)})"


@text.register
def _(pattern: Pattern) -> str:
    return " ".join(clean(member, _TERM) for member in pattern.members)


@view.register(Proof)
def proof_part(proof: Proof) -> Part | None:
    """The mark, the query, and its bindings hop by hop."""
    query = code(proof.query)
    if proof.flaw:
        flaw = line("nothing to execute:", clean(proof.flaw, 400), look="bad")
        return group(flaw, fold("the query", query))
    compared = f", compared by {clean(proof.compare, NAME)}" if proof.compare else ""
    more = len(proof.bindings) - SHOWN
    return group(
        mark_part(proof),
        details("the query", query, open=True),
        line(strong(clean(proof.wanted, _TERM) + compared), _answers(proof)),
        *(_binding(binding, at) for at, binding in enumerate(proof.bindings[:SHOWN], 1)),
        quiet(f"{more:,} more bindings" if more > 0 else ""),
        _broken(proof),
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
            Binding(tuple(binding["values"].items()), tuple(map(_match_from, binding["matches"])), binding["score"])
            for binding in outputs.get("bindings") or ()
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


def mark_part(proof: Proof) -> Part | None:
    """The mark of the answer; nothing without an answer."""
    if not proof.mark:
        return None
    mark = f"{MARKS.get(proof.mark, '?')} {clean(proof.mark, NAME)}"
    answer = ["answer:", strong(proof.answer, limit=NAME)] if proof.answer else None
    look = "bad" if proof.mark == "contradicted" else "tag"
    return line(marked(look, mark), answer, faint(MEANING.get(proof.mark)))


def _answers(proof: Proof) -> Part:
    if not proof.answers:
        return words("has no value")
    more = len(proof.answers) - SHOWN
    values = (words(value, _score(score), limit=NAME) for value, score in proof.answers[:SHOWN])
    return words("=", words(*values, sep=" · "), f"and {more:,} more" if more > 0 else None)


def _binding(binding: Binding, at: int) -> Part:
    values = (words(f"{clean(name, _TERM)} =", strong(value, limit=NAME)) for name, value in binding.values[:SHOWN])
    return details([words(*values, sep=", "), _score(binding.score)], _hops(binding.matches), open=at == 1)


def _broken(proof: Proof) -> Part | None:
    at = proof.broken
    if at is None:
        return None
    pattern = _pattern(proof.patterns[at - 1]) if 0 < at <= len(proof.patterns) else None
    partial = [quiet("as far as it goes:"), _hops(proof.partial)] if proof.partial else []
    return group(line(f"no fact matches pattern {at}:", pattern, look="bad"), *partial)


def _score(score: float) -> Part | None:
    return faint(number(score, 2))


def _hops(matches: Sequence[Match]) -> Part | None:
    rows = [
        (hop, _pattern(match.pattern), fact(match.fact), match.score, _how(match),
         ", ".join(match.fact.passages[:SHOWN]))
        for hop, match in enumerate(matches, 1)
    ]  # fmt: skip
    return table(["hop", "pattern", "fact", "score", "how", "passages"], rows, NAME)


def _how(match: Match) -> str:
    return f"{'exact' if match.exact else 'alike'}{', turned round' if match.turned else ''}"


@view.register(Pattern)
def _pattern(pattern: Pattern) -> Part:
    """A pattern; variables are bold."""
    terms = (strong if member.startswith("?") else words for member in pattern.members)
    subject, predicate, obj = (term(member, limit=_TERM) for term, member in zip(terms, pattern.members))
    return words(subject, italic(predicate), obj)


# -- the drawing ------------------------------------------------------------------------------------------------------


HEIGHT = 240  # pixels
AROUND = 2  # other facts that are drawn at one end of a matched one
COLUMN, ROW = 120, 95  # pixels; the page makes columns up to twice as wide
_APART, _NEAR = 3.4, 1.5  # rows from one part of the query to the next, with and without other facts between them
NAMED = NodeStyle("named in the query", BLUE, "triangle")
BOUND = NodeStyle("bound to a variable", SKY)
UNMATCHED = NodeStyle("not matched", GREY, "hexagon")
MATCHED = THICK._replace(name="matched, verified")
UNPROVEN = THICK._replace(name="matched, not verified", colour=BLUE)
PARTIAL = DASHED._replace(name="matched before the break", width=4)
OTHER = DOTTED._replace(name="other fact")


class _End(NamedTuple):
    """An end of a fact: its name, its term in the query (a name or a `?variable`; None if unmatched), column and
    row."""

    name: str
    term: str | None
    x: float = 0.0
    y: float = 0.0


def proof_drawing(proof: Proof, facts: Sequence[Triple] = (), *, types: Types | None = None) -> Drawing:
    """The match of the answer, else of the best binding, or the partial match if none is complete; `facts` are those
    that were searched, `types` those of the index."""
    from workbench.sparql import supporting  # loads the parser, and each page of evidence loads this module

    complete = bool(proof.bindings)
    matches = proof.bindings[supporting(proof)].matches if complete else proof.partial
    ends = _in_rows(matches, _APART if facts else _NEAR)
    around, beside, left_out = _around(ends, matches, facts)
    ends += beside
    at = {_key(end.name): position for position, end in enumerate(ends)}
    style = PARTIAL if not complete else MATCHED if proof.mark == "verified" else UNPROVEN
    edges = {_pair(match.fact, at): _edge(match.fact, at, style, text(match)) for match in matches}
    for other in around:
        edges.setdefault(_pair(other, at), _edge(other, at, OTHER, text(other)))
    indexed = types or Types()
    styles = type_styles(indexed.order)
    nodes = tuple(_node(position, end, indexed.type_of(end.name), styles) for position, end in enumerate(ends))
    return Drawing(
        " ".join(proof.query.split()),  # on one line
        nodes,
        tuple(edges.values()),
        tuple(in_type(role, "", styles) for role in (NAMED, BOUND, UNMATCHED)),
        (MATCHED, UNPROVEN, PARTIAL, OTHER),
        left_out=left_out,
        height=HEIGHT,
        inches=(8.8, 1.8 + 0.8 * (max((end.y for end in ends), default=0) - min((end.y for end in ends), default=0))),
        empty="no pattern of the query was matched with a fact",
        types=types_shown(nodes, styles, "dot"),
    )


def _in_rows(matches: Sequence[Match], apart: float) -> list[_End]:
    """The ends of matched facts, each once, in the order of the query; a row for each connected part."""
    rows: list[list[_End]] = []
    for match in matches:
        ends = _ends(match)
        names = {_key(end.name) for end in ends}
        tied = [row for row in rows if names & {_key(end.name) for end in row}]
        joined = {_key(end.name): end for row in tied for end in row}
        for end in ends:
            joined.setdefault(_key(end.name), end)
        rows = [*(row for row in rows if row not in tied), list(joined.values())]
    return [
        # Alternately off the line, so that a fact between two distant ends does not cross the end between them.
        end._replace(x=float(x), y=y * apart + (0.22 if x % 2 else -0.22) * (len(row) > 2))
        for y, row in enumerate(rows)
        for x, end in enumerate(row)
    ]


def _ends(match: Match) -> list[_End]:
    """Both ends of a match, in the order of the pattern."""
    pattern: Pattern = match.pattern
    terms = (pattern.object, pattern.subject) if match.turned else (pattern.subject, pattern.object)
    ends = [_End(match.fact.subject, terms[0]), _End(match.fact.object, terms[1])]
    return ends[::-1] if match.turned else ends


def _around(
    ends: Sequence[_End], matches: Sequence[Match], facts: Sequence[Triple]
) -> tuple[list[Triple], list[_End], int]:
    """The unmatched facts about these ends that have room, their ends that are new in the drawing, and how many facts
    had no room."""
    matched = {tuple(map(_key, match.fact.members)) for match in matches}
    places, taken = {_key(end.name): end for end in ends}, Counter[str]()
    drawn, new, left_out = [], {}, 0
    for triple in facts:
        subject, obj = _key(triple.subject), _key(triple.object)
        placed = places.keys() | new.keys()
        if not {subject, obj} & places.keys() or tuple(map(_key, triple.members)) in matched:
            continue
        if not {subject, obj} <= placed:
            there, name = (subject, triple.object) if subject in places else (obj, triple.subject)
            if taken[there] >= AROUND:
                left_out += 1
                continue
            # Above and below by turns.
            new[_key(name)] = _End(name, None, places[there].x, places[there].y + (1 if taken[there] else -1))
            taken[there] += 1
        drawn.append(triple)
    return drawn, list(new.values()), left_out


def _node(position: int, end: _End, kind: str, styles: Mapping[str, NodeStyle]) -> DrawnNode:
    variable = end.term if end.term and end.term.startswith("?") else ""
    style = BOUND if variable else UNMATCHED if end.term is None else NAMED
    size, font, letters = (6, 11, 22) if end.term is None else (13, 15, LABEL)
    label = short(end.name, letters) + (f"\n{short(variable, 24)}" if variable else "")
    meaning = f"value of {clean(variable, NAME)}" if variable else style.name
    tooltip = f"{clean(end.name, 300)}\n{meaning}{f', {clean(kind, 80)}' if kind else ''}"
    return DrawnNode(
        position, end.name, in_type(style, kind, styles), end.x * COLUMN, end.y * ROW, label, tooltip, variable, size,
        font, type=kind,
    )  # fmt: skip


def _edge(fact: Triple, at: dict[str, int], style: EdgeStyle, tooltip: str) -> DrawnEdge:
    label = "" if style is OTHER else short(fact.relation, LABEL)
    return DrawnEdge(*_pair(fact, at), style, clean(tooltip, 400), label, "to")


def _pair(fact: Triple, at: dict[str, int]) -> tuple[int, int]:
    return at[_key(fact.subject)], at[_key(fact.object)]


def _key(name: str) -> str:
    return name.casefold()
