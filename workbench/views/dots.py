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

from workbench.methods.dotrag.dots import Comparison, Dot, Dots, DotsDiff, Iteration
from workbench.methods.dotrag.events import Hop, JudgedPath, Region, Rules
from workbench.operators.types import Types
from workbench.records import Passage
from workbench.text import clean, counted, short
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
from workbench.views.parts import (
    NAME,
    Part,
    bad,
    details,
    faint,
    group,
    line,
    long_table,
    number,
    points,
    quiet,
    strong,
    table,
    tag,
    titled,
    view,
    words,
)
from workbench.views.records import passage_cell, trace_heading
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


view.register(Dots, lambda dots: group(heading(dots), whole(dots)))
view.register(Dot, lambda dot: group(dot_heading(dot), stages_part(steps(dot))))


# -- parts of a page ---------------------------------------------------------------------------------------------------


def whole(dots: Dots, passages: Passages | None = None, *, drawn: bool = False) -> Part | None:
    """All parts under the heading."""
    return group(selection_part(dots), dots_part(dots, drawn=drawn), end_part(dots, passages))


def dots_part(dots: Dots, *, drawn: bool) -> Part | None:
    """The DOTs, folded; if `drawn`, they have pictures, and the first is unfolded."""
    made = ((dot, stages(dots, dot) if drawn else steps(dot, dots.gold)) for dot in dots.dots)
    return group(
        *(details(dot_heading(dot), stages_part(parts), open=drawn and not at) for at, (dot, parts) in enumerate(made))
    )


def steps(dot: Dot, gold: Sequence[str] = ()) -> list[Stage]:
    """The rules and the iterations."""
    made = [Stage(f"iteration {step.number}", part=iteration_part(step, gold)) for step in dot.iterations]
    return [Stage("rules", part=setting_part(dot)), *made]


def stages(dots: Dots, dot: Dot, **drawn: Any) -> list[Stage]:
    """The same, each with the picture of the nodes that it reached; `drawn` are settings of `dot_drawing`."""
    numbers = [0, *(iteration.number for iteration in dot.iterations)]
    drawings = (dot_drawing(dots, dot.number, number, **drawn) for number in numbers)
    return [stage._replace(drawing=drawing) for stage, drawing in zip(steps(dot, dots.gold), drawings)]


def heading(dots: Dots) -> Part | None:
    """The question, the method, and why it found no path, fell back or failed."""
    return trace_heading(dots, "no path was kept: the passages are those of the anchors" if dots.no_paths else None)


def selection_part(dots: Dots) -> Part | None:
    """The concepts of the question, and the nodes that each anchors."""
    described = {
        concept.span: f"{concept.description} ({concept.type})" if concept.type else concept.description
        for concept in dots.concepts
    }
    rows = [
        (dot.number, dot.level, dot.concept, described.get(dot.concept, ""), _anchors(dot, dots.gold))
        for dot in dots.dots
    ]
    named = ", ".join(f"{span} ({kind})" for span, kind in dots.named)
    routing = "routed by the named entities" if dots.routing else "routed by named entities and topics"
    routing += f"; names of the graph in the question: {named}" if named else ""
    headers = ["DOT", "level", "concept", "what it is", "anchors (similarity)"]
    return group(titled("concepts", clean(routing, LINE)), table(headers, rows, LINE))


def dot_heading(dot: Dot) -> Part:
    return words(
        strong(f"DOT {dot.number}: {clean(dot.concept, NAME)}"),
        tag(dot.level, limit=40),
        tag("weak anchor") if dot.weak else None,
        faint(ENDED.get(dot.reason, dot.reason), limit=LINE),
        bad(dot.failure, limit=LINE),
    )


def setting_part(dot: Dot) -> Part | None:
    """The rules of a DOT and the size of its region."""
    return group(_rules(dot.rules) if dot.rules else None, _region(dot.region) if dot.region else None)


