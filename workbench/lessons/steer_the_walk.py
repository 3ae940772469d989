"""Notebook 06: questions read with and without steering, what it checks, and the two sentences that it ends in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.lessons.sentences import helped, state_run
from workbench.llm.engine import whose_words
from workbench.measures.answers import exact_match
from workbench.methods import Method, method
from workbench.methods.catrag import CatRAG
from workbench.methods.catrag.steering import ALONE, CUMULATIVE, Flow, Stage, StagedWalk, staged
from workbench.notebooks.lab import Absent, Lab
from workbench.reading import Reader
from workbench.records import Question
from workbench.text import wrapped
from workbench.views.charts import Picture
from workbench.views.drawing import Drawing
from workbench.views.replay import bump_figure
from workbench.views.steering import steered_drawing
from workbench.views.steering_widget import Steer

NEUTRAL = "catrag[epsilon=0,beta=0,dynamic_weights=false]"  # CatRAG without anything that steers
MEASURES = ("recall@5", "all_gold@5", "joint@5")
DAMPINGS = (0.1, 0.3, 0.5, 0.7, 0.85, 0.95)


def answers(question: Question, methods: Sequence[Method], reader: Reader, k: int) -> pd.DataFrame:
    """What a reader answers to a question with each method: a row per method, with the answer, whether it is right, the
    ranks of the gold passages among the first `k` (both empty without gold), and who replied."""
    rows, gold = [], question.answers
    for steered in methods:
        evidence = steered.retrieve(question.question, k=k)
        answer = reader.read(question.question, evidence)
        at = {passage: rank for rank, (passage, _) in enumerate(evidence.ranking, 1)}
        rows.append(
            {
                "method": steered.label,
                "answer": answer.failure or answer.text or "(abstained)",
                "right": ("yes" if exact_match(answer.text, gold) else "no") if gold else "",
                "gold passages at": ", ".join(str(at.get(passage, f"> {k}")) for passage in question.support),
                "by": whose_words(answer.engines),
            }
        )
    return pd.DataFrame(rows).set_index("method")


def climb(lab: Lab, walk: StagedWalk) -> Picture:
    """The ranks of passages from mechanism to mechanism."""
    return bump_figure(walk, {passage.id: passage for passage in lab.index.passages.passages}, ylabel="rank")


def flow(walk: StagedWalk) -> pd.DataFrame:
    """The phrases that gained and lost most probability by steering."""
    moved = walk.flow(len(CUMULATIVE) - 1)
    frame = pd.DataFrame(walk.spelled([*moved[:5], *moved[-5:]]), columns=Flow._fields).drop(columns="row")
    return frame.assign(change=frame["after"] - frame["before"])


def rate_best(by_hand: Steer, walk: StagedWalk) -> pd.DataFrame:
    """The ranks of gold passages as rated, and after the best edge of the strongest seed was rated 0 by hand."""
    for seed in by_hand.shown.rated[:1]:
        for edge in seed.best[:1]:
            by_hand.rate(seed.phrase, edge.name, 0)
    return pd.DataFrame({"as rated": walk.ranks(), "by hand": by_hand.walk.ranks()})


def anchored(lab: Lab, questions: Sequence[Question], spec: str, k: int) -> pd.DataFrame | Absent:
    """What anchors alone do to questions that have some: the rank of the last gold passage and the mass on hubs."""
    many, rows = method(spec, lab.index, lab.maker), []
    stages = {name: ALONE[name] for name in ALONE if name in (next(iter(ALONE)), "anchors alone")}
    for question in questions:
        walk = staged(many, question.question, question.support, stages=stages, k=k)
        seeds = [seed.phrase for seed in walk.parts[-1].steering.seeds if seed.entity]
        frame = walk.frame()
        if seeds:
            ranks, hubs = frame["best gold rank"].tolist(), frame["on hubs"].tolist()
            rows.append((question.question, ", ".join(map(str, seeds)), ranks[0], ranks[-1], hubs[0], hubs[-1]))
    columns = ["question", "anchors", "best gold rank", "with anchors", "on hubs", "on hubs with anchors"]
    return pd.DataFrame(rows, columns=columns) if rows else Absent("No name in these questions became an anchor.")


def by_damping(catrag: CatRAG, question: Question, k: int) -> dict[str, dict[float, float]]:
    """First and last stage → {damping: the share of the phrases' mass on hubs}."""
    ends = {name: CUMULATIVE[name] for name in (next(iter(CUMULATIVE)), list(CUMULATIVE)[-1])}
    both = {long: staged(catrag.adjusted(damping=long), question.question, stages=ends, k=k) for long in DAMPINGS}
    return {
        name: {long: walk.parts[at].walk.hubs.share_all for long, walk in both.items()} for at, name in enumerate(ends)
    }


def drift(lab: Lab, questions: Sequence[Question], spec: str, k: int) -> pd.DataFrame:
    """The means of the stages over questions."""
    many = method(spec, lab.index, lab.maker)
    frames = [staged(many, question.question, k=k).frame().drop(columns="best gold rank") for question in questions]
    return pd.concat(frames).groupby("stage", sort=False).mean()


def saved(lab: Lab, run: Run | Absent, k: int) -> Steer | Absent:
    """The walks of a run, from its folder."""
    return run and Steer(run.folder, run.questions, index=lab.index, k=k)


def alone(catrag: CatRAG, question: Question, k: int) -> pd.DataFrame:
    """Each mechanism alone, then all three."""
    return staged(catrag, question.question, question.support, stages=ALONE, k=k).frame()


def drawings(walk: StagedWalk) -> dict[str, Drawing]:
    """The static and the steered walk."""
    stages = {"static": 0, "steered": -1} if walk.parts[-1].walk.pagerank else {}
    return {name: steered_drawing(walk, at) for name, at in stages.items()}


def verdict(
    title: str, catrag: CatRAG, walks: Sequence[StagedWalk], by_hand: Steer, run: Run | None, saved: Steer | None
) -> Verdict:
    """What must hold of any data and engine, with the numbers of this run. `walks` are those of the questions shown;
    the first of them was rated `by_hand`.

    * A walk's probability is one at each stage, and only edges of seeds and of kept facts are edited.
    * Nothing edited remains: what is walked again, and what is brought back after a rating by hand, is as it was.
    * With neutral settings CatRAG ranks as HippoRAG 2 does.
    * No question of the `run` failed, and its traces walk to its rankings without an engine (`saved`)."""
    verdict = Verdict(title)
    stages = [part for walk in walks for part in walk.parts]
    off = max(map(_from_one, stages))
    verdict.check("furthest a walk's probability is from one", off, "< 1e-9", lambda n: n < 1e-9)
    verdict.none("edited edges of other phrases than seeds and kept facts", sum(map(_outside, stages)))
    moved = sum(_moved(catrag, walk) for walk in walks)
    verdict.none("questions that walk otherwise the second time", moved)
    same = by_hand.reset().ranking(-1) == walks[0].ranking(-1)
    verdict.check("ratings and settings that are brought back change nothing", same, "true", bool)
    unlike = sum(_unlike_hipporag(catrag, walk.question) for walk in walks)
    verdict.none("questions that neutral settings rank unlike HippoRAG 2", unlike)
    state_run(verdict, run)
    if run:
        unlike = sum(_unlike_run(row, saved) for row in run.rows if row["method"] == run.methods[-1])
        verdict.none("saved traces that walk to another ranking than the run's", unlike)
    for number, walk in enumerate(walks, 1):
        hubs = walk.frame()["on hubs"].round(6)
        ranks = {f"ranks of {name}, {number}": list(ranks) for name, ranks in walk.ranks().items()}
        verdict.state(**{f"question {number}": walk.question, f"on hubs, {number}": list(hubs)}, **ranks)
    return verdict


def seen(walks: Sequence[StagedWalk], read: Sequence[pd.DataFrame], run: Run | None) -> str:
    """What was seen of the questions shown (their walks and `answers`), and whether steering helped over a run."""
    looked = f"Seen: {' '.join(map(_sentence, walks, read))}"
    return wrapped(looked, helped(run, MEASURES))


# -- the parts of the verdict ------------------------------------------------------------------------------------------


def _from_one(part: Stage) -> float:
    """How far the sum of a stage's probability is from one; 0 where there was no walk."""
    return abs(part.walk.pagerank.p.sum() - 1) if part.walk.pagerank else 0.0


def _outside(part: Stage) -> int:
    """Edited edges that start neither at a seed nor at a phrase of a kept fact."""
    facts = part.walk.index.facts.facts
    ends = {phrase for row, _ in part.walk.facts for phrase in (facts[row][0], facts[row][2])}
    return sum(edge.source not in ends | {seed.phrase for seed in part.steering.seeds} for edge in part.steering.edges)


def _moved(catrag: CatRAG, walk: StagedWalk) -> bool:
    again = staged(catrag, walk.question, walk.gold)
    return not all(np.array_equal(a.walk.on_phrases, b.walk.on_phrases) for a, b in zip(walk.parts, again.parts))


def _unlike_hipporag(catrag: CatRAG, question: str) -> bool:
    neutral, plain = (method(spec, catrag.index, catrag.engine) for spec in (NEUTRAL, "hipporag2"))
    return neutral.retrieve(question).ranking != plain.retrieve(question).ranking


def _unlike_run(row: Mapping[str, Any], saved: Steer) -> bool:
    ranking = saved.ask(row["question_id"]).ranking(-1)[: len(row["ranking"])]
    return [list(pair) for pair in ranking] != row["ranking"]


# -- the parts of the sentences ----------------------------------------------------------------------------------------


def _sentence(walk: StagedWalk, read: pd.DataFrame) -> str:
    hubs = walk.frame()["on hubs"]
    ended = ", ".join(f"{name} answers {answer}" for name, answer in read["answer"].items())
    at = {name: row for name, row in read["gold passages at"].items() if row}
    ranked = f"; gold passages stand at {' and at '.join(f'{row} ({name})' for name, row in at.items())}" if at else ""
    return (
        f"For {walk.question!r} hubs hold {hubs.iloc[0]:.1%} of the phrases' mass unsteered and {hubs.iloc[-1]:.1%} "
        f"steered{ranked}; {ended}."
    )
