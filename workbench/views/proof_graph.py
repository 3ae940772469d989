"""A query drawn on the facts that it was matched with, among the other facts about the same things.

The matched facts stand in a row from left to right, a row for each part of the query that hangs together; other facts
about their ends stand above and below. The same places serve a page of its own and its twin as a figure. Matched
facts are thick and green; where the chain breaks, what was matched before is blue with long dashes; other facts are
dotted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke

from workbench.records import Match, Proof, Record, Triple
from workbench.views.base import NAME, clean, esc, html, page, short, text
from workbench.views.canvas import Frame
from workbench.views.figures import Picture
from workbench.views.graph import LABEL, framed, shown_page, theme_named
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION, Theme

HEIGHT = 360  # pixels
AROUND = 6  # other facts that are drawn at one end of a matched one
_COLUMN, _ROW = 120, 95  # pixels; the page makes columns up to twice as wide
_APART, _NEAR = 3.4, 1.5  # rows from one part of the query to the next, with and without other facts between them
_BESIDE = 22  # letters of a label of what is not matched
MATCHED, PARTIAL, OTHER = "matched", "matched before the break", "other fact"
_LINES = {  # colour, width, dashes of vis-network, of matplotlib, as letters
    MATCHED: (GREEN, 5, False, "solid", "━━"),
    PARTIAL: (BLUE, 4, [16, 5], (0, (6, 2)), "╍╍"),
    OTHER: (GREY, 1, [3, 5], (0, (1.5, 2.5)), "┈┈"),
}
_SPOTS = {  # colour, shape of vis-network, of matplotlib, as a letter
    "named in the query": (VERMILION, "square", "s", "■"),
    "bound to a variable": (ORANGE, "dot", "o", "●"),
    "beside": (GREY, "dot", "o", "●"),
}
NAMED, BOUND, BESIDE = _SPOTS


class Spot(NamedTuple):
    """The end of a fact: what it is called, the `variable` whose value it is, its `role`, and where it stands: x to the
    right and y downwards, in columns and rows."""

    name: str
    variable: str
    role: str
    x: float
    y: float


class Line(NamedTuple):
    """A fact, from subject to object as positions of spots, and what is said of it."""

    source: int
    target: int
    relation: str
    status: str
    says: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ProofGraph(Record):
    """What a picture shows; `left_out` facts about the same things had no room."""

    name: str
    spots: tuple[Spot, ...]
    lines: tuple[Line, ...]
    left_out: int = 0


def proof_graph(proof: Proof, facts: Sequence[Triple] = (), binding: int = 0) -> ProofGraph:
    """The match of a binding, by its position (the best by default), or where none is complete as far as it goes;
    `facts` are those among which it was found."""
    complete = bool(proof.bindings)
    matches = proof.bindings[binding].matches if complete else proof.partial
    spots = _row_by_row(matches, _APART if facts else _NEAR)
    at = {_key(spot.name): position for position, spot in enumerate(spots)}
    status = MATCHED if complete else PARTIAL
    lines = {
        (at[_key(match.fact.subject)], at[_key(match.fact.object)]): Line(
            at[_key(match.fact.subject)], at[_key(match.fact.object)], match.fact.relation, status, text(match)
        )
        for match in matches
    }
    matched = {tuple(map(_key, match.fact.members)) for match in matches}
    rest = [fact for fact in facts if tuple(map(_key, fact.members)) not in matched]
    around, left_out = _around(spots, [fact for fact in rest if _key(fact.subject) in at or _key(fact.object) in at])
    for spot, fact in around:
        if spot is not None:
            at[_key(spot.name)] = len(spots)
            spots.append(spot)
        ends = at[_key(fact.subject)], at[_key(fact.object)]
        lines.setdefault(ends, Line(*ends, fact.relation, OTHER, text(fact)))
    return ProofGraph(proof.query, tuple(spots), tuple(lines.values()), left_out)


def _row_by_row(matches: Sequence[Match], apart: float) -> list[Spot]:
    """The ends of matched facts, each once, in the order of the query; a row for what hangs together."""
    rows: list[list[Spot]] = []
    for match in matches:
        terms = (match.pattern.subject, match.pattern.object)[:: -1 if match.turned else 1]
        ends = [_spot(match.fact.subject, terms[0]), _spot(match.fact.object, terms[1])][:: -1 if match.turned else 1]
        names = {_key(spot.name) for spot in ends}
        tied = [row for row in rows if names & {_key(spot.name) for spot in row}]
        joined = [spot for row in tied for spot in row]
        joined += [spot for spot in ends if _key(spot.name) not in {_key(there.name) for there in joined}]
        rows = [*(row for row in rows if row not in tied), joined]
    return [
        # Off the line by turns, so that a fact between two that are no neighbours does not run through the one between.
        spot._replace(x=float(x), y=y * apart + (0.22 if x % 2 else -0.22) * (len(row) > 2))
        for y, row in enumerate(rows)
        for x, spot in enumerate({_key(spot.name): spot for spot in row}.values())
    ]


def _spot(name: str, term: str) -> Spot:
    return Spot(name, term, BOUND, 0.0, 0.0) if term.startswith("?") else Spot(name, "", NAMED, 0.0, 0.0)


def _around(spots: Sequence[Spot], facts: Sequence[Triple]) -> tuple[list[tuple[Spot | None, Triple]], int]:
    """Other facts with the end that is new in the picture, where one is; and how many found no room."""
    places = {_key(spot.name): spot for spot in spots}
    taken, made, left_out = dict.fromkeys(places, 0), [], 0
    known = set(places)
    for fact in facts:
        subject, obj = _key(fact.subject), _key(fact.object)
        if subject in known and obj in known:
            made.append((None, fact))
            continue
        there, name = (subject, fact.object) if subject in places else (obj, fact.subject)
        if there not in places or taken[there] >= AROUND:
            left_out += 1
            continue
        x, y = _seat(taken[there])
        taken[there] += 1
        known.add(_key(name))
        made.append((Spot(name, "", BESIDE, places[there].x + x, places[there].y + y), fact))
    return made, left_out


def _seat(number: int) -> tuple[float, float]:
    """Above and below by turns, near first, then to either side and further away."""
    side, turn = divmod(number, 2)
    return (0.0, 0.33, -0.33)[side % 3], (-1 if turn == 0 else 1) * (1.0 + 0.32 * (side % 3))


def _key(name: str) -> str:
    return name.casefold()


# -- a page of its own -------------------------------------------------------------------------------------------------


class ProofFrame(Frame):
    """The picture as a page in a sandboxed frame; `picked` is the position of the spot that was clicked."""

    def __init__(self, theme: str = "light"):
        super().__init__(theme)
        self.height = HEIGHT

    def draw(self, drawn: ProofGraph) -> None:
        self.picked = -1
        if self.page:
            self.drawn = proof_data(drawn, self.theme)
        else:
            self.page = proof_page(drawn, height=self.height, theme=self.theme)


def proof_data(drawn: ProofGraph, theme: str = "light") -> dict[str, list[dict]]:
    """Nodes and edges as vis-network takes them; ids are positions of spots."""
    colours = theme_named(theme)
    return {"nodes": list(_vis_nodes(drawn, colours)), "edges": list(_vis_edges(drawn, colours))}


def proof_page(drawn: ProofGraph, *, height: int = HEIGHT, theme: str = "light") -> str:
    """A whole HTML page that shows the picture and needs nothing besides itself."""
    return shown_page(proof_data(drawn, theme), height=height, theme=theme)


def proof_frame(drawn: ProofGraph, *, height: int = HEIGHT, theme: str = "light") -> str:
    """The page in a sandboxed frame, as HTML for a notebook's output and for pages made of it."""
    return framed(proof_page(drawn, height=height, theme=theme), height)