@view.register(Iteration)
def iteration_part(iteration: Iteration, gold: Sequence[str] = ()) -> Part | None:
    """The queries, candidates and verdicts of an iteration."""
    left_out = f"; {iteration.excluded:,} nodes were judged before" if iteration.excluded else ""
    pathless = iteration.without
    candidates = [
        (_node(node.name, gold), node.type, node.similarity, node.query + 1, "no path" * (node.name in pathless))
        for node in iteration.candidates
    ]
    paths = sorted(iteration.paths, key=lambda p: (p.id not in iteration.kept, p.fate == "cut", -p.confidence))
    judged = [
        (
            path.id,
            _verdict(path),
            _fate(path, iteration),
            details(_chain(path, gold), line(path.passage, limit=600), _reasons(path)),
        )
        for path in paths
    ]
    return group(
        line(iteration.failure, look="bad", limit=LINE),
        *(line(tag(origin, limit=40), query, limit=LINE) for origin, query in iteration.queries[:SHOWN]),
        quiet(f"asked before: {clean('; '.join(iteration.repeated), LINE)}" if iteration.repeated else ""),
        titled("candidates", f"{len(candidates):,}{left_out}"),
        long_table(["node", "type", "similarity", "query", ""], candidates, "candidates", SHOWN, NAME),
        titled("paths", f"{len(judged):,}"),
        long_table(["path", "verdict", "", "anchor to candidate"], judged, "paths", SHOWN, NAME),
    )


@view.register(JudgedPath)
def path_part(path: JudgedPath, gold: Sequence[str] = ()) -> Part | None:
    """One path: as a chain, in sentences, and the judge's verdict."""
    return group(
        line(tag(path.id, limit=40), _verdict(path), faint(path.fate, limit=40)),
        line(_chain(path, gold)),
        line(path.passage),
        _reasons(path),
    )


def end_part(dots: Dots, passages: Passages | None = None) -> Part | None:
    """The accepted paths as sentences, and the passages."""
    paths = [
        (path.id, _verdict(path), [_chain(path, dots.gold), quiet(path.passage, limit=600)]) for path in dots.final
    ]
    chunks = [(rank, score, passage_cell(name, passages)) for rank, (name, score) in enumerate(dots.chunks, 1)]
    return group(
        titled("accepted paths", f"{len(paths):,}, best first"),
        long_table(["path", "verdict", "what it says"], paths, "paths", SHOWN, NAME),
        titled("passages", f"{len(chunks):,}"),
        long_table(["rank", "similarity", "passage"], chunks, "passages", SHOWN, NAME),
    )


@view.register(DotsDiff)
def diff_part(diff: DotsDiff) -> Part | None:
    """The effect of other settings."""
    settings = line(tag(diff.before, limit=NAME), "→", tag(diff.after, limit=NAME))
    if not diff:
        return group(settings, quiet("regions, anchors and paths are the same"))
    dots = [
        (dot.concept, _sizes(dot.before), _sizes(dot.after), ", ".join(dot.gained), ", ".join(dot.lost))
        for dot in diff.dots
    ]
    paths = [("+", path) for path in diff.gained] + [("–", path) for path in diff.lost]
    listed = [(sign, _verdict(path), _chain(path)) for sign, path in paths]
    return group(
        settings,
        table(["concept", "nodes per hop", "now", "anchors gained", "anchors lost"], dots, LINE),
        titled("paths", f"{len(diff.gained)} gained, {len(diff.lost)} lost"),
        long_table(["", "verdict", "path"], listed, "paths", SHOWN),
    )


