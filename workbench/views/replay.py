"""The view of a replay: round by round, then the conclusion; and the ranks of passages from stage to stage (a bump
chart, drawn by `viewer/bump.js`, and for print by matplotlib), with the position of the cut.

A trace has no titles and texts of passages; a view shows them if `passages`, by id, are given, otherwise ids. Shapes
repeat the colours: gold passages are diamonds with a thick line, those that the verifier chose triangles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from matplotlib.axes import Axes
from matplotlib.patheffects import Normal, Stroke

from workbench.display import text
from workbench.errors import SettingError
from workbench.methods.iterative.events import Chain, Cut, Ranking, Search
from workbench.methods.iterative.replay import END, Replay, Round
from workbench.records import Passage
from workbench.text import clean, counted, short
from workbench.views import charts
from workbench.views.charts import Picture, plain_label
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION
from workbench.views.parts import (
    NAME,
    Part,
    faint,
    group,
    line,
    marked,
    number,
    picture,
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
from workbench.views.stepped import Stage, stages_part

if TYPE_CHECKING:
    from workbench.methods.catrag.steering import StagedWalk

SHOWN, FOUND = 10, 5  # passages of the pool and of one search that a view lists
Passages = Mapping[str, Passage]
Staged: TypeAlias = "Replay | StagedWalk"  # rankings of passages over named stages
WHY = {"verified": "supports the chain", "score": "score ≥ μ + σ", "filled": "fills up"}


view.register(Replay, lambda replay: group(heading(replay), stepped(replay)))
view.register(Search, lambda search: _searches((search,), {}))
text.register(Cut, lambda cut: f"Cut: {_cut_says(cut)}")


@text.register
def _(record: Round) -> str:
    texts = "; ".join(f"{clean(name, 40)}: {clean(words, 300)}" for name, words in record.texts.items())
    searches = counted(len(record.searches), "search", "searches")
    return f"Round {record.number}: {texts or 'no thought'}; {searches}, {len(record.pool):,} in the pool"


def stepped(replay: Replay, passages: Passages | None = None) -> Part:
    """The chart of ranks, and below it the rounds and the end as steps."""
    stages = [Stage(name, part=stage_part(replay, at, passages)) for at, name in enumerate(replay.stages)]
    return stages_part(stages, ranks_part(replay, len(stages) - 1, passages))


def heading(replay: Replay) -> Part | None:
    """The question, the method, and why it stopped before its last round, fell back or failed."""
    stopped = f"stopped: the thought of round {replay.stopped} asks for no more"
    return trace_heading(replay, None if replay.stopped is None else stopped)


def stage_part(replay: Replay, stage: int, passages: Passages | None = None) -> Part | None:
    """One stage, as a part of a page. `stage` is a position in `replay.stages`."""
    by_id = passages or {}
    return _end(replay, by_id) if replay.stages[stage] == END else _round(replay, stage, by_id)


def _round(replay: Replay, at: int, passages: Passages) -> Part | None:
    current, before = replay.rounds[at], replay.rounds[at - 1].pool if at else ()
    given = tag("given by hand") if current.given else None
    nothing = "the thought asks for no more" if current.done else "all of this had been asked before"
    searched = _searches(current.searches, passages, before, current.texts.values())
    return group(
        line(current.failure, look="bad"),
        line("scores of different scales met in the pool", look="note") if current.mixed else None,
        *(line(tag(name, limit=40), given, thought) for name, thought in current.texts.items()),
        searched if current.searches else quiet(nothing),
        titled("pool", f"{counted(len(current.pool), 'passage')}, {clean(current.scale, 60)}"),
        _ranking(replay, at, passages),
    )


def _searches(
    searches: Sequence[Search], passages: Passages, before: Ranking = (), thoughts: Collection[str] = ()
) -> Part | None:
    """The results of each query, side by side; passages that were not in the pool are marked as new. Queries that
    are among the `thoughts` above are not repeated."""
    pool, lines, columns = {name for name, _ in before}, [], []
    for search in searches:
        query = None if search.query in thoughts else search.query
        why = marked("bad", search.failure) or faint(search.fallback)
        lines.append(line(tag(search.origin, limit=40), query, why) if query or why else None)
        columns.append([
            words(
                label_of(name, passages, 80), faint(number(score)), tag("new") if before and name not in pool else None
            )
            for name, score in search.ranking[:FOUND]
        ])  # fmt: skip
    rows = [(rank, *row) for rank, row in enumerate(zip_longest(*columns, fillvalue=""), 1)]
    return group(*lines, table(["", *(f"found for {clean(search.origin, 40)}" for search in searches)], rows))


def _ranking(replay: Replay, at: int, passages: Passages) -> Part | None:
    """The best of the pool, then the gold passages further down, with their gains and the query of their score."""
    now = replay.ranking(at)
    were = {name: (rank, score) for rank, (name, score) in enumerate(replay.ranking(at - 1) if at else (), 1)}
    origins = {s.query: f"{s.origin} {r.number}" for r in replay.rounds[: at + 1][::-1] for s in r.searches}
    queried = replay.rounds[at].queried
    rows = []
    for rank, (name, score) in enumerate(now, 1):
        if rank > SHOWN and name not in replay.gold:
            continue
        was, before = were.get(name, (None, score))
        gained = f"{score - before:+.2g}" if score != before else ""
        moved = _change(rank, was) if at else ""
        by = origins.get(queried.get(name, ""), "")
        rows.append((rank, moved, score, gained, passage_cell(name, passages, replay.gold), by))
    missing = [name for name in replay.gold if name not in dict(now)]
    rows += [(None, "not found", None, "", passage_cell(name, passages, replay.gold), "") for name in missing]
    return table(["rank", "±", "score", "gained", "passage", "score by"], rows)


def _end(replay: Replay, passages: Passages) -> Part | None:
    old = {name: before for name, before, _ in replay.moved}
    verified = [
        (passage_cell(name, passages, replay.gold), old.get(name), replay.ranks([name])[name][-1])
        for name in replay.verified
    ]
    chosen = [
        (rank, score, passage_cell(name, passages, replay.gold), ", ".join(WHY[why] for why in whys))
        for rank, (name, score) in enumerate(replay.final, 1)
        if (whys := replay.why(name))
    ]
    return group(
        _chain(replay.chain) if replay.chain else None,
        titled("verifier", f"{len(replay.verified)} passages support the chain"),
        table(["passage", "rank before", "rank at the end"], verified),
        titled("cut", _cut_says(replay.cut)) if replay.cut else None,
        table(["rank", "score", "for the reader", "why"], chosen),
    )


@view.register(Chain)
def _chain(chain: Chain) -> Part | None:
    return group(
        line(chain.failure, look="bad"),
        line(strong("reasoning chain")),
        line(chain.chain),
        points(*chain.steps),
        quiet(f"bridges: {', '.join(chain.bridges)}" if chain.bridges else ""),
    )


def _cut_says(cut: Cut) -> str:
    return (
        f"μ {number(cut.mu)} + σ {number(cut.sigma)} = {number(cut.threshold)}, policy {clean(cut.policy, 40)}: "
        f"{len(cut.kept)} kept, {len(cut.filled)} to fill up"
    )


def _change(rank: int, before: int | None) -> str:
    if before is None:
        return "new"
    space = "\u00a0"  # keeps both together in a narrow column
    return f"▲{space}{before - rank}" if rank < before else f"▼{space}{rank - before}" if rank > before else ""


# -- bump -------------------------------------------------------------------------------------------------------------

TOP = 10  # ranks that have a row of their own
_STEP, _LETTER = 56, 6.7  # pixels of a stage, and of a letter of its name


class RankHistory(NamedTuple):
    """The ranks of a passage at each stage, and its rows in the picture. A rank among the first is the row; below them
    each gold passage has a row of its own, and any other passage has None."""

    passage: str
    gold: bool
    chosen: bool
    ranks: tuple[int | None, ...]
    rows: tuple[int | None, ...]


def rank_histories(replay: Staged, top: int = TOP) -> list[RankHistory]:
    """The histories of all passages that are among the first `top` at any stage, then of the gold passages."""
    if not (isinstance(top, int) and top >= 1):
        raise SettingError(f"top={top!r}; it should be a number of ranks of at least 1")
    first = dict.fromkeys(name for stage in range(len(replay.stages)) for name, _ in replay.ranking(stage)[:top])
    names = [name for name in first if name not in replay.gold] + list(dict.fromkeys(replay.gold))
    histories, below = [], top + 1
    for name, ranks in replay.ranks(names).items():
        gold = name in replay.gold
        beyond = [rank is None or rank > top for rank in ranks]
        rows = [(below if gold else None) if far else rank for rank, far in zip(ranks, beyond)]
        below += gold and any(beyond)
        histories.append(RankHistory(name, gold, name in replay.verified, ranks, tuple(rows)))
    return histories


def ranks_data(replay: Staged, passages: Passages | None = None, top: int = TOP) -> dict[str, Any]:
    """The data that `viewer/bump.js` draws."""
    rows = [history._asdict() for history in rank_histories(replay, top)]
    for row in rows:
        row["label"] = label_of(row.pop("passage"), passages)
    return {
        "stages": [clean(name, 60) for name in replay.stages],
        "top": top,
        "end": replay.stages.index(END) if END in replay.stages else -1,
        "passages": rows,
    }


def ranks_part(replay: Staged, at: int, passages: Passages | None = None) -> Part:
    """The chart at a stage, as a part of a page; a page without scripts lists the ranks of gold passages."""
    gold = (
        f"gold {label_of(name, passages, 60)}: {' → '.join(str(rank or '–') for rank in ranks)}"
        for name, ranks in replay.ranks(replay.gold).items()
    )
    return picture("bump", ranks_data(replay, passages) | {"at": at}, *gold)


def bump_figure(
    replay: Staged, passages: Mapping[str, Passage] | None = None, top: int = TOP, ylabel: str = "rank in the pool"
) -> Picture:
    """The picture of the replay widget, for print."""
    histories, stages = rank_histories(replay, top), replay.stages
    rows = max((row for history in histories for row in history.rows if row), default=top)
    names = [plain_label(label_of(history.passage, passages), 44) for history in histories]
    step = max(_STEP, round(_LETTER * max(map(len, stages), default=0)) + 2)  # room for the longest name
    figure, (axes,) = charts.panels(1.2 + 0.9 * (step / _STEP) * len(stages), 0.26 * rows + 1.3, ends=names)
    axes.spines["bottom"].set_visible(False)
    ends = []
    for history, name in zip(histories, names):
        _draw_history(axes, history, stages, top)
        if history.rows[-1]:
            ends.append(charts.end(axes, name, history.rows[-1], VERMILION if history.gold else "#000000"))
    axes.set_xticks(range(len(stages)), stages)
    axes.set_yticks(range(1, min(rows, top) + 1))
    axes.set(xlim=(-0.3, len(stages) - 0.5), ylim=(rows + 0.6, 0.4), ylabel=ylabel)
    looks = {"gold": {"color": VERMILION, "marker": "D"}, "other passages": {"color": GREY, "marker": "o"}}
    looks |= {"chosen by the verifier": {"color": GREEN, "marker": "^", "linestyle": ""}} if replay.verified else {}
    charts.legend(figure, looks)
    data = charts.table(["passage", *stages], ((history.passage, *history.ranks) for history in histories))
    description = f"ranks of passages over {len(stages)} stages of {replay.method}"
    return charts.picture(figure, description, data, ends, heading=replay.question)


def _draw_history(axes: Axes, history: RankHistory, stages: Sequence[str], top: int) -> None:
    colour = VERMILION if history.gold else GREY
    axes.plot(range(len(stages)), [float("nan") if row is None else row for row in history.rows], color=colour,
              linewidth=2.6 if history.gold else 0.9, zorder=2 + history.gold)  # fmt: skip
    for stage, (row, rank) in enumerate(zip(history.rows, history.ranks)):
        if row is None:
            continue
        promoted = history.chosen and stages[stage] == END
        axes.plot(
            stage, row, linestyle="", zorder=4, markersize=8 if promoted else 6,
            marker="^" if promoted else "D" if history.gold else "o", color=GREEN if promoted else colour,
            markerfacecolor=None if rank else "white",
        )  # fmt: skip
        if row > top:
            axes.annotate(
                rank or "not found", (stage, row), xytext=(6, 4), textcoords="offset points", fontsize=8, zorder=5,
                path_effects=[Stroke(linewidth=2.5, foreground="white"), Normal()],
            )  # fmt: skip


_REASONS = {  # marks of a passage by the first reason for which the cut keeps it
    "": ("not chosen", GREY, ".", 5),
    "score": ("passes by its score", BLUE, "o", 6),
    "verified": ("chosen by the verifier", GREEN, "^", 8),
    "filled": ("fills up", ORANGE, "s", 6),
}


def scores_figure(replay: Replay, top: int = 50) -> Picture:
    """The scores of the first `top` passages at the end, and the line mu + sigma of the cut: which pass it, which the
    verifier chose, which fill up."""
    if replay.cut is None:
        raise SettingError(f"{replay.method} makes no cut; take the replay of bdtr with bgec=true")
    cut = replay.cut
    levels = {f"μ + σ = {cut.threshold:.4g}": (cut.threshold, BLUE), f"μ = {cut.mu:.4g}": (cut.mu, GREY)}
    figure, (axes,) = charts.panels(5.8, 3.6, ends=levels)
    groups: dict[str, list[tuple[int, float]]] = {reason: [] for reason in _REASONS}
    for rank, (name, score) in enumerate(replay.final[:top], 1):
        groups[_reason(replay, name)].append((rank, score))
        if name in replay.gold:
            axes.plot(rank, score, marker="o", markersize=14, markerfacecolor="none", color=VERMILION)
    looks = {}
    for reason, (label, colour, marker, size) in _REASONS.items():
        if groups[reason]:
            looks[label] = {"linestyle": "", "marker": marker, "color": colour, "markersize": size}
            axes.plot(*zip(*groups[reason]), **looks[label], label=label)
    for name, (level, colour) in levels.items():
        axes.axhline(level, color=colour, linewidth=1, linestyle="-" if colour == BLUE else "--", label=name)
    axes.set(xlabel="rank at the end", ylabel=f"score ({plain_label(replay.rounds[-1].scale, 40)})")
    circled = {"gold": {"linestyle": "", "marker": "o", "markerfacecolor": "none", "color": VERMILION}}
    charts.legend(figure, looks | (circled if replay.gold else {}))
    ranked = enumerate(replay.final[:top], 1)
    rows = ((rank, name, score, _reason(replay, name)) for rank, (name, score) in ranked)
    data = charts.table(["rank", "passage", "score", "kept by"], rows)
    ends = [charts.end(axes, name, level, colour) for name, (level, colour) in levels.items()]
    return charts.picture(
        figure, f"scores at the end of {replay.method} and its cut", data, ends, heading=replay.question
    )


def _reason(replay: Replay, name: str) -> str:
    return next((reason for reason in ("verified", "score", "filled") if reason in replay.why(name)), "")


def label_of(name: str, passages: Passages | None = None, letters: int = NAME) -> str:
    """The title of a passage, its text or its id, shortened to `letters`."""
    passage = (passages or {}).get(name)
    return short((passage.title or passage.text) if passage else name, letters)
