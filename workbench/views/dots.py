"""The view of DOTs: the concepts of the question, then each DOT with its rules, region and iterations, then the kept
paths of all.

The drawing of a DOT has its anchors on the left, then the nodes one, two, … hops away, and the paths between them.
Positions are those of the whole DOT, so that nothing moves between its iterations. Each type of node has its own colour
and shape; kept paths are thick, partial ones dashed, the others dotted.

A trace has no titles and texts of passages; a view shows them if `passages`, by id, are given, otherwise ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from math import ceil
from typing import Any

from workbench.display import html
from workbench.methods.dotrag.dots import Comparison, Dot, Dots, DotsDiff, Iteration
from workbench.methods.dotrag.events import Hop, JudgedPath, Region, Rules
from workbench.operators.types import Types
from workbench.records import Passage
from workbench.text import clean, counted, short
from workbench.views import records
from workbench.views.base import NAME, Markup, details, esc, long_table, number, page, table
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
    faded,
    type_styles,
    types_shown,
)
from workbench.views.palette import GREY
from workbench.views.records import passage_cell
from workbench.views.stepped import Stage, columns, stages_part

SHOWN = 10  # candidates, paths and chunks that a view lists unfolded
LINE = 300  # characters of a rule, a reason or a query
ENDED = {
    "t_max": "all iterations were made",
    "exhausted": "no further candidate was found",
    "no_query": "no further query was left",
    "complete": "a complete path was found",
}
Passages = Mapping[str, Passage]


html.register(Dots, lambda shown: page(heading(shown), whole(shown)))
html.register(Dot, lambda dot: page(dot_heading(dot), stages_part(steps(dot))))
html.register(Iteration, lambda one: page(iteration_part(one)))
html.register(JudgedPath, lambda path: page(path_part(path)))
html.register(DotsDiff, lambda diff: page(diff_part(diff)))
html.register(Comparison, lambda beside: page(comparison_part(beside)))


# -- parts of a page ---------------------------------------------------------------------------------------------------


def whole(shown: Dots, passages: Passages | None = None, *, drawn: bool = False) -> str:
    """All parts under the heading."""
    return selection_part(shown) + dots_part(shown, drawn=drawn) + end_part(shown, passages)


def dots_part(shown: Dots, *, drawn: bool) -> str:
    """The DOTs, folded; with pictures, where they are `drawn`, but for the first."""
    made = ((dot, stages(shown, dot) if drawn else steps(dot, shown.gold)) for dot in shown.dots)
    return "".join(
        details(dot_heading(dot), stages_part(parts), open=drawn and not at) for at, (dot, parts) in enumerate(made)
    )


def steps(dot: Dot, gold: Sequence[str] = ()) -> list[Stage]:
    """The rules and the iterations."""
    made = [Stage(f"iteration {one.number}", part=iteration_part(one, gold)) for one in dot.iterations]
    return [Stage("rules", part=setting_part(dot)), *made]


def stages(shown: Dots, dot: Dot, **drawn: Any) -> list[Stage]:
    """The same, each with the picture of what it reached, `drawn` as by `dot_drawing`."""
    numbers = [0, *(one.number for one in dot.iterations)]
    drawings = (dot_drawing(shown, dot.number, number, **drawn) for number in numbers)
    return [one._replace(drawing=drawing) for one, drawing in zip(steps(dot, shown.gold), drawings)]


def heading(shown: Dots) -> str:
    """The question, the method, and why it found no path, fell back or failed."""
    nothing = "no path was kept: the passages are those of the anchors" if shown.no_paths else None
    return records.heading(shown, nothing)


def selection_part(shown: Dots) -> str:
    """The concepts of the question, and the nodes that each anchors."""
    described = {
        concept.span: f"{concept.description} ({concept.type})" if concept.type else concept.description
        for concept in shown.concepts
    }
    rows = [
        (dot.number, dot.level, dot.concept, described.get(dot.concept, ""), _anchors(dot, shown.gold))
        for dot in shown.dots
    ]
    named = ", ".join(f"{span} ({kind})" for span, kind in shown.named)
    routing = "routed by the named entities" if shown.routing else "routed by named entities and topics"
    routing += f"; names of the graph in the question: {named}" if named else ""
    headers = ["DOT", "level", "concept", "what it is", "anchors (similarity)"]
    return _titled("concepts", routing) + table(headers, rows, LINE)


def dot_heading(dot: Dot) -> str:
    tags = "".join(f" <span class='tag'>{esc(tag, 40)}</span>" for tag in (dot.level, *["weak anchor"] * dot.weak))
    ended = f" <span class='q'>{esc(ENDED.get(dot.reason, dot.reason), LINE)}</span>" if dot.reason else ""
    bad = f" <span class='bad'>{esc(dot.failure, LINE)}</span>" if dot.failure else ""
    return f"<b>DOT {dot.number}: {esc(dot.concept, NAME)}</b>{tags}{ended}{bad}"


def setting_part(dot: Dot) -> str:
    """The rules of a DOT and the size of its region."""
    return (_rules(dot.rules) if dot.rules else "") + (_region(dot.region) if dot.region else "")


def iteration_part(one: Iteration, gold: Sequence[str] = ()) -> str:
    """The queries, candidates and verdicts of an iteration."""
    queries = "".join(
        f"<p><span class='tag'>{esc(origin, 40)}</span> {esc(query, LINE)}</p>" for origin, query in one.queries[:SHOWN]
    )
    repeated = f"<p class='q'>asked before: {esc('; '.join(one.repeated), LINE)}</p>" if one.repeated else ""
    left_out = f"; {one.excluded:,} nodes were judged before" if one.excluded else ""
    candidates = [
        (_node(node.name, gold), node.type, node.similarity, node.query + 1, "no path" * (node.name in one.without))
        for node in one.candidates
    ]
    paths = sorted(one.paths, key=lambda path: (path.id not in one.kept, path.fate == "cut", -path.confidence))
    judged = [
        (path.id, _verdict(path), _fate(path, one),
         Markup(details(_chain(path, gold), f"<p>{esc(path.passage, 600)}</p>", _reasons(path))))
        for path in paths
    ]  # fmt: skip
    return (
        (f"<p class='bad'>{esc(one.failure, LINE)}</p>" if one.failure else "")
        + queries
        + repeated
        + _titled("candidates", f"{len(candidates):,}{left_out}")
        + long_table(["node", "type", "similarity", "query", ""], candidates, "candidates", SHOWN, NAME)
        + _titled("paths", f"{len(judged):,}")
        + long_table(["path", "verdict", "", "anchor to candidate"], judged, "paths", SHOWN, NAME)
    )


def path_part(path: JudgedPath, gold: Sequence[str] = ()) -> str:
    """One path: as a chain, in sentences, and the judge's verdict."""
    return (
        f"<p><span class='tag'>{esc(path.id, 40)}</span> {_verdict(path)} "
        f"<span class='q'>{esc(path.fate, 40)}</span></p><p>{_chain(path, gold)}</p><p>{esc(path.passage)}</p>"
        + _reasons(path)
    )


