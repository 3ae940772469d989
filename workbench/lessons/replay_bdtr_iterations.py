"""Notebook 04: checks that a replay shows what happened, and whether iteration helped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from workbench import analyses
from workbench.analyses import Analysis, Promotion
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.lessons.sentences import answered, helped, state_run
from workbench.llm.worked import Ask
from workbench.methods import Method, method
from workbench.methods.iterative.replay import Replay, replay
from workbench.notebooks.lab import Absent, Lab
from workbench.records import Passage, Question
from workbench.views.charts import Picture
from workbench.views.replay import bump_figure, scores_figure
from workbench.views.replay_widget import ReplayWidget

MEASURES = ("recall@5", "f1")


class Edited(NamedTuple):
    """A replay beside another one, in which a thought of its first round had other words."""

    words: str
    before: Replay
    after: Replay

    def frame(self) -> pd.DataFrame:
        """Both, side by side."""
        frames = {"as it was": self.before.frame(), f"round 1: {self.words}": self.after.frame()}
        return pd.concat(frames, axis=1)


def edit(widget: ReplayWidget, passages: Mapping[str, Passage], words: str | None = None) -> Edited:
    """The first thought of what a widget shows in other words; by default the title of the gold passage that ranks last
    in the end."""
    replay = widget.left
    ends = {passage: ranks[-1] or len(passages) for passage, ranks in replay.ranks().items()}
    sunk = passages[max(ends, key=ends.get, default=list(passages)[-1])]
    words = words or sunk.title or sunk.text[:80]
    first = next(iter(replay.rounds[1].texts))
    return Edited(words, replay, widget.rerun(1, **{first: words}))


def specs(lab: Lab, iterative: Method, other: str, backbone: str) -> list[str]:
    """What a study compares: the backbone alone, BDTR with and without its parts, the iterative method shown, and the
    other one with 0, 1 and 2 rounds."""
    rounds = analyses.rounds_specs(method(other, lab.index, lab.maker, backbone=backbone).label, range(3))
    return list(dict.fromkeys([*analyses.ablation_specs(backbone), iterative.label, *rounds]))


def saved(lab: Lab, run: Run | Absent) -> ReplayWidget | Absent:
    """The replays of a run, from its folder."""
    return run and ReplayWidget(run.folder, lab.data.questions)


def studied(lab: Lab, run: Run | Absent, iterative: str) -> Mapping[str, Analysis | Absent]:
    """The analyses of BDTR's paper over a run: the first of its methods is the one without rounds, `iterative` the one
    with all."""
    if not run:
        return defaultdict(lambda: run)
    questions, static, quiet = lab.data.questions, run.methods[0], {"progress": False}
    methods = (static, iterative)
    parts = {
        "ablation": analyses.ablation(run, static),
        "promotion": analyses.promotion(run, questions, methods[1:], **quiet),
        "recall": analyses.recall_curve(run, questions, methods=methods),
        "complementarity": analyses.complementarity(run, *methods),
        "cuts": analyses.cuts(run, **quiet),
        "rounds": analyses.rounds_curve(run, **quiet),
    }
    if any(question.type or question.hops for question in questions):
        parts["by_kind"] = analyses.by_kind(run, questions, static)
    return parts


def failed(lab: Lab, question: Question, spec: str, backbone: str) -> ReplayWidget:
    """A question without a round, beside the method shown."""
    options = {"methods": ["ircot[iterations=0]", spec], "backbones": [backbone]}
    widget = ReplayWidget(lab.index, [question], **options, engine=lab.engine, reader=lab.reader)
    widget.compare(spec)
    return widget


def by_thought(replay: Replay) -> pd.DataFrame:
    """What each thought of a round searched for, and which gold passages stand among the first five of its search."""
    rows = [
        (round.number, search.origin, search.query,
         ", ".join(name for name, _ in search.ranking[:5] if name in replay.gold))
        for round in replay.rounds[1:]
        for search in round.searches
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["round", "thought", "query", "gold among its first five"])


def raised(promotion: Promotion | Absent, replay: Replay, deep: int = 10) -> pd.DataFrame | Absent:
    """The gold passages of a study and of the question shown (without gold, what the verifier chose for it) that ranked
    deeper than `deep` after the last round, and among the first five in the end."""
    rows = [
        {"question_id": replay.question, "method": replay.method, "passage": name, **dict(zip(replay.stages, ranks)),
         "fate": "read" if replay.why(name) else "cut"}
        for name, ranks in replay.ranks(replay.gold or replay.verified).items()
    ]  # fmt: skip
    frame = pd.DataFrame([*promotion.passages().to_dict("records"), *rows])
    last = [name for name in frame.columns if name.startswith("round ")][-1:]
    if "end" not in frame or not last:
        return Absent("No method that is shown promotes passages in the end.")
    lifted = frame[(frame[last[0]] > deep) & (frame["end"] <= 5)]
    return lifted if len(lifted) else Absent(f"The verifier raised no passage from below rank {deep}.")


def pictures(replay: Replay, edited: Replay, passages: Mapping[str, Passage]) -> dict[str, Picture]:
    """The ranks of what was shown and edited, and the scores where there was a cut."""
    ranks = {"ranks": bump_figure(replay, passages), "ranks_edited": bump_figure(edited, passages)}
    return ranks | ({"scores": scores_figure(replay)} if replay.cut else {})


def verdict(
    title: str,
    iterative: Method,
    backbone: str,
    question: Question,
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
    verdict, replay = Verdict(title), widget.left
    alone, none = (
        method(spec, iterative.index, iterative.engine).retrieve(question.question).ranking
        for spec in (backbone, f"ircot[backbone={backbone},iterations=0]")
    )
    after = edited.after.rounds
    searched = any(edited.words in search.query for search in after[1].searches)
    verdict.check("without rounds the ranking is the backbone's", alone == none, "true", bool)
    verdict.none("scores that fell from a round to the next", _fallen(replay))
    verdict.check("the edited thought was searched for", searched, "true", bool)
    verdict.check("what was found before it is untouched", after[0] == edited.before.rounds[0], "true", bool)
    if failed and ask:
        ended = failed.left_answer
        verdict.check("the failure ends as was written", ended, ask.answer, lambda text: text == ask.answer)
    if run:
        differ = sum(_unlike(run, row) for row in run.rows if row["method"] != run.methods[0])
        verdict.none("saved replays that end in another ranking than the run's", differ)
    state_run(verdict, run)
    for kind, each in (("", replay), (", by rules", edited.before), (", edited", edited.after)):
        verdict.state(**{f"gold ranks of {passage}{kind}": list(ranks) for passage, ranks in each.ranks().items()})
    verdict.state(answer=widget.left_answer)
    return verdict


def seen(
    question: Question,
    widget: ReplayWidget,
    run: Run | None = None,
    failing: Question | None = None,
    failed: ReplayWidget | None = None,
) -> str:
    """What the rounds did for the `question` and what the first search alone did for the `failing` one, and
    whether the method shown did better over a run than its first one."""
    looked = f"Seen: {_sentence(question, widget.left, widget.left_answer)}"
    if failing and failed:
        looked += f" {_sentence(failing, failed.left, failed.left_answer)}"
    return f"{looked}\n{helped(run, MEASURES, widget.left.method)}"


def _fallen(replay: Replay) -> int:
    """Passages whose score is lower after a round than before, where both are on one scale."""
    pairs = [(a.pool, dict(b.pool)) for a, b in zip(replay.rounds, replay.rounds[1:]) if a.scale == b.scale]
    return sum(after.get(passage, -1.0) < score for before, after in pairs for passage, score in before)


def _unlike(run: Run, row: Mapping) -> bool:
    final = replay(run.trace(row["question_id"], row["method"])).final
    return row["ranking"] != [list(pair) for pair in final[: len(row["ranking"])]]


def _sentence(question: Question, replay: Replay, answer: str) -> str:
    """The rank of the gold passage that was last after the first search, from there to the end, and the answer."""
    ranks = replay.ranks()
    last = max(ranks, key=lambda passage: ranks[passage][0] or float("inf"), default=None)
    climbed = ""
    if last is not None:
        stages = " → ".join(str(rank or "not found") for rank in ranks[last])
        climbed = f" its gold passage {last} ranks {stages} ({', '.join(replay.stages)}), and"
    return f"With {replay.method}, {question.question!r}:{climbed} it {answered(question, answer)}."
