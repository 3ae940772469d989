"""The view of a steered walk: kept facts, seeds and anchors, ratings, edited edges, and what each stage moves.

A trace has no titles and texts of passages; a view shows them if `passages`, by id, are given, otherwise ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.display import html
from workbench.methods.catrag.steering import SKIP, Flow, RatedSeed, Scores, Seed, StagedWalk, Steering
from workbench.records import Passage
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, page, table
from workbench.views.records import SHOWN, asked_part, heading, passage_line

LINE = 300  # characters of a fact or a reason
MOVED = 6  # phrases that gained most, and as many that lost most
TIERS = ("Direct", "High", "Weak", "Irrelevant", SKIP)
Passages = Mapping[str, Passage]


html.register(Steering, lambda shown: page(whole(shown)))


@html.register
def _(walk: StagedWalk) -> str:
    known = {passage.id: passage for passage in walk.parts[0].walk.index.passages.passages}
    last = len(walk.parts) - 1
    steered = walk.parts[-1].steering
    return page(
        asked_part(walk.question, walk.method, steered.engines, filter(None, [walk.fallback])),
        stages_part(walk, last),
        flow_part(walk, last, 0),
        details("passages", ranking_part(walk.ranking(last)[:SHOWN], walk.gold, known), open=True),
        details("how it was steered", whole(steered, known)),
    )


# -- parts of a page ---------------------------------------------------------------------------------------------------


def whole(shown: Steering, passages: Passages | None = None) -> str:
    """All that the trace tells."""
    return (
        heading(shown)
        + facts_part(shown)
        + seeds_part(shown)
        + "".join(details(_rated_for(shown, seed), ratings_part(shown, seed.phrase)) for seed in shown.rated)
        + edges_part(shown, passages)
        + "<p><b>passages</b></p>"
        + ranking_part(shown.ranking[:SHOWN], shown.gold, passages)
    )


def notes(shown: Steering) -> list[str]:
    """Why it fell back or failed."""
    return [note for note in (shown.fallback, shown.failure) if note]


def facts_part(shown: Steering) -> str:
    """The facts closest to the question, and which of them the filter kept."""
    kept = dict(shown.facts)
    rows = [(shown.called(fact), score, "kept" if fact in kept else "–") for fact, score in shown.linked]
    return "<p><b>facts</b></p>" + table(["fact", "similarity", ""], rows, LINE)


def seeds_part(shown: Steering) -> str:
    """The seeds with their weights, and where each comes from."""
    rated = {seed.phrase: len(seed.neighbours) for seed in shown.rated}
    rows = [
        (shown.called(seed.phrase), seed.weight, _origin(seed), rated.get(seed.phrase, "not rated"))
        for seed in shown.seeds
    ]
    return "<p><b>seeds</b></p>" + table(["seed", "weight", "from", "neighbours"], rows, LINE)


def ratings_part(shown: Steering, phrase: str) -> str:
    """The neighbours of a seed, the best rated first, and what the rating did to their edges."""
    edges = {(edge.source, edge.target): edge for edge in shown.edges if edge.kind != "context"}
    rows = []
    for one in shown.seed(phrase).best:
        edge = edges.get((phrase, one.name))
        weight = f"{edge.before:.3g} → {edge.after:.3g}{' (gone)' * (edge.after == 0)}" if edge else "as it was"
        reason = "left out by the reply; counts as Weak" if one.missing else one.reason
        rows.append((shown.called(one.name), "–" if one.score is None else one.score, one.tier, weight, reason))
    return table(["neighbour", "score", "tier", "weight", "reason"], rows, LINE)


def edges_part(shown: Steering, passages: Passages | None = None) -> str:
    """The edited edges, folded."""
    rows = []
    for edge in shown.edges:
        passage = (passages or {}).get(edge.target) if edge.kind == "context" else None
        end = short((passage.title or passage.text) if passage else shown.called(edge.target), 80)
        rows.append((shown.called(edge.source), end, edge.kind, edge.before, edge.after, f"× {edge.factor:.3g}"))
    listed = table(["from", "to", "kind", "before", "after", "factor"], rows[:200], NAME)
    return details(counted(len(rows), "edited edge"), listed)


def ranking_part(ranking: Scores, gold: Sequence[str], passages: Passages | None = None) -> str:
    """Passages, best first; gold ones are marked."""
    known = passages or {}
    rows = [
        (rank, Markup(passage_line(known[name])) if name in known else name, score, "gold" * (name in gold))
        for rank, (name, score) in enumerate(ranking, 1)
    ]
    return table(["rank", "passage", "score", ""], rows, NAME)


def stages_part(walk: StagedWalk, at: int) -> str:
    """The drift of each stage: the share of the mass on hubs, and the ranks of the gold passages. Stage `at` is
    bold."""
    rows = [
        (Markup(f"<b>{esc(part.name)}</b>" if stage == at else esc(part.name)), *_stage_cells(walk, stage))
        for stage, part in enumerate(walk.parts)
    ]
    headers = ["stage", "mass on hubs", "hubs of the ten best", "S_ppr", "mass on passages", "edited edges", "gold at"]
    return table(headers, rows) + (
        f"<p class='q'>hubs: the strongest 1 % of the phrases ({len(walk.hubs):,}), and their share of the phrases' "
        f"mass; without a question they would hold {walk.parts[0].walk.hubs.expected:.1%}</p>"
    )


def flow_part(walk: StagedWalk, stage: int, since: int) -> str:
    """The phrases whose probability rose and fell most between two stages; of one stage, those with most of it."""
    moved = walk.flow(stage, since)
    if stage == since:
        most = sorted(moved, key=lambda one: -one.after)[: 2 * MOVED]
        rows = [(_phrase(one), f"{one.after:.2%}") for one in walk.spelled(most)]
        return "<p><b>phrases with most mass</b></p>" + table(["phrase", "mass"], rows)
    gained = [one for one in moved[:MOVED] if one.change > 0]
    lost = [one for one in moved[::-1][:MOVED] if one.change < 0]
    before, after = walk.stages[since], walk.stages[stage]
    rows = [(_phrase(one), f"{one.before:.2%}", f"{one.after:.2%}", f"{one.change:+.2%}")
            for one in walk.spelled([*gained, *lost])]  # fmt: skip
    where = f"<span class='q'>{esc(before)} → {esc(after)}</span>"
    return f"<p><b>mass gained and lost</b> {where}</p>" + table(["phrase", "before", "after", "change"], rows)


# -- smaller parts -----------------------------------------------------------------------------------------------------


def _stage_cells(walk: StagedWalk, stage: int) -> tuple:
    part = walk.parts[stage]
    bias, ranks = part.walk.hubs, [ranks[stage] for ranks in walk.ranks().values()]
    return (
        f"{bias.share_all:.1%}",
        f"{bias.share_top:.1%}",
        f"{bias.strength:.1f}",
        f"{part.walk.on_passages.sum():.1%}",
        len(part.steering.edges),
        ", ".join(str(rank or "–") for rank in sorted(ranks, key=lambda rank: rank or 10**9)) or "–",
    )


def _phrase(flow: Flow) -> Markup:
    return Markup(esc(flow.phrase, NAME) + (" <span class='tag'>hub</span>" if flow.hub else ""))


def _origin(seed: Seed) -> str:
    if not seed.entity:
        return "a kept fact"
    cosine = "" if seed.cosine is None else f", cosine {seed.cosine:.2f}"
    return f"anchor of {clean(seed.entity, NAME)!r}{cosine}"


def _rated_for(shown: Steering, seed: RatedSeed) -> str:
    counts = {tier: sum(one.tier == tier for one in seed.neighbours) for tier in TIERS}
    said = ", ".join(f"{count} {tier}" for tier, count in counts.items() if count)
    return f"<b>{esc(shown.called(seed.phrase), NAME)}</b> <span class='q'>{said or 'no neighbour'}</span>"
