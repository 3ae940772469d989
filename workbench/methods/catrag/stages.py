"""A question's walk with CatRAG's mechanisms switched on one after another, so that the part of each can be seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.encoding.similarity import top
from workbench.methods.catrag import CatRAG
from workbench.methods.catrag.rating import tier
from workbench.methods.catrag.steering import Scores, Steering, steering
from workbench.operators.hubs import super_hubs
from workbench.operators.neighbourhood import spellings
from workbench.operators.walk_distribution import WalkDistribution
from workbench.records import Record
from workbench.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

BEST, HUBS = 2, 2  # best neighbours of a seed, and hubs, that a picture shows first
MECHANISMS = ("key_facts", "anchoring", "dynamic_weights")
STATIC, UNEDITED = "HippoRAG 2's walk", "static walk"
CUMULATIVE = {  # stage → the mechanisms that work in it
    STATIC: (),
    "+ key facts": MECHANISMS[:1],
    "+ anchors": MECHANISMS[:2],
    "+ rated edges": MECHANISMS,
}
ALONE = {
    STATIC: (),
    "key facts alone": MECHANISMS[:1],
    "anchors alone": MECHANISMS[1:2],
    "rated edges alone": MECHANISMS[2:],
    "all three": MECHANISMS,
}


class Stage(NamedTuple):
    """A walk with some of the mechanisms, and how these steered it."""

    name: str
    walk: WalkDistribution
    steering: Steering


class Flow(NamedTuple):
    """A phrase by its row, with its probability in one stage and in another."""

    row: int
    phrase: str
    hub: bool
    before: float
    after: float

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, eq=False, repr=False)
class StagedWalk(Record):
    """The walk of a question, stage by stage. `gold` are ids of passages to mark, given by the caller."""

    question: str
    method: str
    parts: tuple[Stage, ...]
    gold: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()  # no verifier chooses passages here; a bump chart asks

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    @property
    def fallback(self) -> str:
        return self.parts[-1].walk.fallback

    @cached_property
    def hubs(self) -> np.ndarray:
        """Rows of the super hubs: the strongest 1 % of the phrases by weighted degree."""
        return super_hubs(self.parts[0].walk.index.graph.strength)

    def ranking(self, stage: int) -> Scores:
        """All passages at a stage, best first, with their probability; without a walk with their dense score."""
        return self._rankings[stage]

    def ranks(self, ids: Iterable[str] | None = None) -> dict[str, tuple[int | None, ...]]:
        """Passage id → its rank at each stage, from 1 on. By default of the gold passages."""
        names = list(self.gold if ids is None else ids)
        at = [{name: rank for rank, (name, _) in enumerate(scores, 1)} for scores in self._rankings]
        return {name: tuple(ranks.get(name) for ranks in at) for name in names}

    def flow(self, stage: int, since: int = 0) -> list[Flow]:
        """The probability of every phrase with any at both stages, the largest gain first, the largest loss last."""
        before, after = (self.parts[at].walk.on_phrases for at in (since, stage))
        change, hubs = after - before, set(self.hubs.tolist())
        rows = np.flatnonzero(before + after)
        names = self.parts[0].walk.index.facts.phrases
        return [
            Flow(row, names[row], row in hubs, float(before[row]), float(after[row]))
            for row in rows[np.lexsort((rows, -change[rows]))].tolist()
        ]

    def spelled(self, flows: Sequence[Flow]) -> list[Flow]:
        """The same with each phrase as the passages spell it."""
        names = spellings(self.parts[0].walk.index, [one.row for one in flows])
        return [one._replace(phrase=name) for one, name in zip(flows, names)]

    def shown(self, phrases: int = 11, passages: int = 3) -> list[int]:
        """Rows of the graph that a picture of all stages shows: seeds, the strongest hubs, neighbours whose ratings
        tell most, and other phrases with most mass; gold and best passages."""
        index, walks = self.parts[0].walk.index, [part.walk for part in self.parts]
        most = np.max([walk.on_phrases for walk in walks], axis=0)
        row = index.facts.phrase_row
        wanted = [phrase for walk in reversed(walks) for phrase, _ in walk.seeds]
        wanted += self.hubs[np.argsort(-most[self.hubs], kind="stable")][:HUBS].tolist()
        wanted += [row[name] for name in _telling(self.parts[-1].steering)]
        chosen = list(dict.fromkeys([*wanted, *top(most, phrases).tolist()]))[:phrases]
        best = [name for at in (-1, 0) for name, _ in self.ranking(at)[: passages // 2]]
        ids = dict.fromkeys(name for name in [*self.gold, *best] if name in index.passages.row)
        return chosen + [index.graph.phrases + index.passages.row[name] for name in list(ids)[:passages]]

    def frame(self) -> pd.DataFrame:
        """A row per stage: the share of hubs in the phrases' mass (`expected`: without a question) and in that of the
        ten best, S_ppr, the share of the mass on passages, edited edges, and the best rank of a gold passage."""
        import pandas as pd

        rows = [self._row(at, part) for at, part in enumerate(self.parts)]
        return pd.DataFrame(rows).set_index("stage")

    def _row(self, at: int, part: Stage) -> dict:
        bias, ranks = part.walk.hubs, [found[at] for found in self.ranks().values() if found[at]]
        return {
            "stage": part.name,
            "on hubs": bias.share_all,
            "expected": bias.expected,
            "hubs of the ten best": bias.share_top,
            "S_ppr": bias.strength,
            "on passages": float(part.walk.on_passages.sum()),
            "seeds": len(part.walk.seeds),
            "edited edges": len(part.steering.edges),
            "best gold rank": min(ranks, default=None),
        }

    @cached_property
    def _rankings(self) -> list[Scores]:
        return [_ranking(part.walk) for part in self.parts]


def staged(
    method: CatRAG,
    question: str,
    gold: Sequence[str] = (),
    *,
    stages: Mapping[str, Sequence[str]] = CUMULATIVE,
    k: int = 10,
) -> StagedWalk:
    """The walk of a question at each stage: its name → the mechanisms that are on. A mechanism that the method's own
    settings switch off stays off. The engine is asked at every stage; `KeptReplies` asks it once."""
    own, gold = method.settings, tuple(gold)
    plain = own.merge == "overwrite" and own.synonym_weight == 1
    parts = []
    for name, used in stages.items():
        switched = {one: getattr(own, one) and one in used for one in MECHANISMS}
        walk, found = _walked(method.adjusted(**switched), question, k)
        called = UNEDITED if name == STATIC and not plain else name
        parts.append(Stage(called, walk, steering(found, gold, method.index)))
    return StagedWalk(question, method.label, tuple(parts), gold)


def _telling(shown: Steering) -> Iterator[str]:
    """The neighbours that tell most of the ratings: the best of each seed, one of no use, one that was skipped."""
    for seed in shown.rated:
        rated = [one.name for one in seed.best if one.score is not None]
        useless = [one.name for one in seed.best if one.tier == tier(0)]
        skipped = [one.name for one in seed.best if one.score is None]
        yield from (*rated[:BEST], *useless[-1:], *skipped[:1])


def _walked(method: CatRAG, question: str, k: int) -> tuple[WalkDistribution, Trace]:
    """The walk of a retrieval together with its trace."""
    trace = Trace()
    with trace.span("CHAIN", method.label, question=question, k=k) as span:
        walk = method.walk_distribution(question, trace)
        evidence = method.rank(walk, k)
        if evidence.fallback:
            span.set(fallback=evidence.fallback)
        span.score(evidence.ranking)
    return walk, trace


def _ranking(walk: WalkDistribution) -> Scores:
    scores = walk.dense if walk.pagerank is None else walk.on_passages
    passages = walk.index.passages.passages
    return tuple((passages[row].id, float(scores[row])) for row in top(scores, len(passages)).tolist())