def end_part(shown: Dots, passages: Passages | None = None) -> str:
    """The accepted paths as sentences, and the passages."""
    paths = [
        (path.id, _verdict(path), Markup(f"{_chain(path, shown.gold)}<p class='q'>{esc(path.passage, 600)}</p>"))
        for path in shown.final
    ]
    chunks = [(rank, score, passage_cell(name, passages)) for rank, (name, score) in enumerate(shown.chunks, 1)]
    return (
        _titled("accepted paths", f"{len(paths):,}, best first")
        + long_table(["path", "verdict", "what it says"], paths, "paths", SHOWN, NAME)
        + _titled("passages", f"{len(chunks):,}")
        + long_table(["rank", "similarity", "passage"], chunks, "passages", SHOWN, NAME)
    )


def diff_part(diff: DotsDiff) -> str:
    """The effect of other settings."""
    asked = (
        f"<p><span class='tag'>{esc(diff.before, NAME)}</span> → <span class='tag'>{esc(diff.after, NAME)}</span></p>"
    )
    if not diff:
        return f"{asked}<p class='q'>regions, anchors and paths are the same</p>"
    dots = [
        (dot.concept, _sizes(dot.before), _sizes(dot.after), ", ".join(dot.gained), ", ".join(dot.lost))
        for dot in diff.dots
    ]
    paths = [("+", path) for path in diff.gained] + [("–", path) for path in diff.lost]
    listed = [(sign, _verdict(path), Markup(_chain(path))) for sign, path in paths]
    return (
        asked
        + table(["concept", "nodes per hop", "now", "anchors gained", "anchors lost"], dots, LINE)
        + _titled("paths", f"{len(diff.gained)} gained, {len(diff.lost)} lost")
        + long_table(["", "verdict", "path"], listed, "paths", SHOWN)
    )


