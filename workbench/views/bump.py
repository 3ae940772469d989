"""How passages rise and sink from round to round, and where the cut falls: the same picture for a widget and on paper.

Shape says what colour says: gold passages are diamonds with a thick line, those that the verifier chose triangles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.patheffects import Normal, Stroke

from workbench.errors import SettingError
from workbench.methods.iterative.replay import END, Replay
from workbench.records import Passage
from workbench.views.base import clean, esc, short
from workbench.views.figures import Picture, plain_label
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, VERMILION

TOP = 10  # ranks that have a row of their own
_LEFT, _STEP, _HEAD, _ROW, _LETTER = 26, 56, 30, 21, 6.7  # pixels: margin, stage, header, row, letter of a label
# What keeps a number readable where a line runs under it.
_HALO = ' style="paint-order:stroke;stroke:var(--jp-layout-color0,#fff);stroke-width:3px"'


class Lane(NamedTuple):
    """The way of one passage: its rank and its row at each stage. A passage that is not gold has a row only among the
    first; a gold one has a row of its own below them."""

    passage: str
    gold: bool
    verified: bool
    ranks: tuple[int | None, ...]
    rows: tuple[int | None, ...]


def lanes(replay: Replay, top: int = TOP) -> list[Lane]:
    """The ways of all passages that are among the first `top` at any stage, and of the gold ones, which come last."""
    if not (isinstance(top, int) and top >= 1):
        raise SettingError(f"top={top!r}; it should be a whole number of ranks from 1 on")
    stages = range(len(replay.stages))
    shown = dict.fromkeys(name for stage in stages for name, _ in replay.ranking(stage)[:top])
    shown = [name for name in shown if name not in replay.gold] + list(dict.fromkeys(replay.gold))
    made, below = [], top + 1
    for name, ranks in replay.ranks(shown).items():
        gold = name in replay.gold
        beyond = [rank is None or rank > top for rank in ranks]
        rows = [(below if gold else None) if far else rank for rank, far in zip(ranks, beyond)]
        below += gold and any(beyond)
        made.append(Lane(name, gold, name in replay.verified, ranks, tuple(rows)))
    return made


def bump_svg(
    replay: Replay, at: int, passages: Mapping[str, Passage] | None = None, top: int = TOP, letters: int = 36
) -> str:
    """The ways as SVG in the colours of the page that it stands in, with labels of so many letters. Stage `at` is
    marked; what comes after it is faint."""
    drawn, stages = lanes(replay, top), replay.stages
    rows = max((row for lane in drawn for row in lane.rows if row), default=top)
    width, height = round(_LEFT + _STEP * len(stages) + _LETTER * letters), _HEAD + _ROW * rows + 8
    parts = [
        f'<rect x="{_x(at) - _STEP / 2:g}" y="2" width="{_STEP}" height="{height - 4}" rx="4" '
        'fill="currentColor" fill-opacity="0.08"/>',
        *(
            f'<text x="{_x(stage):g}" y="18" text-anchor="middle"{_bold(stage == at)}>{esc(name)}</text>'
            for stage, name in enumerate(stages)
        ),
        *(f'<text x="6" y="{_y(row) + 4}" opacity="0.6">{row}</text>' for row in range(1, min(rows, top) + 1)),
    ]
    for lane in drawn:
        said = _label(lane.passage, passages)
        colour, thick = (VERMILION, 3) if lane.gold else (GREY, 1.3)
        for stage, (row, after) in enumerate(zip(lane.rows, lane.rows[1:])):
            if row and after:
                parts.append(
                    f'<line x1="{_x(stage):g}" y1="{_y(row)}" x2="{_x(stage + 1):g}" y2="{_y(after)}" '
                    f'stroke="{colour}" stroke-width="{thick}"{_faint(stage + 1 > at)}/>'
                )
        for stage, (row, rank) in enumerate(zip(lane.rows, lane.ranks)):
            if row:
                parts.append(
                    f"<g{_faint(stage > at)}><title>{esc(said)}: {_rank(rank)}</title>"
                    f"{_mark(_x(stage), _y(row), colour, lane, stages[stage], found=rank is not None)}</g>"
                )
                if row > top:
                    parts.append(f'<text x="{_x(stage) + 8:g}" y="{_y(row) - 5}"{_HALO}>{_rank(rank)}</text>')
        if lane.rows[-1]:
            parts.append(
                f'<text x="{_x(len(stages) - 1) + _STEP / 2:g}" y="{_y(lane.rows[-1]) + 4}"{_bold(lane.gold)}>'
                f"{esc(short(said, letters))}</text>"
            )
    # White space is kept small because the widget's HTML would otherwise keep it.
    return (
        f'<svg class="hopscope-bump" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'style="display:block;font:12px var(--jp-ui-font-family,sans-serif);color:var(--jp-ui-font-color1,inherit);'
        f'max-width:none" fill="currentColor">{"".join(parts)}</svg>'
    )


def bump_figure(replay: Replay, passages: Mapping[str, Passage] | None = None, top: int = TOP) -> Picture:
    """The static twin of the picture in the player."""
    drawn, stages = lanes(replay, top), replay.stages
    rows = max((row for lane in drawn for row in lane.rows if row), default=top)
    figure = Figure(figsize=(4.2 + 0.9 * len(stages), 0.26 * rows + 1.1), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    for lane in drawn:
        places = [(stage, row) for stage, row in enumerate(lane.rows)]
        colour, thick = (VERMILION, 2.6) if lane.gold else (GREY, 0.9)
        axes.plot(range(len(stages)), [float("nan") if row is None else row for _, row in places], color=colour,
                  linewidth=thick, zorder=2 + lane.gold)  # fmt: skip
        for (stage, row), rank in zip(places, lane.ranks):
            if row is None:
                continue
            promoted = lane.verified and stages[stage] == END
            axes.plot(
                stage, row, linestyle="", zorder=4, markersize=8 if promoted else 6,
                marker="^" if promoted else "D" if lane.gold else "o", color=GREEN if promoted else colour,
                markerfacecolor=None if rank else "white",
            )  # fmt: skip
            if row > top:
                axes.annotate(
                    _rank(rank), (stage, row), xytext=(6, 4), textcoords="offset points", fontsize=8, zorder=5,
                    path_effects=[Stroke(linewidth=2.5, foreground="white"), Normal()],
                )  # fmt: skip
        if lane.rows[-1]:
            axes.annotate(
                plain_label(_label(lane.passage, passages), 44), (len(stages) - 1, lane.rows[-1]), xytext=(34, 0),
                textcoords="offset points", va="center", fontsize=8, fontweight="bold" if lane.gold else "normal",
            )  # fmt: skip
    axes.set_xticks(range(len(stages)), stages)
    axes.set_yticks(range(1, min(rows, top) + 1))
    axes.set(xlim=(-0.3, len(stages) - 0.7), ylim=(rows + 0.6, 0.4), ylabel="rank in the pool")
    axes.set_title(plain_label(replay.question, 90), loc="left", fontsize=9)
    figure.supxlabel(
        "diamond: gold" + ("; triangle: chosen by the verifier" if replay.verified else ""), fontsize=8, color=GREY
    )
    return Picture(figure, f"ranks of passages over {len(stages)} stages of {replay.method}")


def scores_figure(replay: Replay, top: int = 50) -> Picture:
    """The scores of the first `top` passages at the end, and the line mu + sigma of the cut: which pass it, which the
    verifier chose, which fill up."""
    if replay.cut is None:
        raise SettingError(f"{replay.method} makes no cut; take the replay of bdtr with bgec=true")
    cut, shown = replay.cut, replay.final[:top]
    figure = Figure(figsize=(6.8, 3.4), layout="constrained", dpi=110)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    kinds = {
        "not chosen": (GREY, ".", 5),
        "passes by its score": (BLUE, "o", 6),
        "chosen by the verifier": (GREEN, "^", 8),
        "fills up": (ORANGE, "s", 6),
    }
    groups: dict[str, list[tuple[int, float]]] = {name: [] for name in kinds}
    for rank, (name, score) in enumerate(shown, 1):
        why = replay.why(name)
        kind = 2 if "verified" in why else 1 if "score" in why else 3 if "filled" in why else 0
        groups[list(kinds)[kind]].append((rank, score))
        if name in replay.gold:
            axes.plot(rank, score, marker="o", markersize=14, markerfacecolor="none", color=VERMILION)
    for name, (colour, marker, size) in kinds.items():
        if groups[name]:
            axes.plot(*zip(*groups[name]), linestyle="", marker=marker, color=colour, markersize=size, label=name)
    axes.axhline(cut.threshold, color=BLUE, linewidth=1, label=f"μ + σ = {cut.threshold:.4g}")
    axes.axhline(cut.mu, color=GREY, linewidth=1, linestyle="--", label=f"μ = {cut.mu:.4g}")
    axes.set(xlabel="rank at the end", ylabel=f"score ({plain_label(replay.rounds[-1].scale, 40)})")
    axes.set_title(plain_label(replay.question, 90), loc="left", fontsize=9)
    axes.legend(frameon=False, fontsize=8, title="circled: gold" if replay.gold else None, title_fontsize=8)
    return Picture(figure, f"scores at the end of {replay.method} and its cut")


def _x(stage: int) -> float:
    return _LEFT + _STEP * (stage + 0.5)


def _y(row: int) -> int:
    return _HEAD + _ROW * row - _ROW // 2


def _mark(x: float, y: int, colour: str, lane: Lane, stage: str, *, found: bool) -> str:
    if lane.verified and stage == END:
        return f'<path d="M{x:g} {y - 7}l7 12h-14z" fill="{GREEN}"/>'
    if lane.gold:
        fill = colour if found else "none"
        return f'<path d="M{x:g} {y - 6}l6 6l-6 6l-6 -6z" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
    return f'<circle cx="{x:g}" cy="{y}" r="3.5" fill="{colour}"/>'


def _faint(later: bool) -> str:
    return ' opacity="0.25"' if later else ""


def _bold(bold: bool) -> str:
    return ' font-weight="600"' if bold else ""


def _rank(rank: int | None) -> str:
    return "not found" if rank is None else str(rank)


def _label(name: str, passages: Mapping[str, Passage] | None) -> str:
    """The title of a passage, its text or its id."""
    passage = (passages or {}).get(name)
    return clean((passage.title or passage.text) if passage else name, 200)
