"""The view of a replay: round by round, then the conclusion.

A trace has no titles and texts of passages; a view shows them if `passages`, by id, are given, otherwise ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.display import html, text
from workbench.methods.iterative.events import Chain, Cut, Ranking, Search
from workbench.methods.iterative.replay import END, Replay, Round
from workbench.records import Passage
from workbench.text import clean, counted, short
from workbench.views.base import NAME, Markup, details, esc, number, page, table
from workbench.views.records import asked_part, said_by

SHOWN, FOUND = 10, 5  # passages of the pool and of one search that a view lists
Passages = Mapping[str, Passage]
WHY = {"verified": "supports the chain", "score": "score ≥ μ + σ", "filled": "fills up"}


@text.register
def _(replay: Replay) -> str:
    lines = [f"Replay of {clean(replay.question, 200)!r} by {clean(replay.method, NAME)}"]
    lines += [f"  {said}"] if (said := said_by(replay.engines)) else []
    for at, stage in enumerate(replay.stages):
        if stage == END:
            summary = _end_says(replay)
        else:
            one = replay.rounds[at]
            summary = "; ".join(f"{clean(name, 40)}: {clean(words, 160)}" for name, words in one.texts.items())
            summary = summary or "; ".join(clean(search.query, 160) for search in one.searches)
        best = ", ".join(clean(name, 40) for name, _ in replay.ranking(at)[:FOUND])
        lines += [f"  {stage}: {summary}", f"    → {best}"]
    lines += [f"  ! {clean(note, 300)}" for note in notes(replay)]
    for name, ranks in replay.ranks().items():
        lines.append(f"  gold {clean(name, 60)}: {' → '.join(str(rank or '–') for rank in ranks)}")
    return "\n".join(lines)


@html.register
def _(replay: Replay) -> str:
    return page(whole(replay))


@text.register
def _(one: Round) -> str:
    texts = "; ".join(f"{clean(name, 40)}: {clean(words, 300)}" for name, words in one.texts.items())
    searches = counted(len(one.searches), "search", "searches")
    return f"Round {one.number}: {texts or 'no thought'}; {searches}, {len(one.pool):,} in the pool"


@text.register
def _(search: Search) -> str:
    return f"Search for {clean(search.query, 300)!r} ({clean(search.origin, 40)}): {len(search.ranking):,} found"


@html.register
def _(search: Search) -> str:
    return page(_searches((search,), {}))


@text.register
def _(chain: Chain) -> str:
    return f"Chain: {clean(chain.chain, 300)}"


@html.register
def _(chain: Chain) -> str:
    return page(_chain(chain))


@text.register
def _(cut: Cut) -> str:
    return f"Cut: {_cut_says(cut)}"


def whole(replay: Replay, passages: Passages | None = None) -> str:
    """All stages, folded but for the last, as a part of a page."""
    last = len(replay.stages) - 1
    return heading(replay) + "".join(
        details(f"<b>{stage}</b>", stage_part(replay, at, passages), open=at == last)
        for at, stage in enumerate(replay.stages)
    )


def heading(replay: Replay) -> str:
    """The question, the method, and the caveats."""
    return asked_part(replay.question, replay.method, replay.engines, notes(replay), replay.failure)


def notes(replay: Replay) -> list[str]:
    """Why it stopped before its last round, fell back or failed."""
    stopped = [] if replay.stopped is None else [f"stopped: the thought of round {replay.stopped} asks for no more"]
    return [*stopped, *(note for note in (replay.fallback, replay.failure) if note)]


def stage_part(replay: Replay, stage: int, passages: Passages | None = None) -> str:
    """One stage, as a part of a page. `stage` is a position in `replay.stages`."""
    known = passages or {}
    return _end(replay, known) if replay.stages[stage] == END else _round(replay, stage, known)


def _round(replay: Replay, at: int, passages: Passages) -> str:
    one, before = replay.rounds[at], replay.rounds[at - 1].pool if at else ()
    given = " <span class='tag'>given by hand</span>" if one.given else ""
    nothing = "the thought asks for no more" if one.done else "all of this had been asked before"
    thoughts = "".join(
        f"<p><span class='tag'>{esc(name, 40)}</span>{given} {esc(words)}</p>" for name, words in one.texts.items()
    )
    return (
        (f"<p class='bad'>{esc(one.failure)}</p>" if one.failure else "")
        + ("<p class='note'>scores of different scales met in the pool</p>" if one.mixed else "")
        + thoughts
        + (
            _searches(one.searches, passages, before, one.texts.values())
            if one.searches
            else f"<p class='q'>{nothing}</p>"
        )
        + f"<p><b>pool</b> <span class='q'>{counted(len(one.pool), 'passage')}, {esc(one.scale, 60)}</span></p>"
        + _ranking(replay, at, passages)
    )


def _searches(searches: Sequence[Search], passages: Passages, before: Ranking = (), known: Collection[str] = ()) -> str:
    """The results of each query, side by side; passages that were not in the pool are marked as new. Queries `known`
    from the thoughts above are not repeated."""
    pool = {name for name, _ in before}

    def cell(search: Search, rank: int) -> Markup | str:
        if rank >= len(search.ranking):
            return ""
        name, score = search.ranking[rank]
        new = " <span class='tag'>new</span>" if before and name not in pool else ""
        return Markup(f"{esc(_title(name, passages))} <span class='q'>{number(score)}</span>{new}")

    lines = ""
    for search in searches:
        query = "" if search.query in known else esc(search.query)
        look, why = ("bad", search.failure) if search.failure else ("q", search.fallback)
        said = f" <span class='{look}'>{esc(why)}</span>" if why else ""
        lines += f"<p><span class='tag'>{esc(search.origin, 40)}</span> {query}{said}</p>" if query or said else ""
    longest = max((len(search.ranking) for search in searches), default=0)
    rows = [(rank + 1, *(cell(search, rank) for search in searches)) for rank in range(min(FOUND, longest))]
    return lines + table(["", *(f"found for {clean(search.origin, 40)}" for search in searches)], rows)


def _ranking(replay: Replay, at: int, passages: Passages) -> str:
    """The best of the pool, then the gold passages further down: their gains, and by which query of which round."""
    now = replay.ranking(at)
    were = {name: (rank, score) for rank, (name, score) in enumerate(replay.ranking(at - 1) if at else (), 1)}
    origins = {s.query: f"{s.origin} {r.number}" for r in replay.rounds[: at + 1][::-1] for s in r.searches}
    queried = replay.rounds[at].queried
    rows = []
    for rank, (name, score) in enumerate(now, 1):
        if rank > SHOWN and name not in replay.gold:
            continue
        was = were.get(name)
        gained = score - was[1] if was else 0.0
        rows.append(
            (
                rank,
                _change(rank, was and was[0]) if at else "",
                score,
                f"{gained:+.2g}" if gained else "",
                _passage(name, passages, replay.gold),
                origins.get(queried.get(name, ""), ""),
            )
        )
    missing = [name for name in replay.gold if name not in {name for name, _ in now}]
    rows += [(None, "not found", None, "", _passage(name, passages, replay.gold), "") for name in missing]
    return table(["rank", "±", "score", "gained", "passage", "score by"], rows)


def _end(replay: Replay, passages: Passages) -> str:
    old = {name: before for name, before, _ in replay.moved}
    verified = [
        (_passage(name, passages, replay.gold), old.get(name), new)
        for name in replay.verified
        for new in [replay.ranks([name])[name][-1]]
    ]
    chosen = [
        (rank, score, _passage(name, passages, replay.gold), ", ".join(WHY[why] for why in whys))
        for rank, (name, score) in enumerate(replay.final, 1)
        if (whys := replay.why(name))
    ]
    return (
        (_chain(replay.chain) if replay.chain else "")
        + f"<p><b>verifier</b> <span class='q'>{len(replay.verified)} passages support the chain</span></p>"
        + (table(["passage", "rank before", "rank at the end"], verified) if verified else "")
        + (f"<p><b>cut</b> <span class='q'>{esc(_cut_says(replay.cut))}</span></p>" if replay.cut else "")
        + (table(["rank", "score", "for the reader", "why"], chosen) if chosen else "")
    )


def _chain(chain: Chain) -> str:
    steps = "".join(f"<li>{esc(step)}</li>" for step in chain.steps)
    return (
        (f"<p class='bad'>{esc(chain.failure)}</p>" if chain.failure else "")
        + f"<p><b>reasoning chain</b></p><p>{esc(chain.chain)}</p>"
        + (f"<ul>{steps}</ul>" if steps else "")
        + (f"<p class='q'>bridges: {esc(', '.join(chain.bridges))}</p>" if chain.bridges else "")
    )


def _end_says(replay: Replay) -> str:
    parts = [clean(replay.chain.chain, 160)] if replay.chain else []
    parts.append(f"{len(replay.verified)} verified")
    return "; ".join([*parts, *([_cut_says(replay.cut)] if replay.cut else [])])


def _cut_says(cut: Cut) -> str:
    return (
        f"μ {number(cut.mu)} + σ {number(cut.sigma)} = {number(cut.threshold)}, policy {clean(cut.policy, 40)}: "
        f"{len(cut.kept)} kept, {len(cut.filled)} to fill up"
    )


def _change(rank: int, before: int | None) -> str:
    if before is None:
        return "new"
    space = "\u00a0"  # so that no narrow column parts them
    return f"▲{space}{before - rank}" if rank < before else f"▼{space}{rank - before}" if rank > before else ""


def _passage(name: str, passages: Passages, gold: tuple[str, ...]) -> Markup:
    mark = " <span class='tag'>gold</span>" if name in gold else ""
    known = passages.get(name)
    if known is None:
        return Markup(esc(name, NAME) + mark)
    return Markup(
        details(esc(_title(name, passages)) + mark, f"<p class='q'>{esc(name, NAME)}</p><p>{esc(known.text)}</p>")
    )


def _title(name: str, passages: Passages) -> str:
    known = passages.get(name)
    return short((known.title or known.text) if known else name, 80)
