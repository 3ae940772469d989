"""The drawing of a query on its matched facts, among other facts about the same entities.

Matched facts form a row from left to right, one row for each connected part of the query, with other facts about their
ends above and below. Matched facts are thick: green where they verify the answer, blue where the query was matched but
the answer is another one, uncertain or missing. If the chain breaks, the facts matched before are blue and dashed;
other facts are dotted. Shapes and sizes tell roles; colours too, unless the types of entities are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.display import text
from workbench.operators.types import Types
from workbench.records import Match, Pattern, Proof, Triple
from workbench.sparql import supporting
from workbench.text import clean, short
from workbench.views.base import NAME
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


def proof_drawing(
    proof: Proof, facts: Sequence[Triple] = (), binding: int | None = None, *, types: Types | None = None
) -> Drawing:
    """The match of a binding, by its position (by default that of the answer, else the best), or the partial match if
    none is complete; `facts` are those among which it was found, `types` those of the index."""
    complete = bool(proof.bindings)
    chosen = supporting(proof) if binding is None else binding
    matches = proof.bindings[chosen].matches if complete else proof.partial
    ends = _in_rows(matches, _APART if facts else _NEAR)
    around, beside, left_out = _around(ends, list(_unmatched(matches, facts, {_key(end.name) for end in ends})))
    ends += beside
    at = {_key(end.name): position for position, end in enumerate(ends)}
    style = PARTIAL if not complete else MATCHED if proof.mark == "verified" else UNPROVEN
    edges = {_pair(match.fact, at): _edge(match.fact, at, style, text(match)) for match in matches}
    for fact in around:
        edges.setdefault(_pair(fact, at), _edge(fact, at, OTHER, text(fact)))
    known = types or Types()
    styles = type_styles(known.order)
    nodes = tuple(_node(position, end, known.type_of(end.name), styles) for position, end in enumerate(ends))
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


def _unmatched(matches: Sequence[Match], facts: Sequence[Triple], names: set[str]) -> Iterator[Triple]:
    """The facts about these names that are not matched."""
    matched = {tuple(map(_key, match.fact.members)) for match in matches}
    for fact in facts:
        about = _key(fact.subject) in names or _key(fact.object) in names
        if about and tuple(map(_key, fact.members)) not in matched:
            yield fact


def _around(ends: Sequence[_End], facts: Sequence[Triple]) -> tuple[list[Triple], list[_End], int]:
    """The other facts that have room, their ends that are new in the drawing, and how many facts had no room."""
    places, taken = {_key(end.name): end for end in ends}, dict.fromkeys((_key(end.name) for end in ends), 0)
    drawn, new, left_out = [], {}, 0
    for fact in facts:
        subject, obj = _key(fact.subject), _key(fact.object)
        known = places.keys() | new.keys()
        if not (subject in known and obj in known):
            there, name = (subject, fact.object) if subject in places else (obj, fact.subject)
            if there not in places or taken[there] >= AROUND:
                left_out += 1
                continue
            x, y = _seat(taken[there])
            taken[there] += 1
            new[_key(name)] = _End(name, None, places[there].x + x, places[there].y + y)
        drawn.append(fact)
    return drawn, list(new.values()), left_out


def _seat(number: int) -> tuple[float, float]:
    """Above and below by turns, near first, then to either side and further away."""
    side, turn = divmod(number, 2)
    return (0.0, 0.33, -0.33)[side % 3], (-1 if turn == 0 else 1) * (1.0 + 0.32 * (side % 3))


def _node(position: int, end: _End, kind: str, styles: Mapping[str, NodeStyle]) -> DrawnNode:
    variable = end.term if end.term and end.term.startswith("?") else ""
    style = BOUND if variable else UNMATCHED if end.term is None else NAMED
    size, points, font, letters = (6, 4, 11, 22) if end.term is None else (13, 8, 15, LABEL)
    label = short(end.name, letters) + (f"\n{short(variable, 24)}" if variable else "")
    meaning = f"value of {clean(variable, NAME)}" if variable else style.name
    tooltip = f"{clean(end.name, 300)}\n{meaning}{f', {clean(kind, 80)}' if kind else ''}"
    return DrawnNode(
        position, end.name, in_type(style, kind, styles), end.x * COLUMN, end.y * ROW, label, tooltip, variable, size,
        points, font, type=kind,
    )  # fmt: skip


def _edge(fact: Triple, at: dict[str, int], style: EdgeStyle, tooltip: str) -> DrawnEdge:
    label = "" if style is OTHER else short(fact.relation, LABEL)
    return DrawnEdge(*_pair(fact, at), style, clean(tooltip, 400), label, "to")


def _pair(fact: Triple, at: dict[str, int]) -> tuple[int, int]:
    return at[_key(fact.subject)], at[_key(fact.object)]


def _key(name: str) -> str:
    return name.casefold()
