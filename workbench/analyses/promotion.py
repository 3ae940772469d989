"""The rank of every gold passage after each round, and where it is lost. "Beyond Static Retrieval" (arXiv 2509.25530)
claims that coverage is already high, and that quality depends on bridge passages ranking first.

The fate of a gold passage:

    read        the reader sees it: the method selected it, or it ranks among as many passages as the reader takes
    cut         it ranked high enough, or the verifier chose it, but the cut removed it
    sunk        found, but ranked too low at the end
    not found   by no query of any round"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.analyses.base import Analysis, asked, cautions, frame_of
from workbench.analyses.traces import iterative_methods, replays
from workbench.evaluation.run import Run
from workbench.methods.iterative.replay import Replay
from workbench.records import Question
from workbench.settings import parse_spec

DEPTHS = (5, 10, 50, 200)
FATES = ("read", "cut", "sunk", "not found")


@dataclass(frozen=True, slots=True, repr=False)
class Promotion(Analysis):
    """Rows: method, stage (a round, or the end after promotion and cut), gold (number of gold passages), first 5, first
    10 … (how many of them rank among the first 5, 10 …), found. `gold`: each gold passage with its rank at every stage
    and its fate."""

    gold: tuple[dict[str, Any], ...] = field(default=(), hash=False)

    def passages(self) -> pd.DataFrame:
        """One row per method and gold passage: question_id, method, passage, its rank at each stage (None: not
        found), fate."""
        return frame_of({**{k: v for k, v in one.items() if k != "ranks"}, **one["ranks"]} for one in self.gold)

    def fates(self) -> pd.DataFrame:
        """The number of gold passages of each method that were read, cut, sunk, not found."""
        counts: dict[str, dict[str, int]] = {}
        for one in self.gold:
            counts.setdefault(one["method"], dict.fromkeys(FATES, 0))[one["fate"]] += 1
        return frame_of({"method": method, **count} for method, count in counts.items())

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"Gold passages by rank": self.frame(), "What became of them": self.fates()}


def promotion(
    run: Run,
    questions: Iterable[Question],
    methods: Iterable[str] | None = None,
    *,
    read: int | None = None,
    progress: bool = True,
) -> Promotion:
    """The ranks of every gold passage over the rounds of each iterative method, from the traces of the run. `read` is
    the number of passages that a reader takes if the method selects none: by default the `k` of the run's reader, or 5.
    After an early stop, ranks stay constant."""
    chosen = iterative_methods(run, methods)
    read = read or parse_spec(run.config["reader"] or "direct")[1].get("k", 5)
    gold = {one: question.support for one, question in asked(run, questions).items() if question.support}
    rows: list[dict] = []
    passages: list[dict] = []
    for method in chosen:
        found = replays(run, method, gold, progress=progress)
        rounds = max((len(one.rounds) for one in found.values()), default=0)
        stages = [f"round {number}" for number in range(rounds)]
        stages += ["end"] * any(one.concludes for one in found.values())
        mine = [
            {"question_id": one, "method": method, **way}
            for one, support in gold.items()
            for way in _ways(found.get(one), support, stages, rounds, read)
        ]
        rows += [_row(method, stage, [way["ranks"][stage] for way in mine]) for stage in stages]
        passages += mine
    notes = list(cautions(run))
    if not gold:
        notes.append("No question has gold passages.")
    depths = {run.config["methods"][name]["settings"].get("depth") for name in chosen} - {None}
    notes.append(f"Each query fetched {' or '.join(map(str, sorted(depths)))} passages; beyond them none is found.")
    return Promotion("Gold passages through the rounds", tuple(rows), tuple(notes), tuple(passages), draw="promotion")


def _ways(
    replay: Replay | None, support: Sequence[str], stages: Sequence[str], rounds: int, read: int
) -> Iterator[dict]:
    """Rank at each stage and fate of a question's gold passages; none is found if the question failed."""
    for position, passage in enumerate(support):
        if replay is None:
            yield {"passage": passage, "ranks": dict.fromkeys(stages), "fate": "not found"}
            continue
        kept = replay.gold[position]
        ranks = replay.ranks([kept])[kept]
        pooled = list(ranks[: len(replay.rounds)])
        pooled += [pooled[-1]] * (rounds - len(pooled))
        ended = [ranks[-1]] * (len(stages) - rounds)
        yield {
            "passage": passage,
            "ranks": dict(zip(stages, pooled + ended, strict=True)),
            "fate": _fate(replay, kept, pooled, read),
        }


def _fate(replay: Replay, passage: str, pooled: Sequence[int | None], read: int) -> str:
    """`pooled` are its ranks in the pools."""
    if not any(pooled):
        return "not found"
    high = pooled[-1] is not None and pooled[-1] <= read
    if replay.cut is None:
        return "read" if high else "sunk"
    if passage in (*replay.cut.kept, *replay.cut.filled):
        return "read"
    return "cut" if high or passage in replay.verified else "sunk"


def _row(method: str, stage: str, ranks: Sequence[int | None]) -> dict[str, Any]:
    found = [rank for rank in ranks if rank is not None]
    within = {f"first {depth}": sum(rank <= depth for rank in found) for depth in DEPTHS}
    return {"method": method, "stage": stage, "gold": len(ranks), **within, "found": len(found)}
