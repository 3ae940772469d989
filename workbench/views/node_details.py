"""The look of a node's card, of a check-up, and of where a walk's probability went."""

from __future__ import annotations

import math

from workbench.experiments.checkup import Checkup
from workbench.graph.node_details import NodeDetails
from workbench.graph.walk_distribution import WalkDistribution
from workbench.ranking.similarity import top
from workbench.views.base import NAME, Markup, clean, details, esc, html, number, page, short, table, text
from workbench.views.records import SHOWN, passage_line, triple_line

SHOWN_CLOSED = 12  # lists of a card longer than this are folded


@text.register
def _(card: NodeDetails) -> str:
    facts, synonyms, passages = card.counts
    return (
        f"NodeDetails of {card.kind} {clean(card.name, NAME)!r}: {card.degree:,} neighbours, {facts:,} facts, "
        f"{synonyms:,} synonyms, {passages:,} passages"
    )


@html.register
def _(card: NodeDetails) -> str:
    facts, synonyms, passages = card.counts
    near = [(clean(entity.name, NAME), score) for entity, score in card.synonyms]
    lists = [
        ("passages", passages, card.passages, "".join(map(passage_line, card.passages))),
        ("facts", facts, card.facts, "".join(f"<p>{triple_line(triple)}</p>" for triple in card.facts)),
        ("synonyms", synonyms, card.synonyms, table(["phrase", "cosine"], near)),
    ]
    return page(
        f"<p><b>{esc(card.name, NAME)}</b> <span class='tag'>{esc(card.kind)}</span> "
        f"<span class='q'>{card.degree:,} neighbours</span></p>",
        *(
            details(
                f"{count:,} {what if count > 1 else what[:-1]}{_cut(count, shown)}", body, open=count <= SHOWN_CLOSED
            )
            for what, count, shown, body in lists
            if count
        ),
    )


@text.register
def _(checkup: Checkup) -> str:
    lines = [f"Check-up of {clean(checkup.name, NAME)!r}"]
    lines += [f"  {name}: {_measure(name, value)}" for name, value in checkup.measured.items()]
    lines += [f"  hub {clean(hub.phrase, 60)!r}: {hub.share:.1%} of all strength" for hub in checkup.hubs[:3]]
    lines += [f"  ! {clean(warning, 400)}" for warning in checkup.warnings] or ["  nothing looks wrong"]
    return "\n".join(lines)


@html.register
def _(checkup: Checkup) -> str:
    hubs = [(clean(h.phrase, NAME), h.strength, f"{h.share:.2%}", h.degree, h.passages) for h in checkup.hubs]
    parts = [(part.edges, part.count, f"{part.largest:.1%}") for part in checkup.components]
    beside = [
        (short(row.graph, 60), *map(_count, row[3:7]), *map(_ratio, row[7:]))
        for row in checkup.beside_published().itertuples()
    ]
    warnings = "".join(f"<li>{esc(warning)}</li>" for warning in checkup.warnings)
    return page(
        f"<p><b>{esc(checkup.name, NAME)}</b>: "
        + (
            f"<span class='bad'>{len(checkup.warnings)} to look at</span></p>"
            if warnings
            else "nothing looks wrong</p>"
        ),
        f"<ul>{warnings}</ul>" if warnings else "",
        table(
            [
                "",
                "passages",
                "phrases",
                "facts",
                "synonyms",
                "facts a passage",
                "phrases a passage",
                "synonyms a phrase",
            ],
            beside,
        ),
        details("counts and shares", table(["", ""], [(n, _measure(n, v)) for n, v in checkup.measured.items()])),
        details("hubs", table(["phrase", "strength", "of all strength", "neighbours", "passages"], hubs), open=True),
        details("connected parts", table(["over", "parts", "nodes in the largest"], parts)),
        details("passages without a fact", f"<p>{esc(', '.join(checkup.isolated))} …</p>") if checkup.isolated else "",
    )


@text.register
def _(spread: WalkDistribution) -> str:
    said = f"WalkDistribution of {clean(spread.question, NAME)!r} by {clean(spread.method, NAME)}"
    if spread.mass is None:
        return f"{said}: no walk, {clean(spread.fallback, NAME)}"
    hubs = spread.hubs
    seeds = ", ".join(clean(spread.index.facts.phrases[row], 60) for row, _ in spread.seeds)
    return (
        f"{said}: from {seeds}; {spread.on_passages.sum():.0%} on passages; super hubs hold {hubs.share_all:.1%} of "
        f"the phrases' mass ({hubs.expected:.1%} without a question), {hubs.share_top:.1%} of the ten best; "
        f"S_ppr {hubs.strength:.1f}"
    )


@html.register
def _(spread: WalkDistribution) -> str:
    if spread.mass is None:
        return page(f"<p>{esc(spread.question)}</p><p class='bad'>no walk: {esc(spread.fallback)}</p>")
    phrases, passages, hubs = spread.index.facts.phrases, spread.index.passages.passages, spread.hubs
    seeds = dict(spread.seeds)
    dense_rank = {row: rank for rank, row in enumerate(top(spread.dense, len(passages)).tolist(), 1)}
    return page(
        f"<p><b>{esc(spread.question)}</b> <span class='tag'>{esc(spread.method, NAME)}</span></p>",
        table(
            ["super hubs (the strongest 1 % of phrases) hold", ""],
            [
                ("of the mass of all phrases", f"{hubs.share_all:.1%}"),
                ("without a question it would be", f"{hubs.expected:.1%}"),
                ("of the ten phrases with most mass", f"{hubs.share_top:.1%}"),
                ("S_ppr, the mean strength of these ten", round(hubs.strength, 1)),
            ],
        ),
        details(
            "phrases",
            table(
                ["phrase", "probability", "seed weight"],
                [
                    (clean(phrases[row], NAME), float(spread.on_phrases[row]), seeds.get(row))
                    for row in top(spread.on_phrases, SHOWN).tolist()
                ],
            ),
            open=True,
        ),
        details(
            "passages",
            table(
                ["passage", "probability", "dense rank"],
                [
                    (Markup(passage_line(passages[row])), float(spread.on_passages[row]), dense_rank[row])
                    for row in top(spread.on_passages, SHOWN).tolist()
                ],
            ),
        ),
    )


def _cut(count: int, shown: tuple) -> str:
    return f", the first {len(shown)}" if len(shown) < count else ""


def _measure(name: str, value: float) -> str:
    """Shares as percentages, counts as they are."""
    if isinstance(value, int):
        return number(value)
    return f"{value:g}" if "degree" in name else f"{value:.1%}"


def _count(value: float) -> int | None:
    """A whole number, which a column with a gap had made a float."""
    return None if math.isnan(value) else int(value)


def _ratio(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"
