"""The measures, by name. One file each, with its definition and source; `measure("recall@5")` gives one to call.

A measure gets a question and what was made of it, and gives a number, or None where it is not defined (no gold
passages, no gold answer): such a question does not count, and tables say how many did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.errors import SettingError
from workbench.measures import all_gold, em, f1, ndcg, recall
from workbench.records import Question


@dataclass(frozen=True)
class Outcome:
    """What a method and a reader made of a question; `answer` is None where nobody read."""

    ranking: Sequence[str]
    answer: str | None = None


Measure = Callable[[Question, Outcome], float | None]

RANKING = {"recall": recall.recall, "ndcg": ndcg.ndcg, "all_gold": all_gold.all_gold}  # (ranking, gold, k) -> value
ANSWER = {"em": em.exact_match, "f1": f1.f1}  # (answer, gold answers) -> value
DEFAULT = ("recall@1", "recall@2", "recall@5", "recall@10", "ndcg@10", "all_gold@5", "em", "f1")


def measure(name: str) -> Measure:
    """The measure of this name, such as `recall@5` or `f1`."""
    base, at, cut = name.partition("@")
    if base in RANKING and cut.isdigit() and int(cut) > 0:
        return lambda question, outcome: (
            RANKING[base](outcome.ranking, question.support, int(cut)) if question.support else None
        )
    if base in ANSWER and not at:
        return lambda question, outcome: (
            ANSWER[base](outcome.answer, question.answers) if outcome.answer is not None and question.answers else None
        )
    raise SettingError(
        f"no measure is called {name!r}; there are {', '.join(f'{base}@k' for base in RANKING)}, {', '.join(ANSWER)}"
    )


def deepest(names: Sequence[str]) -> int:
    """The largest k that any of the measures looks at (0 if none looks at a ranking)."""
    return max((int(name.partition("@")[2]) for name in names if "@" in name), default=0)
