"""The view of DOTs: the concepts of the question, then each DOT with its rules, region and iterations, then the kept
paths of all. `dot_drawing` draws a DOT.

A trace has no titles and texts of passages; a view shows them if `passages`, by id, are given, otherwise ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.display import html, text
from workbench.methods.dotrag.dots import Comparison, Dot, Dots, DotsDiff, Iteration
from workbench.methods.dotrag.events import Hop, JudgedPath, Region, Rules
from workbench.records import Passage
from workbench.text import clean, counted, short
from workbench.views import records
from workbench.views.base import NAME, Markup, details, esc, long_table, number, page, table
from workbench.views.records import passage_line

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
html.register(Dot, lambda dot: page(dot_heading(dot), setting_part(dot), _iterations(dot)))
html.register(Iteration, lambda one: page(iteration_part(one)))
html.register(JudgedPath, lambda path: page(path_part(path)))
html.register(DotsDiff, lambda diff: page(diff_part(diff)))
html.register(Comparison, lambda beside: page(comparison_part(beside)))


@text.register
def _(dot: Dot) -> str:
    anchors = ", ".join(clean(anchor.name, 60) for anchor in dot.anchors[:5]) or "no anchor"
    size = counted(dot.region.nodes, "node") if dot.region else "no region"
    return (
        f"DOT {dot.number} of {clean(dot.concept, 100)!r} ({clean(dot.level, 20)}): from {anchors}; {size}; "
        f"{counted(len(dot.iterations), 'iteration')}, {counted(len(dot.paths), 'path')}, {len(dot.kept)} kept"
    )


# -- parts of a page ---------------------------------------------------------------------------------------------------


def whole(
    shown: Dots, passages: Passages | None = None, iterations: Callable[[Dot], str] | None = None, *, open: bool = False
) -> str:
    """All parts under the heading. The DOTs are folded but, if `open`, for the first; `iterations` makes the part of
    those of a DOT."""
    parts = (
        details(
            dot_heading(dot),
            setting_part(dot),
            iterations(dot) if iterations else _iterations(dot, shown.gold),
            open=open and not at,
        )
        for at, dot in enumerate(shown.dots)
    )
    return selection_part(shown) + "".join(parts) + end_part(shown, passages)


def heading(shown: Dots) -> str:
    """The question, the method, and the caveats."""
    return records.heading(shown, notes(shown))


def notes(shown: Dots) -> list[str]:
    """Why it fell back, failed or found no path."""
    nothing = ["no path was kept: the passages are those of the anchors"] if shown.no_paths else []
    return [*nothing, *dict.fromkeys(note for note in (shown.fallback, shown.failure) if note)]


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
    judged = [(path.id, _verdict(path), _fate(path, one), _folded_path(path, gold)) for path in paths]
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
    known = passages or {}
    paths = [
        (path.id, _verdict(path), Markup(f"{_chain(path, shown.gold)}<p class='q'>{esc(path.passage, 600)}</p>"))
        for path in shown.final
    ]
    chunks = [
        (rank, score, Markup(passage_line(known[name])) if name in known else name)
        for rank, (name, score) in enumerate(shown.chunks, 1)
    ]
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
    paths = [
        (sign, _verdict(path), Markup(_chain(path)))
        for sign, some in (("+", diff.gained), ("–", diff.lost))
        for path in some
    ]
    return (
        asked
        + table(["concept", "nodes per hop", "now", "anchors gained", "anchors lost"], dots, LINE)
        + _titled("paths", f"{len(diff.gained)} gained, {len(diff.lost)} lost")
        + long_table(["", "verdict", "path"], paths, "paths", SHOWN)
    )


def comparison_part(beside: Comparison, passages: Passages | None = None) -> str:
    """The results of each method, in columns; results shared with another method are bold."""
    known, common, common_passages = passages or {}, beside.common, beside.common_passages

    def bold(shown: str, shared: bool) -> Markup:
        return Markup(f"<b>{shown}</b>" if shared else shown)

    def passage(name: str) -> Markup:
        title = short(known[name].title or known[name].text, 80) if name in known else name
        return bold(esc(title, NAME), name in common_passages)

    columns = {
        "passages": [[passage(name) for name in one.passages] for one in beside.found],
        "nodes": [
            [bold(_node(name, beside.gold), name in common) for name in dict.fromkeys(one.nodes)]
            for one in beside.found
        ],
        "paths": [[" → ".join(path) for path in one.paths] for one in beside.found],
    }
    names = [clean(one.method, NAME) for one in beside.found]
    counts = [
        (name, len(one.passages), len(one.nodes), len(common.intersection(one.nodes)), len(one.paths))
        for name, one in zip(names, beside.found)
    ]
    parts = [table(["method", "passages", "nodes", "shared nodes", "paths"], counts)]
    for what, lists in columns.items():
        longest = max(map(len, lists), default=0)
        rows = [(at + 1, *(some[at] if at < len(some) else "" for some in lists)) for at in range(min(longest, SHOWN))]
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


def _iterations(dot: Dot, gold: Sequence[str] = ()) -> str:
    return "".join(
        details(
            f"<b>iteration {one.number}</b> <span class='q'>{counted(len(one.paths), 'path')}</span>",
            iteration_part(one, gold),
        )
        for one in dot.iterations
    )


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


def _folded_path(path: JudgedPath, gold: Sequence[str]) -> Markup:
    return Markup(details(_chain(path, gold), f"<p>{esc(path.passage, 600)}</p>", _reasons(path)))


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