def comparison_part(beside: Comparison, passages: Passages | None = None) -> str:
    """The results of each method, in columns; results shared with another method are bold."""
    known = passages or {}

    def node(name: str) -> Markup:
        shown = _node(name, beside.gold)
        return Markup(f"<b>{shown}</b>") if name in beside.common else shown

    def passage(name: str) -> Markup:
        shown = esc(short(known[name].title or known[name].text, 80) if name in known else name, NAME)
        return Markup(f"<b>{shown}</b>" if name in beside.common_passages else shown)

    columns = {
        "passages": [map(passage, one.passages) for one in beside.found],
        "nodes": [map(node, dict.fromkeys(one.nodes)) for one in beside.found],
        "paths": [map(" → ".join, one.paths) for one in beside.found],
    }
    names = [clean(one.method, NAME) for one in beside.found]
    counts = [
        (name, len(one.passages), len(one.nodes), len(beside.common.intersection(one.nodes)), len(one.paths))
        for name, one in zip(names, beside.found)
    ]
    parts = [table(["method", "passages", "nodes", "shared nodes", "paths"], counts)]
    for what, lists in columns.items():
        rows = [(rank, *row) for rank, row in enumerate(islice(zip_longest(*lists, fillvalue=""), SHOWN), 1)]
        listed = table(["", *names], rows, LINE)
        parts.append(details(f"{what}, the first {len(rows)}", listed, open=what == "nodes"))
    return "".join(parts) + "<p class='q'>bold: found by another method as well</p>"


def chain(path: JudgedPath) -> str:
    """A path on one line, with the relations and where they point."""
    hops = (f" {hop_text(hop)} {node}" for hop, node in zip(path.relations, path.nodes[1:]))
    return (path.nodes[0] if path.nodes else "") + "".join(hops)


def hop_text(relations: Hop) -> str:
    """The relations of one hop: `—directed_by→`, or `←directed_by—` against their direction."""
    return " / ".join(f"—{label}→" if forward else f"←{label}—" for label, forward in relations)


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _titled(title: str, said: str) -> str:
    return f"<p><b>{title}</b> <span class='q'>{esc(said, LINE)}</span></p>"


def _rules(rules: Rules) -> str:
    lists = (("on the way", rules.intermediate_rules), ("at the end", rules.terminal_rules))
    rows = [
        (what, Markup(f"<ul>{''.join(f'<li>{esc(rule, LINE)}</li>' for rule in some[:SHOWN])}</ul>" if some else ""))
        for what, some in lists
    ]
    failed = f"<p class='bad'>{esc(rules.failure, LINE)}</p>" if rules.failure else ""
    wanted, types = ("it looks for", rules.query_constraints), ("types", ", ".join(rules.allowed_types))
    return failed + table(["rules", ""], [wanted, *rows, types], LINE)


def _region(region: Region) -> str:
    size = f"{counted(region.nodes, 'node')}, {counted(region.edges, 'edge')}"
    parts = [size, f"nodes per hop: {_sizes(region.hops)}"]
    if region.pruned:
        parts.append("left out by type: " + ", ".join(f"{kind} {count:,}" for kind, count in region.pruned.items()))
    parts += ["types were not filtered, for too little was left"] if region.filter_relaxed else []
    parts += ["cut, for it grew too large"] if region.truncated else []
    return _titled("region", "; ".join(parts))


def _anchors(dot: Dot, gold: Sequence[str]) -> Markup:
    shown = (
        f"{_node(anchor.name, gold)} <span class='q'>{'exact' if anchor.exact else number(anchor.similarity)}</span>"
        for anchor in dot.anchors[:SHOWN]
    )
    weak = " <span class='tag'>weak</span>" if dot.weak else ""
    return Markup(", ".join(shown) + weak)


def _reasons(path: JudgedPath) -> str:
    after = f"<p>asks next: {esc(path.next_question, LINE)}</p>" if path.next_question else ""
    return (f"<p class='q'>{esc(path.justification, LINE)}</p>" if path.justification else "") + after


