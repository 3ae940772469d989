"""An iterative retrieval, read from its trace: thoughts, queries and results, round by round.

Nothing is recomputed, so a saved trace suffices, without index or engine. `workbench.methods.iterative` writes the
events, and `workbench.methods.bdtr` those of its conclusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.methods.events import read_as_written, root_of
from workbench.methods.iterative.events import (
    Chain,
    Cut,
    PoolEvent,
    Promotion,
    Ranking,
    RoundEvent,
    Search,
    ThoughtEvent,
    Verification,
)
from workbench.records import Record
from workbench.trace import Event, Trace

if TYPE_CHECKING:
    import pandas as pd

END = "end"


@dataclass(frozen=True, slots=True, repr=False)
class Round(Record):
    """One round. Round 0 is the first retrieval and has no thought.

    texts      the texts of the thought, by name (BDTR: fast, slow)
    queries    the resulting (origin, query); repeated ones have no search
    pool       the whole pool after the round; unchanged if nothing was searched
    queried    passage id → the query that gave it its score, for the first five
    risen      n (5, 10) → ids that entered the first n ranks in this round
    """

    number: int
    searches: tuple[Search, ...]
    pool: Ranking
    scale: str
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)
    queries: tuple[tuple[str, str], ...] = ()
    queried: Mapping[str, str] = field(default_factory=dict, hash=False)
    risen: Mapping[int, tuple[str, ...]] = field(default_factory=dict, hash=False)
    mixed: bool = False
    done: bool = False
    given: bool = False
    failure: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Replay(Record):
    """An iterative retrieval. `verified` are the passages that the verifier chose, `moved` their ranks before and after
    promotion, as (id, old, new); `final` is the order at the end. `gold` is given by the caller; the method does not
    see it. `engines` answered the Steps.

    `chain` and `cut` are None and `verified` is empty for methods that only think and retrieve."""

    question: str
    method: str
    rounds: tuple[Round, ...]
    final: Ranking
    chain: Chain | None = None
    verified: tuple[str, ...] = ()
    moved: tuple[tuple[str, int, int], ...] = ()
    cut: Cut | None = None
    gold: tuple[str, ...] = ()
    fallback: str | None = None
    failure: str | None = None
    engines: tuple[str, ...] = ()

    @property
    def stopped(self) -> int | None:
        """The round whose thought ended the search; None if the method continued to its last round."""
        return next((round.number for round in self.rounds if round.done), None)

    @property
    def concludes(self) -> bool:
        """Whether the method has a conclusion after the last round."""
        return self.chain is not None or self.cut is not None

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of the stages of a replay: the rounds, then the end if there is a conclusion."""
        rounds = (RoundEvent.step.format(round=round.number) for round in self.rounds)
        return (*rounds, *([END] if self.concludes else []))

    def ranking(self, stage: int) -> Ranking:
        """The order of the passages at a stage, by its position in `stages`."""
        return self.rounds[stage].pool if stage < len(self.rounds) else self.final

    def ranks(self, ids: Iterable[str] | None = None) -> dict[str, tuple[int | None, ...]]:
        """Passage id → its rank at each stage, from 1 on; None where it is not found. By default of the gold
        passages."""
        at = [{name: rank for rank, (name, _) in enumerate(self.ranking(s), 1)} for s in range(len(self.stages))]
        return {name: tuple(ranks.get(name) for ranks in at) for name in (self.gold if ids is None else ids)}

    def frame(self, ids: Iterable[str] | None = None) -> pd.DataFrame:
        """`ranks` for pandas: a row per passage, a column per stage."""
        import pandas as pd

        ranks = pd.DataFrame.from_dict(self.ranks(ids), orient="index", columns=list(self.stages), dtype="Int64")
        return ranks.rename_axis("passage")

    def why(self, passage: str) -> tuple[str, ...]:
        """The reasons why the cut chose a passage: `verified`, `score`, `filled`; empty if it did not."""
        if self.cut is None or passage not in (*self.cut.kept, *self.cut.filled):
            return ()
        passed = dict(self.final).get(passage, float("-inf")) >= self.cut.threshold
        return (
            *(["verified"] if passage in self.verified else []),
            *(["score"] if passed and self.cut.sigma > 0 else []),
            *(["filled"] if passage in self.cut.filled else []),
        )


def replay(trace: Trace, gold: Sequence[str] = ()) -> Replay:
    """The replay of a trace, in memory or opened from a file. `gold` are ids of passages to mark.

    Raises DataError for a trace without rounds, or with events that no iterative method writes."""
    take = "replay the trace of an iterative method, such as bdtr or ircot"
    root = root_of(trace, RoundEvent.step.format(round=0), "rounds", take)
    with read_as_written(root.step, "an iterative method"):
        return _replay(trace, root, tuple(gold))


def _replay(trace: Trace, root: Event, gold: tuple[str, ...]) -> Replay:
    parts = trace.children(root.id)
    by_step = {event.step: event for event in parts}
    rounds: list[Round] = []
    while (event := by_step.get(RoundEvent.step.format(round=len(rounds)))) is not None:
        rounds.append(_round(trace, event, rounds[-1] if rounds else None))
    verification, promotion, cut = Verification.find(parts), Promotion.find(parts), Cut.find(parts)
    return Replay(
        root.inputs["question"],
        root.step,
        tuple(rounds),
        by_step[Cut.step].scores if Cut.step in by_step else root.scores,
        Chain.find(parts),
        verification.selected if verification else (),
        promotion.moved if promotion else (),
        cut,
        gold,
        root.outputs.get("fallback"),
        root.failure,
        trace.engines,
    )


def _round(trace: Trace, event: Event, before: Round | None) -> Round:
    parts = trace.children(event.id)
    thought = ThoughtEvent.find(parts)
    pool = PoolEvent.find(part for part in parts if part.scores)
    return Round(
        RoundEvent.read(event).round,
        tuple(Search.read(part) for part in parts if part.step == Search.step),
        pool.ranking if pool else before.pool if before else (),
        pool.scale if pool else before.scale if before else "",
        thought.texts if thought else {},
        thought.queries if thought else (),
        pool.queries if pool else {},
        pool.risen if pool else {},
        pool.mixed if pool else False,
        thought.done if thought else False,
        thought.given if thought else False,
        (thought.failure if thought else None) or event.failure,
    )
