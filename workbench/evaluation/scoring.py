"""The input of the measures for a row, their values, and the verdict of a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench import measures as measures_
from workbench.errors import SettingError
from workbench.evaluation import identity
from workbench.index.index import Index
from workbench.llm.engine import Engine
from workbench.measures import Measure
from workbench.methods import Method
from workbench.reading.base import Reader
from workbench.reading.render import joined
from workbench.records import Question, Reading, record_of

Measures = Sequence[str | Measure]


@dataclass(frozen=True)
class Scoring:
    """The measures and the judge of an evaluation; `k`, `budget` and `trace` are those of `evaluate`."""

    methods: Mapping[str, Method]
    reader: Reader | None
    judge: Engine | None
    measures: Mapping[str, Measure]
    k: int
    budget: int | None
    trace: str

    @cached_property
    def graph(self) -> Index | None:
        return graph_of(self.methods)

    @property
    def index(self) -> Index:
        """One of the methods' indexes; all contain the same passages."""
        return next(iter(self.methods.values())).index

    def outcome(self, row: Mapping[str, Any], question: Question, text_of: Callable[[str], str]) -> measures_.Outcome:
        """The input of the measures, from a row; `text_of` returns the text of a context by its name."""
        ranking = [passage_id for passage_id, _ in row["ranking"]]
        answer = row["answer"]
        return measures_.Outcome(
            ranking=ranking,
            answer=(answer or "") if self.reader else None,
            abstained=bool(row["abstained"]),
            failed=row["failure"] is not None,
            context=self._retrieved(row, ranking, text_of),
            context_tokens=row["context_tokens"],
            read=(row["read"] or 0) if self.reader else None,
            usage=row["usage"],
            verdict=row["judge"] and row["judge"]["verdict"],
            nodes=row["nodes"],
            resolved=None if self.graph is None else nodes_of(ranking[: row["selected"]], self.graph),
            titles=self._titles(question),
            shown=text_of(row["context"]) if row["context"] else None,
            shown_tokens=row["read_tokens"],
            reading=record_of(Reading, row["reading"]) if row["reading"] else None,
            mark=row["proof"]["mark"] if row["proof"] else "",
            claims=row.get("claims") or {},
        )

    def score(self, row: dict, question: Question, text_of: Callable[[str], str], measures: Mapping[str, str]) -> None:
        """Compute the measures of a row. Those among `measures` (name → key) that this plan does not have keep their
        values."""
        outcome = self.outcome(row, question, text_of)
        short = replace(outcome, answer=row["short"]) if row.get("short") else outcome
        row["scores"] = {
            name: self.measures[name](question, short if name in measures_.OF_SHORT else outcome)
            if self._applies(name)
            else row["scores"].get(name)
            for name in measures
        }
        row |= {"type": question.type, "hops": question.hops, "scored": identity.scores_key(measures, question)}

    def similarity(self, text: str, other: str) -> float:
        """The cosine of two texts by the encoder of the index."""
        return float(np.prod(self.index.encode([text, other]), axis=0).sum())

    def _applies(self, name: str) -> bool:
        return name in self.measures and (name not in measures_.NODES or self.graph is not None)

    def _retrieved(self, row: Mapping[str, Any], ranking: Sequence[str], text_of: Callable[[str], str]) -> str | None:
        """The text on which coverage is measured."""
        if row["retrieved"]:
            return text_of(row["retrieved"])
        if self.reader is not None or row["context_tokens"] is None:
            return None
        passages = self.index.passages
        return joined([passages.passages[passages.row[id_]] for id_ in ranking])

    def _titles(self, question: Question) -> list[str]:
        """The titles of the gold passages; empty if one of them is not in the index."""
        passages = self.index.passages
        rows = [passages.row.get(id_) for id_ in question.support]
        return [] if None in rows else [passages.passages[row].title for row in rows]


def graph_of(methods: Mapping[str, Method]) -> Index | None:
    """The index whose graph defines, for all methods, the nodes that a passage represents; None without one."""
    return next((method.index for method in methods.values() if "typed" in method.index.manifest["layers"]), None)


def nodes_of(ranking: Iterable[str], graph: Index) -> list[str]:
    """Names of the nodes that passages represent."""
    rows = [graph.passages.row[passage_id] for passage_id in ranking]
    return [graph.typed.names[node] for node in graph.typed.nodes_of(rows)]


def measurable(measures: Measures, reader: Reader | None, judge: Engine | None) -> dict[str, Measure]:
    """Name → measure, for those that apply; raises :class:`SettingError` for an unknown one before any work."""
    if judge is not None and reader is None:
        raise SettingError(
            "a judge was given but no reader, so there are no answers to judge; pass reader=wb.reader('direct', engine)"
        )
    chosen = dict(_named(measure) for measure in measures)
    if reader is None:
        return {name: measure for name, measure in chosen.items() if not measures_.needs_reader(name)}
    if judge is not None:
        return chosen | {name: measures_.measure(name) for name in measures_.JUDGED}
    if judged := [name for name in chosen if name in (*measures_.JUDGED[1:], *measures_.graphrag_bench.JUDGED)]:
        raise SettingError(f"{judged[0]} needs a judge; pass judge=wb.engine(…), or leave the measure out")
    names = dict.fromkeys(name.replace("accuracy:thesis", "accuracy:heuristic") for name in chosen)
    return {name: chosen.get(name) or measures_.measure(name) for name in names}


def _named(measure: str | Measure) -> tuple[str, Measure]:
    """A measure with its name; the user's own has the name of its function, which must be free."""
    if isinstance(measure, str):
        return measure, measures_.measure(measure)
    name = getattr(measure, "__name__", "<lambda>")
    if name == "<lambda>" or (measures_.is_known(name) and measures_.EVIDENCE.get(name) is not measure):
        raise SettingError(
            f"a measure of your own needs a new name, and {name!r} is taken or anonymous; define it with "
            "`def my_measure(question, outcome): …`"
        )
    return name, measure