def _chain(path: JudgedPath, gold: Sequence[str] = ()) -> str:
    parts = [_node(path.nodes[0], gold)] if path.nodes else []
    for hop, node in zip(path.relations, path.nodes[1:]):
        parts.append(Markup(f"<span class='q'>{esc(hop_text(hop), 120)}</span> {_node(node, gold)}"))
    return " ".join(parts)


def _verdict(path: JudgedPath) -> Markup:
    if not path.label:
        return Markup("<span class='q'>not judged</span>")
    verdict = f"{esc(path.label, 40)} {path.confidence:.2f}"
    return Markup(f"<b>{verdict}</b>" if path.kept else verdict)


def _fate(path: JudgedPath, one: Iteration) -> str:
    """The fate of a path in an iteration, and later."""
    if path.id in one.kept:
        return "kept" if path.kept else f"kept, later {clean(path.fate, 40)}"
    return clean(one.dropped.get(path.id, path.fate), 40)


def _node(name: str, gold: Sequence[str]) -> Markup:
    return Markup(esc(name, NAME) + (" <span class='tag'>gold</span>" if name in gold else ""))


def _sizes(sizes: Sequence[int]) -> str:
    return " + ".join(f"{size:,}" for size in sizes) or "none"


# -- drawings ----------------------------------------------------------------------------------------------------------

LAST = 10**9  # an iteration after all others
NODES = 200  # of a drawing, at most
COLUMN, ROW, LEAST = 150, 38, 14  # between neighbours; rows that a column has room for
UNTYPED = NodeStyle("", GREY)
PATHS = tuple(
    style._replace(name=name) for name, style in (("complete", THICK), ("partial", DASHED), ("not kept", DOTTED))
)
COMPLETE, PARTIAL, NOT_KEPT = PATHS
_ROLES = {"anchor": (13, 16), "kept": (11, 16), "path": (8, 12), "candidate": (7, 12)}  # sizes of a mark and a font


def dot_drawing(
    dots: Dots, number: int = 0, iteration: int = LAST, *, types: Types | None = None, limit: int = NODES
) -> Drawing:
    """A DOT after an iteration; 0 is before the first. Anchors come first, then the nodes of kept paths, of the others,
    and candidates without a path; at most `limit` of them. `types` are those of the index, which come before those of
    the trace."""
    dot = dots.dot(number)
    done = [one for one in dot.iterations if one.number <= iteration]
    kept = set(done[-1].kept) if done else set()
    hops, places = _places(dot, _names(dot, dot.iterations, {path.id for path in dot.kept})[:limit])
    met = set(_names(dot, done, kept))
    shown = {name: place for name, place in places.items() if name in met}
    paths = [path for one in done for path in one.paths]
    roles = _roles(dot, paths, kept, shown)
    nodes = [(name, roles[name], hops.get(name, 0), COLUMN * x, ROW * y) for name, (x, y) in shown.items()]
    edges = _edges(paths, kept, {name: at for at, name in enumerate(shown)})
    return _drawing(f"{dots.question}: {dot.concept}", dots, types, nodes, edges, left_out=len(met) - len(shown))


def path_drawing(dots: Dots, path: JudgedPath, *, types: Types | None = None) -> Drawing:
    """One path, from its anchor to its end, labelled with its relations."""
    style = _style(path.label if path.kept else "")
    nodes = [(name, "kept" if at else "anchor", at, COLUMN * at, 0.0) for at, name in enumerate(path.nodes)]
    edges = (
        DrawnEdge(at, at + 1, style, _edge_tooltip(*ends, hop, style, [path.id]), _relations(hop), _arrows(hop))
        for at, (*ends, hop) in enumerate(zip(path.nodes, path.nodes[1:], path.relations))
    )
    return _drawing(path.id, dots, types, nodes, edges, inches=(8.8, 2.2))


def _drawing(
    name: str, dots: Dots, types: Types | None, nodes: Iterable[tuple], edges: Iterable[DrawnEdge], **rest: Any
) -> Drawing:
    """`nodes` are names, roles, hops and places."""
    traced = Types.of(dots.types.items())
    known = types or Types()
    styles = type_styles((*known.order, *traced.order))
    drawn = []
    for node, role, hop, x, y in nodes:
        kind, gold = known.type_of(node) or traced.type_of(node), " (gold)" * (node in dots.gold)
        where = {"anchor": "anchor", "candidate": "candidate, no path leads to it"}.get(role, f"at hop {hop}")
        tooltip = f"{clean(node, 300)}{gold}\n{clean(kind, 80) or 'type not in the trace'}, {where}"
        style, label, (size, font) = styles.get(kind, UNTYPED), short(node, 28) + gold, _ROLES[role]
        drawn.append(DrawnNode(len(drawn), node, style, x, y, label, tooltip, role, size, font, role == "anchor", kind))
    return Drawing(name, tuple(drawn), tuple(edges), (), PATHS, "anchor", types=types_shown(drawn, styles), **rest)