@view.register(Comparison)
def comparison_part(beside: Comparison, passages: Passages | None = None) -> Part | None:
    """The results of each method, in columns; results shared with another method are bold."""
    by_id, common = passages or {}, beside.common

    def node(name: str) -> Part | None:
        label = _node(name, beside.gold)
        return strong(label) if name in common else label

    def passage(name: str) -> Part | None:
        label = words(short(by_id[name].title or by_id[name].text, 80) if name in by_id else name, limit=NAME)
        return strong(label) if name in beside.common_passages else label

    columns = {
        "passages": [map(passage, result.passages) for result in beside.found],
        "nodes": [map(node, dict.fromkeys(result.nodes)) for result in beside.found],
        "paths": [map(" → ".join, result.paths) for result in beside.found],
    }
    names = [clean(result.method, NAME) for result in beside.found]
    counts = [
        (name, len(result.passages), len(result.nodes), len(common.intersection(result.nodes)), len(result.paths))
        for name, result in zip(names, beside.found)
    ]
    parts = [table(["method", "passages", "nodes", "shared nodes", "paths"], counts)]
    for what, lists in columns.items():
        rows = [(rank, *row) for rank, row in enumerate(islice(zip_longest(*lists, fillvalue=""), SHOWN), 1)]
        listed = table(["", *names], rows, LINE)
        parts.append(details(f"{what}, the first {len(rows)}", listed, open=what == "nodes"))
    return group(*parts, quiet("bold: found by another method as well"))


def chain(path: JudgedPath) -> str:
    """A path on one line, with the relations and where they point."""
    hops = (f" {hop_text(hop)} {node}" for hop, node in zip(path.relations, path.nodes[1:]))
    return (path.nodes[0] if path.nodes else "") + "".join(hops)


def hop_text(relations: Hop) -> str:
    """The relations of one hop: `—directed_by→`, or `←directed_by—` against their direction."""
    return " / ".join(f"—{label}→" if forward else f"←{label}—" for label, forward in relations)


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _rules(rules: Rules) -> Part | None:
    lists = (("on the way", rules.intermediate_rules), ("at the end", rules.terminal_rules))
    rows = [(what, points(*some[:SHOWN], limit=LINE)) for what, some in lists]
    wanted, types = ("it looks for", rules.query_constraints), ("types", ", ".join(rules.allowed_types))
    return group(line(rules.failure, look="bad", limit=LINE), table(["rules", ""], [wanted, *rows, types], LINE))


def _region(region: Region) -> Part | None:
    size = f"{counted(region.nodes, 'node')}, {counted(region.edges, 'edge')}"
    notes = [size, f"nodes per hop: {_sizes(region.hops)}"]
    if region.pruned:
        notes.append("left out by type: " + ", ".join(f"{kind} {count:,}" for kind, count in region.pruned.items()))
    notes += ["types were not filtered, for too little was left"] if region.filter_relaxed else []
    notes += ["cut, for it grew too large"] if region.truncated else []
    return titled("region", clean("; ".join(notes), LINE))


def _anchors(dot: Dot, gold: Sequence[str]) -> Part:
    names = (
        words(_node(anchor.name, gold), faint("exact" if anchor.exact else number(anchor.similarity)))
        for anchor in dot.anchors[:SHOWN]
    )
    return words(words(*names, sep=", "), tag("weak") if dot.weak else None)


def _reasons(path: JudgedPath) -> Part | None:
    after = line("asks next:", clean(path.next_question, LINE)) if path.next_question else None
    return group(quiet(path.justification, limit=LINE), after)


def _chain(path: JudgedPath, gold: Sequence[str] = ()) -> Part:
    hops = ((faint(hop_text(hop), limit=120), _node(node, gold)) for hop, node in zip(path.relations, path.nodes[1:]))
    return words(_node(path.nodes[0], gold) if path.nodes else None, *hops)


def _verdict(path: JudgedPath) -> Part | None:
    if not path.label:
        return faint("not judged")
    return (strong if path.kept else words)(f"{clean(path.label, 40)} {path.confidence:.2f}")


def _fate(path: JudgedPath, iteration: Iteration) -> str:
    """The fate of a path in an iteration, and later."""
    if path.id in iteration.kept:
        return "kept" if path.kept else f"kept, later {clean(path.fate, 40)}"
    return clean(iteration.dropped.get(path.id, path.fate), 40)


def _node(name: str, gold: Sequence[str]) -> Part:
    return words(name, tag("gold") if name in gold else None, limit=NAME)