@text.register
def _(drawn: ProofGraph) -> str:
    matched = sum(line.status != OTHER for line in drawn.lines)
    cut = f"; {drawn.left_out:,} more had no room" if drawn.left_out else ""
    return f"Picture of a query: {matched:,} matched facts, {len(drawn.lines) - matched:,} others{cut}"


@html.register
def _(drawn: ProofGraph) -> str:
    if not drawn.spots:
        return page("<p class='q'>no pattern of the query was matched with a fact</p>")
    return page(f"<p class='q'>{esc(text(drawn))}</p>") + proof_frame(drawn) + proof_legend()


def proof_legend() -> str:
    """What the marks mean, as HTML."""
    parts = [(colour, letter, name) for name, (colour, *_, letter) in (_SPOTS | _LINES).items()]
    said = (f"<span style='color:{colour}'>{letter}</span> {esc(name)}" for colour, letter, name in parts)
    return page(f"<p class='q'>{' &nbsp; '.join(said)}</p>")


def _vis_nodes(drawn: ProofGraph, colours: Theme) -> Iterator[dict]:
    for at, spot in enumerate(drawn.spots):
        colour, shape, *_ = _SPOTS[spot.role]
        beside = spot.role == BESIDE
        yield {
            "id": at,
            "label": _label(spot),
            "says": f"{clean(spot.name, 300)}\n{_role(spot)}",
            "shape": shape,
            "size": 6 if beside else 13,
            "x": spot.x * _COLUMN,
            "y": spot.y * _ROW,
            "borderWidth": 1,
            "color": {"background": colour, "border": colours.paper},
            "font": {
                "color": colours.ink, "size": 11 if beside else 15, "strokeWidth": 3, "strokeColor": colours.paper,
            },
        }  # fmt: skip


