"""Agreement of the facts of two indexes over the same passages, such as facts by rules or by a model against curated
ones, and its effect on retrieval.

    found = wb.compare_extractions(index, curated)              # precision and recall of names, pairs and facts
    found = wb.compare_extractions(index, curated, (run, other))    # and the means of a run on each
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.records import Record

SHOWN = 8  # facts that are listed of each kind
MEASURES = ("recall@5", "all_gold@5")


class Overlap(NamedTuple):
    """How many of one kind both have. `precision` is the share of ours that the reference has, `recall` the share of
    the reference that we have; None where there are none."""

    what: str
    ours: int
    reference: int
    common: int

    @property
    def precision(self) -> float | None:
        return self.common / self.ours if self.ours else None

    @property
    def recall(self) -> float | None:
        return self.common / self.reference if self.reference else None


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Record):
    """`by` and `reference` name who extracted either. `missed` are facts of the reference whose ends ours do not join
    anywhere, `added` facts of ours whose ends the reference does not join: the first in the order of the passages.
    `retrieval` has a row per method: its means on both."""

    name: str
    by: tuple[str, ...]
    reference: tuple[str, ...]
    overlaps: tuple[Overlap, ...]
    missed: tuple[tuple[str, str, str], ...]
    added: tuple[tuple[str, str, str], ...]
    retrieval: tuple[dict[str, Any], ...] = field(default=(), hash=False)

    def frame(self) -> pd.DataFrame:
        """A row per kind: counts, precision and recall."""
        rows = (
            {**overlap._asdict(), "precision": overlap.precision, "recall": overlap.recall} for overlap in self.overlaps
        )
        return pd.DataFrame(rows)


def compare_extractions(
    index: Index, reference: Index, runs: tuple[Run, Run] | None = None, measures: Sequence[str] = MEASURES
) -> Agreement:
    """Compare the facts of `index` with those of `reference`, and the `measures` of a run on each.

    Names, the pairs of names that a fact joins (in either direction), and facts are compared by passage and by their
    normalised words. So the same fact in other words counts as missed; `pairs` depend on the names alone. Raises
    :class:`SettingError` if the indexes or the runs are not of the same passages, questions and methods."""
    if index.passages.passages != reference.passages.passages:
        raise SettingError(f"{index.folder} and {reference.folder} have different passages; pass indexes of one corpus")
    ours, theirs = list(_stated(index)), list(_stated(reference))
    overlaps = tuple(
        Overlap(what, len(mine), len(other), len(mine & other))
        for what in ("names", "pairs", "facts")
        for mine, other in [(_of(what, ours), _of(what, theirs))]
    )
    return Agreement(
        index.name,
        index.facts_by,
        reference.facts_by,
        overlaps,
        _unjoined(theirs, _of("pairs", ours)),
        _unjoined(ours, _of("pairs", theirs)),
        tuple(_retrieval(*runs, measures)) if runs else (),
    )


_Stated = tuple[int, tuple[str, str, str]]  # a passage's row, and a fact that it states


def _stated(index: Index) -> Iterator[_Stated]:
    """What each passage states, in the words of the facts layer."""
    for passage, fact in zip(*(rows.tolist() for rows in index.facts.stated)):
        yield passage, index.facts.facts[fact]


def _of(what: str, stated: Sequence[_Stated]) -> set[Hashable]:
    if what == "names":
        return {(passage, name) for passage, fact in stated for name in (fact[0], fact[2])}
    if what == "pairs":
        return {_pair(passage, fact) for passage, fact in stated}
    return set(stated)


def _pair(passage: int, fact: tuple[str, str, str]) -> tuple[int, frozenset[str]]:
    return passage, frozenset((fact[0], fact[2]))


def _unjoined(stated: Sequence[_Stated], pairs: set[Hashable]) -> tuple[tuple[str, str, str], ...]:
    return tuple(dict.fromkeys(fact for passage, fact in stated if _pair(passage, fact) not in pairs))[:SHOWN]


def _retrieval(run: Run, other: Run, measures: Sequence[str]) -> Iterator[dict[str, Any]]:
    if [q.id for q in run.questions] != [q.id for q in other.questions]:
        raise SettingError(f"{run.folder} and {other.folder} have different questions; evaluate both on the same")
    ours, theirs = run.table(), other.table()
    if missing := [name for name in measures if name not in ours or name not in theirs]:
        raise SettingError(f"one of the runs lacks {missing[0]}; pass measures=… that both have")
    for name in (name for name in run.methods if name in other.methods):
        means = {
            f"{measure}, {side}": float(table.loc[name, measure])
            for measure in measures
            for side, table in (("ours", ours), ("reference", theirs))
        }
        yield {"method": name, **means}
