"""Notebook 04: whether a replay is what happened, and whether iteration helped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from workbench import analyses
from workbench.analyses.base import Analysis
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.lessons.sentences import answered, helped, state_run
from workbench.llm.worked import Ask
from workbench.methods import Method, method
from workbench.methods.iterative.replay import Replay, replay
from workbench.records import Passage, Question
from workbench.views.replay_widget import ReplayWidget

MEASURES = ("recall@5", "f1")


class Edited(NamedTuple):
    """A replay beside another one, in which a thought of its first round had other words."""

    words: str
    before: Replay
    after: Replay


def edit(widget: ReplayWidget, passages: Mapping[str, Passage], words: str | None = None) -> Edited:
    """The first thought of what a widget shows in other words; by default the title of the gold passage that ranks last
    in the end."""
    shown = widget.left
    ends = {passage: ranks[-1] or len(passages) for passage, ranks in shown.ranks().items()}
    sunk = passages[max(ends, key=ends.get, default=list(passages)[-1])]
    words = words or sunk.title or sunk.text[:80]
    first = next(iter(shown.rounds[1].texts))
    return Edited(words, shown, widget.rerun(1, **{first: words}))


def studied(run: Run, questions: list[Question], static: str, iterative: str) -> dict[str, Analysis]:
    """The analyses of BDTR's paper over a run: `static` is the method without rounds, `iterative` the one with all."""
    shown = (static, iterative)
    quiet = {"progress": False}
    found = {
        "ablation": analyses.ablation(run, static),
        "promotion": analyses.promotion(run, questions, shown[1:], **quiet),
        "recall": analyses.recall_curve(run, questions, methods=shown),
        "complementarity": analyses.complementarity(run, static, iterative),
        "cuts": analyses.cuts(run, **quiet),
        "rounds": analyses.rounds_curve(run, **quiet),
    }
    if any(question.type or question.hops for question in questions):
        found["by_kind"] = analyses.by_kind(run, questions, static)
    return found


def verdict(
    title: str,
    iterative: Method,
    backbone: str,
    asked: Question,
    widget: ReplayWidget,
    edited: Edited,
    *,
    run: Run | None = None,
    failed: ReplayWidget | None = None,
    ask: Ask | None = None,
) -> Verdict:
    """What must hold of any data and engine, with the numbers of this run.

    * Without rounds the ranking is that of the `backbone`, and no score falls from a round to the next: a passage keeps
      its best.
    * An edited thought was searched for, and what had been found before it stays.
    * The question of `failed` ends as its `ask` says.
    * No question of the `run` failed, and a replay of its traces ends in the rankings of its rows."""
    verdict, shown = Verdict(title), widget.left
    alone, none = (
        method(spec, iterative.index, iterative.engine).retrieve(asked.question).ranking
        for spec in (backbone, f"ircot[backbone={backbone},iterations=0]")
    )
    after = edited.after.rounds
    searched = any(edited.words in search.query for search in after[1].searches)
    verdict.check("without rounds the ranking is the backbone's", alone == none, "true", bool)
    verdict.none("scores that fell from a round to the next", _fallen(shown))
    verdict.check("the edited thought was searched for", searched, "true", bool)
    verdict.check("what was found before it is untouched", after[0] == edited.before.rounds[0], "true", bool)
    if failed and ask:
        ended = failed.left_answer
        verdict.check("the failure ends as was written", ended, ask.answer, lambda said: said == ask.answer)
    if run:
        differ = sum(_unlike(run, row) for row in run.rows if row["method"] != run.methods[0])
        verdict.none("saved replays that end in another ranking than the run's", differ)
    state_run(verdict, run)
    for kind, one in (("", shown), (", by rules", edited.before), (", edited", edited.after)):
        verdict.state(**{f"gold ranks of {passage}{kind}": list(ranks) for passage, ranks in one.ranks().items()})
    verdict.state(answer=widget.left_answer)
    return verdict


def seen(
    asked: Question,
    widget: ReplayWidget,
    run: Run | None = None,
    failing: Question | None = None,
    failed: ReplayWidget | None = None,
) -> str:
    """What the rounds did for the question `asked` and what the first search alone did for the `failing` one, and
    whether the method shown did better over a run than its first one."""
    looked = f"Seen: {_told(asked, widget.left, widget.left_answer)}"
    if failing and failed:
        looked += f" {_told(failing, failed.left, failed.left_answer)}"
    return f"{looked}\n{helped(run, MEASURES, widget.left.method)}"


def _fallen(shown: Replay) -> int:
    """Passages whose score is lower after a round than before, where both are on one scale."""
    pairs = [(a.pool, dict(b.pool)) for a, b in zip(shown.rounds, shown.rounds[1:]) if a.scale == b.scale]
    return sum(after.get(passage, -1.0) < score for before, after in pairs for passage, score in before)


def _unlike(run: Run, row: Mapping) -> bool:
    final = replay(run.trace(row["question_id"], row["method"])).final
    return row["ranking"] != [list(pair) for pair in final[: len(row["ranking"])]]


def _told(question: Question, shown: Replay, answer: str) -> str:
    """The rank of the gold passage that was last after the first search, from there to the end, and the answer."""
    ranks = shown.ranks()
    last = max(ranks, key=lambda passage: ranks[passage][0] or float("inf"), default=None)
    climbed = ""
    if last is not None:
        stages = " → ".join(str(rank or "not found") for rank in ranks[last])
        climbed = f" its gold passage {last} ranks {stages} ({', '.join(shown.stages)}), and"
    return f"With {shown.method}, {question.question!r}:{climbed} it {answered(question, answer)}."