def _vis_edges(drawn: ProofGraph, colours: Theme) -> Iterator[dict]:
    for line in drawn.lines:
        colour, width, dashes, *_ = _LINES[line.status]
        other = line.status == OTHER
        yield {
            "from": line.source,
            "to": line.target,
            "says": clean(line.says, 400),
            "label": "" if other else short(line.relation, LABEL),
            "width": width,
            "dashes": dashes,
            "arrows": "to",
            "color": {"color": colour, "opacity": 0.55 if other else 0.9},
            "font": {
                "color": colours.ink, "size": 12, "strokeWidth": 4, "strokeColor": colours.paper, "vadjust": -10,
            },
        }  # fmt: skip


def _label(spot: Spot) -> str:
    name = short(spot.name, _BESIDE if spot.role == BESIDE else LABEL)
    return f"{name}\n{short(spot.variable, 24)}" if spot.variable else name


def _role(spot: Spot) -> str:
    return f"value of {clean(spot.variable, NAME)}" if spot.variable else spot.role


# -- the figure --------------------------------------------------------------------------------------------------------


def proof_figure(drawn: ProofGraph) -> Picture:
    """The static twin: the same places, colours and marks."""
    high = max((spot.y for spot in drawn.spots), default=0) - min((spot.y for spot in drawn.spots), default=0)
    figure = Figure(figsize=(8.8, 1.8 + 0.8 * high), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.axis("off")
    axes.margins(0.12)
    around = [Stroke(linewidth=2, foreground="white"), Normal()]
    for line in drawn.lines:
        colour, width, _, dashes, _ = _LINES[line.status]
        (x, y), (to, down) = ((drawn.spots[end].x, -drawn.spots[end].y) for end in (line.source, line.target))
        arrow = {"arrowstyle": "->", "color": colour, "linewidth": 0.5 * width, "linestyle": dashes, "shrinkB": 6}
        axes.annotate("", (to, down), (x, y), arrowprops=arrow, zorder=1)
        if line.status != OTHER:
            axes.annotate(
                _plain(short(line.relation, LABEL)), ((x + to) / 2, (y + down) / 2), xytext=(0, 5),
                textcoords="offset points", ha="center", fontsize=7, path_effects=around,
            )  # fmt: skip
    for spot in drawn.spots:
        colour, _, marker, _ = _SPOTS[spot.role]
        axes.plot(
            spot.x, -spot.y, linestyle="", marker=marker, color=colour, markersize=4 if spot.role == BESIDE else 8,
            zorder=2,
        )  # fmt: skip
        axes.annotate(
            _plain(_label(spot)), (spot.x, -spot.y), xytext=(0, -7), textcoords="offset points", ha="center", va="top",
            fontsize=6 if spot.role == BESIDE else 7, path_effects=around,
        )  # fmt: skip
    handles = [
        Line2D([], [], linestyle="", marker=marker, color=colour, label=name)
        for name, (colour, _, marker, _) in _SPOTS.items()
    ] + [
        Line2D([], [], color=colour, linewidth=0.5 * width, linestyle=dashes, label=name)
        for name, (colour, width, _, dashes, _) in _LINES.items()
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=6, frameon=False, fontsize=7)
    return Picture(figure, text(drawn))


def _plain(label: str) -> str:
    """A label: matplotlib would read dollar signs as mathematics."""
    return label.replace("$", r"\$")