def _sizes(sizes: Sequence[int]) -> str:
    return " + ".join(f"{size:,}" for size in sizes) or "none"


# -- drawings ----------------------------------------------------------------------------------------------------------

LAST = 10**9  # an iteration after all others
NODES = 200  # of a drawing, at most
COLUMN, ROW, LEAST = 150, 38, 14  # pixels between neighbours; rows that every column has room for
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
    done = [entry for entry in dot.iterations if entry.number <= iteration]
    kept_ids = set(done[-1].kept) if done else set()
    hops, places = _places(dot, _names(dot, dot.iterations, {path.id for path in dot.kept})[:limit])
    met = set(_names(dot, done, kept_ids))
    visible = {name: place for name, place in places.items() if name in met}
    paths = [path for entry in done for path in entry.paths]
    roles = _roles(dot, paths, kept_ids, visible)
    nodes = [(name, roles[name], hops.get(name, 0), COLUMN * x, ROW * y) for name, (x, y) in visible.items()]
    edges = _edges(paths, kept_ids, {name: at for at, name in enumerate(visible)})
    return _drawing(f"{dots.question}: {dot.concept}", dots, types, nodes, edges, left_out=len(met) - len(visible))


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
    indexed = types or Types()
    styles = type_styles((*indexed.order, *traced.order))
    drawn = []
    for node, role, hop, x, y in nodes:
        kind, gold = indexed.type_of(node) or traced.type_of(node), " (gold)" * (node in dots.gold)
        where = {"anchor": "anchor", "candidate": "candidate, no path leads to it"}.get(role, f"at hop {hop}")
        tooltip = f"{clean(node, 300)}{gold}\n{clean(kind, 80) or 'type not in the trace'}, {where}"
        style, label, (size, font) = styles.get(kind, UNTYPED), short(node, 28) + gold, _ROLES[role]
        drawn.append(DrawnNode(len(drawn), node, style, x, y, label, tooltip, role, size, font, role == "anchor", kind))
    return Drawing(name, tuple(drawn), tuple(edges), (), PATHS, "anchor", types=types_shown(drawn, styles), **rest)


def _names(dot: Dot, iterations: Sequence[Iteration], kept_ids: set[str]) -> list[str]:
    """The nodes that a DOT has reached after some iterations, most important first."""
    paths = sorted(
        (path for iteration in iterations for path in iteration.paths),
        key=lambda path: (path.id not in kept_ids, -path.query_similarity),
    )
    nodes = [
        *(anchor.name for anchor in dot.anchors),
        *(node for path in paths for node in path.nodes),
        *(candidate.name for iteration in iterations for candidate in iteration.candidates),
    ]
    return list(dict.fromkeys(nodes))


def _roles(dot: Dot, paths: Sequence[JudgedPath], kept_ids: set[str], names: Iterable[str]) -> dict[str, str]:
    roles = dict.fromkeys(names, "candidate")
    roles |= {node: "path" for path in paths for node in path.nodes}
    roles |= {node: "kept" for path in paths if path.id in kept_ids for node in path.nodes}
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


def _edges(paths: Sequence[JudgedPath], kept_ids: set[str], at: Mapping[str, int]) -> Iterator[DrawnEdge]:
    """One edge for all paths over a hop, in either direction. Its style is that of the best of them; among many edges,
    it fades with the similarity of its closest path to the question."""
    by_ends: dict[tuple[str, str], list[tuple[JudgedPath, Hop]]] = {}
    for path in paths:
        for source, target, hop in zip(path.nodes, path.nodes[1:], path.relations):
            if source in at and target in at:
                ends = (source, target) if (target, source) not in by_ends else (target, source)
                by_ends.setdefault(ends, []).append((path, hop))
    drawn, weights = [], []
    for (source, target), hops in by_ends.items():
        style = min((_style(path.label if path.id in kept_ids else "") for path, _ in hops), key=PATHS.index)
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