def _names(dot: Dot, iterations: Sequence[Iteration], kept: set[str]) -> list[str]:
    """The nodes that a DOT has reached after some iterations, most important first."""
    paths = sorted(
        (path for one in iterations for path in one.paths),
        key=lambda path: (path.id not in kept, -path.query_similarity),
    )
    nodes = [
        *(anchor.name for anchor in dot.anchors),
        *(node for path in paths for node in path.nodes),
        *(candidate.name for one in iterations for candidate in one.candidates),
    ]
    return list(dict.fromkeys(nodes))


def _roles(dot: Dot, paths: Sequence[JudgedPath], kept: set[str], names: Iterable[str]) -> dict[str, str]:
    roles = dict.fromkeys(names, "candidate")
    roles |= {node: "path" for path in paths for node in path.nodes}
    roles |= {node: "kept" for path in paths if path.id in kept for node in path.nodes}
    return roles | {anchor.name: "anchor" for anchor in dot.anchors}


def _places(dot: Dot, names: Sequence[str]) -> tuple[dict[str, int], dict[str, tuple[int, float]]]:
    """Name → least number of hops from an anchor; name → its place, in the columns of a hop. Nodes without a path come
    last."""
    hops: dict[str, int] = {anchor.name: 0 for anchor in dot.anchors}
    before: dict[str, list[str]] = {}
    for path in dot.paths:
        for hop, (last, node) in enumerate(zip(path.nodes, path.nodes[1:]), 1):
            hops[node] = min(hop, hops.get(node, hop))
            before.setdefault(node, []).append(last)
    beyond = max(hops.values(), default=0) + 1
    layers: list[list[str]] = [[] for _ in range(beyond + 1)]
    for name in names:
        layers[hops.get(name, beyond)].append(name)
    return hops, columns(layers, max(LEAST, ceil((8 * len(names)) ** 0.5)), before)  # somewhat wider than high


def _edges(paths: Sequence[JudgedPath], kept: set[str], at: Mapping[str, int]) -> Iterator[DrawnEdge]:
    """One edge for all paths over a hop, in either direction; its style is that of the best of them, and among many
    edges it fades by the similarity of the closest to the question."""
    found: dict[tuple[str, str], list[tuple[JudgedPath, Hop]]] = {}
    for path in paths:
        for source, target, hop in zip(path.nodes, path.nodes[1:], path.relations):
            if source in at and target in at:
                ends = (source, target) if (target, source) not in found else (target, source)
                found.setdefault(ends, []).append((path, hop))
    drawn, weights = [], []
    for (source, target), hops in found.items():
        style = min((_style(path.label if path.id in kept else "") for path, _ in hops), key=PATHS.index)
        tooltip = _edge_tooltip(source, target, hops[0][1], style, [path.id for path, _ in hops])
        label = "" if style is NOT_KEPT else _relations(hops[0][1])  # kept paths can be read in the picture
        drawn.append(DrawnEdge(at[source], at[target], style, tooltip, label))
        weights.append(max(path.query_similarity for path, _ in hops))
    yield from faded(drawn, weights)


def _style(label: str) -> EdgeStyle:
    return next((style for style in PATHS if style.name == label), NOT_KEPT)


def _edge_tooltip(source: str, target: str, hop: Hop, style: EdgeStyle, paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    ends = " — ".join(clean(end, 80) for end in (source, target))
    return f"{ends}\n{clean(hop_text(hop), 300)}\n{style.name}: {', '.join(paths[:5])}{more}"


def _relations(hop: Hop) -> str:
    return short(" / ".join(label for label, _ in hop), LABEL)


def _arrows(hop: Hop) -> str:
    """Arrowheads in the directions of the graph."""
    directions = {forward for _, forward in hop}
    return ",".join(name for name, forward in (("to", True), ("from", False)) if forward in directions)
