"""The views of node details, of a check-up, and of a walk's distribution."""

from __future__ import annotations

import math
from dataclasses import replace

from workbench.display import html, text
from workbench.encoding.similarity import top
from workbench.operators.checkup import Checkup
from workbench.operators.neighbourhood import spellings
from workbench.operators.node_details import NodeDetails
from workbench.operators.walk_distribution import WalkDistribution
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.index import facts_by
from workbench.views.records import SHOWN, passage_line, triple_line

UNFOLDED = 12  # items up to which a list of details stands open


@text.register
def _(node: NodeDetails) -> str:
    facts, synonyms, passages = node.counts
    return (
        f"NodeDetails of {node.kind} {clean(node.name, NAME)!r}: {counted(node.degree, 'neighbour')}, "
        f"{counted(facts, 'fact')}, {counted(synonyms, 'synonym')}, {counted(passages, 'passage')}"
    )


@html.register
def _(node: NodeDetails) -> str:
    facts, synonyms, passages = node.counts

    def spelled(name: str) -> str:
        return node.spelling.get(name, name)

    near = [(clean(spelled(entity.name), NAME), score) for entity, score in node.synonyms]
    stated = [replace(one, subject=spelled(one.subject), object=spelled(one.object)) for one in node.facts]
    lists = [
        ("passages", passages, node.passages, "".join(map(passage_line, node.passages))),
        ("facts", facts, node.facts, "".join(f"<p>{triple_line(triple)}</p>" for triple in stated)),
        ("synonyms", synonyms, node.synonyms, table(["phrase", "cosine"], near)),
    ]
    return page(
        f"<p><b>{esc(spelled(node.name), NAME)}</b> <span class='tag'>{esc(node.kind)}</span> "
        f"<span class='q'>{counted(node.degree, 'neighbour')}</span></p>",
        *(
            details(f"{count:,} {what if count > 1 else what[:-1]}{_cut(count, shown)}", body, open=count <= UNFOLDED)
            for what, count, shown, body in lists
            if count
        ),
    )


@text.register
def _(checkup: Checkup) -> str:
    lines = [f"Check-up of {clean(checkup.name, NAME)!r}"]
    lines += [f"  {said}"] if (said := facts_by(checkup.facts_by)) else []
    lines += [f"  {name}: {_measure(name, value)}" for name, value in checkup.measured.items()]
    lines += [f"  hub {clean(hub.phrase, 60)!r}: {hub.share:.1%} of all strength" for hub in checkup.hubs[:3]]
    lines += [f"  ! {clean(warning, 400)}" for warning in checkup.warnings] or ["  nothing looks wrong"]
    return "\n".join(lines)


@html.register
def _(checkup: Checkup) -> str:
    hubs = [(clean(h.phrase, NAME), h.strength, f"{h.share:.2%}", h.degree, h.passages) for h in checkup.hubs]
    parts = [(part.edges, part.count, f"{part.largest:.1%}") for part in checkup.components]
    warnings = "".join(f"<li>{esc(warning)}</li>" for warning in checkup.warnings)
    verdict = f"<span class='bad'>{len(checkup.warnings)} to look at</span>" if warnings else "nothing looks wrong"
    return page(
        f"<p><b>{esc(checkup.name, NAME)}</b>: {verdict}</p>",
        f"<p class='q'>{esc(said)}</p>" if (said := facts_by(checkup.facts_by)) else "",
        f"<ul>{warnings}</ul>" if warnings else "",
        _published(checkup),
        details("counts and shares", table(["", ""], [(n, _measure(n, v)) for n, v in checkup.measured.items()])),
        details("hubs", table(["phrase", "strength", "of all strength", "neighbours", "passages"], hubs), open=True),
        details("connected parts", table(["over", "parts", "nodes in the largest"], parts)),
        details("passages without a fact", f"<p>{esc(', '.join(checkup.isolated))} …</p>") if checkup.isolated else "",
    )


def _published(checkup: Checkup) -> str:
    """The counts beside those of published graphs."""
    counts = ["passages", "phrases", "facts", "synonyms"]
    ratios = ["facts a passage", "phrases a passage", "synonyms a phrase"]
    rows = [
        (short(row.graph, 60), *map(_count, row[3:7]), *map(_ratio, row[7:]))
        for row in checkup.beside_published().itertuples()
    ]
    return table(["", *counts, *ratios], rows)


@text.register
def _(walk: WalkDistribution) -> str:
    heading = f"WalkDistribution of {clean(walk.question, NAME)!r} by {clean(walk.method, NAME)}"
    if walk.pagerank is None:
        return f"{heading}: no walk, {clean(walk.fallback, NAME)}"
    hubs = walk.hubs
    seeds = ", ".join(clean(walk.index.facts.phrases[row], 60) for row, _ in walk.seeds)
    return (
        f"{heading}: from {seeds}; {walk.on_passages.sum():.0%} on passages; super hubs hold {hubs.share_all:.1%} of "
        f"the phrases' mass ({hubs.expected:.1%} without a question), {hubs.share_top:.1%} of the ten best; "
        f"S_ppr {hubs.strength:.1f}"
    )


@html.register
def _(walk: WalkDistribution) -> str:
    if walk.pagerank is None:
        return page(f"<p>{esc(walk.question)}</p><p class='bad'>no walk: {esc(walk.fallback)}</p>")
    return page(
        f"<p><b>{esc(walk.question)}</b> <span class='tag'>{esc(walk.method, NAME)}</span></p>",
        _hub_shares(walk),
        details("phrases", _walk_phrases(walk), open=True),
        details("passages", _walk_passages(walk)),
    )


def _hub_shares(walk: WalkDistribution) -> str:
    hubs = walk.hubs
    rows = [
        ("of the mass of all phrases", f"{hubs.share_all:.1%}"),
        ("without a question it would be", f"{hubs.expected:.1%}"),
        ("of the ten phrases with most mass", f"{hubs.share_top:.1%}"),
        ("S_ppr, the mean strength of these ten", round(hubs.strength, 1)),
    ]
    return table(["super hubs (the strongest 1 % of phrases) hold", ""], rows)


def _walk_phrases(walk: WalkDistribution) -> str:
    seeds = dict(walk.seeds)
    best = top(walk.on_phrases, SHOWN).tolist()
    names = spellings(walk.index, best)
    rows = [(clean(name, NAME), float(walk.on_phrases[row]), seeds.get(row)) for name, row in zip(names, best)]
    return table(["phrase", "probability", "seed weight"], rows)


def _walk_passages(walk: WalkDistribution) -> str:
    passages = walk.index.passages.passages
    ranks = {row: rank for rank, row in enumerate(top(walk.dense, len(passages)).tolist(), 1)}
    best = top(walk.on_passages, SHOWN).tolist()
    rows = [(Markup(passage_line(passages[row])), float(walk.on_passages[row]), ranks[row]) for row in best]
    return table(["passage", "probability", "dense rank"], rows)


def _cut(count: int, shown: tuple) -> str:
    return f", the first {len(shown)}" if len(shown) < count else ""


def _measure(name: str, value: float) -> str:
    """Shares as percentages, counts as they are."""
    if isinstance(value, int):
        return number(value)
    return f"{value:g}" if "degree" in name else f"{value:.1%}"


def _count(value: float) -> int | None:
    """A whole number that became a float in a column with gaps."""
    return None if math.isnan(value) else int(value)


def _ratio(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"
