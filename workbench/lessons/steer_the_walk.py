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
from workbench.methods.catrag.stages import Stage, StagedWalk, staged
from workbench.reading import Reader
from workbench.records import Question
from workbench.text import wrapped
from workbench.views.steering_widget import Steer

NEUTRAL = "catrag[epsilon=0,beta=0,dynamic_weights=false]"  # CatRAG without anything that steers


def answers(question: Question, methods: Sequence[Method], reader: Reader, k: int) -> pd.DataFrame:
    """What a reader answers to a question with each method: a row per method, with the answer, whether it is right, the
    ranks of the gold passages among the first `k` (both empty without gold), and who replied."""
    rows, gold = [], question.answers
    for one in methods:
        evidence = one.retrieve(question.question, k=k)
        answer = reader.read(question.question, evidence)
        at = {passage: rank for rank, (passage, _) in enumerate(evidence.ranking, 1)}
        rows.append(
            {
                "method": one.label,
                "answer": answer.failure or answer.text or "(abstained)",
                "right": ("yes" if exact_match(answer.text, gold) else "no") if gold else "",
                "gold passages at": ", ".join(str(at.get(passage, f"> {k}")) for passage in question.support),
                "by": whose_words(answer.engines),
            }
        )
    return pd.DataFrame(rows).set_index("method")


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
    if run is not None:
        unlike = sum(_unlike_run(row, saved) for row in run.rows if row["method"] == run.methods[-1])
        verdict.none("saved traces that walk to another ranking than the run's", unlike)
    for number, walk in enumerate(walks, 1):
        hubs = walk.frame()["on hubs"].round(6)
        ranks = {f"ranks of {name}, {number}": list(ranks) for name, ranks in walk.ranks().items()}
        verdict.state(**{f"question {number}": walk.question, f"on hubs, {number}": list(hubs)}, **ranks)
    return verdict


def seen(walks: Sequence[StagedWalk], read: Sequence[pd.DataFrame], run: Run | None) -> str:
    """What was seen of the questions shown (their walks and `answers`), and whether steering helped over a run."""
    looked = f"Seen: {' '.join(map(_told, walks, read))}"
    return wrapped(looked, helped(run, run.measures if run else ()))


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


def _told(walk: StagedWalk, read: pd.DataFrame) -> str:
    hubs = walk.frame()["on hubs"]
    ended = ", ".join(f"{name} answers {answer}" for name, answer in read["answer"].items())
    at = {name: row for name, row in read["gold passages at"].items() if row}
    ranked = f"; gold passages stand at {' and at '.join(f'{row} ({name})' for name, row in at.items())}" if at else ""
    return (
        f"For {walk.question!r} hubs hold {hubs.iloc[0]:.1%} of the phrases' mass unsteered and {hubs.iloc[-1]:.1%} "
        f"steered{ranked}; {ended}."
    )
