"""A method of a run with a place in a paper's tables: its rows, its values, and the judgements of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.evaluation.pairs import DIMENSIONS, Judgement, on_disk, wins
from workbench.evaluation.run import Run
from workbench.evaluation.significance import mean_of_repeats, paired_test
from workbench.measures import UNDEFINED_AS_A_WHOLE
from workbench.papers.placing import Place

SEED = 0  # of the resampling
COVERED = " of covered"  # ends a measure that is taken over the questions whose answer was retrieved
COVERAGE = "coverage:substring"
DIMENSION = {"logicality": "logicity"}  # as Table 3 of DotRAG spells it


def by_question(values: Iterable[tuple[Mapping[str, Any], float | None]]) -> dict[str, list[float]]:
    """Question id → the values of its rows, (row, value), without those that are None."""
    found: dict[str, list[float]] = {}
    for row, value in values:
        if value is not None:
            found.setdefault(row["question_id"], []).append(value)
    return found


def judgements_of(run: Run, a: str, b: str) -> tuple[str, list[Judgement]]:
    """(the judge, what it said of the answers of two methods): on disk, or as a run that is foreseen says it."""
    foreseen = getattr(run, "judgements", None)
    return foreseen(a, b) if foreseen else on_disk(run, a, b)


@dataclass(frozen=True, eq=False)
class Measured:
    """A method of a run with a place in the tables."""

    run: Run
    label: str
    place: Place

    @property
    def repeats(self) -> int:
        return self.run.repeats

    @property
    def deterministic(self) -> bool:
        """Whether repeats cannot differ."""
        return self.run.deterministic(self.label)

    @property
    def rows(self) -> list[dict]:
        """Those of the first repeat."""
        return self.repeated[0]

    @cached_property
    def repeated(self) -> list[list[dict]]:
        """The rows of each repeat."""
        mine = [[row for row in run.rows if row["method"] == self.label] for run in self.run.repeated]
        return [[row for row in rows if self.place.hops in (None, row.get("hops"))] for rows in mine]

    @property
    def every(self) -> list[dict]:
        """The rows of all repeats."""
        return [row for rows in self.repeated for row in rows]

    @property
    def described(self) -> dict:
        return self.run.config["methods"][self.label]

    @property
    def layers(self) -> dict[str, dict]:
        return self.described["layers"]

    @property
    def reading(self) -> dict:
        """What the run says of its reader; nothing in earlier formats."""
        return self.run.config.get("reading") or {}

    def counted(self, measure: str) -> list[dict]:
        """The rows over which a measure is taken."""
        covered = (self.place.ours(measure) or "").endswith(COVERED)
        return [row for row in self.every if not covered or row["scores"].get(COVERAGE) == 1]

    def values(self, measure: str) -> dict[str, list[float]]:
        """Question id → the values of its repeats, where the measure is defined."""
        ours, covered, _ = (self.place.ours(measure) or "").partition(COVERED)
        if ours not in self.run.measures or (covered and COVERAGE not in self.run.measures):
            return {}
        if ours in UNDEFINED_AS_A_WHOLE and not self.run.scores(ours, self.label):
            return {}
        return by_question((row, row["scores"].get(ours)) for row in self.counted(measure))

    def scores(self, measure: str) -> dict[str, float]:
        """Question id → the mean of its repeats."""
        return {one: mean_of_repeats(several) for one, several in self.values(measure).items()}

    def p(self, measure: str, other: Measured) -> float | None:
        """Of the paired test against another method over the questions of both; None if they have none in common."""
        ours, theirs = self.scores(measure), other.scores(measure)
        common = sorted(ours.keys() & theirs.keys())
        return paired_test([ours[q] for q in common], [theirs[q] for q in common], seed=SEED) if common else None


@dataclass(frozen=True, eq=False)
class Compared(Measured):
    """A method whose answers were judged against those of `other`, which has its place in the same run."""

    other: Measured
    first: bool  # whether the win rate is of this method

    @cached_property
    def judgements(self) -> tuple[str, list[Judgement]]:
        """(the judge, what it said) of the pairs on disk; those of the place's hops."""
        a, b = (self, self.other) if self.first else (self.other, self)
        ids = {row["question_id"] for row in self.rows}
        judge, judgements = judgements_of(self.run, a.label, b.label)
        return judge, [judgement for judgement in judgements if judgement.question_id in ids]

    @property
    def repeats(self) -> int:
        """How many were judged."""
        return 1 + max((judgement.repeat for judgement in self.judgements[1]), default=0)

    @property
    def deterministic(self) -> bool:
        return super().deterministic and self.other.deterministic

    def values(self, measure: str) -> dict[str, list[float]]:
        """Question id → whether it won, of each repeat that was judged."""
        dimension = DIMENSION.get(measure, measure)
        won = wins(self.judgements[1], dimension) if dimension in DIMENSIONS else {}
        return {one: [value if self.first else 1 - value for value in several] for one, several in won.items()}
