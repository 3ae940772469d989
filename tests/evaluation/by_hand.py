"""Runs by hand, in memory: what tables read of a run, without its folder."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.published import Paper
from workbench.records import Question

QUESTIONS = tuple(Question(f"q{at}", "?", ("x",)) for at in range(1_000))


class RunByHand:
    """`methods`: label → settings; `scores`: label → measure → a value for each question. `rows`: label → what its rows
    say besides."""

    repeats, timed, warnings = 1, (), ()

    def __init__(
        self,
        methods: Mapping[str, Mapping[str, Any]],
        scores: Mapping[str, Mapping[str, Sequence[float]]],
        *,
        folder: str = "run",
        questions: Sequence[Question] = QUESTIONS,
        rows: Callable[[int, str], Mapping[str, Any]] = lambda at, label: {},
        **config: Any,
    ):
        self.folder, self.questions = folder, questions
        self.config = {
            "data": {"name": "by hand", "fingerprint": ""}, "questions": {"n": len(questions), "hash": ""},
            "engine": "openai:gpt-4o-mini", "reader": "direct", "judge": None, "k": 20, "budget": None,
            "methods": {label: {"label": label, "settings": of, "layers": {}} for label, of in methods.items()},
            "measures": list(dict.fromkeys(name for of in scores.values() for name in of)), **config,
        }  # fmt: skip
        self.rows = [
            {
                "question_id": question.id, "method": label, "ranking": [], "failure": None, "abstained": False,
                "scores": {name: values[at] for name, values in scores[label].items()}, "usage": {}, "answer": "",
                **rows(at, label),
            }
            for at, question in enumerate(questions) for label in methods
        ]  # fmt: skip

    methods = property(lambda self: list(self.config["methods"]))
    measures = property(lambda self: self.config["measures"])
    judge = property(lambda self: self.config["judge"])
    repeated = property(lambda self: [self])

    def asked(self, method: str) -> int:
        return self.repeats

    def judgements(self, a: str, b: str) -> tuple[str, list]:
        return "", []

    def deterministic(self, method: str) -> bool:
        return False

    def scores(self, measure: str, method: str) -> dict[str, float]:
        mine = (row for row in self.rows if row["method"] == method)
        return {row["question_id"]: row["scores"][measure] for row in mine if row["scores"][measure] is not None}

    def but(self, change: Callable[[dict, list], Any]) -> RunByHand:
        """The same run with other words: `change(config, rows)`."""
        again = copy.copy(self)
        again.config, again.rows = copy.deepcopy(self.config), [dict(row) for row in self.rows]
        change(again.config, again.rows)
        return again


def right(count: int, n: int = 1_000) -> list[float]:
    """Scores of n questions, so many of which are answered."""
    return [float(at < count) for at in range(n)]


def with_number(source: Paper, value: float, **wanted: str) -> Paper:
    """The paper with another number at the only place that has these columns."""
    printed = source.printed.copy()
    here = printed["kind"].notna()
    for name, one in wanted.items():
        here &= printed[name].isin([one] if isinstance(one, str) else one)
    assert here.sum() == 1, wanted
    printed.loc[here, "value"] = value
    return Paper(source.name, printed, source.terms)
